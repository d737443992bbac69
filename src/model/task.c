/* SPDX-License-Identifier: MIT */
/*
 * task.c - tasks: their life, and the dispatch of operations, whose atoms are in task_memory.c and
 * task_ops.c; see task.h.
 */
#include "model/task.h"

#include <errno.h>

#include "model/arena.h"
#include "model/clock.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/task_ops.h"

int task_init(struct model *m)
{
	uint32_t max = m->config.max_tasks + 1;

	m->task = arena_reserve(m->arena, max * sizeof(*m->task));
	m->op = arena_reserve(m->arena, max * sizeof(*m->op));
	if (!m->task || !m->op)
		return -ENOMEM;
	/* Task 0 stands for the kernel: daemons, boot, and callers outside of any task. */
	m->task[0].alive = true;
	m->task[0].policy.home = NODE_NONE;
	m->nr_tasks = 1;
	return 0;
}

int task_new(struct model *m, cpu_id cpu, task_id *id)
{
	uint32_t t = 1;
	actor_id actor;

	*id = (task_id){0};
	if (cpu.v >= m->nr_cpus)
		return -EINVAL;
	while (t < m->nr_tasks && m->task[t].alive)
		t++;
	if (t > m->config.max_tasks)
		return -ENOSPC;
	if (t == m->nr_tasks) {
		actor = clock_actor_new(m, ACTOR_TASK, (uint16_t)t);
		m->nr_tasks++;
	} else {
		actor = m->task[t].actor;
	}
	m->task[t] = (struct task){
		.actor = actor,
		.cpu = cpu,
		.alive = true,
		.policy = {.home = NODE_NONE},
	};
	*id = (task_id){(uint16_t)t};
	return 0;
}

void task_exit(struct model *m, task_id id)
{
	struct task *t = &m->task[id.v];

	must(id.v && id.v < m->nr_tasks && t->alive && t->op == NULL);
	for (uint32_t i = 1; i < m->own.nr_regions; i++) {
		const struct region *r = &m->own.region[i];

		if (r->task.v == id.v && r->kind == REGION_ANON)
			task_unmap(m, (region_id){i});
	}
	t->alive = false;
}

int task_start(struct model *m, task_id id, const struct op *op)
{
	struct task *t = &m->task[id.v];
	struct op *own = &m->op[id.v];

	if (id.v == 0 || id.v >= m->nr_tasks || !t->alive)
		return -EINVAL;
	if (t->op)
		return -EBUSY;
	*own = *op;
	if (own->step == 0)
		own->step = 1;
	own->cursor = own->cursor2 = own->done = own->failed = 0;
	own->error = 0;
	own->finished = false;
	own->start = own->end = m->clock.now;
	own->longest_atom_ns = 0;
	t->op = own;
	m->clock.nr_busy++;
	m->clock.cut_short = false;
	m->cpu[t->cpu.v].nr_running++;
	clock_set_contention(m);
	clock_wake_at(m, t->actor, m->clock.now);
	return 0;
}

static void task_finish(struct model *m, struct task *t)
{
	t->op->finished = true;
	t->op->end = m->clock.now;
	t->op = NULL;
	m->clock.nr_busy--;
	m->cpu[t->cpu.v].nr_running--;
	clock_set_contention(m);
	/* A task that runs below the top runs in the middle of a daemon's run: clock_preempt(). */
	m->clock.cut_short = m->clock.nr_busy == 0 && m->clock.depth > 1;
	if (m->clock.cut_short && m->cut_short.fn)
		m->cut_short.fn(m->cut_short.ctx);
}

bool task_step(struct model *m, task_id id)
{
	static bool (*const atoms[])(struct model * m, struct op * op) = {
		[OP_TOUCH] = task_touch,
		[OP_POPULATE] = task_touch,
		[OP_RELEASE] = task_release,
		[OP_PIN] = task_pin,
		[OP_UNPIN] = task_unpin,
		[OP_MLOCK] = task_mlock,
		[OP_MUNLOCK] = task_munlock,
		[OP_WRITE] = task_write,
		[OP_READ] = task_read,
		[OP_FILES] = task_files,
		[OP_KALLOC] = task_kalloc,
		[OP_SLAB] = task_slab,
		[OP_COLLAPSE] = task_collapse,
		[OP_HUGETLB] = task_hugetlb,
		[OP_CMA_ALLOC] = task_cma_alloc,
		[OP_COMPACT] = task_compact,
		[OP_DROP_CACHES] = task_drop_caches,
		[OP_SLEEP] = task_sleep,
	};
	struct task *t = &m->task[id.v];
	struct op *op = t->op;
	ns_t start = m->clock.now;
	bool more;

	check(op != NULL);
	if (t->oom_victim && op->error == 0) {
		/* Killed while it was at something; what it holds goes with task_exit(). */
		op->error = -ENOMEM;
		more = false;
	} else {
		more = op->kind > OP_NONE && op->kind <= OP_SLEEP && atoms[op->kind](m, op);
	}
	if (m->clock.now - start > op->longest_atom_ns)
		op->longest_atom_ns = m->clock.now - start;
	if (!more)
		task_finish(m, t);
	return more;
}
