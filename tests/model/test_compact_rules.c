/* SPDX-License-Identifier: MIT */
/* Rules of compaction one by one: who may capture, who stops when, which priority ignores what. */
#include "harness.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/compact.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/pcp.h"

#define BLOCKS 32u

static struct model *machine(bool pcp)
{
	struct model_config c = quiet_config(PROFILE_C, BLOCKS * PAGEBLOCK_PAGES);

	c.pcp = pcp;
	return machine_make(&c);
}

static struct alloc_context context_of(struct model *m, gfp_t gfp, unsigned order)
{
	struct alloc_context ac;

	alloc_context_init(m, &ac, gfp, order, NODE_NONE, NODEMASK_NONE);
	return ac;
}

/* ---- capture ------------------------------------------------------------------------------ */

static void test_which_freed_chunks_are_captured(void **state)
{
	static const struct {
		unsigned wanted, order;
		enum migratetype request, block;
		bool caught;
	} rows[] = {
		{9, 9, MIGRATE_MOVABLE, MIGRATE_MOVABLE, true},
		{9, 8, MIGRATE_MOVABLE, MIGRATE_MOVABLE, false},
		{8, 9, MIGRATE_MOVABLE, MIGRATE_MOVABLE, false},
		{9, 9, MIGRATE_MOVABLE, MIGRATE_CMA, false},
		{9, 9, MIGRATE_MOVABLE, MIGRATE_ISOLATE, false},
		{2, 2, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, false},
		{2, 2, MIGRATE_UNMOVABLE, MIGRATE_RECLAIMABLE, true},
		{2, 2, MIGRATE_MOVABLE, MIGRATE_UNMOVABLE, true},
		{9, 9, MIGRATE_UNMOVABLE, MIGRATE_MOVABLE, true},
	};
	struct model *m = machine(false);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct capture c = {.zone = m->zone[0].id,
				    .order = (uint8_t)rows[i].wanted,
				    .type = rows[i].request,
				    .armed = true};

		m->capture = &c;
		assert_int_equal(compact_capture(m, &m->zone[0], 512, rows[i].order, rows[i].block),
				 rows[i].caught);
		assert_int_equal(c.page, rows[i].caught ? 512 : PFN_NONE);
		/* One is enough. */
		if (rows[i].caught)
			assert_false(compact_capture(m, &m->zone[0], 1024, rows[i].order,
						     rows[i].block));
	}
	m->capture = NULL;
	machine_end(m);
}

static void test_a_promoted_run_captures_what_was_asked_for(void **state)
{
	struct model *m = machine(false);
	struct alloc_context ac = context_of(m, GFP_KERNEL, 2);
	pfn_t page;

	(void)state;
	lay_begin(m);
	for (pfn_t b = 1; b <= BLOCKS; b++) {
		lay(m, b * PAGEBLOCK_PAGES, b <= 8 ? "256(fA)" : "256(fK)");
		if (b <= 8)
			lay_type(m, b * PAGEBLOCK_PAGES, MIGRATE_UNMOVABLE);
	}
	lay_end(m);
	assert_int_equal(compact_try_pages(m, 9, ALLOC_WMARK_MIN | ALLOC_CPUSET, &ac,
					   COMPACT_PRIO_SYNC_LIGHT, &page),
			 COMPACT_SUCCESS);
	assert_int_not_equal(page, PFN_NONE);
	assert_int_equal(m->map.state[page], PG_STATE(PG_HELD, 2));
	free_pages(m, page, 2);
	machine_end(m);
}

/* ---- when is it over? --------------------------------------------------------------------- */

