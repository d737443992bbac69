/* SPDX-License-Identifier: MIT */
/* Steps that hold memory on the model: fill, fault, pin, unpin, release. */
#include "backend/model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/memmap.h"
#include "model/owner.h"
#include "util/latency.h"
#include "util/util.h"

/* With `leave`, look at the free memory at least this often, and stop this close above it. */
#define CHUNK_MOST  ((64ull << 20) / MODEL_PAGE_BYTES)
#define CHUNK_LEAST ((256ull << 10) / MODEL_PAGE_BYTES)

/* Pages that other programs take before memory is filled, at most. */
#define OTHERS_PAGES 64u

/* Of so many pieces one is the first on another CPU, on average. */
#define CHUNKS_A_MOVE 8u

void model_held_free(struct held *h)
{
	free(h->task);
	free(h->region);
	memset(h, 0, sizeof(*h));
}

void model_detail(json_t *record, const char *name, uint64_t value)
{
	json_object_set_new(json_object_get(record, "detail"), name,
			    json_integer((json_int_t)value));
}

/* ---- tasks and amounts ---------------------------------------------------------------- */

/*
 * The memory that a process has beside what it is asked to hold: a worker of a 7.3 guest has 25
 * pages of its own. Its data and heap lie below what it maps, its stack above. That matters when it
 * ends: pages are freed in the order of addresses, and the last ones are the next to be had.
 */
#define PROCESS_BELOW 18u
#define PROCESS_ABOVE 7u

static int touch_part(struct model_exec *x, task_id task, uint64_t pages, region_id *part)
{
	struct op op = {.kind = OP_TOUCH, .count = pages, .write = true};
	int r = model_mmap(x->m, task, pages * MODEL_PAGE_BYTES, ADVISE_NOHUGEPAGE, part);

	op.region = *part;
	return r ? r : model_do(x->m, task, &op);
}

/* What is above stays until the task ends. */
static int make_process(struct model_exec *x, struct held *h)
{
	region_id above;
	int r = touch_part(x, h->task[0], PROCESS_ABOVE, &above);

	return r ? r : touch_part(x, h->task[0], PROCESS_BELOW, &h->below);
}

int model_make_tasks(struct model_exec *x, struct held *h, unsigned threads, unsigned regions,
		     int cpu_node, struct cl_error *err)
{
	unsigned first = 0, cpus = x->m->nr_cpus;

	if (cpu_node != PLAN_NODE_ANY) {
		if ((unsigned)cpu_node >= x->m->nr_nodes || !x->m->node[cpu_node].nr_cpus)
			return cl_error(err, -EOPNOTSUPP, "node %d has no CPU to run on", cpu_node);
		first = x->m->node[cpu_node].first_cpu;
		cpus = x->m->node[cpu_node].nr_cpus;
	}
	h->alive = true;
	h->threads = threads;
	h->regions = regions;
	h->task = calloc(threads, sizeof(*h->task));
	h->region = calloc(regions, sizeof(*h->region));
	if (!h->task || !h->region)
		return cl_error(err, -ENOMEM, "out of memory");
	for (unsigned t = 0; t < threads; t++)
		if (model_task(x->m, first + t % cpus, &h->task[t]))
			return cl_error(err, -EOPNOTSUPP, "the model has too few tasks");
	/* A snapshot has the process of its step. */
	if (!x->snapshot && make_process(x, h))
		return cl_error(err, -ENOSPC, "the model has no room for a process");
	return 0;
}

static uint64_t node_pages(const struct model *m, int node, bool managed)
{
	uint64_t pages = 0;

	for (unsigned z = 0; z < m->nr_zones; z++)
		if (node == PLAN_NODE_ANY || m->zone[z].node.v == node)
			pages += managed ? m->zone[z].managed
					 : (uint64_t)zone_free_pages(&m->zone[z]);
	return pages;
}

uint64_t model_amount_pages(const struct model *m, const struct amount *a, int node)
{
	uint64_t bytes = a->bytes;

	if (a->ppm_of_free)
		bytes = node_pages(m, node, false) * MODEL_PAGE_BYTES / 1000000 * a->ppm_of_free;
	return bytes / MODEL_PAGE_BYTES;
}

