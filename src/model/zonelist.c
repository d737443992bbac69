/* SPDX-License-Identifier: MIT */
/*
 * zonelist.c - the order in which zones are tried; see zonelist.h.
 */
#include "model/zonelist.h"

void zonelist_build(struct model *m)
{
	NOT_YET(m);
}

int zonelist_next(const struct zonelist *zl, int from, enum zone_class class, nodemask_t mask)
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