static void test_each_kind_of_run_ends_for_its_own_reason(void **state)
{
	static struct model m;
	static struct zone z;
	struct compact_control cc = {.order = 9, .direct = true, .type = MIGRATE_UNMOVABLE};

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	cc.zone = &z;
	cc.migrate_pfn = z.start_pfn;
	cc.free_pfn = z.end_pfn - 1;
	/* CMA chunks are for movable requests. */
	bare_zone_free(&z, MIGRATE_CMA, 9, 1, -1);
	assert_int_equal(compact_finished(&m, &cc), COMPACT_CONTINUE);
	cc.type = MIGRATE_MOVABLE;
	assert_int_equal(compact_finished(&m, &cc), COMPACT_SUCCESS);
	/* Under defrag_mode the daemon wants the high mark in whole blocks, a request its chunk. */
	bare_zone_free(&z, MIGRATE_MOVABLE, 9, 1, -1);
	z.stat[VM_NR_FREE_PAGES_BLOCKS] = 512;
	m.sysctl.defrag_mode = true;
	assert_int_equal(compact_finished(&m, &cc), COMPACT_SUCCESS);
	cc.direct = false;
	cc.kcompactd = true;
	assert_int_equal(compact_finished(&m, &cc), COMPACT_CONTINUE);
	/* More than 25557 + 511 pages in blocks. */
	z.stat[VM_NR_FREE_PAGES_BLOCKS] = 25557 + 511;
	assert_int_equal(compact_finished(&m, &cc), COMPACT_CONTINUE);
	z.stat[VM_NR_FREE_PAGES_BLOCKS]++;
	assert_int_equal(compact_finished(&m, &cc), COMPACT_SUCCESS);
}

static void test_a_proactive_run_makes_way_for_kswapd(void **state)
{
	struct model *m = machine(false);
	struct zone *z = &m->zone[0];
	struct compact_control cc = {.zone = z, .order = -1, .proactive = true};

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fK)");
	lay_end(m);
	/* All in single pages: the zone's score is 100, the node's 100 * P / (P + 1). */
	assert_int_equal(compact_score_zone(m, z), 100);
	assert_int_equal(compact_score_node(m, &m->node[0]), 99);
	cc.migrate_pfn = z->start_pfn;
	cc.free_pfn = z->end_pfn - 1;
	m->sysctl.compaction_proactiveness = 20;
	assert_int_equal(compact_finished(m, &cc), COMPACT_CONTINUE);
	m->node[0].kswapd.state = DAEMON_RUNNING;
	assert_int_equal(compact_finished(m, &cc), COMPACT_PARTIAL_SKIPPED);
	m->node[0].kswapd.state = DAEMON_SLEEPING;
	machine_end(m);
}

/* ---- full priority ------------------------------------------------------------------------ */

static void test_full_priority_ignores_marks_and_types_of_targets(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct model *m = machine(false);
		struct alloc_context ac = context_of(m, GFP_HIGHUSER_MOVABLE, 3);
		pfn_t page;

		/* i = 0: every block is marked; i = 1: targets are in unmovable blocks only. */
		lay_begin(m);
		for (pfn_t b = 1; b <= BLOCKS; b++) {
			lay(m, b * PAGEBLOCK_PAGES, b <= 16 ? "256(fA)" : "256(fK)");
			if (i && b > 8)
				lay_type(m, b * PAGEBLOCK_PAGES, MIGRATE_UNMOVABLE);
		}
		lay_end(m);
		for (pfn_t b = 1; b <= BLOCKS && !i; b++)
			memmap_skip_set(m, b * PAGEBLOCK_PAGES);
		assert_true(compact_try_pages(m, 3, ALLOC_WMARK_MIN | ALLOC_CPUSET, &ac,
					      COMPACT_PRIO_SYNC_FULL, &page) == COMPACT_SUCCESS);
		assert_true(counter(m, VM_PGMIGRATE_SUCCESS) > 0);
		if (page)
			free_pages(m, page, 3);
		machine_end(m);
	}
}

/* ---- drains ------------------------------------------------------------------------------- */