static int has_node(const struct model *m, int node, struct cl_error *err)
{
	if (node == PLAN_NODE_ANY || ((unsigned)node < m->nr_nodes && m->node[node].present))
		return 0;
	return cl_error(err, -EOPNOTSUPP, "there is no node %d", node);
}

int model_killed(struct model_exec *x, const struct held *h, const struct op *op,
		 struct cl_error *err)
{
	char size[32];

	if (!op->error)
		return 0;
	if (op->error != -ENOMEM)
		return cl_error(err, op->error, "the operation failed: %s", strerror(-op->error));
	for (unsigned t = 0; t < h->threads; t++)
		x->m->task[h->task[t].v].oom_victim = false; /* its memory goes when we leave */
	cl_error(err, -ENOMEM, "the model's OOM killer ended the task after %s",
		 size_print(op->done * MODEL_PAGE_BYTES >> 20 << 20, size, sizeof(size)));
	return cl_error_hint(err, -ENOMEM,
			     "leave more free: a fill that is bound to a node must leave some");
}

/* One operation of a task of the step, to its end. */
int model_act(struct model_exec *x, struct held *h, unsigned thread, struct op *op,
	      struct cl_error *err)
{
	int r = model_do(x->m, h->task[thread], op);

	return r ? cl_error(err, r, "the operation cannot be started")
		 : model_killed(x, h, op, err);
}

/* ---- where the pages are -------------------------------------------------------------- */

struct landing {
	uint64_t base[MAX_NODES], huge[MAX_NODES], present;
};

/* Of the pages that were asked for: the last huge page of a fill may reach beyond them. */
static void look(struct model_exec *x, const struct held *h, struct landing *l)
{
	struct model *m = x->m;
	struct region *r = owner_region(m, h->region[0]);
	block_t block = {UINT32_MAX};
	unsigned node = 0;

	memset(l, 0, sizeof(*l));
	for (uint64_t i = 0; i < h->pages && r->nr_pages;) {
		pfn_t pfn = owner_page(m, r, i);

		if (pfn == PFN_NONE) {
			i++;
			continue;
		}
		if (block_of(pfn).v != block.v) {
			block = block_of(pfn);
			node = zone_of(m, pfn)->node.v;
		}
		if (m->own.pfn[r->first_slot + i] == (SLOT_HUGE | pfn) &&
		    i + MODEL_HUGE_PAGES <= h->pages) {
			l->huge[node]++;
			l->present += MODEL_HUGE_PAGES;
			i += MODEL_HUGE_PAGES;
		} else {
			l->base[node]++;
			l->present++;
			i++;
		}
	}
}

static void record_pages(struct model_exec *x, json_t *record, const struct landing *l)
{
	json_t *all = json_object();

	for (unsigned i = 0; i < x->m->nr_nodes; i++) {
		char name[16];

		if (!x->m->node[i].present)
			continue;
		snprintf(name, sizeof(name), "node%u", i);
		json_object_set_new(all, name,
				    json_pack("{s:I, s:I}", "base", (json_int_t)l->base[i], "huge",
					      (json_int_t)l->huge[i]));
	}
	json_object_set_new(record, "pages", all);
}

/* ---- fill ----------------------------------------------------------------------------- */

void model_bind_region(struct model *m, region_id region, int node)
{
	struct mempolicy p = {.mode = MPOL_BIND, .home = NODE_NONE};

	if (node == PLAN_NODE_ANY)
		return;
	p.nodes = 1u << node;
	model_region_policy(m, region, &p);
}

