/* SPDX-License-Identifier: MIT */
/*
 * harness.h - small machines for the tests of the model.
 *
 * A test is tests/model/test_MODULE.c with cmocka; its name says what must hold:
 * test_async_failures_do_not_defer. Machines are made by machine_*(), laid out page by page with lay(),
 * and ended by machine_end(), which validates them first. Nothing here is simulated time.
 */
#ifndef TESTS_MODEL_HARNESS_H
#define TESTS_MODEL_HARNESS_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "model/trace.h"

/* ---- machines ----------------------------------------------------------------------------- */

/*
 * A configuration without surprises: one node, one Normal zone [512, 512 + pages), one CPU, no daemons, no
 * LRU batches, no page tables, pcp off, THP never (so that min_free_kbytes is small), profile as given.
 * Change what the test is about, then machine_make().
 */
struct model_config quiet_config(enum profile_id profile, uint64_t pages);
/* The same with two nodes of `pages` each (Normal zones, distance 20), one CPU each. */
struct model_config two_nodes_config(enum profile_id profile, uint64_t pages);
struct model *machine_make(const struct model_config *config);
/* validate(), then destroy. */
void machine_end(struct model *m);
/* The quiet machines at once. */
struct model *machine_quiet(enum profile_id profile, uint64_t pages);
struct model *machine_two_nodes(enum profile_id profile, uint64_t pages);

/*
 * A zone without a machine, for arithmetic (watermarks, suitability, fragmentation index): marks,
 * managed pages and chunk counts as given, no lists. Not for functions that take pages.
 * "Zone Z": managed 5394257, min/low/high 14769/20163/25557, no reserve.
 */
void bare_zone_z(struct model *m, struct zone *z, enum profile_id profile);
/* Sets nr_free_pages and the chunk counts of a bare zone: pairs (order, chunks), ended by -1. */
void bare_zone_free(struct zone *z, enum migratetype type, ...);

/* ---- layouts ------------------------------------------------------------------------------ */

/*
 * Lays out pages from pfn on by a pattern: [count]letter, spaces ignored, (group) repeated: "256(fP)".
 * Everything outside what was laid stays free. Between lay_begin() and lay_end(), which wrap layout_*().
 *
 *   f  free, merging as it can         A  anonymous base page, on the LRU
 *   P  anonymous, long-term pinned     D  file page, dirty           W  file page under writeback
 *   C  file page, clean                R  file page, pinned          S  shmem page
 *   L  anonymous, mlocked              K  kernel page                G  page table
 *   B  slab page                       M  movable-ops page           p  on the MOVABLE pcp list, CPU 0
 *   T  order-9 anonymous folio         H  hugetlb page, order 9      Q  order-2 anonymous folio
 *   k  order-2 kernel compound         1..digits are counts          F<order>. free chunk of that order
 *
 * Example, a block of alternating free and pinned pages: lay(m, 1024, "256(fP)").
 */
void lay_begin(struct model *m);
void lay(struct model *m, pfn_t pfn, const char *pattern);
void lay_type(struct model *m, pfn_t pfn, enum migratetype type);
void lay_end(struct model *m);

/* ---- looking ------------------------------------------------------------------------------ */

/* Heads on a free list in order, from the list's head; fails the test if they differ. Ended by PFN_NONE. */
void assert_free_list(struct model *m, struct zone *z, unsigned order, enum migratetype type, ...);
uint64_t count_free(const struct zone *z);
int64_t counter(const struct model *m, enum vmstat_item item);

/* A compact_control as a direct compactor has it: fresh run over the whole zone's cached positions. */
struct compact_control *direct_cc(struct model *m, struct zone *z, int order, enum migrate_mode mode);

/* ---- trace -------------------------------------------------------------------------------- */

/* Records events of one kind while a test runs; at most 512 are kept, nr counts all. */
struct recorded {
	enum trace_id id;
	uint32_t nr;
	struct trace_event ev[512];
};
void record(struct model *m, struct recorded *r, enum trace_id id);
void record_stop(struct model *m);

#endif
