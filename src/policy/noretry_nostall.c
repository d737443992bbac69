/* SPDX-License-Identifier: MIT */
/*
 * noretry_nostall.c - costly requests that may not retry do not reclaim or compact themselves.
 *
 * A request of one node alone is left as it is, so that the first, local try of a huge page still
 * compacts. Losing direct reclaim has consequences of its own: the request counts as non-blocking,
 * which lets it use reserves (unless NOMEMALLOC) and makes kswapd hand on to kcompactd.
 */
#include "model/policy.h"

static gfp_t slow_gfp(struct model *m, gfp_t gfp, unsigned order)
{
	(void)m;
	if (order > PAGE_ALLOC_COSTLY_ORDER && gfp & __GFP_NORETRY && !(gfp & __GFP_THISNODE))
		gfp &= ~__GFP_DIRECT_RECLAIM;
	return gfp;
}

/* Without this, what no longer blocks would mix types instead under defrag_mode. Any order. */
static bool may_drop_nofragment(struct model *m, gfp_t gfp, unsigned order)
{
	(void)m;
	(void)order;
	return !(gfp & __GFP_NORETRY);
}

const struct policy policy_noretry_nostall = {
	.name = "noretry-nostall",
	.summary = "costly NORETRY requests without THISNODE never reclaim or compact directly",
	.thread = "mm/page_alloc: avoid direct reclaim and compaction for costly __GFP_NORETRY "
		  "allocations, v6, linux-mm, October 2026",
	.slow_gfp = slow_gfp,
	.may_drop_nofragment = may_drop_nofragment,
};
