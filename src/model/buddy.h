/* SPDX-License-Identifier: MIT */
/*
 * buddy.h - free lists: taking, splitting, freeing, merging, retyping, isolation, highatomic reserve.
 *
 * Everything here works on one zone and on chunks that are free or held. Every list change keeps
 * nr_free_pages, nr_free_cma, nr_free_highatomic and nr_free_pages_blocks. No function looks at watermarks
 * or pcp lists. Insertion is at the head unless said otherwise.
 */
#ifndef COMPACTLAB_MODEL_BUDDY_H
#define COMPACTLAB_MODEL_BUDDY_H

#include "model/types.h"

int buddy_init_zone(struct model *m, struct zone *z) MUST_USE;
/* Boot: gives [start, end) to the allocator in ascending order at the tails; whole order-10 chunks become
 * pristine runs, nothing of them is touched. Mirrors memblock_free_all/__free_pages_core. */
void buddy_boot_range(struct model *m, struct zone *z, pfn_t start, pfn_t end);
/* A pristine order-10 chunk that covers pfn becomes an ordinary free one; nothing to do otherwise. */
void buddy_materialise(struct model *m, pfn_t pfn);

/* Mirrors __rmqueue_smallest(): smallest-first from order to 10, head, split. Held chunk or PFN_NONE. */
pfn_t buddy_take(struct model *m, struct zone *z, unsigned order, enum migratetype type);
/* buddy_take() up to n times, the chunks into taken[]; how many. Faster, not different. */
uint32_t buddy_take_bulk(struct model *m, struct zone *z, unsigned order, enum migratetype type,
			 uint32_t n, pfn_t *taken);
/* Takes exactly this free chunk off its list (free scanner, alloc_contig). Held afterwards.
 * Mirrors __isolate_free_page() without its watermark test and retyping. */
void buddy_take_chunk(struct model *m, struct zone *z, pfn_t head);
/* Splits a held chunk down to `low`, pushing upper halves on the lists of `type`. Mirrors expand(). */
void buddy_split(struct model *m, struct zone *z, pfn_t pfn, unsigned high, unsigned low,
		 enum migratetype type);
/* Mirrors __free_one_page(): merges and inserts. `to_tail` is FPI_TO_TAIL. order 10 is freed as two blocks
 * when their types differ. Offers the result of every step to m->capture (compaction_capture()). */
void buddy_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order, bool to_tail);

/* Mirrors set_pageblock_migratetype() + __move_freepages_block(): the block's free chunks go to the tails of
 * the new type's lists in ascending order. A chunk larger than the block is split first. Returns the
 * pages moved, 0 when the block had the type already. */
uint32_t buddy_retype_block(struct model *m, struct zone *z, block_t b, enum migratetype type);
/* Isolation for alloc_contig: 0, or -EBUSY when the block holds something that cannot move.
 * Mirrors set_migratetype_isolate() / unset_migratetype_isolate(); profile A overwrites the type (P17). */
int buddy_isolate_block(struct model *m, block_t b) MUST_USE;
void buddy_unisolate_block(struct model *m, block_t b, enum migratetype restore);

/* Mirrors reserve_highatomic_pageblock(); `page` was just allocated with order `order`. */
void buddy_reserve_highatomic(struct model *m, struct zone *z, pfn_t page, unsigned order);
/* Mirrors unreserve_highatomic_pageblock() over the request's zones; force: even the last. */
bool buddy_unreserve_highatomic(struct model *m, const struct alloc_context *ac, bool force);

/* ---- walking, for compaction's fast searches ---------------------------------------------- */

/* The ring of a list; order-10 MOVABLE may contain RING_RUN cells, no other list does. */
static inline struct ring *buddy_list(struct zone *z, unsigned order, enum migratetype type)
{
	return &z->free[order][type];
}
/* Makes the chunk at pos the head of its list (list_rotate_to_front and the searches' rotation). */
void buddy_rotate(struct model *m, struct zone *z, unsigned order, enum migratetype type, uint32_t pos);

static inline bool buddy_has(const struct zone *z, unsigned order, enum migratetype type)
{
	return z->avail[type] >> order & 1;
}

/* Chunks on one list, runs included (pagetypeinfo). */
uint64_t buddy_list_chunks(const struct zone *z, unsigned order, enum migratetype type);

/* Every list, mask, count and gauge of the zone agrees with the pages (validate.c). */
bool buddy_zone_is_valid(struct model *m, struct zone *z);

#endif