static void test_a_block_with_a_page_left_in_it_is_not_worth_a_drain_at_order_9(void **state)
{
	(void)state;
	for (int order = 8; order <= 9; order++) {
		struct model *m = machine(true);
		struct zone *z = &m->zone[0];
		struct compact_control *cc;

		lay_begin(m);
		lay(m, 512, "R31A480K");
		lay(m, 1024, "7936(fK)");
		lay_end(m);
		cc = direct_cc(m, z, order, MIGRATE_SYNC_LIGHT);
		assert_int_equal(compact_zone_begin(m, cc), COMPACT_CONTINUE);
		assert_true(compact_zone_step(m, cc));
		assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 31);
		assert_int_equal(pcp_zone_pages(m, z), order == 9 ? 31 : 0);
		(void)compact_zone_end(m, cc);
		machine_end(m);
	}
}

/* ---- marks -------------------------------------------------------------------------------- */

static void test_the_walk_down_takes_no_unmovable_block_for_a_target(void **state)
{
	struct model *m = machine(false);
	struct zone *z = &m->zone[0];

	(void)state;
	lay_begin(m);
	lay(m, 512, "512A");
	lay(m, 1024, "7424(KK)");
	lay(m, 1024 + 29 * 512, "256(fK)"); /* block 31: movable */
	lay(m, 1024 + 30 * 512, "256(fK)"); /* block 32 */
	lay_type(m, 32 * PAGEBLOCK_PAGES, MIGRATE_UNMOVABLE);
	lay_end(m);
	for (pfn_t b = 1; b <= BLOCKS; b++)
		memmap_skip_set(m, b * PAGEBLOCK_PAGES);
	z->blockskip_flush = true;
	compact_reset_zone(m, z);
	assert_true(memmap_skip(m, 32 * PAGEBLOCK_PAGES));
	assert_false(memmap_skip(m, 31 * PAGEBLOCK_PAGES));
	assert_int_equal(z->init_free, 32 * PAGEBLOCK_PAGES - 1);
	machine_end(m);
}

/* ---- taking pages ------------------------------------------------------------------------- */

static void test_a_boost_keeps_no_target_back_and_isolated_blocks_have_no_mark(void **state)
{
	struct model *m = machine(false);
	struct zone *z = &m->zone[0];
	struct compact_control *cc = direct_cc(m, z, 9, MIGRATE_SYNC_LIGHT);

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fK)");
	lay_end(m);
	z->boost = (uint64_t)zone_free_pages(z);
	assert_true(scan_free_take(m, cc, 512, 0));
	z->boost = 0;
	z->wmark[WMARK_MIN] = (uint64_t)zone_free_pages(z);
	assert_false(scan_free_take(m, cc, 514, 0));
	z->wmark[WMARK_MIN] = 0;
	(void)scan_free_release(m, cc);
	machine_end(m);

	m = machine(false);
	z = &m->zone[0];
	cc = direct_cc(m, z, -1, MIGRATE_SYNC);
	assert_int_equal(buddy_isolate_block(m, block_of(1024)), 0);
	z->wmark[WMARK_MIN] = (uint64_t)zone_free_pages(z);
	assert_true(scan_free_take(m, cc, 1024, 9));
	(void)scan_free_release(m, cc);
	buddy_unisolate_block(m, block_of(1024), MIGRATE_MOVABLE);
	machine_end(m);
}

static void test_a_contiguous_range_takes_locked_pages_whatever_the_setting(void **state)
{
	struct model *m = machine(false);
	struct zone *z = &m->zone[0];

	(void)state;
	lay_begin(m);
	lay(m, 512, "16L496K");
	lay_end(m);
	m->sysctl.compact_unevictable_allowed = false;
	for (int contig = 0; contig < 2; contig++) {
		struct compact_control *cc = direct_cc(m, z, -1, MIGRATE_SYNC);

		cc->direct = false;
		cc->ignore_skip_hint = true;
		cc->alloc_contig = contig;
		assert_int_equal(scan_migrate_block(m, cc, 512, 1024), 0);
		assert_int_equal(cc->nr_migratepages, contig ? 16 : 0);
		scan_migrate_putback(m, cc);
	}
	machine_end(m);
}

