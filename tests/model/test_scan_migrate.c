/* SPDX-License-Identifier: MIT */
/* The source scanner on laid-out blocks: what is scanned, taken, marked and remembered. */
#include "harness.h"

#include "model/buddy.h"
#include "model/compact.h"
#include "model/memmap.h"
#include "model/pcp.h"

#define BLOCK 1024u /* the block that tests lay out; the zone starts at 512 */

static struct model *m;
static struct zone *z;
static struct recorded calls;

static void make(bool pcp)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);

	c.pcp = pcp;
	m = machine_make(&c);
	z = &m->zone[0];
}

static int setup(void **state)
{
	(void)state;
	make(false);
	return 0;
}

static int setup_pcp(void **state)
{
	(void)state;
	make(true);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	machine_end(m);
	return 0;
}

static struct compact_control *scan(int order, enum migrate_mode mode, const char *pattern)
{
	struct compact_control *cc = direct_cc(m, z, order, mode);

	lay_begin(m);
	lay(m, BLOCK, pattern);
	/* LRU pages elsewhere, or a few isolated ones would be too many. */
	for (pfn_t pfn = 8 * PAGEBLOCK_PAGES; pfn < 16 * PAGEBLOCK_PAGES; pfn += PAGEBLOCK_PAGES)
		lay(m, pfn, "512A");
	lay_end(m);
	cc->free_pfn = z->end_pfn - PAGEBLOCK_PAGES;
	cc->finish_block = false;
	return cc;
}

static void assert_scan(struct compact_control *cc, uint64_t scanned, uint64_t isolated,
			pfn_t reached)
{
	record(m, &calls, TRACE_ISOLATE_MIGRATEPAGES);
	cc->total_migrate_scanned = 0;
	assert_int_equal(scan_migrate_block(m, cc, BLOCK, BLOCK + PAGEBLOCK_PAGES), 0);
	record_stop(m);
	assert_int_equal(cc->total_migrate_scanned, scanned);
	assert_int_equal(calls.nr, 1);
	assert_int_equal(calls.ev[0].nr_scanned, scanned);
	assert_int_equal(calls.ev[0].nr_taken, isolated);
	assert_int_equal(cc->migrate_pfn, reached);
	assert_int_equal(calls.ev[0].end_pfn, reached);
	assert_int_equal(cc->nr_migratepages, isolated);
	scan_migrate_putback(m, cc);
}

static void test_cached_position_points_past_the_next_block(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_ASYNC, "512K");

	(void)state;
	z->cached_migrate[0] = z->cached_migrate[1] = z->start_pfn;
	assert_scan(cc, 1, 0, 1536);
	assert_int_equal(z->cached_migrate[0], 2048);
	assert_int_equal(z->cached_migrate[1], z->start_pfn);
	assert_true(memmap_skip(m, BLOCK));
}

static void test_sync_moves_both_cached_positions(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "512K");

	(void)state;
	z->cached_migrate[0] = z->cached_migrate[1] = z->start_pfn;
	assert_scan(cc, 512, 0, 1536);
	assert_int_equal(z->cached_migrate[0], 2048);
	assert_int_equal(z->cached_migrate[1], 2048);
}

static void test_a_page_on_a_pcp_list_ends_an_async_scan_of_its_block(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_ASYNC, "p100A411f");

	(void)state;
	assert_scan(cc, 1, 0, BLOCK + PAGEBLOCK_PAGES);
	assert_true(memmap_skip(m, BLOCK));
	pcp_drain_local(m, z);
	memmap_skip_clear(m, BLOCK);
	/* The free page, then 32 of the hundred. */
	assert_scan(cc, 33, 32, BLOCK + 33);
}

static void test_async_gives_a_pinned_block_up_at_the_first_pin(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_ASYNC, "256(fP)");

	(void)state;
	assert_scan(cc, 2, 0, BLOCK + PAGEBLOCK_PAGES);
	assert_true(memmap_skip(m, BLOCK));
}

static void test_sync_light_reads_a_pinned_block_to_its_end(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "256(fP)");

	(void)state;
	assert_scan(cc, 512, 0, BLOCK + PAGEBLOCK_PAGES);
	assert_true(memmap_skip(m, BLOCK));
}

static void test_the_walk_agrees_with_the_short_cut_for_barren_blocks(void **state)
{
	/* The same pinned block, once with one movable page at its end, which makes the walk
	 * necessary. */
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "255(fP)PA");

	(void)state;
	assert_scan(cc, 512, 1, BLOCK + PAGEBLOCK_PAGES);
}

