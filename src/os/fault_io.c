/* SPDX-License-Identifier: MIT */
#include "os/fault_io.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/scratch.h"
#include "os/write.h"

struct toucher {
	uint64_t start_ns, end_ns;
	struct fault_latency latency;
};

struct fault_io {
	unsigned threads, writers;
	struct toucher *toucher; /* one a thread */
	uint32_t *took;          /* of each page, in ns up to 4 s; NULL: not measured */
	uint64_t took_bytes;
	uint64_t io_bytes;
	char *chunk;
	uint64_t chunk_bytes;
	int *fd; /* one a writer */
};

void fault_io_free(struct fault_io *io)
{
	if (!io)
		return;
	for (unsigned i = 0; i < io->writers && io->fd; i++)
		if (io->fd[i] > 0)
			close(io->fd[i]);
	table_free(io->took, io->took_bytes);
	table_free(io->chunk, io->chunk_bytes);
	free(io->fd);
	free(io->toucher);
	free(io);
}

static int open_files(struct memory *m, const struct step_fault *f, struct fault_io *io,
		      struct cl_error *err)
{
	int r = amount_bytes(&f->io_size, PLAN_NODE_ANY, &io->io_bytes);

	if (r || !io->io_bytes)
		return cl_error(err, r ? r : -EINVAL, "io_size comes to less than one page");
	io->fd = calloc(f->io_threads, sizeof(*io->fd));
	io->chunk_bytes = f->io_chunk_bytes;
	io->chunk = table_new(io->chunk_bytes);
	if (!io->fd || !io->chunk)
		return cl_error(err, -ENOMEM, "out of memory");
	memset(io->chunk, 1, io->chunk_bytes);
	for (; io->writers < f->io_threads; io->writers++) {
		io->fd[io->writers] = scratch_open(!m->guard, err);
		if (io->fd[io->writers] < 0)
			return io->fd[io->writers];
	}
	return 0;
}

int fault_io_start(struct memory *m, const struct step_fault *f, struct fault_io **out,
		   struct cl_error *err)
{
	struct fault_io *io;

	*out = NULL;
	if (!f->latency && !f->io_threads)
		return 0;
	io = *out = calloc(1, sizeof(*io));
	if (!io)
		return cl_error(err, -ENOMEM, "out of memory");
	io->threads = f->threads;
	io->toucher = calloc(f->threads, sizeof(*io->toucher));
	if (f->latency) {
		io->took_bytes = m->room / PAGE_BYTES * sizeof(*io->took);
		io->took = table_new(io->took_bytes);
	}
	if (!io->toucher || (f->latency && !io->took))
		return cl_error(err, -ENOMEM, "out of memory");
	/* So that its own pages are not faulted in between. */
	if (io->took)
		memset(io->took, 0, io->took_bytes);
	return f->io_threads ? open_files(m, f, io, err) : 0;
}

void fault_io_touch(struct fault_io *io, struct memory *m, unsigned thread, uint64_t from,
		    uint64_t to)
{
	struct toucher *t = &io->toucher[thread];
	uint64_t before = now_ns(), after;

	t->start_ns = before;
	for (; from < to; from += PAGE_BYTES) {
		*(volatile char *)(m->base + from) = 1;
		if (!io->took)
			continue;
		after = now_ns();
		io->took[from / PAGE_BYTES] =
			after - before < UINT32_MAX ? (uint32_t)(after - before) : UINT32_MAX;
		before = after;
	}
	t->end_ns = now_ns();
}

int fault_io_write(struct fault_io *io, const struct step_fault *f, unsigned writer)
{
	uint64_t bytes = io->io_bytes / f->io_threads + (writer < io->io_bytes % f->io_threads);

	return write_calls(io->fd[writer], io->chunk, io->chunk_bytes, bytes, f->io_pause_ns);
}

uint64_t fault_io_touch_ns(const struct fault_io *io, const struct step_fault *f)
{
	uint64_t start = UINT64_MAX, end = 0;

	for (unsigned t = 0; t < f->threads; t++) {
		if (!io->toucher[t].start_ns)
			continue;
		start = io->toucher[t].start_ns < start ? io->toucher[t].start_ns : start;
		end = io->toucher[t].end_ns > end ? io->toucher[t].end_ns : end;
	}
	return end > start ? end - start : 0;
}

/* A range is one huge page or base pages: the first touch of a huge page brought all of it. */
static int sum_up(struct fault_io *io, struct memory *m, struct fault_latency *all,
		  struct cl_error *err)
{
	uint64_t pages = m->bytes / PAGE_BYTES, clock = 0;

	for (uint64_t i = 0; i < pages; i += PAGES_PER_HUGE) {
		struct node_pages node[PLAN_MAX_NODES] = {{0}};
		uint64_t present;
		bool huge = false;
		int r = pagemap_count(m->base + i * PAGE_BYTES, PAGES_PER_HUGE, node, &present,
				      err);

		if (r)
			return r;
		for (unsigned n = 0; n < PLAN_MAX_NODES; n++)
			huge |= node[n].huge > 0;
		for (uint64_t k = 0; k < PAGES_PER_HUGE && i + k < pages; k++) {
			uint64_t start = clock;

			clock += io->took[i + k];
			if (!huge || !k)
				fault_latency_add(all, i + k, huge ? 9 : 0, start, clock);
			else
				all->range_end = clock;
		}
	}
	fault_latency_end(all);
	return 0;
}

int fault_io_verify(struct fault_io *io, struct memory *m, const struct step_fault *f,
		    struct worker_reply *reply)
{
	struct fault_latency *all;
	int r;

	if (!io || !f->latency)
		return 0;
	all = calloc(1, sizeof(*all));
	r = all ? sum_up(io, m, all, &reply->error)
		: cl_error(&reply->error, -ENOMEM, "out of memory");
	for (int class = 0; class < FAULT_CLASSES && !r; class ++)
		latency_summarize(&all->class[class], &reply -> latency[class]);
	reply->has_latency = !r;
	free(all);
	return r;
}
