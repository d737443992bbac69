/* SPDX-License-Identifier: MIT */
/*
 * thp_khugepaged.c - collapsing base pages into huge ones; see thp.h.
 */
#include "model/thp.h"

#include "model/policy.h"

int khugepaged_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

void khugepaged_step(struct model *m)
{
	NOT_YET(m);
}

void khugepaged_settings_changed(struct model *m)
{
	NOT_YET(m);
}

int khugepaged_collapse(struct model *m, region_id region, uint64_t index, bool is_khugepaged)
{
	NOT_YET(m, region, index, is_khugepaged);
}

gfp_t khugepaged_mainline_gfp(const struct model *m, bool is_khugepaged)
{
	NOT_YET(m, is_khugepaged);
}
