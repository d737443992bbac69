/* SPDX-License-Identifier: MIT */
#ifndef OS_MEASURE_H
#define OS_MEASURE_H
/* The counters around a step. */
#include <compactlab/error.h>
#include <jansson.h>
#include <stdint.h>
#include "procfs/procfs.h"

struct measure {
	struct counters vmstat;
	struct buddyinfo buddy;
};

/* What /proc/vmstat and /proc/buddyinfo say now. */
int measure_take(struct measure *m, struct cl_error *err);
void measure_free(struct measure *m);

/* {name: delta} of the counters that changed. */
json_t *measure_vmstat(const struct measure *before, const struct measure *after);
/* {"before": [zone...], "after": [zone...]} */
json_t *measure_buddy(const struct measure *before, const struct measure *after);
/* How much one counter grew; 0 where the kernel does not have it. */
int64_t measure_grew(const struct measure *before, const struct measure *after, const char *name);
/* Pages pinned on the machine now, by anybody; 0 when unknown. */
int64_t measure_pins(void);
/* The oom_kill counter now, 0 when unknown. */
uint64_t measure_oom_kills(void);
#endif
