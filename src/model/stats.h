/* SPDX-License-Identifier: MIT */
/*
 * stats.h - the machine as the kernel's text files show it, and counters by number.
 */
#ifndef COMPACTLAB_MODEL_STATS_H
#define COMPACTLAB_MODEL_STATS_H

#include <stdio.h>

#include "model/types.h"

/* Machine-wide value of a row (sums zones or nodes). */
int64_t stats_get(const struct model *m, enum vmstat_item item);
/* All rows at once, values[NR_VMSTAT]. */
void stats_snapshot(const struct model *m, int64_t *values);
/* Does the machine's kernel have this row in /proc/vmstat? */
bool stats_is_printed(const struct model *m, enum vmstat_item item);
/* Rows in the printing order of the machine's kernel; how many. order[NR_VMSTAT]. */
uint32_t stats_vmstat_order(const struct model *m, uint16_t *order);

/* Texts in the kernel's own format. To a stream, so that size does not matter. */
void stats_vmstat(const struct model *m, FILE *out);
void stats_buddyinfo(const struct model *m, FILE *out);
void stats_pagetypeinfo(const struct model *m, FILE *out);
void stats_zoneinfo(const struct model *m, FILE *out);
void stats_pressure_memory(const struct model *m, FILE *out);
void stats_meminfo(const struct model *m, FILE *out);
void stats_extfrag_index(const struct model *m, FILE *out);
/* One value a pfn, as /proc/kpageflags gives them. */
uint64_t stats_kpageflags(const struct model *m, pfn_t pfn);

#endif
