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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fragmentation_index_of_worked_layouts),
		cmocka_unit_test(test_compact_gap_by_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
