/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_COUNTERS_H
#define PROCFS_COUNTERS_H
/* Building a set of counters; see procfs.h for reading one. */
#include "procfs/procfs.h"
#include "procfs/span.h"

/* Append; a name that is too long is -EINVAL. counters_index() is due afterwards. */
int counters_add(struct counters *c, struct span name, uint64_t value, int line);
/* Drop repeated names and make by_name. Frees everything on failure. */
int counters_index(struct counters *c);
/* Is this a name as the kernel uses them in vmstat: a letter, then letters, digits, '_'? */
bool counters_name_ok(struct span name);
#endif
