/* SPDX-License-Identifier: MIT */
/*
 * thp_khugepaged.c - collapsing base pages into huge ones; see thp.h.
 */
#include "model/thp.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/owner.h"
#include "model/policy.h"
#include "model/trace.h"

#define MS_NS 1000000ull

/* What a look at one 2 MiB range found. */
struct scan {
	uint32_t none, swap, referenced;
	uint32_t on_node[MAX_NODES];
};

gfp_t khugepaged_mainline_gfp(const struct model *m, bool is_khugepaged)
{
	return !is_khugepaged || m->thp.khugepaged_defrag ? GFP_TRANSHUGE : GFP_TRANSHUGE_LIGHT;
}

/* ---- looking at a range ------------------------------------------------------------------- */

/* Mirrors hpage_collapse_scan_pmd(): 0, -EAGAIN (not now), -EINVAL (nothing to collapse). */
static int collapse_scan(struct model *m, uint32_t group, bool is_khugepaged, struct scan *s)
{
	*s = (struct scan){0};
	if ((m->own.pfn[group] & (SLOT_HUGE | SLOT_SWAP)) == SLOT_HUGE)
		return -EINVAL;
	clock_charge(m, COST_COLLAPSE_SCAN, SLOT_GROUP);
	for (uint32_t i = 0; i < SLOT_GROUP; i++) {
		uint32_t value = m->own.pfn[group + i];
		pfn_t head;

		if (value & SLOT_SWAP) {
			if (++s->swap > m->thp.max_ptes_swap && is_khugepaged) {
				stat_event(m, VM_THP_SCAN_EXCEED_SWAP_PTE, 1);
				return -EAGAIN;
			}
			continue;
		}
		if (value == 0) {
			if (++s->none > m->thp.max_ptes_none && is_khugepaged) {
				stat_event(m, VM_THP_SCAN_EXCEED_NONE_PTE, 1);
				return -EAGAIN;
			}
			continue;
		}
		head = memmap_head(m, value);
		if (!(m->map.flag[head] & PGF_LRU) || migrate_has_extra_refs(m, head))
			return -EAGAIN;
		s->on_node[zone_of(m, value)->node.v]++;
		s->referenced += (m->map.flag[head] & (PGF_YOUNG | PGF_REFERENCED)) != 0;
	}
	if (s->none == SLOT_GROUP)
		return -EINVAL;
	if (is_khugepaged && s->referenced == 0)
		return -EAGAIN;
	return 0;
}

/* Mirrors hpage_collapse_find_target_node(): the first node with the most pages, and those tied
 * with it. */
static node_id collapse_node(const struct model *m, const struct scan *s, nodemask_t *mask)
{
	unsigned best = 0;

	for (unsigned i = 1; i < m->nr_nodes; i++) {
		if (s->on_node[i] > s->on_node[best])
			best = i;
	}
	*mask = 0;
	for (unsigned i = best; i < m->nr_nodes; i++) {
		if (s->on_node[i] == s->on_node[best])
			*mask |= 1u << i;
	}
	return (node_id){(uint8_t)best};
}

/* ---- collapsing --------------------------------------------------------------------------- */

/* Base pages, and what is left of partly mapped larger folios, go; the range is empty afterwards.
 */
static void collapse_free_old(struct model *m, uint32_t group, unsigned order)
{
	for (uint32_t i = 0; i < 1u << order; i++) {
		uint32_t value = m->own.pfn[group + i];
		pfn_t head;
		unsigned k;

		owner_forget_swap(m, (slot_t){group + i});
		if (value == 0 || value & SLOT_SWAP)
			continue;
		head = memmap_head(m, value);
		k = PG_ORDER(m->map.state[head]);
		if (k > order) {
			/* All of the range is a part of this one. */
			region_id region = owner_region_of_slot(m, (slot_t){group});

			thp_unmap_part(m, region, group - owner_region(m, region)->first_slot,
				       1u << order);
			return;
		}
		lru_forget(m, head);
		owner_detach(m, head);
		free_pages(m, head, k);
	}
}

static void collapse_install(struct model *m, struct region *r, pfn_t head, uint32_t slot,
			     unsigned order)
{
	clock_charge(m, COST_MIGRATE_COPY, 1ull << order);
	collapse_free_old(m, slot, order);
	owner_attach(m, head, order, PG_ANON, (slot_t){slot}, order == PMD_ORDER);
	lru_add(m, head);
	if (r->mlocked)
		lru_mlock(m, head);
}

/* C: after a failed order 9, the enabled lower orders inside the range, one allocation each. */
static int collapse_smaller(struct model *m, struct region *r, uint32_t group, node_id nid,
			    nodemask_t mask)
{
	uint32_t orders = thp_fault_orders(m, r, group - r->first_slot) & ~(1u << PMD_ORDER);
	int done = 0;

	for (unsigned order = PMD_ORDER - 1; order >= 2 && orders; order--) {
		uint32_t slot = group;
		pfn_t head;

		if (!(orders >> order & 1))
			continue;
		while (slot < group + SLOT_GROUP && owner_range_is_empty(m, slot, order))
			slot += 1u << order;
		if (slot == group + SLOT_GROUP)
			continue;
		head = alloc_pages(m, m->policy->khugepaged_gfp(m, true), order, nid, mask);
		if (head == PFN_NONE)
			continue;
		collapse_install(m, r, head, slot, order);
		done++;
		break;
	}
	return done;
}

