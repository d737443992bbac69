/* SPDX-License-Identifier: MIT */
/*
 * slab.h - object caches as users of pages: order choice, fallback to the minimum order, shrinking.
 */
#ifndef COMPACTLAB_MODEL_SLAB_H
#define COMPACTLAB_MODEL_SLAB_H

#include "model/types.h"

/* Mirrors calculate_order()/calculate_sizes() for the machine's CPUs. Index of the new cache,
 * -ENOSPC. */
int slab_cache_new(struct model *m, const char *name, uint32_t object_bytes,
		   bool reclaimable) MUST_USE;
/* The caches every machine has, in this order. */
enum slab_known {
	SLAB_DENTRY,
	SLAB_INODE,
	SLAB_SHMEM_INODE,
	SLAB_XARRAY_NODE,
	SLAB_KMALLOC_1K,
	SLAB_LSM_INODE, /* what security modules keep of an inode */
	SLAB_MAPLE_NODE,
	NR_SLAB_KNOWN
};
int slab_init(struct model *m) MUST_USE;
/* Allocates n objects with the caller's gfp; how many succeeded. Mirrors allocate_slab(). */
uint64_t slab_alloc(struct model *m, int cache, gfp_t gfp, uint64_t n);
/* Frees the n oldest objects; empty slabs go back to the allocator. Pages freed. */
uint64_t slab_free_oldest(struct model *m, int cache, uint64_t n);
/* A held chunk becomes a slab of the cache, full of objects that nobody uses: for layouts.
 * 0, -ENOSPC. */
int slab_adopt(struct model *m, int cache, pfn_t head, unsigned order) MUST_USE;
/* Mirrors shrink_slab() for one node at one priority: pages freed. */
uint64_t slab_shrink(struct model *m, struct scan_control *sc, struct node *n);
/* Mirrors the high-order attempt's gfp of SLUB; the hook is policy->slab_gfp. */
gfp_t slab_mainline_gfp(gfp_t gfp, unsigned order, unsigned min_order);

#endif
