/* SPDX-License-Identifier: MIT */
/* Runs over a whole zone: start, finish, capture, restart, reset of the marks, entries. */
#include "harness.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/compact.h"
#include "model/defer.h"
#include "model/memmap.h"
#include "model/pcp.h"

static struct model *m;
static struct zone *z;

/* 1..n blocks; the pattern of each, the last one repeated to the end of the zone. */
static void make(bool pcp, uint32_t blocks, const char *const *patterns)
{
	struct model_config c = quiet_config(PROFILE_C, blocks * PAGEBLOCK_PAGES);

	c.pcp = pcp;
	m = machine_make(&c);
	z = &m->zone[0];
	lay_begin(m);
	for (uint32_t b = 1; b <= blocks; b++) {
		lay(m, b * PAGEBLOCK_PAGES, *patterns);
		if (patterns[1])
			patterns++;
	}
	lay_end(m);
}

static struct alloc_context request(unsigned order)
{
	return (struct alloc_context){
		.gfp = GFP_TRANSHUGE,
		.order = (uint8_t)order,
		.type = MIGRATE_MOVABLE,
		.class = ZONE_MOVABLE,
		.zonelist = &m->node[0].zonelist[ZONELIST_FALLBACK],
	};
}

static enum compact_result try_pages(unsigned order, enum compact_priority prio, pfn_t *page)
{
	struct alloc_context ac = request(order);

	return compact_try_pages(m, order, ALLOC_WMARK_MIN | ALLOC_CPUSET, &ac, prio, page);
}

#define FILL "512A"

static void test_a_fresh_zone_is_scanned_in_part_and_a_reset_one_in_whole(void **state)
{
	static const char *const layout[] = {"256(fP)", NULL};
	struct recorded end;
	pfn_t page;

	(void)state;
	make(false, 32, layout);
	record(m, &end, TRACE_COMPACT_END);
	assert_int_equal(try_pages(9, COMPACT_PRIO_SYNC_LIGHT, &page), COMPACT_PARTIAL_SKIPPED);
	assert_int_equal(end.nr, 1);
	assert_int_equal(end.ev[0].zone_start, 512);
	assert_int_equal(end.ev[0].status, COMPACT_PARTIAL_SKIPPED);
	assert_true(z->blockskip_flush);
	assert_int_equal(z->cached_migrate[0], z->start_pfn);
	assert_int_equal(z->cached_migrate[1], z->start_pfn);
	assert_int_equal(z->cached_free, 32 * PAGEBLOCK_PAGES);
	compact_reset_zone(m, z);
	/* Sources are at odd pages only, and samples look at multiples of eight. */
	assert_int_equal(z->init_migrate, 0);
	record_stop(m);
	machine_end(m);
}

static void test_a_reset_that_found_sources_makes_the_next_run_whole(void **state)
{
	static const char *const layout[] = {"32(4(Pf)4(fP))", NULL};
	pfn_t page;

	(void)state;
	make(false, 32, layout);
	assert_int_equal(try_pages(9, COMPACT_PRIO_ASYNC, &page), COMPACT_PARTIAL_SKIPPED);
	compact_reset_zone(m, z);
	assert_int_equal(z->init_migrate, z->start_pfn);
	assert_false(z->blockskip_flush);
	assert_int_equal(try_pages(9, COMPACT_PRIO_ASYNC, &page), COMPACT_COMPLETE);
	machine_end(m);
}

static void test_restart_resets_marks_only_with_permission(void **state)
{
	/* Sources and targets on the sampling grid, all pinned: runs find nothing and complete. */
	static const char *const layout[] = {"32(4(Pf)4(fP))", NULL};
	pfn_t page;

	(void)state;
	make(false, 32, layout);
	z->defer[DEFER_SHARED] = (struct deferral){.considered = 63, .shift = 6, .order_failed = 0};
	memmap_skip_set(m, 10 * PAGEBLOCK_PAGES);
	z->blockskip_flush = false;
	assert_true(try_pages(9, COMPACT_PRIO_ASYNC, &page) >= COMPACT_COMPLETE);
	assert_int_equal(z->defer[DEFER_SHARED].considered, 64);
	assert_true(memmap_skip(m, 10 * PAGEBLOCK_PAGES));
	/* That run reached the end, so the next three may reset; only the sync one re-arms. */
	for (int i = 0; i < 3; i++) {
		bool sync = i == 2;
		struct recorded begin;

		assert_true(z->blockskip_flush);
		record(m, &begin, TRACE_COMPACT_BEGIN);
		assert_true(try_pages(9, sync ? COMPACT_PRIO_SYNC_LIGHT : COMPACT_PRIO_ASYNC,
				      &page) >= COMPACT_COMPLETE);
		record_stop(m);
		assert_int_equal(begin.nr, 1);
		/* A reset run starts at the reset's positions. */
		assert_int_equal(begin.ev[0].migrate_pfn, z->init_migrate);
		assert_true(z->init_migrate == z->start_pfn);
		assert_int_equal(z->defer[DEFER_SHARED].considered, sync ? 0 : 64);
	}
	machine_end(m);
}

