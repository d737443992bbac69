/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_PREDICTION_H
#define EXPLAIN_PREDICTION_H
/*
 * What each remedy would do to the machine whose state was given, as src/whatif has run it on
 * the model. explain only prints it: without --what-if there is none.
 *
 * Blocks are of one pageblock (2 MiB) or more, times are of the model's clock.
 */
#include <stdbool.h>
#include <stdint.h>

#define PREDICTIONS_MOST 24
#define ASSUMPTIONS_MOST 12

struct prediction {
	char id[48];         /* "compact_memory", "policy:sample-random" */
	char what[96];       /* what was done */
	uint64_t before;     /* free blocks, as the evidence has them */
	uint64_t after;      /* the same after the remedy */
	unsigned asked, got; /* the request, repeated: how often it was made and served */
	uint64_t remedy_ns;  /* what the remedy took */
	uint64_t request_ns; /* what the requests waited in all, and the longest of them */
	uint64_t longest_ns;
	uint64_t moved;   /* pages that compaction moved, for both */
	uint64_t dropped; /* pages by which page cache and slabs shrank, for both */
};

struct what_if {
	bool asked;        /* --what-if was given */
	char missing[200]; /* why nothing could be run; "" when it was */
	char request[160];
	char kernel[64]; /* whose behaviour was modelled */
	unsigned scale;  /* the model was this many times smaller */
	uint64_t state_pages, blocks_before;
	unsigned predictions, assumptions;
	struct prediction prediction[PREDICTIONS_MOST];
	char assumption[ASSUMPTIONS_MOST][240];
};
#endif