static int fill_region(struct model_exec *x, struct held *h, const struct step_fill *f,
		       uint64_t pages)
{
	enum advice advice = f->pages == FILL_PAGE_HUGE ? ADVISE_HUGEPAGE : ADVISE_NOHUGEPAGE;
	uint64_t bytes = pages * MODEL_PAGE_BYTES;
	struct mempolicy bind = {.mode = MPOL_BIND, .home = NODE_NONE};
	int r;

	switch (f->memory) {
	case FILL_SHMEM:
		r = model_shmem(x->m, h->task[0], bytes, false, &h->region[0]);
		if (!r)
			model_advise(x->m, h->region[0], advice);
		break;
	case FILL_FILE:
		/* Page cache follows the task's policy. */
		r = model_file(x->m, bytes, 0, &h->region[0]);
		if (f->node != PLAN_NODE_ANY) {
			bind.nodes = 1u << f->node;
			model_task_policy(x->m, h->task[0], &bind);
		}
		break;
	default:
		r = model_mmap(x->m, h->task[0], bytes, advice, &h->region[0]);
	}
	if (!r)
		model_bind_region(x->m, h->region[0], f->node);
	return r;
}

/* The next piece: half the way to `leave`, so that the end is approached and never passed. */
static uint64_t next_chunk(struct model_exec *x, const struct step_fill *f, uint64_t rest,
			   uint64_t leave)
{
	uint64_t chunk = rest < CHUNK_MOST ? rest : CHUNK_MOST, free_pages;

	if (!f->leave.set || !rest)
		return chunk;
	free_pages = node_pages(x->m, f->node, false);
	if (free_pages < leave + CHUNK_LEAST)
		return 0;
	rest = (free_pages - leave) / 2;
	return rest < chunk ? rest : chunk;
}

/*
 * Nothing binds a fill to a CPU, so the scheduler moves it now and then. What it leaves on the old
 * CPU's page lists, and finds on the new one's, decides on how positions and frames are aligned.
 */
static void fill_migrate(struct model_exec *x, struct held *h)
{
	struct rng *rng = &x->m->rng[RNG_WORKLOAD];
	const struct node *n = &x->m->node[x->m->cpu[x->m->task[h->task[0].v].cpu.v].node.v];

	if (rng_below(rng, CHUNKS_A_MOVE) == 0)
		model_task_cpu(x->m, h->task[0],
			       n->first_cpu + (unsigned)rng_below(rng, n->nr_cpus));
}

static int fill_chunk(struct model_exec *x, struct held *h, const struct step_fill *f,
		      uint64_t chunk, struct cl_error *err)
{
	struct op op = {.kind = f->memory == FILL_FILE ? OP_WRITE : OP_TOUCH,
			.region = h->region[0],
			.index = h->pages,
			.count = chunk,
			.write = true};
	int r = model_act(x, h, 0, &op, err);

	if (!r && f->memory == FILL_MLOCKED) {
		op = (struct op){.kind = OP_MLOCK,
				 .region = h->region[0],
				 .index = h->pages,
				 .count = chunk};
		r = model_act(x, h, 0, &op, err);
	}
	h->pages += chunk;
	return r;
}

/*
 * Pages go out in the order of their frames, so where a fill begins decides on which frames its odd
 * positions lie, and with that on what a scanner that samples even frames sees of them. What other
 * programs have taken by then is chance: of five boots of a 7.3 guest, two had them on even frames
 * and three on odd ones, each throughout.
 */
static int fill_others(struct model_exec *x, const struct held *h)
{
	struct op op = {.kind = OP_TOUCH, .count = 1, .write = true};
	uint64_t parity = rng_below(&x->m->rng[RNG_WORKLOAD], 2);
	int r = 0;

	if (!x->others_task.v) {
		r = model_task(x->m, 0, &x->others_task);
		if (!r)
			r = model_mmap(x->m, x->others_task, OTHERS_PAGES * MODEL_PAGE_BYTES,
				       ADVISE_NOHUGEPAGE, &x->others);
	}
	if (r)
		return r;
	model_task_cpu(x->m, x->others_task, x->m->task[h->task[0].v].cpu.v);
	op.region = x->others;
	do {
		op.index = x->others_pages++;
		r = model_do(x->m, x->others_task, &op);
	} while (!r && x->others_pages < OTHERS_PAGES &&
		 owner_page(x->m, owner_region(x->m, x->others), op.index) % 2 != parity);
	return r;
}

