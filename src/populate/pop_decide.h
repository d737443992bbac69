/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_DECIDE_H
#define POPULATE_POP_DECIDE_H
/*
 * What to do with the next blocks of the buffer. No system calls and no clock here:
 * a pure function of what was seen so far, so that it can be tested against simulated
 * nodes.
 *
 * One `struct pop_decide` belongs to one call and is used by all its workers under a
 * lock: pop_decide_next() hands out blocks, pop_decide_learn() takes the outcome back.
 * In between several workers may be at it; blocks they were sent for count as taken.
 *
 * A failed try is evidence against the node only when the kernel looked at many pages and
 * could move next to none. When it did not look (it defers after failures, for 2 attempts,
 * then 4, and so on to 64, which together are 42 tries of three; and between these it
 * passes over all blocks in which it lately found nothing) or when pages moved, the next
 * try may well succeed: such failures are borne with patience, but for 48 in a row at most,
 * and until they have cost a sixteenth of what filling everything with base pages would
 * cost, or the time of one chunk, and a quarter of what tries took that succeeded, because
 * where these are worth their time the next ones are too. Then they count like others.
 *
 * The kernel's rule counts attempts and knows nothing of what one costs. Compaction looks
 * through the whole zone before it fails, which is 20 ms for 16 GiB and grows with the
 * zone: with 63 blocks of base pages in between, which take 35 ms, the tries would cost
 * more than half of that. So tries are also spaced such that what was lost to them, and
 * what the next one will probably cost, stays below a twelfth of the time that was spent on
 * the deferred blocks, after a thirty-second of the whole (and an eighth of what succeeded)
 * for the first ones. Free blocks that appear end the deferral, but not this: they were
 * freed, which says nothing of what compaction can do.
 *
 * What made tries fail may go away at once: the kernel counts long-term pins. When an
 * eighth of those goes that were held when tries were last deferred, the next block is a
 * try, whatever the deferral says.
 *
 * Two deferrals meet here, ours and the kernel's. While the kernel defers compaction
 * itself, a try fails at once and costs nothing, but counts in the kernel, which
 * compacts only at every 64th attempt. Would we still pass over 63 blocks between
 * tries, it would take gigabytes until it compacts again. So a failure that took no
 * longer than the block would have taken anyway is followed by a short pause only, and
 * after one that said nothing the attempts are made beside the buffer (pop_ask.c).
 *
 * "home" is the node (or the set of nodes) the memory should come from; "other" is
 * the rest. A free block is one the allocator can hand out as a huge page at once.
 */
#include <stdbool.h>
#include <stdint.h>

#define POP_MAX_SHIFT    6   /* COMPACT_MAX_DEFER_SHIFT */
#define POP_PATIENCE     48  /* failures in a row that may be no evidence */
#define POP_FREE_SKIP    3   /* attempts passed over after a failure that cost nothing */
#define POP_MAX_CHUNK    512 /* blocks: 1 GiB */
#define POP_MAX_TRY      8   /* blocks risked at once where none is known to be free */
#define POP_MAX_BLIND    32  /* the same while free blocks cannot be counted at all */
#define POP_BESIDE_TRY   4   /* blocks filled another way while somebody else tries */
#define POP_MAX_BASE     16  /* blocks filled another way before free blocks are looked for again */
#define POP_MAX_PAUSE    24  /* chunks of chunk_ns that tries wait for what they may cost */
#define POP_PATIENT      16 /* part of all time that may be lost to failures that are no evidence */
#define POP_PROVEN       4  /* and part of the time of tries that succeeded */
#define POP_CREDIT       32 /* part of all time that may be lost to the first failures */
#define POP_LOSS         12 /* and part of the time since then that may be lost to further ones */
#define POP_PINS_GONE    8  /* part of the pins whose going ends the wait for the next try */
#define POP_PINS_LEAST   8192 /* pages: fewer pins come and go with direct I/O */
#define POP_PINS_UNKNOWN UINT64_MAX

enum pop_act {
	POP_FULL,  /* ask for huge pages, the kernel may compact */
	POP_OTHER, /* ask for free huge pages of any node, no compaction while there are any */
	POP_BASE,  /* no huge pages */
	POP_WAIT,  /* nothing yet: somebody else's try will tell whether tries are worth it */
	POP_STOP,  /* give up: more base pages would break the contract */
};

enum pop_why { POP_WHY_WORK, POP_WHY_DEADLINE };

