/* SPDX-License-Identifier: MIT */
/* Settings by name: parsing, refusals, side effects, display. */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "model/sysctl.h"

#define PAGES (64u * PAGEBLOCK_PAGES)

static void assert_shows(const struct model *m, const char *name, const char *want)
{
	char text[128];

	assert_int_equal(sysctl_read(m, name, text, sizeof(text)), strlen(want));
	assert_string_equal(text, want);
}

static void test_numbers_have_their_ranges(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	assert_int_equal(sysctl_write(m, "vm.extfrag_threshold", "300\n"), 0);
	assert_shows(m, "vm.extfrag_threshold", "300");
	assert_int_equal(sysctl_write(m, "vm.extfrag_threshold", "1001"), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.extfrag_threshold", "many"), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.extfrag_threshold", ""), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.extfrag_threshold", "3x"), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.percpu_pagelist_high_fraction", "7"), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.percpu_pagelist_high_fraction", "8"), 0);
	assert_int_equal(sysctl_write(m, "vm.compaction_proactiveness", "101"), -EINVAL);
	assert_int_equal(sysctl_write(m, "vm.nothing", "1"), -ENOENT);
	assert_int_equal(sysctl_write(m, "vm.compact_memory", "1"), -EOPNOTSUPP);
	machine_end(m);
}

static void test_defrag_mode_came_after_6_12(void **state)
{
	struct model *a = machine_quiet(PROFILE_A, PAGES), *b = machine_quiet(PROFILE_B, PAGES);
	char text[16];

	(void)state;
	assert_int_equal(sysctl_write(a, "vm.defrag_mode", "1"), -EACCES);
	assert_int_equal(sysctl_read(a, "vm.defrag_mode", text, sizeof(text)), -ENOENT);
	assert_int_equal(sysctl_write(b, "vm.defrag_mode", "1"), 0);
	assert_true(b->sysctl.defrag_mode);
	machine_end(a);
	machine_end(b);
}

static void test_marks_follow_min_free_kbytes(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	assert_int_equal(sysctl_write(m, "vm.min_free_kbytes", "8000"), 0);
	assert_int_equal(m->zone[0].wmark[WMARK_MIN], 2000);
	assert_int_equal(m->zone[0].wmark[WMARK_LOW], 2500);
	assert_int_equal(sysctl_write(m, "vm.watermark_scale_factor", "1000"), 0);
	assert_int_equal(m->zone[0].wmark[WMARK_LOW], 2000 + PAGES / 10);
	machine_end(m);
}

static void test_huge_pages_raise_min_free_kbytes_and_lower_it_again(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 1024 * PAGEBLOCK_PAGES);
	struct model *m = machine_make(&c);
	uint64_t base = m->sysctl.min_free_kbytes;

	(void)state;
	assert_int_equal(sysctl_write(m, "transparent_hugepage/enabled", "madvise"), 0);
	/* 5632 pages a populated zone. */
	assert_int_equal(m->sysctl.min_free_kbytes, 5632 * 4);
	assert_int_equal(sysctl_write(m, "transparent_hugepage/enabled", "never"), 0);
	/* Computed above the marks of the moment, which were the raised ones: a little less. */
	assert_in_range(m->sysctl.min_free_kbytes, base - base / 50, base);
	machine_end(m);
}

static void test_words_must_match_whole(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	assert_int_equal(sysctl_write(m, "transparent_hugepage/defrag", "defer+madvise\n"), 0);
	assert_shows(m, "transparent_hugepage/defrag",
		     "always defer [defer+madvise] madvise never");
	assert_int_equal(sysctl_write(m, "transparent_hugepage/defrag", "defer+"), -EINVAL);
	assert_int_equal(sysctl_write(m, "transparent_hugepage/defrag", "def"), -EINVAL);
	assert_int_equal(sysctl_write(m, "transparent_hugepage/enabled", "defer"), -EINVAL);
	assert_int_equal(sysctl_write(m, "transparent_hugepage/enabled", "always"), 0);
	assert_shows(m, "transparent_hugepage/enabled", "[always] madvise never");
	assert_int_equal(sysctl_write(m, "transparent_hugepage/hugepages-64kB/enabled", "inherit"),
			 0);
	assert_shows(m, "transparent_hugepage/hugepages-64kB/enabled",
		     "always [inherit] madvise never");
	assert_shows(m, "transparent_hugepage/hugepages-2048kB/enabled",
		     "always [inherit] madvise never");
	assert_int_equal(sysctl_write(m, "transparent_hugepage/hugepages-65kB/enabled", "always"),
			 -ENOENT);
	assert_int_equal(sysctl_write(m, "transparent_hugepage/shmem_enabled", "advise"), 0);
	assert_shows(m, "transparent_hugepage/shmem_enabled",
		     "always within_size [advise] never deny force");
	assert_int_equal(sysctl_write(m, "transparent_hugepage/khugepaged/max_ptes_none", "512"),
			 -EINVAL);
	machine_end(m);
}

static void test_reserve_ratios_are_four_numbers(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	assert_shows(m, "vm.lowmem_reserve_ratio", "256\t256\t32\t0\t0");
	assert_int_equal(sysctl_write(m, "vm.lowmem_reserve_ratio", "128 64 32 0"), 0);
	assert_int_equal(m->sysctl.lowmem_reserve_ratio[1], 64);
	assert_int_equal(sysctl_write(m, "vm.lowmem_reserve_ratio", "128 64"), -EINVAL);
	assert_int_equal(m->sysctl.lowmem_reserve_ratio[0], 128);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_have_their_ranges),
		cmocka_unit_test(test_defrag_mode_came_after_6_12),
		cmocka_unit_test(test_marks_follow_min_free_kbytes),
		cmocka_unit_test(test_huge_pages_raise_min_free_kbytes_and_lower_it_again),
		cmocka_unit_test(test_words_must_match_whole),
		cmocka_unit_test(test_reserve_ratios_are_four_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
