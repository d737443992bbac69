/* SPDX-License-Identifier: MIT */
/* The fill step: memory of one kind, filled page by page and kept. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "os/numa.h"
#include "os/scratch.h"
#include "os/worker.h"
#include "util/util.h"

/* With `leave`, look at the free memory at least this often, and stop this close above it. */
#define CHUNK_MOST  (64ull << 20)
#define CHUNK_LEAST (256ull << 10)

static const char *where(int node, char *buf, size_t size)
{
	if (node == PLAN_NODE_ANY)
		snprintf(buf, size, "the machine");
	else
		snprintf(buf, size, "node %d", node);
	return buf;
}

/*
 * How much to fill, at most: `size`, or all memory but `leave`. What is free now is no bound for
 * the latter: page cache gives way, and some virtual machines get memory as they use it.
 */
static int target(struct memory *m, const struct step_fill *f, uint64_t *bytes,
		  struct cl_error *err)
{
	char place[32], need[32], have[32];
	uint64_t free_bytes, total_bytes;
	int r = numa_free_bytes(f->node, &free_bytes);

	if (!r)
		r = numa_most_bytes(f->node, &total_bytes);
	if (r)
		return cl_error(err, r, "cannot read the free memory of %s: %s",
				where(f->node, place, sizeof(place)), strerror(-r));
	if (!f->leave.set) {
		m->leave_bytes = 0;
		r = amount_bytes(&f->size, f->node, bytes);
		if (!r && *bytes == 0)
			r = cl_error(err, -EINVAL, "size comes to less than one page");
		return r;
	}
	r = amount_bytes(&f->leave, f->node, &m->leave_bytes);
	if (r)
		return r;
	if (free_bytes <= m->leave_bytes + CHUNK_LEAST) {
		cl_error(err, -ENOMEM, "%s has %s free, not more than the %s to leave",
			 where(f->node, place, sizeof(place)),
			 size_print(free_bytes >> 20 << 20, have, sizeof(have)),
			 size_print(m->leave_bytes, need, sizeof(need)));
		return cl_error_hint(err, -ENOMEM, "give it more memory or leave less");
	}
	*bytes = (total_bytes - m->leave_bytes) / PAGE_BYTES * PAGE_BYTES;
	return 0;
}

static int map_anon(struct memory *m, const struct step_fill *f, struct cl_error *err)
{
	bool huge = f->pages == FILL_PAGE_HUGE;

	if (m->fd >= 0) {
		if (ftruncate(m->fd, (off_t)m->room) < 0 ||
		    mmap(m->base, m->room, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->fd,
			 0) == MAP_FAILED)
			return cl_error(err, -errno, "cannot map shared memory: %s",
					strerror(errno));
	} else if (mprotect(m->base, m->room, PROT_READ | PROT_WRITE) < 0) {
		return cl_error(err, -errno, "cannot map memory: %s", strerror(errno));
	}
	/* A kernel without huge pages refuses both; only one of them matters then. */
	if (madvise(m->base, m->room, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) < 0 && huge)
		return cl_error(err, -EOPNOTSUPP, "this kernel has no transparent huge pages");
	return 0;
}

/*
 * Memory of a node is filled and punched by a CPU of that node: pages on their way to and from
 * the free lists wait on lists of the CPU, and which CPU's these are should not be left to
 * chance. A node without CPUs is filled from anywhere.
 */
static void run_near(int node)
{
	cpu_set_t cpus;

	if (node != PLAN_NODE_ANY && numa_cpus(node, &cpus) == 0)
		sched_setaffinity(0, sizeof(cpus), &cpus);
}

static int fill_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_fill *f = &m->plan->step[step].fill;
	struct cl_error *err = &reply->error;
	uint64_t bytes;
	int r = target(m, f, &bytes, err);

	if (r)
		return r;
	m->kind = f->memory;
	m->node = f->node;
	m->bound_bytes = bytes;
	run_near(f->node);
	r = memory_reserve(m, bytes, err);
	if (r)
		return r;
	if (f->memory == FILL_FILE) {
		if (f->pages == FILL_PAGE_HUGE)
			return cl_error(err, -EOPNOTSUPP,
					"page cache of a file cannot be asked for huge pages");
		m->fd = scratch_open(!m->guard, err);
		if (m->fd < 0)
			return m->fd;
		r = f->node == PLAN_NODE_ANY ? 0 : numa_policy(NUMA_BIND, 1ull << f->node);
		return r ? cl_error(err, r, "cannot bind to node %d: %s", f->node, strerror(-r))
			 : 0;
	}
	if (f->memory == FILL_SHMEM) {
		m->fd = memfd_create("compactlab", MFD_CLOEXEC);
		if (m->fd < 0)
			return cl_error(err, -errno, "cannot make shared memory: %s",
					strerror(errno));
	}
	r = map_anon(m, f, err);
	if (!r && f->node != PLAN_NODE_ANY) {
		r = numa_bind(m->base, m->room, f->node);
		if (r)
			cl_error(err, r, "cannot bind to node %d: %s", f->node, strerror(-r));
	}
	return r;
}

/* One page a write: a larger write would get large folios, which cannot be dropped by parts. */
static int cache_chunk(struct memory *m, uint64_t bytes, struct cl_error *err)
{
	static const char page[PAGE_BYTES] = {1};

	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES) {
		ssize_t n = pwrite(m->fd, page, PAGE_BYTES, (off_t)(m->bytes + i));

		if (n != (ssize_t)PAGE_BYTES)
			return cl_error(err, n < 0 ? -errno : -EIO,
					"cannot write the scratch file: %s",
					n < 0 ? strerror(errno) : "short write");
	}
	return 0;
}

