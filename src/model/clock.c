/* SPDX-License-Identifier: MIT */
/*
 * clock.c - actors, simulated time, scheduling points; see clock.h.
 */
#include "model/clock.h"

#include <errno.h>

#include "model/arena.h"
#include "model/filemap.h"
#include "model/kcompactd.h"
#include "model/pcp.h"
#include "model/reclaim.h"
#include "model/task.h"
#include "model/thp.h"

#define SECOND_NS     1000000000ull
#define TICK_NS       4000000ull /* of a timer of 250 Hz */
#define BASE_SLICE_NS 700000ull
#define NOT_IN_HEAP   UINT32_MAX

int clock_init(struct model *m)
{
	struct clock *c = &m->clock;
	/* kswapd and kcompactd of every node, khugepaged, the flusher and the tick; then the tasks.
	 */
	uint32_t max = 2 * MAX_NODES + 3 + m->config.max_tasks + 1;

	c->actor = arena_reserve(m->arena, max * sizeof(*c->actor));
	c->heap = arena_reserve(m->arena, max * sizeof(*c->heap));
	if (!c->actor || !c->heap)
		return -ENOMEM;
	c->daemon_next = NS_NEVER;
	if (m->config.daemons)
		clock_wake_at(m, clock_actor_new(m, ACTOR_TICK, 0), SECOND_NS);
	return 0;
}

actor_id clock_actor_new(struct model *m, enum actor_kind kind, uint16_t index)
{
	struct clock *c = &m->clock;
	actor_id id = {(uint16_t)c->nr_actors};

	c->actor[c->nr_actors++] = (struct actor){
		.kind = kind,
		.index = index,
		.time = NS_NEVER,
		.heap_index = NOT_IN_HEAP,
	};
	if (kind != ACTOR_TASK) {
		must(c->nr_daemons == id.v); /* daemons first: clock_point() walks them alone */
		c->nr_daemons++;
	}
	return id;
}

/* ---- the heap ----------------------------------------------------------------------------- */

static inline bool clock_before(const struct clock *c, uint16_t a, uint16_t b)
{
	ns_t ta = c->actor[a].time, tb = c->actor[b].time;

	return ta < tb || (ta == tb && a < b);
}

static inline void heap_place(struct clock *c, uint32_t at, uint16_t id)
{
	c->heap[at] = id;
	c->actor[id].heap_index = at;
}

static void heap_up(struct clock *c, uint32_t at)
{
	uint16_t id = c->heap[at];

	while (at > 0 && clock_before(c, id, c->heap[(at - 1) / 2])) {
		heap_place(c, at, c->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_place(c, at, id);
}

static void heap_down(struct clock *c, uint32_t at)
{
	uint16_t id = c->heap[at];

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child >= c->heap_nr)
			break;
		if (child + 1 < c->heap_nr && clock_before(c, c->heap[child + 1], c->heap[child]))
			child++;
		if (!clock_before(c, c->heap[child], id))
			break;
		heap_place(c, at, c->heap[child]);
		at = child;
	}
	heap_place(c, at, id);
}

static void heap_remove(struct clock *c, uint16_t id)
{
	uint32_t at = c->actor[id].heap_index;
	uint16_t last = c->heap[--c->heap_nr];

	c->actor[id].heap_index = NOT_IN_HEAP;
	if (last == id)
		return;
	heap_place(c, at, last);
	heap_up(c, at);
	heap_down(c, c->actor[last].heap_index);
}

void clock_wake_at(struct model *m, actor_id id, ns_t at)
{
	struct clock *c = &m->clock;
	struct actor *a = &c->actor[id.v];

	check(id.v < c->nr_actors);
	if (at == NS_NEVER) {
		clock_sleep(m, id);
		return;
	}
	if (at >= a->time)
		return;
	a->time = at;
	if (a->heap_index == NOT_IN_HEAP)
		heap_place(c, c->heap_nr++, id.v);
	heap_up(c, a->heap_index);
	if (id.v < c->nr_daemons && at < c->daemon_next)
		c->daemon_next = at;
}

void clock_sleep(struct model *m, actor_id id)
{
	struct clock *c = &m->clock;

	if (c->actor[id.v].heap_index != NOT_IN_HEAP)
		heap_remove(c, id.v);
	c->actor[id.v].time = NS_NEVER;
}

