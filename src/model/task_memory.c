/* SPDX-License-Identifier: MIT */
/*
 * task_memory.c - atoms on a task's own memory: touching, pinning, locking, collapsing; see
 * task_ops.h.
 */
#include "model/task_ops.h"

#include <errno.h>

#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pin.h"
#include "model/shmem.h"
#include "model/thp.h"

/* Present pages passed over in one atom; they cost next to nothing. */
#define TOUCH_SKIP 512u

static bool task_leaves_enough(const struct model *m, const struct op *op)
{
	const struct node *n;
	uint64_t free = 0;

	n = &m->node[op->leave_pages_node - 1];
	for (int k = 0; k < NR_ZONE_CLASSES; k++) {
		if (n->zone[k].v != ZONE_NONE.v)
			free += (uint64_t)zone_free_pages(&m->zone[n->zone[k].v]);
	}
	return free > op->leave_pages;
}

static void task_count_landing(struct model *m, struct op *op, pfn_t head, unsigned order)
{
	unsigned node = zone_of(m, head)->node.v;

	op->folios_of_order[order]++;
	if (order == PMD_ORDER)
		op->huge_pages[node]++;
	else
		op->base_pages[node] += 1u << order;
}

/* Faults page `index` in; base pages from there to the end of what is mapped now, 0 when killed. */
static uint64_t task_fault(struct model *m, struct op *op, const struct region *r, uint64_t index,
			   bool write)
{
	ns_t start = m->clock.now;
	struct fault_result f;
	pfn_t pfn, head;
	uint64_t got;

	if (r->kind == REGION_ANON) {
		f = thp_fault(m, r, index, write);
		if (f.head == PFN_NONE && !f.zero_page)
			return 0;
		if (!f.zero_page)
			task_count_landing(m, op, f.head, f.order);
		if (op->landed)
			op->landed(op->landed_ctx, index, f.order, start, m->clock.now);
		return (1u << f.order) - ((r->first_slot + index) & ((1u << f.order) - 1));
	}
	got = shmem_get_page(m, op->region, index, true);
	if (got == 0)
		return 0;
	pfn = owner_page(m, r, index);
	head = memmap_head(m, pfn);
	task_count_landing(m, op, head, PG_ORDER(m->map.state[head]));
	return got;
}

bool task_touch(struct model *m, struct op *op)
{
	struct region *r = owner_region(m, op->region);
	uint64_t got = 0;

	for (unsigned skipped = 0; op->cursor < op->count && skipped < TOUCH_SKIP; skipped++) {
		uint64_t index = op->index + op->cursor;

		if (owner_page(m, r, index) != PFN_NONE) {
			op->cursor += op->step;
			op->done++;
			continue;
		}
		if (op->leave_pages_node && !task_leaves_enough(m, op))
			return false;
		got = task_fault(m, op, r, index, op->write || op->kind == OP_POPULATE);
		if (got == 0) {
			op->failed++;
			op->error = -ENOMEM;
			return false;
		}
		if (got > op->count - op->cursor)
			got = op->count - op->cursor;
		/* The steps that fall into what this fault mapped are done with it. */
		if (got > 1)
			got = (got + op->step - 1) / op->step;
		op->cursor += got * op->step;
		op->done += got;
		break;
	}
	return op->cursor < op->count;
}

bool task_pin(struct model *m, struct op *op)
{
	int more;

	if (op->pin.v == 0) {
		op->error = pin_set_new(m, op->region, op->index, op->count, op->step,
					op->times ? op->times : 1, &op->pin);
		if (op->error)
			return false;
	}
	more = pin_step(m, op->pin, op->fault_in, &op->cursor);
	if (more < 0) {
		op->error = more;
		return false;
	}
	op->done = op->cursor;
	return more > 0;
}

bool task_unpin(struct model *m, struct op *op)
{
	return pin_drop_step(m, op->pin, &op->cursor) > 0;
}

/* Locks or unlocks up to 32 folios. */
static bool task_lock_batch(struct model *m, struct op *op, bool lock)
{
	struct region *r = owner_region(m, op->region);

	for (unsigned n = 0; n < LRU_BATCH && op->cursor < op->count; n++) {
		pfn_t pfn = owner_page(m, r, op->index + op->cursor), head;

		if (pfn == PFN_NONE && lock) {
			if (task_fault(m, op, r, op->index + op->cursor, true) == 0) {
				op->error = -ENOMEM;
				return false;
			}
			pfn = owner_page(m, r, op->index + op->cursor);
		}
		if (pfn == PFN_NONE) {
			op->cursor++;
			continue;
		}
		head = memmap_head(m, pfn);
		if (lock)
			lru_mlock(m, head);
		else
			lru_munlock(m, head);
		op->cursor += (1u << PG_ORDER(m->map.state[head])) - (pfn - head);
		op->done++;
	}
	return op->cursor < op->count;
}

bool task_mlock(struct model *m, struct op *op)
{
	owner_region(m, op->region)->mlocked = true;
	return task_lock_batch(m, op, true);
}

bool task_munlock(struct model *m, struct op *op)
{
	owner_region(m, op->region)->mlocked = false;
	return task_lock_batch(m, op, false);
}

bool task_collapse(struct model *m, struct op *op)
{
	struct region *r = owner_region(m, op->region);
	uint64_t index = op->index + op->cursor;
	/* Only whole 2 MiB ranges can be collapsed. */
	uint64_t first = (index + SLOT_GROUP - 1 - (r->first_slot + index - 1) % SLOT_GROUP);
	int err;

	if (first + SLOT_GROUP > op->index + op->count)
		return false;
	err = khugepaged_collapse(m, op->region, first, false);
	if (err == 0) {
		op->done++;
	} else {
		op->failed++;
		if (op->error == 0)
			op->error = err;
	}
	op->cursor = first + SLOT_GROUP - op->index;
	return op->cursor < op->count;
}
