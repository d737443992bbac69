/* SPDX-License-Identifier: MIT */
/*
 * compactlab.h - the places in mm where a policy decides otherwise than mainline.
 *
 * The semantic patches beside this file put the calls in. Every function gives mainline's answer
 * while no policy is active; vm.compactlab_policy chooses which are.
 */
#ifndef MM_COMPACTLAB_H
#define MM_COMPACTLAB_H

#include <linux/compaction.h>
#include <linux/gfp.h>
#include <linux/mmzone.h>
#include <linux/random.h>

enum compactlab_policy {
	COMPACTLAB_DEFER_ASYNC_V2,
	COMPACTLAB_DEFER_ASYNC_V3,
	COMPACTLAB_SAMPLE_RANDOM,
	COMPACTLAB_NORETRY_NOSTALL,
	COMPACTLAB_MIGRATABLE_CHECK,
	COMPACTLAB_THP_DEFRAG_2016,
	COMPACTLAB_THP_DEFRAG_2016_PATCH,
};

extern unsigned long compactlab_policies; /* bit mask of enum compactlab_policy */

static inline bool compactlab_active(enum compactlab_policy policy)
{
	return READ_ONCE(compactlab_policies) & BIT(policy);
}

static inline bool compactlab_defers_async(void)
{
	return compactlab_active(COMPACTLAB_DEFER_ASYNC_V2) ||
	       compactlab_active(COMPACTLAB_DEFER_ASYNC_V3);
}

/*
 * Deferral kept per mode. The zone's own fields are the state of synchronous runs; the one of
 * asynchronous direct runs is ours. Asked after the former let the run pass.
 */
bool compactlab_deferred(struct zone *zone, int order, enum compact_priority prio);
void compactlab_run_ended(struct zone *zone, int order, enum compact_priority prio,
			  enum compact_result status);
void compactlab_defer_reset(struct zone *zone, int order, bool alloc_success);
void compactlab_defer_forget(void); /* all zones, when the policy changes */

struct compactlab_defer {
	unsigned int considered;
	unsigned int shift;
	int order_failed;
};
/* What a deferral event prints for asynchronous runs. */
struct compactlab_defer compactlab_defer_state(struct zone *zone);

/* May this run clear the skip hints when the zone is restarting? */
static inline bool compactlab_may_restart(enum migrate_mode mode)
{
	return mode != MIGRATE_ASYNC || !compactlab_active(COMPACTLAB_DEFER_ASYNC_V2);
}

/*
 * A sampling pass over the whole block found nothing: is there to be another one, and from where?
 * The first pass stays, as a free chunk as large as the stride is visible at its head only.
 */
static inline bool compactlab_resample(unsigned long *pfn, unsigned long block_start,
				       unsigned long block_end, unsigned long isolated,
				       unsigned int stride)
{
	unsigned long start;

	if (!compactlab_active(COMPACTLAB_SAMPLE_RANDOM) || isolated || stride <= 1 ||
	    *pfn != block_end)
		return false;
	start = block_start + 1 + get_random_u32_below(stride - 1);
	if (start >= block_end)
		return false;
	*pfn = start;
	return true;
}

/* The flags that the slow path works with. */
static inline gfp_t compactlab_slowpath_gfp(gfp_t gfp, unsigned int order)
{
	if (compactlab_active(COMPACTLAB_NORETRY_NOSTALL) && order > PAGE_ALLOC_COSTLY_ORDER &&
	    gfp & __GFP_NORETRY && !(gfp & __GFP_THISNODE))
		gfp &= ~__GFP_DIRECT_RECLAIM;
	return gfp;
}

/* May a request that cannot reclaim mix migrate types under defrag_mode? */
static inline bool compactlab_may_fragment(gfp_t gfp)
{
	return !(compactlab_active(COMPACTLAB_NORETRY_NOSTALL) && gfp & __GFP_NORETRY);
}

/* Has the node enough migratable pages for compaction to be worth a try in the zone? */
bool compactlab_enough_migratable(struct zone *zone, int order);

/* Of a huge page that a fault asks for, of one for khugepaged, of a slab of high order. */
static inline gfp_t compactlab_fault_gfp(gfp_t gfp)
{
	if (compactlab_active(COMPACTLAB_THP_DEFRAG_2016))
		gfp = (gfp & ~__GFP_KSWAPD_RECLAIM) | __GFP_NORETRY;
	else if (compactlab_active(COMPACTLAB_THP_DEFRAG_2016_PATCH))
		gfp |= __GFP_NORETRY;
	return gfp;
}

static inline gfp_t compactlab_khugepaged_gfp(gfp_t gfp)
{
	if (compactlab_active(COMPACTLAB_THP_DEFRAG_2016) ||
	    compactlab_active(COMPACTLAB_THP_DEFRAG_2016_PATCH))
		gfp |= __GFP_NORETRY;
	return gfp;
}

static inline gfp_t compactlab_slab_gfp(gfp_t gfp, gfp_t asked)
{
	if (compactlab_active(COMPACTLAB_THP_DEFRAG_2016))
		gfp |= asked & __GFP_KSWAPD_RECLAIM;
	return gfp;
}

#endif
