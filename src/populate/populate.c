/* SPDX-License-Identifier: MIT */
/* The calls: checking what was asked, setting a job up, saying what came of it. */
#include "pop_job.h"
#include "pop_room.h"
#include "pop_receipt.h"
#include "config.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KNOWN_FLAGS (CL_POPULATE_COLLAPSE | CL_POPULATE_NO_ROOM_CHECK | CL_POPULATE_NO_SURVEY)

/* ---- what was asked ------------------------------------------------------------- */

/* First size of the structure that was ever released: up to and with `cancel`. */
#define OPTIONS_MIN sizeof(struct cl_populate_options)

static int read_options(const struct cl_populate_options *given, struct cl_populate_options *o)
{
	static const struct cl_populate_options none = CL_POPULATE_OPTIONS_INIT;
	const unsigned char *extra = (const unsigned char *)given;

	*o = none;
	if (!given)
		return 0;
	if (given->size < OPTIONS_MIN || given->size > 4096)
		return -EINVAL;
	for (size_t i = sizeof(*o); i < given->size; i++)
		if (extra[i])
			return -E2BIG;
	memcpy(o, given, sizeof(*o));
	if ((o->flags & ~KNOWN_FLAGS) || o->policy > CL_POPULATE_INTERLEAVE ||
	    o->fallback > CL_POPULATE_SMALLER || o->min_huge_permille > 1000 || o->reserved ||
	    o->threads > 1024 || o->node < -1 || o->node >= POP_NODES)
		return -EINVAL;
	return 0;
}

/* The range in whole pages and whole blocks. */
static int read_range(struct pop_job *job, void *addr, size_t length)
{
	uint64_t page = job->probe->page_bytes, block = job->probe->block_bytes;
	uint64_t start = (uint64_t)(uintptr_t)addr, end;

	if (start % page || __builtin_add_overflow(start, (uint64_t)length, &end) ||
	    __builtin_add_overflow(end, page - 1, &end))
		return -EINVAL;
	end &= ~(page - 1);
	job->start = start;
	job->end = end;
	job->receipt->bytes = end - start;
	job->inner = (start + block - 1) & ~(block - 1);
	job->blocks = job->inner >= start && job->inner < end ? (end - job->inner) / block : 0;
	return 0;
}

/* ---- which node ----------------------------------------------------------------- */

static void one(struct pop_nodemask *m, unsigned node)
{
	memset(m, 0, sizeof(*m));
	pop_mask_set(m, node);
}

/* home and other from the policy in force; `p` is the mapping's own or the thread's. */
static void nodes_of_policy(struct pop_job *job, const struct pop_policy *p)
{
	bool spread = false;
	int here = pop_sys_this_node();

	one(&job->home, here >= 0 ? (unsigned)here : 0);
	switch (POP_MPOL_MODE(p->mode)) {
	case POP_MPOL_BIND:
	case POP_MPOL_INTERLEAVE:
	case POP_MPOL_WEIGHTED_INTERLEAVE:
		spread = true; /* the kernel itself looks no further, or everywhere */
		job->home = p->nodes;
		break;
	case POP_MPOL_PREFERRED:
	case POP_MPOL_PREFERRED_MANY:
		if (!pop_mask_empty(&p->nodes))
			job->home = p->nodes;
		break;
	}
	memset(&job->other, 0, sizeof(job->other));
	for (unsigned i = 0; !spread && i < POP_NODES; i++)
		if (pop_mask_has(&job->probe->memory, i) && !pop_mask_has(&job->home, i))
			pop_mask_set(&job->other, i);
}

/* Does the mapping have a policy of its own? Then the thread's does not matter. */
static bool own_policy(const struct pop_job *job, struct pop_policy *p)
{
	return !pop_sys_policy_at((void *)(uintptr_t)job->start, p) &&
	       POP_MPOL_MODE(p->mode) != POP_MPOL_DEFAULT;
}

