/* SPDX-License-Identifier: MIT */
/*
 * fallback.c - other types' lists: CMA, claiming a block, stealing a page; see fallback.h.
 */
#include "model/fallback.h"

pfn_t fallback_take(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		    alloc_flags_t flags, enum rmqueue_mode *mode)
{
	NOT_YET(m, z, order, type, flags, mode);
}

uint32_t fallback_bulk(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		       alloc_flags_t flags, uint32_t n, void (*add)(void *ctx, pfn_t pfn), void
		       *ctx)
{
	NOT_YET(m, z, order, type, flags, n, add, ctx);
}

bool fallback_claimable(unsigned order, enum migratetype request)
{
	return order >= 4 || request == MIGRATE_UNMOVABLE || request == MIGRATE_RECLAIMABLE;
}

int fallback_find(const struct zone *z, unsigned order, enum migratetype request, bool claimable)
{
	NOT_YET(z, order, request, claimable);
}