static void test_too_many_isolated_pages_end_a_run(void **state)
{
	struct model *m = machine(false);
	struct zone *z = &m->zone[0];
	struct compact_control *cc = direct_cc(m, z, 9, MIGRATE_ASYNC);

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fA)");
	lay_end(m);
	/* Half of an eighth of 8192 pages is allowed, half of all to those without __GFP_FS. */
	stat_node(&m->node[0], VM_NR_ISOLATED_ANON, 512);
	assert_int_equal(scan_migrate_block(m, cc, 512, 1024), 0);
	scan_migrate_putback(m, cc);
	stat_node(&m->node[0], VM_NR_ISOLATED_ANON, 1);
	assert_int_equal(scan_migrate_block(m, cc, 1024, 1536), -EAGAIN);
	cc->gfp &= ~__GFP_FS;
	assert_int_equal(scan_migrate_block(m, cc, 1536, 2048), 0);
	scan_migrate_putback(m, cc);
	stat_node(&m->node[0], VM_NR_ISOLATED_ANON, -513);
	machine_end(m);
}

static void test_reclaimable_pages_count_by_the_order_for_a_retry(void **state)
{
	struct model *m = machine(false);
	struct alloc_context ac = context_of(m, GFP_KERNEL, 2);
	struct zone *z = &m->zone[0];
	int64_t free;

	(void)state;
	lay_begin(m);
	lay(m, 512, "4096(fCCK)");
	lay_end(m);
	/* Needed: min + gap of 8. 8192 pages of cache count as 4096 for order 2. */
	free = zone_free_pages(z);
	z->wmark[WMARK_MIN] = (uint64_t)free + 4096 - 8 - 1;
	assert_true(compact_zonelist_suitable(m, &ac, 2));
	z->wmark[WMARK_MIN]++;
	assert_false(compact_zonelist_suitable(m, &ac, 2));
	z->wmark[WMARK_MIN] = 0;
	machine_end(m);
}

static void test_targets_for_large_folios_are_asked_for_as_huge_pages_are(void **state)
{
	struct model *m = machine(false);
	struct migrate_target_control mtc = {.nid = NODE_NONE, .gfp = GFP_USER};
	struct recorded r;

	(void)state;
	lay_begin(m);
	lay(m, 512, "512A");
	lay_end(m);
	record(m, &r, TRACE_PAGE_ALLOC);
	free_pages(m, migrate_alloc_target(m, &mtc, 512, 0), 0);
	free_pages(m, migrate_alloc_target(m, &mtc, 512, 9), 9);
	record_stop(m);
	assert_int_equal(r.ev[0].gfp, GFP_USER);
	assert_int_equal(r.ev[1].gfp, (GFP_USER | GFP_TRANSHUGE) & ~__GFP_KSWAPD_RECLAIM);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_freed_chunks_are_captured),
		cmocka_unit_test(test_a_promoted_run_captures_what_was_asked_for),
		cmocka_unit_test(test_each_kind_of_run_ends_for_its_own_reason),
		cmocka_unit_test(test_a_proactive_run_makes_way_for_kswapd),
		cmocka_unit_test(test_full_priority_ignores_marks_and_types_of_targets),
		cmocka_unit_test(
			test_a_block_with_a_page_left_in_it_is_not_worth_a_drain_at_order_9),
		cmocka_unit_test(test_the_walk_down_takes_no_unmovable_block_for_a_target),
		cmocka_unit_test(
			test_a_boost_keeps_no_target_back_and_isolated_blocks_have_no_mark),
		cmocka_unit_test(test_a_contiguous_range_takes_locked_pages_whatever_the_setting),
		cmocka_unit_test(test_too_many_isolated_pages_end_a_run),
		cmocka_unit_test(test_reclaimable_pages_count_by_the_order_for_a_retry),
		cmocka_unit_test(test_targets_for_large_folios_are_asked_for_as_huge_pages_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