static void test_async_puts_back_what_it_took_from_a_failed_group(void **state)
{
	/* Order 4: sixteen pages a group; the second group fails at its ninth page, the third gives
	 * all. */
	struct compact_control *cc = scan(4, MIGRATE_ASYNC, "16K 8AK7A 16A 464f");

	(void)state;
	assert_scan(cc, 1 + 9 + 16, 16, BLOCK + 48);
	assert_true(memmap_skip(m, BLOCK)); /* set when the first page was taken */
}

static void test_the_second_visit_takes_the_whole_rest(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "200A312f");

	(void)state;
	assert_scan(cc, 32, 32, BLOCK + 32);
	cc->finish_block = true;
	cc->total_migrate_scanned = 0;
	assert_int_equal(scan_migrate_block(m, cc, BLOCK + 32, BLOCK + PAGEBLOCK_PAGES), 0);
	assert_int_equal(cc->nr_migratepages, 168);
	assert_int_equal(cc->total_migrate_scanned, 480);
	assert_int_equal(cc->migrate_pfn, BLOCK + PAGEBLOCK_PAGES);
	scan_migrate_putback(m, cc);
}

static void test_a_huge_page_is_jumped_and_counted(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "T");

	(void)state;
	assert_scan(cc, 512, 0, BLOCK + PAGEBLOCK_PAGES);
}

static void test_small_folios_are_taken_whole_and_large_slabs_jumped(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "4Q 4k 480f");

	(void)state;
	/* A kernel compound below the target order fails page by page, which counts the same. */
	assert_scan(cc, 512, 16, BLOCK + PAGEBLOCK_PAGES);
}

static void test_folios_of_the_wanted_order_are_left(void **state)
{
	struct compact_control *cc = scan(2, MIGRATE_SYNC_LIGHT, "4Q 496f");

	(void)state;
	assert_scan(cc, 512, 0, BLOCK + PAGEBLOCK_PAGES);
}

