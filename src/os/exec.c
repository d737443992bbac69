/* SPDX-License-Identifier: MIT */
/* A run: settings, steps in order, everything put back. */
#include "os/kernel_policy.h"
#include "os/exec.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "os/evidence.h"
#include "os/guard.h"
#include "os/settings.h"
#include "os/snapshot_step.h"
#include "util/util.h"

/* How often to look at the guard and at the trace while an operation runs. */
#define GUARD_PERIOD_MS 20
#define WAIT_PERIOD_MS  100
#define TRACE_PERIOD_NS 250000000ull

void exec_note(struct exec *x, const char *text)
{
	size_t i;
	json_t *note;

	json_array_foreach(x->notes, i, note)
		if (!strcmp(json_string_value(note), text))
			return;
	json_array_append_new(x->notes, json_string(text));
}

/* ---- waiting ---------------------------------------------------------------------------- */

/* Worker `i` is gone while step `now` runs: was it the OOM killer? */
static int worker_died(struct exec *x, unsigned i, unsigned now, struct cl_error *err)
{
	struct worker *w = x->worker[i];
	uint64_t held = worker_held(w);
	int status = worker_wait(w);
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	char size[32], whose[128] = "the worker";

	if (i != now)
		snprintf(whose, sizeof(whose), "the worker of step %.100s", x->plan->step[i].name);
	size_print(held >> 20 << 20, size, sizeof(size));
	if (killed && measure_oom_kills() > x->oom_kills) {
		cl_error(err, -ENOMEM, "the kernel's OOM killer ended %s that held %s", whose,
			 size);
		return cl_error_hint(err, -ENOMEM,
				     "leave more free: a fill that is bound to a node must leave "
				     "about 110M of it, and more on a large node");
	}
	if (WIFSIGNALED(status))
		return cl_error(err, -ECHILD, "%s, which held %s, died: %s", whose, size,
				strsignal(WTERMSIG(status)));
	return cl_error(err, -ECHILD, "%s ended by itself", whose);
}

/* The descriptors to watch: every worker, since any may die. */
static unsigned watch_list(struct exec *x, const struct worker *w, struct pollfd *p, unsigned *step)
{
	unsigned n = 0;

	for (unsigned i = 0; i < x->plan->steps; i++) {
		if (!x->worker[i])
			continue;
		step[n] = i;
		p[n].fd = x->worker[i]->fd;
		p[n++].events = x->worker[i] == w ? POLLIN : 0;
	}
	return n;
}

static int look_around(struct exec *x, bool filling, struct cl_error *err)
{
	uint64_t now = now_ns();

	if (x->run->stopped && x->run->stopped(x->run->arg))
		return cl_error(err, -EINTR, "stopped");
	if (x->trace && now - x->drained_ns > TRACE_PERIOD_NS) {
		trace_drain(x->trace);
		x->drained_ns = now;
	}
	return x->run->guard ? guard_check(filling, err) : 0;
}

int exec_wait(struct exec *x, struct worker *w, uint64_t timeout_ns, bool filling,
	      struct worker_reply *reply, struct cl_error *err)
{
	struct pollfd *p = calloc(x->plan->steps + 1, sizeof(*p));
	unsigned *step = calloc(x->plan->steps + 1, sizeof(*step));
	uint64_t end = now_ns() + timeout_ns;
	bool answered = false, over;
	int r = p && step ? 0 : cl_error(err, -ENOMEM, "out of memory");

	while (!r && !answered) {
		int period = x->run->guard && filling ? GUARD_PERIOD_MS : WAIT_PERIOD_MS;
		unsigned n = watch_list(x, w, p, step);
		uint64_t now = now_ns(), left = end > now ? end - now : 0;

		over = !w && !left;
		if (!w && left / 1000000 < (uint64_t)period)
			period = (int)((left + 999999) / 1000000);
		if (poll(p, n, period) < 0 && errno != EINTR)
			r = cl_error(err, -errno, "cannot wait: %s", strerror(errno));
		for (unsigned i = 0; i < n && !r; i++) {
			if (!p[i].revents)
				continue;
			if (x->worker[step[i]] == w && worker_receive(w, reply) == 0)
				answered = true;
			else
				r = worker_died(x, step[i], x->now, err);
		}
		if (!r && !answered)
			r = look_around(x, filling, err);
		if (over)
			break;
	}
	free(p);
	free(step);
	return r;
}

/* ---- counters around an operation ------------------------------------------------------ */

#define STACK_USED (16u << 10)

/* Write to the pages of the stack that calls from here on use. */
static __attribute__((noinline)) void own_stack(void)
{
	volatile char below[STACK_USED];

	for (size_t i = 0; i < sizeof(below); i += PAGE_BYTES)
		below[i] = 0;
}

/*
 * What the runner does between the two readings is done once before the first, so that the pages it
 * writes to are there, and are its own again after a worker was forked. Otherwise the step would be
 * charged with their faults.
 */
