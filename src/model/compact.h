/* SPDX-License-Identifier: MIT */
/*
 * compact.h - compaction of a zone: the loop (compact.c), the entries (compact_entry.c), the two scanners
 * (scan_migrate.c, scan_free.c) and what they share.
 *
 * A run is a step machine so that daemons can be put aside between batches:
 *
 *     r = compact_zone_begin(m, cc);            pre-check, start positions; not CONTINUE: it is over
 *     while (compact_zone_step(m, cc)) ...      one turn of the loop: isolate, migrate, check capture
 *     r = compact_zone_end(m, cc);              release leftovers, cached_free, counters
 */
#ifndef COMPACTLAB_MODEL_COMPACT_H
#define COMPACTLAB_MODEL_COMPACT_H

#include "model/types.h"

/* ---- the run (compact.c) ------------------------------------------------------------------ */

enum compact_result compact_zone_begin(struct model *m, struct compact_control *cc) MUST_USE;
/* True: call again. False: the run has its result in cc->result; call end. */
bool compact_zone_step(struct model *m, struct compact_control *cc) MUST_USE;
enum compact_result compact_zone_end(struct model *m, struct compact_control *cc);
/* Mirrors compact_zone(): all three, with a clock_point() after each step. For tasks. */
enum compact_result compact_zone(struct model *m, struct compact_control *cc);

/* Mirrors compact_finished() with its trace. */
enum compact_result compact_finished(struct model *m, struct compact_control *cc);
/* Mirrors fragmentation_score_zone() and fragmentation_score_node(). */
uint32_t compact_score_zone(const struct model *m, const struct zone *z);
uint32_t compact_score_node(const struct model *m, const struct node *n);
/* Mirrors fragmentation_score_wmark(). */
uint32_t compact_score_mark(const struct model *m, bool low);

/* Mirrors compaction_capture(): called by buddy_free() at each merge order, before merging further. True: the
 * held chunk (pfn, order) now belongs to m->capture. */
bool compact_capture(struct model *m, struct zone *z, pfn_t pfn, unsigned order, enum migratetype type);

/* ---- suitability (compact_suit.c) --------------------------------------------------------- */

/* Mirrors compaction_suit_allocation_order(): SUCCESS, SKIPPED or CONTINUE. */
enum compact_result compact_precheck(struct model *m, struct zone *z, int order, enum zone_class class,
				     alloc_flags_t flags, bool async, bool kcompactd);
/* Mirrors compaction_suitable() with its trace; base is the mark, ignored by profile A. */
bool compact_suitable(struct model *m, struct zone *z, int order, uint64_t base, enum zone_class class);
/* Mirrors fragmentation_index(): 0..1000, or -1000 when a chunk of the order exists. */
int compact_fragmentation_index(const struct zone *z, unsigned order);
/* Mirrors compaction_zonelist_suitable(). */
bool compact_zonelist_suitable(struct model *m, const struct alloc_context *ac, int order);

/* ---- skip bits (compact_skip.c) ----------------------------------------------------------- */

/* Mirrors __reset_isolation_suitable(): acts only if blockskip_flush. */
void compact_reset_zone(struct model *m, struct zone *z);
/* Mirrors reset_isolation_suitable(): all zones of a node (kswapd before its nap). */
void compact_reset_node(struct model *m, struct node *n);

/* ---- entries (compact_entry.c) ------------------------------------------------------------ */

/* Mirrors try_to_compact_pages(). A captured page is returned held in *capture, else PFN_NONE. */
enum compact_result compact_try_pages(struct model *m, unsigned order, alloc_flags_t flags,
				      const struct alloc_context *ac, enum compact_priority prio,
				      pfn_t *capture);
/* Mirrors compact_node() for /proc/sys/vm/compact_memory and the per-node file, one zone a step: begin at a
 * node, step until false. A zone is one atom of the task, as a direct compaction is. */
void compact_node_begin(struct model *m, struct node *n);
bool compact_node_step(struct model *m, struct node *n) MUST_USE;

/* ---- source scanner (scan_migrate.c) ------------------------------------------------------ */

enum isolate_result { ISOLATE_ABORT, ISOLATE_NONE, ISOLATE_SUCCESS };

/* Mirrors isolate_migratepages(). */
enum isolate_result scan_migrate_isolate(struct model *m, struct compact_control *cc);
/* Mirrors isolate_migratepages_block(): [low, end) of one block; sets cc->migrate_pfn. 0 or -EAGAIN (abort).
 * Also for alloc_contig through scan_migrate_range(). */
int scan_migrate_block(struct model *m, struct compact_control *cc, pfn_t low, pfn_t end);
/* Mirrors isolate_migratepages_range(). */
int scan_migrate_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end) MUST_USE;
/* Mirrors fast_find_migrateblock(). */
pfn_t scan_migrate_fast(struct model *m, struct compact_control *cc);
/* Mirrors suitable_migration_source(). */
bool scan_migrate_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn);
/* Mirrors update_cached_migrate(). */
void scan_migrate_update_cached(struct compact_control *cc, pfn_t pfn);
/* Mirrors putback_movable_pages() of what is left on cc->migrate[]. */
void scan_migrate_putback(struct model *m, struct compact_control *cc);

/* ---- target scanner (scan_free.c) --------------------------------------------------------- */

/* Mirrors isolate_freepages(). */
void scan_free_isolate(struct model *m, struct compact_control *cc);
/* Mirrors isolate_freepages_block(): *start moves to the pfn reached. Returns base pages isolated. */
uint32_t scan_free_block(struct model *m, struct compact_control *cc, pfn_t *start, pfn_t end,
			 uint32_t stride, bool strict);
/* Mirrors isolate_freepages_range() for alloc_contig: takes every free page of [start, end); pfn reached. */
pfn_t scan_free_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end);
/* Mirrors fast_isolate_freepages(). */
void scan_free_fast(struct model *m, struct compact_control *cc);
/* Mirrors suitable_migration_target(). */
bool scan_free_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn);
/* Mirrors __isolate_free_page(): watermark, take off the list, retype at order >= 8. False: refused. */
bool scan_free_take(struct model *m, struct compact_control *cc, pfn_t head, unsigned order);
/* Mirrors compaction_alloc() and compaction_free() as migration's target callbacks. PFN_NONE: no memory. */
pfn_t scan_free_target(struct model *m, struct compact_control *cc, unsigned order);
void scan_free_target_back(struct model *m, struct compact_control *cc, pfn_t pfn, unsigned order);
/* Mirrors release_free_list(): everything held goes back through free_pages(); highest pfn released. */
pfn_t scan_free_release(struct model *m, struct compact_control *cc);

/* Shared by both: is the block wholly in the zone (pageblock_pfn_to_page)? */
static inline bool compact_block_in_zone(struct model *m, const struct zone *z, pfn_t pfn)
{
	block_t b = block_of(pfn);

	return m->map.zone_of_block[b.v] == z->id.v && !(m->map.block[b.v].bits & BLOCK_FOREIGN_END);
}

#endif
