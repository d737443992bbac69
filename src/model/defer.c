/* SPDX-License-Identifier: MIT */
/*
 * defer.c - the deferral state machine and mainline's use of it; see defer.h.
 */
#include "model/defer.h"

#include "model/policy.h"
#include "model/trace.h"

#define TRACE_DEFER(m, event, z, set, ord)                                                         \
	TRACE(m, event, .nid = (z)->node.v, .idx = (uint8_t)(z)->class, .order = (ord),            \
	      .considered = (z)->defer[set].considered, .defer_shift = (z)->defer[set].shift,      \
	      .order_failed = (z)->defer[set].order_failed, .defer_set = printed_set(m, set))

/* A kernel with one set says nothing of it; the change that makes two prints which. */
static int printed_set(const struct model *m, enum defer_set set)
{
	return m->policy->deferred == defer_mainline_deferred ? 0 : 1 + (int)set;
}

bool defer_check(struct model *m, struct zone *z, enum defer_set set, int order)
{
	struct deferral *d = &z->defer[set];
	uint32_t limit = 1u << d->shift;

	if (order < d->order_failed)
		return false;
	if (++d->considered >= limit) {
		/* It stays at the limit: every further attempt runs until a failure re-arms the
		 * counter. */
		d->considered = limit;
		return false;
	}
	TRACE_DEFER(m, DEFERRED, z, set, order);
	return true;
}

void defer_fail(struct model *m, struct zone *z, enum defer_set set, int order)
{
	struct deferral *d = &z->defer[set];

	d->considered = 0;
	if (d->shift < COMPACT_MAX_DEFER_SHIFT)
		d->shift++;
	if (order < d->order_failed)
		d->order_failed = (int8_t)order;
	TRACE_DEFER(m, DEFER_COMPACTION, z, set, order);
}

void defer_reset(struct model *m, struct zone *z, enum defer_set set, int order, bool real)
{
	struct deferral *d = &z->defer[set];

	if (real) {
		d->considered = 0;
		d->shift = 0;
	}
	if (order >= d->order_failed)
		d->order_failed = (int8_t)(order + 1);
	TRACE_DEFER(m, DEFER_RESET, z, set, order);
}

bool defer_restarting(const struct zone *z, enum defer_set set, int order)
{
	const struct deferral *d = &z->defer[set];

	return order >= d->order_failed && d->shift == COMPACT_MAX_DEFER_SHIFT &&
	       d->considered >= 1u << COMPACT_MAX_DEFER_SHIFT;
}

/* ---- mainline ----------------------------------------------------------------------------- */

bool defer_mainline_deferred(struct model *m, struct zone *z, int order, enum compact_priority prio)
{
	(void)prio; /* async attempts are blocked by, and advance, the shared counter */
	return defer_check(m, z, DEFER_SHARED, order);
}

void defer_mainline_failed(struct model *m, struct zone *z, int order, enum compact_priority prio)
{
	if (prio != COMPACT_PRIO_ASYNC)
		defer_fail(m, z, DEFER_SHARED, order);
}

void defer_mainline_reset(struct model *m, struct zone *z, int order, bool real)
{
	defer_reset(m, z, DEFER_SHARED, order, real);
}

bool defer_mainline_restart(struct model *m, struct zone *z, const struct compact_control *cc)
{
	(void)m;
	return defer_restarting(z, DEFER_SHARED, cc->order);
}
