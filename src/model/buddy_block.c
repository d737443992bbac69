/* SPDX-License-Identifier: MIT */
/*
 * buddy_block.c - whole blocks: retyping, isolation, the highatomic reserve; see buddy.h.
 */
#include "model/buddy.h"

#include <errno.h>

#include "model/buddy_list.h"
#include "model/zonelist.h"

/* ---- types -------------------------------------------------------------------------------- */

void buddy_block_set_type(struct model *m, struct zone *z, block_t id, enum migratetype type)
{
	struct block *b = block_get(m, id);

	if (m->grouping_disabled && migratetype_is_mergeable(type))
		type = MIGRATE_UNMOVABLE;
	z->nr_blocks_of[block_list_type(m, block_start(id))]--;
	b->type_x = (uint8_t)(type ^ MIGRATE_MOVABLE);
	memmap_type_changed(m, id);
	z->nr_blocks_of[block_list_type(m, block_start(id))]++;
}

void buddy_block_set_range(struct model *m, struct zone *z, pfn_t pfn, unsigned order,
			   enum migratetype type)
{
	for (pfn_t p = pfn; p < pfn + (1u << order); p += PAGEBLOCK_PAGES)
		buddy_block_set_type(m, z, block_of(p), type);
}

/* The block's free chunks to the tails of `to`, in ascending order. Mirrors
 * __move_freepages_block(). */
static uint32_t move_chunks(struct model *m, struct zone *z, block_t id, enum migratetype from,
			    enum migratetype to)
{
	const struct block *b = block_get(m, id);
	pfn_t end = block_start(id) + PAGEBLOCK_PAGES;
	uint32_t heads = b->bits & BLOCK_TOUCHED ? b->nr_free_heads : 0;
	uint32_t pages = 0;

	for (pfn_t pfn = block_start(id); heads && pfn < end;) {
		uint8_t s = m->map.state[pfn];

		if (PG_KIND(s) != PG_FREE) {
			pfn++;
			continue;
		}
		buddy_list_move(m, z, pfn, PG_ORDER(s), from, to);
		pages += 1u << PG_ORDER(s);
		pfn += 1u << PG_ORDER(s);
		heads--;
	}
	return pages;
}

/* An order-10 free chunk over this block becomes two of order 9, so that the halves can differ. */
static void split_straddling(struct model *m, struct zone *z, block_t id)
{
	pfn_t head = block_start(id) & ~((1u << MAX_PAGE_ORDER) - 1);
	enum migratetype type;

	buddy_materialise(m, block_start(id));
	if (m->map.state[head] != PG_STATE(PG_FREE, MAX_PAGE_ORDER))
		return;
	type = block_list_type(m, head);
	buddy_list_del(m, z, head, MAX_PAGE_ORDER, type);
	memmap_set_held(m, head, PAGEBLOCK_ORDER);
	memmap_set_held(m, head + PAGEBLOCK_PAGES, PAGEBLOCK_ORDER);
	buddy_list_add(m, z, head, PAGEBLOCK_ORDER, type, false);
	buddy_list_add(m, z, head + PAGEBLOCK_PAGES, PAGEBLOCK_ORDER, type, false);
}

uint32_t buddy_retype_block(struct model *m, struct zone *z, block_t b, enum migratetype type)
{
	enum migratetype from = block_list_type(m, block_start(b)), to;

	if (from == type)
		return 0;
	split_straddling(m, z, b);
	buddy_block_set_type(m, z, b, type);
	to = block_list_type(m, block_start(b));
	return from == to ? 0 : move_chunks(m, z, b, from, to);
}

/* ---- isolation ---------------------------------------------------------------------------- */

/* Mirrors has_unmovable_pages() for a contiguous allocation. */
static bool has_unmovable(struct model *m, const struct zone *z, block_t id)
{
	pfn_t end = block_start(id) + PAGEBLOCK_PAGES;

	if (block_type(m, block_start(id)) == MIGRATE_CMA)
		return false;
	for (pfn_t pfn = block_start(id); pfn < end;) {
		uint8_t s = memmap_state(m, pfn);

		switch (PG_KIND(s)) {
		case PG_FREE:
		case PG_PCP:
		case PG_HUGETLB:
		case PG_MOVABLE_OPS:
			pfn += 1u << PG_ORDER(s);
			break;
		case PG_ANON:
		case PG_FILE:
		case PG_SHMEM:
			if (!(m->map.flag[pfn] & PGF_LRU) && z->class != ZONE_MOVABLE)
				return true;
			pfn += 1u << PG_ORDER(s);
			break;
		case PG_BODY:
			pfn++;
			break;
		case PG_RESERVED:
		case PG_HOLE:
			return true;
		default:
			if (z->class != ZONE_MOVABLE)
				return true;
			pfn++;
			break;
		}
	}
	return false;
}

