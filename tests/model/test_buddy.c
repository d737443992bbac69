/* SPDX-License-Identifier: MIT */
/* Free lists: order of lists, merging across types, retyping, isolation, the highatomic reserve. */
#include "harness.h"

#include <errno.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/fallback.h"
#include "model/memmap.h"

/* Zone [1024, 1024 + pages), every page held, so that tests free what they mean. */
static struct model *all_held(enum profile_id profile, uint64_t pages)
{
	struct model_config c = quiet_config(profile, pages);
	struct model *m;

	c.zone[0].start_pfn = 1024;
	m = machine_make(&c);
	for (unsigned order = NR_PAGE_ORDERS; order-- > 0;) {
		pfn_t pfn;

		while ((pfn = buddy_take(m, &m->zone[0], order, MIGRATE_MOVABLE)) != PFN_NONE) {
			for (unsigned i = 0; i < 1u << order; i++)
				memmap_set_held(m, pfn + i, 0);
		}
	}
	assert_int_equal(count_free(&m->zone[0]), 0);
	return m;
}

/* Frees [pfn, pfn + 2^order) as one chunk, whatever was held there before. */
static void free_chunk(struct model *m, pfn_t pfn, unsigned order)
{
	for (unsigned i = 1; i < 1u << order; i++)
		memmap_set_body(m, pfn + i);
	memmap_set_held(m, pfn, order);
	buddy_free(m, &m->zone[0], pfn, order, false);
}

static void test_a_split_keeps_the_lowest_page_and_pushes_upper_halves(void **state)
{
	struct model *m = all_held(PROFILE_C, 8192);
	struct zone *z = &m->zone[0];

	(void)state;
	free_chunk(m, 1032, 3);
	assert_int_equal(buddy_take(m, z, 0, MIGRATE_MOVABLE), 1032);
	assert_free_list(m, z, 2, MIGRATE_MOVABLE, 1036, PFN_NONE);
	assert_free_list(m, z, 1, MIGRATE_MOVABLE, 1034, PFN_NONE);
	assert_free_list(m, z, 0, MIGRATE_MOVABLE, 1033, PFN_NONE);
	assert_int_equal(buddy_take(m, z, 0, MIGRATE_MOVABLE), 1033);
	assert_int_equal(count_free(z), 6);
	model_destroy(m);
}

static void test_frees_go_to_the_head_and_soon_mergeable_ones_to_the_tail(void **state)
{
	struct model *m = all_held(PROFILE_C, 8192);
	struct zone *z = &m->zone[0];

	(void)state;
	free_chunk(m, 1024, 0);
	free_chunk(m, 1040, 0);
	assert_free_list(m, z, 0, MIGRATE_MOVABLE, 1040, 1024, PFN_NONE);
	/* 1058 + 1059 are free, so 1056 could soon grow to order 2. */
	free_chunk(m, 1058, 1);
	free_chunk(m, 1056, 0);
	assert_free_list(m, z, 0, MIGRATE_MOVABLE, 1040, 1024, 1056, PFN_NONE);
	free_chunk(m, 1057, 0);
	assert_free_list(m, z, 2, MIGRATE_MOVABLE, 1056, PFN_NONE);
	model_destroy(m);
}

static void test_merging_across_mergeable_types_retypes_the_buddy(void **state)
{
	struct model *m = all_held(PROFILE_C, 8192);
	struct zone *z = &m->zone[0];

	(void)state;
	(void)buddy_retype_block(m, z, block_of(1536), MIGRATE_UNMOVABLE);
	free_chunk(m, 1024, 9);
	assert_free_list(m, z, 9, MIGRATE_MOVABLE, 1024, PFN_NONE);
	free_chunk(m, 1536, 9);
	assert_free_list(m, z, 10, MIGRATE_UNMOVABLE, 1024, PFN_NONE);
	assert_int_equal(block_type(m, 1024), MIGRATE_UNMOVABLE);

	(void)buddy_retype_block(m, z, block_of(2048), MIGRATE_CMA);
	(void)buddy_retype_block(m, z, block_of(2560), MIGRATE_UNMOVABLE);
	free_chunk(m, 2048, 9);
	free_chunk(m, 2560, 9);
	assert_free_list(m, z, 9, MIGRATE_CMA, 2048, PFN_NONE);
	assert_free_list(m, z, 9, MIGRATE_UNMOVABLE, 2560, PFN_NONE);
	assert_int_equal(z->stat[VM_NR_FREE_CMA], 512);
	assert_int_equal(z->stat[VM_NR_FREE_PAGES_BLOCKS], 2048);
	assert_true(buddy_zone_is_valid(m, z));
	model_destroy(m);
}

