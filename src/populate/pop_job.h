/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_JOB_H
#define POPULATE_POP_JOB_H
/*
 * One call at work.
 *
 * The caller's thread owns the job; workers live within the call. Everything below
 * `lock` is shared and touched with it held; everything above is fixed before the
 * workers start.
 */
#include <compactlab/populate.h>
#include <pthread.h>
#include "pop_decide.h"
#include "pop_probe.h"
#include "pop_vma.h"

#define POP_CHUNK_NS          50000000ull /* chunks aim below this, so that cancel is prompt */
#define POP_REPORT_NS         100000000ull
#define POP_ROOM_STEP         (256ull << 20) /* between looks at the room that is left */
#define POP_SEEN_LITTLE_PAGES 4096 /* what a compaction looks at that passes over all blocks */

enum pop_want { POP_WANT_FULL, POP_WANT_OTHER, POP_WANT_BASE, POP_WANTS };

struct pop_job {
	struct cl_populate_options options;
	struct pop_probe *probe;
	struct cl_populate_receipt *receipt;
	enum pop_memory memory;
	uint64_t start, end;    /* of the range */
	uint64_t inner, blocks; /* first whole block, and how many */
	uint64_t begin_ns, deadline_ns;
	bool advise;  /* huge pages are asked for with advice */
	bool limited; /* there is a room limit to look after */
	bool by_scan; /* yields from PAGEMAP_SCAN, not from fault counts */
	bool smaller; /* deferred blocks get smaller folios */
	bool may_ask; /* memory of our own is like the buffer's: see pop_ask() */
	struct pop_nodemask home, other;
	bool bind_home;  /* tries must not end on other nodes */
	bool set_policy; /* workers switch their policy, to one of: */
	struct pop_policy policy[POP_WANTS], bound;
	struct pop_policy before; /* of the caller, for running without workers */
	uint64_t *touched; /* bitmap of blocks with pages in them before the call; NULL: none */

	pthread_mutex_t lock;
	pthread_cond_t done, tried; /* a worker has ended; a try has */
	struct pop_decide decide;
	uint64_t cursor;     /* next block */
	uint64_t plain_from; /* address from which on the advice is MADV_NOHUGEPAGE, 0: nowhere */
	unsigned running;
	int error;          /* first -errno; ends the call */
	uint32_t limit;     /* what ended it, or limited it: enum cl_populate_limit */
	uint64_t room_next; /* done_bytes at which the room is looked at again */
	uint64_t done_bytes, huge_bytes, faults;
	uint64_t next_report_ns;
};

/* pop_fill.c: fill head, blocks and tail, with workers or without. 0 or -errno. */
int pop_fill(struct pop_job *job);
/* Cancelled, or out of time? Sets error and limit. Lock held. */
bool pop_job_over(struct pop_job *job);
/* Tell the caller how far it is, if it is time or `last`. On the calling thread, no lock. */
void pop_job_report(struct pop_job *job, bool last);

/* pop_collapse.c: turn base blocks into huge ones until enough are. 0 or -errno. */
int pop_collapse(struct pop_job *job);

/*
 * pop_ask.c: ask the kernel for a huge page at most so many times, beside the buffer, until it
 * gives one or has compacted; false: it did neither. Under the caller's memory policy. Adds to
 * *ns the time of the attempts alone, as changing mappings also waits for other workers.
 */
bool pop_ask(const struct pop_job *job, unsigned most, uint64_t *ns);

/* pop_survey.c */
/* Bytes of the range present or swapped out before the call; fills job->touched. -ENOMEM. */
int pop_survey_before(struct pop_job *job);
/* Huge bytes of [start, end); -errno without PAGEMAP_SCAN. */
int64_t pop_survey_huge(const struct pop_probe *p, uint64_t start, uint64_t end);
/* What is there now, by node, into the receipt. */
void pop_survey_after(struct pop_job *job);
/* Blocks of a chunk whose first page lies on a node of the set; -errno when not known. */
long pop_survey_on(const struct pop_job *job, uint64_t start, uint64_t blocks,
		   const struct pop_nodemask *m);
#endif
