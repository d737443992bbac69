/* SPDX-License-Identifier: MIT */
/*
 * task_ops.c - atoms on files, kernel-like requests and the machine's levers; see task_ops.h.
 */
#include "model/task_ops.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/cma.h"
#include "model/compact.h"
#include "model/filemap.h"
#include "model/lru.h"
#include "model/mempolicy.h"
#include "model/owner.h"
#include "model/reclaim.h"
#include "model/shmem.h"
#include "model/slab.h"

#define SLAB_BATCH 64u

/* ---- files -------------------------------------------------------------------------------- */

static bool task_file_progress(struct op *op, uint64_t got)
{
	if (got == 0) {
		op->failed++;
		op->error = -ENOMEM;
		return false;
	}
	op->cursor += got;
	op->done += got;
	return op->cursor < op->count;
}

bool task_write(struct model *m, struct op *op)
{
	const struct region *r = owner_region(m, op->region);
	uint64_t index = op->index + op->cursor, left = op->count - op->cursor;
	uint64_t call = op->step - op->cursor % op->step;
	bool more;

	/* No folio is larger than what is left of the write() it is made for. */
	if (op->step > 1 && left > call)
		left = call;
	if (r->kind == REGION_FILE)
		more = task_file_progress(op, filemap_write(m, op->region, index, left));
	else
		more = task_file_progress(op, shmem_get_page(m, op->region, index, false));
	if (more && op->sleep_ns && op->cursor % op->step == 0)
		clock_wake_at(m, m->task[m->ctx.task.v].actor, m->clock.now + op->sleep_ns);
	return more;
}

bool task_read(struct model *m, struct op *op)
{
	return task_file_progress(op, filemap_read(m, op->region, op->index + op->cursor,
						   op->count - op->cursor));
}

bool task_files(struct model *m, struct op *op)
{
	if (!shmem_create_file(m, op->region, (uint32_t)(op->index + op->cursor))) {
		op->failed++;
		op->error = -ENOMEM;
		return false;
	}
	op->done++;
	return ++op->cursor < op->count;
}

/* ---- kernel-like requests ----------------------------------------------------------------- */

bool task_kalloc(struct model *m, struct op *op)
{
	struct region *r = owner_region(m, op->region);
	pfn_t page = mempolicy_alloc(m, op->gfp, op->order, NULL, ILX_NONE);
	slot_t slot;

	if (page == PFN_NONE) {
		op->failed++;
	} else {
		slot = owner_next_slot(m, r);
		if (slot.v == 0) {
			free_pages(m, page, op->order);
			op->error = -ENOSPC;
			return false;
		}
		owner_attach(m, page, op->order, r->kind == REGION_SLAB ? PG_SLAB : PG_KERNEL, slot,
			     false);
		if (op->gfp & __GFP_ZERO)
			clock_charge(m, COST_ZERO_PAGE, 1ull << op->order);
		op->folios_of_order[op->order]++;
		op->done++;
	}
	return ++op->cursor < op->count;
}

bool task_slab(struct model *m, struct op *op)
{
	uint64_t want = op->count - op->cursor;
	uint64_t got;

	if (want > SLAB_BATCH)
		want = SLAB_BATCH;
	got = slab_alloc(m, op->cache, op->gfp ? op->gfp : GFP_KERNEL, want);
	if (m->slab[op->cache].reclaimable)
		m->slab[op->cache].freeable += got; /* nobody holds them */
	op->done += got;
	op->failed += want - got;
	op->cursor += want;
	if (got < want)
		op->error = -ENOMEM;
	return got == want && op->cursor < op->count;
}

bool task_hugetlb(struct model *m, struct op *op)
{
	/* Mirrors alloc_pool_huge_folio(): without a node, the next one in turn. */
	unsigned node = op->node >= 0 ? (unsigned)op->node : (unsigned)op->cursor2;
	int err;

	while (!(m->online_nodes >> node & 1) || m->node[node].present == 0)
		node = (node + 1) % MAX_NODES;
	op->cursor2 = (node + 1) % MAX_NODES;
	err = hugetlb_alloc(m, op->region, (node_id){(uint8_t)node});
	if (err) {
		op->failed++;
		if (op->error == 0)
			op->error = err;
	} else {
		op->done++;
		op->huge_pages[node]++;
	}
	return ++op->cursor < op->count;
}

bool task_cma_alloc(struct model *m, struct op *op)
{
	int err = cma_alloc(m, op->what, (uint32_t)op->count, op->order, op->region);

	if (err) {
		op->failed++;
		op->error = err;
	} else {
		op->done++;
	}
	return false;
}

/* ---- levers ------------------------------------------------------------------------------- */

/* cursor: node; cursor2: its compaction has begun. */
bool task_compact(struct model *m, struct op *op)
{
	struct node *n;

	if (op->node >= 0 && op->cursor == 0)
		op->cursor = (uint64_t)op->node;
	while (op->cursor < MAX_NODES &&
	       (!(m->online_nodes >> op->cursor & 1) || m->node[op->cursor].present == 0))
		op->cursor++;
	if (op->cursor == MAX_NODES)
		return false;
	n = &m->node[op->cursor];
	if (op->cursor2 == 0) {
		lru_drain_all(m);
		compact_node_begin(m, n);
		op->cursor2 = 1;
	}
	if (compact_node_step(m, n))
		return true;
	op->done++;
	op->cursor2 = 0;
	op->cursor++;
	return op->node < 0 && op->cursor < MAX_NODES;
}

bool task_drop_caches(struct model *m, struct op *op)
{
	uint32_t cursor = (uint32_t)op->cursor;
	bool more = reclaim_drop_caches_step(m, op->what, &cursor);

	op->cursor = cursor;
	return more;
}

bool task_sleep(struct model *m, struct op *op)
{
	if (op->cursor)
		return false;
	op->cursor = 1;
	clock_wake_at(m, m->task[m->ctx.task.v].actor, m->clock.now + op->sleep_ns);
	return true;
}