static void test_retyping_moves_free_chunks_to_the_tail_in_order_of_address(void **state)
{
	struct model *m = all_held(PROFILE_C, 8192);
	struct zone *z = &m->zone[0];

	(void)state;
	(void)buddy_retype_block(m, z, block_of(2048), MIGRATE_UNMOVABLE);
	free_chunk(m, 2050, 0);
	free_chunk(m, 1100, 0);
	free_chunk(m, 1030, 0);
	free_chunk(m, 1200, 0);
	assert_free_list(m, z, 0, MIGRATE_MOVABLE, 1200, 1030, 1100, PFN_NONE);
	assert_int_equal(buddy_retype_block(m, z, block_of(1024), MIGRATE_UNMOVABLE), 3);
	assert_free_list(m, z, 0, MIGRATE_MOVABLE, PFN_NONE);
	assert_free_list(m, z, 0, MIGRATE_UNMOVABLE, 2050, 1030, 1100, 1200, PFN_NONE);
	model_destroy(m);
}

static void test_isolated_pages_are_free_and_not_counted(void **state)
{
	static const enum profile_id profiles[] = {PROFILE_A, PROFILE_C};

	(void)state;
	for (int p = 0; p < 2; p++) {
		struct model *m = machine_quiet(profiles[p], 8192);
		struct zone *z = &m->zone[0];
		block_t b = block_of(2048);

		assert_int_equal(buddy_isolate_block(m, b), 0);
		assert_int_equal(buddy_isolate_block(m, b), -EBUSY);
		assert_int_equal(count_free(z), 8192 - 512);
		assert_int_equal(z->nr_chunks[9],
				 4); /* both ends of the zone, and the two halves */
		assert_int_equal(block_list_type(m, 2048), MIGRATE_ISOLATE);
		assert_int_equal(block_type(m, 2048), p ? MIGRATE_MOVABLE : MIGRATE_ISOLATE);
		buddy_unisolate_block(m, b, MIGRATE_MOVABLE);
		assert_int_equal(count_free(z), 8192);
		assert_int_equal(z->nr_chunks[9], 2);
		machine_end(m);
	}
}

static void test_a_block_with_kernel_memory_cannot_be_isolated(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8192);

	(void)state;
	lay_begin(m);
	lay(m, 2048, "10f1K");
	lay(m, 2560, "10f1A");
	lay_end(m);
	assert_int_equal(buddy_isolate_block(m, block_of(2048)), -EBUSY);
	assert_int_equal(buddy_isolate_block(m, block_of(2560)), 0);
	buddy_unisolate_block(m, block_of(2560), MIGRATE_MOVABLE);
	machine_end(m);
}

static void test_pristine_memory_taken_in_the_middle_keeps_the_order(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16384);
	struct zone *z = &m->zone[0];
	uint64_t chunks = z->nr_chunks[10];

	(void)state;
	assert_int_equal(z->nr_runs, 1);
	buddy_materialise(m, 4096 + 300);
	assert_int_equal(z->nr_runs, 2);
	assert_int_equal(z->nr_chunks[10], chunks);
	assert_int_equal(memmap_state(m, 4096), PG_STATE(PG_FREE, 10));
	for (pfn_t want = 1024; want + 1024 <= 512 + 16384; want += 1024)
		assert_int_equal(buddy_take(m, z, 10, MIGRATE_MOVABLE), want);
	assert_int_equal(z->nr_runs, 0);
	model_destroy(m);
}

/* ---- the highatomic reserve --------------------------------------------------------------- */

static struct alloc_context context_of(struct model *m, gfp_t gfp, unsigned order)
{
	struct alloc_context ac;

	alloc_context_init(m, &ac, gfp, order, NODE_NONE, NODEMASK_NONE);
	return ac;
}

static void test_the_highatomic_reserve_is_a_hundredth_in_whole_blocks(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 102400);
	struct zone *z = &m->zone[0];
	struct alloc_context ac = context_of(m, GFP_KERNEL, 0);
	enum rmqueue_mode mode = RMQUEUE_NORMAL;
	pfn_t page[3];

	(void)state;
	for (int i = 0; i < 3; i++)
		page[i] = fallback_take(m, z, 9, MIGRATE_MOVABLE, 0, &mode);
	for (int i = 0; i < 3; i++) {
		memmap_set_held(m, page[i] + 256, 8);
		memmap_set_held(m, page[i], 8);
		buddy_free(m, z, page[i] + 256, 8, false);
		buddy_reserve_highatomic(m, z, page[i], 3);
	}
	/* 1024 pages are 1 %: the third is refused. */
	assert_int_equal(z->nr_reserved_highatomic, 1024);
	assert_int_equal(z->nr_free_highatomic, 512);
	assert_int_equal(block_type(m, page[1]), MIGRATE_HIGHATOMIC);
	assert_int_equal(block_type(m, page[2]), MIGRATE_MOVABLE);
	/* One block stays unless forced; a released one becomes the requester's. */
	assert_true(buddy_unreserve_highatomic(m, &ac, false));
	assert_false(buddy_unreserve_highatomic(m, &ac, false));
	assert_int_equal(z->nr_reserved_highatomic, 512);
	assert_true(buddy_unreserve_highatomic(m, &ac, true));
	assert_false(buddy_unreserve_highatomic(m, &ac, true));
	assert_int_equal(z->nr_free_highatomic, 0);
	assert_int_equal(block_type(m, page[0]), MIGRATE_UNMOVABLE);
	assert_int_equal(block_type(m, page[1]), MIGRATE_UNMOVABLE);
	assert_true(buddy_zone_is_valid(m, z));
	model_destroy(m);
}

