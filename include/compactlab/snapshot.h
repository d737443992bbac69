/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_SNAPSHOT_H
#define COMPACTLAB_SNAPSHOT_H
/*
 * Snapshots: the physical layout of a machine's memory in a file, compactlab-snapshot(5).
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

/*
 * Take one of the running machine into a file, which is replaced when it is there. Root is needed,
 * and a kernel with CONFIG_PROC_PAGE_MONITOR (-EOPNOTSUPP). Memory is not changed by looking but
 * for about four bytes a page that this process needs meanwhile.
 */
int cl_snapshot_take(const char *path, struct cl_error *err);
/* Print what a file says, as text or as one JSON object. -EINVAL: it is no sound snapshot. */
int cl_snapshot_show(FILE *to, const char *path, bool json, struct cl_error *err);

#ifdef __cplusplus
}
#endif
#endif