static void
test_reset_positions_are_the_first_source_and_the_last_page_of_the_last_target(void **state)
{
	static const char *const targets[] = {"512K", "512K", "8KA503K",   "512K", "512K",
					      "512K", "512K", "8KF3.496K", "512K", NULL};

	(void)state;
	make(false, 12, targets);
	for (pfn_t b = 1; b <= 12; b++)
		memmap_skip_set(m, b * PAGEBLOCK_PAGES);
	z->blockskip_flush = true;
	compact_reset_zone(m, z);
	assert_int_equal(z->init_migrate, 3 * PAGEBLOCK_PAGES);
	assert_int_equal(z->cached_migrate[0], 3 * PAGEBLOCK_PAGES);
	assert_int_equal(z->cached_migrate[1], 3 * PAGEBLOCK_PAGES);
	assert_int_equal(z->init_free, 9 * PAGEBLOCK_PAGES - 1);
	assert_int_equal(z->cached_free, 9 * PAGEBLOCK_PAGES - 1);
	for (pfn_t b = 1; b <= 12; b++)
		assert_int_equal(memmap_skip(m, b * PAGEBLOCK_PAGES), b != 3 && b != 8);
	machine_end(m);
}

static void test_a_reset_without_targets_leaves_no_span(void **state)
{
	/* Free pages off the multiples of eight: the samples do not see them. */
	static const char *const layout[] = {"64(4Af3A)", NULL};

	(void)state;
	make(false, 12, layout);
	z->blockskip_flush = true;
	compact_reset_zone(m, z);
	assert_int_equal(z->init_migrate, z->start_pfn);
	assert_int_equal(z->init_free, 0);
	/* Where the two walks met: blocks 1..12, six steps. */
	assert_int_equal(z->cached_migrate[0], 7 * PAGEBLOCK_PAGES);
	assert_int_equal(z->cached_free, 7 * PAGEBLOCK_PAGES - 1);
	machine_end(m);
}

static void test_finish_differs_by_caller(void **state)
{
	static struct model bare;
	static struct zone zone;
	struct compact_control cc = {.order = 2, .direct = true, .type = MIGRATE_MOVABLE};

	(void)state;
	bare_zone_z(&bare, &zone, PROFILE_C);
	bare_zone_free(&zone, MIGRATE_RECLAIMABLE, 3, 1, -1);
	cc.zone = &zone;
	cc.migrate_pfn = zone.start_pfn;
	cc.free_pfn = zone.end_pfn - 1;
	assert_int_equal(compact_finished(&bare, &cc), COMPACT_CONTINUE);
	cc.type = MIGRATE_UNMOVABLE;
	assert_int_equal(compact_finished(&bare, &cc), COMPACT_SUCCESS);
	cc.direct = false;
	cc.kcompactd = true;
	assert_int_equal(compact_finished(&bare, &cc), COMPACT_SUCCESS);
	cc.migrate_pfn += 32; /* a block that was begun is finished */
	assert_int_equal(compact_finished(&bare, &cc), COMPACT_CONTINUE);
}

static void test_marks_of_proactive_compaction(void **state)
{
	static struct model bare;
	static struct zone zone;
	static const struct {
		enum profile_id profile;
		uint32_t proactiveness, low, high;
	} cases[] = {
		{PROFILE_A, 100, 5, 15}, {PROFILE_B, 100, 0, 0},  {PROFILE_C, 100, 0, 0},
		{PROFILE_A, 90, 10, 20}, {PROFILE_B, 90, 10, 15}, {PROFILE_C, 90, 10, 15},
		{PROFILE_A, 20, 80, 90}, {PROFILE_C, 20, 80, 90}, {PROFILE_C, 1, 99, 100},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bare_zone_z(&bare, &zone, cases[i].profile);
		bare.sysctl.compaction_proactiveness = cases[i].proactiveness;
		assert_int_equal(compact_score_mark(&bare, true), cases[i].low);
		assert_int_equal(compact_score_mark(&bare, false), cases[i].high);
	}
	bare_zone_free(&zone, MIGRATE_MOVABLE, 0, 512, 9, 1, 10, 1, -1);
	assert_int_equal(compact_score_zone(&bare, &zone), 25);
	bare_zone_free(&zone, MIGRATE_MOVABLE, -1);
	assert_int_equal(compact_score_zone(&bare, &zone), 0);
}

