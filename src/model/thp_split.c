/* SPDX-License-Identifier: MIT */
/*
 * thp_split.c - splitting large folios and their mappings; see thp.h.
 */
#include "model/thp.h"

int thp_split(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void thp_unmap_part(struct model *m, region_id region, uint64_t index, uint64_t nr)
{
	NOT_YET(m, region, index, nr);
}
