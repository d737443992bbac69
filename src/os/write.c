/* SPDX-License-Identifier: MIT */
/* The write step: buffered writes to files on the scratch filesystem, one a thread. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "os/scratch.h"
#include "os/team.h"
#include "os/write.h"
#include "os/worker.h"

struct writing {
	uint64_t bytes; /* in total */
	char *chunk;
	int fd[];
};

static uint64_t thread_bytes(const struct writing *w, unsigned threads, unsigned thread)
{
	return w->bytes / threads + (thread < w->bytes % threads);
}

int write_calls(int fd, const char *chunk, uint64_t chunk_bytes, uint64_t bytes, uint64_t pause_ns)
{
	struct timespec pause = {(time_t)(pause_ns / 1000000000), (long)(pause_ns % 1000000000)};

	while (bytes) {
		size_t want = bytes < chunk_bytes ? (size_t)bytes : (size_t)chunk_bytes;
		ssize_t n = write(fd, chunk, want);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		bytes -= (uint64_t)n;
		if (pause_ns && bytes)
			nanosleep(&pause, NULL);
	}
	return 0;
}

static int write_work(void *arg, unsigned thread)
{
	struct memory *m = arg;
	const struct step_write *s = &m->plan->step[m->step].write;

	return write_calls(m->writing->fd[thread], m->writing->chunk, s->chunk_bytes,
			   thread_bytes(m->writing, s->threads, thread), s->think_ns);
}

static int write_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_write *s = &m->plan->step[step].write;
	struct team_place place = {.mode = NUMA_DEFAULT};
	struct writing *w = calloc(1, sizeof(*w) + s->threads * sizeof(w->fd[0]));
	int r;

	if (!w)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	m->writing = w;
	r = amount_bytes(&s->size, PLAN_NODE_ANY, &w->bytes);
	if (r || !w->bytes)
		return cl_error(&reply->error, r ? r : -EINVAL, "size comes to less than one page");
	w->chunk = table_new(s->chunk_bytes);
	if (!w->chunk)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	memset(w->chunk, 1, s->chunk_bytes);
	for (unsigned i = 0; i < s->threads; i++) {
		w->fd[i] = scratch_open(!m->guard, &reply->error);
		if (w->fd[i] < 0)
			return w->fd[i];
	}
	return team_start(s->threads, &place, write_work, m, &m->team, &reply->error);
}

static int write_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	int r = team_run(m->team, &reply->time_ns);

	(void)step;
	reply->bytes = m->writing->bytes;
	return r ? cl_error(&reply->error, r, "cannot write: %s", strerror(-r)) : 0;
}

static int write_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_write *s = &m->plan->step[step].write;

	for (unsigned i = 0; i < s->threads; i++) {
		uint64_t want = thread_bytes(m->writing, s->threads, i);
		struct stat st;

		if (fstat(m->writing->fd[i], &st) < 0 || (uint64_t)st.st_size != want)
			return cl_error(&reply->error, -EIO, "file %u is not %llu bytes long", i,
					(unsigned long long)want);
	}
	reply->bytes = m->writing->bytes;
	reply->files = s->threads;
	return 0;
}

const struct worker_job write_job = {write_prepare, write_act, write_verify};
