/* SPDX-License-Identifier: MIT */
/* Huge page faults: eligibility, gfp masks, what one fault counts, splitting, khugepaged. */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/clock.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/policy.h"
#include "model/thp.h"

#define NODE_PAGES (64u * PAGEBLOCK_PAGES)

static struct model_config two_nodes(enum profile_id profile)
{
	struct model_config c = two_nodes_config(profile, NODE_PAGES);

	c.thp.enabled = THP_ENABLED_MADVISE;
	c.daemons = true;
	return c;
}

/* A mapping of so many pages, all of which the task has touched. */
static region_id touched(struct model *m, task_id task, uint64_t pages, enum advice advice)
{
	struct op op = {.kind = OP_TOUCH, .count = pages, .write = true};

	assert_int_equal(model_mmap(m, task, pages * 4096, advice, &op.region), 0);
	assert_int_equal(model_do(m, task, &op), 0);
	return op.region;
}

static struct fault_result one_fault(struct model *m, enum advice advice, struct op *op)
{
	region_id region;
	task_id task;

	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 512 * 4096, advice, &region), 0);
	*op = (struct op){.kind = OP_TOUCH, .region = region, .count = 1, .write = true};
	assert_int_equal(model_do(m, task, op), 0);
	return (struct fault_result){.head = owner_page(m, owner_region(m, region), 0)};
}

/* ---- one madvised fault ------------------------------------------------------------------- */

static void one_remote_fault(enum profile_id profile)
{
	struct model_config c = two_nodes(profile);
	struct model *m = machine_make(&c);
	struct op op;

	lay_begin(m);
	lay(m, 512, "16384(fP)");
	lay_end(m);
	(void)one_fault(m, ADVISE_HUGEPAGE, &op);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 1);
	assert_int_equal(counter(m, VM_COMPACT_FAIL), 1);
	assert_int_equal(counter(m, VM_COMPACT_SUCCESS), 0);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 0);
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 0);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC), 1);
	assert_int_equal(counter(m, VM_THP_FAULT_FALLBACK), 0);
	assert_int_equal(m->zone[1].stat[VM_NUMA_MISS], 1);
	assert_int_equal(m->zone[0].stat[VM_NUMA_FOREIGN], 1);
	assert_int_equal(op.huge_pages[1], 1);
	machine_end(m);
}

/* Example 24. */
static void test_a_remote_huge_page_costs_one_failed_compaction(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++)
		one_remote_fault((enum profile_id)p);
}

/* Example 24, second half. */
static void test_no_huge_page_anywhere_costs_three_stalls_and_a_reclaim(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct recorded *runs = malloc(sizeof(*runs));
	struct op op;

	(void)state;
	lay_begin(m);
	lay(m, 512, "32768(fP)");
	lay_end(m);
	record(m, runs, TRACE_COMPACT_BEGIN);
	(void)one_fault(m, ADVISE_HUGEPAGE, &op);
	record_stop(m);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 3);
	assert_int_equal(counter(m, VM_COMPACT_FAIL), 3);
	assert_true(counter(m, VM_ALLOCSTALL_MOVABLE) >= 1);
	assert_int_equal(counter(m, VM_THP_FAULT_FALLBACK), 1);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC), 0);
	assert_int_equal(op.base_pages[0], 1);
	/* Local, then both nodes asynchronously, then both synchronously. */
	assert_int_equal(runs->nr, 5);
	assert_false(runs->ev[0].sync || runs->ev[1].sync || runs->ev[2].sync);
	assert_true(runs->ev[3].sync && runs->ev[4].sync);
	free(runs);
	machine_end(m);
}

static void test_a_free_local_chunk_costs_nothing(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct op op;

	(void)state;
	(void)one_fault(m, ADVISE_HUGEPAGE, &op);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 0);
	assert_int_equal(op.huge_pages[0], 1);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 1);
	assert_int_equal(counter(m, VM_NUMA_HIT), 1);
	machine_end(m);
}

static void test_without_advice_a_page_is_a_page(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct op op;

	(void)state;
	(void)one_fault(m, ADVISE_NONE, &op);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC) + counter(m, VM_THP_FAULT_FALLBACK), 0);
	assert_int_equal(op.base_pages[0], 1);
	machine_end(m);
}

static void test_interleave_has_no_local_first_attempt(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct mempolicy p = {.mode = MPOL_INTERLEAVE, .nodes = 3, .home = NODE_NONE};
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 8 * 512 * 4096, ADVISE_HUGEPAGE, &region), 0);
	model_region_policy(m, region, &p);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 8 * 512, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	/* One step of the interleaving for each 2 MiB. */
	assert_int_equal(op.huge_pages[0], 4);
	assert_int_equal(op.huge_pages[1], 4);
	assert_int_equal(counter(m, VM_NUMA_INTERLEAVE), 8);
	machine_end(m);
}

