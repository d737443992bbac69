/* SPDX-License-Identifier: MIT */
/* Machines put into a state page by page, and out of what a real machine shows. */
#include "harness.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/layout.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pin.h"
#include "model/stats.h"

#define PAGES (16u * PAGEBLOCK_PAGES)

static void test_what_is_not_placed_is_free_and_merged(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	lay_begin(m);
	lay(m, 1024, "A 1023f");
	lay_end(m);
	assert_int_equal(count_free(&m->zone[0]), PAGES - 1);
	for (unsigned order = 0; order < 10; order++)
		assert_true(m->zone[0].nr_chunks[order] >= 1);
	assert_free_list(m, &m->zone[0], 0, MIGRATE_MOVABLE, 1025, PFN_NONE);
	machine_end(m);
}

static void test_each_kind_is_what_it_should_be(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	lay_begin(m);
	lay(m, 1024, "T 8(A) 8(P) 8(L) 8(C) 8(D) 8(W) 8(S) 8(K) 8(G) 8(B) 8(M) 4(k) 4(Q)");
	lay(m, 2048, "H");
	lay_end(m);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 1);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 512 + 24 + 16);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 24 + 8);
	assert_int_equal(counter(m, VM_NR_DIRTY), 8);
	assert_int_equal(counter(m, VM_NR_WRITEBACK), 8);
	assert_int_equal(counter(m, VM_NR_SHMEM), 8);
	assert_int_equal(counter(m, VM_NR_MLOCK), 8);
	assert_int_equal(counter(m, VM_NR_UNEVICTABLE), 8);
	assert_int_equal(counter(m, VM_NR_PAGE_TABLE_PAGES), 8);
	assert_int_equal(counter(m, VM_NR_SLAB_UNRECLAIMABLE), 8);
	assert_int_equal(counter(m, VM_NR_HUGETLB), 512);
	assert_int_equal(m->map.block[block_of(1536).v].nr_pinned, 8);
	assert_int_equal(m->map.block[block_of(1536).v].nr_movable_ops, 8);
	machine_end(m);
}

static void test_a_page_cannot_be_placed_twice(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	layout_begin(m);
	assert_int_equal(layout_put(m, 1024, 2, PG_KERNEL, 0, (region_id){0}), 0);
	assert_int_equal(layout_put(m, 1026, 0, PG_ANON, PGF_LRU, (region_id){0}), -EBUSY);
	assert_int_equal(layout_put(m, 1029, 1, PG_KERNEL, 0, (region_id){0}), -EINVAL);
	layout_end(m);
	machine_end(m);
}

static void test_block_types_decide_the_lists(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	lay_begin(m);
	lay_type(m, 1024, MIGRATE_UNMOVABLE);
	lay(m, 1024, "K");
	lay_end(m);
	assert_free_list(m, &m->zone[0], 0, MIGRATE_UNMOVABLE, 1025, PFN_NONE);
	machine_end(m);
}

/* ---- snapshots ---------------------------------------------------------------------------- */

