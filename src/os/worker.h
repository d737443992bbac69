/* SPDX-License-Identifier: MIT */
#ifndef OS_WORKER_H
#define OS_WORKER_H
/*
 * Worker processes: who holds the memory.
 *
 *   runner ---- one socket a worker ----> worker of step "hog"   (its memory, its pins)
 *      |                                  worker of step "populate"
 *      +------- socket -----------------> watchdog               (settings to put back)
 *
 * A worker is a fork of the runner, so it has the plan; a request is only a step
 * index and a phase. Each step is done in three phases so that nothing but the
 * operation lies between the two snapshots of the counters:
 *
 *   PREPARE   reserve, look up, select, start threads       (before the first snapshot)
 *   ACT       the operation; its time is taken inside the worker
 *   VERIFY    did it do what it says, where are the pages    (after the second snapshot)
 *
 * A worker is killed by the kernel when its parent dies, is the OOM killer's
 * first choice, and closes every descriptor it does not need.
 */
#include <compactlab/error.h>
#include <stdatomic.h>
#include <sys/types.h>
#include <time.h>
#include "os/pagemap.h"
#include "scenario/plan.h"
#include "util/latency.h"

#define PAGE_BYTES     4096ull
#define HUGE_BYTES     (2ull << 20)
#define PAGES_PER_HUGE (HUGE_BYTES / PAGE_BYTES)

enum worker_phase { WORKER_PREPARE, WORKER_ACT, WORKER_VERIFY };

struct worker_request {
	enum worker_phase phase;
	unsigned step;
};

struct worker_reply {
	int status;
	struct cl_error error;
	uint64_t time_ns; /* ACT */
	uint64_t bytes;   /* memory the step made or wrote */
	uint64_t freed_pages, kept_pages;
	uint64_t pinned_pages;
	uint64_t pin_references; /* at least so many stay held when pins of one folio are merged */
	uint64_t files;
	uint64_t blocks_until_huge; /* of 2 MiB, from the mark to the first huge page, or the end */
	bool has_pages;
	struct node_pages pages[PLAN_MAX_NODES];
	bool has_latency;
	struct latency_summary latency[FAULT_CLASSES];
	char note[256]; /* something the reader of the record must know, or "" */
};

/* One page shared by runner and worker: what the runner must know if the worker dies. */
struct worker_shared {
	_Atomic uint64_t held_bytes;
	/* Where the memory is in the worker's address space, after its last answer; see struct
	 * memory. */
	_Atomic uintptr_t base, place;
	_Atomic uint64_t bytes;
	_Atomic uint64_t mark; /* bytes of a fault step that were there when something happened */
};

struct punch;
struct pin;
struct team;
struct files;
struct writing;
struct requests;
struct fault_io;

/* What a worker holds. One a worker; lives in the worker only. */
struct memory {
	const struct plan *plan;
	bool guard; /* on somebody's machine, not in a guest */
	struct worker_shared *shared;
	unsigned step; /* index of the step that made it */
	enum fill_memory kind;
	int node;       /* bound to it, or PLAN_NODE_ANY */
	char *base;     /* 2 MiB aligned; NULL: nothing mapped */
	uint64_t bytes; /* filled so far, or to be faulted */
	uint64_t room;  /* address space at base */
	char *reserve;  /* the mapping around it, with a guard area on both sides */
	uint64_t reserve_bytes;
	int fd;          /* shmem or file, else -1 */
	uint32_t *place; /* of each page, its position when it was filled; NULL: unmoved */
	uint64_t place_bytes;
	uint64_t leave_bytes; /* fill: stop when so much is free; 0: fill `room` */
	uint64_t bound_bytes;
	struct team *team;
	struct punch *punch; /* between PREPARE and VERIFY of a punch */
	struct pin *pins;    /* one a pin step, and one a thread of a fault that pins */
	struct files *files;
	struct writing *writing;
	struct requests *requests;
	struct fault_io *io; /* of a fault that times its faults or writes files meanwhile */
};

/* One kind of step as done by a worker; NULL phases do nothing. Errors go to reply->error. */
struct worker_job {
	int (*prepare)(struct memory *m, unsigned step, struct worker_reply *reply);
	int (*act)(struct memory *m, unsigned step, struct worker_reply *reply);
	int (*verify)(struct memory *m, unsigned step, struct worker_reply *reply);
};

extern const struct worker_job fill_job, punch_job, pin_job, unpin_job, fault_job, release_job,
	files_job, write_job, request_job;

/* ---- the runner's side -------------------------------------------------------------- */

struct worker {
	pid_t pid;
	int fd;
	struct worker_shared *shared;
};

/* Fork a worker for `step`. It is ready when this returns. */
int worker_start(const struct plan *plan, bool guard, unsigned step, struct worker **out,
		 struct cl_error *err);
int worker_send(struct worker *w, enum worker_phase phase, unsigned step);
/* Take a reply that poll() announced. -EPIPE: the worker is dead. */
int worker_receive(struct worker *w, struct worker_reply *reply);
uint64_t worker_held(const struct worker *w);
/* The status of a dead worker as waitpid() gives it. */
int worker_wait(struct worker *w);
/* Kill it, with all it holds, and wait until it is gone. NULL is allowed. */
void worker_stop(struct worker *w);

/* ---- inside a worker ---------------------------------------------------------------- */

/*
 * The pages a step's memory has now, by node; *total of them. When `want` are expected but not
 * there, it looks again for a while: khugepaged and compaction take pages away for a moment.
 */
int memory_pages(struct memory *m, struct node_pages pages[PLAN_MAX_NODES], uint64_t want,
		 uint64_t *total, struct cl_error *err);
/* Address space of `bytes` that starts on a 2 MiB boundary and has no neighbours. */
int memory_reserve(struct memory *m, uint64_t bytes, struct cl_error *err);
void memory_unmap(struct memory *m);
/* An array in a mapping of its own that never gets huge pages; table_free() it. */
void *table_new(uint64_t bytes);
void table_free(void *table, uint64_t bytes);
/* Bytes of an amount, shares taken of what is free on `node` now. */
int amount_bytes(const struct amount *a, int node, uint64_t *bytes);

void punch_free(struct punch *p);
/* Gives back what the kernel allocated for them. NULL is allowed. */
void requests_free(struct requests *q);
/*
 * Move the pages together in the address space, in order, frames unchanged. Can it be done to
 * this memory; do it. A failure leaves every page somewhere, with its place known.
 */
bool squeeze_can(const struct memory *m);
int squeeze(struct memory *m);
void pin_release_all(struct memory *m);
/*
 * Pin a range that is not there yet: the kernel faults it in as it pins. What holds the pins is
 * made before, so that it is not asked for between the pages. pin_range() may be called by a thread
 * for each range. The pins go with pin_release_all(), or with the process.
 */
int pin_range_prepare(struct memory *m, char *at, uint64_t bytes, struct cl_error *err);
int pin_range(struct memory *m, const char *at, uint64_t bytes);
/* Is there an io_uring to hold pins? */
int pin_probe(struct cl_error *err);

static inline uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}
#endif
