/* SPDX-License-Identifier: MIT */
/*
 * watermark.h - marks, reserves, boost, and the test every path asks.
 */
#ifndef COMPACTLAB_MODEL_WATERMARK_H
#define COMPACTLAB_MODEL_WATERMARK_H

#include "model/types.h"

/* Mirrors calculate_min_free_kbytes() and khugepaged's set_recommended_min_free_kbytes(). */
void watermark_recalculate_min_free(struct model *m);
/* Mirrors setup_per_zone_wmarks(), setup_per_zone_lowmem_reserve(), and the pcp sizes that follow them.
 * Resets boosts. Call after any change of min_free_kbytes, scale factor, ratios, managed pages. */
void watermark_setup(struct model *m);

/* Pages of `nr` nodes that may hold dirty page cache: free ones less all that the nodes reserve,
 * and file pages. Mirrors node_dirtyable_memory() for one node, global_dirtyable_memory() for all.
 */
uint64_t watermark_dirtyable(const struct model *m, const struct node *nodes, unsigned nr);

/* Mirrors __zone_watermark_ok(): strict; `free` may be any count (free blocks, free + reclaimable). */
bool watermark_ok(const struct zone *z, unsigned order, uint64_t mark, enum zone_class class,
		  alloc_flags_t flags, int64_t free);
/* Mirrors __zone_watermark_unusable_free(). */
static inline int64_t watermark_unusable(const struct zone *z, unsigned order, alloc_flags_t flags)
{
	int64_t pages = ((int64_t)1 << order) - 1;

	if (!(flags & ALLOC_RESERVES))
		pages += (int64_t)z->nr_free_highatomic;
	if (!(flags & ALLOC_CMA))
		pages += z->stat[VM_NR_FREE_CMA];
	return pages;
}
/* watermark_fast() without its short cut. */
bool watermark_full(const struct zone *z, unsigned order, uint64_t mark, enum zone_class class,
		    alloc_flags_t flags);
/* Mirrors zone_watermark_fast(): the allocator's variant (order-0 short cut, boosted retry). */
static inline bool watermark_fast(const struct zone *z, unsigned order, uint64_t mark,
				  enum zone_class class, alloc_flags_t flags)
{
	if (order == 0 && zone_free_pages(z) - watermark_unusable(z, 0, flags) >
				  (int64_t)(mark + z->lowmem_reserve[class]))
		return true;
	return watermark_full(z, order, mark, class, flags);
}

/* Mirrors boost_watermark(): one trigger; true when the zone was boosted. */
bool watermark_boost(struct model *m, struct zone *z);

#endif
