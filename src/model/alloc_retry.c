/* SPDX-License-Identifier: MIT */
/*
 * alloc_retry.c - what both slow paths share: wrappers, retry predicates, OOM; see alloc.h.
 */
#include "model/alloc.h"

pfn_t alloc_direct_compact(struct model *m, unsigned order, alloc_flags_t flags, const struct
			   alloc_context *ac, enum compact_priority prio, enum compact_result
			   *result)
{
	NOT_YET(m, order, flags, ac, prio, result);
}

pfn_t alloc_direct_reclaim(struct model *m, unsigned order, alloc_flags_t flags, const struct
			   alloc_context *ac, uint64_t *progress)
{
	NOT_YET(m, order, flags, ac, progress);
}

bool alloc_should_reclaim_retry(struct model *m, const struct alloc_context *ac, unsigned
				reclaim_order, alloc_flags_t flags, bool progress, int *no_progress)
{
	NOT_YET(m, ac, reclaim_order, flags, progress, no_progress);
}

bool alloc_should_compact_retry(struct model *m, const struct alloc_context *ac, unsigned
				reclaim_order, alloc_flags_t flags, enum compact_result result,
				enum compact_priority *prio, int *retries)
{
	NOT_YET(m, ac, reclaim_order, flags, result, prio, retries);
}

pfn_t alloc_oom(struct model *m, const struct alloc_context *ac, bool *progress)
{
	NOT_YET(m, ac, progress);
}

uint64_t alloc_reclaimable(const struct model *m, const struct zone *z)
{
	NOT_YET(m, z);
}