/* ---- steps -------------------------------------------------------------------------------- */

static void clock_context(struct model *m, const struct actor *a)
{
	cpu_id cpu = {0};
	uint32_t flags = CTX_KTHREAD;

	if (a->kind == ACTOR_TASK) {
		const struct task *t = &m->task[a->index];

		m->ctx = (struct context){
			.task = {a->index},
			.cpu = t->cpu,
			.node = m->cpu[t->cpu.v].node,
			.flags = t->flags,
		};
		return;
	}
	if (a->kind == ACTOR_KSWAPD || a->kind == ACTOR_KCOMPACTD) {
		/* Daemons of a node without CPUs run on the first one. */
		if (m->node[a->index].nr_cpus)
			cpu = (cpu_id){m->node[a->index].first_cpu};
		if (a->kind == ACTOR_KSWAPD)
			flags |= CTX_MEMALLOC;
	}
	m->ctx = (struct context){.cpu = cpu, .node = m->cpu[cpu.v].node, .flags = flags};
}

static void clock_tick(struct model *m, actor_id id)
{
	pcp_tick(m);
	clock_wake_at(m, id, m->clock.now + SECOND_NS);
}

/* A daemon takes itself off the heap by running; its step function says when it runs next. */
static void clock_step_daemon(struct model *m, actor_id id)
{
	struct actor *a = &m->clock.actor[id.v];
	ns_t start = m->clock.now;

	switch (a->kind) {
	case ACTOR_KSWAPD:
		kswapd_step(m, &m->node[a->index]);
		break;
	case ACTOR_KCOMPACTD:
		kcompactd_step(m, &m->node[a->index]);
		break;
	case ACTOR_KHUGEPAGED:
		khugepaged_step(m);
		break;
	case ACTOR_FLUSHER:
		flusher_step(m);
		break;
	case ACTOR_TICK:
		clock_tick(m, id);
		break;
	case ACTOR_TASK:
	case ACTOR_NONE:
		break;
	}
	a->busy_ns += m->clock.now - start;
}

/* ---- CPUs that daemons share with tasks --------------------------------------------------- */

static bool clock_shares_cpu(const struct clock *c, const struct actor *a)
{
	return (a->kind == ACTOR_KSWAPD || a->kind == ACTOR_KCOMPACTD) &&
	       c->crowded >> a->index & 1;
}

/* Mirrors EEVDF's base slice: longer on more CPUs, up to eight. */
static ns_t clock_slice_ns(const struct model *m)
{
	ns_t factor = 1;

	for (unsigned cpus = m->nr_cpus; cpus > 1 && factor < 4; cpus /= 2)
		factor++;
	return BASE_SLICE_NS * factor;
}

/* The first tick that finds a slice used up ends it. */
static void clock_slice_begin(struct model *m, const struct actor *a)
{
	struct clock *c = &m->clock;

	c->slice_start = c->now;
	c->slice_end = NS_NEVER;
	if (clock_shares_cpu(c, a))
		c->slice_end = ((c->now + clock_slice_ns(m)) / TICK_NS + 1) * TICK_NS;
}

/*
 * Steps of a daemon. Where every CPU of its node is taken it gets half of one, a slice at a time.
 * Until the slice is over the task there waits: it neither sees a daemon that is awake nor takes
 * the pages that it frees out of the CPU's lists.
 */
static void clock_run_daemon(struct model *m, actor_id id)
{
	struct clock *c = &m->clock;
	struct actor *a = &c->actor[id.v];
	struct cpu *cpu = &m->cpu[m->ctx.cpu.v];
	ns_t used;

	clock_slice_begin(m, a);
	clock_step_daemon(m, id);
	if (c->slice_end == NS_NEVER)
		return;
	while (a->time == c->now && c->now < c->slice_end) {
		clock_sleep(m, id);
		clock_step_daemon(m, id);
	}
	used = c->now - c->slice_start;
	cpu->owed_ns += used;
	if (a->time == c->now) {
		clock_sleep(m, id);
		clock_wake_at(m, id, c->now + used);
	}
}

/* The running task stood still while daemons had its CPU. */
static void clock_pay(struct model *m)
{
	struct cpu *cpu = &m->cpu[m->ctx.cpu.v];

	m->clock.now += cpu->owed_ns;
	cpu->owed_ns = 0;
}