static int fill_verify(struct model_exec *x, struct held *h, const struct step_fill *f,
		       const struct landing *l, struct cl_error *err)
{
	uint64_t huge = 0, here;

	for (unsigned i = 0; i < x->m->nr_nodes; i++)
		huge += l->huge[i];
	if (l->present != h->pages) {
		cl_error(err, -EIO, "%llu of %llu pages are not in memory after the fill",
			 (unsigned long long)(h->pages - l->present), (unsigned long long)h->pages);
		return cl_error_hint(err, -EIO, "they were reclaimed: fill less or leave more");
	}
	if (f->pages == FILL_PAGE_HUGE &&
	    huge < h->pages / MODEL_HUGE_PAGES - h->pages / MODEL_HUGE_PAGES / 10) {
		cl_error(err, -EIO, "only %llu of %llu huge pages could be had",
			 (unsigned long long)huge,
			 (unsigned long long)(h->pages / MODEL_HUGE_PAGES));
		return cl_error_hint(err, -EIO,
				     h->kind == FILL_SHMEM
					     ? "set thp.shmem_enabled = advise"
					     : "set thp.enabled = madvise, on memory that is free");
	}
	if (f->node == PLAN_NODE_ANY)
		return 0;
	here = l->base[f->node] + l->huge[f->node] * MODEL_HUGE_PAGES;
	if (here >= h->pages - h->pages / 100)
		return 0;
	return cl_error(err, -EIO, "only %llu of %llu pages lie on node %d",
			(unsigned long long)here, (unsigned long long)h->pages, f->node);
}

int model_fill(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
	       struct cl_error *err)
{
	const struct step_fill *f = &x->plan->step[i].fill;
	struct held *h = &x->held[i];
	struct landing l;
	uint64_t most, leave = 0, chunk;
	ns_t start;
	int r = has_node(x->m, f->node, err);

	if (!r)
		r = model_make_tasks(x, h, 1, 1, PLAN_NODE_ANY, err);
	if (r)
		return r;
	h->kind = f->memory;
	most = f->size.set ? model_amount_pages(x->m, &f->size, f->node) : 0;
	if (f->leave.set) {
		leave = model_amount_pages(x->m, &f->leave, f->node);
		most = node_pages(x->m, f->node, true);
		most = most > leave ? most - leave : 0;
	}
	if (!most)
		return cl_error(err, -EINVAL, "size comes to less than one page");
	r = fill_region(x, h, f, most);
	if (r)
		return cl_error(err, r, "the model has no room for so much memory");
	if (f->pages == FILL_PAGE_BASE && x->others_pages < OTHERS_PAGES) {
		r = fill_others(x, h);
		if (r)
			return cl_error(err, r, "the model has too few tasks");
	}
	model_span_open(x, e);
	start = model_now(x->m);
	while (!r && (chunk = next_chunk(x, f, most - h->pages, leave))) {
		fill_migrate(x, h);
		r = fill_chunk(x, h, f, chunk, err);
	}
	e->time_ns = model_now(x->m) - start;
	model_span_close(x, e);
	if (r)
		return r;
	/* Dirty pages could not be dropped by a later punch. */
	if (h->kind == FILL_FILE)
		model_sync(x->m);
	look(x, h, &l);
	r = fill_verify(x, h, f, &l, err);
	record_pages(x, record, &l);
	model_detail(record, "bytes", h->pages * MODEL_PAGE_BYTES);
	return r;
}

/* ---- fault ---------------------------------------------------------------------------- */

