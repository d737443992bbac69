/* SPDX-License-Identifier: MIT */
/*
 * profile.h - what differs between kernel 6.12, 6.18 and 7.3, as data.
 *
 * The model's code is written for the newest kernel. Where an older one behaves differently the code
 * reads a field of `struct profile`, never a version number. One const table a kernel in profile.c.
 * A field is named after the behaviour and says which code reads it. Readers: grep the field name.
 */
#ifndef COMPACTLAB_MODEL_PROFILE_H
#define COMPACTLAB_MODEL_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

enum profile_id { PROFILE_A, PROFILE_B, PROFILE_C, NR_PROFILES }; /* 6.12, 6.18, 7.3 */
#define PROFILE_BIT(p) (1u << (p))
#define IN_A PROFILE_BIT(PROFILE_A)
#define IN_B PROFILE_BIT(PROFILE_B)
#define IN_C PROFILE_BIT(PROFILE_C)
#define IN_AB (IN_A | IN_B)
#define IN_BC (IN_B | IN_C)
#define IN_ALL (IN_A | IN_B | IN_C)

/* Watermark that compaction_suitable() builds on. */
enum suitable_base {
	SUITABLE_LOW_IF_COSTLY, /* costly: low, else min; the caller's mark is ignored */
	SUITABLE_CALLER_MARK,   /* caller's mark; costly adds low - min */
};

enum defer_counts {
	DEFERRED_IS_A_STALL,    /* all zones deferred: stall, retried walk, fail */
	DEFERRED_IS_SKIPPED,    /* all zones deferred: nothing happened */
};

enum highatomic_growth { HIGHATOMIC_AFTER_SUCCESS, HIGHATOMIC_FROM_BUDDY_AT_MIN };
enum capture_order { CAPTURE_COMPACTION_ORDER, CAPTURE_REQUEST_ORDER };
enum pcp_flush { PCP_FLUSH_ONE_BULK, PCP_FLUSH_BATCHES };
enum kswapd_reset { KSWAPD_RESET_ON_PROGRESS, KSWAPD_RESET_WHEN_BALANCED };
enum min_free_thp { MIN_FREE_THP_PMD, MIN_FREE_THP_ANY };

struct profile {
	enum profile_id id;
	const char *name;    /* "6.12" */
	const char *release; /* what a record's `kernel` field says of the model: "7.3 (model)" */

	/* P1  compact_gap(): upper bound in pages; 0 = unbounded, 32 in C */
	uint32_t compact_gap_cap_pages;
	/* P2  alloc: what an attempt means whose zones were all deferred */
	enum defer_counts defer_counts;
	/* P3  alloc: when a costly NORETRY request gives up; alloc_slow.c has C, alloc_slow_ab.c A and B */
	/* P4  alloc: first (async) compaction inside the retry loop under "compact first" */
	bool compact_first_in_loop;
	/* P5  compact: base of the suitability test */
	enum suitable_base suitable_base;
	/* P6  reclaim: compaction_ready() uses base high; otherwise suitable(order) and W(0, high + gap) */
	bool compaction_ready_base_high;
	/* P7  compact: async costly requests without CMA rights must pass the order-0 test without CMA */
	bool costly_async_precheck_without_cma;
	/* P8  vm.defrag_mode and nr_free_pages_blocks exist */
	bool has_defrag_mode;
	/* P9  kcompactd: proactive marks; false: low = max(100-p, 5), high = low + 10 */
	bool proactive_marks_relative;
	/* P10 scan_migrate: direct compaction may empty CMA blocks without ALLOC_CMA */
	bool direct_may_source_cma;
	/* P11 scan_migrate: order >= 9 requests of any type scan movable blocks in async mode */
	bool async_block_order_scans_movable;
	/* P12 alloc: the first walk skips nodes whose kswapd is awake */
	bool walk_skips_awake_kswapd;
	/* P13 alloc: non-blocking request under defrag_mode drops NOFRAGMENT and retries (needs KSWAPD) */
	bool nonblock_drops_nofragment;
	/* P14 alloc: non-movable NOFRAGMENT request reclaims and compacts at order max(order, 9) */
	bool promote_to_block_order;
	/* P15 reclaim: kswapd's failure count rises after a boosted run without progress */
	bool boosted_run_may_fail;
	/* P16 buddy: when the highatomic reserve grows */
	enum highatomic_growth highatomic_growth;
	/* P17 buddy: isolation is a bit of its own, the block keeps its type */
	bool isolate_is_a_bit;
	/* P18 compact: order the capture hook matches; also one slot a zone run (A,B) or a walk (C) */
	enum capture_order capture_order;
	/* P19 filemap: iomap write drops __GFP_FS */
	bool iomap_write_nofs;
	/* P20 stats: zoneinfo prints reserved_highatomic and free_highatomic */
	bool zoneinfo_highatomic;
	/* P21 stats: pgscan, pgsteal and pgrefill are node statistics (order of vmstat, zoneinfo) */
	bool reclaim_counters_are_node_stats;
	/* P22 pcp: how a free flushes the set */
	enum pcp_flush pcp_flush;
	/* P23 pcp: free_high threshold adds half of high_min to batch */
	bool free_high_adds_half_high_min;
	/* P24 reclaim: what resets kswapd's failure count; `_by_flush`: a pcp flush does too */
	enum kswapd_reset kswapd_reset;
	bool kswapd_reset_by_pcp_flush;
	/* P25 alloc: a zone without reclaimable pages counts its free pages as reclaimable */
	bool empty_zone_reclaimable_is_free;
	/* P26 reclaim: kswapd writes dirty file folios when the node is flagged dirty */
	bool kswapd_writes_dirty;
	/* P27 watermark: which THP setting raises min_free_kbytes */
	enum min_free_thp min_free_thp;

	/* Of the builds the profiles stand for (Debian's 6.12 and 7.3): CONFIG_CMA. Movable requests carry
	 * ALLOC_CMA, and there is a migrate type more, whether or not the machine has CMA areas. */
	bool built_with_cma;

	/* Differences that follow from the above list's neighbours and have no number of their own. */
	bool zoneinfo_pcp_limits;         /* B,C: pagesets show high_min and high_max */
	bool trace_says_who;              /* C: direct reclaim's events tell pid and memcg */
	bool trace_collapse_order;        /* C: mm_collapse_huge_page tells the order */
	bool readahead_order_from_marker; /* A: fresh window order 2, then marker folio's order + 2 */
	bool khugepaged_mthp;             /* C: smaller anon orders after a failed order 9 */
	bool interleave_hit_weighted;     /* B,C: numa_interleave counts weighted interleave too */
};

const struct profile *profile_get(enum profile_id id);
/* "6.12" "6.18" "7.3", "A" "B" "C"; returns 0 or -EINVAL. */
int profile_parse(const char *text, enum profile_id *id) __attribute__((warn_unused_result));

#endif
