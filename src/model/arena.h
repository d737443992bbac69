/* SPDX-License-Identifier: MIT */
/*
 * arena.h - the only place that asks the operating system for memory.
 *
 * Everything a machine needs is reserved when it is made: anonymous private mappings that read as zero and
 * cost nothing until touched. Pages touched stay until the machine is destroyed.
 */
#ifndef COMPACTLAB_MODEL_ARENA_H
#define COMPACTLAB_MODEL_ARENA_H

#include <stddef.h>
#include <stdint.h>

#include "model/check.h"

struct arena;

/* NULL when the process cannot map memory. */
struct arena *arena_new(void) MUST_USE;
/* Zeroed lazily touched memory, page aligned; NULL when out of address space. Set-up only. */
void *arena_reserve(struct arena *a, size_t bytes) MUST_USE;
/* Bytes resident now (for tests of the budget; reads the OS, never the model). */
uint64_t arena_resident(const struct arena *a);
/* The same of one array that arena_reserve() gave. */
uint64_t arena_resident_in(const void *range, size_t bytes);
void arena_free(struct arena *a);

#endif
