/* SPDX-License-Identifier: MIT */
/*
 * memmap.c - the page arrays: set-up, recounting a block; see memmap.h.
 */
#include "model/memmap.h"

#include <errno.h>

#include "model/arena.h"

int memmap_init(struct model *m, pfn_t end_pfn)
{
	struct memmap *map = &m->map;

	must(end_pfn != 0 && end_pfn < MAX_PFN && end_pfn % PAGEBLOCK_PAGES == 0);
	map->end_pfn = end_pfn;
	map->nr_blocks = end_pfn / PAGEBLOCK_PAGES;
	/* One block more than there are: transitions of an order-10 chunk may look at the next record. */
	map->state = arena_reserve(m->arena, end_pfn);
	map->flag = arena_reserve(m->arena, end_pfn);
	map->word = arena_reserve(m->arena, (size_t)end_pfn * sizeof(*map->word));
	map->block = arena_reserve(m->arena, (size_t)(map->nr_blocks + 1) * sizeof(*map->block));
	map->skip = arena_reserve(m->arena, (size_t)(map->nr_blocks / 64 + 1) * sizeof(*map->skip));
	map->whole = arena_reserve(m->arena, (size_t)(map->nr_blocks / 64 + 1) * sizeof(*map->whole));
	map->not_movable = arena_reserve(m->arena, (size_t)(map->nr_blocks / 64 + 1) *
							   sizeof(*map->not_movable));
	map->zone_of_block = arena_reserve(m->arena, map->nr_blocks);
	if (!map->state || !map->flag || !map->word || !map->block || !map->skip || !map->whole ||
	    !map->not_movable || !map->zone_of_block)
		return -ENOMEM;
	memset(map->zone_of_block, ZONE_NONE.v, map->nr_blocks);
	return 0;
}

void memmap_add_zone(struct model *m, struct zone *z)
{
	block_t first = block_of(z->start_pfn);
	block_t last = block_of(z->end_pfn - 1);

	memset(&m->map.zone_of_block[first.v], z->id.v, last.v - first.v + 1);
	if (z->start_pfn % PAGEBLOCK_PAGES) {
		memmap_reserve(m, block_start(first), z->start_pfn, PG_HOLE);
		/* Its scan begins at the zone's start, which is a page, so the ends do not exclude it. */
		m->map.block[first.v].bits &= (uint8_t)~BLOCK_FOREIGN_END;
		/* memmap_init_range() makes a block movable at its first page, which is in no zone here:
		 * ZONE_DMA's first block keeps the type 0. */
		m->map.block[first.v].type_x = MIGRATE_UNMOVABLE ^ MIGRATE_MOVABLE;
		memmap_type_changed(m, first);
	}
	if (z->end_pfn % PAGEBLOCK_PAGES) {
		memmap_reserve(m, z->end_pfn, pb_end(z->end_pfn), PG_HOLE);
		/* The target scanner looks at the zone's last page, not the block's. */
		m->map.block[last.v].bits &= (uint8_t)~BLOCK_FOREIGN_END;
	}
}

void memmap_hole_blocks(struct model *m, pfn_t start, pfn_t end)
{
	memset(&m->map.zone_of_block[block_of(start).v], ZONE_NONE.v,
	       block_of(end).v - block_of(start).v);
}

void memmap_reserve(struct model *m, pfn_t start, pfn_t end, enum page_kind kind)
{
	check(kind == PG_HOLE || kind == PG_RESERVED);
	for (pfn_t pfn = start; pfn < end; pfn++) {
		struct block *b = &m->map.block[block_of(pfn).v];

		check(m->map.state[pfn] == 0);
		m->map.state[pfn] = PG_STATE(kind, 0);
		b->bits |= BLOCK_TOUCHED;
		b->nr_taken++;
		/* The scanners look at a block's two ends only. A reserved page is a page, a hole is none. */
		if (kind == PG_HOLE && (pfn == pb_start(pfn) || pfn + 1 == pb_end(pfn)))
			b->bits |= BLOCK_FOREIGN_END;
	}
}

uint32_t memmap_prev_target(const struct model *m, uint32_t from, uint32_t low, bool use_skip,
			    bool use_type, uint32_t *marked)
{
	*marked = 0;
	while (from > low) {
		uint32_t base = from & ~63u;
		uint64_t skip = use_skip ? m->map.skip[base / 64] : 0;
		uint64_t pass = skip | (use_type ? m->map.not_movable[base / 64] : 0);
		uint64_t here = ~0ull >> (63 - from % 64), stop;

		if (base <= low)
			here &= ~0ull << (low + 1 - base);
		stop = ~pass & here;
		if (stop) {
			from = base + 63 - (uint32_t)__builtin_clzll(stop);
			here &= ~1ull << (from % 64);
		}
		skip &= here;
		if (skip)
			*marked += skip == ~0ull ? 64 : (uint32_t)__builtin_popcountll(skip);
		if (stop)
			return from;
		if (base <= low)
			break;
		from = base - 1;
	}
	return low;
}

