/* SPDX-License-Identifier: MIT */
/* CMA areas, contiguous ranges, long-term pins in them, hugetlb pages. */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "model/cma.h"
#include "model/memmap.h"
#include "model/owner.h"

#define PAGES (64u * PAGEBLOCK_PAGES)

static struct model *machine_with_cma(enum profile_id profile, uint64_t mib)
{
	struct model_config c = quiet_config(profile, PAGES);

	c.nr_cma = 1;
	c.cma[0] = (struct cma_config){.node = 0, .mib = mib};
	return machine_make(&c);
}

static struct op touch(struct model *m, region_id *region, uint64_t pages)
{
	struct op op = {.kind = OP_TOUCH, .count = pages, .write = true};
	task_id task;

	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, pages * 4096, ADVISE_NOHUGEPAGE, region), 0);
	op.region = *region;
	assert_int_equal(model_do(m, task, &op), 0);
	return op;
}

static void test_an_area_is_cma_blocks_at_the_end(void **state)
{
	struct model *m = machine_with_cma(PROFILE_C, 16);

	(void)state;
	assert_int_equal(m->cma[0].pages, 4096);
	assert_int_equal(m->cma[0].base + 4096, m->zone[0].end_pfn);
	assert_int_equal(counter(m, VM_NR_FREE_CMA), 4096);
	assert_int_equal(block_type(m, m->cma[0].base), MIGRATE_CMA);
	assert_int_equal(block_type(m, m->cma[0].base - 1), MIGRATE_MOVABLE);
	machine_end(m);
}

static void allocate_and_release(enum profile_id profile)
{
	struct model *m = machine_with_cma(profile, 16);
	region_id owner;
	pfn_t start;

	assert_int_equal(model_pool(m, REGION_CMA, 4096, &owner), 0);
	assert_int_equal(cma_alloc(m, 0, 300, 6, owner), 0);
	assert_int_equal(counter(m, VM_CMA_ALLOC_SUCCESS), 1);
	assert_int_equal(counter(m, VM_NR_FREE_CMA), 4096 - 300);
	start = owner_page(m, owner_region(m, owner), 0);
	assert_int_equal(start % 64, 0);
	for (unsigned i = 0; i < 300; i++)
		assert_int_equal(owner_page(m, owner_region(m, owner), i), start + i);
	assert_int_equal(block_type(m, start), MIGRATE_CMA);
	assert_int_equal(m->zone[0].nr_isolated_blocks, 0);
	cma_release(m, 0, start, 300);
	assert_int_equal(counter(m, VM_NR_FREE_CMA), 4096);
	machine_end(m);
}

static void test_a_range_is_taken_and_given_back(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++)
		allocate_and_release((enum profile_id)p);
}

static void test_movable_pages_make_room(void **state)
{
	struct model *m = machine_with_cma(PROFILE_C, 16);
	region_id region, owner;
	uint64_t inside = 0;

	(void)state;
	/* More than half of what is free is CMA for a while, so some of it goes there. */
	(void)touch(m, &region, 20000);
	for (unsigned i = 0; i < 20000; i++)
		inside += owner_page(m, owner_region(m, region), i) >= m->cma[0].base;
	if (inside == 0) {
		model_munmap(m, region);
		(void)touch(m, &region, 28500);
		for (unsigned i = 0; i < 28500; i++)
			inside += owner_page(m, owner_region(m, region), i) >= m->cma[0].base;
	}
	assert_true(inside > 0);
	assert_int_equal(model_pool(m, REGION_CMA, 4096, &owner), 0);
	assert_int_equal(cma_alloc(m, 0, 2048, 9, owner), 0);
	assert_true(counter(m, VM_PGMIGRATE_SUCCESS) > 0);
	machine_end(m);
}

static void test_a_pinned_page_blocks_its_range(void **state)
{
	struct model *m = machine_with_cma(PROFILE_C, 2);
	region_id owner;

	(void)state;
	lay_begin(m);
	lay(m, m->cma[0].base, "256f P");
	lay_end(m);
	assert_int_equal(model_pool(m, REGION_CMA, 512, &owner), 0);
	assert_int_equal(cma_alloc(m, 0, 512, 9, owner), -EBUSY);
	assert_int_equal(counter(m, VM_CMA_ALLOC_FAIL), 1);
	assert_int_equal(m->cma[0].nr_used, 0);
	/* The half without it can be had. */
	assert_int_equal(cma_alloc(m, 0, 256, 8, owner), 0);
	machine_end(m);
}

static void test_a_long_term_pin_moves_its_page_out_of_the_area(void **state)
{
	struct model *m = machine_with_cma(PROFILE_C, 64);
	region_id region;
	task_id task;
	struct op op;
	uint64_t inside = 0;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 18000 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 18000, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	for (unsigned i = 0; i < 18000; i++)
		inside += block_type(m, owner_page(m, owner_region(m, region), i)) == MIGRATE_CMA;
	assert_true(inside > 100);
	op = (struct op){.kind = OP_PIN, .region = region, .count = 18000, .step = 21};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, 0);
	for (unsigned i = 0; i < 18000; i += 21)
		assert_int_not_equal(block_type(m, owner_page(m, owner_region(m, region), i)),
				     MIGRATE_CMA);
	assert_true(counter(m, VM_PGMIGRATE_SUCCESS) > 0);
	machine_end(m);
}

static void test_hugetlb_pages_are_counted(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id pool;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_pool(m, REGION_HUGETLB, 100, &pool), 0);
	op = (struct op){.kind = OP_HUGETLB, .region = pool, .count = 10, .node = -1};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 10);
	assert_int_equal(counter(m, VM_HTLB_BUDDY_ALLOC_SUCCESS), 10);
	assert_int_equal(counter(m, VM_NR_HUGETLB), 5120);
	hugetlb_free(m, owner_page(m, owner_region(m, pool), 0));
	assert_int_equal(counter(m, VM_NR_HUGETLB), 4608);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_area_is_cma_blocks_at_the_end),
		cmocka_unit_test(test_a_range_is_taken_and_given_back),
		cmocka_unit_test(test_movable_pages_make_room),
		cmocka_unit_test(test_a_pinned_page_blocks_its_range),
		cmocka_unit_test(test_a_long_term_pin_moves_its_page_out_of_the_area),
		cmocka_unit_test(test_hugetlb_pages_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
