/* SPDX-License-Identifier: MIT */
/*
 * cma.c - CMA areas, contiguous ranges, hugetlb pages; see cma.h.
 */
#include "model/cma.h"

#include <errno.h>
#include <string.h>

#include "model/alloc.h"
#include "model/arena.h"
#include "model/buddy.h"
#include "model/buddy_list.h"
#include "model/clock.h"
#include "model/compact.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/reclaim.h"

#define CONTIG_TRIES 5

/* ---- set-up ------------------------------------------------------------------------------- */

int cma_init(struct model *m)
{
	for (uint32_t i = 0; i < m->config.nr_cma; i++) {
		const struct cma_config *want = &m->config.cma[i];
		struct cma_area *area = &m->cma[m->nr_cma];
		uint32_t pages = (uint32_t)want->mib * 256;
		struct zone *z = NULL;
		pfn_t end;

		if (want->node >= m->nr_nodes || pages == 0 || pages % PAGEBLOCK_PAGES)
			return -EINVAL;
		for (int k = 0; k <= ZONE_NORMAL; k++) {
			if (m->node[want->node].zone[k].v != ZONE_NONE.v)
				z = &m->zone[m->node[want->node].zone[k].v];
		}
		if (!z || z->cma_pages + pages > z->managed)
			return -EINVAL;
		/* Areas of a zone lie one below the other, under what boot reserved at its end. */
		end = pb_start(z->boot_end - (pfn_t)z->cma_pages);
		area->name = "area";
		area->base = end - pages;
		area->pages = pages;
		area->used = arena_reserve(m->arena, (pages / 64 + 1) * sizeof(*area->used));
		if (!area->used)
			return -ENOMEM;
		for (pfn_t p = area->base; p < end; p += PAGEBLOCK_PAGES)
			buddy_block_set_type(m, z, block_of(p), MIGRATE_CMA);
		z->cma_pages += pages;
		m->nr_cma++;
	}
	return 0;
}

/* ---- a contiguous range ------------------------------------------------------------------- */

/* Mirrors reclaim_clean_pages_from_list(): clean page cache need not be moved. */
static void contig_drop_clean(struct model *m, struct compact_control *cc)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < cc->nr_migrate; i++) {
		pfn_t head = cc->migrate[i];

		if (PG_KIND(m->map.state[head]) == PG_FILE &&
		    !(m->map.flag[head] & (PGF_DIRTY | PGF_WRITEBACK)) &&
		    !migrate_has_extra_refs(m, head)) {
			cc->nr_migratepages -= 1u << PG_ORDER(m->map.state[head]);
			reclaim_free_folio(m, head);
		} else {
			cc->migrate[kept++] = head;
		}
	}
	cc->nr_migrate = kept;
}

/* Mirrors __alloc_contig_migrate_range(). */
static int contig_migrate(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	struct migrate_target_control mtc = {
		.nid = cc->zone->node,
		.gfp = GFP_USER | __GFP_MOVABLE | __GFP_RETRY_MAYFAIL,
	};
	struct migrate_ops ops = {migrate_alloc_target, migrate_free_target, &mtc};
	struct migrate_result r;
	pfn_t pfn = start;
	int tries = 0, err = 0;

	lru_drain_all(m);
	while (pfn < end || cc->nr_migrate) {
		if (cc->nr_migrate == 0) {
			cc->nr_migratepages = 0;
			err = scan_migrate_range(m, cc, pfn, end);
			if (err && err != -EAGAIN)
				break;
			err = 0;
			/* The scan stops behind what it took; a range that gave nothing is done
			 * with. */
			pfn = cc->nr_migrate ? cc->migrate_pfn : end;
			tries = 0;
		} else if (++tries == CONTIG_TRIES) {
			err = -EBUSY;
			break;
		}
		contig_drop_clean(m, cc);
		r = migrate_pages(m, cc->migrate, &cc->nr_migrate, &ops, MIGRATE_SYNC,
				  MR_CONTIG_RANGE);
		if (r.no_target) {
			err = -ENOMEM;
			break;
		}
	}
	if (cc->nr_migrate)
		scan_migrate_putback(m, cc);
	return err;
}

/* The start of the free chunk that covers pfn, or pfn. Mirrors find_large_buddy(). */
static pfn_t contig_outer_start(struct model *m, pfn_t pfn)
{
	buddy_materialise(m, pfn);
	for (unsigned k = 0; k <= MAX_PAGE_ORDER; k++) {
		pfn_t head = pfn & ~((1u << k) - 1);
		uint8_t s = m->map.state[head];

		if (PG_KIND(s) == PG_FREE && head + (1u << PG_ORDER(s)) > pfn)
			return head;
	}
	return pfn;
}

/* The chunks taken become base pages in hand; what lies outside the range goes back. */
static void contig_keep(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	for (unsigned k = 0; k < NR_PAGE_ORDERS; k++) {
		pfn_t head = cc->freepages[k].head;

		for (uint32_t n = cc->freepages[k].nr; n; n--) {
			pfn_t next = m->map.word[head];

			for (pfn_t p = head; p < head + (1u << k); p++)
				memmap_set_held(m, p, 0);
			for (pfn_t p = head; p < head + (1u << k); p++) {
				if (p < start || p >= end)
					free_pages(m, p, 0);
			}
			head = next;
		}
		cc->freepages[k] = (struct held_list){.nr = 0};
	}
	cc->nr_freepages = 0;
}

