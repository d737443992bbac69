/* SPDX-License-Identifier: MIT */
/*
 * defer_async_v3.c - deferral kept per mode; a run of any mode may start the skip-bit reset.
 *
 * What the author planned after v2 was found not to recover when pins are dropped.
 */
#include "policy/defer_async.h"

#include "model/defer.h"

static bool restart(struct model *m, struct zone *z, const struct compact_control *cc)
{
	(void)m;
	return defer_restarting(z, DEFER_SYNC, cc->order);
}

const struct policy policy_defer_async_v3 = {
	.name = "defer-async-v3",
	.summary = "as defer-async-v2, and a run of any mode may reset the skip hints",
	.thread = DEFER_ASYNC_THREAD,
	.deferred = defer_async_deferred,
	.defer_failed = defer_async_failed,
	.defer_reset = defer_async_reset,
	.restart = restart,
};
