/* SPDX-License-Identifier: MIT */
/*
 * buddy_block.c - whole blocks: retyping, isolation, the highatomic reserve; see buddy.h.
 */
#include "model/buddy.h"

uint32_t buddy_retype_block(struct model *m, struct zone *z, block_t b, enum migratetype type)
{
	NOT_YET(m, z, b, type);
}

int buddy_isolate_block(struct model *m, block_t b)
{
	NOT_YET(m, b);
}

void buddy_unisolate_block(struct model *m, block_t b, enum migratetype restore)
{
	NOT_YET(m, b, restore);
}

void buddy_reserve_highatomic(struct model *m, struct zone *z, pfn_t page, unsigned order)
{
	NOT_YET(m, z, page, order);
}

bool buddy_unreserve_highatomic(struct model *m, const struct alloc_context *ac, bool force)
{
	NOT_YET(m, ac, force);
}
