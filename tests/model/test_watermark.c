/* SPDX-License-Identifier: MIT */
/* Marks, reserves, boost and the watermark test: the specification's numbers. */
#include "harness.h"

#include "model/compact.h"
#include "model/watermark.h"

/* ---- marks and reserves ------------------------------------------------------------------- */

/* The machine whose /proc/zoneinfo the expected numbers are from: 24 GiB, three zones. */
static struct model_config live_config(uint64_t min_free_kbytes)
{
	struct model_config c = quiet_config(PROFILE_B, 512);

	c.nr_zones = 3;
	c.zone[0] = (struct zone_config){.class = ZONE_DMA,
					 .start_pfn = 1,
					 .spanned = 4095,
					 .managed = 3840};
	c.zone[1] = (struct zone_config){.class = ZONE_DMA32,
					 .start_pfn = 4096,
					 .spanned = 773120,
					 .managed = 772808};
	c.zone[2] = (struct zone_config){.class = ZONE_NORMAL,
					 .start_pfn = 1048576,
					 .spanned = 5394257};
	c.sysctl.min_free_kbytes = min_free_kbytes;
	return c;
}

static void test_marks_and_reserves_of_a_live_machine(void **state)
{
	static const uint64_t want[3][NR_WMARK] = {
		{10, 13, 16, 19},
		{2115, 2887, 3659, 4431},
		{14769, 20163, 25557, 30951},
	};
	static const uint64_t reserve[3][NR_ZONE_CLASSES] = {
		{0, 3018, 24090, 24090, 24090},
		{0, 0, 21071, 21071, 21071},
		{0, 0, 0, 0, 0},
	};
	struct model_config c = live_config(67584);
	struct model *m = machine_make(&c);

	(void)state;
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < NR_WMARK; k++)
			assert_int_equal(m->zone[i].wmark[k], want[i][k]);
		for (int k = 0; k < NR_ZONE_CLASSES; k++)
			assert_int_equal(m->zone[i].lowmem_reserve[k], reserve[i][k]);
	}
	machine_end(m);
}

/* A 7.3 guest with two nodes of 768 MiB and a CPU each, huge pages in use. */
static void test_marks_and_per_cpu_limits_of_a_small_guest(void **state)
{
	static const uint64_t want[3][NR_WMARK] = {
		{172, 215, 258, 301},
		{8025, 10031, 12037, 14043},
		{8698, 10872, 13046, 15220},
	};
	struct model_config c = quiet_config(PROFILE_C, 512);
	struct model *m;

	(void)state;
	c.nr_nodes = 2;
	c.node[1].cpus = 1;
	c.nr_zones = 3;
	c.zone[0] = (struct zone_config){.class = ZONE_DMA,
					 .start_pfn = 1,
					 .spanned = 4095,
					 .managed = 3840};
	c.zone[1] = (struct zone_config){.class = ZONE_DMA32,
					 .start_pfn = 4096,
					 .spanned = 192512,
					 .managed = 178419};
	c.zone[2] = (struct zone_config){.node = 1,
					 .class = ZONE_DMA32,
					 .start_pfn = 196608,
					 .spanned = 196576,
					 .managed = 193388};
	c.thp.enabled = THP_ENABLED_MADVISE;
	m = machine_make(&c);
	for (int i = 0; i < 3; i++) {
		for (int k = 0; k < NR_WMARK; k++)
			assert_int_equal(m->zone[i].wmark[k], want[i][k]);
	}
	assert_int_equal(m->zone[0].lowmem_reserve[ZONE_MOVABLE], 696);
	assert_int_equal(m->zone[0].pcp[0].batch, 1);
	assert_int_equal(m->zone[0].pcp[0].high_min, 215);
	assert_int_equal(m->zone[0].pcp[0].high_max, 480);
	assert_int_equal(m->zone[1].pcp[0].batch, 63);
	assert_int_equal(m->zone[1].pcp[0].high_min, 10031);
	assert_int_equal(m->zone[1].pcp[0].high_max, 22302);
	machine_end(m);
}

