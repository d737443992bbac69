/* SPDX-License-Identifier: MIT */
/*
 * thp.c - anonymous page faults of all orders; see thp.h.
 */
#include "model/thp.h"

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/mempolicy.h"
#include "model/owner.h"
#include "model/policy.h"

#define PUD_SLOT_SHIFT 18 /* slots under one table of PMDs: 1 GiB */

/* ---- settings ----------------------------------------------------------------------------- */

gfp_t thp_mainline_gfp(const struct model *m, bool advised)
{
	switch (m->thp.defrag) {
	case THP_DEFRAG_ALWAYS:
		return GFP_TRANSHUGE | (advised ? 0 : __GFP_NORETRY);
	case THP_DEFRAG_DEFER:
		return GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM;
	case THP_DEFRAG_DEFER_MADVISE:
		return GFP_TRANSHUGE_LIGHT |
		       (advised ? __GFP_DIRECT_RECLAIM : __GFP_KSWAPD_RECLAIM);
	case THP_DEFRAG_MADVISE:
		return GFP_TRANSHUGE_LIGHT | (advised ? __GFP_DIRECT_RECLAIM : 0);
	case THP_DEFRAG_NEVER:
		break;
	}
	return GFP_TRANSHUGE_LIGHT;
}

/* May any mapping, advised or not, use this order? */
static bool thp_size_is_on(const struct model *m, unsigned order)
{
	switch (m->thp.size[order]) {
	case THP_SIZE_ALWAYS:
	case THP_SIZE_MADVISE:
		return true;
	case THP_SIZE_INHERIT:
		return m->thp.enabled != THP_ENABLED_NEVER;
	case THP_SIZE_NEVER:
		break;
	}
	return false;
}

bool thp_raises_min_free(const struct model *m)
{
	if (thp_size_is_on(m, PMD_ORDER))
		return true;
	if (m->profile->min_free_thp == MIN_FREE_THP_PMD)
		return false;
	for (unsigned order = 2; order < PMD_ORDER; order++) {
		if (thp_size_is_on(m, order))
			return true;
	}
	return m->thp.shmem_enabled != SHMEM_HUGE_NEVER && m->thp.shmem_enabled != SHMEM_HUGE_DENY;
}

uint32_t thp_fault_orders(const struct model *m, const struct region *r, uint64_t index)
{
	const struct task *t = &m->task[r->task.v];
	bool advised = r->advice == ADVISE_HUGEPAGE;
	bool inherit = m->thp.enabled == THP_ENABLED_ALWAYS ||
		       (m->thp.enabled == THP_ENABLED_MADVISE && advised);
	uint32_t slot = r->first_slot + (uint32_t)index, orders = 0;

	if (r->advice == ADVISE_NOHUGEPAGE || t->thp_disabled ||
	    (t->thp_disabled_except_advised && !advised))
		return 0;
	for (unsigned order = 2; order <= PMD_ORDER; order++) {
		enum thp_size_enabled how = m->thp.size[order];
		uint32_t start = slot & ~((1u << order) - 1);

		if (how == THP_SIZE_NEVER || (how == THP_SIZE_MADVISE && !advised) ||
		    (how == THP_SIZE_INHERIT && !inherit))
			continue;
		if (start >= r->first_slot && start + (1u << order) <= r->first_slot + r->nr_slots)
			orders |= 1u << order;
	}
	return orders;
}

/* ---- page tables -------------------------------------------------------------------------- */

static bool thp_table(struct model *m, struct region *tables, uint32_t index)
{
	slot_t slot = {tables->first_slot + index};
	pfn_t page;

	check(index < tables->nr_slots);
	if (m->own.pfn[slot.v])
		return true;
	page = mempolicy_alloc(m, GFP_KERNEL | __GFP_ZERO, 0, NULL, ILX_NONE);
	if (page == PFN_NONE)
		return false;
	clock_charge(m, COST_ZERO_PAGE, 1);
	owner_attach(m, page, 0, PG_PGTABLE, slot, false);
	return true;
}

