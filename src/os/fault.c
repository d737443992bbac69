/* SPDX-License-Identifier: MIT */
/* The fault step: map anonymous memory and fault it in, the measured part of most experiments. */
#include <compactlab/populate.h>
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "os/fault_io.h"
#include "os/team.h"
#include "os/worker.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* Whole huge pages each, the remainder dealt to the first ones. */
static void share(const struct memory *m, unsigned threads, unsigned thread, uint64_t *from,
		  uint64_t *to)
{
	uint64_t huge = m->room / HUGE_BYTES, each = huge / threads, more = huge % threads;

	*from = (each * thread + (thread < more ? thread : more)) * HUGE_BYTES;
	*to = *from + (each + (thread < more)) * HUGE_BYTES;
}

/* As much as MAP_POPULATE could get; what it could not is found by fault_verify(). */
static int map_populate(char *at, uint64_t bytes)
{
	void *p = mmap(at, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_POPULATE, -1, 0);

	return p == MAP_FAILED ? -errno : 0;
}

static int base_then_collapse(char *at, uint64_t bytes)
{
	if (madvise(at, 0, MADV_COLLAPSE) < 0) /* nothing to do, but is it known? */
		return -EINVAL;
	if (madvise(at, bytes, MADV_NOHUGEPAGE) < 0 ||
	    madvise(at, bytes, MADV_POPULATE_WRITE) < 0 || madvise(at, bytes, MADV_HUGEPAGE) < 0)
		return -errno;
	/* A huge page that cannot be had stays base pages: that is the method's outcome. */
	for (uint64_t off = 0; off < bytes; off += HUGE_BYTES)
		(void)madvise(at + off, HUGE_BYTES, MADV_COLLAPSE);
	return 0;
}

static int fault_work(void *arg, unsigned thread)
{
	struct memory *m = arg;
	const struct step_fault *f = &m->plan->step[m->step].fault;
	uint64_t from, to;

	if (thread >= f->threads)
		return fault_io_write(m->io, f, thread - f->threads);
	share(m, f->threads, thread, &from, &to);
	if (from == to)
		return 0;
	if (m->io) {
		fault_io_touch(m->io, m, thread, from, to);
		return 0;
	}
	if (f->method == METHOD_POPULATE_WRITE)
		return madvise(m->base + from, to - from, MADV_POPULATE_WRITE) < 0 ? -errno : 0;
	if (f->method == METHOD_MAP_POPULATE)
		return map_populate(m->base + from, to - from);
	if (f->method == METHOD_COLLAPSE)
		return base_then_collapse(m->base + from, to - from);
	if (f->method == METHOD_PIN)
		return pin_range(m, m->base + from, to - from);
	/* Its worker inherits this thread's policy and CPUs. */
	if (f->method == METHOD_COMPACTLAB)
		return cl_populate(m->base + from, to - from, NULL, NULL);
	for (; from < to; from += PAGE_BYTES)
		*(volatile char *)(m->base + from) = 1;
	return 0;
}

static enum numa_mode fault_mode(const struct step_fault *f)
{
	switch (f->policy) {
	case POLICY_BIND:
		return NUMA_BIND;
	case POLICY_PREFERRED:
		return f->nodes.count > 1 ? NUMA_PREFERRED_MANY : NUMA_PREFERRED;
	case POLICY_INTERLEAVE:
		return NUMA_INTERLEAVE;
	case POLICY_WEIGHTED:
		return NUMA_WEIGHTED_INTERLEAVE;
	default:
		return NUMA_DEFAULT;
	}
}

static int pins_prepare(struct memory *m, const struct step_fault *f, struct cl_error *err)
{
	uint64_t from, to;
	int r = 0;

	for (unsigned i = 0; i < f->threads && f->method == METHOD_PIN && !r; i++) {
		share(m, f->threads, i, &from, &to);
		if (from < to)
			r = pin_range_prepare(m, m->base + from, to - from, err);
	}
	return r;
}

static int fault_team(struct memory *m, const struct step_fault *f, struct cl_error *err)
{
	struct team_place place = {.mode = fault_mode(f)};
	cpu_set_t cpus;
	int r;

	for (unsigned i = 0; i < f->nodes.count && f->policy != POLICY_LOCAL; i++)
		place.nodes |= 1ull << f->nodes.node[i];
	if (f->cpu_node != PLAN_NODE_ANY) {
		r = numa_cpus(f->cpu_node, &cpus);
		if (r)
			return cl_error(err, -EOPNOTSUPP, "node %d has no CPU to run on",
					f->cpu_node);
		place.cpus = &cpus;
	}
	r = team_start(f->threads + f->io_threads, &place, fault_work, m, &m->team, err);
	if (r == -EINVAL && f->policy == POLICY_WEIGHTED)
		cl_error_hint(err, r, "weighted interleaving needs Linux 6.9");
	return r;
}

