/* SPDX-License-Identifier: MIT */
#include "backend/pool.h"
#include "backend/snapshots.h"
#include "config.h"
#include "util/util.h"
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TICK_NS 250000000

/* What a worker tells the caller's thread. */
struct event {
	struct event *next;
	const char *variant;
	char step[128]; /* "" between steps */
};

struct pool {
	struct layout *layout;
	pthread_mutex_t lock; /* of all below; jobs belong to their worker until done */
	pthread_cond_t wake;
	unsigned next, working, done;
	bool failed; /* some job did */
	bool ended;  /* no further job is to start */
	struct event *first, **last;
	atomic_bool stop;
};

/* What `arg` of a backend's callbacks is. */
struct worker_job {
	struct pool *pool;
	struct job *job;
};

/* --- workers --- */

/* Called with the lock held. Without memory an event is lost, which only costs a message. */
static void post(struct pool *p, const struct job *j, const char *step)
{
	struct event *e = calloc(1, sizeof(*e));

	if (e) {
		e->variant = j->variant;
		snprintf(e->step, sizeof(e->step), "%s", step);
		*p->last = e;
		p->last = &e->next;
	}
	pthread_cond_signal(&p->wake);
}

static void on_step(void *arg, const char *step)
{
	struct worker_job *w = arg;

	pthread_mutex_lock(&w->pool->lock);
	post(w->pool, w->job, step);
	pthread_mutex_unlock(&w->pool->lock);
}

static bool on_stopped(void *arg)
{
	struct worker_job *w = arg;

	return atomic_load(&w->pool->stop);
}

/*
 * One run that fails does not take the others' results away. But wrong input and what is
 * not available here would be the same for them, and after a stop nobody wants them.
 */
static bool ends_all(int result)
{
	return result == -EINTR || result == -EINVAL || result == -EOPNOTSUPP;
}

static void run_job(struct pool *p, struct job *j)
{
	struct worker_job w = {p, j};
	struct backend_run run = layout_run(p->layout, j);

	run.step = on_step;
	run.stopped = on_stopped;
	run.arg = &w;
	j->result = p->layout->backend->run(&run, &j->record, &j->err);
	if (!j->result)
		j->result = pool_stamp(p->layout, j, &j->record, &j->err);
	if (!j->result)
		j->result = snapshots_keep(j->plan, p->layout->options->snapshots, j->record,
					   &j->err);
	if (j->result) {
		json_decref(j->record);
		j->record = NULL;
	}
}

static void *work(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (p->next < p->layout->jobs && !p->ended && !atomic_load(&p->stop)) {
		struct job *j = &p->layout->job[p->next++];

		post(p, j, "");
		pthread_mutex_unlock(&p->lock);
		run_job(p, j);
		pthread_mutex_lock(&p->lock);
		j->done = true;
		p->done++;
		p->failed |= j->result != 0;
		p->ended |= ends_all(j->result);
		post(p, j, "");
	}
	p->working--;
	pthread_cond_signal(&p->wake);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* --- the record --- */

/*
 * The policy is what ran, not what was asked for: a kernel that does not name one is
 * mainline.
 */
static int stamp_policy(const struct job *j, json_t *record, struct cl_error *err)
{
	const char *ran = json_string_value(json_object_get(record, "policy"));

	if (!ran)
		ran = "mainline";
	if (strcmp(ran, j->plan->policy) != 0)
		return cl_error(err, -EIO,
				"the variant asks for policy %s, but the kernel that ran has %s",
				j->plan->policy, ran);
	return json_object_set_new(record, "policy", json_string(ran)) ? -ENOMEM : 0;
}

/* What huge_remote is counted against; the plan knows it, so that no backend need say it. */
static int stamp_cpu_nodes(const struct plan *plan, json_t *record)
{
	for (unsigned i = 0; i < plan->steps; i++) {
		const struct step *s = &plan->step[i];
		json_t *step = (json_t *)record_step(record, s->name, strlen(s->name)), *detail;

		if (!step || s->kind != STEP_FAULT || s->fault.cpu_node < 0)
			continue;
		detail = json_object_get(step, "detail");
		if (!detail) {
			detail = json_object();
			if (json_object_set_new(step, "detail", detail))
				return -ENOMEM;
		}
		if (json_object_set_new(detail, "cpu_node", json_integer(s->fault.cpu_node)))
			return -ENOMEM;
	}
	return 0;
}

int pool_stamp(const struct layout *l, const struct job *j, json_t **record, struct cl_error *err)
{
	json_t *whole = json_pack("{s:i, s:s, s:s, s:s, s:n, s:s, s:s, s:I, s:i, s:s}", "schema",
				  RECORD_SCHEMA, "scenario", j->plan->scenario, "scenario_sha256",
				  j->plan->sha256, "backend", l->backend->name, "kernel", "variant",
				  j->variant, "policy", "", "seed", (json_int_t)j->plan->seed,
				  "repeat", (int)j->plan->repeat, "version", CL_VERSION);
	const char *key;
	json_t *value;
	int r = stamp_policy(j, *record, err);

	if (r && r != -ENOMEM) {
		json_decref(whole);
		return r;
	}
	if (!r)
		r = stamp_cpu_nodes(j->plan, *record);
	json_object_foreach(*record, key, value) {
		if (json_object_set(whole, key, value))
			r = -ENOMEM;
	}
	if (!whole || r) {
		json_decref(whole);
		return cl_error(err, -ENOMEM, "no memory for the record");
	}
	json_decref(*record);
	*record = whole;
	return 0;
}

/* --- the caller's thread --- */

struct caller {
	struct pool *pool;
	struct event shown;
	unsigned handed;    /* jobs that were looked at, in plan order */
	unsigned completed; /* of these, with a record */
	int result;         /* of options->record */
};

static void show(struct caller *c, unsigned done)
{
	const struct cl_run_options *o = c->pool->layout->options;
	struct cl_progress progress = {
		.variant = c->shown.variant,
		.step = *c->shown.step ? c->shown.step : NULL,
		.done = done,
		.total = c->pool->layout->jobs,
	};

	if (o->progress && c->shown.variant)
		o->progress(o->arg, &progress);
}

static void hand_record(struct caller *c, const struct job *j)
{
	const struct cl_run_options *o = c->pool->layout->options;
	char *line;

	if (j->record)
		c->completed++;
	if (!o->record || !j->record || c->result)
		return;
	line = json_dumps(j->record, JSON_COMPACT);
	c->result = line ? o->record(o->arg, line) : -ENOMEM;
	if (c->result > 0)
		c->result = 0;
	free(line);
}

/* What happened since the last time; called without the lock. */
static void catch_up(struct caller *c, struct event *events, unsigned done)
{
	struct pool *p = c->pool;
	const struct cl_run_options *o = p->layout->options;
	bool any = false;

	while (events) {
		struct event *e = events;

		c->shown = *e;
		events = e->next;
		free(e);
		show(c, done);
		any = true;
	}
	if (!any)
		show(c, done);
	for (;; c->handed++) {
		bool ready;

		pthread_mutex_lock(&p->lock);
		ready = c->handed < p->layout->jobs && p->layout->job[c->handed].done;
		pthread_mutex_unlock(&p->lock);
		if (!ready)
			break;
		hand_record(c, &p->layout->job[c->handed]);
	}
	if (c->result || (o->stopped && o->stopped(o->arg)))
		atomic_store(&p->stop, true);
}

static void wait_tick(struct pool *p)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	t.tv_nsec += TICK_NS;
	if (t.tv_nsec >= 1000000000) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	pthread_cond_timedwait(&p->wake, &p->lock, &t);
}

