/* SPDX-License-Identifier: MIT */
/*
 * watermark.c - min_free_kbytes, zone marks, reserves, boost and the watermark test; see watermark.h.
 */
#include "model/watermark.h"

void watermark_recalculate_min_free(struct model *m)
{
	NOT_YET(m);
}

void watermark_setup(struct model *m)
{
	NOT_YET(m);
}

bool watermark_ok(const struct zone *z, unsigned order, uint64_t mark, enum zone_class class,
		  alloc_flags_t flags, int64_t free)
{
	NOT_YET(z, order, mark, class, flags, free);
}

bool watermark_fast(const struct model *m, const struct zone *z, unsigned order, uint64_t mark,
		    enum zone_class class, alloc_flags_t flags, gfp_t gfp)
{
	NOT_YET(m, z, order, mark, class, flags, gfp);
}

bool watermark_boost(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}
