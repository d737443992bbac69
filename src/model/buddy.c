/* SPDX-License-Identifier: MIT */
/*
 * buddy.c - free lists of one zone: take, split, free, merge, pristine runs; see buddy.h.
 */
#include "model/buddy.h"

int buddy_init_zone(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}

void buddy_boot_range(struct model *m, struct zone *z, pfn_t start, pfn_t end)
{
	NOT_YET(m, z, start, end);
}

void buddy_materialise(struct model *m, pfn_t pfn)
{
	NOT_YET(m, pfn);
}

pfn_t buddy_take(struct model *m, struct zone *z, unsigned order, enum migratetype type)
{
	NOT_YET(m, z, order, type);
}

void buddy_take_chunk(struct model *m, struct zone *z, pfn_t head)
{
	NOT_YET(m, z, head);
}

void buddy_split(struct model *m, struct zone *z, pfn_t pfn, unsigned high, unsigned low, enum
		 migratetype type)
{
	NOT_YET(m, z, pfn, high, low, type);
}

void buddy_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order, bool to_tail)
{
	NOT_YET(m, z, pfn, order, to_tail);
}

void buddy_rotate(struct model *m, struct zone *z, unsigned order, enum migratetype type, uint32_t
		  pos)
{
	NOT_YET(m, z, order, type, pos);
}

uint64_t buddy_list_chunks(const struct zone *z, unsigned order, enum migratetype type)
{
	NOT_YET(z, order, type);
}

bool buddy_zone_is_valid(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}
