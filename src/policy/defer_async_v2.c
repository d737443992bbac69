/* SPDX-License-Identifier: MIT */
/*
 * defer_async_v2.c - deferral kept per mode, as posted.
 *
 * Only a run that is not asynchronous may start the skip-bit reset. That guard blocks the way back:
 * after the obstacles have gone, a caller of asynchronous runs alone finds every block marked, and
 * its failures now defer it; see docs/experiments.md.
 */
#include "policy/defer_async.h"

#include "model/defer.h"

/* The synchronous set is asked, and advances, for every run; the other only when that one lets an
 * asynchronous run pass. */
bool defer_async_deferred(struct model *m, struct zone *z, int order, enum compact_priority prio)
{
	if (defer_check(m, z, DEFER_SYNC, order))
		return true;
	return prio == COMPACT_PRIO_ASYNC && defer_check(m, z, DEFER_ASYNC, order);
}

void defer_async_failed(struct model *m, struct zone *z, int order, enum compact_priority prio)
{
	defer_fail(m, z, prio == COMPACT_PRIO_ASYNC ? DEFER_ASYNC : DEFER_SYNC, order);
}

void defer_async_reset(struct model *m, struct zone *z, int order, bool real)
{
	defer_reset(m, z, DEFER_ASYNC, order, real);
	defer_reset(m, z, DEFER_SYNC, order, real);
}

static bool restart(struct model *m, struct zone *z, const struct compact_control *cc)
{
	(void)m;
	return cc->mode != MIGRATE_ASYNC && defer_restarting(z, DEFER_SYNC, cc->order);
}

const struct policy policy_defer_async_v2 = {
	.name = "defer-async-v2",
	.summary = "a failed asynchronous run defers later ones; deferral is kept per mode",
	.thread = DEFER_ASYNC_THREAD,
	.deferred = defer_async_deferred,
	.defer_failed = defer_async_failed,
	.defer_reset = defer_async_reset,
	.restart = restart,
};