static void test_weighted_interleave_follows_its_weights(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct mempolicy p = {.mode = MPOL_WEIGHTED_INTERLEAVE,
			      .nodes = 3,
			      .home = NODE_NONE,
			      .weight = {3, 1}};
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 8 * 512 * 4096, ADVISE_HUGEPAGE, &region), 0);
	model_task_policy(m, task, &p);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 8 * 512, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.huge_pages[0], 6);
	assert_int_equal(op.huge_pages[1], 2);
	machine_end(m);
}

/* ---- masks and orders --------------------------------------------------------------------- */

static void test_each_defrag_mode_has_its_gfp(void **state)
{
	static const struct {
		enum thp_defrag defrag;
		gfp_t advised, other;
	} rows[] = {
		{THP_DEFRAG_ALWAYS, GFP_TRANSHUGE, GFP_TRANSHUGE | __GFP_NORETRY},
		{THP_DEFRAG_DEFER, GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM,
		 GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM},
		{THP_DEFRAG_DEFER_MADVISE, GFP_TRANSHUGE,
		 GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM},
		{THP_DEFRAG_MADVISE, GFP_TRANSHUGE, GFP_TRANSHUGE_LIGHT},
		{THP_DEFRAG_NEVER, GFP_TRANSHUGE_LIGHT, GFP_TRANSHUGE_LIGHT},
	};
	struct model *m = machine_quiet(PROFILE_C, 8 * PAGEBLOCK_PAGES);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		m->thp.defrag = rows[i].defrag;
		assert_int_equal(thp_mainline_gfp(m, true), rows[i].advised);
		assert_int_equal(thp_mainline_gfp(m, false), rows[i].other);
	}
	machine_end(m);
}

static void test_orders_follow_settings_advice_and_range(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8 * PAGEBLOCK_PAGES);
	struct region *r;
	region_id region;
	task_id task;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 600 * 4096, ADVISE_NONE, &region), 0);
	r = owner_region(m, region);
	assert_int_equal(thp_fault_orders(m, r, 0), 0);
	m->thp.enabled = THP_ENABLED_MADVISE;
	assert_int_equal(thp_fault_orders(m, r, 0), 0);
	r->advice = ADVISE_HUGEPAGE;
	assert_int_equal(thp_fault_orders(m, r, 0), 1u << 9);
	/* The second 2 MiB range does not lie inside the mapping. */
	assert_int_equal(thp_fault_orders(m, r, 520), 0);
	m->thp.size[4] = THP_SIZE_MADVISE;
	assert_int_equal(thp_fault_orders(m, r, 520), 1u << 4);
	m->thp.enabled = THP_ENABLED_ALWAYS;
	r->advice = ADVISE_NONE;
	assert_int_equal(thp_fault_orders(m, r, 0), 1u << 9);
	r->advice = ADVISE_NOHUGEPAGE;
	assert_int_equal(thp_fault_orders(m, r, 0), 0);
	r->advice = ADVISE_NONE;
	m->task[task.v].thp_disabled_except_advised = true;
	assert_int_equal(thp_fault_orders(m, r, 0), 0);
	machine_end(m);
}

static void test_smaller_orders_are_tried_when_the_large_one_fails(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct model *m;
	struct op op;

	(void)state;
	c.thp.enabled = THP_ENABLED_ALWAYS;
	c.thp.defrag = THP_DEFRAG_NEVER;
	c.thp.size[4] = THP_SIZE_ALWAYS;
	c.thp.size[2] = THP_SIZE_ALWAYS;
	m = machine_make(&c);
	lay_begin(m);
	/* Free chunks of order 4 at most. */
	lay(m, 512, "256(16f 16K)");
	lay_end(m);
	(void)one_fault(m, ADVISE_NONE, &op);
	assert_int_equal(counter(m, VM_THP_FAULT_FALLBACK), 1);
	assert_int_equal(op.folios_of_order[4], 1);
	assert_int_equal(op.base_pages[0], 16);
	machine_end(m);
}

static void test_a_base_page_in_the_range_ends_its_huge_future(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 512 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 1, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	model_advise(m, region, ADVISE_HUGEPAGE);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 512, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC) + counter(m, VM_THP_FAULT_FALLBACK), 0);
	assert_int_equal(op.base_pages[0], 511);
	machine_end(m);
}

static void test_min_free_rises_with_the_settings_of_the_profile(void **state)
{
	struct model *a = machine_quiet(PROFILE_A, 8 * PAGEBLOCK_PAGES);
	struct model *c = machine_quiet(PROFILE_C, 8 * PAGEBLOCK_PAGES);

	(void)state;
	assert_false(thp_raises_min_free(a));
	assert_false(thp_raises_min_free(c));
	a->thp.size[4] = c->thp.size[4] = THP_SIZE_ALWAYS;
	assert_false(thp_raises_min_free(a));
	assert_true(thp_raises_min_free(c));
	a->thp.enabled = THP_ENABLED_MADVISE;
	assert_true(thp_raises_min_free(a));
	machine_end(a);
	machine_end(c);
}

