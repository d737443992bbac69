/* SPDX-License-Identifier: MIT */
/*
 * compactlab_defer.c - a deferral state of asynchronous direct compaction for each zone.
 *
 * The rules are those that the kernel has for its one state: after the n-th failure in a row the
 * next 2^n - 1 attempts are not made, up to 63. "mm/compaction: stop repeating failed async
 * compaction on every THP fault", linux-mm, October-November 2026.
 */
#include <linux/mm.h>

#include "internal.h" /* struct compact_control, which the events need */
#include "compactlab.h"

#include <trace/events/compaction.h>

#define MAX_SHIFT 6

/* As the kernel's own state: read and written without a lock, an update may get lost. */
static struct compactlab_defer states[MAX_NUMNODES][MAX_NR_ZONES];

static struct compactlab_defer *state_of(struct zone *zone)
{
	return &states[zone_to_nid(zone)][zone_idx(zone)];
}

struct compactlab_defer compactlab_defer_state(struct zone *zone)
{
	return *state_of(zone);
}

void compactlab_defer_forget(void)
{
	memset(states, 0, sizeof(states));
}

bool compactlab_deferred(struct zone *zone, int order, enum compact_priority prio)
{
	struct compactlab_defer *d = state_of(zone);

	if (prio != COMPACT_PRIO_ASYNC || !compactlab_defers_async() || order < d->order_failed)
		return false;
	if (++d->considered >= 1U << d->shift) {
		d->considered = 1U << d->shift;
		return false;
	}
	trace_mm_compaction_deferred(zone, order, false);
	return true;
}

void compactlab_run_ended(struct zone *zone, int order, enum compact_priority prio,
			  enum compact_result status)
{
	struct compactlab_defer *d = state_of(zone);

	if (prio != COMPACT_PRIO_ASYNC || !compactlab_defers_async())
		return;
	if (status != COMPACT_COMPLETE && status != COMPACT_PARTIAL_SKIPPED)
		return;
	d->considered = 0;
	d->shift = min(d->shift + 1, MAX_SHIFT);
	d->order_failed = min(d->order_failed, order);
	trace_mm_compaction_defer_compaction(zone, order, false);
}

void compactlab_defer_reset(struct zone *zone, int order, bool alloc_success)
{
	struct compactlab_defer *d = state_of(zone);

	if (!compactlab_defers_async())
		return;
	if (alloc_success) {
		d->considered = 0;
		d->shift = 0;
	}
	if (order >= d->order_failed)
		d->order_failed = order + 1;
	trace_mm_compaction_defer_reset(zone, order, false);
}
