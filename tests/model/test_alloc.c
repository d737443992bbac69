/* SPDX-License-Identifier: MIT */
/* The fast path: flags, the walk over the zones, counters of one allocation. */
#include "harness.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/memmap.h"
#include "model/pcp.h"

#define NOWAIT_MOVABLE (GFP_HIGHUSER_MOVABLE & ~(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM))

static struct alloc_context context_of(struct model *m, gfp_t gfp, unsigned order, unsigned node)
{
	struct alloc_context ac;

	alloc_context_init(m, &ac, gfp, order, (node_id){(uint8_t)node}, NODEMASK_NONE);
	return ac;
}

/* Two nodes; node 0 has DMA32 below its Normal zone, node 1 Normal only. */
static struct model *numa(enum profile_id profile)
{
	struct model_config c = quiet_config(profile, 512);

	c.nr_nodes = 2;
	c.node[1].cpus = 1;
	c.nr_zones = 3;
	c.zone[0] = (struct zone_config){.class = ZONE_DMA32, .start_pfn = 4096, .spanned = 8192};
	c.zone[1] =
		(struct zone_config){.class = ZONE_NORMAL, .start_pfn = 16384, .spanned = 65536};
	c.zone[2] = (struct zone_config){.node = 1,
					 .class = ZONE_NORMAL,
					 .start_pfn = 131072,
					 .spanned = 65536};
	return machine_make(&c);
}

/* Takes pages off a zone until `left` are free; they stay held. */
static void use_up(struct model *m, struct zone *z, int64_t left)
{
	while (zone_free_pages(z) > left) {
		unsigned order = PAGEBLOCK_ORDER + 1;
		pfn_t pfn = PFN_NONE;

		while (pfn == PFN_NONE && order-- > 0) {
			for (int type = 0; type < MIGRATE_PCPTYPES && pfn == PFN_NONE; type++) {
				if (zone_free_pages(z) - left >= 1 << order)
					pfn = buddy_take(m, z, order, (enum migratetype)type);
			}
		}
		assert_int_not_equal(pfn, PFN_NONE);
	}
}

/* ---- flags -------------------------------------------------------------------------------- */

static void test_nofragment_by_preferred_zone(void **state)
{
	struct model *m = numa(PROFILE_C);
	struct alloc_context ac;

	(void)state;
	ac = context_of(m, GFP_KERNEL, 0, 0);
	assert_int_equal(alloc_nofragment(m, &ac, ac.gfp), ALLOC_NOFRAGMENT | ALLOC_KSWAPD);
	/* A second node without DMA32 of its own does not get it. */
	ac = context_of(m, GFP_KERNEL, 0, 1);
	assert_int_equal(alloc_nofragment(m, &ac, ac.gfp), ALLOC_KSWAPD);
	ac = context_of(m, __GFP_DMA32, 0, 0);
	assert_int_equal(alloc_nofragment(m, &ac, ac.gfp), 0);
	m->sysctl.defrag_mode = true;
	ac = context_of(m, __GFP_DMA32, 0, 1);
	assert_int_equal(alloc_nofragment(m, &ac, ac.gfp), ALLOC_NOFRAGMENT);
	machine_end(m);
}

static void test_nofragment_on_the_only_node_needs_no_dma32(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8192);
	struct alloc_context ac = context_of(m, GFP_TRANSHUGE, 9, 0);

	(void)state;
	assert_int_equal(alloc_nofragment(m, &ac, ac.gfp), ALLOC_NOFRAGMENT);
	machine_end(m);
}

static void test_slow_path_flags_of_usual_requests(void **state)
{
	static const struct {
		gfp_t gfp;
		unsigned order;
		alloc_flags_t want;
	} rows[] = {
		{GFP_KERNEL, 0, ALLOC_CPUSET | ALLOC_KSWAPD},
		{GFP_ATOMIC, 0, ALLOC_KSWAPD | ALLOC_MIN_RESERVE | ALLOC_NON_BLOCK},
		{GFP_ATOMIC, 2,
		 ALLOC_KSWAPD | ALLOC_MIN_RESERVE | ALLOC_NON_BLOCK | ALLOC_HIGHATOMIC},
		{GFP_NOWAIT, 3, ALLOC_CPUSET | ALLOC_KSWAPD | ALLOC_NON_BLOCK},
		{GFP_TRANSHUGE_LIGHT, 9, ALLOC_CPUSET | ALLOC_CMA},
		{GFP_TRANSHUGE, 9, ALLOC_CPUSET | ALLOC_CMA},
		{GFP_KERNEL | __GFP_HIGH, 2, ALLOC_CPUSET | ALLOC_KSWAPD | ALLOC_MIN_RESERVE},
	};
	struct model *m = machine_quiet(PROFILE_C, 8192);

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_int_equal(alloc_flags_slow(m, rows[i].gfp, rows[i].order), rows[i].want);
	machine_end(m);
	/* A kernel built without CMA never sets the flag. */
	m = machine_quiet(PROFILE_B, 8192);
	assert_int_equal(alloc_flags_slow(m, GFP_TRANSHUGE, 9), ALLOC_CPUSET);
	machine_end(m);
}

