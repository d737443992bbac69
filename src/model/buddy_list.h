/* SPDX-License-Identifier: MIT */
/*
 * buddy_list.h - one chunk onto a free list and off it, with every count that follows. For buddy.c,
 * buddy_block.c and fallback.c; everybody else uses buddy.h.
 */
#ifndef COMPACTLAB_MODEL_BUDDY_LIST_H
#define COMPACTLAB_MODEL_BUDDY_LIST_H

#include "model/buddy.h"
#include "model/memmap.h"

/* What buddy_list_moved() needs to store a new position. */
struct buddy_list_owner {
	uint32_t *word;
	struct zone *z;
};

/* A ring moved this member: a chunk keeps its position in word[], a pristine run in its record. */
void buddy_list_moved(void *ctx, uint32_t value, uint32_t pos);

/* Mirrors account_freepages() and the block counter of __add_to_free_list(). */
static inline void buddy_list_account(struct zone *z, unsigned order, enum migratetype type,
				      int64_t pages)
{
	if (type == MIGRATE_ISOLATE)
		return;
	z->stat[VM_NR_FREE_PAGES] += pages;
	if (order >= PAGEBLOCK_ORDER)
		z->stat[VM_NR_FREE_PAGES_BLOCKS] += pages;
	if (type == MIGRATE_CMA)
		z->stat[VM_NR_FREE_CMA] += pages;
	else if (type == MIGRATE_HIGHATOMIC)
		z->nr_free_highatomic = (uint64_t)((int64_t)z->nr_free_highatomic + pages);
}

/* Ring and mask only. */
static inline void buddy_list_link(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
				   enum migratetype type, bool to_tail)
{
	struct ring *r = &z->free[order][type];
	struct buddy_list_owner owner = {m->map.word, z};

	m->map.word[pfn] = to_tail ? ring_push_tail(r, pfn, buddy_list_moved, &owner)
				   : ring_push_head(r, pfn, buddy_list_moved, &owner);
	z->avail[type] |= (uint16_t)(1u << order);
}

static inline void buddy_list_unlink(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
				     enum migratetype type)
{
	struct ring *r = &z->free[order][type];

	check(ring_at(r, m->map.word[pfn]) == pfn);
	ring_remove(r, m->map.word[pfn]);
	if (ring_is_empty(r))
		z->avail[type] &= (uint16_t) ~(1u << order);
}

/* held -> free. Mirrors __add_to_free_list(). */
static inline void buddy_list_add(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
				  enum migratetype type, bool to_tail)
{
	memmap_mark_free(m, pfn, order);
	buddy_list_link(m, z, pfn, order, type, to_tail);
	z->nr_chunks[order]++;
	buddy_list_account(z, order, type, (int64_t)1 << order);
}

/* free -> held. Mirrors __del_page_from_free_list(). */
static inline void buddy_list_del(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
				  enum migratetype type)
{
	memmap_unmark_free(m, pfn, order);
	buddy_list_unlink(m, z, pfn, order, type);
	z->nr_chunks[order]--;
	buddy_list_account(z, order, type, -((int64_t)1 << order));
}

/* To the tail of another type's list. Mirrors move_to_free_list(). */
static inline void buddy_list_move(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
				   enum migratetype from, enum migratetype to)
{
	buddy_list_unlink(m, z, pfn, order, from);
	buddy_list_link(m, z, pfn, order, to, true);
	buddy_list_account(z, order, from, -((int64_t)1 << order));
	buddy_list_account(z, order, to, (int64_t)1 << order);
}

/* First chunk of a list that is not empty: held. Takes it out of a pristine run if it is in one. */
pfn_t buddy_list_pop(struct model *m, struct zone *z, unsigned order, enum migratetype type);

/* Is the block wholly inside the zone? Mirrors prep_move_freepages_block(). */
static inline bool buddy_block_in_zone(const struct zone *z, pfn_t pfn)
{
	return pb_start(pfn) >= z->start_pfn && pb_end(pfn) <= z->end_pfn;
}

/* Type of one block, its free chunks excepted. Mirrors set_pageblock_migratetype(). */
void buddy_block_set_type(struct model *m, struct zone *z, block_t b, enum migratetype type);
/* The 1 or 2 blocks of a chunk of order >= 9 that is on no list. Mirrors change_pageblock_range().
 */
void buddy_block_set_range(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
			   enum migratetype type);

#endif