static void test_min_free_grows_with_the_root_of_memory(void **state)
{
	static const struct {
		uint64_t pages, kb;
	} rows[] = {{262144, 4096}, {1048576, 8192}, {4194304, 16384}, {512 * 8, 512}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct model *m = machine_quiet(PROFILE_C, rows[i].pages);

		assert_int_equal(m->sysctl.min_free_kbytes, rows[i].kb);
		machine_end(m);
	}
}

static void test_huge_pages_reserve_5632_pages_a_populated_zone(void **state)
{
	struct model_config c = live_config(0);
	struct model *m;

	(void)state;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	m = machine_make(&c);
	assert_int_equal(m->sysctl.min_free_kbytes, 67584);
	assert_int_equal(m->zone[2].wmark[WMARK_MIN], 14769);
	machine_end(m);

	/* A second node's Normal zone is a fourth; a Movable zone is none. */
	c.nr_nodes = 2;
	c.node[1].cpus = 1;
	c.nr_zones = 5;
	c.zone[3] = (struct zone_config){.node = 1,
					 .class = ZONE_NORMAL,
					 .start_pfn = 6443008,
					 .spanned = 1048576};
	c.zone[4] = (struct zone_config){.node = 1,
					 .class = ZONE_MOVABLE,
					 .start_pfn = 7491584,
					 .spanned = 1048576};
	m = machine_make(&c);
	assert_int_equal(m->sysctl.min_free_kbytes, 90112);
	assert_int_equal(m->zone[4].wmark[WMARK_MIN], 128);
	machine_end(m);
}

static void test_huge_pages_reserve_at_most_a_twentieth_above_the_marks(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 65536);
	struct model *m;

	(void)state;
	/* Base 2048 kB: min 512, gap 128, high 768; (65536 - 768) / 20 = 3238 pages. */
	c.thp.enabled = THP_ENABLED_ALWAYS;
	m = machine_make(&c);
	assert_int_equal(m->sysctl.min_free_kbytes, 3238 * 4);
	machine_end(m);
}

static void test_switching_huge_pages_off_brings_the_base_value_back(void **state)
{
	struct model_config c = live_config(0);
	struct model *m;

	(void)state;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	m = machine_make(&c);
	assert_int_equal(model_set(m, "transparent_hugepage/enabled", "never"), 0);
	/* The marks that stood then count: isqrt(64 * (6170905 - 16 - 3659 - 25557)). */
	assert_int_equal(m->sysctl.min_free_kbytes, 19825);
	m->zone[2].boost = 512;
	assert_int_equal(model_set(m, "transparent_hugepage/enabled", "madvise"), 0);
	assert_int_equal(m->sysctl.min_free_kbytes, 67584);
	assert_int_equal(m->zone[2].wmark[WMARK_LOW], 20163);
	assert_int_equal(m->zone[2].boost, 0);
	/* What a user writes is taken as it is. */
	assert_int_equal(model_set(m, "vm.min_free_kbytes", "40000"), 0);
	assert_int_equal(m->sysctl.min_free_kbytes, 40000);
	assert_int_equal(m->zone[2].wmark[WMARK_MIN], 8741); /* 10000 * 5394257 / 6170905 */
	machine_end(m);
}

/* ---- boost -------------------------------------------------------------------------------- */

static void test_boost_grows_by_a_block_up_to_its_cap(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	for (int i = 1; i <= 74; i++) {
		assert_true(watermark_boost(&m, &z));
		assert_int_equal(z.boost, 512 * i);
	}
	assert_int_equal(z.boost, 37888);
	assert_true(watermark_boost(&m, &z));
	assert_int_equal(z.boost, 38335);
	assert_true(watermark_boost(&m, &z));
	assert_int_equal(z.boost, 38335);
	assert_int_equal(zone_wmark(&z, WMARK_MIN), 53104);
}

