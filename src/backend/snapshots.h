/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_SNAPSHOTS_H
#define BACKEND_SNAPSHOTS_H
/*
 * Snapshots that came with a record go to files of their own: SCENARIO-VARIANT-KERNEL-REPEAT-STEP
 * with the ending .snapshot.gz, in `directory`. The record keeps the files' names.
 */
#include <compactlab/error.h>
#include <jansson.h>
#include "scenario/plan.h"

int snapshots_keep(const struct plan *plan, const char *directory, json_t *record,
		   struct cl_error *err);
#endif
