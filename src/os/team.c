/* SPDX-License-Identifier: MIT */
#include "os/team.h"
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "os/worker.h"

/* Small, so that a stack is never a huge page of its own where THP is always on. */
#define STACK_BYTES (512 << 10)

struct member {
	struct team *team;
	pthread_t thread;
	unsigned index;
	int status;
	uint64_t start_ns, end_ns;
};

struct team {
	unsigned threads;
	bool run, cancelled;
	struct team_place place;
	int (*work)(void *arg, unsigned thread);
	void *arg;
	pthread_barrier_t placed, go, done, leave;
	struct member member[];
};

/*
 * Each thread keeps to one CPU, in turn. A thread that is moved meanwhile goes on with the other
 * CPU's lists of free pages, and what it gets is a matter of the scheduler's. A CPU that is denied
 * leaves it all of them.
 */
static int member_cpu(const cpu_set_t *cpus, unsigned index)
{
	unsigned turn = index % (unsigned)CPU_COUNT(cpus);
	cpu_set_t one;

	CPU_ZERO(&one);
	for (unsigned cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, cpus) && !turn--)
			CPU_SET(cpu, &one);
	return sched_setaffinity(0, sizeof(one), &one) < 0 &&
			       sched_setaffinity(0, sizeof(*cpus), cpus) < 0
		       ? -errno
		       : 0;
}

static int member_place(const struct team_place *p, unsigned index)
{
	int r = p->cpus ? member_cpu(p->cpus, index) : 0;

	return r ? r : numa_policy(p->mode, p->nodes);
}

static void *member_main(void *arg)
{
	struct member *m = arg;
	struct team *t = m->team;

	m->status = member_place(&t->place, m->index);
	pthread_barrier_wait(&t->placed);
	pthread_barrier_wait(&t->go);
	if (!t->cancelled) {
		m->start_ns = now_ns();
		m->status = t->work(t->arg, m->index);
		m->end_ns = now_ns();
	}
	pthread_barrier_wait(&t->done);
	/* A thread that ends takes memory, which is not to be counted. */
	pthread_barrier_wait(&t->leave);
	return NULL;
}

static int members_create(struct team *t)
{
	pthread_attr_t attr;
	unsigned made = 0;
	int r;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_BYTES);
	for (; made < t->threads; made++) {
		struct member *m = &t->member[made];

		m->team = t;
		m->index = made;
		r = -pthread_create(&m->thread, &attr, member_main, m);
		if (r)
			break;
	}
	pthread_attr_destroy(&attr);
	/* Threads that wait for ones that were never made end with the process. */
	return made == t->threads ? 0 : r;
}

int team_start(unsigned threads, const struct team_place *place,
	       int (*work)(void *arg, unsigned thread), void *arg, struct team **out,
	       struct cl_error *err)
{
	struct team *t = calloc(1, sizeof(*t) + threads * sizeof(t->member[0]));
	int r;

	*out = NULL;
	if (!t)
		return cl_error(err, -ENOMEM, "out of memory");
	t->threads = threads;
	t->place = *place;
	t->work = work;
	t->arg = arg;
	pthread_barrier_init(&t->placed, NULL, threads + 1);
	pthread_barrier_init(&t->go, NULL, threads + 1);
	pthread_barrier_init(&t->done, NULL, threads + 1);
	pthread_barrier_init(&t->leave, NULL, threads + 1);
	r = members_create(t);
	if (r)
		return cl_error(err, r, "cannot start %u threads: %s", threads, strerror(-r));
	pthread_barrier_wait(&t->placed);
	for (unsigned i = 0; i < threads && !r; i++)
		r = t->member[i].status;
	if (r) {
		team_drop(t);
		return cl_error(err, r, "cannot place the threads on their CPUs and nodes: %s",
				strerror(-r));
	}
	*out = t;
	return 0;
}

int team_run(struct team *t, uint64_t *time_ns)
{
	uint64_t start = UINT64_MAX, end = 0;
	int r = 0;

	pthread_barrier_wait(&t->go);
	pthread_barrier_wait(&t->done);
	t->run = true;
	for (unsigned i = 0; i < t->threads; i++) {
		const struct member *m = &t->member[i];

		start = m->start_ns < start ? m->start_ns : start;
		end = m->end_ns > end ? m->end_ns : end;
		if (!r)
			r = m->status;
	}
	*time_ns = end - start;
	return r;
}

void team_drop(struct team *t)
{
	if (!t)
		return;
	if (!t->run) {
		t->cancelled = true;
		pthread_barrier_wait(&t->go);
		pthread_barrier_wait(&t->done);
	}
	pthread_barrier_wait(&t->leave);
	for (unsigned i = 0; i < t->threads; i++)
		pthread_join(t->member[i].thread, NULL);
	pthread_barrier_destroy(&t->placed);
	pthread_barrier_destroy(&t->go);
	pthread_barrier_destroy(&t->done);
	pthread_barrier_destroy(&t->leave);
	free(t);
}
