/* SPDX-License-Identifier: MIT */
/*
 * validate.c - every invariant of the machine; see validate.h.
 */
#include "model/validate.h"

#include <stdarg.h>
#include <stdio.h>

#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pin.h"

struct report {
	char *why;
	size_t size;
};

__attribute__((format(printf, 2, 3))) static bool wrong(const struct report *r, const char *format,
							...)
{
	va_list ap;

	va_start(ap, format);
	(void)vsnprintf(r->why, r->size, format, ap);
	va_end(ap);
	return false;
}

/* ---- pages -------------------------------------------------------------------------------- */

/* Sums that are compared with gauges, by node. */
struct sums {
	int64_t anon, file, shmem, dirty, writeback, tables, slab, hugetlb, unlisted_anon,
		unlisted_file;
};

/* Everything behind the head of a chunk says that it is behind one. */
static bool interior_is_valid(const struct model *m, pfn_t head, unsigned order, uint8_t want)
{
	for (uint32_t i = 1; i < 1u << order; i++) {
		if (m->map.state[head + i] != want)
			return false;
	}
	return true;
}

/* The slots of a folio that point to it. */
static uint32_t mapped_pages(const struct model *m, pfn_t head, unsigned order, uint32_t slot)
{
	uint32_t n = 0;

	if (m->own.pfn[slot] == (SLOT_HUGE | head))
		return 1u << order;
	for (uint32_t i = 0; i < 1u << order; i++)
		n += m->own.pfn[slot + i] == head + i;
	return n;
}

static bool owned_is_valid(struct model *m, pfn_t head, struct sums *s, const struct report *r)
{
	uint8_t state = m->map.state[head], flags = m->map.flag[head];
	enum page_kind kind = PG_KIND(state);
	unsigned order = PG_ORDER(state);
	int64_t pages = 1 << order;
	bool lru = KINDS_LRU >> kind & 1;
	slot_t slot;
	uint32_t mapped;

	if (!interior_is_valid(m, head, order, PG_STATE(lru ? PG_TAIL_LRU : PG_TAIL, order)))
		return wrong(r, "pfn %u: a tail of the folio is something else", head);
	slot = owner_slot(m, head);
	if (slot.v < SLOT_GROUP || slot.v >= m->own.nr_slots ||
	    owner_region_of_slot(m, slot).v == 0)
		return wrong(r, "pfn %u: its owner's slot %u belongs to nobody", head, slot.v);
	if (!lru) {
		if (m->own.pfn[slot.v] != head)
			return wrong(r, "pfn %u: its owner does not know it", head);
	} else {
		mapped = mapped_pages(m, head, order, slot.v);
		if (mapped == 0 || (kind != PG_ANON && mapped != pages))
			return wrong(r, "pfn %u: its owner does not know it", head);
		if (kind == PG_ANON)
			s->anon += mapped;
		if (!(flags & PGF_LRU))
			*(kind == PG_FILE ? &s->unlisted_file : &s->unlisted_anon) += pages;
	}
	s->file += kind == PG_FILE || kind == PG_SHMEM ? pages : 0;
	s->shmem += kind == PG_SHMEM ? pages : 0;
	s->dirty += kind == PG_FILE && flags & PGF_DIRTY ? pages : 0;
	s->writeback += kind == PG_FILE && flags & PGF_WRITEBACK ? pages : 0;
	s->tables += kind == PG_PGTABLE ? pages : 0;
	s->slab += kind == PG_SLAB ? pages : 0;
	s->hugetlb += kind == PG_HUGETLB ? pages : 0;
	return true;
}

