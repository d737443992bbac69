/* SPDX-License-Identifier: MIT */
/* Whether to compact at all: gaps, fragmentation index, suitability on bare zones. */
#include "harness.h"

#include "model/compact.h"

static void test_fragmentation_index_of_worked_layouts(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 100000, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), 999);
	bare_zone_free(&z, MIGRATE_MOVABLE, 8, 10, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), 400);
	bare_zone_free(&z, MIGRATE_MOVABLE, 8, 10, 0, 10, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), 700);
	bare_zone_free(&z, MIGRATE_MOVABLE, 8, 100000, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), 500);
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 100, 9, 1, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), -1000);
	bare_zone_free(&z, MIGRATE_MOVABLE, -1);
	assert_int_equal(compact_fragmentation_index(&z, 9), 0);
}

static void test_compact_gap_by_kernel(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_A);
	assert_int_equal(compact_gap(&m, 9), 1024);
	assert_int_equal(compact_gap(&m, 3), 16);
	bare_zone_z(&m, &z, PROFILE_C);
	assert_int_equal(compact_gap(&m, 9), 32);
	assert_int_equal(compact_gap(&m, 3), 16);
}

static enum compact_result precheck_at(struct model *m, struct zone *z, int order, int free)
{
	bare_zone_free(z, MIGRATE_MOVABLE, 0, free, -1);
	return compact_precheck(m, z, order, ZONE_MOVABLE, ALLOC_WMARK_MIN | ALLOC_CMA, false,
				false);
}

static void test_the_gap_decides_between_skipped_and_continue(void **state)
{
	static const struct {
		enum profile_id profile;
		int order, skipped;
	} cases[] = {
		{PROFILE_A, 9, 21187}, {PROFILE_B, 9, 21187}, {PROFILE_C, 9, 20195},
		{PROFILE_A, 3, 14785}, {PROFILE_B, 3, 14785}, {PROFILE_C, 3, 14785},
	};
	static struct model m;
	static struct zone z;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bare_zone_z(&m, &z, cases[i].profile);
		assert_int_equal(precheck_at(&m, &z, cases[i].order, cases[i].skipped),
				 COMPACT_SKIPPED);
		assert_int_equal(precheck_at(&m, &z, cases[i].order, cases[i].skipped + 1),
				 COMPACT_CONTINUE);
	}
}

static void test_the_caller_mark_counts_since_6_18(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_free(&z, MIGRATE_MOVABLE, -1);
	for (int profile = PROFILE_A; profile <= PROFILE_C; profile++) {
		int gap = profile == PROFILE_C ? 32 : 1024;
		int high = 25557 + 20163 - 14769 + gap;

		bare_zone_z(&m, &z, (enum profile_id)profile);
		bare_zone_free(&z, MIGRATE_MOVABLE, 0, high, -1);
		assert_int_equal(compact_suitable(&m, &z, 9, zone_wmark(&z, WMARK_HIGH),
						  ZONE_MOVABLE),
				 profile == PROFILE_A);
		bare_zone_free(&z, MIGRATE_MOVABLE, 0, high + 1, -1);
		assert_true(compact_suitable(&m, &z, 9, zone_wmark(&z, WMARK_HIGH), ZONE_MOVABLE));
	}
}

static void test_the_fragmentation_threshold_is_exclusive(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_MOVABLE, 8, 100000, -1);
	assert_false(compact_suitable(&m, &z, 9, 0, ZONE_MOVABLE));
	m.sysctl.extfrag_threshold = 499;
	assert_true(compact_suitable(&m, &z, 9, 0, ZONE_MOVABLE));
	m.sysctl.extfrag_threshold = 500;
	/* Small orders do not ask. */
	bare_zone_free(&z, MIGRATE_MOVABLE, 2, 100000, -1);
	assert_true(compact_suitable(&m, &z, 3, 0, ZONE_MOVABLE));
}

static void
test_free_cma_pages_suit_everybody_but_costly_async_requests_without_rights(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	for (int profile = PROFILE_A; profile <= PROFILE_C; profile++) {
		bare_zone_z(&m, &z, (enum profile_id)profile);
		bare_zone_free(&z, MIGRATE_CMA, 0, 100000, -1);
		z.stat[VM_NR_FREE_CMA] = 100000;
		assert_int_equal(compact_precheck(&m, &z, 9, ZONE_NORMAL, ALLOC_WMARK_MIN, true,
						  false),
				 profile == PROFILE_A ? COMPACT_CONTINUE : COMPACT_SKIPPED);
		assert_int_equal(compact_precheck(&m, &z, 9, ZONE_NORMAL, ALLOC_WMARK_MIN, false,
						  false),
				 COMPACT_CONTINUE);
		assert_int_equal(compact_precheck(&m, &z, 3, ZONE_NORMAL, ALLOC_WMARK_MIN, true,
						  false),
				 COMPACT_CONTINUE);
		assert_int_equal(compact_precheck(&m, &z, 9, ZONE_NORMAL,
						  ALLOC_WMARK_MIN | ALLOC_CMA, true, false),
				 COMPACT_CONTINUE);
	}
}

static void test_a_chunk_there_is_success_and_whole_blocks_count_under_defrag_mode(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 20000, 9, 1, -1);
	assert_int_equal(compact_precheck(&m, &z, 9, ZONE_MOVABLE, ALLOC_WMARK_MIN, false, true),
			 COMPACT_SUCCESS);
	m.sysctl.defrag_mode = true;
	z.stat[VM_NR_FREE_PAGES_BLOCKS] = 512;
	assert_int_equal(compact_precheck(&m, &z, 9, ZONE_MOVABLE, ALLOC_WMARK_MIN, false, true),
			 COMPACT_CONTINUE);
	assert_int_equal(compact_precheck(&m, &z, 9, ZONE_MOVABLE, ALLOC_WMARK_MIN, false, false),
			 COMPACT_SUCCESS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fragmentation_index_of_worked_layouts),
		cmocka_unit_test(test_compact_gap_by_kernel),
		cmocka_unit_test(test_the_gap_decides_between_skipped_and_continue),
		cmocka_unit_test(test_the_caller_mark_counts_since_6_18),
		cmocka_unit_test(test_the_fragmentation_threshold_is_exclusive),
		cmocka_unit_test(
			test_free_cma_pages_suit_everybody_but_costly_async_requests_without_rights),
		cmocka_unit_test(
			test_a_chunk_there_is_success_and_whole_blocks_count_under_defrag_mode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
