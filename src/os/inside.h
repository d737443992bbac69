/* SPDX-License-Identifier: MIT */
#ifndef OS_INSIDE_H
#define OS_INSIDE_H
/*
 * What no file says of the running kernel's page allocator: the order of its free lists, what is on
 * per-CPU lists, types and skip bits of pageblocks, where the scanners of compaction stand. Read
 * from its memory (/proc/kcore), with the layout of its structures from its own type information.
 * Nothing is written. Without kcore, kallsyms and BTF, or under lockdown, none of it is there.
 */
#include "snapshot/snapshot.h"

struct inside;

/* Find out where everything is; takes a moment and some memory, and gives the memory back. */
int inside_open(struct inside **out);
/*
 * Add it to a snapshot, whose pages are there. The kernel goes on meanwhile; a list that changes
 * under our feet is left out. -errno when even that cannot be had; the snapshot is sound all the
 * same.
 */
int inside_take(const struct inside *in, struct snapshot *s);
/*
 * Which of `count` pages from `pfn` on are pinned, by the kernel's own measure of it; `mapped` as
 * /proc/kpagecount has it, `large` for the first pages of large folios.
 */
int inside_pins(const struct inside *in, uint64_t pfn, unsigned count, const uint64_t *mapped,
		const bool *large, bool *pinned);
void inside_close(struct inside *in);
#endif
