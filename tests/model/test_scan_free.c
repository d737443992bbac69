/* SPDX-License-Identifier: MIT */
/* The target scanner: sampling grid, marks, jumps, the fast search, chunks in hand. */
#include "harness.h"

#include "model/buddy.h"
#include "model/compact.h"
#include "model/memmap.h"
#include "model/policy.h"

#define BLOCK 4096u /* block 8: scanned; everything below it is occupied */

static struct model *m;
static struct zone *z;
static struct policy policy;

/* Blocks 1..7 full, block 8 (and with `lower` block 7) as given, the rest free. */
static struct compact_control *make(enum migrate_mode mode, const char *pattern, const char *lower)
{
	struct compact_control *cc;

	m = machine_quiet(PROFILE_C, 64 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	for (pfn_t pfn = PAGEBLOCK_PAGES; pfn < BLOCK - PAGEBLOCK_PAGES; pfn += PAGEBLOCK_PAGES)
		lay(m, pfn, "512K");
	lay(m, BLOCK - PAGEBLOCK_PAGES, lower ? lower : "512K");
	lay(m, BLOCK, pattern);
	lay_end(m);
	/* Order -1: no fast search, only the linear scan. */
	cc = direct_cc(m, z, -1, mode);
	cc->migrate_pfn = BLOCK - (lower ? 2 : 1) * PAGEBLOCK_PAGES;
	cc->free_pfn = BLOCK;
	cc->nr_migratepages = 32;
	z->cached_free = BLOCK;
	return cc;
}

static void finish(struct compact_control *cc)
{
	(void)scan_free_release(m, cc);
	machine_end(m);
}

static void test_async_sampling_misses_pages_off_the_grid(void **state)
{
	struct compact_control *cc = make(MIGRATE_ASYNC, "64(4Kf3K)", NULL);

	(void)state;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->total_free_scanned, 16);
	assert_int_equal(cc->nr_freepages, 0);
	assert_true(memmap_skip(m, BLOCK));
	assert_int_equal(z->cached_free, BLOCK - PAGEBLOCK_PAGES);
	assert_int_equal(cc->free_pfn, BLOCK - PAGEBLOCK_PAGES);
	finish(cc);
}

static void test_the_short_last_block_of_a_zone_is_scanned(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 0);
	pfn_t last = 15 * PAGEBLOCK_PAGES;
	struct compact_control *cc;

	(void)state;
	c.zone[0].class = ZONE_DMA32;
	c.zone[0].start_pfn = PAGEBLOCK_PAGES;
	c.zone[0].spanned = 15 * PAGEBLOCK_PAGES - 32;
	m = machine_make(&c);
	z = &m->zone[0];
	lay_begin(m);
	for (pfn_t pfn = BLOCK; pfn < last; pfn += PAGEBLOCK_PAGES)
		lay(m, pfn, "512K");
	lay(m, last, "240(fK)");
	lay_end(m);
	cc = direct_cc(m, z, -1, MIGRATE_SYNC);
	cc->migrate_pfn = z->start_pfn;
	cc->free_pfn = last;
	cc->nr_migratepages = 240;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 240);
	assert_int_equal(cc->total_free_scanned, 479);
	finish(cc);
}

static void test_the_stride_stays_at_32_over_empty_blocks(void **state)
{
	struct compact_control *cc = make(MIGRATE_ASYNC, "64(4Kf3K)", "64(4Kf3K)");

	(void)state;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->total_free_scanned, 32);
	assert_int_equal(cc->nr_freepages, 0);
	finish(cc);
}

