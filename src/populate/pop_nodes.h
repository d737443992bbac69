/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_NODES_H
#define POPULATE_POP_NODES_H
/*
 * How many blocks each node could hand out as huge pages right now.
 *
 * /proc/buddyinfo gives the free chunks of every order and zone. Not all of them can
 * be had: a zone keeps its min watermark (before compacting, the kernel looks for free
 * blocks down to it) and, for allocations that could also come from a higher zone, the
 * lowmem reserve; both stand in /proc/zoneinfo, which is read once. What is kept back in other ways
 * (CMA, reserved migratetypes) the decision learns by failing. Free blocks in per-CPU lists are in
 * neither file.
 */
#include "pop_sys.h"

#define POP_ZONES 256

struct pop_zone {
	int node;
	char name[16];
	uint64_t keep_pages; /* free pages below which a user's huge page is refused */
};

struct pop_nodes {
	unsigned order; /* of a block, in base pages */
	unsigned zones;
	bool have_keep;
	struct pop_zone zone[POP_ZONES];
};

struct pop_free {
	uint64_t blocks[POP_NODES]; /* that can be had, by node */
	uint64_t pages[POP_NODES];  /* free pages above what the zones keep, by node */
};

/* Texts of the files, parsed; false when the text is not what it should be. */
bool pop_nodes_zoneinfo(struct pop_nodes *n, const char *zoneinfo);
bool pop_nodes_buddyinfo(const struct pop_nodes *n, const char *buddyinfo, struct pop_free *f);

/* "0-3,8" as in cpulist and nodelist files; bits from `limit` up are left out. */
bool pop_nodes_list(const char *text, uint64_t *bits, unsigned limit);

/* Sum over a set of nodes. */
uint64_t pop_free_in(const struct pop_free *f, const struct pop_nodemask *m);
#endif