static void test_a_small_zone_has_no_highatomic_reserve(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 51199 / 512 * 512);
	struct zone *z = &m->zone[0];
	pfn_t page = buddy_take(m, z, 0, MIGRATE_MOVABLE);

	(void)state;
	buddy_reserve_highatomic(m, z, page, 3);
	assert_int_equal(z->nr_reserved_highatomic, 0);
	model_destroy(m);
}

/* ---- the validator ------------------------------------------------------------------------ */

static bool sound(struct model *m)
{
	char why[256] = "";

	return validate_lists(m, why, sizeof(why));
}

static void test_the_validator_notices_each_kind_of_damage(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16384);
	struct zone *z = &m->zone[0];
	pfn_t pfn = buddy_take(m, z, 0, MIGRATE_MOVABLE);
	struct ring *r = buddy_list(z, 3, MIGRATE_MOVABLE);
	uint32_t word;

	(void)state;
	assert_true(sound(m));
	z->stat[VM_NR_FREE_PAGES]++;
	assert_false(sound(m));
	z->stat[VM_NR_FREE_PAGES]--;
	z->nr_chunks[3]++;
	assert_false(sound(m));
	z->nr_chunks[3]--;
	z->avail[MIGRATE_MOVABLE] ^= 8;
	assert_false(sound(m));
	z->avail[MIGRATE_MOVABLE] ^= 8;
	/* A member whose position is wrong, a head that is on no list, one page in two lives. */
	word = m->map.word[ring_at(r, r->head)];
	m->map.word[ring_at(r, r->head)]++;
	assert_false(sound(m));
	m->map.word[ring_at(r, r->head)] = word;
	m->map.state[pfn] = PG_STATE(PG_FREE, 0);
	assert_false(sound(m));
	m->map.state[pfn] = PG_STATE(PG_KERNEL, 3);
	assert_false(sound(m));
	m->map.state[pfn] = PG_STATE(PG_HELD, 0);
	/* A block that was never touched and is, a block of the wrong type, a lost page. */
	m->map.state[z->run[0].lo + 5] = PG_STATE(PG_HELD, 0);
	m->map.block[block_of(z->run[0].lo).v].bits |= BLOCK_TOUCHED;
	assert_false(sound(m));
	m->map.block[block_of(z->run[0].lo).v].bits = 0;
	m->map.state[z->run[0].lo + 5] = 0;
	assert_true(sound(m));
	m->map.block[block_of(pfn).v].type_x = 1;
	memmap_type_changed(m, block_of(pfn));
	assert_false(sound(m));
	m->map.block[block_of(pfn).v].type_x = 0;
	memmap_type_changed(m, block_of(pfn));
	assert_true(sound(m));
	m->map.not_movable[block_of(pfn).v / 64] ^= 1ull << (block_of(pfn).v % 64);
	assert_false(sound(m));
	m->map.not_movable[block_of(pfn).v / 64] ^= 1ull << (block_of(pfn).v % 64);
	m->map.state[pfn] = PG_BODY;
	assert_false(sound(m));
	m->map.state[pfn] = PG_STATE(PG_HELD, 0);
	assert_true(sound(m));
	model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_split_keeps_the_lowest_page_and_pushes_upper_halves),
		cmocka_unit_test(test_frees_go_to_the_head_and_soon_mergeable_ones_to_the_tail),
		cmocka_unit_test(test_merging_across_mergeable_types_retypes_the_buddy),
		cmocka_unit_test(test_retyping_moves_free_chunks_to_the_tail_in_order_of_address),
		cmocka_unit_test(test_isolated_pages_are_free_and_not_counted),
		cmocka_unit_test(test_a_block_with_kernel_memory_cannot_be_isolated),
		cmocka_unit_test(test_pristine_memory_taken_in_the_middle_keeps_the_order),
		cmocka_unit_test(test_the_highatomic_reserve_is_a_hundredth_in_whole_blocks),
		cmocka_unit_test(test_a_small_zone_has_no_highatomic_reserve),
		cmocka_unit_test(test_the_validator_notices_each_kind_of_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