static void test_contexts_take_gfp_bits_away(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8192);
	struct recorded r;

	(void)state;
	record(m, &r, TRACE_PAGE_ALLOC);
	m->ctx.flags = CTX_LONGTERM;
	assert_int_not_equal(alloc_pages(m, GFP_HIGHUSER_MOVABLE, 0, NODE_NONE, NODEMASK_NONE),
			     PFN_NONE);
	m->ctx.flags = CTX_NOFS;
	assert_int_not_equal(alloc_pages(m, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	m->ctx.flags = CTX_NOIO;
	assert_int_not_equal(alloc_pages(m, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	assert_int_equal(r.ev[0].gfp, GFP_HIGHUSER_MOVABLE & ~__GFP_MOVABLE);
	assert_int_equal(r.ev[0].migratetype, MIGRATE_UNMOVABLE);
	assert_int_equal(r.ev[1].gfp, GFP_NOFS);
	assert_int_equal(r.ev[2].gfp, GFP_NOIO);
	assert_int_equal(alloc_pages(m, GFP_KERNEL, 11, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	model_destroy(m);
}

/* ---- counters ----------------------------------------------------------------------------- */

static void test_numa_counters_of_local_and_remote_pages(void **state)
{
	struct model *m = numa(PROFILE_C);
	struct zone *n0 = &m->zone[1], *n1 = &m->zone[2];
	pfn_t pfn = alloc_pages(m, NOWAIT_MOVABLE, 3, NODE_NONE, NODEMASK_NONE);

	(void)state;
	assert_ptr_equal(zone_of(m, pfn), n0);
	assert_int_equal(n0->stat[VM_NUMA_HIT], 1); /* one a call, whatever the order */
	assert_int_equal(n0->stat[VM_NUMA_LOCAL], 1);
	assert_int_equal(counter(m, VM_PGALLOC_NORMAL), 8);
	free_pages(m, pfn, 3);
	assert_int_equal(counter(m, VM_PGFREE), 8);

	/* Asked for node 1 from a CPU of node 0: what was asked for, not where the CPU is. */
	pfn = alloc_pages(m, NOWAIT_MOVABLE, 0, (node_id){1}, NODEMASK_NONE);
	assert_ptr_equal(zone_of(m, pfn), n1);
	assert_int_equal(n1->stat[VM_NUMA_HIT], 1);
	assert_int_equal(n1->stat[VM_NUMA_OTHER], 1);
	free_pages(m, pfn, 0);

	/* Node 0 is used up: node 1 counts the miss, the preferred zone was foreign. */
	use_up(m, n0, 10);
	use_up(m, &m->zone[0], 10);
	pfn = alloc_pages(m, NOWAIT_MOVABLE, 0, NODE_NONE, NODEMASK_NONE);
	assert_ptr_equal(zone_of(m, pfn), n1);
	assert_int_equal(n1->stat[VM_NUMA_MISS], 1);
	assert_int_equal(n0->stat[VM_NUMA_FOREIGN], 1);
	assert_int_equal(n1->stat[VM_NUMA_OTHER], 2);
	assert_int_equal(n0->stat[VM_NUMA_HIT], 1);
	model_destroy(m);
}

/* ---- the walk ----------------------------------------------------------------------------- */

static void test_a_chunk_on_a_per_cpu_list_does_not_pass_the_order_9_mark(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 65536);
	struct model *m;
	struct zone *z;
	struct alloc_context ac;
	pfn_t block[128];
	int64_t free;

	(void)state;
	c.pcp = true;
	m = machine_make(&c);
	z = &m->zone[0];
	/* Half of each block is in use but of the first and the last, which are not buddies. */
	for (int i = 0; i < 128; i++)
		block[i] = buddy_take(m, z, 9, MIGRATE_MOVABLE);
	for (int i = 0; i < 128; i++) {
		if (block[i] != 512 && block[i] != 65536) {
			memmap_set_held(m, block[i] + 256, 8);
			memmap_set_held(m, block[i], 8);
			buddy_free(m, z, block[i] + 256, 8, false);
		} else {
			buddy_free(m, z, block[i], 9, false);
		}
	}
	assert_int_equal(z->nr_chunks[9], 2);
	assert_int_equal(z->nr_chunks[10], 0);
	ac = context_of(m, GFP_TRANSHUGE, 9, 0);
	free = zone_free_pages(z);
	assert_int_not_equal(alloc_walk(m, 9, ALLOC_WMARK_LOW, &ac), PFN_NONE);
	assert_int_equal(zone_free_pages(z), free - 1024);
	assert_int_equal(z->pcp[0].list[PCP_LIST_THP_MOVABLE].nr, 1);
	assert_int_equal(alloc_walk(m, 9, ALLOC_WMARK_LOW, &ac), PFN_NONE);
	assert_int_equal(z->pcp[0].list[PCP_LIST_THP_MOVABLE].nr, 1);
	model_destroy(m);
}

static void test_the_walk_notes_a_zone_below_its_high_mark_and_takes_all_the_same(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 65536);
	struct zone *z = &m->zone[0];
	struct alloc_context ac = context_of(m, NOWAIT_MOVABLE, 0, 0);

	(void)state;
	assert_int_not_equal(alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac), PFN_NONE);
	assert_false(z->below_high);
	use_up(m, z, (int64_t)z->wmark[WMARK_HIGH]);
	assert_int_not_equal(alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac), PFN_NONE);
	assert_true(z->below_high);
	use_up(m, z, (int64_t)z->wmark[WMARK_LOW]);
	assert_int_equal(alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac), PFN_NONE);
	assert_int_not_equal(alloc_walk(m, 0, ALLOC_WMARK_MIN, &ac), PFN_NONE);
	use_up(m, z, 5);
	assert_int_equal(alloc_walk(m, 0, ALLOC_WMARK_MIN, &ac), PFN_NONE);
	assert_int_not_equal(alloc_walk(m, 0, ALLOC_NO_WATERMARKS, &ac), PFN_NONE);
	model_destroy(m);
}

