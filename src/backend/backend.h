/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_BACKEND_H
#define BACKEND_BACKEND_H
/*
 * A backend runs plans. Three exist: the model, a guest in QEMU, the host.
 *
 * A backend never prints. It gets a plan (complete and valid) and gives back one
 * record, or an error. It leaves nothing behind: no process, no file, no setting.
 */
#include <compactlab/error.h>
#include <compactlab/run.h>
#include <jansson.h>
#include "scenario/plan.h"

struct policy;

struct backend_run {
	const struct plan *plan;
	const struct cl_scenario *scenario; /* for backends that ship it elsewhere */
	const char *kernel;                 /* guest: image wanted, or NULL */
	const char *keep_logs;              /* directory for console logs, or NULL */
	bool clean_log;                     /* guest: what its kernel complains of is an error */
	const struct policy *policy;        /* model: one from a file, or NULL */
	FILE *trace;                        /* gets the compaction tracepoints as text, or NULL */
	/* Called when a step starts; any thread. May be NULL. */
	void (*step)(void *arg, const char *step);
	/* True once the run should be given up: return -EINTR soon. Any thread. May be NULL. */
	bool (*stopped)(void *arg);
	void *arg;
};

struct backend {
	const char *name;
	bool traces; /* can write to backend_run.trace */
	/*
	 * Can this backend run this plan here? 0, or -EOPNOTSUPP and what is missing
	 * and how to get it. Cheap; changes nothing.
	 */
	int (*probe)(const struct backend_run *run, struct cl_error *err);
	/*
	 * Run it. *record is a new reference with every field of a record except those
	 * the runner adds (schema, scenario, scenario_sha256, backend, variant, policy,
	 * seed, repeat, version). Called from several threads when jobs() > 1.
	 */
	int (*run)(const struct backend_run *run, json_t **record, struct cl_error *err);
	/*
	 * How many runs of this plan make sense at the same time here. Where this says 1,
	 * run() is never called twice at the same time, whatever the user asks for.
	 */
	unsigned (*jobs)(const struct backend_run *run);
};

extern const struct backend backend_model;
extern const struct backend backend_guest;
extern const struct backend backend_host;

const struct backend *backend_find(const char *name); /* NULL: unknown */
extern const char backend_default[];
#endif
