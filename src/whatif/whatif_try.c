/* SPDX-License-Identifier: MIT */
/*
 * whatif_try.c - each remedy on a machine of its own, then the request on what the remedy left.
 */
#include "whatif/whatif_machine.h"
#include "model/policy.h"
#include "util/util.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

enum action {
	TRY_NOTHING,
	TRY_COMPACT,
	TRY_DROP,
	TRY_DROP_COMPACT,
	TRY_MIN_FREE,
	TRY_DEFRAG, /* huge page faults only */
	TRY_POLICY
};

struct trial {
	enum action action;
	const char *id, *what;
	const char *value;
	unsigned number;
};

static const struct trial trials[] = {
	{TRY_NOTHING, "nothing", "nothing", NULL, 0},
	{TRY_COMPACT, "compact_memory", "compact_memory", NULL, 0},
	{TRY_DROP, "drop_caches=1", "drop_caches=1", NULL, 1},
	{TRY_DROP, "drop_caches=2", "drop_caches=2", NULL, 2},
	{TRY_DROP, "drop_caches=3", "drop_caches=3", NULL, 3},
	{TRY_DROP_COMPACT, "drop_caches=3+compact_memory", "drop_caches=3, compact", NULL, 3},
	{TRY_MIN_FREE, "min_free_kbytes", "min_free_kbytes x 4", NULL, 4},
	{TRY_DEFRAG, "defrag=always", "defrag=always", "always", 0},
	{TRY_DEFRAG, "defrag=defer+madvise", "defrag=defer+madvise", "defer+madvise", 0},
	{TRY_DEFRAG, "defrag=madvise", "defrag=madvise", "madvise", 0},
	{TRY_DEFRAG, "defrag=defer", "defrag=defer", "defer", 0},
	{TRY_DEFRAG, "defrag=never", "defrag=never", "never", 0},
};

/* kswapd and kcompactd have this long after min_free_kbytes was raised. */
#define SETTLE_NS UINT64_C(10000000000)

/* ---- counting ------------------------------------------------------------------------------ */

static uint64_t free_blocks(const struct model *m)
{
	uint64_t blocks = 0;

	for (unsigned z = 0; z < m->nr_zones; z++)
		for (unsigned o = PAGEBLOCK_ORDER; o < NR_PAGE_ORDERS; o++)
			blocks += (uint64_t)m->zone[z].nr_chunks[o] << (o - PAGEBLOCK_ORDER);
	return blocks;
}

struct counted {
	uint64_t moved, cached; /* pages that compaction moved; of files and reclaimable slabs */
};

static struct counted count(const struct model *m)
{
	int64_t v[NR_VMSTAT];

	model_counters(m, v);
	return (struct counted){
		.moved = (uint64_t)v[VM_PGMIGRATE_SUCCESS],
		.cached = (uint64_t)(v[VM_NR_FILE_PAGES] + v[VM_NR_SLAB_RECLAIMABLE]),
	};
}

static uint64_t less(uint64_t before, uint64_t after)
{
	return before > after ? before - after : 0;
}

/* ---- one trial ------------------------------------------------------------------------------ */

static int act(struct model *m, const struct whatif_state *s, const struct trial *t, task_id task,
	       ns_t *took)
{
	struct op drop = {.kind = OP_DROP_CACHES, .what = t->number};
	struct op compact = {.kind = OP_COMPACT, .node = -1};
	char text[32];
	int r = 0;

	switch (t->action) {
	case TRY_NOTHING:
	case TRY_POLICY:
		return 0;
	case TRY_DEFRAG:
		return model_set(m, "transparent_hugepage/defrag", t->value);
	case TRY_MIN_FREE:
		snprintf(text, sizeof(text), "%llu",
			 (unsigned long long)(s->min_free_kb * t->number));
		r = model_set(m, "vm.min_free_kbytes", text);
		if (!r)
			model_sleep(m, SETTLE_NS);
		return r;
	case TRY_DROP:
	case TRY_DROP_COMPACT:
		r = model_do(m, task, &drop);
		*took = drop.end - drop.start;
		if (r || t->action == TRY_DROP)
			return r;
		break;
	case TRY_COMPACT:
		break;
	}
	r = model_do(m, task, &compact);
	*took += compact.end - compact.start;
	return r;
}

static int make_request(struct model *m, const struct whatif_request *q, task_id task,
			struct prediction *out)
{
	struct op op = {.count = q->count, .order = q->order, .gfp = q->gfp};
	int r;