static void test_sync_doubles_the_stride_over_empty_blocks(void **state)
{
	struct compact_control *cc;

	(void)state;
	m = machine_quiet(PROFILE_C, 64 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	for (pfn_t pfn = PAGEBLOCK_PAGES; pfn < 9 * PAGEBLOCK_PAGES; pfn += PAGEBLOCK_PAGES)
		lay(m, pfn, "512K");
	lay_end(m);
	cc = direct_cc(m, z, -1, MIGRATE_SYNC_LIGHT);
	cc->migrate_pfn = PAGEBLOCK_PAGES;
	cc->free_pfn = 8 * PAGEBLOCK_PAGES;
	cc->nr_migratepages = 32;
	scan_free_isolate(m, cc);
	/* Blocks 8 down to 2. */
	assert_int_equal(cc->total_free_scanned, 512 + 256 + 128 + 64 + 32 + 16 + 16);
	assert_int_equal(cc->free_pfn, PAGEBLOCK_PAGES);
	finish(cc);
}

static bool resample_at_4(struct model *mm, struct compact_control *cc, pfn_t block_start,
			  pfn_t block_end, uint32_t stride, pfn_t *pfn)
{
	(void)mm, (void)cc, (void)block_end;
	assert_int_equal(stride, 32);
	*pfn = block_start + 1 + 3;
	return true;
}

static void test_a_second_look_off_the_grid_finds_sixteen_and_narrows_the_stride(void **state)
{
	struct compact_control *cc = make(MIGRATE_ASYNC, "64(4Kf3K)", "64(4Kf3K)");

	(void)state;
	policy = *m->policy;
	policy.free_resample = resample_at_4;
	m->policy = &policy;
	scan_free_isolate(m, cc);
	/* 16 samples, 16 more with 16 hits, then the next block page by page until 16 are found. */
	assert_int_equal(cc->nr_freepages, 32);
	assert_int_equal(cc->total_free_scanned, 16 + 16 + 4 + 15 * 8 + 1);
	assert_int_equal(cc->free_pfn, BLOCK - PAGEBLOCK_PAGES + 4 + 15 * 8 + 1);
	assert_true(memmap_skip(m, BLOCK));
	assert_false(memmap_skip(m, BLOCK - PAGEBLOCK_PAGES));
	finish(cc);
}

static void test_a_block_scanned_to_its_end_is_marked_even_when_it_gave_pages(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "5(Kf) 502K", NULL);

	(void)state;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 5);
	assert_int_equal(cc->total_free_scanned, 512);
	assert_true(memmap_skip(m, BLOCK));
	assert_int_equal(z->cached_free, BLOCK - PAGEBLOCK_PAGES);
	finish(cc);
}

static void test_a_free_chunk_shifts_the_grid(void **state)
{
	/* Order 1 at +0: the next sample is at +33. */
	struct compact_control *cc = make(MIGRATE_ASYNC, "F1.31Kf 478K", NULL);

	(void)state;
	cc->nr_migratepages = 4;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 3);
	/* Samples 0(+1), 33, 65, ... 481. */
	assert_int_equal(cc->total_free_scanned, 2 + 15);
	finish(cc);
}

static void test_a_compound_shifts_the_grid(void **state)
{
	struct compact_control *cc = make(MIGRATE_ASYNC, "k31Kf 476K", NULL);

	(void)state;
	cc->nr_migratepages = 4;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 1);
	assert_int_equal(cc->total_free_scanned, 4 + 15);
	finish(cc);
}

static void test_enough_pages_end_the_scan_in_the_block(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "256(Kf)", NULL);

	(void)state;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 32);
	assert_int_equal(cc->free_pfn, BLOCK + 64);
	assert_int_equal(cc->total_free_scanned, 64);
	assert_false(memmap_skip(m, BLOCK));
	finish(cc);
}

static void test_a_sum_of_stride_one_scans_is_the_block(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "4K F2. f 3K Q F3. 8f k 476f", NULL);
	pfn_t at = BLOCK;
	uint64_t taken = 0;

	(void)state;
	cc->nr_migratepages = 1;
	while (at < BLOCK + PAGEBLOCK_PAGES) {
		cc->nr_migratepages = cc->nr_freepages + 1;
		taken += scan_free_block(m, cc, &at, BLOCK + PAGEBLOCK_PAGES, 1, false);
	}
	assert_int_equal(cc->total_free_scanned, 512);
	assert_int_equal(taken, 512 - 4 - 3 - 4 - 4);
	finish(cc);
}

