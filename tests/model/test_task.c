/* SPDX-License-Identifier: MIT */
/* Operations of tasks: what they hold, give back, and that nothing is lost on the way. */
#include "harness.h"

#include <string.h>

#include "model/clock.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pcp.h"
#include "model/pin.h"

static void must_be_valid(struct model *m)
{
	char why[256];

	if (!validate(m, why, sizeof(why)))
		fail_msg("validate: %s", why);
}

static struct op touch(region_id region, uint64_t index, uint64_t count)
{
	return (struct op){
		.kind = OP_TOUCH, .region = region, .index = index, .count = count, .write = true};
}

static void test_touched_pages_are_held_and_all_come_back(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	uint64_t before = count_free(&m->zone[0]);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 1000 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 1000);
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 1000);
	assert_int_equal(op.base_pages[0], 1000);
	assert_int_equal(count_free(&m->zone[0]), before - 1000);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 1000);
	assert_int_equal(counter(m, VM_PGFAULT), 1000);
	must_be_valid(m);
	model_munmap(m, region);
	assert_int_equal(count_free(&m->zone[0]), before);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 0);
	machine_end(m);
}

static void test_odd_positions_punched_leave_the_even_ones(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 2048 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 2048);
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_RELEASE,
			 .region = region,
			 .count = 2048,
			 .pick = PICK_POSITION,
			 .modulo = 2,
			 .residue = 1};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 1024);
	for (unsigned i = 0; i < 2048; i++)
		assert_int_equal(owner_page(m, owner_region(m, region), i) != PFN_NONE, i % 2 == 0);
	machine_end(m);
}

static void test_pages_picked_by_pfn_have_that_residue(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct region *r;
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 2048 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 2048);
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_RELEASE,
			 .region = region,
			 .count = 2048,
			 .pick = PICK_PFN,
			 .pick_order = PICK_PFN_DESCENDING,
			 .modulo = 8,
			 .residue = 4};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 256);
	r = owner_region(m, region);
	for (unsigned i = 0; i < 2048; i++) {
		pfn_t pfn = owner_page(m, r, i);

		assert_true(pfn == PFN_NONE || pfn % 8 != 4);
	}
	machine_end(m);
}

static void test_one_page_a_block_stays(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 2048 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 2048);
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_RELEASE,
			 .region = region,
			 .count = 2048,
			 .pick = PICK_KEEP_ONE_PER_BLOCK,
			 .pick_order = PICK_PFN_ASCENDING};
	assert_int_equal(model_do(m, task, &op), 0);
	for (uint32_t b = 1; b < 17; b++) {
		if (m->map.block[b].nr_taken)
			assert_int_equal(m->map.block[b].nr_taken, 1);
	}
	assert_int_equal(counter(m, VM_NR_ANON_PAGES) + (int64_t)op.done, 2048);
	machine_end(m);
}

static void test_pins_are_references(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	struct op op, unpin;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 4 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){
		.kind = OP_PIN, .region = region, .count = 4, .times = 2, .fault_in = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, 0);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_ACQUIRED), 8);
	/* Faulted in by the pin itself: not movable. */
	assert_int_equal(block_type(m, owner_page(m, owner_region(m, region), 0)),
			 MIGRATE_UNMOVABLE);
	must_be_valid(m);
	unpin = (struct op){.kind = OP_UNPIN, .region = region, .pin = op.pin};
	assert_int_equal(model_do(m, task, &unpin), 0);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_RELEASED), 8);
	machine_end(m);
}

/* A huge page's references are those of all its pages, also where two sets overlap in it. */
static void test_pins_of_huge_pages_count_each_page(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	struct model *m;
	task_id task;
	struct op all, some, unpin;
	slot_t second;
	ns_t start;

	(void)state;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 1024 * 4096, ADVISE_HUGEPAGE, &region), 0);
	second = (slot_t){owner_region(m, region)->first_slot + 512};
	all = touch(region, 0, 1024);
	assert_int_equal(model_do(m, task, &all), 0);
	assert_int_equal(all.huge_pages[0], 2);
	start = m->clock.now;
	all = (struct op){.kind = OP_PIN, .region = region, .count = 1000, .times = 3};
	assert_int_equal(model_do(m, task, &all), 0);
	assert_int_equal(all.error, 0);
	assert_int_equal(m->clock.now - start, 1000 * m->cost.ns[COST_PIN_PAGE]);
	assert_int_equal(pin_refs(m, second), 3 * 488);
	/* Pages 100, 107, ... 597: 59 of the first huge page and 13 of the second. */
	some = (struct op){.kind = OP_PIN, .region = region, .index = 100, .count = 500, .step = 7};
	assert_int_equal(model_do(m, task, &some), 0);
	assert_int_equal(pin_refs(m, second), 3 * 488 + 13);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_ACQUIRED), 3000 + 72);
	must_be_valid(m);
	unpin = (struct op){.kind = OP_UNPIN, .region = region, .pin = all.pin};
	assert_int_equal(model_do(m, task, &unpin), 0);
	assert_int_equal(pin_refs(m, second), 13);
	unpin.pin = some.pin;
	assert_int_equal(model_do(m, task, &unpin), 0);
	assert_int_equal(pin_refs(m, second), 0);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_RELEASED), 3000 + 72);
	machine_end(m);
}