uint64_t thp_tables_wanted(const struct region *r)
{
	uint64_t groups = r->nr_slots / SLOT_GROUP + 2;

	return groups + groups / SLOT_GROUP + 2;
}

/* Tables of PTEs come first in the region, one a group, then the tables of PMDs. */
static bool thp_upper_table(struct model *m, const struct region *r, uint32_t slot)
{
	struct region *tables;
	uint32_t index;

	if (r->pgtable == 0)
		return true;
	tables = owner_region(m, (region_id){r->pgtable});
	index = (slot >> PUD_SLOT_SHIFT) - (r->first_slot >> PUD_SLOT_SHIFT);
	return thp_table(m, tables, r->nr_slots / SLOT_GROUP + 2 + index);
}

static bool thp_pte_table(struct model *m, const struct region *r, uint32_t slot)
{
	if (r->pgtable == 0)
		return true;
	return thp_table(m, owner_region(m, (region_id){r->pgtable}),
			 slot / SLOT_GROUP - r->first_slot / SLOT_GROUP);
}

/* Whoever makes a table of PTEs has made the one above it before, and they go together. */
static bool thp_has_tables(struct model *m, const struct region *r, uint32_t slot)
{
	uint32_t index = slot / SLOT_GROUP - r->first_slot / SLOT_GROUP;

	return r->pgtable == 0 || m->own.pfn[m->own.region[r->pgtable].first_slot + index];
}

bool thp_make_tables(struct model *m, const struct region *r, uint64_t index)
{
	uint32_t slot = r->first_slot + (uint32_t)index;

	return thp_upper_table(m, r, slot) && thp_pte_table(m, r, slot);
}

/* ---- faults ------------------------------------------------------------------------------- */

/* Mirrors folio_add_new_anon_rmap() and folio_add_lru_vma(). */
static struct fault_result thp_map(struct model *m, const struct region *r, pfn_t head,
				   unsigned order, uint32_t slot)
{
	clock_charge(m, COST_ZERO_PAGE, 1ull << order);
	owner_attach(m, head, order, PG_ANON, (slot_t){slot}, order == PMD_ORDER);
	memmap_flag_set(m, head, PGF_YOUNG);
	lru_add(m, head);
	if (r->mlocked)
		lru_mlock(m, head);
	return (struct fault_result){.head = head, .order = (uint8_t)order};
}

/* Mirrors get_huge_zero_folio(): one page for everybody, made when first wanted. */
static bool thp_huge_zero(struct model *m)
{
	if (m->huge_zero != PFN_NONE)
		return true;
	m->huge_zero = alloc_pages(m, (GFP_TRANSHUGE | __GFP_ZERO) & ~__GFP_MOVABLE, PMD_ORDER,
				   NODE_NONE, NODEMASK_NONE);
	if (m->huge_zero == PFN_NONE) {
		stat_event(m, VM_THP_ZERO_PAGE_ALLOC_FAILED, 1);
		return false;
	}
	clock_charge(m, COST_ZERO_PAGE, SLOT_GROUP);
	stat_event(m, VM_THP_ZERO_PAGE_ALLOC, 1);
	return true;
}

