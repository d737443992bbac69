/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_CALIBRATE_H
#define COMPACTLAB_CALIBRATE_H
/*
 * Measuring what work costs on a kernel, for [machine] costs of a scenario on the model.
 */
#include <compactlab/error.h>
#include <compactlab/run.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

/*
 * Run the small scenario that tells costs apart, and print them to `to`: as a file that a
 * scenario takes or, with `json`, as one object. Of `run`, which says where and how often, the
 * backend (NULL: guest), kernels (one name), repeat (0: 3) and the callbacks count. A cost that
 * could not be measured keeps the model's own, and the text says so. On the host it holds at most
 * 1 GiB, and compacts all memory.
 */
int cl_calibrate(FILE *to, const struct cl_run_options *run, bool json, struct cl_error *err);

#ifdef __cplusplus
}
#endif
#endif
