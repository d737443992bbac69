/* SPDX-License-Identifier: MIT */
#ifndef BENCH_POPULATE_FRAGMENT_H
#define BENCH_POPULATE_FRAGMENT_H
/* Fragment a node's memory for as long as a child process lives. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Fill memory of the node (-1: any) so that about `leave` bytes are free, as single pages
 * between others that are in use, and pinned long-term if so asked. Returns the child
 * once that is done; exits the program with a message when it cannot be done.
 */
pid_t fragment_start(uint64_t leave, int node, bool pinned);
void fragment_stop(pid_t child);
/* Drop the pins; the pages stay where they are and can be moved from now on. */
void fragment_unpin(pid_t child);
#endif
