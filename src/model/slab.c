/* SPDX-License-Identifier: MIT */
/*
 * slab.c - object caches as users of pages; see slab.h.
 */
#include "model/slab.h"

int slab_cache_new(struct model *m, const char *name, uint32_t object_bytes, bool reclaimable)
{
	NOT_YET(m, name, object_bytes, reclaimable);
}

int slab_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

uint64_t slab_alloc(struct model *m, int cache, gfp_t gfp, uint64_t n)
{
	NOT_YET(m, cache, gfp, n);
}

uint64_t slab_free_oldest(struct model *m, int cache, uint64_t n)
{
	NOT_YET(m, cache, n);
}

uint64_t slab_shrink(struct model *m, struct scan_control *sc, struct node *n)
{
	NOT_YET(m, sc, n);
}

gfp_t slab_mainline_gfp(gfp_t gfp, unsigned order, unsigned min_order)
{
	NOT_YET(gfp, order, min_order);
}