	if (q->fault) {
		op.kind = OP_TOUCH;
		op.count = (uint64_t)q->count * PAGEBLOCK_PAGES;
		op.step = PAGEBLOCK_PAGES;
		op.write = true;
		r = model_mmap(m, task, op.count * PAGE_SIZE_BYTES,
			       q->advised ? ADVISE_HUGEPAGE : ADVISE_NONE, &op.region);
	} else {
		op.kind = OP_KALLOC;
		r = model_pool(m, REGION_KERNEL, q->count, &op.region);
	}
	if (!r)
		r = model_do(m, task, &op);
	if (r)
		return r;
	out->asked = q->count;
	out->got = (unsigned)op.done;
	if (q->fault) {
		out->got = 0;
		for (unsigned i = 0; i < MAX_NODES; i++)
			out->got += (unsigned)op.huge_pages[i];
	}
	out->request_ns = op.end - op.start;
	out->longest_ns = op.longest_atom_ns;
	return 0;
}

/* A CPU of the node that is shortest of free blocks: there the request hurts. */
static unsigned choose_cpu(const struct model *m)
{
	unsigned cpu = 0;
	uint64_t least = UINT64_MAX;

	for (unsigned n = 0; n < m->nr_nodes; n++) {
		uint64_t blocks = 0;

		for (unsigned z = 0; z < m->nr_zones; z++)
			for (unsigned o = PAGEBLOCK_ORDER; o < NR_PAGE_ORDERS; o++)
				if (m->zone[z].node.v == n)
					blocks += (uint64_t)m->zone[z].nr_chunks[o]
						  << (o - PAGEBLOCK_ORDER);
		if (m->node[n].present && m->node[n].nr_cpus && blocks < least) {
			least = blocks;
			cpu = m->node[n].first_cpu;
		}
	}
	return cpu;
}

static int run(struct model *m, const struct whatif_state *s, const struct trial *t,
	       struct prediction *out)
{
	struct counted before = count(m), between, after;
	unsigned cpu = choose_cpu(m);
	ns_t took = 0;
	task_id task;
	int r = model_task(m, cpu, &task);

	if (!r)
		r = act(m, s, t, task, &took);
	if (r)
		return r;
	between = count(m);
	out->after = free_blocks(m) * s->scale;
	out->remedy_ns = took * s->scale;
	r = make_request(m, &s->request, task, out);
	if (r)
		return r;
	after = count(m);
	out->moved = (between.moved - before.moved) * s->scale + after.moved - between.moved;
	out->dropped =
		less(before.cached, between.cached) * s->scale + less(between.cached, after.cached);
	return 0;
}

static int try_one(const struct whatif_state *s, const struct whatif_plan *p, const struct trial *t,
		   struct what_if *w, struct cl_error *err)
{
	struct prediction *out = &w->prediction[w->predictions];
	const char *why = "a step cannot be run";
	struct model *m = NULL;
	int r;

	if (w->predictions == PREDICTIONS_MOST)
		return 0;
	memset(out, 0, sizeof(*out));
	snprintf(out->id, sizeof(out->id), "%s", t->id);
	snprintf(out->what, sizeof(out->what), "%s", t->what);
	out->before = w->blocks_before;
	r = whatif_machine(s, p, t->action == TRY_POLICY ? t->value : "mainline", &m, &why);
	if (!r) {
		why = "a step cannot be run";
		r = run(m, s, t, out);
		model_destroy(m);
	}
	/* A policy that this kernel's profile does not take is no row. */
	if (r && t->action == TRY_POLICY && r != -ENOMEM)
		return 0;
	if (r)
		return cl_error(err, r, "predicting %s: %s", t->what, why);
	w->predictions++;
	return 0;
}

static int try_policies(const struct whatif_state *s, const struct whatif_plan *p,
			struct what_if *w, struct cl_error *err)
{
	int r = 0;

	for (const struct policy *const *at = policy_registry; *at && !r; at++) {
		char id[48], what[96];

		snprintf(id, sizeof(id), "policy:%s", (*at)->name);
		snprintf(what, sizeof(what), "%s", (*at)->name);
		r = try_one(s, p, &(struct trial){TRY_POLICY, id, what, (*at)->name, 0}, w, err);
	}
	return r;
}

int whatif_try_all(const struct whatif_state *s, const struct whatif_plan *p, struct what_if *w,
		   struct cl_error *err)
{
	int r = 0;

	for (size_t i = 0; i < sizeof(trials) / sizeof(trials[0]) && !r; i++)
		if (trials[i].action != TRY_DEFRAG || s->request.fault)
			r = try_one(s, p, &trials[i], w, err);
	return r ? r : try_policies(s, p, w, err);
}
