/* SPDX-License-Identifier: MIT */
/*
 * alloc.c - the allocator's fast path: flags, the freelist walk, rmqueue, freeing; see alloc.h.
 */
#include "model/alloc.h"

pfn_t alloc_pages(struct model *m, gfp_t gfp, unsigned order, node_id nid, nodemask_t mask)
{
	NOT_YET(m, gfp, order, nid, mask);
}

void free_pages(struct model *m, pfn_t pfn, unsigned order)
{
	NOT_YET(m, pfn, order);
}

pfn_t alloc_walk(struct model *m, unsigned order, alloc_flags_t flags, const struct alloc_context
		 *ac)
{
	NOT_YET(m, order, flags, ac);
}

pfn_t alloc_rmqueue(struct model *m, struct zone *preferred, struct zone *z, unsigned order,
		    alloc_flags_t flags, const struct alloc_context *ac)
{
	NOT_YET(m, preferred, z, order, flags, ac);
}

alloc_flags_t alloc_nofragment(const struct model *m, const struct alloc_context *ac, gfp_t gfp)
{
	NOT_YET(m, ac, gfp);
}

alloc_flags_t alloc_flags_slow(const struct model *m, gfp_t gfp, unsigned order)
{
	NOT_YET(m, gfp, order);
}
