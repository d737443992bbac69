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
void layout_end(struct model *m);

/*
 * What a real machine shows of itself. Arrays are the caller's, indexed from pfn 0; NULL where
 * unknown. Texts are the files' contents. What no file shows (skip bits, cached positions, list
 * order, pcp contents, block types within a zone) is fresh, or guessed as documented in
 * layout_snapshot.c; `guessed` counts.
 */
struct layout_snapshot {
	pfn_t nr_pfns;
	const uint64_t *kpageflags;
	const uint64_t *kpagecount;
	const char *zoneinfo, *pagetypeinfo, *buddyinfo, *vmstat;
};

/* Fills a configuration's zones from the zoneinfo text. 0, -EINVAL. */
int layout_config_from_zoneinfo(struct model_config *config, const char *zoneinfo) MUST_USE;
/* begin, put ..., end. *guessed: pages whose state had to be guessed. 0, -EINVAL. */
int layout_load(struct model *m, const struct layout_snapshot *snap, uint64_t *guessed) MUST_USE;

#endif
