/* SPDX-License-Identifier: MIT */
/*
 * cma.c - CMA areas, contiguous ranges, hugetlb pages; see cma.h.
 */
#include "model/cma.h"

int cma_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

int cma_alloc(struct model *m, unsigned area, uint32_t pages, unsigned align_order, region_id owner)
{
	NOT_YET(m, area, pages, align_order, owner);
}

void cma_release(struct model *m, unsigned area, pfn_t start, uint32_t pages)
{
	NOT_YET(m, area, start, pages);
}

int cma_alloc_range(struct model *m, pfn_t start, pfn_t end, enum migratetype type)
{
	NOT_YET(m, start, end, type);
}

int hugetlb_alloc(struct model *m, region_id pool, node_id nid)
{
	NOT_YET(m, pool, nid);
}

void hugetlb_free(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}