static void test_a_pinned_page_is_not_given_back(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 8 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 8);
	assert_int_equal(model_do(m, task, &op), 0);
	op = (struct op){.kind = OP_PIN, .region = region, .count = 8, .step = 2};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_ACQUIRED), 4);
	op = (struct op){.kind = OP_RELEASE, .region = region, .count = 8, .pick = PICK_ALL};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 4);
	assert_int_equal(op.failed, 4);
	model_munmap(m, region);
	assert_int_equal(counter(m, VM_NR_FOLL_PIN_RELEASED), 4);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 0);
	machine_end(m);
}

static void test_locked_pages_are_unevictable(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	int64_t culled;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 100 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_MLOCK, .region = region, .count = 100};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_NR_UNEVICTABLE), 100);
	assert_int_equal(counter(m, VM_NR_MLOCK), 100);
	assert_int_equal(counter(m, VM_UNEVICTABLE_PGS_MLOCKED), 100);
	must_be_valid(m);
	op = (struct op){.kind = OP_MUNLOCK, .region = region, .count = 50};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_NR_UNEVICTABLE), 50);
	assert_int_equal(counter(m, VM_NR_INACTIVE_ANON), 50);
	assert_int_equal(counter(m, VM_UNEVICTABLE_PGS_CLEARED), 0);
	must_be_valid(m);
	model_munmap(m, region);
	assert_int_equal(counter(m, VM_NR_MLOCK), 0);
	assert_int_equal(counter(m, VM_UNEVICTABLE_PGS_CLEARED), 50);
	/* Pages that are locked on an evictable list are taken off it. */
	assert_int_equal(model_mmap(m, task, 10 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 10, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	culled = counter(m, VM_UNEVICTABLE_PGS_CULLED);
	op = (struct op){.kind = OP_MLOCK, .region = region, .count = 10};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_UNEVICTABLE_PGS_CULLED), culled + 10);
	machine_end(m);
}

static void test_tasks_of_two_cpus_share_the_time(void **state)
{
	struct model *m = machine_two_nodes(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region[2];
	task_id task[2];
	ns_t alone;
	struct op op;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(model_task(m, i, &task[i]), 0);
		assert_int_equal(model_mmap(m, task[i], 512 * 4096, ADVISE_NOHUGEPAGE, &region[i]),
				 0);
	}
	op = touch(region[0], 0, 256);
	assert_int_equal(model_do(m, task[0], &op), 0);
	alone = op.end - op.start;
	op = touch(region[0], 256, 256);
	assert_int_equal(model_start(m, task[0], &op), 0);
	op = touch(region[1], 0, 256);
	assert_int_equal(model_start(m, task[1], &op), 0);
	model_run(m);
	assert_true(model_result(m, task[1])->end - model_result(m, task[1])->start <
		    alone * 5 / 4);
	assert_int_equal(model_result(m, task[1])->base_pages[1], 256);
	machine_end(m);
}

static void test_tasks_of_one_cpu_take_turns(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region[2];
	task_id task[2];
	struct op op;
	ns_t a, b;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(model_task(m, 0, &task[i]), 0);
		assert_int_equal(model_mmap(m, task[i], 512 * 4096, ADVISE_NOHUGEPAGE, &region[i]),
				 0);
		op = touch(region[i], 0, 512);
		assert_int_equal(model_start(m, task[i], &op), 0);
	}
	model_run(m);
	a = model_result(m, task[0])->end;
	b = model_result(m, task[1])->end;
	assert_true(b > a && b - a < a / 20);
	machine_end(m);
}

static void test_sleeping_takes_no_cpu(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task[2];
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task[0]), 0);
	assert_int_equal(model_task(m, 0, &task[1]), 0);
	assert_int_equal(model_mmap(m, task[1], 512 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_SLEEP, .sleep_ns = 1000000000};
	assert_int_equal(model_start(m, task[0], &op), 0);
	op = touch(region, 0, 512);
	assert_int_equal(model_start(m, task[1], &op), 0);
	model_run(m);
	assert_true(model_result(m, task[1])->end < 10000000);
	assert_true(model_result(m, task[0])->end >= 1000000000);
	machine_end(m);
}

static void test_unmapped_pages_go_to_the_lists_of_the_cpu_of_the_task(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	struct model *m;
	region_id region;
	uint32_t before;
	task_id task;
	struct op op;

	(void)state;
	c.pcp = true;
	c.node[0].cpus = 2;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 1, &task), 0);
	assert_int_equal(model_mmap(m, task, 50 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = touch(region, 0, 50);
	assert_int_equal(model_do(m, task, &op), 0);
	before = pcp_of(&m->zone[0], (cpu_id){1})->count;
	model_munmap(m, region);
	assert_int_equal(pcp_of(&m->zone[0], (cpu_id){1})->count, before + 50);
	assert_int_equal(pcp_of(&m->zone[0], (cpu_id){0})->count, 0);
	must_be_valid(m);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_touched_pages_are_held_and_all_come_back),
		cmocka_unit_test(test_unmapped_pages_go_to_the_lists_of_the_cpu_of_the_task),
		cmocka_unit_test(test_odd_positions_punched_leave_the_even_ones),
		cmocka_unit_test(test_pages_picked_by_pfn_have_that_residue),
		cmocka_unit_test(test_one_page_a_block_stays),
		cmocka_unit_test(test_pins_are_references),
		cmocka_unit_test(test_pins_of_huge_pages_count_each_page),
		cmocka_unit_test(test_a_pinned_page_is_not_given_back),
		cmocka_unit_test(test_locked_pages_are_unevictable),
		cmocka_unit_test(test_tasks_of_two_cpus_share_the_time),
		cmocka_unit_test(test_tasks_of_one_cpu_take_turns),
		cmocka_unit_test(test_sleeping_takes_no_cpu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
