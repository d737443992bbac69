/* SPDX-License-Identifier: MIT */
/*
 * fallback.h - what happens when a type's own lists are empty: CMA, claiming a block, stealing a page.
 */
#ifndef COMPACTLAB_MODEL_FALLBACK_H
#define COMPACTLAB_MODEL_FALLBACK_H

#include "model/types.h"

/* The mode a bulk refill remembers between pages. */
enum rmqueue_mode { RMQUEUE_NORMAL, RMQUEUE_CMA, RMQUEUE_CLAIM, RMQUEUE_STEAL };

/* Mirrors __rmqueue(): own lists, CMA, claim, steal. Held chunk or PFN_NONE. Emits the extfrag event. */
pfn_t fallback_take(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		    alloc_flags_t flags, enum rmqueue_mode *mode);
/* Mirrors rmqueue_bulk(): up to n chunks into taken[], in the order taken; returns how many. */
uint32_t fallback_bulk(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		       alloc_flags_t flags, uint32_t n, pfn_t *taken);

/* Mirrors should_try_claim_block(): may a request of this type retype a block through such a chunk? */
bool fallback_claimable(unsigned order, enum migratetype request);
/* Mirrors find_suitable_fallback(): first non-empty fallback type at this order; -1 none; with
 * `claimable` -2 when no chunk of this order may be claimed, whether there is one or not. Used by the finish test of compaction. */
int fallback_find(const struct zone *z, unsigned order, enum migratetype request, bool claimable);

#endif