static void test_the_watermark_refuses_the_last_pages(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "256(Kf)", NULL);

	(void)state;
	z->wmark[WMARK_MIN] = (uint64_t)zone_free_pages(z) - 12;
	scan_free_isolate(m, cc);
	/* free > min + 1 is asked before each page: it holds eleven times. */
	assert_int_equal(cc->nr_freepages, 11);
	assert_int_equal(cc->free_pfn, BLOCK + 23);
	finish(cc);
}

static void test_which_blocks_are_targets(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "F8.256K", "F9.");
	pfn_t whole = BLOCK - PAGEBLOCK_PAGES;

	(void)state;
	/* Explicit compaction leaves whole free blocks, and only those. */
	assert_false(scan_free_suitable(m, cc, whole));
	assert_true(scan_free_suitable(m, cc, BLOCK));
	cc->order = 8;
	assert_false(scan_free_suitable(m, cc, BLOCK));
	cc->order = 9;
	assert_true(scan_free_suitable(m, cc, BLOCK));
	buddy_retype_block(m, z, block_of(BLOCK), MIGRATE_RECLAIMABLE);
	assert_false(scan_free_suitable(m, cc, BLOCK));
	cc->ignore_block_suitable = true;
	assert_true(scan_free_suitable(m, cc, BLOCK));
	assert_false(scan_free_suitable(m, cc, whole));
	finish(cc);
}

static void test_half_a_free_block_taken_makes_the_block_movable(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "F8.128(fK)", NULL);

	(void)state;
	buddy_retype_block(m, z, block_of(BLOCK), MIGRATE_UNMOVABLE);
	assert_true(scan_free_take(m, cc, BLOCK, 8));
	assert_int_equal(block_type(m, BLOCK), MIGRATE_MOVABLE);
	assert_int_equal(cc->nr_freepages, 256);
	assert_int_equal(buddy_list(z, 0, MIGRATE_MOVABLE)->live, 128);
	finish(cc);
}

static void test_targets_are_split_halves_first(void **state)
{
	struct compact_control *cc = make(MIGRATE_SYNC_LIGHT, "F3.504K", NULL);

	(void)state;
	cc->nr_migratepages = 8;
	/* The scan yields the order-3 chunk; pages come out in ascending order of the halves. */
	for (pfn_t i = 0; i < 4; i++)
		assert_int_equal(scan_free_target(m, cc, 0), BLOCK + i);
	assert_int_equal(scan_free_target(m, cc, 2), BLOCK + 4);
	assert_int_equal(cc->nr_freepages, 0);
	assert_int_equal(cc->nr_migratepages, 0);
	for (pfn_t i = 0; i < 4; i++)
		scan_free_target_back(m, cc, BLOCK + i, 0);
	scan_free_target_back(m, cc, BLOCK + 4, 2);
	assert_int_equal(cc->nr_freepages, 8);
	assert_int_equal(cc->nr_migratepages, 8);
	assert_int_equal(scan_free_release(m, cc), BLOCK + 4);
	assert_true(m->map.state[BLOCK] == PG_STATE(PG_FREE, 3));
	finish(cc);
}

/* ---- the fast search ---------------------------------------------------------------------- */

/* A long zone of occupied blocks (in effect: one order-3 chunk a chosen block, the rest order 10).
 */
static struct compact_control *span(enum migrate_mode mode, const uint32_t *blocks)
{
	struct compact_control *cc;