static void test_who_may_be_isolated(void **state)
{
	static const struct {
		const char *pattern;
		enum migrate_mode mode;
		gfp_t gfp;
		bool unevictable_allowed;
		uint64_t isolated;
	} cases[] = {
		{"A511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"P511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 0},
		{"R511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"C511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"C511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE & ~__GFP_FS, true, 0},
		{"S511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE & ~__GFP_FS, true, 0},
		{"A511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE & ~__GFP_FS, true, 1},
		{"D511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"W511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 0},
		{"W511f", MIGRATE_SYNC, GFP_HIGHUSER_MOVABLE, true, 1},
		{"L511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"L511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, false, 0},
		{"M511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 1},
		{"B511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 0},
		{"G511f", MIGRATE_SYNC_LIGHT, GFP_HIGHUSER_MOVABLE, true, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct compact_control *cc = scan(9, cases[i].mode, cases[i].pattern);

		cc->gfp = cases[i].gfp;
		m->sysctl.compact_unevictable_allowed = cases[i].unevictable_allowed;
		assert_scan(cc, 512, cases[i].isolated, BLOCK + PAGEBLOCK_PAGES);
		machine_end(m);
		make(false);
	}
}

static void test_a_marked_block_is_left_at_its_first_page(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "512A");

	(void)state;
	memmap_skip_set(m, BLOCK);
	assert_scan(cc, 1, 0, BLOCK + PAGEBLOCK_PAGES);
	cc->ignore_skip_hint = true;
	assert_scan(cc, 32, 32, BLOCK + 32);
}

static void test_runs_that_ignore_marks_mark_only_what_gave_nothing(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "256(fA)");

	(void)state;
	cc->ignore_skip_hint = true;
	cc->finish_block = true;
	assert_scan(cc, 512, 256, BLOCK + PAGEBLOCK_PAGES);
	assert_false(memmap_skip(m, BLOCK));
}

static void test_marked_blocks_are_passed_without_a_count(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "512K");

	(void)state;
	for (pfn_t pfn = z->start_pfn; pfn < 9 * PAGEBLOCK_PAGES; pfn += PAGEBLOCK_PAGES)
		memmap_skip_set(m, pfn);
	cc->migrate_pfn = z->start_pfn;
	cc->fast_search_fail = 63;
	assert_int_equal(scan_migrate_isolate(m, cc), ISOLATE_SUCCESS);
	assert_int_equal(cc->nr_migratepages, 32);
	assert_int_equal(cc->migrate_pfn, 9 * PAGEBLOCK_PAGES + 32);
	assert_int_equal(cc->total_migrate_scanned, 32);
	scan_migrate_putback(m, cc);
}

static void test_running_past_the_free_scanner_leaves_the_scanners_met(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_SYNC_LIGHT, "512K");

	(void)state;
	for (pfn_t pfn = z->start_pfn; pfn < z->end_pfn; pfn += PAGEBLOCK_PAGES)
		memmap_skip_set(m, pfn);
	cc->migrate_pfn = z->start_pfn;
	cc->free_pfn = 12 * PAGEBLOCK_PAGES + 100;
	assert_int_equal(scan_migrate_isolate(m, cc), ISOLATE_NONE);
	assert_int_equal(cc->migrate_pfn, 12 * PAGEBLOCK_PAGES);
}

static void test_marked_blocks_and_huge_pages_are_passed_each_for_its_time(void **state)
{
	const uint32_t end = 290; /* several words of the bitmaps */
	struct compact_control *cc;
	uint32_t marked = 0, whole = 0, last_whole = 0;
	ns_t start;

	(void)state;
	m = machine_quiet(PROFILE_C, 300 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	for (uint32_t b = 1; b < end; b++) {
		bool mark = b % 3 == 0 || (b > 70 && b < 140), huge = b % 3 || b % 7 == 0;

		if (huge)
			lay(m, b * PAGEBLOCK_PAGES, "T");
		if (mark)
			memmap_skip_set(m, b * PAGEBLOCK_PAGES);
		marked += mark;
		whole += huge && !mark;
		if (huge && !mark)
			last_whole = b;
	}
	lay_end(m);
	cc = direct_cc(m, z, 3, MIGRATE_ASYNC); /* no fast search */
	cc->migrate_pfn = z->start_pfn;
	cc->free_pfn = end * PAGEBLOCK_PAGES;
	start = m->clock.now;
	assert_int_equal(scan_migrate_isolate(m, cc), ISOLATE_NONE);
	assert_int_equal(cc->migrate_pfn, end * PAGEBLOCK_PAGES);
	assert_int_equal(m->clock.now - start, marked * m->cost.ns[COST_BLOCK_SKIPPED] +
						       whole * m->cost.ns[COST_BLOCK_VISITED]);
	assert_int_equal(z->cached_migrate[0], (last_whole + 2) * PAGEBLOCK_PAGES);
	assert_int_equal(cc->total_migrate_scanned, 0);
	machine_end(m);
}

/* ---- choosing a block --------------------------------------------------------------------- */

#define SPAN_BLOCKS 1001u

/* A zone of 1000 blocks and more; a free piece of order 3..8 stands in one block only. */
static struct compact_control *span(uint32_t piece_block, uint32_t migrate_block)
{
	struct compact_control *cc;

	m = machine_quiet(PROFILE_C, 1100 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	lay(m, piece_block * PAGEBLOCK_PAGES, "K511f");
	lay_end(m);
	cc = direct_cc(m, z, 9, MIGRATE_ASYNC);
	cc->migrate_pfn = migrate_block * PAGEBLOCK_PAGES;
	cc->free_pfn = SPAN_BLOCKS * PAGEBLOCK_PAGES;
	return cc;
}

static void test_the_fast_search_looks_at_half_then_an_eighth_of_the_span(void **state)
{
	/* Blocks count from the zone's start, which is block 1. */
	static const struct {
		uint32_t migrate, piece;
		bool found;
	} cases[] = {
		{1, 500, true},
		{1, 501, false},
		{101, 212, true},
		{101, 213, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct compact_control *cc = span(cases[i].piece, cases[i].migrate);
		pfn_t want = (cases[i].found ? cases[i].piece : cases[i].migrate) * PAGEBLOCK_PAGES;

		assert_int_equal(scan_migrate_fast(m, cc), want);
		assert_int_equal(cc->fast_search_fail, cases[i].found ? 0 : 1);
		machine_end(m);
	}
}

static void test_the_fast_search_goes_on_from_its_lowest_hit_once(void **state)
{
	struct compact_control *cc = span(300, 1);

	(void)state;
	assert_int_equal(scan_migrate_fast(m, cc), 300 * PAGEBLOCK_PAGES);
	memmap_skip_set(m, 300 * PAGEBLOCK_PAGES);
	/* The hit itself, in the middle of its block: the piece of order 8 is found first. */
	assert_int_equal(scan_migrate_fast(m, cc), 300 * PAGEBLOCK_PAGES + 256);
	cc->migrate_pfn = z->start_pfn;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn);
	machine_end(m);
}

static void test_when_the_fast_search_is_not_used(void **state)
{
	struct compact_control *cc = span(300, 1);

	(void)state;
	cc->ignore_skip_hint = true;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn);
	cc->ignore_skip_hint = false;
	cc->finish_block = true;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn);
	cc->finish_block = false;
	cc->order = 3;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn);
	cc->order = 8;
	cc->type = MIGRATE_UNMOVABLE;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn);
	cc->order = 9; /* 7.3: whole blocks are for everybody */
	assert_int_equal(scan_migrate_fast(m, cc), 300 * PAGEBLOCK_PAGES);
	cc->migrate_pfn = z->start_pfn + 32;
	assert_int_equal(scan_migrate_fast(m, cc), z->start_pfn + 32);
	assert_int_equal(cc->total_migrate_scanned, 1);
	machine_end(m);
}

