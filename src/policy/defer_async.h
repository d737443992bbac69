/* SPDX-License-Identifier: MIT */
/*
 * defer_async.h - deferral kept per mode: what both versions of the change share.
 *
 * A zone has two deferral sets. A failed asynchronous direct run defers later asynchronous runs,
 * which mainline never does; everything else goes to the synchronous set.
 */
#ifndef COMPACTLAB_POLICY_DEFER_ASYNC_H
#define COMPACTLAB_POLICY_DEFER_ASYNC_H

#include "model/policy.h"

#define DEFER_ASYNC_THREAD                                                                         \
	"mm/compaction: stop repeating failed async compaction on every THP fault, linux-mm, "     \
	"October-November 2026"

bool defer_async_deferred(struct model *m, struct zone *z, int order, enum compact_priority prio);
void defer_async_failed(struct model *m, struct zone *z, int order, enum compact_priority prio);
void defer_async_reset(struct model *m, struct zone *z, int order, bool real);

#endif