int khugepaged_collapse(struct model *m, region_id region, uint64_t index, bool is_khugepaged)
{
	struct region *r = owner_region(m, region);
	uint32_t group = r->first_slot + (uint32_t)index;
	struct scan s;
	nodemask_t mask;
	node_id nid;
	pfn_t head;
	int err;

	if (r->kind != REGION_ANON || group % SLOT_GROUP || index + SLOT_GROUP > r->nr_slots)
		return -EINVAL;
	/* MADV_COLLAPSE asks regardless of the sysfs settings, but not of MADV_NOHUGEPAGE. */
	if (r->advice == ADVISE_NOHUGEPAGE ||
	    (is_khugepaged && !(thp_fault_orders(m, r, index) >> PMD_ORDER & 1)))
		return -EINVAL;
	if (!is_khugepaged) {
		lru_drain_all(m);
		if ((m->own.pfn[group] & (SLOT_HUGE | SLOT_SWAP)) == SLOT_HUGE)
			return 0; /* already one */
	}
	err = collapse_scan(m, group, is_khugepaged, &s);
	if (err)
		return err;
	nid = collapse_node(m, &s, &mask);
	head = alloc_pages(m, m->policy->khugepaged_gfp(m, is_khugepaged), PMD_ORDER, nid, mask);
	if (head == PFN_NONE) {
		stat_event(m, VM_THP_COLLAPSE_ALLOC_FAILED, 1);
		if (is_khugepaged && m->profile->khugepaged_mthp &&
		    collapse_smaller(m, r, group, nid, mask))
			return 0;
		return -ENOMEM;
	}
	stat_event(m, VM_THP_COLLAPSE_ALLOC, 1);
	/* The allocation may have run others: the range must still be what it was. */
	lru_drain_all(m);
	err = collapse_scan(m, group, false, &s);
	if (err) {
		free_pages(m, head, PMD_ORDER);
		return err;
	}
	collapse_install(m, r, head, group, PMD_ORDER);
	TRACE(m, COLLAPSE_HUGE_PAGE, .isolated = 1, .status = 1, .order = PMD_ORDER);
	return 0;
}

/* ---- the thread --------------------------------------------------------------------------- */

static bool khugepaged_wanted(const struct model *m)
{
	return m->thp.enabled != THP_ENABLED_NEVER || m->thp.size[PMD_ORDER] == THP_SIZE_ALWAYS ||
	       m->thp.size[PMD_ORDER] == THP_SIZE_MADVISE;
}

int khugepaged_init(struct model *m)
{
	if (!m->config.daemons)
		return 0;
	m->khugepaged.actor = clock_actor_new(m, ACTOR_KHUGEPAGED, 0);
	khugepaged_settings_changed(m);
	return 0;
}

void khugepaged_settings_changed(struct model *m)
{
	struct khugepaged *k = &m->khugepaged;
	bool wanted = khugepaged_wanted(m);

	if (!m->config.daemons)
		return;
	if (wanted && !k->enabled) {
		k->pages_left = 0;
		clock_wake_at(m, k->actor, m->clock.now + m->thp.scan_sleep_ms * MS_NS);
	} else if (!wanted) {
		clock_sleep(m, k->actor);
	}
	k->enabled = wanted;
}

/* Mirrors thp_vma_allowable_order(TVA_KHUGEPAGED); the range is looked at later. */
static bool collapse_allowed(const struct model *m, const struct region *r)
{
	uint32_t first = -r->first_slot & (SLOT_GROUP - 1);

	return first < r->nr_slots && thp_fault_orders(m, r, first) >> PMD_ORDER & 1;
}

/* The next range of the cursor, going around once at most. False: there is nothing to look at. */
static bool khugepaged_next(struct model *m, struct khugepaged *k, uint64_t *index)
{
	for (uint32_t tried = 0; tried <= m->own.nr_regions; tried++) {
		const struct region *r;

		if (k->region.v == 0 || k->region.v >= m->own.nr_regions) {
			k->region = (region_id){1};
			k->group = 0;
		}
		r = &m->own.region[k->region.v];
		/* Mappings that may not have huge pages are passed over at no cost. */
		if (r->kind == REGION_ANON && r->nr_pages && collapse_allowed(m, r)) {
			uint32_t first = (r->first_slot + SLOT_GROUP - 1) & ~(SLOT_GROUP - 1);

			*index = first - r->first_slot + (uint64_t)k->group * SLOT_GROUP;
			if (*index + SLOT_GROUP <= r->nr_slots) {
				k->group++;
				return true;
			}
		}
		k->region.v++;
		k->group = 0;
	}
	return false;
}

void khugepaged_step(struct model *m)
{
	struct khugepaged *k = &m->khugepaged;
	region_id region;
	uint64_t index;
	int err;

	if (k->pages_left == 0) {
		k->pages_left = m->thp.pages_to_scan;
		k->alloc_failed_once = false;
		lru_drain_all(m);
	}
	if (!khugepaged_next(m, k, &index)) {
		k->pages_left = 0;
		clock_wake_at(m, k->actor, m->clock.now + m->thp.scan_sleep_ms * MS_NS);
		return;
	}
	region = k->region;
	err = khugepaged_collapse(m, region, index, true);
	k->pages_left -= k->pages_left < SLOT_GROUP ? k->pages_left : SLOT_GROUP;
	if (err == -ENOMEM) {
		/* Mirrors khugepaged_alloc_sleep(): the first failure of a pass sleeps, the second
		 * ends it. */
		if (!k->alloc_failed_once) {
			k->alloc_failed_once = true;
			clock_wake_at(m, k->actor, m->clock.now + m->thp.alloc_sleep_ms * MS_NS);
			return;
		}
		k->pages_left = 0;
	}
	clock_wake_at(m, k->actor,
		      k->pages_left ? m->clock.now : m->clock.now + m->thp.scan_sleep_ms * MS_NS);
}