static void fault_policy(const struct step_fault *f, struct mempolicy *p)
{
	*p = (struct mempolicy){.mode = MPOL_DEFAULT, .home = NODE_NONE};
	for (unsigned n = 0; n < f->nodes.count && f->policy != POLICY_LOCAL; n++) {
		p->nodes |= 1u << f->nodes.node[n];
		p->weight[f->nodes.node[n]] = (uint8_t)f->weights[n];
	}
	switch (f->policy) {
	case POLICY_BIND:
		p->mode = MPOL_BIND;
		break;
	case POLICY_PREFERRED:
		p->mode = f->nodes.count > 1 ? MPOL_PREFERRED_MANY : MPOL_PREFERRED;
		break;
	case POLICY_INTERLEAVE:
		p->mode = MPOL_INTERLEAVE;
		break;
	case POLICY_WEIGHTED:
		p->mode = MPOL_WEIGHTED_INTERLEAVE;
		break;
	case POLICY_LOCAL:
		break;
	}
}

/* Whole huge pages each, the remainder dealt to the first ones. */
static void share(const struct held *h, unsigned threads, unsigned thread, uint64_t *from,
		  uint64_t *count)
{
	uint64_t huge = h->pages / MODEL_HUGE_PAGES, each = huge / threads;
	uint64_t more = huge % threads;

	*from = (each * thread + (thread < more ? thread : more)) * MODEL_HUGE_PAGES;
	*count = (each + (thread < more)) * MODEL_HUGE_PAGES;
}

/* Sums over the repetitions of a fault step. */
struct faults {
	unsigned runs;
	uint64_t time_ns;
	int shift;
	int64_t value[NR_VMSTAT];
	uint64_t touch_ns;             /* of the last one */
	struct fault_latency *latency; /* one a thread, of all; NULL: not measured */
};

static void landed(void *ctx, uint64_t index, unsigned order, ns_t start, ns_t end)
{
	fault_latency_add(ctx, index, order, start, end);
}

/* The same operation by all threads, each on its share, and those that write beside them. */
static int fault_all(struct model_exec *x, struct held *h, const struct step_fault *f,
		     enum op_kind kind, struct faults *all, struct cl_error *err)
{
	ns_t start = model_now(x->m);
	int r = 0;

	for (unsigned t = 0; t < f->threads; t++) {
		struct op op = {.kind = kind,
				.region = h->region[0],
				.write = true,
				.fault_in = kind == OP_PIN};

		if (f->latency) {
			op.landed = landed;
			op.landed_ctx = &all->latency[t];
		}
		share(h, f->threads, t, &op.index, &op.count);
		if (op.count && model_start(x->m, h->task[t], &op))
			return cl_error(err, -EBUSY, "the operation cannot be started");
	}
	r = model_io_start(x, h, f, err);
	if (r)
		return r;
	model_run(x->m);
	for (unsigned t = 0; t < f->threads; t++) {
		const struct op *op = model_result(x->m, h->task[t]);

		if (op->finished && op->end > start && op->end - start > all->touch_ns)
			all->touch_ns = op->end - start;
	}
	for (unsigned t = 0; t < h->threads && !r && kind != OP_COLLAPSE; t++)
		r = model_killed(x, h, model_result(x->m, h->task[t]), err);
	return r;
}

static int fault_once(struct model_exec *x, struct held *h, const struct step_fault *f,
		      struct faults *all, struct cl_error *err)
{
	int r;

	switch (f->method) {
	case METHOD_POPULATE_WRITE:
	case METHOD_MAP_POPULATE:
		return fault_all(x, h, f, OP_POPULATE, all, err);
	case METHOD_COLLAPSE:
		model_advise(x->m, h->region[0], ADVISE_NOHUGEPAGE);
		r = fault_all(x, h, f, OP_POPULATE, all, err);
		model_advise(x->m, h->region[0], ADVISE_HUGEPAGE);
		/* A huge page that cannot be had stays base pages: that is the method's outcome. */
		return r ? r : fault_all(x, h, f, OP_COLLAPSE, all, err);
	case METHOD_PIN:
		return fault_all(x, h, f, OP_PIN, all, err);
	default:
		return fault_all(x, h, f, OP_TOUCH, all, err);
	}
}

static int fault_map(struct model_exec *x, struct held *h, const struct step_fault *f,
		     struct cl_error *err)
{
	static const enum advice advices[] = {ADVISE_NONE, ADVISE_HUGEPAGE, ADVISE_NOHUGEPAGE};
	enum advice advice = f->method == METHOD_MAP_POPULATE ? ADVISE_NONE : advices[f->advice];

