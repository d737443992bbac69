/* SPDX-License-Identifier: MIT */
/*
 * clock.h - simulated time: who runs when, what it costs, who waits. The model of interleaving is
 * described at struct clock in types.h.
 */
#ifndef COMPACTLAB_MODEL_CLOCK_H
#define COMPACTLAB_MODEL_CLOCK_H

#include "model/types.h"

int clock_init(struct model *m) MUST_USE;
/* Set-up: a new actor, asleep. */
actor_id clock_actor_new(struct model *m, enum actor_kind kind, uint16_t index);

/* Adds n units of work to the running actor's time. Does nothing when nobody runs (set-up, tests). */
static inline void clock_charge(struct model *m, enum cost_id cost, uint64_t n)
{
	m->clock.now += (ns_t)m->cost.ns[cost] * n;
}

/* An actor runs at `at` or, if it already has an earlier time, then. NS_NEVER puts it to sleep. */
void clock_wake_at(struct model *m, actor_id id, ns_t at);
void clock_sleep(struct model *m, actor_id id);
static inline void clock_wake(struct model *m, actor_id id)
{
	clock_wake_at(m, id, m->clock.now + m->cost.ns[COST_DAEMON_WAKE]);
}

/*
 * A scheduling point inside a task's atom: daemons whose time is behind m->clock.now run until they are
 * not. A no-op inside a daemon's step. m->capture and m->ctx are put aside meanwhile.
 */
void clock_point(struct model *m);
/*
 * A scheduling point of a daemon that holds nothing but isolated base folios and free chunks: when
 * its slice is over, tasks that only allocate have the CPU for as long as it had it. A no-op for
 * tasks.
 */
void clock_preempt(struct model *m);
/* The running task waits until `until` or until done(m, arg) holds (checked after each daemon step). */
void clock_wait(struct model *m, ns_t until, bool (*done)(struct model *m, void *arg), void *arg);

/* Runs actors in order until no task has an operation (then *reached = time) or `until` is passed. */
void clock_run(struct model *m, ns_t until);

/* PSI: brackets around what /proc/pressure/memory charges; nest. */
void clock_memstall_enter(struct model *m);
void clock_memstall_leave(struct model *m);
/* Daemons of a node are dilated when its CPUs all run tasks. Called when operations start and end. */
void clock_set_contention(struct model *m);

/* Mirrors current_is_khugepaged(). */
static inline bool clock_is_khugepaged(const struct model *m)
{
	return m->clock.depth > 0 && m->clock.actor[m->clock.current.v].kind == ACTOR_KHUGEPAGED;
}

bool clock_is_valid(const struct model *m);

#endif