/* ---- splitting ---------------------------------------------------------------------------- */

static void test_a_partly_unmapped_huge_page_stays_whole_until_it_is_split(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	uint64_t before = count_free(&m->zone[0]);
	region_id region;
	task_id task;
	struct op op;
	char why[256];

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 512, ADVISE_HUGEPAGE);
	op = (struct op){.kind = OP_RELEASE,
			 .region = region,
			 .count = 512,
			 .pick = PICK_POSITION,
			 .modulo = 2};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(count_free(&m->zone[0]), before - 512);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 256);
	assert_int_equal(counter(m, VM_THP_DEFERRED_SPLIT_PAGE), 1);
	assert_int_equal(counter(m, VM_THP_SPLIT_PMD), 1);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 0);
	assert_true(validate(m, why, sizeof(why)));
	assert_int_equal(thp_split_deferred(m, &m->node[0], 10), 1);
	assert_int_equal(count_free(&m->zone[0]), before - 256);
	assert_int_equal(counter(m, VM_THP_SPLIT_PAGE), 1);
	machine_end(m);
}

static void test_the_last_page_unmapped_frees_the_folio(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	uint64_t before = count_free(&m->zone[0]);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 512, ADVISE_HUGEPAGE);
	for (unsigned residue = 0; residue < 2; residue++) {
		op = (struct op){.kind = OP_RELEASE,
				 .region = region,
				 .count = 512,
				 .pick = PICK_POSITION,
				 .modulo = 2,
				 .residue = residue};
		assert_int_equal(model_do(m, task, &op), 0);
	}
	assert_int_equal(count_free(&m->zone[0]), before);
	assert_int_equal(m->nr_deferred_splits, 0);
	machine_end(m);
}

static void test_a_read_of_an_empty_range_gets_the_one_huge_zero_page(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	struct fault_result f;
	region_id region;
	task_id task;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 1024 * 4096, ADVISE_HUGEPAGE, &region), 0);
	for (unsigned i = 0; i < 2; i++) {
		f = thp_fault(m, owner_region(m, region), i * 512, false);
		assert_true(f.zero_page);
		assert_int_equal(f.order, 9);
		assert_int_equal(counter(m, VM_THP_ZERO_PAGE_ALLOC), 1);
	}
	m->thp.use_zero_page = false;
	f = thp_fault(m, owner_region(m, region), 0, false);
	assert_false(f.zero_page);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC), 1);
	machine_end(m);
}

static void test_a_pinned_huge_page_is_not_split_and_that_is_counted(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 512, ADVISE_HUGEPAGE);
	op = (struct op){.kind = OP_PIN, .region = region, .count = 1};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(thp_split(m, owner_page(m, owner_region(m, region), 0)), -EAGAIN);
	assert_int_equal(counter(m, VM_THP_SPLIT_PAGE_FAILED), 1);
	machine_end(m);
}

/* ---- khugepaged --------------------------------------------------------------------------- */

static void test_collapse_makes_one_page_of_512(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 1024, ADVISE_NOHUGEPAGE);
	model_advise(m, region, ADVISE_HUGEPAGE);
	op = (struct op){.kind = OP_COLLAPSE, .region = region, .count = 1024};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 2);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC), 2);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 2);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 1024);
	machine_end(m);
}

static void test_khugepaged_finds_advised_ranges_by_itself(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	region_id region;
	task_id task;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 1024, ADVISE_NOHUGEPAGE);
	model_sleep(m, 11000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC), 0);
	model_advise(m, region, ADVISE_HUGEPAGE);
	model_sleep(m, 11000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC), 2);
	machine_end(m);
}

/* Further check: a failed allocation sleeps alloc_sleep once, the second ends the pass. */
static void test_khugepaged_sleeps_once_and_then_ends_the_pass(void **state)
{
	struct model_config c = two_nodes(PROFILE_C);
	struct model *m = machine_make(&c);
	region_id region;
	task_id task;

	(void)state;
	c.thp.khugepaged_defrag = false;
	m->thp.khugepaged_defrag = false;
	lay_begin(m);
	lay(m, 512, "32768(fP)");
	lay_end(m);
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 4096, ADVISE_NOHUGEPAGE);
	model_advise(m, region, ADVISE_HUGEPAGE);
	model_sleep(m, 10500000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 1);
	model_sleep(m, 59000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 1);
	model_sleep(m, 2000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 2);
	/* The pass is over; the next begins after scan_sleep and starts with a sleep again. */
	model_sleep(m, 8000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 2);
	model_sleep(m, 2000000000ull);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 3);
	machine_end(m);
}

