/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_ZONE_NAME_H
#define PROCFS_ZONE_NAME_H
/* How buddyinfo, zoneinfo, pagetypeinfo and the fragmentation indices begin a row. */
#include "procfs/span.h"
#include <stdbool.h>

/*
 * Take "Node 0, zone   Normal" off the front, with the comma that pagetypeinfo sets behind the
 * zone. When it is not there, or the name too long for PROCFS_NAME, s stays as it is.
 */
bool zone_name_take(struct span *s, int *node, struct span *zone);
#endif
