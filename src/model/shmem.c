/* SPDX-License-Identifier: MIT */
/*
 * shmem.c - tmpfs and shared memory; see shmem.h.
 */
#include "model/shmem.h"

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/mempolicy.h"
#include "model/owner.h"
#include "model/policy.h"
#include "model/slab.h"
#include "model/thp.h"

#define XARRAY_FANOUT 64u

/* Files by which a node of the tree of a directory's entries fills up, as they come one by one. */
#define FILES_A_NODE 10u

/* ---- orders ------------------------------------------------------------------------------- */

/* Mirrors shmem_allowable_huge_orders() for the mount's huge= and for shmem_enabled. */
uint32_t shmem_orders(const struct model *m, const struct region *r, uint64_t index)
{
	uint64_t start = index & ~(uint64_t)(SLOT_GROUP - 1);
	bool inside = start + SLOT_GROUP <= r->nr_slots;
	bool huge = r->huge_allowed;

	if (r->kind == REGION_SHMEM_SET || r->advice == ADVISE_NOHUGEPAGE ||
	    m->thp.shmem_enabled == SHMEM_HUGE_DENY || !inside)
		return 0;
	switch (m->thp.shmem_enabled) {
	case SHMEM_HUGE_FORCE:
		huge = true;
		break;
	case SHMEM_HUGE_ALWAYS:
	case SHMEM_HUGE_WITHIN_SIZE:
		huge |= r->mapped; /* shared anonymous memory; mounts go by their option */
		break;
	case SHMEM_HUGE_ADVISE:
		huge |= r->mapped && r->advice == ADVISE_HUGEPAGE;
		break;
	case SHMEM_HUGE_NEVER:
	case SHMEM_HUGE_DENY:
		break;
	}
	return huge ? 1u << PMD_ORDER : 0;
}

/* Mirrors limit_gfp_mask(). */
static gfp_t shmem_limit_gfp(gfp_t huge, gfp_t limit)
{
	gfp_t allow = __GFP_IO | __GFP_FS | __GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM;
	gfp_t zone = __GFP_DMA | __GFP_HIGHMEM | __GFP_DMA32 | __GFP_MOVABLE;
	gfp_t deny = __GFP_NOWARN | __GFP_NORETRY;

	return (huge & ~(allow | zone)) | (limit & zone) | ((huge | limit) & deny) |
	       (huge & limit & allow);
}

/* ---- pages -------------------------------------------------------------------------------- */

/* Mirrors shmem_alloc_and_add_folio(). */
static pfn_t shmem_alloc(struct model *m, struct region *r, uint64_t index, uint64_t ilx_base,
			 bool fault, unsigned *order)
{
	const struct mempolicy *pol = mempolicy_of_region(m, r);
	gfp_t mapping = GFP_HIGHUSER_MOVABLE;
	uint32_t start = (r->first_slot + (uint32_t)index) & ~(SLOT_GROUP - 1);
	pfn_t head;

	if (shmem_orders(m, r, index) && owner_range_is_empty(m, start, PMD_ORDER)) {
		gfp_t gfp = m->policy->thp_gfp(m, fault && r->advice == ADVISE_HUGEPAGE);

		*order = PMD_ORDER;
		head = mempolicy_alloc(m, shmem_limit_gfp(gfp, mapping), PMD_ORDER, pol,
				       ilx_base + (index >> PMD_ORDER));
		if (head != PFN_NONE) {
			stat_event(m, VM_THP_FILE_ALLOC, 1);
			return head;
		}
		stat_event(m, VM_THP_FILE_FALLBACK, 1);
	}
	*order = 0;
	return mempolicy_alloc(m, mapping, 0, pol, ilx_base + index);
}

