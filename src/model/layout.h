/* SPDX-License-Identifier: MIT */
/*
 * layout.h - a machine put into a given physical state, page by page: for tests, and for snapshots
 * of real machines.
 *
 * Between begin and end the machine does not run. Every page not placed is free at the end, merged
 * as the block types allow and inserted in ascending order at the tails (as boot does). No counter
 * of events moves.
 */
#ifndef COMPACTLAB_MODEL_LAYOUT_H
#define COMPACTLAB_MODEL_LAYOUT_H

#include "model/types.h"

/* Empties every free list; all managed pages are held afterwards. The machine owns nothing yet. */
void layout_begin(struct model *m);
/* Places an owned chunk of `kind`; region 0 = an anonymous owner made for the purpose, one a kind
 * and node. `flags` are PGF_*; PGF_PINNED makes one pin. Large LRU folios stand as SLOT_HUGE when
 * order is 9. */
int layout_put(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind, uint8_t flags,
	       region_id region) MUST_USE;
/* A chunk of a known cache's objects, all of which a shrinker can free (PG_SLAB of layout_put()
 * belongs to no cache and stays). `order` is the cache's own or its smallest. */
int layout_put_slab(struct model *m, pfn_t pfn, unsigned order, int cache) MUST_USE;
/* A page that is none (PG_HOLE) or that boot kept (PG_RESERVED). */
int layout_put_unused(struct model *m, pfn_t pfn, enum page_kind kind) MUST_USE;
/* A chunk on the pcp list of a CPU. */
void layout_put_pcp(struct model *m, pfn_t pfn, unsigned order, enum migratetype type, cpu_id cpu);
/* A free chunk, as a check that there is room for it: what is around it decides whether it merges.
 */
void layout_put_free(struct model *m, pfn_t pfn, unsigned order);
void layout_block_type(struct model *m, pfn_t pfn, enum migratetype type);
/* layout_put() into a slot of its own: a page whose owner is known. */
int layout_put_owned(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind, uint8_t flags,
		     slot_t slot) MUST_USE;
/* Cuts a held chunk out, for a list. 0, -EBUSY when it is something else, -EINVAL. */
int layout_take(struct model *m, pfn_t pfn, unsigned order) MUST_USE;
void layout_end(struct model *m);

/* ---- what a real machine shows of itself -------------------------------------------------- */

/* Chunks of one kind in a row. */
struct layout_run {
	pfn_t pfn;
	uint32_t count; /* chunks */
	uint8_t order;
	enum page_kind kind; /* owned kinds, PG_FREE (of whatever order), PG_HOLE, PG_RESERVED */
	uint8_t flags;       /* PGF_* */
	slot_t slot;         /* whose page it is; count is 1 then */
};

/* A free list from the head on, of the buddy or of a CPU. */
struct layout_list {
	uint8_t node;
	enum zone_class class;
	uint8_t order, type;
	int cpu; /* -1: of the buddy */
	uint32_t nr;
	const uint32_t *pfn;
};

/* A CPU's lists of a zone. */
struct layout_tuning {
	uint8_t node;
	enum zone_class class;
	uint16_t cpu;
	uint32_t high, free_count, alloc_factor;
};

/* Compaction of a zone. */
struct layout_scan {
	uint8_t node;
	enum zone_class class;
	pfn_t migrate[2], free, init_migrate, init_free;
	uint32_t considered;
	uint8_t shift, order_failed;
	bool flush; /* blockskip_flush */
};

/* By block: its type, LAYOUT_BLOCK_NONE without memory, and the skip bit. */
#define LAYOUT_BLOCK_TYPE 7u
#define LAYOUT_BLOCK_NONE 7u
#define LAYOUT_BLOCK_SKIP 8u

/* What only the kernel's memory shows; arrays are the caller's. */
struct layout_inside {
	uint32_t nr_blocks, nr_lists, nr_tunings, nr_scans;
	const uint8_t *block;
	const struct layout_list *list;
	const struct layout_tuning *tuning;
	const struct layout_scan *scan;
	uint32_t kswapd_failures[MAX_NODES]; /* runs in a row that reclaimed nothing */
};

/* Parts of layout_load(): before pages are placed, and after layout_end(). */
void layout_inside_blocks(struct model *m, const struct layout_inside *in);
void layout_inside_lists(struct model *m, const struct layout_inside *in, uint64_t *changed);
void layout_inside_state(struct model *m, const struct layout_inside *in);

/*
 * Texts are the files' contents, NULL where unknown. What no file shows is fresh, or guessed as
 * documented in layout_snapshot.c.
 */
struct layout_snapshot {
	/* Runs in ascending order without gaps from pfn 0; false at the end. */
	bool (*next)(void *arg, struct layout_run *run);
	void (*rewind)(void *arg);
	void *arg;
	uint64_t known_pins; /* references that are accounted for: PGF_PINNED, or made later */
	const char *zoneinfo, *pagetypeinfo, *vmstat;
	const struct layout_inside *inside; /* NULL: not known */
};

/* What had to be guessed. */
struct layout_guess {
	uint64_t block_types; /* blocks whose type is not MOVABLE */
	uint64_t pins;        /* pages pinned by nobody known */
	uint64_t percpu;      /* pages on per-CPU lists */
	uint64_t changed;     /* not guessed: chunks that were two things, and are one of them */
};

/* Fills a configuration's zones and CPUs from the zoneinfo text. 0, -EINVAL. */
int layout_config_from_zoneinfo(struct model_config *config, const char *zoneinfo) MUST_USE;
/* begin, put ..., end. 0, -EINVAL when the pages do not fit the zones, -ENOMEM. */
int layout_load(struct model *m, const struct layout_snapshot *snap,
		struct layout_guess *guess) MUST_USE;

#endif
