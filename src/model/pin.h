/* SPDX-License-Identifier: MIT */
/*
 * pin.h - long-term pins: references by slot, faulting in without MOVABLE, migration off CMA.
 */
#ifndef COMPACTLAB_MODEL_PIN_H
#define COMPACTLAB_MODEL_PIN_H

#include "model/types.h"

int pin_init(struct model *m) MUST_USE;
/* Makes an empty set over a stretch of a region. 0, -ENOSPC. */
int pin_set_new(struct model *m, region_id region, uint64_t index, uint64_t nr, uint32_t step,
		uint32_t times, pin_id *id) MUST_USE;
/*
 * Pins the set's pages from *cursor on, one batch (an atom): faults missing pages in under
 * CTX_LONGTERM, migrates what may not stay (CMA, isolated, ZONE_MOVABLE). Mirrors
 * __gup_longterm_locked(). 1 more to do, 0 done, -ENOMEM. Holes are pinned only with `fault_in`;
 * otherwise they are passed over.
 */
int pin_step(struct model *m, pin_id id, bool fault_in, uint64_t *cursor) MUST_USE;
/* Drops the whole set, one batch an atom; 1 more, 0 done (the id is free then). */
int pin_drop_step(struct model *m, pin_id id, uint64_t *cursor) MUST_USE;
/* Drops every set of a region that is about to go. Takes no simulated time. */
void pin_forget_region(struct model *m, region_id region);
/* References that pins hold on this page's slot. */
uint32_t pin_refs(const struct model *m, slot_t slot);
/* The table of multiple references agrees with the flags (validate.c). */
bool pin_is_valid(const struct model *m);

#endif
