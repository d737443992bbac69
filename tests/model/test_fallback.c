/* SPDX-License-Identifier: MIT */
/* Other types' lists: which blocks are claimed, what is stolen, what boosts. */
#include "harness.h"

#include "model/buddy.h"
#include "model/fallback.h"
#include "model/memmap.h"

#define PAGES 8192u
#define BLOCK 2048u /* the block under test; everything else is kernel memory */

static struct model *one_block(const char *pattern, enum migratetype type)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	lay_begin(m);
	lay_type(m, BLOCK, type);
	for (pfn_t b = 512; b < 512 + PAGES; b += 512)
		lay(m, b, b == BLOCK ? pattern : "512K");
	lay_end(m);
	return m;
}

static pfn_t take(struct model *m, unsigned order, enum migratetype type, alloc_flags_t flags)
{
	enum rmqueue_mode mode = RMQUEUE_NORMAL;

	return fallback_take(m, &m->zone[0], order, type, flags, &mode);
}

static void test_an_unmovable_request_leaves_a_block_full_of_movable_pages(void **state)
{
	struct model *m = one_block("300A112K100f", MIGRATE_MOVABLE);
	struct recorded r;

	(void)state;
	/* F = 100, M = 300: 100 + (512 - 400) = 212 < 256. */
	record(m, &r, TRACE_PAGE_ALLOC_EXTFRAG);
	assert_int_not_equal(take(m, 0, MIGRATE_UNMOVABLE, 0), PFN_NONE);
	assert_int_equal(block_type(m, BLOCK), MIGRATE_MOVABLE);
	assert_int_equal(r.nr, 1);
	assert_false(r.ev[0].change_ownership);
	assert_int_equal(r.ev[0].fallback_order, 2); /* the smallest chunk was stolen */
	assert_int_equal(r.ev[0].fallback_migratetype, MIGRATE_MOVABLE);
	model_destroy(m);
}

static void test_an_unmovable_request_claims_a_block_with_few_movable_pages(void **state)
{
	struct model *m = one_block("200A162K150f", MIGRATE_MOVABLE);
	struct recorded r;

	(void)state;
	/* F = 150, M = 200: 150 + 162 = 312. */
	record(m, &r, TRACE_PAGE_ALLOC_EXTFRAG);
	assert_int_not_equal(take(m, 0, MIGRATE_UNMOVABLE, 0), PFN_NONE);
	assert_int_equal(block_type(m, BLOCK), MIGRATE_UNMOVABLE);
	assert_int_equal(m->zone[0].avail[MIGRATE_MOVABLE], 0);
	assert_int_equal(r.nr, 1);
	assert_true(r.ev[0].change_ownership);
	model_destroy(m);
}

static void test_a_movable_request_claims_a_block_with_enough_movable_pages(void **state)
{
	struct model *m = one_block("160A252K100f", MIGRATE_UNMOVABLE);

	(void)state;
	/* F = 100, M = 160: 260, tried because a chunk of order >= 4 is there. */
	assert_int_not_equal(take(m, 0, MIGRATE_MOVABLE, 0), PFN_NONE);
	assert_int_equal(block_type(m, BLOCK), MIGRATE_MOVABLE);
	model_destroy(m);
}

static void test_pages_on_per_cpu_lists_count_as_the_other_type(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct model *m;

	(void)state;
	c.pcp = true;
	m = machine_make(&c);
	lay_begin(m);
	for (pfn_t b = 512; b < 512 + PAGES; b += 512)
		lay(m, b, b == BLOCK ? "160p100A152K100f" : "512K");
	lay_type(m, BLOCK, MIGRATE_UNMOVABLE);
	lay_end(m);
	/* Would be 260 if the 160 were movable pages: 200 is not enough. */
	assert_int_not_equal(take(m, 0, MIGRATE_MOVABLE, 0), PFN_NONE);
	assert_int_equal(block_type(m, BLOCK), MIGRATE_UNMOVABLE);
	model_destroy(m);
}

static void test_a_movable_request_never_retypes_through_small_chunks(void **state)
{
	struct model *m = one_block("32(F3.8K)", MIGRATE_UNMOVABLE);
	struct zone *z = &m->zone[0];
	pfn_t pfn = take(m, 0, MIGRATE_MOVABLE, 0);

	(void)state;
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(pfn % 8, 0);
	assert_int_equal(block_type(m, BLOCK), MIGRATE_UNMOVABLE);
	assert_int_equal(z->avail[MIGRATE_MOVABLE], 0);
	assert_free_list(m, z, 0, MIGRATE_UNMOVABLE, pfn + 1, PFN_NONE);
	assert_free_list(m, z, 1, MIGRATE_UNMOVABLE, pfn + 2, PFN_NONE);
	assert_free_list(m, z, 2, MIGRATE_UNMOVABLE, pfn + 4, PFN_NONE);
	assert_int_equal(z->boost, 0);
	model_destroy(m);
}