	if (h->region[0].v)
		model_munmap(x->m, h->region[0]);
	if (model_mmap(x->m, h->task[0], h->pages * MODEL_PAGE_BYTES, advice, &h->region[0]))
		return cl_error(err, -ENOSPC, "the model has no room for so much memory");
	return 0;
}

static int fault_verify(struct model_exec *x, const struct held *h, const struct step_fault *f,
			const struct landing *l, struct cl_error *err)
{
	uint64_t huge = 0, away = 0;

	if (l->present != h->pages)
		return cl_error(err, -EIO, "%llu of %llu pages are not in memory",
				(unsigned long long)(h->pages - l->present),
				(unsigned long long)h->pages);
	for (unsigned i = 0; i < x->m->nr_nodes; i++) {
		bool asked = false;

		for (unsigned n = 0; n < f->nodes.count; n++)
			asked |= f->nodes.node[n] == (int)i;
		huge += l->huge[i];
		if (!asked)
			away += l->base[i] + l->huge[i] * MODEL_HUGE_PAGES;
	}
	if (f->policy == POLICY_BIND && away)
		return cl_error(err, -EIO, "%llu pages lie outside the bound nodes",
				(unsigned long long)away);
	if (f->advice == (int)ADVISE_NOHUGEPAGE && huge)
		return cl_error(err, -EIO, "%llu huge pages in spite of nohugepage",
				(unsigned long long)huge);
	return 0;
}

static json_t *repeats_json(const struct model *m, const struct faults *all)
{
	json_t *sums = json_object();

	for (int i = 0; i < NR_VMSTAT; i++)
		if (all->value[i] && model_counter_printed(m, (enum vmstat_item)i))
			json_object_set_new(sums, model_counter_name((enum vmstat_item)i),
					    json_integer(all->value[i]));
	return json_pack("{s:I, s:o}", "time_ns", (json_int_t)all->time_ns, "vmstat", sums);
}

static int fault_runs(struct model_exec *x, struct held *h, const struct step_fault *f,
		      struct model_effect *e, struct faults *all, struct cl_error *err)
{
	for (;;) {
		ns_t start;
		int r = fault_map(x, h, f, err);

		if (r)
			return r;
		model_span_open(x, e);
		start = model_now(x->m);
		all->touch_ns = 0;
		r = fault_once(x, h, f, all, err);
		/* Those who write beside it may take longer. */
		e->time_ns = f->io_threads ? all->touch_ns : model_now(x->m) - start;
		model_span_close(x, e);
		if (r)
			return r;
		all->runs++;
		all->time_ns += e->time_ns;
		for (int i = 0; i < NR_VMSTAT; i++)
			all->value[i] += e->after.value[i] - e->before.value[i];
		if (e->defer_shift > all->shift)
			all->shift = e->defer_shift;
		if (f->until_defer_shift && all->shift >= (int)f->until_defer_shift)
			return 0;
		if (all->runs < f->repeat)
			continue;
		if (!f->until_defer_shift)
			return 0;
		cl_error(err, -EIO, "the deferral shift is %d after %u runs, not %u", all->shift,
			 f->repeat, f->until_defer_shift);
		return cl_error_hint(err, -EIO,
				     "raise repeat or size; compaction that succeeds starts it "
				     "again");
	}
}

static void put_measure(void *ctx, const char *name, uint64_t value)
{
	model_detail(ctx, name, value);
}

static void record_latency(json_t *record, struct fault_latency *thread, unsigned threads)
{
	for (int class = 0; class < FAULT_CLASSES; class ++) {
		struct latency_summary s;

		for (unsigned t = 0; t < threads; t++) {
			fault_latency_end(&thread[t]);
			if (t)
				latency_merge(&thread[0].class[class], &thread[t].class[class]);
		}
		latency_summarize(&thread[0].class[class], &s);
		latency_measures(fault_class_names[class], &s, put_measure, record);
	}
}

