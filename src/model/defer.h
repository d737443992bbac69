/* SPDX-License-Identifier: MIT */
/*
 * defer.h - the deferral state machine, on one set. Which set an event goes to is a hook (policy.h);
 * mainline's answers are at the end.
 */
#ifndef COMPACTLAB_MODEL_DEFER_H
#define COMPACTLAB_MODEL_DEFER_H

#include "model/types.h"

/* Mirrors compaction_deferred() with its trace. */
bool defer_check(struct model *m, struct zone *z, enum defer_set set, int order);
/* Mirrors defer_compaction(). */
void defer_fail(struct model *m, struct zone *z, enum defer_set set, int order);
/* Mirrors compaction_defer_reset(); real: a page was allocated, not just expected. */
void defer_reset(struct model *m, struct zone *z, enum defer_set set, int order, bool real);
/* Mirrors compaction_restarting(). */
bool defer_restarting(const struct zone *z, enum defer_set set, int order);

/* Mainline's hooks: one shared set; async runs consult and advance it and never re-arm it. */
bool defer_mainline_deferred(struct model *m, struct zone *z, int order, enum compact_priority prio);
void defer_mainline_failed(struct model *m, struct zone *z, int order, enum compact_priority prio);
void defer_mainline_reset(struct model *m, struct zone *z, int order, bool real);
bool defer_mainline_restart(struct model *m, struct zone *z, const struct compact_control *cc);

#endif