	m = machine_quiet(PROFILE_C, 1100 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	for (; *blocks; blocks++)
		lay(m, *blocks * PAGEBLOCK_PAGES, "256K F3. 248K");
	lay_end(m);
	cc = direct_cc(m, z, 9, mode);
	cc->migrate_pfn = 1 * PAGEBLOCK_PAGES;
	cc->free_pfn = 1001 * PAGEBLOCK_PAGES;
	cc->nr_migratepages = 8;
	z->cached_free = cc->free_pfn;
	return cc;
}

static void test_marks_of_the_fast_search(void **state)
{
	/* Span 1..1001: low mark block 751, min mark block 501. */
	static const struct {
		uint32_t blocks[4];
		uint64_t pages;
		bool hit;
	} cases[] = {
		{{751}, 8, true},
		{{750}, 8, false},
		{{501}, 8, false},
		{{500}, 0, false},
	};
	struct recorded fast;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct compact_control *cc = span(MIGRATE_ASYNC, cases[i].blocks);

		cc->fast_search_fail = 2;
		record(m, &fast, TRACE_FAST_ISOLATE_FREEPAGES);
		scan_free_fast(m, cc);
		record_stop(m);
		assert_int_equal(fast.nr, 1);
		assert_int_equal(fast.ev[0].start_pfn, 501 * PAGEBLOCK_PAGES);
		assert_int_equal(fast.ev[0].nr_taken, cases[i].pages);
		assert_int_equal(cc->nr_freepages, cases[i].pages);
		/* Only a direct hit forgets the failures. */
		assert_int_equal(cc->fast_search_fail, cases[i].hit ? 0 : cases[i].pages ? 2 : 3);
		finish(cc);
	}
}

static void test_a_fruitless_search_of_a_fresh_run_halves_the_span(void **state)
{
	static const uint32_t blocks[] = {400, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);

	(void)state;
	scan_free_fast(m, cc);
	assert_int_equal(cc->free_pfn, 501 * PAGEBLOCK_PAGES);
	assert_int_equal(cc->total_free_scanned, 1);
	assert_int_equal(z->cached_free, 1001 * PAGEBLOCK_PAGES);
	finish(cc);
	/* Background runs are not pessimistic. */
	cc = span(MIGRATE_SYNC_LIGHT, blocks);
	cc->direct = false;
	scan_free_fast(m, cc);
	assert_int_equal(cc->free_pfn, 1001 * PAGEBLOCK_PAGES);
	finish(cc);
	/* After a reset a run that has left the start goes on where it is. */
	cc = span(MIGRATE_ASYNC, blocks);
	z->init_free = 1050 * PAGEBLOCK_PAGES - 1;
	scan_free_fast(m, cc);
	assert_int_equal(cc->free_pfn, 1001 * PAGEBLOCK_PAGES);
	finish(cc);
}

static void test_the_walk_begins_at_the_tail_and_rotates(void **state)
{
	static const uint32_t blocks[] = {600, 620, 800, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);
	const pfn_t a = 600 * 512 + 256, b = 620 * 512 + 256, c = 800 * 512 + 256;

	(void)state;
	assert_free_list(m, z, 3, MIGRATE_MOVABLE, a, b, c, PFN_NONE);
	/* c is taken at once: it became the head first, so the rest keeps its order. */
	scan_free_fast(m, cc);
	assert_int_equal(cc->total_free_scanned, 1 + 7);
	assert_int_equal(cc->freepages[3].head, c);
	assert_int_equal(cc->search_order, 3);
	assert_free_list(m, z, 3, MIGRATE_MOVABLE, a, b, PFN_NONE);
	/* b is a candidate, a is not higher: b is taken after both were seen. */
	cc->nr_migratepages = 16;
	scan_free_fast(m, cc);
	assert_int_equal(cc->total_free_scanned, 1 + 7 + 2 + 7);
	assert_free_list(m, z, 3, MIGRATE_MOVABLE, a, PFN_NONE);
	finish(cc);
}

