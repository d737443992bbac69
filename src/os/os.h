/* SPDX-License-Identifier: MIT */
#ifndef OS_OS_H
#define OS_OS_H
/*
 * Running a plan's steps on the Linux this process runs on. Used by the host
 * backend and, inside a guest, by the program as init.
 *
 * Memory lives in worker processes: each fill and fault step forks one that maps
 * the memory, obeys commands over a socket (punch, pin, unpin, inspect, release)
 * and dies with its parent. Workers are the OOM killer's first choice, so running
 * out of memory kills a worker, never the runner, and is reported as that.
 *
 * Every step verifies its own effect; a step that did not achieve what it says is
 * an error that names the step, the file and the line.
 */
#include <compactlab/error.h>
#include <jansson.h>
#include <stdio.h>
#include "scenario/plan.h"

struct os_run {
	const struct plan *plan;
	void (*step)(void *arg, const char *step); /* a step starts; may be NULL */
	bool (*stopped)(void *arg); /* asked often; true: give up with -EINTR; may be NULL */
	void *arg;
	FILE *trace; /* gets the events of the group "compaction" as text; may be NULL */
	bool guard;  /* host: watch MemAvailable and memory pressure, stop before others suffer */
};

/* A plan that starts from a snapshot can run on the model only: -EOPNOTSUPP. */
int os_probe_snapshot(const struct plan *plan, struct cl_error *err);
/* Can the steps run here? Root, the files the plan's settings name, enough memory. */
int os_probe(const struct os_run *run, struct cl_error *err);

/*
 * Apply the settings, run the steps, put every setting back (a watchdog process
 * does, so it also happens when this process is killed), release all memory.
 * *record: kernel, wall_ns, evidence, settings_restored, steps. Null where something could not be
 * measured, with the reason in "notes".
 */
int os_run(const struct os_run *run, json_t **record, struct cl_error *err);
#endif