static int rehearse(struct exec *x, struct span *s, struct cl_error *err)
{
	int r = measure_room(&s->before, err);

	if (!r)
		r = measure_room(&s->after, err);
	own_stack();
	if (x->trace)
		trace_start(x->trace);
	x->drained_ns = now_ns();
	if (!r)
		r = measure_read(&x->meter, &s->after, err);
	if (!r)
		r = measure_read(&x->meter, &s->before, err);
	return r ? r : exec_wait(x, NULL, 0, false, NULL, err);
}

int span_open(struct exec *x, struct span *s, struct cl_error *err)
{
	int r;

	memset(s, 0, sizeof(*s));
	r = rehearse(x, s, err);
	if (!r)
		r = snapshot_before(x, x->now, err);
	/* The snapshot may have taken seconds, in which kcompactd went on. */
	if (!r && x->trace)
		trace_start(x->trace);
	return r ? r : measure_read(&x->meter, &s->before, err);
}

int span_close(struct exec *x, struct span *s, struct cl_error *err)
{
	int r = measure_read(&x->meter, &s->after, err);

	s->traced = x->trace ? trace_end(x->trace, &s->trace) : -ENODATA;
	if (!r)
		r = measure_parse(&s->before, err);
	return r ? r : measure_parse(&s->after, err);
}

void span_free(struct span *s)
{
	measure_free(&s->before);
	measure_free(&s->after);
}

/* ---- the run ------------------------------------------------------------------------------ */

/*
 * A killed worker's rings are taken down by a kernel thread some time later, and its memory is
 * not free before.
 */
static void wait_for_pins(const struct exec *x)
{
	for (int i = 0; i < 100 && measure_pins() > x->pins; i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		nanosleep(&pause, NULL);
	}
}

/*
 * End the workers, then let the watchdog put back what was changed. A machine that is not as
 * it was is an error of the run, however well the run went.
 */
static int clean_up(struct exec *x, int r, struct cl_error *err)
{
	struct cl_error late;
	int back = 0;

	for (unsigned i = 0; i < x->plan->steps; i++)
		worker_stop(x->worker[i]);
	free(x->worker);
	span_free(&x->during.span);
	wait_for_pins(x);
	trace_close(x->trace);
	if (x->dog)
		back = watchdog_finish(x->dog, x->restored, &late);
	if (back && !r && err)
		*err = late;
	else if (back && err && strlen(err->hint) + strlen(late.what) + 8 < sizeof(err->hint))
		snprintf(err->hint + strlen(err->hint), sizeof(err->hint) - strlen(err->hint),
			 "%s%s", *err->hint ? "; also: " : "", late.what);
	return r ? r : back;
}

static int run_all(struct exec *x, int trace_fd, struct cl_error *err)
{
	const struct plan *p = x->plan;
	char why[256];
	int r = watchdog_start(trace_fd, &x->dog, err);

	if (r)
		return r;
	if (trace_open(trace_fd, x->dog, x->run->trace, &x->trace, why, sizeof(why))) {
		if (x->run->trace)
			return cl_error(err, -EOPNOTSUPP, "%s", why);
		exec_note(x, why);
	}
	r = snapshot_prepare(x, err);
	/* First of the settings: a policy may come with defaults that they are laid over. */
	if (!r)
		r = kernel_policy_apply(x->dog, p->policy, err);
	if (!r)
		r = settings_apply(x->dog, &p->machine.settings, p->file, NULL, err);
	for (unsigned i = 0; i < p->steps && !r; i++) {
		if (x->run->step)
			x->run->step(x->run->arg, p->step[i].name);
		r = step_run(x, i, err);
	}
	return r;
}

int os_run(const struct os_run *run, json_t **record, struct cl_error *err)
{
	struct exec x = {.run = run, .plan = run->plan};
	uint64_t start = now_ns();
	json_t *evidence = NULL;
	char *policy = NULL;
	int trace_fd, r;

	*record = NULL;
	x.pins = measure_pins();
	r = meter_open(&x.meter, err);
	x.worker = calloc(run->plan->steps + 1, sizeof(struct worker *));
	x.steps = json_array();
	x.notes = json_array();
	x.restored = json_object();
	trace_fd = trace_root();
	if (!r && !x.worker)
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r)
		r = run_all(&x, trace_fd, err);
	if (!r) {
		evidence = evidence_machine();
		policy = kernel_policy_read();
	}
	r = x.worker ? clean_up(&x, r, err) : r;
	meter_close(&x.meter);
	if (trace_fd >= 0)
		close(trace_fd);
	if (!r) {
		*record = json_pack("{s:o, s:s, s:I, s:b, s:n, s:o, s:O, s:O, s:O}", "kernel",
				    evidence_kernel(), "policy", policy ? policy : "", "wall_ns",
				    (json_int_t)(now_ns() - start), "simulated", 0, "state_hash",
				    "evidence", evidence, "settings_restored", x.restored, "notes",
				    x.notes, "steps", x.steps);
		if (!*record)
			r = cl_error(err, -ENOMEM, "out of memory");
		else
			r = snapshot_hand_over(&x, *record, err);
		if (r) {
			json_decref(*record);
			*record = NULL;
		}
	}
	free(policy);
	snapshot_forget(&x);
	json_decref(x.steps);
	json_decref(x.notes);
	json_decref(x.restored);
	return r;
}
