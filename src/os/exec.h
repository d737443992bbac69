/* SPDX-License-Identifier: MIT */
#ifndef OS_EXEC_H
#define OS_EXEC_H
/* One run under way; shared by exec.c (the run) and step.c (one step of it). */
#include <compactlab/error.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include "os/measure.h"
#include "os/os.h"
#include "os/trace.h"
#include "os/watchdog.h"
#include "os/worker.h"

/* The counters around an operation. */
struct span {
	struct measure before, after;
	struct trace_sum trace;
	int traced; /* 0, or why the sums are not to be used */
};

/* What an unpin step that happens during a fault step leaves for its own record. */
struct during {
	struct span span;
	struct worker_reply reply;
	uint64_t at_bytes; /* of the fault step's memory were there when the pins had gone */
	uint64_t blocks_until_huge; /* see struct worker_reply */
};

struct exec {
	const struct os_run *run;
	const struct plan *plan;
	struct watchdog *dog;
	struct meter meter;
	struct trace *trace;        /* NULL: not traced, a note says why */
	struct worker **worker;     /* by the index of the step that made it */
	int64_t pins;               /* held on the machine before the run */
	unsigned now;               /* index of the step that runs */
	uint64_t oom_kills;         /* when the step began */
	uint64_t drained_ns;        /* when the trace was read last */
	struct inside *inside;      /* for snapshots; NULL: the kernel does not show itself */
	struct snapshot **snapshot; /* by the index of the step that wants one */
	struct during during;
	json_t *steps, *notes;
	json_t *restored; /* {path: value} of the settings that were put back */
};

/* Run step i and add its record. Errors name the step, the file and the line. */
int step_run(struct exec *x, unsigned i, struct cl_error *err);

/* Do the kernel's counters confirm what a pin or unpin step did? */
int step_check_pins(enum step_kind kind, const struct measure *before, const struct measure *after,
		    const struct worker_reply *reply, struct cl_error *err);

/* Did kernel memory grow by what a request step got? */
int step_check_requests(const struct step_request *s, const struct measure *before,
			const struct measure *after, const struct worker_reply *reply,
			struct cl_error *err);

/* Add a note once. */
void exec_note(struct exec *x, const char *text);

/*
 * Wait until a worker answers (`w` NULL: until `timeout_ns` is over), watching for a stop, the
 * death of any worker, and the guard; reads the trace now and then. Returns 0 or the error.
 */
int exec_wait(struct exec *x, struct worker *w, uint64_t timeout_ns, bool filling,
	      struct worker_reply *reply, struct cl_error *err);

/* Read the counters before an operation, and after it. */
int span_open(struct exec *x, struct span *s, struct cl_error *err);
int span_close(struct exec *x, struct span *s, struct cl_error *err);
void span_free(struct span *s);
#endif
