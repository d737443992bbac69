/* SPDX-License-Identifier: MIT */
/*
 * buddy_reference.h - the free lists of a small zone, written to be obviously right and nothing
 * else.
 *
 * Lists are arrays that are shifted, a free chunk is found by looking at all of them, nothing is
 * cached. It knows no struct of the model but the enum of types, so that both can be wrong only
 * independently.
 */
#ifndef TESTS_MODEL_BUDDY_REFERENCE_H
#define TESTS_MODEL_BUDDY_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/gfp.h"

#define REF_MAX_PAGES  8192u
#define REF_MAX_BLOCKS (REF_MAX_PAGES / PAGEBLOCK_PAGES)

struct ref_list {
	uint32_t nr;
	uint32_t pfn[REF_MAX_PAGES];
};

struct ref_zone {
	uint32_t start, end;                   /* pfns */
	enum migratetype type[REF_MAX_BLOCKS]; /* by block from `start` rounded down */
	bool isolated[REF_MAX_BLOCKS];
	struct ref_list list[NR_PAGE_ORDERS][NR_MIGRATETYPES];
};

/* All memory free, given out in ascending order at the tails. */
void ref_boot(struct ref_zone *z, uint32_t start, uint32_t end);
/* The list a block's free pages go to. */
enum migratetype ref_type(const struct ref_zone *z, uint32_t pfn);

uint32_t ref_take(struct ref_zone *z, unsigned order, enum migratetype type);
/* Own lists, then claim, then steal; no page is on an LRU. Mode as in a bulk refill, 0 at its
 * start. */
uint32_t ref_take_any(struct ref_zone *z, unsigned order, enum migratetype type, bool nofragment,
		      int *mode);
void ref_take_chunk(struct ref_zone *z, uint32_t pfn, unsigned order);
void ref_free(struct ref_zone *z, uint32_t pfn, unsigned order, bool to_tail);
uint32_t ref_retype(struct ref_zone *z, uint32_t pfn, enum migratetype type);
void ref_isolate(struct ref_zone *z, uint32_t pfn);
void ref_unisolate(struct ref_zone *z, uint32_t pfn);
/* Order of the free chunk with this head, -1 if there is none. */
int ref_order(const struct ref_zone *z, uint32_t pfn);
uint64_t ref_free_pages(const struct ref_zone *z);

#endif
