/* SPDX-License-Identifier: MIT */
/*
 * compact_skip.c - resetting the skip bits; see compact.h.
 */
#include "model/compact.h"

#include "model/clock.h"
#include "model/memmap.h"

#define SAMPLE_STEP (1u << PAGE_ALLOC_COSTLY_ORDER)

/* An LRU page in the kernel's sense: a tail of a large folio on the LRU counts. */
static bool is_lru_page(const struct model *m, pfn_t pfn)
{
	pfn_t head = memmap_head(m, pfn);

	return (KINDS_LRU >> PG_KIND(m->map.state[head]) & 1) && m->map.flag[head] & PGF_LRU;
}

/* The samples of __reset_isolation_pfn(): does one of them say that the block is worth a visit? */
static bool sample_block(const struct model *m, const struct block *b, pfn_t start, pfn_t last,
			 bool source, bool target)
{
	bool lru = source && b->nr_lru != 0;
	bool free = target && (b->nr_free_heads != 0 || !(b->bits & BLOCK_TOUCHED));

	if (!lru && !free)
		return false;
	for (pfn_t pfn = start; pfn <= last; pfn += SAMPLE_STEP) {
		if (lru && is_lru_page(m, pfn))
			return true;
		if (free && PG_KIND(memmap_state(m, pfn)) == PG_FREE)
			return true;
	}
	return false;
}

/* Mirrors __reset_isolation_pfn(). */
static bool reset_block(struct model *m, const struct zone *z, pfn_t pfn, bool source, bool target)
{
	const struct block *b = block_get(m, block_of(pfn));
	pfn_t head = memmap_head(m, pfn);
	uint8_t state = m->map.state[head];
	pfn_t start, last;

	if (m->map.zone_of_block[block_of(pfn).v] != z->id.v || PG_KIND(state) == PG_HOLE)
		return false;
	if ((KINDS_OWNED >> PG_KIND(state) & 1) && PG_ORDER(state) >= PAGEBLOCK_ORDER)
		return false;
	if (source && target && !memmap_skip(m, pfn))
		return true;
	if (!source && target && block_list_type(m, pfn) != MIGRATE_MOVABLE)
		return false;
	start = pb_start(pfn) > z->start_pfn ? pb_start(pfn) : z->start_pfn;
	last = (pb_end(pfn) < z->end_pfn ? pb_end(pfn) : z->end_pfn) - 1;
	if (!sample_block(m, b, start, last, source, target))
		return false;
	memmap_skip_clear(m, pfn);
	return true;
}

void compact_reset_zone(struct model *m, struct zone *z)
{
	pfn_t source = z->start_pfn, target = z->end_pfn - 1;
	pfn_t lowest = target, highest = source;
	bool source_set = false, target_set = false;

	if (!z->blockskip_flush)
		return;
	z->blockskip_flush = false;
	for (; source < target; source += PAGEBLOCK_PAGES, target -= PAGEBLOCK_PAGES) {
		if (reset_block(m, z, source, true, source_set) && source < lowest) {
			source_set = true;
			lowest = source;
			z->init_migrate = lowest;
			z->cached_migrate[0] = z->cached_migrate[1] = lowest;
		}
		if (reset_block(m, z, target, target_set, true) && target > highest) {
			target_set = true;
			highest = target;
			z->init_free = highest;
			z->cached_free = highest;
		}
		clock_charge(m, COST_SKIP_RESET_BLOCK, 2);
	}
	/* Nothing to work between: the next run finds its scanners together. */
	if (lowest >= highest) {
		z->cached_migrate[0] = z->cached_migrate[1] = source;
		z->cached_free = target;
	}
}

void compact_reset_node(struct model *m, struct node *n)
{
	for (unsigned class = 0; class < NR_ZONE_CLASSES; class ++) {
		if (n->zone[class].v != ZONE_NONE.v)
			compact_reset_zone(m, zone_get(m, n->zone[class]));
	}
}
