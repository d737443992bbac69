/* SPDX-License-Identifier: MIT */
#ifndef TESTS_POPULATE_SIM_H
#define TESTS_POPULATE_SIM_H
/*
 * Simulated nodes for the decisions: so many free blocks, so many that compaction can
 * make, costs of each kind of block. Time passes only by what blocks cost.
 */
#include "populate/pop_decide.h"

struct sim {
	uint64_t free_home, free_other;
	uint64_t untakable_home, untakable_other; /* counted as free, never given */
	uint64_t compactable;  /* blocks that compaction of home can still make */
	unsigned fail_percent; /* of compactions that fail although it could */
	uint64_t huge_ns, base_ns, compact_ns, fail_ns;
	uint64_t kernel_defers;     /* so many tries fail before the kernel compacts at all */
	uint64_t defer_after_unpin; /* the same, set when unpinned */
	uint64_t defer_every;       /* after so many blocks made by compaction 42 again, 0: never */
	uint64_t deferred_ns;       /* what such a failure costs */
	uint64_t free_every;        /* blocks after each of which somebody frees one, 0: never */
	bool moves_in_vain;         /* failing compactions move pages */
	uint64_t unpin_at;          /* block at which `compactable` becomes everything, 0: never */
	uint64_t pins;              /* pages held until then, as counted; 0: not counted */
	uint64_t now_ns, random;
	/* What happened. */
	uint64_t huge, huge_home, base, compactions, failures, chunks;
	uint64_t longest_ns, largest;
	uint64_t first_huge_after_unpin; /* in chunks after it, 0: none */
	uint64_t blocks_until_huge;      /* the same in blocks */
	bool stopped;
};

/* A clean node with a real machine's costs; the caller changes what it tests. */
struct sim sim_new(void);
/* Fill `blocks` by the rules, one worker. */
void sim_run(struct sim *s, struct pop_decide *d, const struct pop_rules *rules, uint64_t blocks);
/* The rules of an ordinary call. */
struct pop_rules sim_rules(void);
/* What MADV_POPULATE_WRITE would do: every block asks, every miss compacts. Time in ns. */
uint64_t sim_plain(struct sim s, uint64_t blocks, uint64_t *huge);
#endif
