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
	int64_t anon, file, shmem, dirty, writeback, tables, slab, slab_reclaimable, hugetlb,
		unlisted_anon, unlisted_file;
	int64_t mapped;                                       /* pages of files and shared memory */
	int64_t anon_pmds, shmem_huge, shmem_pmds, file_huge; /* in huge pages */
	int64_t mlocked, write_pending;                       /* of the zone in work */
	uint64_t deferred_splits;                             /* of the machine */
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

/* Some set must cover what is marked as pinned. */
static bool pin_covers(const struct model *m, uint32_t slot, unsigned order)
{
	for (uint32_t i = 1; i < m->pins.nr_sets; i++) {
		const struct pin_set *set = &m->pins.set[i];

		if (set->times && slot + (1u << order) > set->first_slot &&
		    slot < set->first_slot + set->nr_slots)
			return true;
	}
	return false;
}

/* What a folio adds to the sums beside its pages. */
static void sum_folio(struct model *m, pfn_t head, uint32_t slot, uint32_t mapped, struct sums *s)
{
	const struct region *r = owner_region(m, owner_region_of_slot(m, (slot_t){slot}));
	uint8_t flags = m->map.flag[head];
	enum page_kind kind = PG_KIND(m->map.state[head]);
	unsigned order = PG_ORDER(m->map.state[head]);
	bool pmd = m->own.pfn[slot] == (SLOT_HUGE | head), huge = order == PMD_ORDER;
	int64_t pages = 1 << order;

	s->mlocked += flags & PGF_UNEVICTABLE ? pages : 0;
	if (kind == PG_ANON) {
		s->anon += mapped;
		s->anon_pmds += pmd;
		s->deferred_splits += mapped != pages;
		return;
	}
	s->file += pages;
	s->mapped += r->mapped ? pages : 0;
	if (kind == PG_SHMEM) {
		s->shmem += pages;
		s->shmem_huge += huge;
		s->shmem_pmds += pmd && r->mapped;
		return;
	}
	s->file_huge += huge;
	s->dirty += flags & PGF_DIRTY ? pages : 0;
	s->writeback += flags & PGF_WRITEBACK ? pages : 0;
	s->write_pending += flags & PGF_DIRTY ? pages : 0;
	s->write_pending += flags & PGF_WRITEBACK ? pages : 0;
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
	bool lru = KINDS_LRU >> kind & 1, reclaimable;
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
		if (flags & PGF_PINNED && !pin_covers(m, slot.v, order))
			return wrong(r, "pfn %u: pinned by nobody", head);
		sum_folio(m, head, slot.v, mapped, s);
		if (!(flags & PGF_LRU))
			*(kind == PG_FILE ? &s->unlisted_file : &s->unlisted_anon) += pages;
		return true;
	}
	if (kind != PG_SLAB && flags)
		return wrong(r, "pfn %u: flags %#x of a page that has none", head, flags);
	reclaimable = owner_region(m, owner_region_of_slot(m, slot))->chunk_gfp & __GFP_RECLAIMABLE;
	s->tables += kind == PG_PGTABLE ? pages : 0;
	if (kind == PG_SLAB)
		*(reclaimable ? &s->slab_reclaimable : &s->slab) += pages;
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

static bool zone_gauge_is(const struct zone *z, enum vmstat_item item, int64_t want,
			  const struct report *r)
{
	return z->stat[item] == want ||
	       wrong(r, "zone %s (node %u): %s is %lld, pages say %lld", z->name, z->node.v,
		     vmstat_rows[item].name, (long long)z->stat[item], (long long)want);
}

static bool reserve_is_valid(const struct zone *z, const struct report *r)
{
	if (z->nr_reserved_highatomic !=
	    (uint64_t)z->nr_blocks_of[MIGRATE_HIGHATOMIC] * PAGEBLOCK_PAGES)
		return wrong(r, "zone %s (node %u): %llu pages are reserved in %u blocks", z->name,
			     z->node.v, (unsigned long long)z->nr_reserved_highatomic,
			     z->nr_blocks_of[MIGRATE_HIGHATOMIC]);
	return true;
}

static bool node_is_valid(struct model *m, struct node *n, uint64_t *deferred_splits,
			  const struct report *r)
{
	struct sums s = {0};

	for (int k = 0; k < NR_ZONE_CLASSES; k++) {
		struct zone *z;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		s.mlocked = s.write_pending = 0;
		if (!reserve_is_valid(z, r) || !zone_pages_are_valid(m, z, &s, r) ||
		    !zone_gauge_is(z, VM_NR_MLOCK, s.mlocked, r) ||
		    !zone_gauge_is(z, VM_NR_ZONE_WRITE_PENDING, s.write_pending, r))
			return false;
	}
	*deferred_splits += s.deferred_splits;
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
	       gauge_is(n, VM_NR_SLAB_UNRECLAIMABLE, s.slab, r) &&
	       gauge_is(n, VM_NR_SLAB_RECLAIMABLE, s.slab_reclaimable, r) &&
	       gauge_is(n, VM_NR_MAPPED, s.mapped, r) &&
	       gauge_is(n, VM_NR_ANON_TRANSPARENT_HUGEPAGES, s.anon_pmds, r) &&
	       gauge_is(n, VM_NR_SHMEM_HUGEPAGES, s.shmem_huge, r) &&
	       gauge_is(n, VM_NR_SHMEM_PMDMAPPED, s.shmem_pmds, r) &&
	       gauge_is(n, VM_NR_FILE_HUGEPAGES, s.file_huge, r) &&
	       gauge_is(n, VM_NR_HUGETLB, s.hugetlb, r) &&
	       gauge_is(n, VM_NR_ISOLATED_ANON, s.unlisted_anon, r) &&
	       gauge_is(n, VM_NR_ISOLATED_FILE, s.unlisted_file, r);
}

/* Pages in swap are as many as the slots that say so. */
static uint64_t swapped_slots(const struct model *m)
{
	uint64_t n = 0;

	for (uint32_t i = 1; i < m->own.nr_regions; i++) {
		const struct region *reg = &m->own.region[i];

		for (uint32_t k = 0; reg->kind != REGION_FREE && k < reg->nr_slots; k++)
			n += (m->own.pfn[reg->first_slot + k] & SLOT_SWAP) != 0;
	}
	return n;
}

bool validate(struct model *m, char *why, size_t size)
{
	struct report r = {why, size};
	uint64_t deferred_splits = 0;

	if (!validate_lists(m, why, size))
		return false;
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		if (m->node[i].present && !node_is_valid(m, &m->node[i], &deferred_splits, &r))
			return false;
	}
	if (deferred_splits != m->nr_deferred_splits)
		return wrong(&r, "%llu folios wait to be split, pages say %llu",
			     (unsigned long long)m->nr_deferred_splits,
			     (unsigned long long)deferred_splits);
	if (m->swap_used > m->swap_pages || (m->swap_pages && swapped_slots(m) != m->swap_used))
		return wrong(&r, "swap: %llu of %llu pages used, slots say otherwise",
			     (unsigned long long)m->swap_used, (unsigned long long)m->swap_pages);
	if (m->clock.depth == 0 && (m->capture || m->ctx.memstall))
		return wrong(&r, "nobody runs, and a page is waited for");
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
