/* SPDX-License-Identifier: MIT */
/* Page states, transitions and block counts, without an allocator. */
#include "harness.h"

#include <string.h>

#include "model/arena.h"
#include "model/memmap.h"

static struct model m;

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	m.arena = arena_new();
	assert_non_null(m.arena);
	assert_int_equal(memmap_init(&m, 8 * PAGEBLOCK_PAGES), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(m.arena);
	return 0;
}

static void test_zero_means_free_and_never_touched(void **state)
{
	(void)state;
	assert_int_equal(memmap_state(&m, 1024), PG_STATE(PG_FREE, 10));
	assert_int_equal(memmap_state(&m, 1025), PG_BODY);
	assert_int_equal(memmap_state(&m, 1536), PG_BODY);
	assert_int_equal(block_type(&m, 1024), MIGRATE_MOVABLE);
	assert_int_equal(m.map.block[2].nr_taken, 0);
	assert_true(memmap_block_is_valid(&m, (block_t){ 2 }));
}

static void test_a_huge_page_lives_and_dies_and_the_counts_follow(void **state)
{
	struct block *b;

	(void)state;
	memmap_touch_pristine(&m, 1024);
	b = &m.map.block[2];
	memmap_unmark_free(&m, 1024, 10);
	assert_int_equal(b->nr_taken, 512);
	memmap_set_held(&m, 1024, 9);
	memmap_set_held(&m, 1536, 9);
	memmap_mark_free(&m, 1536, 9);
	memmap_own(&m, 1024, 9, PG_ANON, 512);
	memmap_flag_set(&m, 1024, PGF_LRU);
	assert_int_equal(b->nr_lru, 512);
	assert_int_equal(b->nr_pinned, 0);
	memmap_flag_set(&m, 1024, PGF_PINNED);
	assert_int_equal(b->nr_pinned, 512);
	assert_int_equal(memmap_head(&m, 1500), 1024);
	assert_true(memmap_whole(&m, 1024) && !memmap_whole(&m, 1536));
	assert_true(memmap_block_is_valid(&m, (block_t){ 2 }));
	assert_true(memmap_block_is_valid(&m, (block_t){ 3 }));
	memmap_flag_clear(&m, 1024, PGF_LRU | PGF_PINNED);
	memmap_disown(&m, 1024);
	assert_false(memmap_whole(&m, 1024));
	memmap_mark_pcp(&m, 1024, 9);
	assert_int_equal(b->nr_pcp, 512);
	memmap_unmark_pcp(&m, 1024, 9);
	memmap_mark_free(&m, 1024, 9);
	assert_int_equal(b->nr_taken + b->nr_lru + b->nr_pinned + b->nr_pcp + b->nr_compound, 0);
	assert_true(memmap_block_is_valid(&m, (block_t){ 2 }));
}

static void test_the_last_clear_skip_bit_is_found_from_behind(void **state)
{
	(void)state;
	for (uint32_t b = 1; b < 7; b++)
		memmap_skip_set(&m, b * PAGEBLOCK_PAGES);
	memmap_skip_clear(&m, 4 * PAGEBLOCK_PAGES);
	assert_int_equal(memmap_prev_unskipped(&m, 6, 0), 4);
	assert_int_equal(memmap_prev_unskipped(&m, 3, 1), 1);
	assert_int_equal(memmap_prev_unskipped(&m, 7, 0), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_zero_means_free_and_never_touched, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_huge_page_lives_and_dies_and_the_counts_follow,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_the_last_clear_skip_bit_is_found_from_behind, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
