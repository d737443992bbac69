/* SPDX-License-Identifier: MIT */
/*
 * layout.c - a machine put into a given physical state; see layout.h.
 *
 * Pages placed without an owner of their own belong to regions made here, one a kind and node, in
 * which the slot of a page is its distance from the node's start: no search, and alignment for
 * free.
 */
#include "model/layout.h"

#include <errno.h>

#include "model/buddy.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/pin.h"
#include "model/slab.h"

#define LAYOUT_MARK 0x6c61796f7574ull /* region.inode of the regions made here */

void layout_begin(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		struct zone *z = &m->zone[i];

		for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
			for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
				while (buddy_has(z, order, (enum migratetype)type))
					(void)!buddy_take(m, z, order, (enum migratetype)type);
			}
		}
	}
}

/* ---- held chunks -------------------------------------------------------------------------- */

/* The held chunk that covers pfn; its order. PFN_NONE: the page is something else already. */
static pfn_t layout_find_held(const struct model *m, pfn_t pfn, unsigned *order)
{
	for (unsigned k = 0; k <= MAX_PAGE_ORDER; k++) {
		pfn_t head = pfn & ~((1u << k) - 1);
		uint8_t s = m->map.state[head];

		if (PG_KIND(s) == PG_HELD && PG_ORDER(s) >= k && head + (1u << PG_ORDER(s)) > pfn) {
			*order = PG_ORDER(s);
			return head;
		}
		if (PG_KIND(s) != PG_BODY)
			return PFN_NONE;
	}
	return PFN_NONE;
}

/* Cuts the chunk [pfn, pfn + 2^order) out of the held chunk that contains it. */
static int layout_carve(struct model *m, pfn_t pfn, unsigned order)
{
	unsigned k;
	pfn_t head;

	if (pfn & ((1u << order) - 1) || pfn >= m->map.end_pfn || order > MAX_PAGE_ORDER)
		return -EINVAL;
	head = layout_find_held(m, pfn, &k);
	if (head == PFN_NONE || k < order)
		return -EBUSY;
	while (k > order) {
		pfn_t upper = head + (1u << --k);

		memmap_set_held(m, head, k);
		memmap_set_held(m, upper, k);
		if (pfn >= upper)
			head = upper;
	}
	return 0;
}

int layout_take(struct model *m, pfn_t pfn, unsigned order)
{
	return layout_carve(m, pfn, order);
}

/* ---- placing ------------------------------------------------------------------------------ */

static enum region_kind layout_region_kind(enum page_kind kind)
{
	switch (kind) {
	case PG_ANON:
		return REGION_ANON;
	case PG_FILE:
		return REGION_FILE;
	case PG_SHMEM:
		return REGION_SHMEM;
	case PG_PGTABLE:
		return REGION_PGTABLE;
	case PG_SLAB:
		return REGION_SLAB;
	case PG_HUGETLB:
		return REGION_HUGETLB;
	case PG_MOVABLE_OPS:
		return REGION_MOVABLE_OPS;
	default:
		return REGION_KERNEL;
	}
}

/* The region for a kind of page on the node of pfn; made when it is not there. */
static int layout_region(struct model *m, enum page_kind kind, pfn_t pfn, region_id *id)
{
	const struct node *n = &m->node[zone_of(m, pfn)->node.v];
	enum region_kind want = layout_region_kind(kind);
	struct region *r;
	int err;

	for (uint32_t i = 1; i < m->own.nr_regions; i++) {
		r = &m->own.region[i];
		if (r->kind == want && r->inode == LAYOUT_MARK && r->addr == 0 &&
		    r->pgoff == pb_start(n->start_pfn)) {
			*id = (region_id){i};
			return 0;
		}
	}
	err = owner_region_new(m, want, n->end_pfn - pb_start(n->start_pfn), 0, id);
	if (err)
		return err;
	r = owner_region(m, *id);
	r->inode = LAYOUT_MARK;
	r->pgoff = pb_start(n->start_pfn);
	if (want == REGION_ANON || want == REGION_SHMEM || want == REGION_FILE) {
		pin_id all;

		/* One set over everything covers the pins that layout_put() makes. */
		return pin_set_new(m, *id, 0, r->nr_slots, 1, 1, &all);
	}
	return 0;
}

/* Dirty and writeback gauges of a folio that is placed with these flags. */
static void layout_write_gauges(struct model *m, pfn_t pfn, unsigned order, uint8_t flags)
{
	struct zone *z = zone_of(m, pfn);
	struct node *n = &m->node[z->node.v];
	int64_t pages = 1 << order;

	if (PG_KIND(m->map.state[pfn]) != PG_FILE)
		return;
	if (flags & PGF_DIRTY)
		stat_node(n, VM_NR_DIRTY, pages);
	if (flags & PGF_WRITEBACK)
		stat_node(n, VM_NR_WRITEBACK, pages);
	if (flags & (PGF_DIRTY | PGF_WRITEBACK))
		stat_zone(z, VM_NR_ZONE_WRITE_PENDING, pages);
}

