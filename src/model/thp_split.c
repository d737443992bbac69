/* SPDX-License-Identifier: MIT */
/*
 * thp_split.c - splitting large folios and their mappings; see thp.h.
 */
#include "model/thp.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/filemap.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/owner.h"
#include "model/shmem.h"

/* ---- the folio ---------------------------------------------------------------------------- */

/* A base page that its range gave up while it was part of a larger folio; it is off the LRU. */
static void split_free_leftover(struct model *m, pfn_t page, bool isolated)
{
	if (isolated)
		lru_isolated_gone(m, page, 0);
	if (m->map.flag[page] & PGF_UNEVICTABLE) {
		stat_zone(zone_of(m, page), VM_NR_MLOCK, -1);
		stat_event(m, VM_UNEVICTABLE_PGS_CLEARED, 1);
	}
	memmap_disown(m, page);
	free_pages(m, page, 0);
}

int thp_split(struct model *m, pfn_t head)
{
	uint8_t state = m->map.state[head];
	enum page_kind kind = PG_KIND(state);
	unsigned order = PG_ORDER(state);
	bool on_lru = m->map.flag[head] & PGF_LRU;
	uint32_t slot, freed = 0;
	struct node *n;

	check(KINDS_LRU >> kind & 1 && order > 0);
	if (migrate_has_extra_refs(m, head)) {
		if (order == PMD_ORDER)
			stat_event(m, VM_THP_SPLIT_PAGE_FAILED, 1);
		return -EAGAIN;
	}
	if (!lru_del(m, head))
		on_lru = false; /* isolated: the caller goes on with base folios in its hands */
	slot = owner_slot(m, head).v;
	if (m->own.pfn[slot] == (SLOT_HUGE | head)) {
		owner_split_pmd(m, slot);
		stat_event(m, VM_THP_SPLIT_PMD, 1);
	}
	n = &m->node[zone_of(m, head)->node.v];
	if (order == PMD_ORDER) {
		stat_event(m, VM_THP_SPLIT_PAGE, 1);
		if (kind == PG_SHMEM)
			stat_node(n, VM_NR_SHMEM_HUGEPAGES, -1);
		else if (kind == PG_FILE)
			stat_node(n, VM_NR_FILE_HUGEPAGES, -1);
	}
	memmap_split_folio(m, head, slot);
	for (uint32_t i = 0; i < 1u << order; i++) {
		if (m->own.pfn[slot + i] != head + i) {
			split_free_leftover(m, head + i, !on_lru);
			freed++;
		} else if (on_lru) {
			lru_add(m, head + i);
		}
	}
	if (on_lru)
		lru_drain_local(m);
	if (freed)
		m->nr_deferred_splits--;
	return 0;
}

/* ---- parts of a folio --------------------------------------------------------------------- */

static bool split_nothing_mapped(const struct model *m, pfn_t head, unsigned order, uint32_t slot)
{
	uint32_t n = 1u << order;

	/* The far end first: pages are mostly given up in ascending order. */
	if (m->own.pfn[slot + n - 1] == head + n - 1)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (m->own.pfn[slot + i] == head + i)
			return false;
	}
	return true;
}

static void split_free_folio(struct model *m, pfn_t head, unsigned order)
{
	lru_forget(m, head);
	owner_detach(m, head);
	clock_charge(m, COST_UNMAP_PAGE, 1);
	free_pages(m, head, order);
}

