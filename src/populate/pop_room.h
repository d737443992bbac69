/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_ROOM_H
#define POPULATE_POP_ROOM_H
/*
 * Does so much memory fit? Filling memory that does not exist wakes the OOM killer, and
 * under a memory cgroup it kills the caller, before any error could be returned.
 */
#include <stdint.h>

/* Bytes that can still be had: the tightest memory cgroup's, UINT64_MAX without limit. */
uint64_t pop_room_cgroup(void);
/* MemAvailable and free swap, UINT64_MAX when not known. */
uint64_t pop_room_machine(void);
/* Free memory and page cache of one node, UINT64_MAX when not known. */
uint64_t pop_room_node(int node);

/* Number behind a name that begins a line ("MemAvailable:"), `otherwise` when absent. */
uint64_t pop_room_field(const char *text, const char *name, uint64_t otherwise);
/*
 * Where this process's memory cgroup is, from /proc/self/cgroup: version (1 or 2) and
 * path below the mount; 0 when there is none.
 */
int pop_room_path(const char *cgroup, char *path, unsigned size);
#endif