void memmap_make_compound(struct model *m, pfn_t head, unsigned order, enum page_kind tail)
{
	memset(&m->map.state[head + 1], PG_STATE(tail, order), (1u << order) - 1);
	MEMMAP_COUNT(m, head, order, nr_compound, +=);
	if (order >= PAGEBLOCK_ORDER)
		memmap_set_whole(m, head, order, true);
}

void memmap_end_compound(struct model *m, pfn_t head, unsigned order)
{
	memset(&m->map.state[head + 1], 0, (1u << order) - 1);
	MEMMAP_COUNT(m, head, order, nr_compound, -=);
	if (order >= PAGEBLOCK_ORDER)
		memmap_set_whole(m, head, order, false);
}

void memmap_split_folio(struct model *m, pfn_t head, uint32_t first_slot)
{
	uint8_t state = m->map.state[head];
	uint8_t flags = m->map.flag[head];
	unsigned order = PG_ORDER(state);

	check(order > 0 && !(flags & PGF_LRU));
	for (uint32_t i = 0; i < 1u << order; i++) {
		m->map.state[head + i] = PG_STATE(PG_KIND(state), 0);
		m->map.flag[head + i] = flags;
		m->map.word[head + i] = first_slot + i;
	}
	MEMMAP_COUNT(m, head, order, nr_compound, -=);
	if (order >= PAGEBLOCK_ORDER)
		memmap_set_whole(m, head, order, false);
}

static bool is_whole(const struct model *m, pfn_t start)
{
	uint8_t s = m->map.state[memmap_head(m, start)];

	return KINDS_OWNED >> PG_KIND(s) & 1 && PG_ORDER(s) >= PAGEBLOCK_ORDER;
}

/* What one block's pages add up to; the free part of an order-10 chunk may begin in the block before. */
bool memmap_block_is_valid(struct model *m, block_t id)
{
	const struct block *b = block_get(m, id);
	struct block want = { 0 };
	pfn_t start = block_start(id), end = start + PAGEBLOCK_PAGES;
	uint32_t free = 0;

	if (memmap_not_movable(m, start) == migratetype_is_movable_like(block_list_type(m, start)))
		return false;
	if (!(b->bits & BLOCK_TOUCHED)) {
		/* Never touched: zero but for the type and isolation. */
		return !memmap_whole(m, start) && b->nr_taken == 0 && b->nr_lru == 0 && b->nr_pcp == 0 && b->nr_free_heads == 0 &&
		       b->nr_grid_heads == 0 && b->nr_compound == 0;
	}
	if (memmap_whole(m, start) != is_whole(m, start))
		return false;
	if (id.v % 2 == 1 && m->map.state[start - PAGEBLOCK_PAGES] == PG_STATE(PG_FREE, MAX_PAGE_ORDER))
		return b->nr_taken == 0 && b->nr_free_heads == 0 && b->nr_grid_heads == 0;
	for (pfn_t pfn = start; pfn < end;) {
		uint8_t s = m->map.state[pfn];
		uint8_t f = m->map.flag[pfn];
		enum page_kind kind = PG_KIND(s);
		uint32_t pages = 1u << PG_ORDER(s);
		uint32_t here = pfn + pages > end ? end - pfn : pages;

		switch (kind) {
		case PG_FREE:
			free += here;
			want.nr_free_heads++;
			if (pfn % BLOCK_GRID == 0)
				want.nr_grid_heads++;
			break;
		case PG_PCP:
			want.nr_pcp += here;
			break;
		case PG_TAIL:
		case PG_TAIL_LRU:
			/* Only the second half of an order-10 compound starts a block with a tail. */
			if (pfn != start || PG_ORDER(s) <= PAGEBLOCK_ORDER)
				return false;
			want.nr_compound = PAGEBLOCK_PAGES;
			here = PAGEBLOCK_PAGES;
			break;
		case PG_MOVABLE_OPS:
			want.nr_movable_ops += here;
			break;
		case PG_ANON:
		case PG_FILE:
		case PG_SHMEM:
			if (f & PGF_LRU) {
				want.nr_lru += here;
				if (kind == PG_ANON && f & PGF_PINNED)
					want.nr_pinned += here;
			}
			break;
		case PG_BODY: /* the second half of a held or pcp chunk of order 10 */
			here = 1;
			break;
		default:
			break;
		}
		if ((KINDS_OWNED >> kind & 1) && PG_ORDER(s) > 0)
			want.nr_compound += here;
		pfn += here;
	}
	return b->nr_taken == PAGEBLOCK_PAGES - free && b->nr_lru == want.nr_lru &&
	       b->nr_pinned == want.nr_pinned && b->nr_movable_ops == want.nr_movable_ops &&
	       b->nr_compound == want.nr_compound && b->nr_free_heads == want.nr_free_heads &&
	       b->nr_grid_heads == want.nr_grid_heads && b->nr_pcp == want.nr_pcp;
}