/* Puts a page at `index` of a file whose policy index starts at ilx_base. */
static uint64_t shmem_add_page(struct model *m, region_id file, uint64_t index, uint64_t ilx_base,
			       bool fault)
{
	struct region *r = owner_region(m, file);
	uint32_t slot = r->first_slot + (uint32_t)index;
	unsigned order;
	pfn_t head;
	bool pmd;

	head = shmem_alloc(m, r, index, ilx_base, fault, &order);
	if (head == PFN_NONE)
		return 0;
	clock_charge(m, COST_ZERO_PAGE, 1ull << order);
	pmd = order == PMD_ORDER && r->mapped;
	slot &= ~((1u << order) - 1);
	owner_forget_swap(m, (slot_t){slot});
	owner_attach(m, head, order, PG_SHMEM, (slot_t){slot}, pmd);
	if (pmd)
		stat_event(m, VM_THP_FILE_MAPPED, 1);
	lru_add(m, head);
	if (r->mlocked)
		lru_mlock(m, head);
	return (1u << order) - ((r->first_slot + index) & ((1u << order) - 1));
}

uint64_t shmem_get_page(struct model *m, region_id file, uint64_t index, bool fault)
{
	struct region *r = owner_region(m, file);
	pfn_t pfn = owner_page(m, r, index);

	if (fault) {
		stat_event(m, VM_PGFAULT, 1);
		clock_charge(m, COST_FAULT, 1);
		if (r->mapped && !thp_make_tables(m, r, index))
			return 0;
	} else {
		clock_charge(m, COST_FILE_WRITE_PAGE, 1);
	}
	if (pfn != PFN_NONE) {
		if (!fault)
			lru_mark_accessed(m, memmap_head(m, pfn));
		return 1;
	}
	return shmem_add_page(m, file, index, r->inode, fault);
}

bool shmem_create_file(struct model *m, region_id set, uint32_t number)
{
	struct region *r = owner_region(m, set);
	uint64_t first = (uint64_t)number * r->file_pages;

	if (first + r->file_pages > r->nr_slots)
		return false;
	clock_charge(m, COST_INODE_CREATE, 1);
	if (slab_alloc(m, SLAB_DENTRY, GFP_KERNEL, 1) == 0)
		return false;
	if (slab_alloc(m, SLAB_SHMEM_INODE, GFP_KERNEL, 1) == 0 ||
	    slab_alloc(m, SLAB_LSM_INODE, GFP_KERNEL, 1) == 0)
		return false;
	if (number % FILES_A_NODE == 0 && slab_alloc(m, SLAB_MAPLE_NODE, GFP_KERNEL, 1) == 0)
		return false;
	for (uint32_t i = 0; i < r->file_pages; i++) {
		/* A file of one page keeps it in the inode; more need nodes of the page tree. */
		if (r->file_pages > 1 && i % XARRAY_FANOUT == 0 &&
		    slab_alloc(m, SLAB_XARRAY_NODE, GFP_KERNEL, 1) == 0)
			return false;
		if (owner_page(m, r, first + i) != PFN_NONE)
			continue;
		clock_charge(m, COST_FILE_WRITE_PAGE, 1);
		if (shmem_add_page(m, set, first + i, r->inode + number, false) == 0)
			return false;
	}
	return true;
}

/* The last page of a file of a set went: so do its inode and directory entry. */
static void shmem_file_gone(struct model *m, const struct region *r, uint32_t slot)
{
	uint32_t file = (slot - r->first_slot) / r->file_pages;
	uint32_t first = r->first_slot + file * r->file_pages;

	for (uint32_t i = 0; i < r->file_pages; i++) {
		if (m->own.pfn[first + i])
			return;
	}
	if (file % FILES_A_NODE == 0)
		(void)slab_free_oldest(m, SLAB_MAPLE_NODE, 1);
	(void)slab_free_oldest(m, SLAB_LSM_INODE, 1);
	(void)slab_free_oldest(m, SLAB_SHMEM_INODE, 1);
	(void)slab_free_oldest(m, SLAB_DENTRY, 1);
}

void shmem_remove(struct model *m, pfn_t head)
{
	unsigned order = PG_ORDER(m->map.state[head]);
	slot_t slot = owner_slot(m, head);
	struct region *r = owner_region(m, owner_region_of_slot(m, slot));

	lru_forget(m, head);
	owner_detach(m, head);
	clock_charge(m, COST_UNMAP_PAGE, 1);
	free_pages(m, head, order);
	if (r->kind == REGION_SHMEM_SET)
		shmem_file_gone(m, r, slot.v);
}
