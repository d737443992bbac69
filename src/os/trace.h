/* SPDX-License-Identifier: MIT */
#ifndef OS_TRACE_H
#define OS_TRACE_H
/*
 * Time spent in compaction, from the kernel's tracepoints.
 *
 * An instance of our own in tracefs (compactlab-PID), so that nobody else's tracing is
 * touched; the watchdog removes it. tracefs itself is used through a mount of our own
 * that is attached nowhere.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include "os/watchdog.h"

/* ---- the account, from text --------------------------------------------------------- */

#define TRACE_TASKS 256

/* A task inside a compaction run. */
struct trace_task {
	int pid;
	bool daemon;
	uint64_t start_ns; /* of the run, or of the step when the run is older */
};

/* What the events of one step add up to. */
struct trace_sum {
	uint64_t compaction_ns; /* runs of tasks: direct, requested, khugepaged */
	uint64_t daemon_ns;     /* runs of kcompactd */
	uint64_t runs, daemon_runs;
	int defer_shift;  /* largest seen, -1: no deferral event */
	uint64_t damaged; /* events that could not be read */
	bool crowded;     /* more tasks at once than can be followed */
	unsigned tasks;
	struct trace_task task[TRACE_TASKS];
	char rest[1024]; /* an unfinished line */
	size_t rest_length;
};

/* A step starts at `now_ns` of the trace clock: sums to zero, runs under way are cut there. */
void trace_sum_start(struct trace_sum *s, uint64_t now_ns);
/* Take a piece of trace_pipe text; a line may be cut anywhere. */
void trace_sum_feed(struct trace_sum *s, const char *text, size_t length);
/* The step ends: what of the runs still under way belongs to it. */
void trace_sum_end(struct trace_sum *s, uint64_t now_ns);

/* ---- the instance --------------------------------------------------------------------- */

struct trace;

/* A tracefs root to give to the watchdog and trace_open(), or a negative errno. */
int trace_root(void);
/*
 * Make the instance and switch the events on; all of the group "compaction" when `copy` (may be
 * NULL) is to have their text. `why` receives the reason when there is no tracing here, which
 * is not an error of the run.
 */
int trace_open(int root, struct watchdog *w, FILE *copy, struct trace **out, char *why,
	       size_t size);
void trace_close(struct trace *t);

/* Between these two lies a step. trace_drain() may be called in between, the more events the
 * more often. */
void trace_start(struct trace *t);
void trace_drain(struct trace *t);
/* Returns 0, or -EOVERFLOW when events were lost: then the sums are too small. */
int trace_end(struct trace *t, struct trace_sum *out);
#endif