struct pop_rules {              /* fixed for a call */
	bool huge;              /* huge pages are possible at all */
	bool stalls;            /* asking for one that is not free compacts */
	bool free_known;        /* the view's free counts mean something */
	bool use_other;         /* other nodes' huge pages are wanted before base pages */
	uint64_t base_budget;   /* blocks that may become base pages, UINT64_MAX: all */
	uint64_t chunk_ns;      /* a chunk should not take longer */
	uint64_t deadline_ns;   /* absolute, 0: none */
	uint64_t blocks;        /* of the whole buffer */
	uint64_t base_guess_ns; /* what a block of base pages costs, until one was measured */
};

struct pop_view { /* what is so when deciding */
	uint64_t now_ns;
	uint64_t free_home, free_other; /* blocks */
	uint64_t left;                  /* blocks of the buffer not handed out, > 0 */
	uint64_t pins;                  /* pages pinned on the machine, or POP_PINS_UNKNOWN */
};

struct pop_step {
	enum pop_act act;
	enum pop_why why;
	bool trial;   /* POP_FULL without a known free block: a try of compaction */
	bool may_ask; /* a try: asking beside the buffer may help, see pop_ask.c; `ask`: do first */
	bool ask;
	bool deferred; /* POP_OTHER, POP_BASE: because tries are deferred */
	uint64_t blocks;
};

/* What the kernel's compaction did during a try, by its counters. */
enum pop_seen {
	POP_SEEN_UNKNOWN, /* no counters: the time must tell */
	POP_SEEN_LITTLE,  /* it hardly looked at any page */
	POP_SEEN_MOVED,   /* pages moved, and not just a few of those it looked at */
	POP_SEEN_FIXED,   /* it looked at many pages and could move next to none */
};

struct pop_outcome {
	uint64_t huge;      /* blocks that became huge pages */
	uint64_t huge_home; /* of these, from home */
	uint64_t time_ns;
	uint64_t free_home, free_other; /* blocks free afterwards */
	enum pop_seen seen;             /* by a try */
	bool deaf;                      /* asked in vain: the kernel did not even compact */
	uint64_t pins;                  /* afterwards, as in the view */
};

struct pop_decide {
	struct pop_rules rules;
	/* Deferral, as in the kernel's zone; `skip` attempts are still to be passed over. */
	unsigned shift;
	uint64_t skip;
	uint64_t lost_ns;        /* to failures, less the part of other time that may be lost */
	uint64_t dear_ns;        /* what the next one is expected to cost */
	uint64_t patience_ns;    /* time lost to failures that were no evidence */
	uint64_t proven_ns;      /* time of tries that succeeded */
	uint64_t pins;           /* held when tries were last deferred, or POP_PINS_UNKNOWN */
	unsigned patience_tries; /* such failures in a row */
	bool deaf;               /* asking beside the buffer did not help last time */
	unsigned trying;         /* tries under way; after a failure one at a time */
	bool base_only;          /* the deadline is near */
	uint64_t chunk;          /* blocks of the next chunk of known free blocks */
	uint64_t try_chunk;      /* and of the next try */
	uint64_t plain_chunk;    /* and of the next one that cannot stall */
	/* Blocks counted as free that could not be had: reserves, CMA, foreign migratetypes. */
	uint64_t untakable_home, untakable_other;
	uint64_t sent_home, sent_other; /* free blocks that workers are just taking */
	uint64_t base_blocks;           /* became base pages, or are about to */
	/* Last measured, 0: not yet. A deferred block may be a base or another node's page. */
	uint64_t huge_block_ns, try_block_ns, base_block_ns, deferred_block_ns;
	/* Totals for the receipt. */
	uint64_t tries, failed_tries, failed_blocks, deferred_blocks, recoveries, chunks;
	unsigned max_shift;
};

void pop_decide_init(struct pop_decide *d, const struct pop_rules *rules);
/* Would the view's pins make a difference? They cost time to count. */
bool pop_decide_wants_pins(const struct pop_decide *d);
void pop_decide_next(struct pop_decide *d, const struct pop_view *view, struct pop_step *step);
void pop_decide_learn(struct pop_decide *d, const struct pop_step *step,
		      const struct pop_outcome *outcome);

/* The deferral alone, for collapse: is the next attempt passed over? Counts the attempt. */
bool pop_decide_deferred(struct pop_decide *d);
void pop_decide_failed(struct pop_decide *d, uint64_t lost_ns);
void pop_decide_succeeded(struct pop_decide *d);
#endif