/* Mirrors the removal of a part of an anonymous folio and deferred_split_folio(). */
static void split_unmap_anon(struct model *m, pfn_t head, unsigned order, uint32_t slot,
			     uint32_t from, uint32_t to)
{
	bool was_whole = true;

	if (m->own.pfn[slot] == (SLOT_HUGE | head)) {
		owner_split_pmd(m, slot);
		stat_event(m, VM_THP_SPLIT_PMD, 1);
	}
	for (uint32_t i = 0; was_whole && i < 1u << order; i++)
		was_whole = m->own.pfn[slot + i] == head + i;
	for (uint32_t i = from; i < to; i++) {
		if (m->own.pfn[slot + i] == head + i)
			owner_unmap_slot(m, (slot_t){slot + i});
	}
	clock_charge(m, COST_UNMAP_PAGE, to - from);
	m->nr_deferred_splits += was_whole;
	if (split_nothing_mapped(m, head, order, slot)) {
		split_free_folio(m, head, order);
		return;
	}
	if (was_whole && order == PMD_ORDER)
		stat_event(m, VM_THP_DEFERRED_SPLIT_PAGE, 1);
	/* An ordered list finds its folios through their first slot, which may be gone now. */
	if (m->node[zone_of(m, head)->node.v].lru.ordered[LRU_INACTIVE_ANON])
		(void)!thp_split(m, head);
}

/* Mirrors truncate_inode_partial_folio(): a file's folio is split at once, then loses the pages. */
static void split_truncate(struct model *m, struct region *r, pfn_t head, uint32_t from,
			   uint32_t to)
{
	if (thp_split(m, head) != 0)
		return;
	for (uint32_t i = from; i < to; i++) {
		if (r->kind == REGION_FILE)
			filemap_remove(m, head + i);
		else
			shmem_remove(m, head + i);
	}
}

void thp_unmap_part(struct model *m, region_id region, uint64_t index, uint64_t nr)
{
	struct region *r = owner_region(m, region);
	uint64_t end = index + nr;

	while (index < end) {
		pfn_t pfn = owner_page(m, r, index), head;
		uint32_t offset, pages, upto;
		unsigned order;

		if (pfn == PFN_NONE) {
			index++;
			continue;
		}
		head = memmap_head(m, pfn);
		order = PG_ORDER(m->map.state[head]);
		offset = pfn - head;
		pages = 1u << order;
		upto = end - index < pages - offset ? offset + (uint32_t)(end - index) : pages;
		index += upto - offset;
		if (m->map.flag[head] & PGF_PINNED)
			continue;
		if (offset == 0 && upto == pages) {
			if (r->kind == REGION_FILE)
				filemap_remove(m, head);
			else if (r->kind != REGION_ANON)
				shmem_remove(m, head);
			else
				split_free_folio(m, head, order);
		} else if (r->kind == REGION_ANON) {
			split_unmap_anon(m, head, order, owner_slot(m, head).v, offset, upto);
		} else {
			split_truncate(m, r, head, offset, upto);
		}
	}
}

/* Some page of it is unmapped while the folio is still whole. */
static bool split_is_deferred(const struct model *m, pfn_t head, unsigned order)
{
	uint32_t slot = owner_slot(m, head).v;

	if (m->own.pfn[slot] == (SLOT_HUGE | head))
		return false;
	for (uint32_t i = 0; i < 1u << order; i++) {
		if (m->own.pfn[slot + i] != head + i)
			return true;
	}
	return false;
}

uint64_t thp_split_deferred(struct model *m, struct node *n, uint64_t max)
{
	uint64_t split = 0;

	for (int k = 0; k < NR_ZONE_CLASSES; k++) {
		const struct zone *z;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++) {
			pfn_t end = (b + 1) * PAGEBLOCK_PAGES;

			if (m->map.block[b].nr_compound == 0)
				continue;
			for (pfn_t p = b * PAGEBLOCK_PAGES;
			     p < end && split < max && m->nr_deferred_splits;) {
				uint8_t s = m->map.state[p];
				unsigned order = KINDS_TAIL >> PG_KIND(s) & 1 ? 0 : PG_ORDER(s);

				if (PG_KIND(s) == PG_ANON && order && m->map.flag[p] & PGF_LRU &&
				    split_is_deferred(m, p, order))
					split += thp_split(m, p) == 0;
				p += 1u << order;
			}
		}
	}
	return split;
}