/* Mirrors do_huge_pmd_anonymous_page(). */
static struct fault_result thp_fault_pmd(struct model *m, const struct region *r, uint32_t slot,
					 bool write)
{
	struct fault_result none = {.head = PFN_NONE};
	uint32_t group = slot & ~(SLOT_GROUP - 1);
	const struct mempolicy *pol = mempolicy_of_region(m, r);
	pfn_t head;

	if (!write && m->thp.use_zero_page) {
		if (!thp_huge_zero(m)) {
			stat_event(m, VM_THP_FAULT_FALLBACK, 1);
			return none;
		}
		if (!thp_pte_table(m, r, slot))
			return none;
		return (struct fault_result){.zero_page = true, .order = PMD_ORDER};
	}
	head = mempolicy_alloc(m, m->policy->thp_gfp(m, r->advice == ADVISE_HUGEPAGE), PMD_ORDER,
			       pol, mempolicy_ilx_anon(r, group - r->first_slot, PMD_ORDER));
	if (head == PFN_NONE) {
		stat_event(m, VM_THP_FAULT_FALLBACK, 1);
		return none;
	}
	clock_charge(m, COST_FAULT_HUGE, 1);
	/* The table a later split of this PMD will need is deposited with it. */
	if (!thp_pte_table(m, r, slot)) {
		free_pages(m, head, PMD_ORDER);
		return none;
	}
	stat_event(m, VM_THP_FAULT_ALLOC, 1);
	return thp_map(m, r, head, PMD_ORDER, group);
}

/* Mirrors alloc_anon_folio(): the largest enabled order whose range is empty, and then downwards.
 */
static pfn_t thp_alloc_anon(struct model *m, const struct region *r, uint64_t index,
			    uint32_t orders, unsigned *order)
{
	const struct mempolicy *pol = mempolicy_of_region(m, r);
	uint32_t slot = r->first_slot + (uint32_t)index;
	gfp_t gfp = orders ? m->policy->thp_gfp(m, r->advice == ADVISE_HUGEPAGE) : 0;
	bool found_empty = false;

	for (unsigned k = PMD_ORDER - 1; k >= 2 && orders; k--) {
		uint32_t start = slot & ~((1u << k) - 1);
		pfn_t head;

		if (!(orders >> k & 1))
			continue;
		if (!found_empty && !owner_range_is_empty(m, start, k))
			continue;
		found_empty = true;
		head = mempolicy_alloc(m, gfp, k, pol,
				       mempolicy_ilx_anon(r, start - r->first_slot, k));
		if (head != PFN_NONE) {
			*order = k;
			return head;
		}
	}
	*order = 0;
	return mempolicy_alloc(m, GFP_HIGHUSER_MOVABLE | __GFP_ZERO, 0, pol,
			       mempolicy_ilx_anon(r, index, 0));
}

struct fault_result thp_fault(struct model *m, const struct region *r, uint64_t index, bool write)
{
	struct fault_result none = {.head = PFN_NONE}, f;
	uint32_t slot = r->first_slot + (uint32_t)index;
	uint32_t orders = thp_fault_orders(m, r, index);
	bool has_tables = thp_has_tables(m, r, slot);
	unsigned order;
	pfn_t head;

	check(r->kind == REGION_ANON && index < r->nr_slots);
	check_slow(owner_page(m, r, index) == PFN_NONE);
	stat_event(m, VM_PGFAULT, 1);
	if (!has_tables && !thp_upper_table(m, r, slot))
		return none;
	if (orders >> PMD_ORDER & 1 && owner_group_is_empty(m, slot)) {
		f = thp_fault_pmd(m, r, slot, write);
		if (f.head != PFN_NONE || f.zero_page)
			return f;
	}
	clock_charge(m, COST_FAULT, 1);
	if (!has_tables && !thp_pte_table(m, r, slot))
		return none;
	if (!write)
		return (struct fault_result){.zero_page = true};
	if (m->own.pfn[slot] & SLOT_SWAP) {
		/* Mirrors do_swap_page(): the page comes back alone. */
		owner_forget_swap(m, (slot_t){slot});
		stat_event(m, VM_PGMAJFAULT, 1);
		stat_event(m, VM_PSWPIN, 1);
		clock_charge(m, COST_DISK_READ_PAGE, 1);
		orders = 0;
	}
	head = thp_alloc_anon(m, r, index, orders & ~(1u << PMD_ORDER), &order);
	if (head == PFN_NONE)
		return none;
	return thp_map(m, r, head, order, slot & ~((1u << order) - 1));
}
