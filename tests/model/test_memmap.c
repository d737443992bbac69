/* SPDX-License-Identifier: MIT */
/* Page states, transitions and block counts, without an allocator. */
#include "harness.h"

#include <string.h>

#include "model/arena.h"
#include "model/memmap.h"

#define NR_BLOCKS 328u

static struct model m;

static int setup(void **state)
{
	(void)state;
	memset(&m, 0, sizeof(m));
	m.arena = arena_new();
	assert_non_null(m.arena);
	assert_int_equal(memmap_init(&m, NR_BLOCKS * PAGEBLOCK_PAGES), 0);
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

/* Block by block, what the walk by words must give. */
static uint32_t prev_target(uint32_t from, uint32_t low, bool use_skip, bool use_type,
			    uint32_t *marked)
{
	for (*marked = 0; from > low; from--) {
		if (use_skip && memmap_skip(&m, from * PAGEBLOCK_PAGES))
			++*marked;
		else if (!use_type || !memmap_not_movable(&m, from * PAGEBLOCK_PAGES))
			break;
	}
	return from;
}

static void test_the_way_down_passes_marked_blocks_and_those_of_other_types(void **state)
{
	uint32_t random = 1;

	(void)state;
	for (uint32_t round = 0; round < 64; round++) {
		/* Sparse targets at first, then dense ones: runs longer and shorter than a word. */
		for (uint32_t b = 0; b < NR_BLOCKS; b++) {
			random = random * 1664525 + 1013904223;
			m.map.block[b].type_x = 0;
			memmap_skip_clear(&m, b * PAGEBLOCK_PAGES);
			if (random >> 24 < 4 * round)
				continue;
			if (random >> 20 & 1)
				memmap_skip_set(&m, b * PAGEBLOCK_PAGES);
			if (!(random >> 20 & 1) || random >> 19 & 1)
				m.map.block[b].type_x = MIGRATE_UNMOVABLE ^ MIGRATE_MOVABLE;
		}
		for (uint32_t b = 0; b < NR_BLOCKS; b++)
			memmap_type_changed(&m, (block_t){b});
		for (uint32_t i = 0; i < NR_BLOCKS * 4; i++) {
			uint32_t from = i / 4, low = from * (round % 8) / 8, marked, want_marked;
			bool use_skip = i & 1, use_type = i & 2;
			uint32_t want = prev_target(from, low, use_skip, use_type, &want_marked);

			assert_int_equal(memmap_prev_target(&m, from, low, use_skip, use_type,
							    &marked),
					 want);
			assert_int_equal(marked, want_marked);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_zero_means_free_and_never_touched, setup,
						teardown),
		cmocka_unit_test_setup_teardown(
			test_a_huge_page_lives_and_dies_and_the_counts_follow, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_the_way_down_passes_marked_blocks_and_those_of_other_types, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