/* 200 pages in the first block, many in the second, targets in single pages at the top. */
static void test_a_captured_page_is_noticed_after_the_next_batch(void **state)
{
	static const char *const layout[] = {"200A312f", "64A448K", "512K",    "512K", FILL,
					     FILL,       FILL,      FILL,      FILL,   FILL,
					     FILL,       FILL,      "256(fK)", NULL};
	struct recorded moved;
	uint64_t free_before;
	pfn_t page;

	(void)state;
	make(true, 16, layout);
	free_before = count_free(z);
	record(m, &moved, TRACE_COMPACT_MIGRATEPAGES);
	assert_int_equal(try_pages(9, COMPACT_PRIO_ASYNC, &page), COMPACT_SUCCESS);
	record_stop(m);
	assert_int_equal(moved.nr, 3);
	assert_int_equal(moved.ev[0].nr_migrated, 32);
	assert_int_equal(moved.ev[1].nr_migrated, 168);
	assert_int_equal(moved.ev[2].nr_migrated, 32);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 232);
	assert_int_equal(page, PAGEBLOCK_PAGES);
	assert_int_equal(m->map.state[page], PG_STATE(PG_HELD, 9));
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++)
		assert_true(z->avail[type] >> 9 == 0);
	/* 232 targets were taken, 32 sources are on the pcp list, 312 free pages went with the
	 * captured one. */
	assert_int_equal(pcp_zone_pages(m, z), 32);
	assert_int_equal(count_free(z), free_before - 232 - 312);
	free_pages(m, page, 9);
	machine_end(m);
}

static void test_a_whole_block_is_made_without_pcp_lists_and_found_on_the_free_list(void **state)
{
	static const char *const layout[] = {"200A312f", "64A448K", "512K",    "512K", FILL,
					     FILL,       FILL,      FILL,      FILL,   FILL,
					     FILL,       FILL,      "256(fK)", NULL};
	pfn_t page;

	(void)state;
	make(false, 16, layout);
	assert_int_equal(try_pages(9, COMPACT_PRIO_SYNC_LIGHT, &page), COMPACT_SUCCESS);
	/* The last source freed merges in the middle of the second batch, and is captured there. */
	assert_int_equal(page, PAGEBLOCK_PAGES);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 200);
	free_pages(m, page, 9);
	machine_end(m);
}

static void test_async_failures_leave_the_counter_and_sync_failures_arm_it(void **state)
{
	static const char *const layout[] = {"256(fP)", NULL};
	pfn_t page;
	unsigned runs = 0;

	(void)state;
	make(false, 32, layout);
	for (int i = 0; i < 100; i++)
		runs += try_pages(9, COMPACT_PRIO_ASYNC, &page) != COMPACT_DEFERRED;
	assert_int_equal(runs, 100);
	assert_int_equal(z->defer[DEFER_SHARED].shift, 0);
	for (int i = 0; i < 255; i++)
		runs += try_pages(9, COMPACT_PRIO_SYNC_LIGHT, &page) != COMPACT_DEFERRED;
	assert_int_equal(runs, 109);
	assert_int_equal(z->defer[DEFER_SHARED].shift, 6);
	/* Full priority does not ask. */
	z->defer[DEFER_SHARED].considered = 0;
	assert_int_equal(try_pages(9, COMPACT_PRIO_SYNC_FULL, &page), COMPACT_COMPLETE);
	machine_end(m);
}

static void test_pinned_file_pages_are_isolated_and_come_back(void **state)
{
	static const char *const layout[] = {"256(fR)", NULL};
	pfn_t page;

	(void)state;
	make(false, 32, layout);
	assert_int_equal(try_pages(9, COMPACT_PRIO_ASYNC, &page), COMPACT_PARTIAL_SKIPPED);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 0);
	assert_true(counter(m, VM_PGMIGRATE_FAIL) > 0);
	assert_int_equal(counter(m, VM_NR_ISOLATED_FILE), 0);
	machine_end(m);
}

