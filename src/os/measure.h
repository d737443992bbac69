/* SPDX-License-Identifier: MIT */
#ifndef OS_MEASURE_H
#define OS_MEASURE_H
/*
 * The counters around a step.
 *
 * Reading them must not show in them: the files are kept open, as to open one takes memory, the
 * text goes to memory that is there, and is parsed when the step is over.
 */
#include <compactlab/error.h>
#include <jansson.h>
#include <stdint.h>
#include "procfs/procfs.h"
#include "scenario/plan.h"

/* The open files. */
struct meter {
	int refresh, vmstat, buddyinfo;
	int kswapd[PLAN_MAX_NODES]; /* schedstat of each kswapd */
	unsigned kswapds;
};

struct measure {
	char *text; /* as read; not there after measure_parse() */
	size_t vmstat_length, buddy_length;
	int64_t kswapd_ns; /* CPU time of all kswapd threads since boot; -1: not known */
	struct counters vmstat;
	struct buddyinfo buddy;
};

int meter_open(struct meter *t, struct cl_error *err);
void meter_close(struct meter *t);

/* Make room for the text; measure_free() it. */
int measure_room(struct measure *m, struct cl_error *err);
/* What /proc/vmstat and /proc/buddyinfo say now, as text, and kswapd's time. May be repeated. */
int measure_read(const struct meter *t, struct measure *m, struct cl_error *err);
int measure_parse(struct measure *m, struct cl_error *err);
/* All of that at once, where it does not matter what it costs. */
int measure_take(struct measure *m, struct cl_error *err);
void measure_free(struct measure *m);

/* {name: delta} of the counters that changed. */
json_t *measure_vmstat(const struct measure *before, const struct measure *after);
/* {"before": [zone...], "after": [zone...]} */
json_t *measure_buddy(const struct measure *before, const struct measure *after);
/* CPU time of the kswapd threads in between, in ns, or null. */
json_t *measure_kswapd(const struct measure *before, const struct measure *after);
/* How much one counter grew; 0 where the kernel does not have it. */
int64_t measure_grew(const struct measure *before, const struct measure *after, const char *name);
/* Pages pinned on the machine now, by anybody; 0 when unknown. */
int64_t measure_pins(void);
/* The oom_kill counter now, 0 when unknown. */
uint64_t measure_oom_kills(void);
#endif
