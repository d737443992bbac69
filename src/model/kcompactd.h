/* SPDX-License-Identifier: MIT */
/*
 * kcompactd.h - background and proactive compaction, a step machine a node.
 */
#ifndef COMPACTLAB_MODEL_KCOMPACTD_H
#define COMPACTLAB_MODEL_KCOMPACTD_H

#include "model/types.h"

int kcompactd_init(struct model *m) MUST_USE;
/* Mirrors wakeup_kcompactd(): records the request, wakes if some zone would be compacted. */
void kcompactd_wake(struct model *m, struct node *n, unsigned order, enum zone_class class);
/* One step, called by the clock: a turn of a round, or a timer period. Sets its actor's next time. */
void kcompactd_step(struct model *m, struct node *n);
/* compaction_proactiveness was written: triggers a check at once, arms or disarms the timers. */
void kcompactd_proactiveness_changed(struct model *m);
/* The machine was made from a snapshot of one that has been running for a while. */
void kcompactd_taken_over(struct model *m);

#endif