static int set_up_nodes(struct pop_job *job)
{
	struct cl_populate_options *o = &job->options;
	struct pop_policy thread = {0}, own, wish = {0};
	int node = o->node >= 0 ? o->node : pop_sys_this_node();

	if (o->policy == CL_POPULATE_PREFER || o->policy == CL_POPULATE_BIND) {
		if (node < 0 || !pop_mask_has(&job->probe->memory, (unsigned)node))
			return -EINVAL;
		pop_mask_set(&wish.nodes, (unsigned)node);
		wish.mode = o->policy == CL_POPULATE_BIND ? POP_MPOL_BIND : POP_MPOL_PREFERRED;
	} else if (o->policy == CL_POPULATE_INTERLEAVE) {
		wish.mode = POP_MPOL_INTERLEAVE;
		for (unsigned i = 0; i < POP_NODE_WORDS; i++)
			wish.nodes.word[i] = o->nodes[i] & job->probe->memory.word[i];
		if (pop_mask_empty(&wish.nodes) ||
		    memcmp(wish.nodes.word, o->nodes, sizeof(wish.nodes.word)))
			return -EINVAL;
	}
	if (job->probe->missing & CL_POPULATE_NO_MEMPOLICY) {
		/* What was asked for is either so anyway, or cannot be had. */
		nodes_of_policy(job, &wish);
		if (o->policy >= CL_POPULATE_BIND && pop_mask_count(&job->probe->memory) > 1)
			return -EOPNOTSUPP;
		return 0;
	}
	if (pop_sys_get_policy(&thread))
		return 0;
	job->before = thread;
	if (o->policy == CL_POPULATE_INHERIT)
		wish = thread;
	/* One node is one policy; nothing to switch. */
	if (pop_mask_count(&job->probe->memory) == 1) {
		nodes_of_policy(job, &wish);
		return 0;
	}
	if (own_policy(job, &own)) {
		job->receipt->missing |= CL_POPULATE_OWN_POLICY;
		nodes_of_policy(job, &own);
		return 0;
	}
	nodes_of_policy(job, &wish);
	job->set_policy = true;
	job->policy[POP_WANT_FULL] = job->policy[POP_WANT_BASE] = wish;
	job->policy[POP_WANT_OTHER] =
		(struct pop_policy){.mode = POP_MPOL_PREFERRED_MANY, .nodes = job->probe->memory};
	job->bound = (struct pop_policy){.mode = POP_MPOL_BIND, .nodes = job->home};
	return 0;
}

/* MPOL_PREFERRED_MANY came with 5.15. */
static bool can_prefer_many(const struct pop_job *job)
{
	bool can = job->set_policy && !pop_sys_set_policy(&job->policy[POP_WANT_OTHER]);

	if (can)
		pop_sys_set_policy(&job->before);
	return can;
}

/* ---- setting up ----------------------------------------------------------------- */

static void set_up_rules(struct pop_job *job)
{
	const struct pop_thp *thp = &job->probe->thp;
	const struct cl_populate_options *o = &job->options;
	bool later = (o->flags & CL_POPULATE_COLLAPSE) || o->timeout_ns;
	struct pop_rules rules = {
		.chunk_ns = POP_CHUNK_NS,
		.deadline_ns = job->deadline_ns,
		.blocks = job->blocks,
		.base_guess_ns = job->probe->block_bytes / 2, /* 2 GB/s: slow, so careful */
		.base_budget = UINT64_MAX,
		.free_known = job->probe->buddyinfo >= 0,
	};

	rules.huge = job->memory == POP_SHMEM     ? thp->shmem
		     : job->memory == POP_HUGETLB ? false
						  : thp->huge;
	job->advise = rules.huge;
	rules.stalls = thp->stalls;
	rules.use_other = o->fallback == CL_POPULATE_REMOTE && rules.free_known &&
			  !pop_mask_empty(&job->other) && can_prefer_many(job);
	job->bind_home = o->fallback != CL_POPULATE_REMOTE && !pop_mask_empty(&job->other) &&
			 job->set_policy;
	job->smaller =
		o->fallback == CL_POPULATE_SMALLER && thp->smaller && job->memory != POP_SHMEM;
	job->may_ask = job->memory == POP_ANON && !(job->receipt->missing & CL_POPULATE_OWN_POLICY);
	job->by_scan = (thp->smaller || job->memory == POP_SHMEM) && job->probe->pagemap >= 0;
	/*
	 * A contract that no later step can repair limits the base pages, and asking for
	 * more than is known to be free could break it.
	 */
	if (o->min_huge_permille && rules.huge && !(later && job->probe->collapse)) {
		rules.base_budget = job->blocks - (job->blocks * o->min_huge_permille + 999) / 1000;
		rules.stalls = true;
	}
	pop_decide_init(&job->decide, &rules);
}