/* Four pieces in four blocks, a list of order 8. */
static void test_the_fast_search_rotates_its_list(void **state)
{
	struct compact_control *cc;

	(void)state;
	m = machine_quiet(PROFILE_C, 1100 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	for (pfn_t b = 10; b < 14; b++)
		lay(m, b * PAGEBLOCK_PAGES, "256K256f");
	lay_end(m);
	cc = direct_cc(m, z, 9, MIGRATE_ASYNC);
	cc->migrate_pfn = z->start_pfn;
	cc->free_pfn = 1000 * PAGEBLOCK_PAGES;
	memmap_skip_set(m, 10 * PAGEBLOCK_PAGES);
	assert_free_list(m, z, 8, MIGRATE_MOVABLE, (pfn_t)5376, (pfn_t)5888, (pfn_t)6400,
			 (pfn_t)6912, PFN_NONE);
	assert_int_equal(scan_migrate_fast(m, cc), 11 * PAGEBLOCK_PAGES);
	assert_int_equal(cc->total_migrate_scanned, 2);
	assert_free_list(m, z, 8, MIGRATE_MOVABLE, (pfn_t)6400, (pfn_t)6912, (pfn_t)5376,
			 (pfn_t)5888, PFN_NONE);
	/* A search that fails at once is charged the entry that ends it. */
	cc->fast_search_fail = 63;
	for (pfn_t b = 10; b < 14; b++)
		memmap_skip_set(m, b * PAGEBLOCK_PAGES);
	cc->total_migrate_scanned = 0;
	assert_int_equal(scan_migrate_fast(m, cc), 5888);
	assert_int_equal(cc->total_migrate_scanned, 2);
	assert_free_list(m, z, 8, MIGRATE_MOVABLE, (pfn_t)5376, (pfn_t)5888, (pfn_t)6400,
			 (pfn_t)6912, PFN_NONE);
	machine_end(m);
}

static void test_which_blocks_are_sources(void **state)
{
	struct compact_control *cc = scan(9, MIGRATE_ASYNC, "T");
	pfn_t other = BLOCK + PAGEBLOCK_PAGES;

	(void)state;
	assert_false(scan_migrate_suitable(m, cc, BLOCK));
	assert_true(scan_migrate_suitable(m, cc, other));
	buddy_retype_block(m, z, block_of(other), MIGRATE_UNMOVABLE);
	assert_false(scan_migrate_suitable(m, cc, other));
	cc->mode = MIGRATE_SYNC_LIGHT;
	assert_true(scan_migrate_suitable(m, cc, other));
	cc->mode = MIGRATE_ASYNC;
	cc->type = MIGRATE_UNMOVABLE; /* order 9 in 7.3: movable blocks only */
	assert_false(scan_migrate_suitable(m, cc, other));
	cc->order = 8;
	assert_true(scan_migrate_suitable(m, cc, other));
	cc->direct = false;
	cc->type = MIGRATE_MOVABLE;
	assert_true(scan_migrate_suitable(m, cc, other));
}

static void test_sources_by_kernel(void **state)
{
	static const struct {
		enum migratetype block, request;
		enum migrate_mode mode;
		bool rights, direct;
		bool source[NR_PROFILES];
	} cases[] = {
		/* Blocks of CMA without the right to allocate from them */
		{MIGRATE_CMA,
		 MIGRATE_UNMOVABLE,
		 MIGRATE_SYNC_LIGHT,
		 false,
		 true,
		 {true, true, false}},
		{MIGRATE_CMA, MIGRATE_MOVABLE, MIGRATE_ASYNC, false, true, {true, true, false}},
		{MIGRATE_CMA, MIGRATE_MOVABLE, MIGRATE_ASYNC, true, true, {true, true, true}},
		{MIGRATE_CMA,
		 MIGRATE_UNMOVABLE,
		 MIGRATE_SYNC_LIGHT,
		 false,
		 false,
		 {true, true, true}},
		/* Async requests for whole blocks by others */
		{MIGRATE_MOVABLE,
		 MIGRATE_UNMOVABLE,
		 MIGRATE_ASYNC,
		 false,
		 true,
		 {false, false, true}},
		{MIGRATE_UNMOVABLE,
		 MIGRATE_UNMOVABLE,
		 MIGRATE_ASYNC,
		 false,
		 true,
		 {true, true, false}},
	};

	(void)state;
	for (int profile = PROFILE_A; profile <= PROFILE_C; profile++) {
		m = machine_quiet((enum profile_id)profile, 32 * PAGEBLOCK_PAGES);
		z = &m->zone[0];
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			struct compact_control *cc = direct_cc(m, z, 9, cases[i].mode);

			buddy_retype_block(m, z, block_of(BLOCK), cases[i].block);
			cc->type = cases[i].request;
			cc->direct = cases[i].direct;
			cc->alloc_flags = cases[i].rights ? ALLOC_CMA : 0;
			assert_int_equal(scan_migrate_suitable(m, cc, BLOCK),
					 cases[i].source[profile]);
		}
		machine_end(m);
	}
}