static void test_small_zones_and_factor_zero_are_not_boosted(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	m.sysctl.watermark_boost_factor = 0;
	assert_false(watermark_boost(&m, &z));
	m.sysctl.watermark_boost_factor = 15000;
	z.managed = 2047;
	assert_false(watermark_boost(&m, &z));
	z.managed = 2048;
	z.wmark[WMARK_HIGH] = 16;
	assert_true(watermark_boost(&m, &z));
	assert_int_equal(z.boost, 512);
	assert_true(watermark_boost(&m, &z));
	assert_int_equal(z.boost, 512);
}

/* ---- the test ----------------------------------------------------------------------------- */

static void test_a_high_order_test_takes_the_whole_chunk_off(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 15280 - 512, 9, 1, -1);
	assert_int_equal(zone_free_pages(&z), 15280);
	assert_false(watermark_ok(&z, 9, 14769, ZONE_MOVABLE, 0, 15280));
	assert_true(watermark_ok(&z, 9, 14769, ZONE_MOVABLE, 0, 15281));
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 1000000, 8, 100, -1);
	assert_false(watermark_ok(&z, 9, 14769, ZONE_MOVABLE, 0, zone_free_pages(&z)));
	assert_true(watermark_ok(&z, 8, 14769, ZONE_MOVABLE, 0, zone_free_pages(&z)));
	assert_false(watermark_ok(&z, 0, 14769, ZONE_MOVABLE, 0, 14769));
	assert_true(watermark_ok(&z, 0, 14769, ZONE_MOVABLE, 0, 14770));
}

static void test_the_reserve_of_the_requests_class_is_left(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	z.lowmem_reserve[ZONE_MOVABLE] = 1000;
	assert_true(watermark_ok(&z, 0, 100, ZONE_NORMAL, 0, 101));
	assert_false(watermark_ok(&z, 0, 100, ZONE_MOVABLE, 0, 1100));
	assert_true(watermark_ok(&z, 0, 100, ZONE_MOVABLE, 0, 1101));
}

static void test_rights_lower_the_mark_and_never_the_reserve(void **state)
{
	static const struct {
		alloc_flags_t flags;
		int64_t enough;
	} rows[] = {
		{ALLOC_NON_BLOCK, 1001}, /* alone it lowers nothing */
		{ALLOC_MIN_RESERVE, 501},
		{ALLOC_MIN_RESERVE | ALLOC_NON_BLOCK, 376},
		{ALLOC_OOM, 501},
		{ALLOC_MIN_RESERVE | ALLOC_OOM, 251},
		{ALLOC_MIN_RESERVE | ALLOC_NON_BLOCK | ALLOC_OOM, 189}, /* 1000 - 500 - 125 - 187 */
	};
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_true(watermark_ok(&z, 0, 1000, ZONE_NORMAL, rows[i].flags, rows[i].enough));
		assert_false(
			watermark_ok(&z, 0, 1000, ZONE_NORMAL, rows[i].flags, rows[i].enough - 1));
	}
}

static void test_cma_and_highatomic_pages_count_only_for_those_who_may_use_them(void **state)
{
	static struct model m;
	static struct zone z;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_CMA, 9, 40, -1);
	z.stat[VM_NR_FREE_CMA] = 40 * 512;
	assert_false(watermark_ok(&z, 0, 14769, ZONE_MOVABLE, 0, 40 * 512));
	assert_true(watermark_ok(&z, 0, 14769, ZONE_MOVABLE, ALLOC_CMA, 40 * 512));
	assert_true(watermark_ok(&z, 9, 14769, ZONE_MOVABLE, ALLOC_CMA, 40 * 512));
	assert_false(watermark_ok(&z, 9, 14769, ZONE_MOVABLE, 0, 1000000));

	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_HIGHATOMIC, 9, 40, -1);
	z.nr_free_highatomic = 40 * 512;
	assert_false(watermark_ok(&z, 0, 14769, ZONE_NORMAL, 0, 40 * 512));
	assert_true(watermark_ok(&z, 0, 14769, ZONE_NORMAL, ALLOC_NON_BLOCK, 40 * 512));
	assert_false(watermark_ok(&z, 3, 14769, ZONE_NORMAL, ALLOC_NON_BLOCK, 40 * 512));
	assert_true(watermark_ok(&z, 3, 14769, ZONE_NORMAL, ALLOC_HIGHATOMIC, 40 * 512));
	assert_true(watermark_ok(&z, 3, 14769, ZONE_NORMAL, ALLOC_OOM, 40 * 512));
}