int cma_alloc_range(struct model *m, pfn_t start, pfn_t end, enum migratetype type)
{
	struct compact_control *cc = &m->contig_cc;
	struct zone *z = zone_of(m, start);
	pfn_t first = pb_start(start), last = pb_end(end - 1), reached, outer;
	pfn_t done = first;
	int err = 0;

	must(z && start < end);
	memset(cc, 0, sizeof(*cc));
	cc->zone = z;
	cc->order = -1;
	cc->mode = MIGRATE_SYNC;
	cc->gfp = GFP_KERNEL;
	cc->ignore_skip_hint = true;
	cc->no_set_skip_hint = true;
	cc->alloc_contig = true;
	for (; done < last && !err; done += PAGEBLOCK_PAGES) {
		err = buddy_isolate_block(m, block_of(done));
		if (err)
			break;
	}
	if (!err) {
		pcp_drain_all(m, z);
		err = contig_migrate(m, cc, start, end);
	}
	if (!err || err == -EBUSY) {
		/* What was freed meanwhile may still stand on per-CPU lists. */
		pcp_drain_all(m, z);
		outer = contig_outer_start(m, start);
		reached = scan_free_range(m, cc, outer, end);
		if (reached >= end) {
			err = 0;
			contig_keep(m, cc, start, end);
		} else {
			err = -EBUSY;
			(void)scan_free_release(m, cc);
		}
	}
	while (done > first) {
		done -= PAGEBLOCK_PAGES;
		buddy_unisolate_block(m, block_of(done), type);
	}
	return err;
}

/* ---- areas -------------------------------------------------------------------------------- */

static bool area_is_free(const struct cma_area *a, uint32_t from, uint32_t pages)
{
	for (uint32_t i = from; i < from + pages; i++) {
		if (a->used[i / 64] >> (i % 64) & 1)
			return false;
	}
	return true;
}

static void area_mark(struct cma_area *a, uint32_t from, uint32_t pages, bool used)
{
	for (uint32_t i = from; i < from + pages; i++) {
		if (used)
			a->used[i / 64] |= 1ull << (i % 64);
		else
			a->used[i / 64] &= ~(1ull << (i % 64));
	}
	a->nr_used = used ? a->nr_used + pages : a->nr_used - pages;
}

/* Attaches the range to its owner page by page; false when the owner has no room. */
static bool area_hand_out(struct model *m, pfn_t start, uint32_t pages, region_id owner)
{
	struct region *r = owner_region(m, owner);

	if (r->nr_slots - r->nr_pages < pages)
		return false;
	for (uint32_t i = 0; i < pages; i++)
		owner_attach(m, start + i, 0, PG_KERNEL, owner_next_slot(m, r), false);
	return true;
}

int cma_alloc(struct model *m, unsigned area, uint32_t pages, unsigned align_order, region_id owner)
{
	struct cma_area *a = &m->cma[area];
	uint32_t align = 1u << align_order;
	int err = -ENOMEM;

	if (area >= m->nr_cma || pages == 0 || pages > a->pages)
		return -EINVAL;
	/* Positions are aligned as physical addresses; a busy range moves on to the next. */
	for (uint32_t from = -a->base & (align - 1); from + pages <= a->pages; from += align) {
		if (!area_is_free(a, from, pages))
			continue;
		area_mark(a, from, pages, true);
		err = cma_alloc_range(m, a->base + from, a->base + from + pages, MIGRATE_CMA);
		if (err == 0 && !area_hand_out(m, a->base + from, pages, owner)) {
			for (uint32_t i = 0; i < pages; i++)
				free_pages(m, a->base + from + i, 0);
			err = -ENOSPC;
		}
		if (err == 0) {
			stat_event(m, VM_CMA_ALLOC_SUCCESS, 1);
			return 0;
		}
		area_mark(a, from, pages, false);
		if (err != -EBUSY)
			break;
	}
	stat_event(m, VM_CMA_ALLOC_FAIL, 1);
	return err;
}

void cma_release(struct model *m, unsigned area, pfn_t start, uint32_t pages)
{
	struct cma_area *a = &m->cma[area];

	must(area < m->nr_cma && start >= a->base && start + pages <= a->base + a->pages);
	for (uint32_t i = 0; i < pages; i++) {
		owner_detach(m, start + i);
		free_pages(m, start + i, 0);
	}
	area_mark(a, start - a->base, pages, false);
}

/* ---- hugetlb ------------------------------------------------------------------------------ */

int hugetlb_alloc(struct model *m, region_id pool, node_id nid)
{
	gfp_t gfp = GFP_HIGHUSER_MOVABLE | __GFP_COMP | __GFP_NOWARN | __GFP_RETRY_MAYFAIL |
		    __GFP_THISNODE;
	pfn_t head = alloc_pages(m, gfp, PMD_ORDER, nid, NODEMASK_NONE);
	slot_t slot;

	if (head == PFN_NONE) {
		stat_event(m, VM_HTLB_BUDDY_ALLOC_FAIL, 1);
		return -ENOMEM;
	}
	stat_event(m, VM_HTLB_BUDDY_ALLOC_SUCCESS, 1);
	slot = owner_next_slot(m, owner_region(m, pool));
	if (slot.v == 0) {
		free_pages(m, head, PMD_ORDER);
		return -ENOSPC;
	}
	owner_attach(m, head, PMD_ORDER, PG_HUGETLB, slot, false);
	return 0;
}

void hugetlb_free(struct model *m, pfn_t head)
{
	unsigned order = PG_ORDER(m->map.state[head]);

	owner_detach(m, head);
	free_pages(m, head, order);
}
