/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_CALIBRATE_H
#define BACKEND_CALIBRATE_H
/*
 * From records of the scenario of calibrate.c to costs. Each is a difference of two steps, or a
 * step's time less what is known of it, over a counter; from each record, then the median.
 */
#include "model/cost.h"
#include "result/record.h"

struct calibrated {
	unsigned values; /* records that told it; 0: it keeps its default */
	uint64_t ns, low, high;
};

/* The scenario; it has one variant. The caller frees it. */
int calibrate_scenario(struct cl_scenario **out, struct cl_error *err);
/* How a cost is measured, in a few words; NULL where it is not. */
const char *calibrate_how(enum cost_id id);
/*
 * A cost is not measured when fewer than half of the records tell it, or their median is below zero.
 * 0, -ENOMEM.
 */
int calibrate_fit(const struct cl_results *records, struct calibrated out[NR_COSTS]);
#endif