/* What one machine shows, put into another: the same pages, lists and counts. */
static void test_a_machine_can_be_made_from_what_another_shows(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES), d;
	struct model *m = machine_make(&c), *n;
	char *zoneinfo, *pagetypes, *vmstat, *buddy[2];
	size_t size;
	uint64_t *flags, guessed;
	struct layout_snapshot snap;
	FILE *out;

	(void)state;
	lay_begin(m);
	lay_type(m, 1024, MIGRATE_UNMOVABLE);
	lay(m, 1024, "100K 8B 4G");
	lay(m, 1536, "100(fAfC)");
	lay(m, 2048, "T");
	lay(m, 2560, "16Q 20(fD) 10L");
	lay_end(m);
	flags = calloc(m->map.end_pfn, sizeof(*flags));
	for (pfn_t p = 0; p < m->map.end_pfn; p++)
		flags[p] = stats_kpageflags(m, p);
	out = open_memstream(&zoneinfo, &size);
	model_text(m, TEXT_ZONEINFO, out);
	fclose(out);
	out = open_memstream(&pagetypes, &size);
	model_text(m, TEXT_PAGETYPEINFO, out);
	fclose(out);
	out = open_memstream(&vmstat, &size);
	model_text(m, TEXT_VMSTAT, out);
	fclose(out);
	out = open_memstream(&buddy[0], &size);
	model_text(m, TEXT_BUDDYINFO, out);
	fclose(out);

	d = quiet_config(PROFILE_C, PAGES);
	assert_int_equal(layout_config_from_zoneinfo(&d, zoneinfo), 0);
	assert_int_equal(d.nr_zones, 1);
	assert_int_equal(d.zone[0].start_pfn, 512);
	assert_int_equal(d.zone[0].spanned, PAGES);
	n = machine_make(&d);
	snap = (struct layout_snapshot){
		.nr_pfns = m->map.end_pfn,
		.kpageflags = flags,
		.zoneinfo = zoneinfo,
		.pagetypeinfo = pagetypes,
		.vmstat = vmstat,
	};
	assert_int_equal(layout_load(n, &snap, &guessed), 0);
	/* One block's type; 100 kernel pages have no flag. */
	assert_int_equal(guessed, 101);
	out = open_memstream(&buddy[1], &size);
	model_text(n, TEXT_BUDDYINFO, out);
	fclose(out);
	assert_string_equal(buddy[0], buddy[1]);
	assert_int_equal(block_type(n, 1024), MIGRATE_UNMOVABLE);
	assert_int_equal(block_type(n, 1536), MIGRATE_MOVABLE);
	for (pfn_t p = 512; p < m->map.end_pfn; p++)
		assert_int_equal(stats_kpageflags(n, p), flags[p]);
	assert_int_equal(counter(n, VM_NR_ANON_PAGES), counter(m, VM_NR_ANON_PAGES));
	assert_int_equal(counter(n, VM_NR_DIRTY), counter(m, VM_NR_DIRTY));
	free(flags);
	free(zoneinfo);
	free(pagetypes);
	free(vmstat);
	free(buddy[0]);
	free(buddy[1]);
	machine_end(m);
	machine_end(n);
}

static void test_pins_of_a_snapshot_are_put_on_anonymous_pages(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	uint64_t *flags = calloc(m->map.end_pfn, sizeof(*flags)), guessed;
	struct layout_snapshot snap = {
		.nr_pfns = m->map.end_pfn,
		.kpageflags = flags,
		.vmstat = "nr_foll_pin_acquired 30\nnr_foll_pin_released 10\n",
	};

	(void)state;
	for (pfn_t p = 0; p < m->map.end_pfn; p++)
		flags[p] = p < 512 || p == 5000 ? 1ull << 20
			   : p % 2              ? 1ull << 12 | 1ull << 5
						: 1ull << 10;
	assert_int_equal(layout_load(m, &snap, &guessed), 0);
	assert_int_equal(guessed, 20);
	assert_int_equal(m->map.block[1].nr_pinned, 20);
	assert_int_equal(PG_KIND(m->map.state[5000]), PG_HOLE);
	free(flags);
	machine_end(m);
}

static void test_a_text_that_is_no_zoneinfo_is_refused(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);

	(void)state;
	assert_int_equal(layout_config_from_zoneinfo(&c, "nothing"), -EINVAL);
	assert_int_equal(layout_config_from_zoneinfo(&c, ""), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_not_placed_is_free_and_merged),
		cmocka_unit_test(test_each_kind_is_what_it_should_be),
		cmocka_unit_test(test_a_page_cannot_be_placed_twice),
		cmocka_unit_test(test_block_types_decide_the_lists),
		cmocka_unit_test(test_a_machine_can_be_made_from_what_another_shows),
		cmocka_unit_test(test_pins_of_a_snapshot_are_put_on_anonymous_pages),
		cmocka_unit_test(test_a_text_that_is_no_zoneinfo_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
