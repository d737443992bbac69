/* SPDX-License-Identifier: MIT */
#ifndef OS_SNAPSHOT_STEP_H
#define OS_SNAPSHOT_STEP_H
/*
 * Snapshots of a run: of the machine as it is between the preparation of a step and its operation.
 * The memory they need is taken before the first step, and they are packed after the last.
 */
#include "os/exec.h"

/* Make room for those that the plan asks for. */
int snapshot_prepare(struct exec *x, struct cl_error *err);
/* Take the one before step i, if it is wanted and was not taken yet. */
int snapshot_before(struct exec *x, unsigned i, struct cl_error *err);
/* Add them to the record: "snapshots": {step: the file's bytes in base64}. */
int snapshot_hand_over(struct exec *x, json_t *record, struct cl_error *err);
void snapshot_forget(struct exec *x);
#endif
