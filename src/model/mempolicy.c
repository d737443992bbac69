/* SPDX-License-Identifier: MIT */
/*
 * mempolicy.c - memory policies and the local-first attempt of order 9; see mempolicy.h.
 */
#include "model/mempolicy.h"

pfn_t mempolicy_alloc(struct model *m, gfp_t gfp, unsigned order, const struct mempolicy *pol,
		      uint64_t ilx)
{
	NOT_YET(m, gfp, order, pol, ilx);
}

node_id mempolicy_node(struct model *m, gfp_t gfp, const struct mempolicy *pol, uint64_t ilx,
		       nodemask_t *mask)
{
	NOT_YET(m, gfp, pol, ilx, mask);
}

const struct mempolicy *mempolicy_of_region(const struct model *m, const struct region *r)
{
	NOT_YET(m, r);
}

uint64_t mempolicy_ilx_anon(const struct region *r, uint64_t index, unsigned order)
{
	NOT_YET(r, index, order);
}

uint64_t mempolicy_ilx_shmem(const struct region *r, uint64_t index, unsigned order)
{
	NOT_YET(r, index, order);
}