static void test_a_claim_attempt_boosts_whether_it_succeeds_or_not(void **state)
{
	struct model *m = one_block("300A112K100f", MIGRATE_MOVABLE);
	struct zone *z = &m->zone[0];

	(void)state;
	assert_int_not_equal(take(m, 0, MIGRATE_UNMOVABLE, ALLOC_KSWAPD), PFN_NONE);
	assert_int_equal(z->boost, 512); /* three orders tried, cap of a small zone: one block */
	assert_true(z->boosted_wake);
	model_destroy(m);

	m = one_block("300A112K100f", MIGRATE_MOVABLE);
	assert_int_not_equal(take(m, 0, MIGRATE_UNMOVABLE, 0), PFN_NONE);
	assert_int_equal(m->zone[0].boost, 512);
	assert_false(m->zone[0].boosted_wake);
	model_destroy(m);
}

static void test_whole_blocks_change_owner_without_a_boost(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct zone *z = &m->zone[0];
	struct recorded r;
	pfn_t pfn;

	(void)state;
	record(m, &r, TRACE_PAGE_ALLOC_EXTFRAG);
	pfn = take(m, 0, MIGRATE_UNMOVABLE, ALLOC_NOFRAGMENT | ALLOC_KSWAPD);
	assert_int_equal(pfn, 1024); /* first order-10 chunk: both its blocks */
	assert_int_equal(block_type(m, 1024), MIGRATE_UNMOVABLE);
	assert_int_equal(block_type(m, 1536), MIGRATE_UNMOVABLE);
	assert_int_equal(z->nr_blocks_of[MIGRATE_UNMOVABLE], 2);
	assert_int_equal(z->boost, 0);
	assert_int_equal(r.ev[0].fallback_order, 10);
	model_destroy(m);
}

static void test_nofragment_never_mixes_types_in_a_block(void **state)
{
	struct model *m = one_block("200A162K150f", MIGRATE_MOVABLE);

	(void)state;
	assert_int_equal(take(m, 0, MIGRATE_UNMOVABLE, ALLOC_NOFRAGMENT), PFN_NONE);
	assert_int_equal(m->zone[0].boost, 0);
	model_destroy(m);
}

static void test_reclaimable_is_tried_before_movable(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct zone *z = &m->zone[0];

	(void)state;
	(void)buddy_retype_block(m, z, block_of(4096), MIGRATE_RECLAIMABLE);
	assert_int_equal(fallback_find(z, 9, MIGRATE_UNMOVABLE, false), MIGRATE_RECLAIMABLE);
	assert_int_equal(fallback_find(z, 9, MIGRATE_MOVABLE, false), MIGRATE_RECLAIMABLE);
	assert_int_equal(fallback_find(z, 9, MIGRATE_RECLAIMABLE, false), MIGRATE_MOVABLE);
	assert_int_equal(fallback_find(z, 5, MIGRATE_RECLAIMABLE, false), -1);
	assert_int_equal(fallback_find(z, 3, MIGRATE_MOVABLE, true), -2);
	machine_end(m);
}

static void test_movable_requests_use_cma_first_when_it_is_most_of_what_is_free(void **state)
{
	struct model *m = one_block("512f", MIGRATE_CMA);

	(void)state;
	assert_int_equal(take(m, 0, MIGRATE_MOVABLE, 0), PFN_NONE);
	assert_int_equal(take(m, 0, MIGRATE_UNMOVABLE, 0), PFN_NONE);
	assert_int_equal(take(m, 0, MIGRATE_MOVABLE, ALLOC_CMA), BLOCK);
	assert_int_equal(m->zone[0].stat[VM_NR_FREE_CMA], 511);
	model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_unmovable_request_leaves_a_block_full_of_movable_pages),
		cmocka_unit_test(test_an_unmovable_request_claims_a_block_with_few_movable_pages),
		cmocka_unit_test(test_a_movable_request_claims_a_block_with_enough_movable_pages),
		cmocka_unit_test(test_pages_on_per_cpu_lists_count_as_the_other_type),
		cmocka_unit_test(test_a_movable_request_never_retypes_through_small_chunks),
		cmocka_unit_test(test_a_claim_attempt_boosts_whether_it_succeeds_or_not),
		cmocka_unit_test(test_whole_blocks_change_owner_without_a_boost),
		cmocka_unit_test(test_nofragment_never_mixes_types_in_a_block),
		cmocka_unit_test(test_reclaimable_is_tried_before_movable),
		cmocka_unit_test(
			test_movable_requests_use_cma_first_when_it_is_most_of_what_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
