/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_ZONE_NAME_H
#define PROCFS_ZONE_NAME_H
/* Rows of zones: how buddyinfo, zoneinfo, pagetypeinfo and the fragmentation indices begin one. */
#include "procfs/span.h"
#include <stdbool.h>

/*
 * Take "Node 0, zone   Normal" off the front, with the comma that pagetypeinfo sets behind the
 * zone. When it is not there, or the name too long for PROCFS_NAME, s stays as it is.
 */
bool zone_name_take(struct span *s, int *node, struct span *zone);

struct zone_name_rows {
	unsigned count;
	void *row;        /* `count` of them, for free() */
	unsigned skipped; /* lines that are no row */
};

/*
 * A text of which each line is a row. `take` reads one into `row`, of `row_bytes`, zeroed; false
 * when it is none. -EINVAL, with nothing to free, when none of the lines is a row.
 */
int zone_name_rows(const char *text, size_t length, size_t row_bytes,
		   bool (*take)(struct span line, int number, void *row),
		   struct zone_name_rows *out);
#endif
