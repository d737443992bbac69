/* SPDX-License-Identifier: MIT */
/*
 * The request step: unmovable contiguous memory that the kernel allocates on behalf of a program.
 *
 * A pipe's capacity is an array in the kernel, with a slot for each page that the pipe could hold;
 * nothing else is allocated until somebody writes. So a pipe made larger is one request, whose
 * order follows from the number of slots: above two pages kmalloc() hands it to the page allocator.
 * The new array is made before the old one is freed, which is therefore made as small as it can be
 * beforehand.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/team.h"
#include "os/worker.h"

/* struct pipe_buffer on 64 bits: 1 << SLOTS_SHIFT of them are more than two pages, at most four. */
#define SLOTS_SHIFT 8
#define SLOTS_ORDER 2

struct requests {
	uint64_t count;
	int pipe[]; /* one end of each; the other is closed */
};

static int capacity(unsigned order)
{
	return (int)(PAGE_BYTES << (SLOTS_SHIFT + order - SLOTS_ORDER));
}

void requests_free(struct requests *q)
{
	for (uint64_t i = 0; q && i < q->count; i++)
		close(q->pipe[i]);
	free(q);
}

/* One after the other: who asks first decides who finds the last free chunk. */
static int request_work(void *arg, unsigned thread)
{
	struct memory *m = arg;
	const struct step_request *s = &m->plan->step[m->step].request;
	uint64_t bytes = PAGE_BYTES << s->order;

	(void)thread;
	for (uint64_t i = 0; i < m->requests->count; i++) {
		if (fcntl(m->requests->pipe[i], F_SETPIPE_SZ, capacity(s->order)) >= 0)
			atomic_fetch_add(&m->shared->held_bytes, bytes);
		else if (errno != ENOMEM)
			return -errno;
	}
	return 0;
}

static int open_pipes(struct requests *q, uint64_t count, struct cl_error *err)
{
	for (; q->count < count; q->count++) {
		int end[2], r;

		if (pipe2(end, O_CLOEXEC) < 0) {
			r = cl_error(err, -errno, "cannot make %llu pipes: %s",
				     (unsigned long long)count, strerror(errno));
			return cl_error_hint(err, r, "raise fs.nr_open and fs.file-max");
		}
		close(end[0]);
		q->pipe[q->count] = end[1];
		if (fcntl(end[1], F_SETPIPE_SZ, (int)PAGE_BYTES) < 0)
			return cl_error(err, -errno, "cannot shrink a pipe: %s", strerror(errno));
	}
	return 0;
}

static int request_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_request *s = &m->plan->step[step].request;
	struct team_place place = {.mode = NUMA_DEFAULT};
	cpu_set_t cpus;
	int r;

	m->requests = calloc(1, sizeof(*m->requests) + s->count * sizeof(m->requests->pipe[0]));
	if (!m->requests)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	if (s->cpu_node != PLAN_NODE_ANY) {
		r = numa_cpus(s->cpu_node, &cpus);
		if (r)
			return cl_error(&reply->error, -EOPNOTSUPP, "node %d has no CPU to run on",
					s->cpu_node);
		place.cpus = &cpus;
	}
	r = open_pipes(m->requests, s->count, &reply->error);
	return r ? r : team_start(1, &place, request_work, m, &m->team, &reply->error);
}

static int request_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	int r = team_run(m->team, &reply->time_ns);

	(void)step;
	m->bytes = atomic_load(&m->shared->held_bytes);
	reply->bytes = m->bytes;
	if (!r)
		return 0;
	cl_error(&reply->error, r, "cannot make a pipe larger: %s", strerror(-r));
	return cl_error_hint(&reply->error, r, "above fs.pipe-max-size it takes CAP_SYS_RESOURCE");
}

static int request_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_request *s = &m->plan->step[step].request;
	uint64_t larger = 0;

	for (uint64_t i = 0; i < m->requests->count; i++)
		larger += fcntl(m->requests->pipe[i], F_GETPIPE_SZ) == capacity(s->order);
	reply->bytes = larger * (PAGE_BYTES << s->order);
	if (reply->bytes != m->bytes)
		return cl_error(&reply->error, -EIO, "%llu pipes are larger, %llu should be",
				(unsigned long long)larger,
				(unsigned long long)(m->bytes / (PAGE_BYTES << s->order)));
	return 0;
}

const struct worker_job request_job = {request_prepare, request_act, request_verify};
