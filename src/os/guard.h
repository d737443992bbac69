/* SPDX-License-Identifier: MIT */
#ifndef OS_GUARD_H
#define OS_GUARD_H
/* Leaving memory for the others on a machine that is not only ours. */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdint.h>
#include "scenario/plan.h"

#define GUARD_PLAN_BYTES (600ull << 20) /* MemAvailable that a plan must leave */
#define GUARD_STOP_BYTES (512ull << 20) /* MemAvailable at which a run is stopped */
#define GUARD_PRESSURE   70.0           /* percent of time all tasks stalled, while filling */

/* MemAvailable, and less where this process's memory control group allows less. */
int guard_available(uint64_t *bytes);

/* Would the plan, at its fullest, leave GUARD_PLAN_BYTES? `guard` false: is it possible at all? */
int guard_plan(const struct plan *p, bool guard, struct cl_error *err);

/* Is it still all right? `filling`: nothing should stall, so pressure counts too. */
int guard_check(bool filling, struct cl_error *err);
/* The same on given numbers, for tests: MemAvailable and PSI full avg10. */
int guard_judge(uint64_t available, double full_avg10, bool filling, struct cl_error *err);
#endif