/* Until all workers have ended. */
static void attend(struct caller *c)
{
	struct pool *p = c->pool;
	bool working = true;

	while (working) {
		struct event *events;
		unsigned done;

		pthread_mutex_lock(&p->lock);
		if (p->working && !p->first)
			wait_tick(p);
		events = p->first;
		p->first = NULL;
		p->last = &p->first;
		done = p->done;
		working = p->working > 0;
		pthread_mutex_unlock(&p->lock);
		catch_up(c, events, done);
	}
	/* After an end before the last job: what completed behind the gap. */
	for (unsigned i = c->handed; i < p->layout->jobs; i++)
		hand_record(c, &p->layout->job[i]);
}

/* "variant a, kernel k, repeat 2: what went wrong; 1 more run failed" */
static int job_error(const struct layout *l, const struct job *j, struct cl_error *err)
{
	char *name = layout_job_name(l, j), others[64] = "";
	unsigned more = 0;

	for (const struct job *o = j + 1; o < l->job + l->jobs; o++)
		more += o->done && o->result;
	if (more)
		snprintf(others, sizeof(others), "; %u more run%s failed", more,
			 more == 1 ? "" : "s");
	cl_error_at(err, j->result, j->err.file, j->err.line, "%s: %.800s%s",
		    name ? name : j->variant, j->err.what, others);
	free(name);
	return *j->err.hint ? cl_error_hint(err, j->result, "%s", j->err.hint) : j->result;
}

static int outcome(const struct caller *c, struct cl_error *err)
{
	const struct pool *p = c->pool;
	const struct layout *l = p->layout;

	if (c->result)
		return cl_error(err, c->result, "the record could not be kept: %s",
				strerror(-c->result));
	if (atomic_load(&p->stop) && (p->failed || p->done < l->jobs))
		return cl_error(err, -EINTR, "stopped after %u of %u runs", c->completed, l->jobs);
	for (unsigned i = 0; i < l->jobs; i++)
		if (l->job[i].done && l->job[i].result)
			return job_error(l, &l->job[i], err);
	return 0;
}

static unsigned workers_wanted(const struct layout *l)
{
	struct backend_run run = layout_run(l, &l->job[0]);
	unsigned fit = l->backend->jobs ? l->backend->jobs(&run) : 1, wanted = fit;

	if (fit > 1 && l->options->jobs)
		wanted = l->options->jobs;
	if (wanted > l->jobs)
		wanted = l->jobs;
	return wanted ? wanted : 1;
}

static void pool_init(struct pool *p, struct layout *l)
{
	pthread_condattr_t attributes;

	memset(p, 0, sizeof(*p));
	p->layout = l;
	p->last = &p->first;
	pthread_mutex_init(&p->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&p->wake, &attributes);
	pthread_condattr_destroy(&attributes);
}

int pool_run(struct layout *l, struct cl_error *err)
{
	unsigned wanted = workers_wanted(l), started = 0;
	pthread_t *thread = calloc(wanted, sizeof(*thread));
	struct pool p;
	struct caller c = {.pool = &p};
	int r = 0;

	if (!thread)
		return cl_error(err, -ENOMEM, "no memory to run in parallel");
	pool_init(&p, l);
	pthread_mutex_lock(&p.lock);
	while (started < wanted && !r) {
		r = pthread_create(&thread[started], NULL, work, &p);
		if (!r)
			started++;
	}
	p.working = started;
	pthread_mutex_unlock(&p.lock);
	if (started)
		attend(&c);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	r = started ? outcome(&c, err)
		    : cl_error(err, -r, "cannot start a thread: %s", strerror(r));
	pthread_mutex_destroy(&p.lock);
	pthread_cond_destroy(&p.wake);
	free(thread);
	return r;
}