/* Walks a zone from head to head: every page is in exactly one chunk. */
static bool zone_pages_are_valid(struct model *m, const struct zone *z, struct sums *s,
				 const struct report *r)
{
	pfn_t p = z->start_pfn;

	while (p < z->end_pfn) {
		uint8_t state = m->map.state[p];
		enum page_kind kind = PG_KIND(state);
		unsigned order = PG_ORDER(state);

		if (m->map.zone_of_block[block_of(p).v] != z->id.v ||
		    !(m->map.block[block_of(p).v].bits & BLOCK_TOUCHED)) {
			p = pb_end(p);
			continue;
		}
		switch (kind) {
		case PG_FREE:
		case PG_PCP:
		case PG_HELD:
			if (!interior_is_valid(m, p, order, 0))
				return wrong(r, "pfn %u: the inside of the chunk is not empty", p);
			break;
		case PG_HOLE:
		case PG_RESERVED:
			break;
		case PG_BODY:
		case PG_TAIL:
		case PG_TAIL_LRU:
			return wrong(r, "pfn %u (%s): page of no chunk, state %#x", p, z->name,
				     state);
		default:
			if (!owned_is_valid(m, p, s, r))
				return false;
		}
		p += 1u << order;
	}
	return true;
}

/* ---- gauges ------------------------------------------------------------------------------- */

static bool gauge_is(const struct node *n, enum vmstat_item item, int64_t want,
		     const struct report *r)
{
	int64_t have = n->stat[item - VM_NODE_FIRST];

	return have == want || wrong(r, "node %u: %s is %lld, pages say %lld", n->id.v,
				     vmstat_rows[item].name, (long long)have, (long long)want);
}

static bool node_is_valid(struct model *m, struct node *n, const struct report *r)
{
	struct sums s = {0};

	for (int k = 0; k < NR_ZONE_CLASSES; k++) {
		struct zone *z;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		if (!zone_pages_are_valid(m, z, &s, r))
			return false;
	}
	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		const struct lru_batch *b = &m->cpu[c].lru_add;

		for (unsigned i = 0; i < b->nr; i++) {
			if (zone_of(m, b->folio[i])->node.v != n->id.v)
				continue;
			if (!(KINDS_LRU >> PG_KIND(m->map.state[b->folio[i]]) & 1) ||
			    m->map.flag[b->folio[i]] & PGF_LRU)
				return wrong(r, "cpu %u: pfn %u does not belong into its batch", c,
					     b->folio[i]);
			*(PG_KIND(m->map.state[b->folio[i]]) == PG_FILE ? &s.unlisted_file
									: &s.unlisted_anon) -=
				1 << PG_ORDER(m->map.state[b->folio[i]]);
		}
	}
	if (!lru_node_is_valid(m, n))
		return wrong(r, "node %u: LRU lists", n->id.v);
	return gauge_is(n, VM_NR_ANON_PAGES, s.anon, r) &&
	       gauge_is(n, VM_NR_FILE_PAGES, s.file, r) && gauge_is(n, VM_NR_SHMEM, s.shmem, r) &&
	       gauge_is(n, VM_NR_DIRTY, s.dirty, r) &&
	       gauge_is(n, VM_NR_WRITEBACK, s.writeback, r) &&
	       gauge_is(n, VM_NR_PAGE_TABLE_PAGES, s.tables, r) &&
	       gauge_is(n, VM_NR_SLAB_UNRECLAIMABLE,
			s.slab - n->stat[VM_NR_SLAB_RECLAIMABLE - VM_NODE_FIRST], r) &&
	       gauge_is(n, VM_NR_HUGETLB, s.hugetlb, r) &&
	       gauge_is(n, VM_NR_ISOLATED_ANON, s.unlisted_anon, r) &&
	       gauge_is(n, VM_NR_ISOLATED_FILE, s.unlisted_file, r);
}

bool validate(struct model *m, char *why, size_t size)
{
	struct report r = {why, size};

	if (!validate_lists(m, why, size))
		return false;
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		if (m->node[i].present && !node_is_valid(m, &m->node[i], &r))
			return false;
	}
	for (uint32_t i = 1; i < m->own.nr_regions; i++) {
		if (m->own.region[i].kind != REGION_FREE &&
		    !owner_region_is_valid(m, (region_id){i}))
			return wrong(&r, "region %u: slots and pages disagree", i);
	}
	if (!pin_is_valid(m))
		return wrong(&r, "pins: table and flags disagree");
	if (!clock_is_valid(m))
		return wrong(&r, "clock: heap and actors disagree");
	return true;
}
