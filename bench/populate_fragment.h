/* SPDX-License-Identifier: MIT */
#ifndef BENCH_POPULATE_FRAGMENT_H
#define BENCH_POPULATE_FRAGMENT_H
/* Fragment a node's memory for as long as a child process lives. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct fragment {
	pid_t child; /* 0: none */
	int control; /* what the child is told, and its answers */
};

/*
 * Fill memory of the node (-1: any) so that about `leave` bytes are free, as single pages
 * between others that are in use, and pinned long-term if so asked. Of pinned memory the
 * blocks that compaction can still make, of page cache for instance, are taken away too.
 * Returns once that is done; exits the program with a message when it cannot be done.
 */
struct fragment fragment_start(uint64_t leave, int node, bool pinned);
/*
 * The same layout anew, after compaction has made blocks of it: all but the ballast is
 * freed and taken again, quickly enough that a virtual machine does not lose it.
 */
void fragment_again(struct fragment *f);
void fragment_stop(struct fragment *f);
/* Drop the pins, and wait for that; the pages stay where they are and can be moved. */
void fragment_unpin(struct fragment *f);
#endif
