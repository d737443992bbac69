/* SPDX-License-Identifier: MIT */
/*
 * thp.c - anonymous page faults of all orders; see thp.h.
 */
#include "model/thp.h"

struct fault_result thp_fault(struct model *m, region_id region, uint64_t index, bool write)
{
	NOT_YET(m, region, index, write);
}

uint32_t thp_fault_orders(const struct model *m, const struct region *r, uint64_t index)
{
	NOT_YET(m, r, index);
}

gfp_t thp_mainline_gfp(const struct model *m, bool advised)
{
	NOT_YET(m, advised);
}

bool thp_raises_min_free(const struct model *m)
{
	NOT_YET(m);
}