/* Does it fit? What is there already takes no room. */
static int check_room(struct pop_job *job)
{
	uint64_t cgroup, machine, room, need, already = job->receipt->already_bytes;

	if ((job->options.flags & CL_POPULATE_NO_ROOM_CHECK) || job->memory == POP_HUGETLB)
		return 0;
	need = job->end - job->start;
	need -= already < need ? already : need;
	cgroup = pop_room_cgroup();
	machine = pop_room_machine();
	room = cgroup < machine ? cgroup : machine;
	for (unsigned i = 0; job->options.policy == CL_POPULATE_BIND && i < POP_NODES; i++)
		if (pop_mask_has(&job->home, i) && pop_room_node((int)i) < room)
			room = pop_room_node((int)i);
	if (need > room) {
		job->limit = CL_POPULATE_LIMIT_ROOM;
		return -ENOMEM;
	}
	job->limited = true;
	job->room_next = POP_ROOM_STEP;
	return 0;
}

static void read_vmstat(int64_t *stall, int64_t *fail)
{
	char *text = pop_sys_read_all("/proc/vmstat");

	*stall = *fail = -1;
	if (text) {
		*stall = (int64_t)pop_room_field(text, "compact_stall", UINT64_MAX);
		*fail = (int64_t)pop_room_field(text, "compact_fail", UINT64_MAX);
	}
	free(text);
}

static int check_memory(struct pop_job *job)
{
	job->memory = pop_vma_kind_here(job->start, job->end);
	switch (job->memory) {
	case POP_HOLE:
		return -ENOMEM;
	case POP_READONLY:
		return -EFAULT;
	case POP_OTHER_FILE:
		return -EOPNOTSUPP;
	case POP_UNKNOWN:
		job->receipt->missing |= CL_POPULATE_NO_MAPS;
		break;
	case POP_SHMEM:
	case POP_HUGETLB:
		/* Touching by hand could raise SIGBUS, which only the kernel can avoid. */
		if (!job->probe->populate_write)
			return -EOPNOTSUPP;
		break;
	case POP_ANON:
		break;
	}
	return 0;
}

static int set_up(struct pop_job *job, bool filling)
{
	int r = check_memory(job);

	if (!r)
		r = set_up_nodes(job);
	if (!r && filling)
		r = pop_survey_before(job);
	if (!r && filling)
		r = check_room(job);
	if (r)
		return r;
	set_up_rules(job);
	if (filling && job->options.min_huge_permille && !job->decide.rules.huge &&
	    job->memory != POP_HUGETLB) {
		job->limit = CL_POPULATE_LIMIT_THP_OFF;
		return -ENOMEM;
	}
	return 0;
}

/* ---- both calls ----------------------------------------------------------------- */