/* Also done again for each repetition: what the one before faulted in is released first. */
static int fault_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_fault *f = &m->plan->step[step].fault;
	struct cl_error *err = &reply->error;
	int node = f->cpu_node,
	    advice = f->advice == ADVICE_HUGEPAGE ? MADV_HUGEPAGE : MADV_NOHUGEPAGE;
	uint64_t bytes;
	int r;

	team_drop(m->team);
	m->team = NULL;
	pin_release_all(m);
	if (f->policy == POLICY_BIND && f->nodes.count == 1)
		node = f->nodes.node[0];
	memory_unmap(m);
	r = amount_bytes(&f->size, node, &bytes);
	if (r || !bytes)
		return cl_error(err, r ? r : -EINVAL, "size comes to less than one page");
	bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	r = memory_reserve(m, bytes, err);
	if (r)
		return r;
	if (mprotect(m->base, m->room, PROT_READ | PROT_WRITE) < 0)
		return cl_error(err, -errno, "cannot map memory: %s", strerror(errno));
	if (f->advice != ADVICE_NONE && madvise(m->base, m->room, advice) < 0 &&
	    f->advice == ADVICE_HUGEPAGE)
		return cl_error(err, -EOPNOTSUPP, "this kernel has no transparent huge pages");
	reply->bytes = m->room;
	fault_io_free(m->io);
	r = fault_io_start(m, f, &m->io, err);
	if (!r)
		r = pins_prepare(m, f, err);
	return r ? r : fault_team(m, f, err);
}

static int fault_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_fault *f = &m->plan->step[step].fault;
	int r;

	atomic_store(&m->shared->held_bytes, m->room);
	r = team_run(m->team, &reply->time_ns);
	if (f->io_threads)
		reply->time_ns = fault_io_touch_ns(m->io, f);
	m->bytes = m->room;
	reply->bytes = m->bytes;
	if (r == -EINVAL && f->method == METHOD_POPULATE_WRITE) {
		cl_error(&reply->error, -EOPNOTSUPP, "this kernel has no MADV_POPULATE_WRITE");
		return cl_error_hint(&reply->error, -EOPNOTSUPP,
				     "Linux 5.14 or later has; or set method = touch");
	}
	if (r == -EINVAL && f->method == METHOD_COLLAPSE) {
		cl_error(&reply->error, -EOPNOTSUPP, "this kernel has no MADV_COLLAPSE");
		return cl_error_hint(&reply->error, -EOPNOTSUPP, "Linux 6.1 or later has");
	}
	return r ? cl_error(&reply->error, r, "cannot fault the memory in: %s", strerror(-r)) : 0;
}

static int until_huge(struct memory *m, struct worker_reply *reply)
{
	uint64_t from = atomic_load(&m->shared->mark) / HUGE_BYTES, at = from, present;
	struct node_pages pages[PLAN_MAX_NODES];
	uint64_t huge = 0;
	int r = 0;

	while (!r && !huge && at < m->bytes / HUGE_BYTES) {
		r = pagemap_count(m->base + at * HUGE_BYTES, PAGES_PER_HUGE, pages, &present,
				  &reply->error);
		for (int i = 0; i < PLAN_MAX_NODES; i++)
			huge += pages[i].huge;
		at += !huge;
	}
	reply->blocks_until_huge = at - from;
	return r;
}

/* The kernel's own account of huge pages must agree with what the page tables show. */
static void compare_smaps(struct memory *m, struct worker_reply *reply)
{
	uint64_t huge = 0, told;

	for (int i = 0; i < PLAN_MAX_NODES; i++)
		huge += reply->pages[i].huge;
	if (pagemap_smaps_huge(m->base, m->bytes, &told) < 0 || told == huge * HUGE_BYTES)
		return;
	snprintf(reply->note, sizeof(reply->note),
		 "%llu huge pages by page frames, but AnonHugePages says %llu",
		 (unsigned long long)huge, (unsigned long long)(told / HUGE_BYTES));
}

static int fault_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_fault *f = &m->plan->step[step].fault;
	uint64_t present, want = m->bytes / PAGE_BYTES, huge = 0, away = 0;
	int r = memory_pages(m, reply->pages, want, &present, &reply->error);

	if (r)
		return r;
	reply->has_pages = true;
	reply->bytes = m->bytes;
	if (present != want) {
		cl_error(&reply->error, -EIO, "%llu of %llu pages are not in memory",
			 (unsigned long long)(want - present), (unsigned long long)want);
		return cl_error_hint(&reply->error, -EIO, "turn swap off, or fault in less");
	}
	for (int i = 0; i < PLAN_MAX_NODES; i++) {
		bool asked = false;

		for (unsigned n = 0; n < f->nodes.count; n++)
			asked |= f->nodes.node[n] == i;
		huge += reply->pages[i].huge;
		if (!asked)
			away += reply->pages[i].base + reply->pages[i].huge * PAGES_PER_HUGE;
	}
	if (f->policy == POLICY_BIND && away)
		return cl_error(&reply->error, -EIO, "%llu pages lie outside the bound nodes",
				(unsigned long long)away);
	if (f->advice == ADVICE_NOHUGEPAGE && huge)
		return cl_error(&reply->error, -EIO, "%llu huge pages in spite of nohugepage",
				(unsigned long long)huge);
	compare_smaps(m, reply);
	if (atomic_load(&m->shared->mark)) {
		r = until_huge(m, reply);
		if (r)
			return r;
	}
	return fault_io_verify(m->io, m, f, reply);
}

const struct worker_job fault_job = {fault_prepare, fault_act, fault_verify};