static void clock_daemon_next(struct clock *c)
{
	c->daemon_next = NS_NEVER;
	for (uint32_t i = 0; i < c->nr_daemons; i++) {
		if (c->actor[i].time < c->daemon_next)
			c->daemon_next = c->actor[i].time;
	}
}

/*
 * Atoms of a task, as long as it would be chosen again anyway: nobody else has a time before its
 * own. True: it has more to do and no time yet.
 */
static bool clock_run_task(struct model *m, struct actor *a, const struct cpu *cpu, ns_t until)
{
	struct clock *c = &m->clock;

	for (;;) {
		c->events++;
		clock_context(m, a);
		clock_pay(m);
		if (!task_step(m, (task_id){a->index}))
			return false;
		if (a->time != NS_NEVER)
			return false;
		if (cpu->nr_running > 1 || c->now > until ||
		    (c->heap_nr && c->actor[c->heap[0]].time <= c->now))
			return true;
	}
}

static void clock_step(struct model *m, actor_id id, ns_t until)
{
	struct clock *c = &m->clock;
	struct actor *a = &c->actor[id.v];

	if (a->kind == ACTOR_TASK) {
		struct cpu *cpu = &m->cpu[m->task[a->index].cpu.v];
		ns_t at = a->time > cpu->busy_until ? a->time : cpu->busy_until;

		if (at > a->time) {
			/* Queue behind the task that has this CPU. */
			clock_sleep(m, id);
			clock_wake_at(m, id, at);
			return;
		}
		clock_sleep(m, id);
		c->now = at;
		c->current = id;
		if (clock_run_task(m, a, cpu, until))
			/* One nanosecond of modesty lets tasks of one CPU take turns. */
			clock_wake_at(m, id, c->now + (cpu->nr_running > 1));
		cpu->busy_until = c->now;
		return;
	}
	c->now = a->time;
	clock_sleep(m, id);
	c->current = id;
	c->events++;
	clock_context(m, a);
	clock_run_daemon(m, id);
	clock_daemon_next(c);
}

/* The daemon whose turn it is, not later than `limit`; -1: none. */
static int clock_first_daemon(struct clock *c, ns_t limit)
{
	int best = -1;

	if (c->daemon_next > limit)
		return -1;
	for (uint32_t i = 0; i < c->nr_daemons; i++) {
		if (c->actor[i].time <= limit &&
		    (best < 0 || clock_before(c, (uint16_t)i, (uint16_t)best)))
			best = (int)i;
	}
	if (best < 0)
		clock_daemon_next(c);
	return best;
}

/* Runs one daemon's step on the running task's stack; the time at which the daemon stands then. */
static ns_t clock_nest(struct model *m, uint16_t daemon)
{
	struct clock *c = &m->clock;
	struct context ctx = m->ctx;
	struct capture *capture = m->capture;
	actor_id current = c->current;
	uint8_t depth = c->depth;
	ns_t now = c->now, reached;

	m->capture = NULL;
	c->depth++;
	clock_step(m, (actor_id){daemon}, NS_NEVER);
	reached = c->now;
	c->depth = depth;
	c->current = current;
	c->now = now;
	m->capture = capture;
	m->ctx = ctx;
	return reached;
}

static bool clock_may_nest(const struct clock *c)
{
	return c->depth == 0 || c->actor[c->current.v].kind == ACTOR_TASK;
}

void clock_point(struct model *m)
{
	struct clock *c = &m->clock;
	int daemon;

	if (c->daemon_next > c->now || !clock_may_nest(c))
		return;
	while ((daemon = clock_first_daemon(c, c->now)) >= 0) {
		(void)clock_nest(m, (uint16_t)daemon);
		clock_pay(m);
	}
}

void clock_wait(struct model *m, ns_t until, bool (*done)(struct model *m, void *arg), void *arg)
{
	struct clock *c = &m->clock;
	int daemon;

	if (clock_may_nest(c)) {
		while ((daemon = clock_first_daemon(c, until)) >= 0) {
			ns_t reached = clock_nest(m, (uint16_t)daemon);

			if (done && done(m, arg)) {
				if (reached > c->now)
					c->now = reached < until ? reached : until;
				return;
			}
		}
	}
	if (until != NS_NEVER && until > c->now)
		c->now = until;
}