static void test_locality_beats_grouping(void **state)
{
	struct model *m = numa(PROFILE_C);
	struct zone *n0 = &m->zone[1];
	struct alloc_context ac = context_of(m, GFP_KERNEL & ~__GFP_DIRECT_RECLAIM, 0, 0);
	pfn_t pfn;

	(void)state;
	/* Node 0 has free pages of the wrong type only, below block size; node 1 is untouched. */
	for (int i = 0; i < 2; i++) {
		struct zone *z = &m->zone[i];

		while (z->nr_chunks[9] || z->nr_chunks[10]) {
			pfn = buddy_take(m, z, 9, MIGRATE_MOVABLE);
			memmap_set_held(m, pfn + 256, 8);
			memmap_set_held(m, pfn, 8);
			buddy_free(m, z, pfn + 256, 8, false);
		}
	}
	/* Under defrag_mode the flag stays: a whole block is claimed on the other node. */
	m->sysctl.defrag_mode = true;
	pfn = alloc_walk(m, 0, ALLOC_WMARK_LOW | ALLOC_NOFRAGMENT, &ac);
	assert_ptr_equal(zone_of(m, pfn), &m->zone[2]);
	m->sysctl.defrag_mode = false;
	pfn = alloc_walk(m, 0, ALLOC_WMARK_LOW | ALLOC_NOFRAGMENT, &ac);
	assert_ptr_equal(zone_of(m, pfn), n0);
	model_destroy(m);
}

static void test_a_node_whose_kswapd_is_awake_is_passed_over_at_first(void **state)
{
	static const enum profile_id profiles[] = {PROFILE_A, PROFILE_B, PROFILE_C};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct model *m = numa(profiles[i]);
		struct alloc_context ac = context_of(m, NOWAIT_MOVABLE, 0, 0);
		pfn_t pfn;

		m->node[0].kswapd.state = DAEMON_RUNNING;
		pfn = alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac);
		assert_int_equal(zone_of(m, pfn)->node.v, profiles[i] == PROFILE_A ? 0 : 1);
		m->node[1].kswapd.state = DAEMON_RUNNING;
		pfn = alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac);
		assert_int_equal(zone_of(m, pfn)->node.v, 0);
		m->node[1].kswapd.state = DAEMON_SLEEPING;
		ac = context_of(m, NOWAIT_MOVABLE | __GFP_THISNODE, 0, 0);
		pfn = alloc_walk(m, 0, ALLOC_WMARK_LOW, &ac);
		assert_int_equal(zone_of(m, pfn)->node.v, 0);
		m->node[0].kswapd.state = DAEMON_SLEEPING;
		model_destroy(m);
	}
}

static void test_masks_and_thisnode_bound_the_walk(void **state)
{
	struct model *m = numa(PROFILE_C);

	(void)state;
	use_up(m, &m->zone[1], 0);
	use_up(m, &m->zone[0], 0);
	assert_int_equal(alloc_pages(m, NOWAIT_MOVABLE | __GFP_THISNODE, 0, NODE_NONE,
				     NODEMASK_NONE),
			 PFN_NONE);
	assert_int_equal(alloc_pages(m, NOWAIT_MOVABLE, 0, NODE_NONE, 1), PFN_NONE);
	assert_int_not_equal(alloc_pages(m, NOWAIT_MOVABLE, 0, NODE_NONE, 2), PFN_NONE);
	model_destroy(m);
}

