/* SPDX-License-Identifier: MIT */
/*
 * validate.h - walks everything and compares it with everything else.
 */
#ifndef COMPACTLAB_MODEL_VALIDATE_H
#define COMPACTLAB_MODEL_VALIDATE_H

#include <stdbool.h>
#include <stddef.h>

#include "model/check.h"

struct model;

/*
 * Every invariant of the machine: page states against block counts, lists against states, gauges against
 * sums, owners against pages, pins against flags, LRU lists against flags, the clock's heap, and pages
 * are neither lost nor doubled (free + pcp + held + owned + reserved + holes = spanned). Never-touched blocks
 * are checked as such, without touching them. True = sound; else `why` (size bytes) names the first fault.
 */
bool validate(struct model *m, char *why, size_t size) MUST_USE;
/* Its first half, validate_lists.c: blocks, free and per-CPU lists, every page in one life. */
bool validate_lists(struct model *m, char *why, size_t size) MUST_USE;

#endif