/* Steps in order, as long as one begins by `until` and tasks have something to do. */
static void clock_steps(struct model *m, ns_t until, bool idle)
{
	struct clock *c = &m->clock;

	while (c->heap_nr && (idle || c->nr_busy)) {
		actor_id id = {c->heap[0]};

		if (c->actor[id.v].time > until)
			break;
		clock_step(m, id, until);
		/* A daemon that ran ahead does not carry the machine's time with it. */
		if (c->actor[id.v].kind == ACTOR_TASK && c->now > c->latest)
			c->latest = c->now;
	}
}

/* What tasks do on the stack of a daemon that holds folios must let go of none of these. */
static bool clock_only_allocates(const struct model *m)
{
	for (uint32_t t = 1; t < m->nr_tasks; t++) {
		const struct op *op = m->task[t].op;

		if (op && op->kind != OP_TOUCH && op->kind != OP_POPULATE && op->kind != OP_KALLOC)
			return false;
	}
	return true;
}

void clock_preempt(struct model *m)
{
	struct clock *c = &m->clock;
	actor_id current = c->current;
	struct context ctx;
	ns_t used, until;

	if (c->depth != 1 || c->actor[current.v].kind == ACTOR_TASK || c->now < c->slice_end ||
	    !clock_only_allocates(m))
		return;
	ctx = m->ctx;
	used = c->now - c->slice_start;
	until = c->now + used;
	m->cpu[ctx.cpu.v].owed_ns += used;
	c->depth = 2;
	clock_steps(m, until, false);
	c->depth = 1;
	c->current = current;
	m->ctx = ctx;
	c->now = until;
	clock_slice_begin(m, &c->actor[current.v]);
}

void clock_run(struct model *m, ns_t until)
{
	struct clock *c = &m->clock;
	struct context ctx = m->ctx;

	must(c->depth == 0);
	if (until != NS_NEVER)
		c->cut_short = false;
	c->depth = 1;
	c->latest = c->now;
	clock_steps(m, until, until != NS_NEVER);
	c->depth = 0;
	c->now = until != NS_NEVER && until > c->latest ? until : c->latest;
	m->ctx = ctx;
}

/* ---- stalls and contention ---------------------------------------------------------------- */

void clock_memstall_enter(struct model *m)
{
	if (m->ctx.memstall++ == 0)
		m->ctx.stall_start = m->clock.now;
}

void clock_memstall_leave(struct model *m)
{
	struct clock *c = &m->clock;
	ns_t from = m->ctx.stall_start;

	check(m->ctx.memstall > 0);
	if (--m->ctx.memstall)
		return;
	/* "some" is the union of all stalls. They come nearly in order, so a high-water mark does.
	 */
	if (from < c->psi_until)
		from = c->psi_until;
	if (c->now <= from)
		return;
	c->psi_some_ns += c->now - from;
	if (c->nr_busy == 1 && m->ctx.task.v != 0)
		c->psi_full_ns += c->now - from;
	c->psi_until = c->now;
}

void clock_set_contention(struct model *m)
{
	m->clock.crowded = 0;
	for (unsigned n = 0; n < m->nr_nodes; n++) {
		const struct node *node = &m->node[n];
		unsigned busy = 0;

		for (unsigned i = 0; i < node->nr_cpus; i++)
			busy += m->cpu[node->first_cpu + i].nr_running > 0;
		if (node->nr_cpus && busy == node->nr_cpus)
			m->clock.crowded |= 1u << n;
	}
}

bool clock_is_valid(const struct model *m)
{
	const struct clock *c = &m->clock;
	uint32_t timed = 0, busy = 0;

	for (uint32_t i = 0; i < c->nr_actors; i++) {
		const struct actor *a = &c->actor[i];

		if ((a->time == NS_NEVER) != (a->heap_index == NOT_IN_HEAP))
			return false;
		if (a->time == NS_NEVER)
			continue;
		timed++;
		if (a->heap_index >= c->heap_nr || c->heap[a->heap_index] != i)
			return false;
		if (a->heap_index && clock_before(c, (uint16_t)i, c->heap[(a->heap_index - 1) / 2]))
			return false;
		if (i < c->nr_daemons && a->time < c->daemon_next)
			return false;
	}
	for (uint32_t t = 0; t < m->nr_tasks; t++)
		busy += m->task[t].op != NULL;
	return timed == c->heap_nr && busy == c->nr_busy;
}