static void test_a_boost_does_not_fail_order_0_with_reserve_rights(void **state)
{
	static struct model m;
	static struct zone z;
	uint64_t boosted;

	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	bare_zone_free(&z, MIGRATE_MOVABLE, 0, 10000, -1);
	z.boost = 38335;
	boosted = zone_wmark(&z, WMARK_MIN);
	assert_false(watermark_fast(&z, 0, boosted, ZONE_NORMAL, 0));
	assert_true(watermark_fast(&z, 0, boosted, ZONE_NORMAL, ALLOC_MIN_RESERVE));
	assert_false(
		watermark_fast(&z, 0, boosted, ZONE_NORMAL, ALLOC_MIN_RESERVE | ALLOC_WMARK_LOW));
	z.stat[VM_NR_FREE_PAGES] = 7385;
	assert_false(watermark_fast(&z, 0, boosted, ZONE_NORMAL, ALLOC_MIN_RESERVE));
}

/* ---- suitability builds on it ------------------------------------------------------------- */

static void test_suitability_gap_by_kernel(void **state)
{
	static const struct {
		enum profile_id profile;
		int order;
		int skipped; /* most free order-0 pages that do not suffice */
	} rows[] = {
		{PROFILE_A, 9, 21187}, {PROFILE_B, 9, 21187}, {PROFILE_C, 9, 20195},
		{PROFILE_A, 3, 14785}, {PROFILE_B, 3, 14785}, {PROFILE_C, 3, 14785},
	};
	static struct model m;
	static struct zone z;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bare_zone_z(&m, &z, rows[i].profile);
		bare_zone_free(&z, MIGRATE_MOVABLE, 0, rows[i].skipped, -1);
		assert_int_equal(compact_precheck(&m, &z, rows[i].order, ZONE_MOVABLE, 0, false,
						  false),
				 COMPACT_SKIPPED);
		bare_zone_free(&z, MIGRATE_MOVABLE, 0, rows[i].skipped + 1, -1);
		assert_int_equal(compact_precheck(&m, &z, rows[i].order, ZONE_MOVABLE, 0, false,
						  false),
				 COMPACT_CONTINUE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_marks_and_reserves_of_a_live_machine),
		cmocka_unit_test(test_marks_and_per_cpu_limits_of_a_small_guest),
		cmocka_unit_test(test_min_free_grows_with_the_root_of_memory),
		cmocka_unit_test(test_huge_pages_reserve_5632_pages_a_populated_zone),
		cmocka_unit_test(test_huge_pages_reserve_at_most_a_twentieth_above_the_marks),
		cmocka_unit_test(test_switching_huge_pages_off_brings_the_base_value_back),
		cmocka_unit_test(test_boost_grows_by_a_block_up_to_its_cap),
		cmocka_unit_test(test_small_zones_and_factor_zero_are_not_boosted),
		cmocka_unit_test(test_a_high_order_test_takes_the_whole_chunk_off),
		cmocka_unit_test(test_the_reserve_of_the_requests_class_is_left),
		cmocka_unit_test(test_rights_lower_the_mark_and_never_the_reserve),
		cmocka_unit_test(
			test_cma_and_highatomic_pages_count_only_for_those_who_may_use_them),
		cmocka_unit_test(test_a_boost_does_not_fail_order_0_with_reserve_rights),
		cmocka_unit_test(test_suitability_gap_by_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
