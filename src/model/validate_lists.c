/* SPDX-License-Identifier: MIT */
/*
 * validate_lists.c - the allocator's half of validate(): blocks, free lists, per-CPU lists, and
 * that no page is lost or doubled; see validate.h.
 */
#include "model/validate.h"

#include <stdio.h>

#include "model/buddy.h"
#include "model/memmap.h"
#include "model/pcp.h"

/* The pages of a zone by the life they are in. Never-touched blocks are free without being looked
 * at. */
struct census {
	uint64_t free, pcp, held, owned, reserved, hole;
};

static bool count_block(const struct model *m, const struct zone *z, block_t id, struct census *c,
			pfn_t *next)
{
	pfn_t end = block_start(id) + PAGEBLOCK_PAGES;
	pfn_t pfn = *next;

	while (pfn < end) {
		uint8_t s = memmap_state(m, pfn);
		uint64_t pages = 1ull << PG_ORDER(s);

		if (pfn >= z->end_pfn)
			break;
		switch (PG_KIND(s)) {
		case PG_FREE:
			c->free += pages;
			break;
		case PG_PCP:
			c->pcp += pages;
			break;
		case PG_HELD:
			c->held += pages;
			break;
		case PG_RESERVED:
			c->reserved += pages;
			break;
		case PG_HOLE:
			c->hole += pfn >= z->start_pfn ? pages : 0;
			break;
		case PG_BODY:
		case PG_TAIL:
		case PG_TAIL_LRU:
			return false; /* inside of a chunk that has no head */
		default:
			c->owned += pages;
			break;
		}
		if (pfn & (pages - 1))
			return false;
		pfn += (pfn_t)pages;
	}
	*next = pfn;
	return true;
}

static bool zone_census(struct model *m, struct zone *z, char *why, size_t size)
{
	struct census c = {0};
	pfn_t next = 0;

	for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++) {
		pfn_t start = b << PAGEBLOCK_ORDER;

		if (m->map.zone_of_block[b] != z->id.v)
			continue;
		if (!memmap_block_is_valid(m, (block_t){b})) {
			(void)snprintf(why, size,
				       "counts of block %u (zone %s) differ from its pages", b,
				       z->name);
			return false;
		}
		next = next > start ? next : start;
		if (!count_block(m, z, (block_t){b}, &c, &next)) {
			(void)snprintf(why, size, "block %u (zone %s): pfn %u is no head", b,
				       z->name, next);
			return false;
		}
	}
	if (c.free + c.pcp + c.held + c.owned + c.reserved != z->present ||
	    c.reserved != z->present - z->managed) {
		(void)snprintf(
			why, size,
			"zone %s: %llu free + %llu pcp + %llu held + %llu owned + %llu reserved "
			"of %llu pages",
			z->name, (unsigned long long)c.free, (unsigned long long)c.pcp,
			(unsigned long long)c.held, (unsigned long long)c.owned,
			(unsigned long long)c.reserved, (unsigned long long)z->present);
		return false;
	}
	return true;
}

bool validate_lists(struct model *m, char *why, size_t size)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		struct zone *z = &m->zone[i];

		if (!zone_census(m, z, why, size))
			return false;
		if (!buddy_zone_is_valid(m, z)) {
			(void)snprintf(why, size, "free lists of zone %s (node %u)", z->name,
				       z->node.v);
			return false;
		}
		if (!pcp_zone_is_valid(m, z)) {
			(void)snprintf(why, size, "per-CPU lists of zone %s (node %u)", z->name,
				       z->node.v);
			return false;
		}
	}
	return true;
}