static int fill_chunk(struct memory *m, uint64_t bytes, struct cl_error *err)
{
	char *at = m->base + m->bytes;

	if (m->kind == FILL_FILE)
		return cache_chunk(m, bytes, err);
	for (uint64_t i = 0; i < bytes; i += PAGE_BYTES)
		*(volatile char *)(at + i) = 1;
	if (m->kind == FILL_MLOCKED && mlock(at, bytes) < 0)
		return cl_error(err, -errno, "cannot lock memory: %s", strerror(errno));
	return 0;
}

/* The next piece: half the way to `leave`, so that the end is approached and never passed. */
static int next_chunk(struct memory *m, uint64_t *chunk)
{
	uint64_t rest = m->bound_bytes - m->bytes, free_bytes;
	int r;

	*chunk = rest < CHUNK_MOST ? rest : CHUNK_MOST;
	if (!m->leave_bytes || !rest)
		return 0;
	r = numa_free_bytes(m->node, &free_bytes);
	if (r)
		return r;
	if (free_bytes < m->leave_bytes + CHUNK_LEAST) {
		*chunk = 0;
		return 0;
	}
	rest = (free_bytes - m->leave_bytes) / 2 / PAGE_BYTES * PAGE_BYTES;
	*chunk = rest < *chunk ? rest : *chunk;
	return 0;
}

static int fill_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	uint64_t start = now_ns(), chunk;
	int r;

	(void)step;
	for (;;) {
		r = next_chunk(m, &chunk);
		if (r)
			return cl_error(&reply->error, r, "cannot read the free memory: %s",
					strerror(-r));
		if (!chunk)
			break;
		atomic_store(&m->shared->held_bytes, m->bytes + chunk);
		r = fill_chunk(m, chunk, &reply->error);
		if (r)
			return r;
		m->bytes += chunk;
	}
	reply->time_ns = now_ns() - start;
	reply->bytes = m->bytes;
	return 0;
}

/* With `leave`: is about that much free now? */
static int check_left(struct memory *m, struct cl_error *err)
{
	uint64_t free_bytes, slack = (32ull << 20) + m->leave_bytes / 4;
	char place[32], left[32], want[32];

	if (!m->leave_bytes || numa_free_bytes(m->node, &free_bytes) < 0)
		return 0;
	if (free_bytes <= m->leave_bytes + slack)
		return 0;
	return cl_error(err, -EIO, "%s has %s free after the fill instead of %s",
			where(m->node, place, sizeof(place)),
			size_print(free_bytes >> 20 << 20, left, sizeof(left)),
			size_print(m->leave_bytes, want, sizeof(want)));
}

static int check_present(struct memory *m, uint64_t present, struct cl_error *err)
{
	uint64_t want = m->bytes / PAGE_BYTES;

	if (present == want)
		return 0;
	cl_error(err, -EIO, "%llu of %llu pages are not in memory after the fill",
		 (unsigned long long)(want - present), (unsigned long long)want);
	return cl_error_hint(
		err, -EIO,
		m->kind == FILL_FILE
			? "the page cache was reclaimed: fill less or leave more"
			: "they were reclaimed: turn swap off, fill less or leave more");
}

static int check_kind(struct memory *m, const struct step_fill *f,
		      const struct node_pages pages[PLAN_MAX_NODES], struct cl_error *err)
{
	uint64_t huge = 0, all = m->bytes / PAGE_BYTES, here;

	for (int i = 0; i < PLAN_MAX_NODES; i++)
		huge += pages[i].huge;
	if (f->pages == FILL_PAGE_HUGE &&
	    huge < m->bytes / HUGE_BYTES - m->bytes / HUGE_BYTES / 10) {
		cl_error(err, -EIO, "only %llu of %llu huge pages could be had",
			 (unsigned long long)huge, (unsigned long long)(m->bytes / HUGE_BYTES));
		return cl_error_hint(err, -EIO,
				     m->kind == FILL_SHMEM
					     ? "set thp.shmem_enabled = advise"
					     : "set thp.enabled = madvise, on memory that is free");
	}
	if (f->node == PLAN_NODE_ANY)
		return 0;
	here = pages[f->node].base + pages[f->node].huge * PAGES_PER_HUGE;
	if (here >= all - all / 100)
		return 0;
	return cl_error(err, -EIO, "only %llu of %llu pages lie on node %d",
			(unsigned long long)here, (unsigned long long)all, f->node);
}

static int fill_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_fill *f = &m->plan->step[step].fill;
	struct cl_error *err = &reply->error;
	uint64_t present;
	int r = check_left(m, err);

	/* Dirty pages could not be dropped by a later punch. */
	if (!r && m->kind == FILL_FILE && fdatasync(m->fd) < 0)
		r = cl_error(err, -errno, "cannot write the scratch file back: %s",
			     strerror(errno));
	if (!r)
		r = memory_pages(m, reply->pages, m->bytes / PAGE_BYTES, &present, err);
	if (!r)
		r = check_present(m, present, err);
	if (!r)
		r = check_kind(m, f, reply->pages, err);
	reply->has_pages = r == 0;
	reply->bytes = m->bytes;
	return r;
}

const struct worker_job fill_job = {fill_prepare, fill_act, fill_verify};
