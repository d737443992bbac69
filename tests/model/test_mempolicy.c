/* SPDX-License-Identifier: MIT */
/* Which node a memory policy asks, in which order, and what an order-9 request tries first. */
#include "harness.h"

#include "model/alloc.h"
#include "model/memmap.h"
#include "model/mempolicy.h"

#define PAGES (16u * PAGEBLOCK_PAGES)

/* Two nodes; the first `full` of them hold `pattern` throughout. */
static struct model *nodes(const char *pattern, unsigned first, unsigned full)
{
	struct model *m = machine_two_nodes(PROFILE_C, PAGES);

	lay_begin(m);
	for (unsigned n = first; n < first + full; n++) {
		for (pfn_t pfn = m->zone[n].start_pfn; pfn < m->zone[n].end_pfn;
		     pfn += PAGEBLOCK_PAGES)
			lay(m, pfn, pattern);
	}
	lay_end(m);
	return m;
}

static struct mempolicy policy(enum mpol_mode mode, nodemask_t mask, node_id home)
{
	return (struct mempolicy){.mode = mode, .nodes = mask, .home = home};
}

/* The node of the page that the policy gets, -1: none. */
static int node_got(struct model *m, gfp_t gfp, unsigned order, const struct mempolicy *pol,
		    uint64_t ilx)
{
	pfn_t page = mempolicy_alloc(m, gfp, order, pol, ilx);
	int node = page == PFN_NONE ? -1 : zone_of(m, page)->node.v;

	if (page != PFN_NONE)
		free_pages(m, page, order);
	return node;
}

static void test_a_home_node_comes_first(void **state)
{
	static const enum mpol_mode modes[] = {MPOL_BIND, MPOL_PREFERRED_MANY};
	struct model *m = nodes("512f", 0, 0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct mempolicy pol = policy(modes[i], 3, NODE_NONE);

		assert_int_equal(node_got(m, GFP_HIGHUSER_MOVABLE, 0, &pol, 0), 0);
		pol.home = (node_id){1};
		assert_int_equal(node_got(m, GFP_HIGHUSER_MOVABLE, 0, &pol, 0), 1);
	}
	machine_end(m);
}

static void test_requests_for_low_zones_are_not_bound(void **state)
{
	struct model_config c = two_nodes_config(PROFILE_C, PAGES);
	struct mempolicy pol = policy(MPOL_BIND, 2, NODE_NONE);
	struct model *m;

	(void)state;
	c.zone[0].class = ZONE_DMA32;
	m = machine_make(&c);
	assert_int_equal(node_got(m, GFP_KERNEL | __GFP_DMA32, 0, &pol, ILX_NONE), 0);
	assert_int_equal(node_got(m, GFP_KERNEL, 0, &pol, ILX_NONE), 1);
	machine_end(m);
}

static void test_preferred_nodes_are_not_reclaimed_while_another_has_memory(void **state)
{
	struct model *m = nodes("512C", 1, 1);
	struct mempolicy pol = policy(MPOL_PREFERRED_MANY, 2, NODE_NONE);

	(void)state;
	assert_int_equal(node_got(m, GFP_HIGHUSER_MOVABLE, 0, &pol, 0), 0);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 0);
	machine_end(m);
}

static void test_without_an_index_a_task_goes_round_by_itself(void **state)
{
	static const int want[] = {1, 0, 1, 0}, want_weighted[] = {1, 0, 0, 0, 1, 0};
	struct mempolicy pol = policy(MPOL_INTERLEAVE, 3, NODE_NONE);
	struct model *m = nodes("512f", 0, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(node_got(m, GFP_KERNEL, 0, &pol, ILX_NONE), want[i]);
	pol.mode = MPOL_WEIGHTED_INTERLEAVE;
	pol.weight[0] = 3;
	for (size_t i = 0; i < sizeof(want_weighted) / sizeof(want_weighted[0]); i++)
		assert_int_equal(node_got(m, GFP_KERNEL, 0, &pol, ILX_NONE), want_weighted[i]);
	machine_end(m);
}

static void test_with_an_index_the_place_decides(void **state)
{
	struct region r = {.pgoff = 3 * 512, .inode = 40};

	(void)state;
	/* A huge page is one step, whatever part of it is touched. */
	assert_int_equal(mempolicy_ilx_anon(&r, 2 * 512, 9), 5);
	assert_int_equal(mempolicy_ilx_anon(&r, 2 * 512 + 511, 9), 5);
	assert_int_equal(mempolicy_ilx_anon(&r, 7, 0), 3 * 512 + 7);
	assert_int_equal(mempolicy_ilx_shmem(&r, 2 * 512, 9), 42);
}

static void test_only_the_node_that_was_meant_is_an_interleave_hit(void **state)
{
	struct model *m = nodes("512K", 1, 1);
	struct mempolicy pol = policy(MPOL_INTERLEAVE, 3, NODE_NONE);

	(void)state;
	assert_int_equal(node_got(m, GFP_KERNEL, 0, &pol, 1), 0);
	assert_int_equal(m->zone[0].stat[VM_NUMA_INTERLEAVE], 0);
	assert_int_equal(node_got(m, GFP_KERNEL, 0, &pol, 0), 0);
	assert_int_equal(m->zone[0].stat[VM_NUMA_INTERLEAVE], 1);
	machine_end(m);
}

static void test_order_9_of_a_mapping_tries_its_node_alone_first(void **state)
{
	static const struct {
		uint64_t ilx;
		gfp_t gfp;
		int node, stalls;
	} rows[] = {
		{0, GFP_TRANSHUGE, 1, 1},
		/* Without an index the other node's free block is taken at once. */
		{ILX_NONE, GFP_TRANSHUGE, 1, 0},
		/* A request that may not reclaim leaves it at the first try. */
		{0, GFP_TRANSHUGE_LIGHT, -1, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct model *m = nodes("256(fP)", 0, 1);
		struct mempolicy pol = policy(MPOL_DEFAULT, 0, NODE_NONE);

		assert_int_equal(node_got(m, rows[i].gfp, 9, &pol, rows[i].ilx), rows[i].node);
		assert_int_equal(counter(m, VM_COMPACT_STALL), rows[i].stalls);
		machine_end(m);
	}
}

static void test_order_9_does_not_try_a_node_outside_of_its_mask(void **state)
{
	struct model *m = nodes("512f", 0, 0);
	struct mempolicy pol = policy(MPOL_BIND, 2, NODE_NONE);

	(void)state;
	assert_int_equal(node_got(m, GFP_TRANSHUGE, 9, &pol, 0), 1);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_home_node_comes_first),
		cmocka_unit_test(test_requests_for_low_zones_are_not_bound),
		cmocka_unit_test(test_preferred_nodes_are_not_reclaimed_while_another_has_memory),
		cmocka_unit_test(test_without_an_index_a_task_goes_round_by_itself),
		cmocka_unit_test(test_with_an_index_the_place_decides),
		cmocka_unit_test(test_only_the_node_that_was_meant_is_an_interleave_hit),
		cmocka_unit_test(test_order_9_of_a_mapping_tries_its_node_alone_first),
		cmocka_unit_test(test_order_9_does_not_try_a_node_outside_of_its_mask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
