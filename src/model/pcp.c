/* SPDX-License-Identifier: MIT */
/*
 * pcp.c - per-CPU lists: sizes, refill, flush, drains, decay; see pcp.h.
 */
#include "model/pcp.h"

int pcp_init(struct model *m)
{
	NOT_YET(m);
}

bool pcp_order_ok(const struct model *m, unsigned order)
{
	NOT_YET(m, order);
}

void pcp_resize_zone(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}

pfn_t pcp_alloc(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		alloc_flags_t flags)
{
	NOT_YET(m, z, order, type, flags);
}

void pcp_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order)
{
	NOT_YET(m, z, pfn, order);
}

void pcp_drain_local(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}

void pcp_drain_all(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}

void pcp_tick(struct model *m)
{
	NOT_YET(m);
}

uint64_t pcp_zone_pages(const struct model *m, const struct zone *z)
{
	NOT_YET(m, z);
}

bool pcp_zone_is_valid(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}