static bool layout_may_put(enum page_kind kind, uint8_t flags)
{
	bool lru = KINDS_LRU >> kind & 1;

	return KINDS_OWNED >> kind & 1 && (lru || !flags || kind == PG_SLAB);
}

/* A chunk that is carved out already. */
static void layout_attach(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind,
			  uint8_t flags, slot_t slot)
{
	const struct region *r = owner_region(m, owner_region_of_slot(m, slot));
	bool lru = KINDS_LRU >> kind & 1, batches = m->config.lru_batches;

	owner_attach(m, pfn, order, kind, slot,
		     lru && order == PMD_ORDER && r->mapped && slot.v % SLOT_GROUP == 0);
	if (kind == PG_SLAB)
		m->map.flag[pfn] = flags ? flags : 1;
	if (!lru)
		return;
	memmap_flag_set(m, pfn, flags & (uint8_t) ~(PGF_LRU | PGF_UNEVICTABLE));
	layout_write_gauges(m, pfn, order, flags);
	if (flags & PGF_UNEVICTABLE) {
		memmap_flag_set(m, pfn, PGF_UNEVICTABLE);
		stat_zone(zone_of(m, pfn), VM_NR_MLOCK, 1 << order);
	}
	if (flags & PGF_LRU) {
		m->config.lru_batches = false;
		lru_add(m, pfn);
		m->config.lru_batches = batches;
	}
}

int layout_put(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind, uint8_t flags,
	       region_id region)
{
	bool lru = KINDS_LRU >> kind & 1;
	struct region *r;
	slot_t slot;
	int err;

	if (!layout_may_put(kind, flags))
		return -EINVAL;
	err = layout_carve(m, pfn, order);
	if (err)
		return err;
	if (region.v) {
		r = owner_region(m, region);
		do {
			if (r->next_slot + (lru ? 1u << order : 1) > r->nr_slots)
				return -ENOSPC;
			slot = (slot_t){r->first_slot + r->next_slot++};
		} while (lru && slot.v & ((1u << order) - 1));
		if (lru)
			r->next_slot += (1u << order) - 1;
	} else {
		err = layout_region(m, kind, pfn, &region);
		if (err)
			return err;
		r = owner_region(m, region);
		slot = (slot_t){r->first_slot + pfn - (pfn_t)r->pgoff};
	}
	layout_attach(m, pfn, order, kind, flags, slot);
	return 0;
}

int layout_put_slab(struct model *m, pfn_t pfn, unsigned order, int cache)
{
	int err = layout_carve(m, pfn, order);

	return err ? err : slab_adopt(m, cache, pfn, order);
}

int layout_put_owned(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind, uint8_t flags,
		     slot_t slot)
{
	int err;

	if (!layout_may_put(kind, flags) || !(KINDS_LRU >> kind & 1) ||
	    !owner_range_is_empty(m, slot.v, order))
		return -EINVAL;
	err = layout_carve(m, pfn, order);
	if (!err)
		layout_attach(m, pfn, order, kind, flags, slot);
	return err;
}

int layout_put_unused(struct model *m, pfn_t pfn, enum page_kind kind)
{
	int err = layout_carve(m, pfn, 0);
	struct zone *z;

	if (err)
		return err;
	z = zone_of(m, pfn);
	z->managed--;
	if (kind == PG_HOLE) {
		z->present--;
		m->node[z->node.v].present--;
	}
	memmap_unuse(m, pfn, kind);
	return 0;
}

void layout_put_pcp(struct model *m, pfn_t pfn, unsigned order, enum migratetype type, cpu_id cpu)
{
	must(layout_carve(m, pfn, order) == 0 && block_type(m, pfn) == type);
	if (type >= MIGRATE_PCPTYPES)
		type = MIGRATE_MOVABLE;
	pcp_put(m, zone_of(m, pfn), cpu, pfn, order, type);
}

void layout_put_free(struct model *m, pfn_t pfn, unsigned order)
{
	must(layout_carve(m, pfn, order) == 0);
}

void layout_block_type(struct model *m, pfn_t pfn, enum migratetype type)
{
	(void)buddy_retype_block(m, zone_of(m, pfn), block_of(pfn), type);
}

void layout_end(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		struct zone *z = &m->zone[i];
		pfn_t pfn = z->start_pfn;

		while (pfn < z->end_pfn) {
			uint8_t s = m->map.state[pfn];
			unsigned order = PG_ORDER(s);

			if (PG_KIND(s) == PG_HELD)
				buddy_free(m, z, pfn, order, true);
			/* Buddy merges backwards only into what this loop has passed. */
			pfn += PG_KIND(s) == PG_BODY ? 1 : 1u << order;
		}
	}
}