int model_fault(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err)
{
	const struct step_fault *f = &x->plan->step[i].fault;
	struct faults all = {.shift = -1};
	struct held *h = &x->held[i];
	struct mempolicy policy;
	struct landing l;
	int node = f->cpu_node, r;

	for (unsigned n = 0; n < f->nodes.count; n++) {
		r = has_node(x->m, f->nodes.node[n], err);
		if (r)
			return r;
	}
	r = model_make_tasks(x, h, f->threads + f->io_threads, 1 + f->io_threads, f->cpu_node, err);
	if (r)
		return r;
	fault_policy(f, &policy);
	for (unsigned t = 0; t < f->threads; t++)
		model_task_policy(x->m, h->task[t], &policy);
	if (f->policy == POLICY_BIND && f->nodes.count == 1)
		node = f->nodes.node[0];
	h->pages = model_amount_pages(x->m, &f->size, node);
	h->pages = (h->pages + MODEL_HUGE_PAGES - 1) / MODEL_HUGE_PAGES * MODEL_HUGE_PAGES;
	if (!h->pages)
		return cl_error(err, -EINVAL, "size comes to less than one page");
	all.latency = f->latency ? calloc(f->threads, sizeof(*all.latency)) : NULL;
	if (f->latency && !all.latency)
		return cl_error(err, -ENOMEM, "out of memory");
	r = model_io_files(x, h, f, err);
	if (!r)
		r = fault_runs(x, h, f, e, &all, err);
	if (!r && f->latency)
		record_latency(record, all.latency, f->threads);
	free(all.latency);
	if (r)
		return r;
	look(x, h, &l);
	r = fault_verify(x, h, f, &l, err);
	record_pages(x, record, &l);
	model_detail(record, "bytes", h->pages * MODEL_PAGE_BYTES);
	json_object_set_new(record, "runs", json_integer(all.runs));
	if (all.runs > 1)
		json_object_set_new(record, "all_runs", repeats_json(x->m, &all));
	return r;
}

/* ---- requests of the kernel ------------------------------------------------------------- */

int model_request(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		  struct cl_error *err)
{
	const struct step_request *s = &x->plan->step[i].request;
	struct op op = {.kind = OP_KALLOC,
			.count = s->count,
			.order = s->order,
			.gfp = GFP_KERNEL | __GFP_COMP | __GFP_NOWARN | __GFP_ZERO};
	struct held *h = &x->held[i];
	int r = model_make_tasks(x, h, 1, 1, s->cpu_node, err);

	/* A large kmalloc() counts as unreclaimable slab. */
	if (!r && model_pool(x->m, REGION_SLAB, s->count, &h->region[0]))
		r = cl_error(err, -EOPNOTSUPP, "the model has no room for so many requests");
	if (r)
		return r;
	op.region = h->region[0];
	model_span_open(x, e);
	r = model_act(x, h, 0, &op, err);
	model_span_close(x, e);
	e->time_ns = op.end - op.start;
	model_detail(record, "bytes", op.done * MODEL_PAGE_BYTES << s->order);
	model_detail(record, "requests", s->count);
	model_detail(record, "failed", op.failed);
	return r;
}

/* ---- release -------------------------------------------------------------------------- */

int model_release(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		  struct cl_error *err)
{
	unsigned of = x->plan->step[i].release.of;
	struct held *h = &x->held[of];
	uint64_t pages = 0;
	int r = model_still_held(x, of, err);

	if (r)
		return r;
	model_span_open(x, e);
	if (h->below.v)
		model_munmap(x->m, h->below);
	for (unsigned k = 0; k < h->regions; k++) {
		pages += owner_region(x->m, h->region[k])->nr_pages;
		model_munmap(x->m, h->region[k]);
	}
	e->time_ns = pages * x->m->cost.ns[COST_UNMAP_PAGE];
	model_span_close(x, e);
	for (unsigned t = 0; t < h->threads; t++)
		model_task_exit(x->m, h->task[t]);
	model_held_free(h);
	model_detail(record, "bytes", pages * MODEL_PAGE_BYTES);
	return 0;
}
