/* SPDX-License-Identifier: MIT */
/*
 * layout.c - a machine put into a given physical state; snapshots of real machines; see layout.h.
 */
#include "model/layout.h"

void layout_begin(struct model *m)
{
	NOT_YET(m);
}

int layout_put(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind, uint8_t flags,
	       region_id region)
{
	NOT_YET(m, pfn, order, kind, flags, region);
}

void layout_put_pcp(struct model *m, pfn_t pfn, unsigned order, enum migratetype type, cpu_id cpu)
{
	NOT_YET(m, pfn, order, type, cpu);
}

void layout_put_free(struct model *m, pfn_t pfn, unsigned order)
{
	NOT_YET(m, pfn, order);
}

void layout_block_type(struct model *m, pfn_t pfn, enum migratetype type)
{
	NOT_YET(m, pfn, type);
}

void layout_end(struct model *m)
{
	NOT_YET(m);
}

int layout_config_from_zoneinfo(struct model_config *config, const char *zoneinfo)
{
	NOT_YET(config, zoneinfo);
}

int layout_load(struct model *m, const struct layout_snapshot *snap, uint64_t *guessed)
{
	NOT_YET(m, snap, guessed);
}