/* ---- reserves ----------------------------------------------------------------------------- */

static void test_the_atomic_reserve_grows_by_kernel(void **state)
{
	static const enum profile_id profiles[] = {PROFILE_A, PROFILE_C};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct model_config c = quiet_config(profiles[i], 131072);
		struct model *m;
		struct zone *z;

		c.pcp = true;
		m = machine_make(&c);
		z = &m->zone[0];
		/* Plenty of memory: 7.3 serves it from the fast path and reserves nothing. */
		assert_int_not_equal(alloc_pages(m, GFP_ATOMIC, 2, NODE_NONE, NODEMASK_NONE),
				     PFN_NONE);
		assert_int_equal(z->nr_reserved_highatomic, 0);
		/* Between min and low: the slow path grants the request and reserves its block. */
		use_up(m, z, (int64_t)(z->wmark[WMARK_MIN] + z->wmark[WMARK_LOW]) / 2);
		pcp_drain_all(m, NULL);
		use_up(m, z, (int64_t)(z->wmark[WMARK_MIN] + z->wmark[WMARK_LOW]) / 2);
		assert_int_not_equal(alloc_pages(m, GFP_ATOMIC, 2, NODE_NONE, NODEMASK_NONE),
				     PFN_NONE);
		assert_int_equal(z->nr_reserved_highatomic, 512);
		if (profiles[i] == PROFILE_C) /* the lists were not filled for it */
			assert_int_equal(pcp_zone_pages(m, z), 0);
		model_destroy(m);
	}
}

static void test_non_blocking_order_0_falls_back_on_the_atomic_reserve(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 131072);
	struct zone *z = &m->zone[0];
	pfn_t pfn = buddy_take(m, z, 0, MIGRATE_MOVABLE);

	(void)state;
	buddy_reserve_highatomic(m, z, pfn, 2);
	use_up(m, z, (int64_t)z->nr_free_highatomic);
	assert_true(z->nr_free_highatomic > 0);
	z->wmark[WMARK_MIN] = 100;
	assert_int_equal(alloc_pages(m, GFP_TRANSHUGE_LIGHT, 0, NODE_NONE, NODEMASK_NONE),
			 PFN_NONE);
	pfn = alloc_pages(m, GFP_NOWAIT, 0, NODE_NONE, NODEMASK_NONE);
	assert_int_equal(block_type(m, pfn), MIGRATE_HIGHATOMIC);
	model_destroy(m);
}

static void test_a_boost_wakes_kswapd_at_the_end_of_the_same_request(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 65536);
	struct model *m;
	struct zone *z;

	(void)state;
	c.daemons = true;
	m = machine_make(&c);
	z = &m->zone[0];
	while (z->nr_chunks[9] || z->nr_chunks[10]) {
		pfn_t pfn = buddy_take(m, z, 9, MIGRATE_MOVABLE);

		memmap_set_held(m, pfn + 256, 8);
		memmap_set_held(m, pfn, 8);
		buddy_free(m, z, pfn + 256, 8, false);
	}
	assert_int_not_equal(alloc_pages(m, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	assert_true(z->boost > 0);
	assert_false(z->boosted_wake);
	assert_int_not_equal(m->node[0].kswapd.state, DAEMON_SLEEPING);
	model_destroy(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nofragment_by_preferred_zone),
		cmocka_unit_test(test_nofragment_on_the_only_node_needs_no_dma32),
		cmocka_unit_test(test_slow_path_flags_of_usual_requests),
		cmocka_unit_test(test_contexts_take_gfp_bits_away),
		cmocka_unit_test(test_numa_counters_of_local_and_remote_pages),
		cmocka_unit_test(test_a_chunk_on_a_per_cpu_list_does_not_pass_the_order_9_mark),
		cmocka_unit_test(
			test_the_walk_notes_a_zone_below_its_high_mark_and_takes_all_the_same),
		cmocka_unit_test(test_locality_beats_grouping),
		cmocka_unit_test(test_a_node_whose_kswapd_is_awake_is_passed_over_at_first),
		cmocka_unit_test(test_masks_and_thisnode_bound_the_walk),
		cmocka_unit_test(test_the_atomic_reserve_grows_by_kernel),
		cmocka_unit_test(test_non_blocking_order_0_falls_back_on_the_atomic_reserve),
		cmocka_unit_test(test_a_boost_wakes_kswapd_at_the_end_of_the_same_request),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
