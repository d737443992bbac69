/* SPDX-License-Identifier: MIT */
/*
 * reclaim.c - direct reclaim and its readiness tests; see reclaim.h.
 */
#include "model/reclaim.h"

uint64_t reclaim_try_to_free(struct model *m, const struct alloc_context *ac, unsigned order)
{
	NOT_YET(m, ac, order);
}

bool reclaim_compaction_ready(struct model *m, struct zone *z, const struct scan_control *sc)
{
	NOT_YET(m, z, sc);
}

int reclaim_node(struct model *m, struct node *n, gfp_t gfp, unsigned order)
{
	NOT_YET(m, n, gfp, order);
}

bool reclaim_drop_caches_step(struct model *m, unsigned what, uint32_t *cursor)
{
	NOT_YET(m, what, cursor);
}

void reclaim_free_folio(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}
