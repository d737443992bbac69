/* SPDX-License-Identifier: MIT */
/*
 * zonelist.h - the order in which zones are tried.
 */
#ifndef COMPACTLAB_MODEL_ZONELIST_H
#define COMPACTLAB_MODEL_ZONELIST_H

#include "model/types.h"

/* Mirrors build_all_zonelists() and find_next_best_node() (with its load tie-break). */
void zonelist_build(struct model *m);
/* Mirrors next_zones_zonelist(): index >= from of the next entry within class and mask, -1 at the end. */
static inline int zonelist_next(const struct zonelist *zl, int from, enum zone_class class, nodemask_t mask)
{
	for (int i = from; i < zl->nr; i++) {
		if (zl->ref[i].class > class)
			continue;
		if (mask != NODEMASK_NONE && !(mask >> zl->ref[i].node.v & 1))
			continue;
		return i;
	}
	return -1;
}

#define for_each_zoneref(i, zl, from, class, mask)                                                 \
	for ((i) = zonelist_next(zl, from, class, mask); (i) >= 0;                                 \
	     (i) = zonelist_next(zl, (i) + 1, class, mask))

#endif