/* khugepaged's turn comes in the middle of a task's compaction, and it has to compact itself. */
static void test_khugepaged_compacts_inside_the_run_of_a_task(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, NODE_PAGES);
	struct recorded *runs = malloc(sizeof(*runs));
	region_id old, fresh;
	struct model *m;
	task_id task;
	struct op op;

	(void)state;
	c.thp.enabled = THP_ENABLED_MADVISE;
	c.daemons = true;
	m = machine_make(&c);
	lay_begin(m);
	lay(m, 512, "16384(fA)");
	lay_end(m);
	assert_int_equal(model_task(m, 0, &task), 0);
	old = touched(m, task, 512, ADVISE_NOHUGEPAGE);
	model_advise(m, old, ADVISE_HUGEPAGE);
	assert_int_equal(model_mmap(m, task, 512 * 4096, ADVISE_HUGEPAGE, &fresh), 0);
	clock_wake_at(m, m->khugepaged.actor, m->clock.now + 20000);
	record(m, runs, TRACE_COMPACT_END);
	op = (struct op){.kind = OP_TOUCH, .region = fresh, .count = 1, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	record_stop(m);
	/* khugepaged's ends inside the task's first, which goes on where it was. */
	assert_int_equal(runs->nr, 2);
	assert_true(runs->ev[1].time < runs->ev[0].time);
	assert_int_equal(runs->ev[0].status, COMPACT_SUCCESS);
	assert_int_equal(runs->ev[0].migrate_pfn, 0x600);
	assert_int_equal(op.huge_pages[0], 1);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC), 1);
	assert_int_equal(counter(m, VM_COMPACT_SUCCESS), 2);
	free(runs);
	machine_end(m);
}

static void test_what_khugepaged_reclaims_is_counted_as_its_own(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, NODE_PAGES);
	region_id region;
	struct model *m;
	int64_t direct;
	task_id task;

	(void)state;
	c.thp.enabled = THP_ENABLED_MADVISE;
	c.daemons = true;
	m = machine_make(&c);
	lay_begin(m);
	lay(m, 512, "14336(CK) 1024(KKKf)");
	lay_end(m);
	assert_int_equal(model_task(m, 0, &task), 0);
	region = touched(m, task, 512, ADVISE_NOHUGEPAGE);
	direct = counter(m, VM_PGSCAN_DIRECT); /* by the faults */
	assert_int_equal(counter(m, VM_PGSCAN_KHUGEPAGED), 0);
	model_advise(m, region, ADVISE_HUGEPAGE);
	model_sleep(m, 11000000000ull);
	assert_true(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED) > 0);
	assert_true(counter(m, VM_PGSCAN_KHUGEPAGED) >= 32);
	assert_int_equal(counter(m, VM_PGSTEAL_KHUGEPAGED), counter(m, VM_PGSCAN_KHUGEPAGED));
	assert_int_equal(counter(m, VM_PGSCAN_DIRECT), direct);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_remote_huge_page_costs_one_failed_compaction),
		cmocka_unit_test(test_no_huge_page_anywhere_costs_three_stalls_and_a_reclaim),
		cmocka_unit_test(test_a_free_local_chunk_costs_nothing),
		cmocka_unit_test(test_without_advice_a_page_is_a_page),
		cmocka_unit_test(test_interleave_has_no_local_first_attempt),
		cmocka_unit_test(test_weighted_interleave_follows_its_weights),
		cmocka_unit_test(test_each_defrag_mode_has_its_gfp),
		cmocka_unit_test(test_orders_follow_settings_advice_and_range),
		cmocka_unit_test(test_smaller_orders_are_tried_when_the_large_one_fails),
		cmocka_unit_test(test_a_base_page_in_the_range_ends_its_huge_future),
		cmocka_unit_test(test_min_free_rises_with_the_settings_of_the_profile),
		cmocka_unit_test(test_a_partly_unmapped_huge_page_stays_whole_until_it_is_split),
		cmocka_unit_test(test_the_last_page_unmapped_frees_the_folio),
		cmocka_unit_test(test_a_read_of_an_empty_range_gets_the_one_huge_zero_page),
		cmocka_unit_test(test_a_pinned_huge_page_is_not_split_and_that_is_counted),
		cmocka_unit_test(test_collapse_makes_one_page_of_512),
		cmocka_unit_test(test_khugepaged_finds_advised_ranges_by_itself),
		cmocka_unit_test(test_khugepaged_sleeps_once_and_then_ends_the_pass),
		cmocka_unit_test(test_khugepaged_compacts_inside_the_run_of_a_task),
		cmocka_unit_test(test_what_khugepaged_reclaims_is_counted_as_its_own),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
