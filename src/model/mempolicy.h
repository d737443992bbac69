/* SPDX-License-Identifier: MIT */
/*
 * mempolicy.h - which node a policy asks for, and the local-first attempt of order 9.
 */
#ifndef COMPACTLAB_MODEL_MEMPOLICY_H
#define COMPACTLAB_MODEL_MEMPOLICY_H

#include "model/types.h"

#define ILX_NONE UINT64_MAX /* page cache and kernel: the task's own rotor */

/* Mirrors alloc_pages_mpol(). pol NULL = the running task's. Held chunk or PFN_NONE. */
pfn_t mempolicy_alloc(struct model *m, gfp_t gfp, unsigned order, const struct mempolicy *pol,
		      uint64_t ilx) MUST_USE;
/* The policy that governs a page of a region: the region's, else the task's. */
static inline const struct mempolicy *mempolicy_of_region(const struct model *m,
							  const struct region *r)
{
	return r->has_policy ? &r->policy : &m->task[m->ctx.task.v].policy;
}
/* Interleave index of a page of an anonymous region, and of a shmem file. */
static inline uint64_t mempolicy_ilx_anon(const struct region *r, uint64_t index, unsigned order)
{
	return (r->pgoff >> order) + (index >> order);
}
uint64_t mempolicy_ilx_shmem(const struct region *r, uint64_t index, unsigned order);

#endif