/* What kept it from being all huge, and is the contract kept? */
static int judge(struct pop_job *job, int result)
{
	struct cl_populate_receipt *r = job->receipt;
	uint64_t huge = r->huge_bytes / job->probe->block_bytes;
	uint64_t permille = job->options.min_huge_permille;

	if (job->memory == POP_HUGETLB && result == -EFAULT) {
		job->limit = CL_POPULATE_LIMIT_POOL;
		result = -ENOSPC;
	}
	if (job->memory == POP_HUGETLB && !result) {
		job->limit = CL_POPULATE_LIMIT_NONE;
		return 0;
	}
	if (result == -ETIMEDOUT && permille && r->done_bytes >= r->bytes) {
		/* All is filled; only the contract ran out of time. */
		result = huge * 1000 < job->blocks * permille ? -ENOMEM : 0;
		job->limit = CL_POPULATE_LIMIT_DEADLINE;
	}
	if (result && !job->limit)
		job->limit = CL_POPULATE_LIMIT_ERROR;
	if (result)
		return result;
	if (huge >= job->blocks)
		job->limit = job->blocks ? CL_POPULATE_LIMIT_NONE : CL_POPULATE_LIMIT_SMALL;
	else if (job->limit == CL_POPULATE_LIMIT_DEADLINE)
		;
	else if (!job->decide.rules.huge)
		job->limit = CL_POPULATE_LIMIT_THP_OFF;
	else if (job->touched && !job->decide.failed_blocks)
		job->limit = CL_POPULATE_LIMIT_PRESENT;
	else
		job->limit = CL_POPULATE_LIMIT_FRAGMENTED;
	if (permille && huge * 1000 < job->blocks * permille)
		return -ENOMEM;
	return 0;
}

static void close_receipt(struct pop_job *job, int result, int64_t stall, int64_t fail)
{
	struct cl_populate_receipt *r = job->receipt;
	const struct pop_decide *d = &job->decide;
	int64_t stall_after, fail_after;

	r->result = result;
	r->limit = job->limit;
	r->chunks = d->chunks;
	r->tries = d->tries;
	r->failed_tries = d->failed_tries;
	r->failed_blocks = d->failed_blocks;
	r->deferred_blocks += d->deferred_blocks;
	r->recoveries += d->recoveries;
	if (d->max_shift > r->max_shift)
		r->max_shift = d->max_shift;
	r->faults = job->faults < UINT32_MAX ? (uint32_t)job->faults : UINT32_MAX;
	read_vmstat(&stall_after, &fail_after);
	r->compact_stall = stall < 0 || stall_after < 0 ? -1 : stall_after - stall;
	r->compact_fail = fail < 0 || fail_after < 0 ? -1 : fail_after - fail;
	if (r->compact_stall < 0)
		r->missing |= CL_POPULATE_NO_VMSTAT;
	r->total_ns = pop_sys_now_ns() - job->begin_ns;
	pop_receipt_text(r);
}

static int lock_init(struct pop_job *job)
{
	pthread_condattr_t attr;
	int r = pthread_mutex_init(&job->lock, NULL);

	if (r)
		return -r;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	r = pthread_cond_init(&job->done, &attr);
	pthread_condattr_destroy(&attr);
	if (!r) {
		r = pthread_cond_init(&job->tried, NULL);
		if (r)
			pthread_cond_destroy(&job->done);
	}
	if (r)
		pthread_mutex_destroy(&job->lock);
	return -r;
}

/* The contract may still be kept, or more was asked for, and there is time. */
static bool wants_collapse(const struct pop_job *job, int result)
{
	uint64_t huge = job->huge_bytes / job->probe->block_bytes;

	if (result || !job->decide.rules.huge || !job->blocks || job->memory == POP_HUGETLB)
		return false;
	if (job->options.flags & CL_POPULATE_COLLAPSE)
		return huge < job->blocks;
	return job->options.min_huge_permille && job->options.timeout_ns && job->probe->collapse &&
	       huge * 1000 < job->blocks * job->options.min_huge_permille;
}

