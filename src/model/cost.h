/* SPDX-License-Identifier: MIT */
/*
 * cost.h - what work costs in simulated nanoseconds: one table, one place.
 *
 * COST_TABLE(X): X(symbol, "name", default_ns, "unit", "source"). The name is the key of a cost
 * file and of `compactlab calibrate`, which measures the same rows on a guest or a host and
 * replaces defaults. The source says where the default is from: "published" = derived from the
 * timings an author published with his patch, "traced" = derived from a traced run of a real
 * kernel, "estimate" = nobody measured it yet. Costs move clocks only; no decision reads them, so
 * with a quiet machine (no daemons) a cost change changes times and nothing else.
 */
#ifndef COMPACTLAB_MODEL_COST_H
#define COMPACTLAB_MODEL_COST_H

#include <stdint.h>

#define COST_TABLE(X)                                                                              \
	/* allocator */                                                                            \
	X(ALLOC_FAST, "alloc_fast", 60, "allocation", "estimate")                                  \
	X(ALLOC_SLOW, "alloc_slow", 400, "slow path entry", "estimate")                            \
	X(ALLOC_WALK_ZONE, "alloc_walk_zone", 25, "zone visited", "estimate")                      \
	X(PCP_REFILL_CHUNK, "pcp_refill_chunk", 25, "chunk", "estimate")                           \
	X(FREE_PAGE, "free_page", 40, "free call", "estimate")                                     \
	X(BUDDY_FREE, "buddy_free", 40, "chunk freed to the buddy", "estimate")                    \
	X(DRAIN_LOCAL, "drain_local", 300, "set drained", "estimate")                              \
	X(DRAIN_ALL, "drain_all", 4000, "CPU reached by the drain", "estimate")                    \
	X(CLAIM_BLOCK, "claim_block", 800, "block retyped", "estimate")                            \
	/* compaction */                                                                           \
	X(COMPACT_RUN, "compact_run", 1200, "compact_zone run", "estimate")                        \
	X(BLOCK_SKIPPED, "block_skipped", 15, "block passed by its skip bit", "published")         \
	X(BLOCK_VISITED, "block_visited", 60, "block looked into", "estimate")                     \
	X(SCAN_MIGRATE, "scan_migrate", 27, "page scanned", "traced")                              \
	X(SCAN_FREE, "scan_free", 20, "page sampled", "traced")                                    \
	X(FAST_SEARCH, "fast_search", 15, "list entry charged", "estimate")                        \
	X(ISOLATE_SOURCE, "isolate_source", 90, "folio isolated", "estimate")                      \
	X(ISOLATE_TARGET, "isolate_target", 60, "free chunk isolated", "estimate")                 \
	X(SKIP_RESET_BLOCK, "skip_reset_block", 160, "block sampled by the reset", "traced")       \
	X(MIGRATE_FOLIO, "migrate_folio", 900, "folio attempted", "estimate")                      \
	X(MIGRATE_COPY, "migrate_copy", 300, "base page copied", "estimate")                       \
	X(MIGRATE_RETRY, "migrate_retry", 120, "further pass over a folio", "estimate")            \
	/* faults and files */                                                                     \
	X(FAULT, "fault", 500, "page fault without allocation and zeroing", "estimate")            \
	X(FAULT_HUGE, "fault_huge", 1500, "PMD fault likewise", "estimate")                        \
	X(ZERO_PAGE, "zero_page", 390, "base page zeroed", "published")                            \
	X(UNMAP_PAGE, "unmap_page", 60, "base page unmapped", "estimate")                          \
	X(MADVISE_CALL, "madvise_call", 350, "call that gives a page back", "estimate")            \
	X(COLLAPSE_SCAN, "collapse_scan", 8, "PTE examined by khugepaged", "estimate")             \
	X(PIN_PAGE, "pin_page", 60, "base page pinned or unpinned", "estimate")                    \
	X(FILE_WRITE_PAGE, "file_write_page", 350, "base page of buffered write", "estimate")      \
	X(FILE_READ_PAGE, "file_read_page", 250, "base page of cached read", "estimate")           \
	X(DISK_READ_PAGE, "disk_read_page", 2000, "base page read from disk", "estimate")          \
	X(DISK_WRITE_PAGE, "disk_write_page", 2000, "base page written to disk", "estimate")       \
	X(INODE_CREATE, "inode_create", 3500, "tmpfs file created", "published")                   \
	X(SLAB_OBJECT, "slab_object", 30, "object allocated or freed", "estimate")                 \
	/* reclaim */                                                                              \
	X(RECLAIM_RUN, "reclaim_run", 1500, "try_to_free_pages call", "estimate")                  \
	X(SHRINK_ROUND, "shrink_round", 300, "round of up to 32 folios a list", "estimate")        \
	X(RECLAIM_SCAN, "reclaim_scan", 80, "folio scanned", "estimate")                           \
	X(RECLAIM_FREE, "reclaim_free", 150, "folio freed", "estimate")                            \
	X(DAEMON_WAKE, "daemon_wake", 5000, "wake-up to first instruction", "estimate")

enum cost_id {
#define X(sym, name, ns, unit, source) COST_##sym,
	COST_TABLE(X)
#undef X
		NR_COSTS
};

struct cost_row {
	const char *name;
	uint32_t default_ns;
	const char *unit;
	const char *source;
};

/* The table as data, NR_COSTS rows, for help texts and for calibrate. */
extern const struct cost_row cost_rows[NR_COSTS];

struct cost_table {
	uint32_t ns[NR_COSTS];
};

void cost_defaults(struct cost_table *t);
/* Sets one row by name. 0, -ENOENT for an unknown name, -ERANGE above one second. */
int cost_set(struct cost_table *t, const char *name, uint64_t ns)
	__attribute__((warn_unused_result));

#endif