static void test_the_short_first_block_of_a_zone_is_scanned(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 0);
	struct compact_control *cc;

	(void)state;
	c.zone[0].class = ZONE_DMA;
	c.zone[0].start_pfn = 1;
	c.zone[0].spanned = 16 * PAGEBLOCK_PAGES - 1;
	m = machine_make(&c);
	z = &m->zone[0];
	lay_begin(m);
	lay(m, 1, "511K 512K");
	lay_end(m);
	cc = direct_cc(m, z, 9, MIGRATE_SYNC_LIGHT);
	cc->migrate_pfn = z->start_pfn;
	cc->free_pfn = 15 * PAGEBLOCK_PAGES;
	cc->finish_block = true; /* as in the first turn of a zone that begins in block 0 */
	assert_int_equal(scan_migrate_isolate(m, cc), ISOLATE_NONE);
	assert_int_equal(cc->total_migrate_scanned, 511);
	assert_int_equal(cc->migrate_pfn, PAGEBLOCK_PAGES);
	assert_true(memmap_skip(m, 1));
	/* The end of the next block, as for any other block. */
	assert_int_equal(z->cached_migrate[1], 2 * PAGEBLOCK_PAGES);
	machine_end(m);
}

int main(void)
{
#define ON_MACHINE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		ON_MACHINE(test_cached_position_points_past_the_next_block),
		ON_MACHINE(test_sync_moves_both_cached_positions),
		cmocka_unit_test_setup_teardown(
			test_a_page_on_a_pcp_list_ends_an_async_scan_of_its_block, setup_pcp,
			teardown),
		ON_MACHINE(test_async_gives_a_pinned_block_up_at_the_first_pin),
		ON_MACHINE(test_sync_light_reads_a_pinned_block_to_its_end),
		ON_MACHINE(test_the_walk_agrees_with_the_short_cut_for_barren_blocks),
		ON_MACHINE(test_async_puts_back_what_it_took_from_a_failed_group),
		ON_MACHINE(test_the_second_visit_takes_the_whole_rest),
		ON_MACHINE(test_a_huge_page_is_jumped_and_counted),
		ON_MACHINE(test_small_folios_are_taken_whole_and_large_slabs_jumped),
		ON_MACHINE(test_folios_of_the_wanted_order_are_left),
		ON_MACHINE(test_who_may_be_isolated),
		ON_MACHINE(test_a_marked_block_is_left_at_its_first_page),
		ON_MACHINE(test_runs_that_ignore_marks_mark_only_what_gave_nothing),
		ON_MACHINE(test_marked_blocks_are_passed_without_a_count),
		ON_MACHINE(test_running_past_the_free_scanner_leaves_the_scanners_met),
		cmocka_unit_test(test_marked_blocks_and_huge_pages_are_passed_each_for_its_time),
		cmocka_unit_test(test_the_fast_search_looks_at_half_then_an_eighth_of_the_span),
		cmocka_unit_test(test_the_fast_search_goes_on_from_its_lowest_hit_once),
		cmocka_unit_test(test_when_the_fast_search_is_not_used),
		cmocka_unit_test(test_the_fast_search_rotates_its_list),
		ON_MACHINE(test_which_blocks_are_sources),
		cmocka_unit_test(test_sources_by_kernel),
		cmocka_unit_test(test_the_short_first_block_of_a_zone_is_scanned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