static int run(struct pop_job *job, bool filling)
{
	uint64_t t;
	int r = set_up(job, filling);

	t = pop_sys_now_ns();
	job->receipt->setup_ns = t - job->begin_ns;
	if (r) {
		/* Nothing was done: nothing to look at. */
		if (!job->limit)
			job->limit = CL_POPULATE_LIMIT_ERROR;
		return r;
	}
	if (filling)
		r = pop_fill(job);
	else
		job->done_bytes = job->end - job->start;
	if (!filling || wants_collapse(job, r)) {
		int c = pop_collapse(job);

		/* Collapsing was an extra, unless it was the call. */
		if (c && (!filling || c == -ECANCELED || c == -ETIMEDOUT))
			r = c;
		if (r == -ETIMEDOUT && filling && !job->options.min_huge_permille) {
			job->limit = CL_POPULATE_LIMIT_DEADLINE;
			r = 0;
		}
	}
	t = pop_sys_now_ns();
	pop_survey_after(job);
	job->receipt->survey_ns = pop_sys_now_ns() - t;
	return judge(job, r);
}

static int call(void *addr, size_t length, const struct cl_populate_options *options,
		struct cl_populate_receipt *receipt, bool filling)
{
	struct cl_populate_receipt *own;
	struct pop_probe *probe;
	struct pop_job *job;
	int64_t stall, fail;
	uint32_t room;
	int r;

	if (receipt && (receipt->size < sizeof(uint32_t) * 4 || receipt->size > 65536))
		return -EINVAL;
	room = receipt ? receipt->size : 0;
	/* Several KiB each: not on the caller's stack. */
	job = calloc(1, sizeof(*job));
	probe = calloc(1, sizeof(*probe));
	own = calloc(1, sizeof(*own));
	if (!job || !probe || !own) {
		r = -ENOMEM;
		goto out;
	}
	job->probe = probe;
	job->receipt = own;
	job->begin_ns = pop_sys_now_ns();
	own->size = room < sizeof(*own) ? room : sizeof(*own);
	r = read_options(options, &job->options);
	if (!r && job->options.timeout_ns &&
	    __builtin_add_overflow(job->begin_ns, job->options.timeout_ns, &job->deadline_ns))
		job->deadline_ns = UINT64_MAX;
	if (!r)
		r = lock_init(job);
	if (r) {
		own->result = r;
		own->limit = CL_POPULATE_LIMIT_ERROR;
		own->compact_stall = own->compact_fail = -1;
		pop_receipt_text(own);
		goto hand_over;
	}
	read_vmstat(&stall, &fail);
	pop_probe_open(probe);
	own->missing = probe->missing;
	own->block_bytes = probe->block_bytes;
	r = read_range(job, addr, length);
	if (!r && job->end > job->start)
		r = run(job, filling);
	else if (r)
		job->limit = CL_POPULATE_LIMIT_ERROR;
	close_receipt(job, r, stall, fail);
	/* What was not wanted is not missed. */
	if (job->options.fallback != CL_POPULATE_SMALLER)
		own->missing &= ~CL_POPULATE_NO_SMALLER;
	if (!(job->options.flags & CL_POPULATE_COLLAPSE) && !job->options.min_huge_permille &&
	    filling)
		own->missing &= ~CL_POPULATE_NO_COLLAPSE;
	pop_job_report(job, true);
	pop_probe_close(probe);
	pthread_cond_destroy(&job->tried);
	pthread_cond_destroy(&job->done);
	pthread_mutex_destroy(&job->lock);
hand_over:
	if (receipt) {
		memset(receipt, 0, room);
		memcpy(receipt, own, own->size);
	}
out:
	if (job)
		free(job->touched);
	free(job);
	free(probe);
	free(own);
	return r;
}

int cl_populate(void *addr, size_t length, const struct cl_populate_options *options,
		struct cl_populate_receipt *receipt)
{
	return call(addr, length, options, receipt, true);
}

int cl_populate_collapse(void *addr, size_t length, const struct cl_populate_options *options,
			 struct cl_populate_receipt *receipt)
{
	return call(addr, length, options, receipt, false);
}

unsigned cl_populate_version(void)
{
	unsigned major = 0, minor = 0, patch = 0;

	sscanf(CL_VERSION, "%u.%u.%u", &major, &minor, &patch);
	return major * 10000 + minor * 100 + patch;
}