int buddy_isolate_block(struct model *m, block_t b)
{
	struct zone *z = zone_of(m, block_start(b));
	enum migratetype from;

	if (!z || !buddy_block_in_zone(z, block_start(b)))
		return -EBUSY;
	if (block_get(m, b)->bits & BLOCK_ISOLATE || has_unmovable(m, z, b))
		return -EBUSY;
	split_straddling(m, z, b);
	from = block_list_type(m, block_start(b));
	z->nr_blocks_of[from]--;
	block_get(m, b)->bits |= BLOCK_ISOLATE;
	if (!m->profile->isolate_is_a_bit)
		block_get(m, b)->type_x = MIGRATE_ISOLATE ^ MIGRATE_MOVABLE;
	memmap_type_changed(m, b);
	z->nr_blocks_of[MIGRATE_ISOLATE]++;
	z->nr_isolated_blocks++;
	(void)move_chunks(m, z, b, from, MIGRATE_ISOLATE);
	return 0;
}

void buddy_unisolate_block(struct model *m, block_t b, enum migratetype restore)
{
	struct zone *z = zone_of(m, block_start(b));
	pfn_t start = block_start(b);
	enum migratetype to;
	bool whole;

	check(block_get(m, b)->bits & BLOCK_ISOLATE);
	whole = m->map.state[start] == PG_STATE(PG_FREE, PAGEBLOCK_ORDER);
	split_straddling(m, z, b);
	/* A wholly free block is taken out and freed again, so that it can merge with its buddy. */
	if (whole)
		buddy_list_del(m, z, start, PAGEBLOCK_ORDER, MIGRATE_ISOLATE);
	z->nr_blocks_of[MIGRATE_ISOLATE]--;
	block_get(m, b)->bits &= (uint8_t)~BLOCK_ISOLATE;
	if (!m->profile->isolate_is_a_bit)
		block_get(m, b)->type_x = (uint8_t)(restore ^ MIGRATE_MOVABLE);
	memmap_type_changed(m, b);
	to = block_list_type(m, start);
	z->nr_blocks_of[to]++;
	z->nr_isolated_blocks--;
	if (whole)
		buddy_free(m, z, start, PAGEBLOCK_ORDER, true);
	else
		(void)move_chunks(m, z, b, MIGRATE_ISOLATE, to);
}

/* ---- the highatomic reserve --------------------------------------------------------------- */

void buddy_reserve_highatomic(struct model *m, struct zone *z, pfn_t page, unsigned order)
{
	uint64_t share = z->managed / 100;
	uint64_t cap = (share + PAGEBLOCK_PAGES - 1) & ~(uint64_t)(PAGEBLOCK_PAGES - 1);

	if (share < PAGEBLOCK_PAGES || z->nr_reserved_highatomic >= cap)
		return;
	if (!migratetype_is_mergeable(block_list_type(m, page)))
		return;
	if (order >= PAGEBLOCK_ORDER) {
		buddy_block_set_range(m, z, page, order, MIGRATE_HIGHATOMIC);
		z->nr_reserved_highatomic += 1u << order;
		return;
	}
	if (!buddy_block_in_zone(z, page))
		return;
	(void)buddy_retype_block(m, z, block_of(page), MIGRATE_HIGHATOMIC);
	z->nr_reserved_highatomic += PAGEBLOCK_PAGES;
}

/* Gives back the block of the first highatomic chunk of the zone; false when it has none. */
static bool unreserve_zone(struct model *m, struct zone *z, enum migratetype type)
{
	unsigned mask = z->avail[MIGRATE_HIGHATOMIC];
	unsigned order;
	uint64_t size;
	pfn_t pfn;

	while (mask) {
		order = (unsigned)__builtin_ctz(mask);
		mask &= mask - 1;
		pfn = ring_at(&z->free[order][MIGRATE_HIGHATOMIC],
			      z->free[order][MIGRATE_HIGHATOMIC].head);
		size = order > PAGEBLOCK_ORDER ? 1u << order : PAGEBLOCK_PAGES;
		if (size > z->nr_reserved_highatomic)
			size = z->nr_reserved_highatomic;
		z->nr_reserved_highatomic -= size;
		if (order < PAGEBLOCK_ORDER) {
			if (buddy_retype_block(m, z, block_of(pfn), type) > 0)
				return true;
			continue;
		}
		buddy_list_move(m, z, pfn, order, MIGRATE_HIGHATOMIC, type);
		buddy_block_set_range(m, z, pfn, order, type);
		return true;
	}
	return false;
}

bool buddy_unreserve_highatomic(struct model *m, const struct alloc_context *ac, bool force)
{
	int i;

	for_each_zoneref(i, ac->zonelist, 0, ac->class, ac->nodemask)
	{
		struct zone *z = zone_get(m, ac->zonelist->ref[i].zone);

		if (!force && z->nr_reserved_highatomic <= PAGEBLOCK_PAGES)
			continue;
		if (unreserve_zone(m, z, ac->type))
			return true;
	}
	return false;
}
