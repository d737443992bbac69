/* SPDX-License-Identifier: MIT */
/*
 * shrink.c - one reclaim pass over a node, in rounds of 32 folios; see reclaim.h.
 */
#include "model/reclaim.h"

void shrink_begin(struct model *m, struct scan_control *sc, struct node *n)
{
	NOT_YET(m, sc, n);
}

bool shrink_step(struct model *m, struct scan_control *sc)
{
	NOT_YET(m, sc);
}

bool shrink_end(struct model *m, struct scan_control *sc)
{
	NOT_YET(m, sc);
}

void shrink_node(struct model *m, struct scan_control *sc, struct node *n)
{
	NOT_YET(m, sc, n);
}
