/* SPDX-License-Identifier: MIT */
/*
 * task_release.c - giving pages back: chosen pages of a region, whole regions; see task_ops.h.
 */
#include "model/task_ops.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/filemap.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pin.h"
#include "model/shmem.h"
#include "model/thp.h"

/* Pages looked at and folios freed by one atom. */
#define RELEASE_LOOK 1024u
#define RELEASE_FREE 32u

/* ---- one folio ---------------------------------------------------------------------------- */

/* A folio of a mapping or of a kernel user goes back to the allocator. */
static void release_folio(struct model *m, pfn_t head)
{
	uint8_t state = m->map.state[head];
	unsigned order = PG_ORDER(state);

	if (KINDS_LRU >> PG_KIND(state) & 1)
		lru_forget(m, head);
	owner_detach(m, head);
	clock_charge(m, COST_UNMAP_PAGE, 1);
	free_pages(m, head, order);
}

/* Page `index` of a region, which is at `pfn`: true when it is gone. */
static bool release_page(struct model *m, region_id region, const struct region *r, uint64_t index,
			 pfn_t pfn)
{
	pfn_t head;

	if (pfn == PFN_NONE) {
		owner_forget_swap(m, (slot_t){r->first_slot + (uint32_t)index});
		return false;
	}
	head = memmap_head(m, pfn);
	if (m->map.flag[head] & PGF_PINNED)
		return false; /* its references keep it; the page table entry alone frees nothing */
	if (PG_ORDER(m->map.state[head]) > 0) {
		thp_unmap_part(m, region, index, 1);
		return true;
	}
	if (r->kind == REGION_FILE)
		filemap_remove(m, head);
	else if (r->kind == REGION_SHMEM || r->kind == REGION_SHMEM_SET)
		shmem_remove(m, head);
	else
		release_folio(m, head);
	return true;
}

/* ---- choosing ----------------------------------------------------------------------------- */

/* The lowest page of the range in its pageblock stays. */
static bool release_is_lowest(struct model *m, const struct op *op, const struct region *r,
			      pfn_t pfn)
{
	for (pfn_t p = pb_start(pfn); p < pfn; p++) {
		pfn_t head = memmap_head(m, p);
		uint32_t slot;

		if (!(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1))
			continue;
		slot = owner_slot(m, head).v + (p - head);
		if (slot >= r->first_slot + op->index &&
		    slot < r->first_slot + op->index + op->count &&
		    owner_page(m, r, slot - r->first_slot) == p)
			return false;
	}
	return true;
}

static bool release_picks(struct model *m, const struct op *op, const struct region *r,
			  uint64_t position, pfn_t pfn)
{
	switch (op->pick) {
	case PICK_ALL:
	case PICK_LIST:
		return true;
	case PICK_POSITION:
		return position % op->modulo == op->residue;
	case PICK_NOT_POSITION:
		return position % op->modulo != op->residue;
	case PICK_PFN:
		return pfn % op->modulo == op->residue;
	case PICK_NOT_PFN:
		return pfn % op->modulo != op->residue;
	case PICK_RANDOM:
		return rng_below(&m->rng[RNG_WORKLOAD], 1000) < op->permille;
	case PICK_KEEP_ONE_PER_BLOCK:
		return !release_is_lowest(m, op, r, pfn);
	}
	return false;
}

/* One page of the range, present or not: its pfn and position decide. 1 freed, 0 not. */
static unsigned release_try(struct model *m, struct op *op, const struct region *r,
			    uint64_t position)
{
	uint64_t index = op->index + position;
	pfn_t pfn = owner_page(m, r, index);
	pfn_t head;

	if (pfn == PFN_NONE && op->pick != PICK_ALL)
		return 0;
	if (pfn != PFN_NONE && !release_picks(m, op, r, position, pfn))
		return 0;
	if (pfn != PFN_NONE && op->pick == PICK_ALL) {
		/* A folio that lies wholly in the range goes as a whole. */
		uint32_t pages;

		head = memmap_head(m, pfn);
		pages = 1u << PG_ORDER(m->map.state[head]);
		if (pages > 1 && pfn == head && position + pages <= op->count &&
		    !(m->map.flag[head] & PGF_PINNED)) {
			thp_unmap_part(m, op->region, index, pages);
			op->done += pages;
			return 1;
		}
	}
	if (release_page(m, op->region, r, index, pfn)) {
		op->done++;
		return 1;
	}
	op->failed += pfn != PFN_NONE;
	return 0;
}

/* ---- in order of address, or of physical address ------------------------------------------ */

