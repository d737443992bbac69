/* SPDX-License-Identifier: MIT */
#include "os/during.h"
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

/* How often to look how far it is: a base page block takes about as long. */
#define PERIOD_NS 500000ull

unsigned during_unpin(const struct plan *p, unsigned fault)
{
	for (unsigned i = fault + 1; i < p->steps; i++)
		if (p->step[i].kind == STEP_UNPIN && p->step[i].unpin.during == fault)
			return i;
	return 0;
}

/* Resident memory of a process. 0 when it is gone, which others find out. */
static uint64_t resident(pid_t pid)
{
	unsigned long long pages;
	char path[64], *text;

	snprintf(path, sizeof(path), "/proc/%d/statm", (int)pid);
	if (file_read(path, &text, NULL))
		return 0;
	if (sscanf(text, "%*u %llu", &pages) != 1)
		pages = 0;
	free(text);
	return pages * PAGE_BYTES;
}

static bool has_answered(const struct worker *w)
{
	struct pollfd p = {.fd = w->fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

static int told(const struct worker_reply *reply, struct cl_error *err)
{
	if (reply->status && err)
		*err = reply->error;
	return reply->status;
}

static int too_late(struct cl_error *err)
{
	cl_error(err, -EIO, "it was over before the pins had gone");
	return cl_error_hint(err, -EIO, "raise its size, or lower 'at'");
}

/* `before`: what the filling process had at the beginning. */
static int unpin(struct exec *x, unsigned fault, unsigned unpin, uint64_t before,
		 struct cl_error *err)
{
	struct worker *w = x->worker[fault],
		      *pins = x->worker[x->plan->step[x->plan->step[unpin].unpin.of].pin.of];
	struct during *d = &x->during;
	int r;

	memset(d, 0, sizeof(*d));
	d->span.traced = -ENODATA; /* the trace is the fault step's */
	r = measure_room(&d->span.before, err);
	if (!r)
		r = measure_room(&d->span.after, err);
	if (!r)
		r = measure_read(&x->meter, &d->span.before, err);
	if (r)
		return r;
	worker_send(pins, WORKER_ACT, unpin);
	r = exec_wait(x, pins, 0, false, &d->reply, err);
	if (!r)
		r = told(&d->reply, err);
	if (r)
		return r;
	d->at_bytes = resident(w->pid) - before;
	atomic_store(&w->shared->mark, d->at_bytes);
	r = measure_read(&x->meter, &d->span.after, err);
	if (!r)
		r = measure_parse(&d->span.before, err);
	return r ? r : measure_parse(&d->span.after, err);
}

int during_act(struct exec *x, unsigned fault, uint64_t bytes, struct worker_reply *reply,
	       struct cl_error *err)
{
	unsigned step = during_unpin(x->plan, fault);
	struct worker *w = x->worker[fault];
	uint64_t before = resident(w->pid);
	uint64_t want = before + bytes / 1000000 * x->plan->step[step].unpin.at_ppm;
	int r = 0;

	worker_send(w, WORKER_ACT, fault);
	while (!r && !has_answered(w) && resident(w->pid) < want)
		r = exec_wait(x, NULL, PERIOD_NS, false, NULL, err);
	if (!r && has_answered(w))
		r = too_late(err);
	if (!r)
		r = unpin(x, fault, step, before, err);
	if (!r && has_answered(w))
		r = too_late(err);
	if (r)
		return r;
	r = exec_wait(x, w, 0, false, reply, err);
	return r ? r : told(reply, err);
}
