/* SPDX-License-Identifier: MIT */
/*
 * compact_skip.c - resetting the skip bits; see compact.h.
 */
#include "model/compact.h"

#include "model/clock.h"
#include "model/memmap.h"

/* An LRU page in the kernel's sense: a tail of a large folio on the LRU counts. */
static bool is_lru_page(const struct model *m, pfn_t pfn)
{
	pfn_t head = memmap_head(m, pfn);

	return (KINDS_LRU >> PG_KIND(m->map.state[head]) & 1) && m->map.flag[head] & PGF_LRU;
}

/* Is the head of a free chunk among the samples? They are counted, but where the zone begins in the
 * middle of the grid and where nothing was ever touched. */
static bool free_is_sampled(const struct model *m, const struct block *b, pfn_t start, pfn_t last)
{
	if (b->bits & BLOCK_TOUCHED && start % BLOCK_GRID == 0)
		return b->nr_grid_heads != 0;
	for (pfn_t pfn = start; pfn <= last; pfn += BLOCK_GRID) {
		if (PG_KIND(memmap_state(m, pfn)) == PG_FREE)
			return true;
	}
	return false;
}

static bool lru_is_sampled(const struct model *m, const struct block *b, pfn_t start, pfn_t last)
{
	for (pfn_t pfn = start; b->nr_lru && pfn <= last; pfn += BLOCK_GRID) {
		if (is_lru_page(m, pfn))
			return true;
	}
	return false;
}

/* Mirrors __reset_isolation_pfn(), but for blocks that need no look; see candidates(). Inline,
 * since a reset asks this of each marked block of the zone. */
static inline __attribute__((always_inline)) bool reset_block(struct model *m, const struct zone *z,
							      pfn_t pfn, bool source, bool target)
{
	const struct block *b = block_get(m, block_of(pfn));
	pfn_t start, last;

	if (m->map.zone_of_block[block_of(pfn).v] != z->id.v)
		return false;
	if (!source && target && block_list_type(m, pfn) != MIGRATE_MOVABLE)
		return false;
	start = pb_start(pfn) > z->start_pfn ? pb_start(pfn) : z->start_pfn;
	last = (pb_end(pfn) < z->end_pfn ? pb_end(pfn) : z->end_pfn) - 1;
	if (!(target && free_is_sampled(m, b, start, last)) &&
	    !(source && lru_is_sampled(m, b, start, last)))
		return false;
	if (PG_KIND(m->map.state[memmap_head(m, pfn)]) == PG_HOLE)
		return false;
	memmap_skip_clear(m, pfn);
	return true;
}

/* Blocks of a word of the bitmaps that a reset has to look at: those no compound fills and, once
 * the first suitable one is known, only those whose mark can be cleared. */
static uint64_t candidates(const struct model *m, uint32_t word, bool known)
{
	return ~m->map.whole[word] & (known ? m->map.skip[word] : ~0ull);
}

/* The walk upwards over n blocks: the first suitable source, PFN_NONE if there is none. */
static pfn_t reset_sources(struct model *m, const struct zone *z, uint32_t n)
{
	uint32_t first = block_of(z->start_pfn).v, b = first;
	pfn_t found = PFN_NONE;

	while (b < first + n) {
		uint64_t left = candidates(m, b / 64, found != PFN_NONE) >> (b % 64);
		pfn_t pfn;

		if (left == 0) {
			b = (b / 64 + 1) * 64;
			continue;
		}
		b += (uint32_t)__builtin_ctzll(left);
		if (b >= first + n)
			break;
		pfn = z->start_pfn + block_start((block_t){b - first});
		if (reset_block(m, z, pfn, true, found != PFN_NONE) && found == PFN_NONE)
			found = pfn;
		b++;
	}
	return found;
}

/* The walk downwards: the first suitable target. */
static pfn_t reset_targets(struct model *m, const struct zone *z, uint32_t n)
{
	uint32_t last = block_of(z->end_pfn - 1).v, passed = 0;
	pfn_t found = PFN_NONE;

	while (passed < n) {
		uint32_t b = last - passed;
		uint64_t left = candidates(m, b / 64, found != PFN_NONE) << (63 - b % 64);
		pfn_t pfn;

		if (left == 0) {
			passed += b % 64 + 1;
			continue;
		}
		passed += (uint32_t)__builtin_clzll(left);
		if (passed >= n)
			break;
		pfn = z->end_pfn - 1 - block_start((block_t){passed});
		if (reset_block(m, z, pfn, found != PFN_NONE, true) && found == PFN_NONE)
			found = pfn;
		passed++;
	}
	return found;
}

/*
 * The kernel takes a source and a target in turn until the two walks meet. They share no block but
 * one in the middle, which the source comes to first, so here one walk follows the other.
 */
void compact_reset_zone(struct model *m, struct zone *z)
{
	pfn_t last = z->end_pfn - 1, lowest, highest;
	uint32_t n = (last - z->start_pfn + 2 * PAGEBLOCK_PAGES - 1) / (2 * PAGEBLOCK_PAGES);

	if (!z->blockskip_flush)
		return;
	z->blockskip_flush = false;
	clock_charge(m, COST_SKIP_RESET_BLOCK, 2ull * n);
	lowest = reset_sources(m, z, n);
	if (lowest != PFN_NONE)
		z->init_migrate = z->cached_migrate[0] = z->cached_migrate[1] = lowest;
	highest = reset_targets(m, z, n);
	if (highest != PFN_NONE)
		z->init_free = z->cached_free = highest;
	/* Nothing to work between: the next run finds its scanners together. */
	if (lowest == PFN_NONE || highest == PFN_NONE || lowest >= highest) {
		z->cached_migrate[0] = z->cached_migrate[1] =
			z->start_pfn + block_start((block_t){n});
		z->cached_free = last - block_start((block_t){n});
	}
}

void compact_reset_node(struct model *m, struct node *n)
{
	for (unsigned class = 0; class < NR_ZONE_CLASSES; class ++) {
		if (n->zone[class].v != ZONE_NONE.v)
			compact_reset_zone(m, zone_get(m, n->zone[class]));
	}
}
