/* SPDX-License-Identifier: MIT */
#ifndef OS_SNAPSHOT_TAKE_H
#define OS_SNAPSHOT_TAKE_H
/* A snapshot of the running machine. */
#include "os/inside.h"
#include "snapshot/snapshot.h"

/* Page frames up to the end of the last zone. */
int snapshot_machine_pages(uint64_t *pages, struct cl_error *err);
/*
 * Take it, into an empty snapshot. `pinned`: a bit for each page frame, or NULL; `inside` may be
 * NULL. Root is needed: -EOPNOTSUPP.
 */
int snapshot_take(struct snapshot *s, const uint64_t *pinned, const struct inside *inside,
		  struct cl_error *err);
/* What /proc/kpageflags and /proc/kpagecount say of a page, in a snapshot's words; order 0. */
struct snapshot_state snapshot_classify(uint64_t flags, uint64_t mapped);
#endif