static void test_nofs_and_noio(void **state)
{
	static const char *const layout[] = {"256(fC)", NULL};
	struct alloc_context ac;
	pfn_t page;

	(void)state;
	make(false, 32, layout);
	ac = request(9);
	ac.gfp &= ~(__GFP_IO | __GFP_FS);
	assert_int_equal(compact_try_pages(m, 9, ALLOC_WMARK_MIN, &ac, COMPACT_PRIO_ASYNC, &page),
			 COMPACT_SKIPPED);
	assert_int_equal(counter(m, VM_COMPACT_MIGRATE_SCANNED), 0);
	ac.gfp |= __GFP_IO;
	assert_true(compact_try_pages(m, 9, ALLOC_WMARK_MIN, &ac, COMPACT_PRIO_SYNC_LIGHT, &page) >=
		    COMPACT_COMPLETE);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 0);
	machine_end(m);
}

static void test_explicit_compaction_packs_the_zone_and_marks_targets(void **state)
{
	static const char *const layout[] = {"256(fA)", NULL};

	(void)state;
	make(false, 32, layout);
	compact_node_begin(m, &m->node[0]);
	while (compact_node_step(m, &m->node[0]))
		;
	/* Half of the memory is free and all of it movable. */
	assert_true(z->nr_chunks[9] + 2 * z->nr_chunks[10] >= 15);
	assert_true(memmap_skip(m, 32 * PAGEBLOCK_PAGES));
	assert_false(memmap_skip(m, 1 * PAGEBLOCK_PAGES));
	assert_false(z->blockskip_flush);
	assert_int_equal(z->defer[DEFER_SHARED].shift, 0);
	/* Whole free blocks are not filled again. */
	compact_node_begin(m, &m->node[0]);
	while (compact_node_step(m, &m->node[0]))
		;
	assert_true(z->nr_chunks[9] + 2 * z->nr_chunks[10] >= 15);
	machine_end(m);
}

static void test_the_precheck_ends_a_run_without_a_trace(void **state)
{
	static const char *const little[] = {"16f496A", "512A", NULL};
	static const char *const chunk[] = {"512A", "F10.", "", "512A", NULL};
	struct recorded begin;
	pfn_t page;

	(void)state;
	make(false, 32, little);
	record(m, &begin, TRACE_COMPACT_BEGIN);
	assert_int_equal(try_pages(9, COMPACT_PRIO_SYNC_LIGHT, &page), COMPACT_SKIPPED);
	assert_int_equal(begin.nr, 0);
	record_stop(m);
	machine_end(m);
	/* What is wanted is there: success, and nothing done. */
	make(false, 32, chunk);
	record(m, &begin, TRACE_COMPACT_BEGIN);
	assert_int_equal(try_pages(8, COMPACT_PRIO_SYNC_LIGHT, &page), COMPACT_SUCCESS);
	assert_int_equal(page, PFN_NONE);
	assert_int_equal(begin.nr, 0);
	assert_int_equal(z->defer[DEFER_SHARED].order_failed, 9);
	record_stop(m);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_fresh_zone_is_scanned_in_part_and_a_reset_one_in_whole),
		cmocka_unit_test(test_a_reset_that_found_sources_makes_the_next_run_whole),
		cmocka_unit_test(test_restart_resets_marks_only_with_permission),
		cmocka_unit_test(
			test_reset_positions_are_the_first_source_and_the_last_page_of_the_last_target),
		cmocka_unit_test(test_a_reset_without_targets_leaves_no_span),
		cmocka_unit_test(test_finish_differs_by_caller),
		cmocka_unit_test(test_marks_of_proactive_compaction),
		cmocka_unit_test(test_a_captured_page_is_noticed_after_the_next_batch),
		cmocka_unit_test(
			test_a_whole_block_is_made_without_pcp_lists_and_found_on_the_free_list),
		cmocka_unit_test(test_async_failures_leave_the_counter_and_sync_failures_arm_it),
		cmocka_unit_test(test_pinned_file_pages_are_isolated_and_come_back),
		cmocka_unit_test(test_nofs_and_noio),
		cmocka_unit_test(test_explicit_compaction_packs_the_zone_and_marks_targets),
		cmocka_unit_test(test_the_precheck_ends_a_run_without_a_trace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
