/* SPDX-License-Identifier: MIT */
/*
 * compact_skip.c - resetting the skip bits; see compact.h.
 */
#include "model/compact.h"

void compact_reset_zone(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}

void compact_reset_node(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}
