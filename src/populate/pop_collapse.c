/* SPDX-License-Identifier: MIT */
/*
 * Turning base pages into huge pages afterwards.
 *
 * MADV_COLLAPSE allocates a huge page with direct compaction and copies. A failure to
 * allocate (-ENOMEM) is about the node and defers further attempts, as when filling; a
 * failure for other reasons (a pinned page, a locked one) is about that block only.
 * Between passes that brought nothing it sleeps: a millisecond per deferral step
 * doubled, and at least as long as the failures of the pass took, so that a call that
 * waits for better times uses half a CPU at most.
 */
#include "pop_job.h"
#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

struct pass {
	uint64_t collapsed, passed_over, no_memory, other, failed_ns;
	uint64_t huge; /* blocks that are huge at its end */
};

static uint64_t free_blocks(const struct pop_job *job)
{
	struct pop_free f;

	pop_probe_free(job->probe, &f);
	return pop_free_in(&f, &job->home);
}

static void collapse_block(struct pop_job *job, struct pop_decide *d, uint64_t addr,
			   uint64_t *untakable, struct pass *pass)
{
	uint64_t size = job->probe->block_bytes, t;
	int64_t huge =
		job->probe->pagemap >= 0 ? pop_survey_huge(job->probe, addr, addr + size) : -1;
	uint64_t free;
	int r;

	if (huge == (int64_t)size) {
		pass->huge++;
		return;
	}
	free = free_blocks(job);
	if (free < *untakable)
		*untakable = free;
	if (free <= *untakable && pop_decide_deferred(d)) {
		pass->passed_over++;
		return;
	}
	job->receipt->collapse_tries++;
	t = pop_sys_now_ns();
	r = pop_sys_collapse((void *)(uintptr_t)addr, size);
	t = pop_sys_now_ns() - t;
	if (!r) {
		pass->collapsed++;
		pass->huge++;
		job->receipt->collapsed_blocks++;
		pop_decide_succeeded(d);
		return;
	}
	pass->failed_ns += t;
	if (r == -ENOMEM) {
		pass->no_memory++;
		*untakable = free_blocks(job);
		pop_decide_failed(d, t);
	} else {
		pass->other++;
	}
}

/* Sleep in steps short enough for cancel. */
static void pause_ns(struct pop_job *job, uint64_t ns)
{
	uint64_t until = pop_sys_now_ns() + ns, now;

	if (job->deadline_ns && until > job->deadline_ns)
		until = job->deadline_ns;
	while (!pop_job_over(job) && (now = pop_sys_now_ns()) < until) {
		uint64_t step = until - now < 10000000 ? until - now : 10000000;
		struct timespec t = {.tv_nsec = (long)step};

		nanosleep(&t, NULL);
		pop_job_report(job, false);
	}
	job->receipt->wait_ns += ns;
}

/* Blocks that must be huge. */
static uint64_t wanted(const struct pop_job *job)
{
	uint64_t permille = job->options.min_huge_permille;

	return permille ? (job->blocks * permille + 999) / 1000 : job->blocks;
}

int pop_collapse(struct pop_job *job)
{
	struct pop_rules rules = {.huge = true, .stalls = true};
	uint64_t begin = pop_sys_now_ns(), untakable = 0;
	struct pop_decide d;
	bool pinned_down;

	if (!job->probe->collapse)
		return -EOPNOTSUPP;
	pop_decide_init(&d, &rules);
	do {
		struct pass pass = {0};
		uint64_t pause;

		for (uint64_t b = 0; b < job->blocks && !pop_job_over(job); b++) {
			collapse_block(job, &d, job->inner + b * job->probe->block_bytes,
				       &untakable, &pass);
			job->huge_bytes = pass.huge * job->probe->block_bytes;
			pop_job_report(job, false);
		}
		if (job->error || pass.huge >= wanted(job))
			break;
		/* Nothing that time alone would change, or nobody who gives us time. */
		pinned_down = !pass.collapsed && !pass.passed_over && !pass.no_memory;
		if (!pass.collapsed && (!job->deadline_ns || pinned_down))
			break;
		if (!pass.collapsed) {
			pause = 1000000ull << d.shift;
			pause_ns(job, pause > pass.failed_ns ? pause : pass.failed_ns);
		}
	} while (!pop_job_over(job));
	job->receipt->deferred_blocks += d.deferred_blocks;
	job->receipt->recoveries += d.recoveries;
	if (d.max_shift > job->receipt->max_shift)
		job->receipt->max_shift = d.max_shift;
	job->receipt->collapse_ns += pop_sys_now_ns() - begin;
	return job->error;
}