static void test_a_limit_reached_makes_the_last_one_seen_the_head(void **state)
{
	static const uint32_t blocks[] = {10, 20, 30, 40, 50, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);

	(void)state;
	z->init_free = 1050 * PAGEBLOCK_PAGES - 1; /* no deep search */
	cc->fast_search_fail = 4;                  /* limit 3, halved: 1 */
	scan_free_fast(m, cc);
	assert_int_equal(cc->total_free_scanned, 1);
	assert_free_list(m, z, 3, MIGRATE_MOVABLE, (pfn_t)(50 * 512 + 256), (pfn_t)(10 * 512 + 256),
			 (pfn_t)(20 * 512 + 256), (pfn_t)(30 * 512 + 256), (pfn_t)(40 * 512 + 256),
			 PFN_NONE);
	assert_int_equal(cc->search_order, 7);
	finish(cc);
}

static void test_sync_searches_around_a_hit_and_async_does_not(void **state)
{
	static const uint32_t blocks[] = {900, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);

	(void)state;
	cc->nr_migratepages = 32;
	scan_free_fast(m, cc);
	assert_false(memmap_skip(m, 900 * PAGEBLOCK_PAGES));
	assert_int_equal(cc->total_free_scanned, 8);
	finish(cc);
	cc = span(MIGRATE_SYNC_LIGHT, blocks);
	cc->nr_migratepages = 32;
	scan_free_fast(m, cc);
	assert_true(memmap_skip(m, 900 * PAGEBLOCK_PAGES));
	assert_int_equal(cc->total_free_scanned, 8 + 512);
	finish(cc);
}

static void test_the_highest_block_seen_lowers_the_cached_position(void **state)
{
	static const uint32_t blocks[] = {1005, 400, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);

	(void)state;
	scan_free_fast(m, cc);
	assert_int_equal(z->cached_free, 1004 * PAGEBLOCK_PAGES);
	finish(cc);
}

static void test_scanners_that_have_passed_each_other_find_nothing(void **state)
{
	static const uint32_t blocks[] = {900, 0};
	struct compact_control *cc = span(MIGRATE_ASYNC, blocks);

	(void)state;
	cc->migrate_pfn = 1002 * PAGEBLOCK_PAGES;
	scan_free_isolate(m, cc);
	assert_int_equal(cc->nr_freepages, 0);
	assert_int_equal(cc->free_pfn, 1001 * PAGEBLOCK_PAGES);
	assert_int_equal(cc->total_free_scanned, 1);
	finish(cc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_async_sampling_misses_pages_off_the_grid),
		cmocka_unit_test(test_the_short_last_block_of_a_zone_is_scanned),
		cmocka_unit_test(test_the_stride_stays_at_32_over_empty_blocks),
		cmocka_unit_test(test_sync_doubles_the_stride_over_empty_blocks),
		cmocka_unit_test(
			test_a_second_look_off_the_grid_finds_sixteen_and_narrows_the_stride),
		cmocka_unit_test(test_a_block_scanned_to_its_end_is_marked_even_when_it_gave_pages),
		cmocka_unit_test(test_a_free_chunk_shifts_the_grid),
		cmocka_unit_test(test_a_compound_shifts_the_grid),
		cmocka_unit_test(test_enough_pages_end_the_scan_in_the_block),
		cmocka_unit_test(test_a_sum_of_stride_one_scans_is_the_block),
		cmocka_unit_test(test_the_watermark_refuses_the_last_pages),
		cmocka_unit_test(test_which_blocks_are_targets),
		cmocka_unit_test(test_half_a_free_block_taken_makes_the_block_movable),
		cmocka_unit_test(test_targets_are_split_halves_first),
		cmocka_unit_test(test_marks_of_the_fast_search),
		cmocka_unit_test(test_a_fruitless_search_of_a_fresh_run_halves_the_span),
		cmocka_unit_test(test_the_walk_begins_at_the_tail_and_rotates),
		cmocka_unit_test(test_a_limit_reached_makes_the_last_one_seen_the_head),
		cmocka_unit_test(test_sync_searches_around_a_hit_and_async_does_not),
		cmocka_unit_test(test_the_highest_block_seen_lowers_the_cached_position),
		cmocka_unit_test(test_scanners_that_have_passed_each_other_find_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
