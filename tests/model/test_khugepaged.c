/* SPDX-License-Identifier: MIT */
/* When a range of base pages is collapsed and on which node; MADV_COLLAPSE; pages back from swap.
 */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/policy.h"
#include "model/thp.h"

#define PAGES (32u * PAGEBLOCK_PAGES)

static struct model *m;
static task_id task;
static region_id region;

/* An advised range of 512 base pages on two nodes: the first `away` on node 1. */
static void make(unsigned away)
{
	struct model_config c = two_nodes_config(PROFILE_C, PAGES);
	struct mempolicy far = {.mode = MPOL_BIND, .nodes = 2, .home = NODE_NONE};
	struct mempolicy near = {.mode = MPOL_BIND, .nodes = 1, .home = NODE_NONE};
	struct op op;

	c.thp.enabled = THP_ENABLED_MADVISE;
	c.swap_mib = 16;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 512 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	if (away) {
		model_region_policy(m, region, &far);
		op = (struct op){.kind = OP_TOUCH, .region = region, .count = away, .write = true};
		assert_int_equal(model_do(m, task, &op), 0);
	}
	if (away < 512) {
		model_region_policy(m, region, &near);
		op = (struct op){.kind = OP_TOUCH,
				 .region = region,
				 .index = away,
				 .count = 512 - away,
				 .write = true};
		assert_int_equal(model_do(m, task, &op), 0);
	}
	model_advise(m, region, ADVISE_HUGEPAGE);
}

static pfn_t page(uint64_t index)
{
	return owner_page(m, owner_region(m, region), index);
}

static void release(uint64_t first, uint64_t count)
{
	struct op op = {.kind = OP_RELEASE, .region = region, .index = first, .count = count};

	assert_int_equal(model_do(m, task, &op), 0);
}

static void test_more_holes_than_max_ptes_none_keep_a_range_as_it_is(void **state)
{
	(void)state;
	make(0);
	m->thp.max_ptes_none = 100;
	release(0, 101);
	assert_int_equal(khugepaged_collapse(m, region, 0, true), -EAGAIN);
	assert_int_equal(counter(m, VM_THP_SCAN_EXCEED_NONE_PTE), 1);
	m->thp.max_ptes_none = 101;
	assert_int_equal(khugepaged_collapse(m, region, 0, true), 0);
	machine_end(m);
	/* MADV_COLLAPSE does not ask. */
	make(0);
	m->thp.max_ptes_none = 100;
	release(0, 101);
	assert_int_equal(khugepaged_collapse(m, region, 0, false), 0);
	machine_end(m);
}

static void swap_out(uint64_t first, uint64_t count)
{
	for (uint64_t i = first; i < first + count; i++) {
		pfn_t pfn = page(i);

		lru_forget(m, pfn);
		owner_detach_to_swap(m, pfn, (uint32_t)i + 1);
		free_pages(m, pfn, 0);
	}
}

static void test_more_swapped_pages_than_max_ptes_swap_keep_a_range_as_it_is(void **state)
{
	(void)state;
	make(0);
	m->thp.max_ptes_swap = 64;
	swap_out(0, 65);
	assert_int_equal(khugepaged_collapse(m, region, 0, true), -EAGAIN);
	assert_int_equal(counter(m, VM_THP_SCAN_EXCEED_SWAP_PTE), 1);
	m->thp.max_ptes_swap = 65;
	assert_int_equal(khugepaged_collapse(m, region, 0, true), 0);
	machine_end(m);
}

static void test_a_page_comes_back_from_swap_alone(void **state)
{
	(void)state;
	make(0);
	release(1, 511);
	swap_out(0, 1);
	m->thp.size[4] = THP_SIZE_ALWAYS;
	assert_int_equal(thp_fault(m, owner_region(m, region), 0, true).order, 0);
	assert_int_equal(counter(m, VM_PSWPIN), 1);
	/* Its neighbours were never there. */
	assert_int_equal(thp_fault(m, owner_region(m, region), 16, true).order, 4);
	machine_end(m);
}

