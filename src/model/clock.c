/* SPDX-License-Identifier: MIT */
/*
 * clock.c - actors, simulated time, scheduling points; see clock.h.
 */
#include "model/clock.h"

int clock_init(struct model *m)
{
	NOT_YET(m);
}

actor_id clock_actor_new(struct model *m, enum actor_kind kind, uint16_t index)
{
	NOT_YET(m, kind, index);
}

void clock_wake_at(struct model *m, actor_id id, ns_t at)
{
	NOT_YET(m, id, at);
}

void clock_sleep(struct model *m, actor_id id)
{
	NOT_YET(m, id);
}

void clock_point(struct model *m)
{
	NOT_YET(m);
}

void clock_wait(struct model *m, ns_t until, bool (*done)(struct model *m, void *arg), void *arg)
{
	NOT_YET(m, until, done, arg);
}

void clock_run(struct model *m, ns_t until)
{
	NOT_YET(m, until);
}

void clock_memstall_enter(struct model *m)
{
	NOT_YET(m);
}

void clock_memstall_leave(struct model *m)
{
	NOT_YET(m);
}

void clock_set_contention(struct model *m)
{
	NOT_YET(m);
}

bool clock_is_valid(const struct model *m)
{
	NOT_YET(m);
}