static bool release_by_position(struct model *m, struct op *op, struct region *r)
{
	unsigned freed = 0;

	for (unsigned looked = 0; looked < RELEASE_LOOK && freed < RELEASE_FREE; looked++) {
		if (op->cursor == op->count)
			return false;
		freed += release_try(m, op, r,
				     op->pick_order == PICK_DESCENDING ? op->count - 1 - op->cursor
								       : op->cursor);
		op->cursor++;
	}
	return op->cursor < op->count;
}

static bool release_by_pfn(struct model *m, struct op *op, struct region *r)
{
	uint32_t lo = r->first_slot + (uint32_t)op->index, hi = lo + (uint32_t)op->count;
	unsigned freed = 0;

	for (unsigned looked = 0; looked < RELEASE_LOOK && freed < RELEASE_FREE; looked++) {
		pfn_t pfn, head;
		uint32_t slot;

		if (op->cursor == m->map.end_pfn)
			return false;
		pfn = (pfn_t)op->cursor++;
		if (op->pick_order == PICK_PFN_DESCENDING)
			pfn = m->map.end_pfn - 1 - pfn;
		if (m->map.block[block_of(pfn).v].nr_taken == 0) {
			op->cursor |= PAGEBLOCK_PAGES - 1;
			op->cursor++;
			continue;
		}
		head = memmap_head(m, pfn);
		if (!(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1))
			continue;
		slot = owner_slot(m, head).v + (pfn - head);
		if (slot >= lo && slot < hi && owner_page(m, r, slot - r->first_slot) == pfn)
			freed += release_try(m, op, r, slot - lo);
	}
	return op->cursor < m->map.end_pfn;
}

static bool release_by_list(struct model *m, struct op *op, struct region *r)
{
	for (unsigned freed = 0; op->cursor < op->list_nr && freed < RELEASE_FREE; op->cursor++) {
		clock_charge(m, COST_MADVISE_CALL, 1);
		freed += release_try(m, op, r, op->list[op->cursor]);
	}
	return op->cursor < op->list_nr;
}

bool task_release(struct model *m, struct op *op)
{
	struct region *r = owner_region(m, op->region);

	/* Kernel users give chunks back, in order of slots. */
	if (r->kind != REGION_ANON && r->kind != REGION_FILE && r->kind != REGION_SHMEM &&
	    r->kind != REGION_SHMEM_SET) {
		for (unsigned freed = 0; op->cursor < op->count && freed < RELEASE_FREE;
		     op->cursor++) {
			pfn_t head = owner_page(m, r, op->index + op->cursor);

			if (head == PFN_NONE || !release_picks(m, op, r, op->cursor, head))
				continue;
			release_folio(m, head);
			op->done++;
			freed++;
		}
		return op->cursor < op->count;
	}
	/* Mirrors zap_page_range_single(): what waits in the CPU's batch must be on a list to be
	 * freed. */
	if (op->cursor == 0)
		lru_drain_local(m);
	if (op->pick == PICK_LIST)
		return release_by_list(m, op, r);
	if (op->pick_order == PICK_PFN_ASCENDING || op->pick_order == PICK_PFN_DESCENDING)
		return release_by_pfn(m, op, r);
	return release_by_position(m, op, r);
}

/* ---- a whole region ----------------------------------------------------------------------- */

void task_reap(struct model *m, task_id id)
{
	ns_t now = m->clock.now;

	for (uint32_t i = 1; i < m->own.nr_regions; i++) {
		struct region *r = &m->own.region[i];
		struct op op = {.kind = OP_RELEASE, .region = {i}, .count = r->nr_slots};

		if (r->kind != REGION_ANON || r->task.v != id.v)
			continue;
		pin_forget_region(m, op.region);
		while (task_release(m, &op))
			;
	}
	m->clock.now = now;
}

void task_unmap(struct model *m, region_id region)
{
	struct region *r = owner_region(m, region);
	struct op op = {.kind = OP_RELEASE, .region = region, .count = r->nr_slots};
	struct context ctx = m->ctx;
	ns_t now = m->clock.now;
	uint32_t tables = r->pgtable;

	/* Its pages go to the lists of the CPU it runs on. */
	if (r->task.v) {
		m->ctx.cpu = m->task[r->task.v].cpu;
		m->ctx.node = m->cpu[m->ctx.cpu.v].node;
	}
	pin_forget_region(m, region);
	while (task_release(m, &op))
		;
	if (tables) {
		task_unmap(m, (region_id){tables});
		r->pgtable = 0;
	}
	owner_region_free(m, region);
	m->clock.now = now;
	m->ctx = ctx;
}
