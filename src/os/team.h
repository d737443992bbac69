/* SPDX-License-Identifier: MIT */
#ifndef OS_TEAM_H
#define OS_TEAM_H
/*
 * Threads that start together. They are created, placed and parked at a barrier
 * before the clock starts; the time is from the first start to the last end, taken
 * by the threads themselves.
 */
#include <compactlab/error.h>
#include <sched.h>
#include <stdint.h>
#include "os/numa.h"

struct team;

struct team_place {
	const cpu_set_t *cpus; /* one each, in turn; NULL: anywhere */
	enum numa_mode mode;
	uint64_t nodes; /* of the mode, one bit each */
};

/* `work` returns 0 or a negative errno; it is called once in each thread. */
int team_start(unsigned threads, const struct team_place *place,
	       int (*work)(void *arg, unsigned thread), void *arg, struct team **out,
	       struct cl_error *err);
/* Let them go, wait for the end. Returns the first error. The team can only be dropped then. */
int team_run(struct team *t, uint64_t *time_ns);
/* End the threads, also when they never ran. NULL is allowed. */
void team_drop(struct team *t);
#endif
