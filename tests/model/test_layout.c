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

/* The runs of a snapshot of a machine: one chunk each. */
struct walk {
	struct model *m;
	pfn_t at;
	pfn_t hole; /* of stripes_next() */
};

static void walk_rewind(void *arg)
{
	((struct walk *)arg)->at = 0;
}

static bool walk_next(void *arg, struct layout_run *run)
{
	struct walk *w = arg;
	uint8_t state;

	if (w->at >= w->m->map.end_pfn)
		return false;
	*run = (struct layout_run){.pfn = w->at, .count = 1, .kind = PG_HOLE};
	if (zone_of(w->m, w->at)) {
		state = memmap_state(w->m, w->at);
		run->kind = PG_KIND(state);
		run->order = PG_ORDER(state);
		if (KINDS_LRU >> run->kind & 1)
			run->flags = w->m->map.flag[w->at];
	}
	w->at += 1u << run->order;
	return true;
}

__attribute__((noinline)) static char *text_of(struct model *m, enum model_text what)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	model_text(m, what, out);
	fclose(out);
	return text;
}

/* What one machine shows, put into another: the same pages, lists and counts. */
static void test_a_machine_can_be_made_from_what_another_shows(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES), d;
	struct model *m = machine_make(&c), *n;
	struct walk walk = {m, 0, 0};
	struct layout_snapshot snap = {.next = walk_next, .rewind = walk_rewind, .arg = &walk};
	struct layout_guess guess;
	char *zoneinfo, *pagetypes, *vmstat, *buddy[2];

	(void)state;
	lay_begin(m);
	lay_type(m, 1024, MIGRATE_UNMOVABLE);
	lay(m, 1024, "100K 8B 4G");
	lay(m, 1536, "100(fAfC)");
	lay(m, 2048, "T");
	lay(m, 2560, "16Q 20(fD) 10L");
	lay_end(m);
	zoneinfo = text_of(m, TEXT_ZONEINFO);
	pagetypes = text_of(m, TEXT_PAGETYPEINFO);
	vmstat = text_of(m, TEXT_VMSTAT);
	buddy[0] = text_of(m, TEXT_BUDDYINFO);

	d = quiet_config(PROFILE_C, PAGES);
	assert_int_equal(layout_config_from_zoneinfo(&d, zoneinfo), 0);
	assert_int_equal(d.nr_zones, 1);
	assert_int_equal(d.zone[0].start_pfn, 512);
	assert_int_equal(d.zone[0].spanned, PAGES);
	n = machine_make(&d);
	snap.zoneinfo = zoneinfo;
	snap.pagetypeinfo = pagetypes;
	snap.vmstat = vmstat;
	assert_int_equal(layout_load(n, &snap, &guess), 0);
	assert_int_equal(guess.block_types, 1);
	assert_int_equal(guess.pins, 0);
	assert_int_equal(guess.percpu, 0);
	buddy[1] = text_of(n, TEXT_BUDDYINFO);
	assert_string_equal(buddy[0], buddy[1]);
	assert_int_equal(block_type(n, 1024), MIGRATE_UNMOVABLE);
	assert_int_equal(block_type(n, 1536), MIGRATE_MOVABLE);
	for (pfn_t p = 512; p < m->map.end_pfn; p++)
		assert_int_equal(stats_kpageflags(n, p), stats_kpageflags(m, p));
	assert_int_equal(counter(n, VM_NR_ANON_PAGES), counter(m, VM_NR_ANON_PAGES));
	assert_int_equal(counter(n, VM_NR_DIRTY), counter(m, VM_NR_DIRTY));
	free(zoneinfo);
	free(pagetypes);
	free(vmstat);
	free(buddy[0]);
	free(buddy[1]);
	machine_end(m);
	machine_end(n);
}

/* Every second page anonymous, those between free, but for some. */
static bool stripes_next(void *arg, struct layout_run *run)
{
	struct walk *w = arg;

	if (w->at >= w->m->map.end_pfn)
		return false;
	*run = (struct layout_run){.pfn = w->at++, .count = 1};
	run->kind = run->pfn < 512 || run->pfn == w->hole ? PG_HOLE
		    : run->pfn % 2                        ? PG_ANON
							  : PG_FREE;
	/* A block of kernel memory, and three pages that look like it elsewhere. */
	if ((run->pfn >= 2048 && run->pfn < 2560) || (run->pfn >= 6000 && run->pfn < 6006))
		run->kind = run->pfn % 2 ? run->kind : PG_KERNEL;
	run->flags = run->kind == PG_ANON ? PGF_LRU : 0;
	return true;
}

static void test_pins_of_a_snapshot_are_put_on_anonymous_pages(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct walk walk = {m, 0, 5000};
	struct layout_snapshot snap = {
		.next = stripes_next,
		.rewind = walk_rewind,
		.arg = &walk,
		.known_pins = 5,
		.vmstat = "nr_foll_pin_acquired 35\nnr_foll_pin_released 10\n",
	};
	struct layout_guess guess;

	(void)state;
	assert_int_equal(layout_load(m, &snap, &guess), 0);
	assert_int_equal(guess.pins, 20);
	assert_int_equal(m->map.block[1].nr_pinned, 20);
	assert_int_equal(PG_KIND(m->map.state[5000]), PG_HOLE);
	machine_end(m);
}

static void test_lonely_kernel_pages_are_those_on_cpu_lists(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct model *m;
	struct walk walk;
	char *zoneinfo, *count;
	struct layout_snapshot snap = {.next = stripes_next, .rewind = walk_rewind, .arg = &walk};
	struct layout_guess guess;

	(void)state;
	c.pcp = true;
	m = machine_make(&c);
	walk = (struct walk){m, 0, 0};
	zoneinfo = text_of(m, TEXT_ZONEINFO);
	count = strstr(zoneinfo, "count:");
	assert_non_null(count);
	count[strcspn(count, "0123456789")] = '3';
	snap.zoneinfo = zoneinfo;
	assert_int_equal(layout_load(m, &snap, &guess), 0);
	assert_int_equal(guess.percpu, 3);
	assert_int_equal(m->map.block[block_of(6000).v].nr_pcp, 3);
	assert_int_equal(m->map.block[block_of(2048).v].nr_pcp, 0);
	free(zoneinfo);
	machine_end(m);
}

static void test_pages_that_do_not_fill_the_zones_are_refused(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES), *half = machine_quiet(PROFILE_C, PAGES);
	struct walk walk = {half, 0, 0};
	struct layout_snapshot snap = {.next = stripes_next, .rewind = walk_rewind, .arg = &walk};
	struct layout_guess guess;

	(void)state;
	half->map.end_pfn /= 2;
	assert_int_equal(layout_load(m, &snap, &guess), -EINVAL);
	half->map.end_pfn *= 2;
	machine_end(half);
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
		cmocka_unit_test(test_lonely_kernel_pages_are_those_on_cpu_lists),
		cmocka_unit_test(test_pages_that_do_not_fill_the_zones_are_refused),
		cmocka_unit_test(test_a_text_that_is_no_zoneinfo_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