static void test_a_range_that_nobody_has_looked_at_is_left_alone(void **state)
{
	(void)state;
	make(0);
	for (uint64_t i = 0; i < 512; i++)
		memmap_flag_clear(m, page(i), PGF_YOUNG | PGF_REFERENCED);
	assert_int_equal(khugepaged_collapse(m, region, 0, true), -EAGAIN);
	assert_int_equal(khugepaged_collapse(m, region, 0, false), 0);
	machine_end(m);
}

static void test_one_pinned_page_keeps_its_range(void **state)
{
	struct op op;

	(void)state;
	make(0);
	op = (struct op){.kind = OP_PIN, .region = region, .index = 77, .count = 1};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(khugepaged_collapse(m, region, 0, true), -EAGAIN);
	assert_int_equal(khugepaged_collapse(m, region, 0, false), -EAGAIN);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC), 0);
	machine_end(m);
}

static void test_the_node_with_most_of_the_pages_gets_the_huge_one(void **state)
{
	static const struct {
		unsigned away, node;
	} rows[] = {{255, 0}, {256, 0}, {257, 1}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		make(rows[i].away);
		assert_int_equal(khugepaged_collapse(m, region, 0, false), 0);
		assert_int_equal(zone_of(m, page(0))->node.v, rows[i].node);
		machine_end(m);
	}
}

static void test_only_nodes_with_as_many_pages_may_help_out(void **state)
{
	(void)state;
	for (unsigned away = 255; away <= 256; away++) {
		make(away);
		/* Node 0 has no block left. */
		while (buddy_take(m, &m->zone[0], 9, MIGRATE_MOVABLE) != PFN_NONE)
			;
		assert_int_equal(khugepaged_collapse(m, region, 0, false),
				 away == 256 ? 0 : -ENOMEM);
		assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), away != 256);
		model_destroy(m);
	}
}

static void test_where_no_huge_page_is_to_be_had_a_smaller_one_is_made(void **state)
{
	(void)state;
	make(0);
	release(0, 32);
	m->thp.size[4] = THP_SIZE_ALWAYS;
	/* Nothing is left but these 32 pages, and marks do not keep them. */
	for (unsigned n = 0; n < 2; n++) {
		while (buddy_take(m, &m->zone[n], 9, MIGRATE_MOVABLE) != PFN_NONE)
			;
		memset(m->zone[n].wmark, 0, sizeof(m->zone[n].wmark));
	}
	assert_int_equal(khugepaged_collapse(m, region, 0, true), 0);
	assert_int_equal(counter(m, VM_THP_COLLAPSE_ALLOC_FAILED), 1);
	assert_int_equal(PG_ORDER(m->map.state[memmap_head(m, page(32))]), 4);
	assert_int_equal(page(0), PFN_NONE);
	model_destroy(m);
}

static void test_khugepaged_waits_for_memory_only_if_it_may(void **state)
{
	(void)state;
	make(0);
	assert_int_equal(m->policy->khugepaged_gfp(m, true), GFP_TRANSHUGE);
	m->thp.khugepaged_defrag = false;
	assert_int_equal(m->policy->khugepaged_gfp(m, true), GFP_TRANSHUGE_LIGHT);
	assert_int_equal(m->policy->khugepaged_gfp(m, false), GFP_TRANSHUGE);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_more_holes_than_max_ptes_none_keep_a_range_as_it_is),
		cmocka_unit_test(test_more_swapped_pages_than_max_ptes_swap_keep_a_range_as_it_is),
		cmocka_unit_test(test_a_page_comes_back_from_swap_alone),
		cmocka_unit_test(test_a_range_that_nobody_has_looked_at_is_left_alone),
		cmocka_unit_test(test_one_pinned_page_keeps_its_range),
		cmocka_unit_test(test_the_node_with_most_of_the_pages_gets_the_huge_one),
		cmocka_unit_test(test_only_nodes_with_as_many_pages_may_help_out),
		cmocka_unit_test(test_where_no_huge_page_is_to_be_had_a_smaller_one_is_made),
		cmocka_unit_test(test_khugepaged_waits_for_memory_only_if_it_may),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
