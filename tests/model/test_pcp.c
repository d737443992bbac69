/* SPDX-License-Identifier: MIT */
/* Per-CPU lists: sizes, refill amounts, flushes, drains, decay. */
#include "harness.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/memmap.h"
#include "model/pcp.h"
#include "model/stats.h"

/* One Normal zone with these marks' min_free_kbytes; pcp on, everything else quiet. */
static struct model *zone_with_lists(enum profile_id profile, uint64_t pages,
				     uint64_t min_free_kbytes, uint32_t high_fraction)
{
	struct model_config c = quiet_config(profile, pages);

	c.pcp = true;
	c.zone[0].start_pfn = 1048576;
	c.sysctl.min_free_kbytes = min_free_kbytes;
	c.sysctl.percpu_pagelist_high_fraction = high_fraction;
	return machine_make(&c);
}

static pfn_t take(struct model *m, unsigned order)
{
	return alloc_pages(m, order ? GFP_TRANSHUGE : GFP_HIGHUSER_MOVABLE, order, NODE_NONE,
			   NODEMASK_NONE);
}

/* ---- sizes -------------------------------------------------------------------------------- */

static void test_batch_by_zone_size(void **state)
{
	static const struct {
		uint64_t pages;
		uint32_t batch;
	} rows[] = {{4096, 1}, {100000 / 512 * 512, 31}, {176128, 63}, {1048576, 63}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct model *m = zone_with_lists(PROFILE_C, rows[i].pages, 0, 0);
		const struct pcp *p = pcp_of(&m->zone[0], (cpu_id){0});

		assert_int_equal(p->batch, rows[i].batch);
		assert_true(p->high_min >= 4 * p->batch);
		machine_end(m);
	}
}

static void test_limits_are_shares_of_the_low_mark_and_of_an_eighth(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 1048576);
	struct model *m;

	(void)state;
	c.node[0].cpus = 4;
	c.sysctl.min_free_kbytes = 40000;
	m = machine_make(&c);
	/* min 10000, gap max(2500, 1048): low 12500; 12500 / 4 and 131072 / 4. */
	assert_int_equal(m->zone[0].pcp[3].high_min, 3125);
	assert_int_equal(m->zone[0].pcp[3].high_max, 32768);
	machine_end(m);
}

static void test_the_limits_of_a_node_without_cpus_are_shared_by_all_of_them(void **state)
{
	struct model_config c = two_nodes_config(PROFILE_C, 262144);
	struct model *m;

	(void)state;
	c.node[0].cpus = 4;
	c.node[1].cpus = 0;
	m = machine_make(&c);
	assert_int_equal(m->node[1].nr_cpus, 0);
	/* An eighth of 262144, shared by the four CPUs of the other node. */
	assert_int_equal(m->zone[1].pcp[0].high_max, 8192);
	machine_end(m);
}

/* ---- refill ------------------------------------------------------------------------------- */

static void test_refills_double_while_nobody_frees(void **state)
{
	static const int64_t want[] = {63, 126, 252, 504, 1008, 2016, 2016};
	struct model *m = zone_with_lists(PROFILE_C, 5394257, 59076, 0);
	struct zone *z = &m->zone[0];
	size_t refills = 0;

	(void)state;
	assert_int_equal(z->wmark[WMARK_LOW], 20163);
	while (refills < sizeof(want) / sizeof(want[0])) {
		int64_t before = zone_free_pages(z);

		assert_int_not_equal(take(m, 0), PFN_NONE);
		if (zone_free_pages(z) != before)
			assert_int_equal(before - zone_free_pages(z), want[refills++]);
	}
	assert_true(pcp_zone_is_valid(m, z));
	model_destroy(m);
}

static void test_a_free_halves_the_next_refill(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 5394257, 59076, 0);
	struct pcp *p = pcp_of(&m->zone[0], (cpu_id){0});
	pfn_t pfn = PFN_NONE;

	(void)state;
	while (p->alloc_factor < 3)
		pfn = take(m, 0);
	free_pages(m, pfn, 0);
	assert_int_equal(p->alloc_factor, 1);
	model_destroy(m);
}

static void test_pages_come_out_in_the_order_of_the_refill_and_freed_ones_first(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	pfn_t first = take(m, 0);
	pfn_t second = take(m, 0);

	(void)state;
	assert_int_equal(second, first + 1);
	free_pages(m, first, 0);
	assert_int_equal(take(m, 0), first);
	assert_int_equal(take(m, 0), second + 1);
	model_destroy(m);
}

static void test_a_huge_refill_takes_two_and_freed_ones_stay(void **state)
{
	static const int64_t want[] = {1024, 0, 1024, 0};
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	int64_t before;
	pfn_t page[4];

	(void)state;
	assert_true(z->pcp[0].high_min > 2048);
	for (int i = 0; i < 4; i++) {
		before = zone_free_pages(z);
		page[i] = take(m, 9);
		assert_int_equal(before - zone_free_pages(z), want[i]);
	}
	before = zone_free_pages(z);
	for (int i = 0; i < 4; i++)
		free_pages(m, page[i], 9);
	assert_int_equal(zone_free_pages(z), before);
	assert_int_equal(z->nr_chunks[9], 0); /* buddyinfo does not see them */
	assert_int_equal(pcp_zone_pages(m, z), 2048);
	pcp_drain_all(m, NULL);
	assert_int_equal(zone_free_pages(z), before + 2048);
	machine_end(m);
}

static void test_other_orders_pass_by_the_lists(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	static const unsigned orders[] = {4, 8, 10};

	(void)state;
	for (int i = 0; i < 3; i++) {
		int64_t before = zone_free_pages(z);
		pfn_t pfn = alloc_pages(m, GFP_KERNEL, orders[i], NODE_NONE, NODEMASK_NONE);

		assert_int_equal(before - zone_free_pages(z), 1 << orders[i]);
		free_pages(m, pfn, orders[i]);
		assert_int_equal(before, zone_free_pages(z));
	}
	assert_int_equal(pcp_zone_pages(m, z), 0);
	machine_end(m);
}

/* ---- flush -------------------------------------------------------------------------------- */

static void test_a_flush_of_huge_pages_by_kernel(void **state)
{
	static const struct {
		enum profile_id profile;
		uint32_t left;
	} rows[] = {{PROFILE_A, 2048}, {PROFILE_B, 2048}, {PROFILE_C, 0}};

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct model *m = zone_with_lists(rows[i].profile, 1032192, 40000, 256);
		struct zone *z = &m->zone[0];
		struct pcp *p = pcp_of(z, (cpu_id){0});
		pfn_t page[8];

		assert_int_equal(p->high_min, 4032);
		assert_int_equal(p->high_max, 4032);
		for (int k = 0; k < 8; k++)
			page[k] = buddy_take(m, z, 9, MIGRATE_MOVABLE);
		for (int k = 0; k < 8; k++) {
			assert_int_equal(p->count, 512 * k);
			free_pages(m, page[k], 9);
		}
		assert_int_equal(p->count, rows[i].left);
		assert_int_equal(zone_free_pages(z), 1032192 - rows[i].left);
		machine_end(m);
	}
}

static void test_a_freed_huge_page_goes_through_while_kswapd_runs(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	pfn_t page[2] = {buddy_take(m, z, 9, MIGRATE_MOVABLE),
			 buddy_take(m, z, 9, MIGRATE_MOVABLE)};
	int64_t before = zone_free_pages(z);

	(void)state;
	z->reclaim_active = true;
	free_pages(m, page[0], 9);
	assert_int_equal(zone_free_pages(z), before + 512);
	free_pages(m, page[1], 9);
	assert_int_equal(zone_free_pages(z), before + 1024);
	z->reclaim_active = false;
	machine_end(m);
}

static void test_a_flush_clears_below_high_when_the_zone_has_recovered(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	pfn_t page[512];

	(void)state;
	for (int i = 0; i < 512; i++)
		page[i] = buddy_take(m, z, 0, MIGRATE_MOVABLE);
	z->below_high = true;
	z->pcp[0].high_min = 252;
	z->pcp[0].high = 252;
	for (int i = 0; i < 512; i++)
		free_pages(m, page[i], 0);
	assert_false(z->below_high);
	machine_end(m);
}

static void test_a_burst_of_freed_small_chunks_empties_the_set(void **state)
{
	struct model *m = zone_with_lists(PROFILE_A, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	struct pcp *p = pcp_of(z, (cpu_id){0});
	pfn_t page[20];

	(void)state;
	for (int i = 0; i < 20; i++)
		page[i] = buddy_take(m, z, 3, MIGRATE_MOVABLE);
	/* Batch 63: eight frees of order 3 bring free_count to 64, the ninth meets it. */
	for (int i = 0; i < 8; i++)
		free_pages(m, page[i], 3);
	assert_int_equal(p->count, 64);
	free_pages(m, page[8], 3);
	assert_int_equal(p->count, 0);
	for (int i = 9; i < 20; i++)
		free_pages(m, page[i], 3);
	assert_int_equal(p->count, 0);
	machine_end(m);
}

static void test_with_a_large_cache_a_burst_flushes_only_what_fills_a_batch(void **state)
{
	struct model *m = zone_with_lists(PROFILE_A, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	struct pcp *p = pcp_of(z, (cpu_id){0});
	pfn_t page[20];

	(void)state;
	m->config.large_cpu_cache = true;
	for (int i = 0; i < 20; i++)
		page[i] = buddy_take(m, z, 3, MIGRATE_MOVABLE);
	for (int i = 0; i < 9; i++)
		free_pages(m, page[i], 3);
	assert_int_equal(p->count, 0);
	/* The burst goes on, but 56 pages are less than a batch of 63; 64 are not. */
	for (int i = 9; i < 16; i++)
		free_pages(m, page[i], 3);
	assert_int_equal(p->count, 56);
	free_pages(m, page[16], 3);
	assert_int_equal(p->count, 0);
	for (int i = 17; i < 20; i++)
		free_pages(m, page[i], 3);
	assert_int_equal(p->count, 24);
	machine_end(m);
}

static void test_a_full_set_raises_its_limit_by_what_was_freed_and_a_batch(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	struct pcp *p = pcp_of(z, (cpu_id){0});
	pfn_t page[252];

	(void)state;
	for (int i = 0; i < 252; i++)
		page[i] = buddy_take(m, z, 0, MIGRATE_MOVABLE);
	p->high_min = p->high = 252;
	for (int i = 0; i < 251; i++)
		free_pages(m, page[i], 0);
	assert_int_equal(p->high, 252);
	assert_int_equal(p->count, 251);
	free_pages(m, page[251], 0);
	/* 252 + 63; this flush still goes by the old limit: it gives back 252 - 63. */
	assert_int_equal(p->high, 315);
	assert_int_equal(p->count, 63);
	machine_end(m);
}

static void test_order_0_between_ends_the_burst(void **state)
{
	struct model *m = zone_with_lists(PROFILE_A, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	pfn_t page[9], small = buddy_take(m, z, 0, MIGRATE_MOVABLE);

	(void)state;
	for (int i = 0; i < 9; i++)
		page[i] = buddy_take(m, z, 3, MIGRATE_MOVABLE);
	for (int i = 0; i < 8; i++)
		free_pages(m, page[i], 3);
	free_pages(m, small, 0);
	free_pages(m, page[8], 3);
	assert_int_equal(z->pcp[0].count, 73);
	machine_end(m);
}

/* ---- types -------------------------------------------------------------------------------- */

static void test_freed_pages_go_by_their_block(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	pfn_t atomic = buddy_take(m, z, 0, MIGRATE_MOVABLE);
	pfn_t neighbour = buddy_take(m, z, 9, MIGRATE_MOVABLE);
	pfn_t huge = buddy_take(m, z, 9, MIGRATE_MOVABLE);
	int64_t before;

	(void)state;
	(void)buddy_retype_block(m, z, block_of(atomic), MIGRATE_HIGHATOMIC);
	free_pages(m, atomic, 0);
	assert_int_equal(z->pcp[0].list[MIGRATE_MOVABLE].nr, 1);
	(void)buddy_retype_block(m, z, block_of(huge), MIGRATE_RECLAIMABLE);
	free_pages(m, huge, 9);
	assert_int_equal(z->pcp[0].list[PCP_LIST_THP_OTHER].nr, 1);
	/* A drain uses the type the block has then. */
	(void)buddy_retype_block(m, z, block_of(atomic), MIGRATE_UNMOVABLE);
	pcp_drain_local(m, z);
	assert_int_equal(neighbour, atomic + 512);
	assert_free_list(m, z, 9, MIGRATE_UNMOVABLE, atomic, PFN_NONE);

	huge = buddy_take(m, z, 9, MIGRATE_MOVABLE);
	m->map.block[block_of(huge).v].bits |= BLOCK_ISOLATE;
	z->nr_isolated_blocks++;
	z->nr_blocks_of[MIGRATE_MOVABLE]--;
	z->nr_blocks_of[MIGRATE_ISOLATE]++;
	before = zone_free_pages(z);
	free_pages(m, huge, 9);
	assert_int_equal(zone_free_pages(z), before);
	assert_int_equal(pcp_zone_pages(m, z), 0);
	assert_int_equal(z->nr_chunks[9], 3);
	model_destroy(m);
}

/* ---- the tick ----------------------------------------------------------------------------- */

static void test_an_unused_limit_decays(void **state)
{
	struct model *m = zone_with_lists(PROFILE_C, 1048576, 40000, 0);
	struct zone *z = &m->zone[0];
	struct pcp *p = pcp_of(z, (cpu_id){0});

	(void)state;
	for (int i = 0; i < 30000; i++)
		(void)take(m, 0);
	p->high = 20000;
	for (pfn_t pfn = 0; p->count < 19000;) {
		pfn = buddy_take(m, z, 3, MIGRATE_MOVABLE);
		for (pfn_t k = 0; k < 8; k++) {
			memmap_set_held(m, pfn + k, 0);
			pcp_put(m, z, (cpu_id){0}, pfn + k, 0, MIGRATE_MOVABLE);
		}
	}
	pcp_tick(m);
	/* max(19000 - 2016, 20000 - 2500, 12500) = 17500: 1500 pages go back, in bulks of 63. */
	assert_int_equal(p->high, 17500);
	assert_int_equal(p->count, 17500);
	for (int i = 0; i < 40; i++)
		pcp_tick(m);
	assert_int_equal(p->high, p->high_min);
	assert_int_equal(p->count, p->high_min);
	model_destroy(m);
}

static void test_a_remote_zones_idle_set_is_drained_after_three_seconds(void **state)
{
	struct model_config c = two_nodes_config(PROFILE_C, 1048576);
	struct model *m;
	struct pcp *p;
	pfn_t pfn;

	(void)state;
	c.pcp = true;
	c.sysctl.min_free_kbytes = 40000;
	m = machine_make(&c);
	/* CPU 0 of node 0 takes and frees a page of node 1. */
	pfn = alloc_pages(m, GFP_HIGHUSER_MOVABLE, 0, (node_id){1}, NODEMASK_NONE);
	free_pages(m, pfn, 0);
	p = &m->zone[1].pcp[0];
	assert_int_equal(p->count, 63);
	pcp_tick(m); /* notes the activity: 3, 2 */
	pcp_tick(m); /* 1 */
	assert_int_equal(p->count, 63);
	pcp_tick(m);
	assert_int_equal(p->count, 0);
	/* A local set keeps its pages. */
	pfn = take(m, 0);
	free_pages(m, pfn, 0);
	for (int i = 0; i < 10; i++)
		pcp_tick(m);
	assert_int_equal(m->zone[0].pcp[0].count, 63);
	machine_end(m);
}

/* ---- random use --------------------------------------------------------------------------- */

static void random_use(enum profile_id profile)
{
	static struct {
		pfn_t pfn;
		unsigned order;
	} held[8192];
	static const unsigned orders[] = {0, 0, 0, 1, 2, 3, 5, 9};
	static const gfp_t gfps[] = {GFP_HIGHUSER_MOVABLE, GFP_KERNEL,
				     GFP_KERNEL | __GFP_RECLAIMABLE};
	struct model_config c = quiet_config(profile, 65536);
	struct model *m;
	struct rng rng;
	char why[256];
	uint32_t nr = 0;

	c.pcp = true;
	c.node[0].cpus = 2;
	m = machine_make(&c);
	rng_seed(&rng, 7, RNG_TEST);
	for (int i = 0; i < 60000; i++) {
		bool filling = i / 4000 % 2 == 0;

		m->ctx.cpu.v = (uint16_t)rng_below(&rng, 2);
		if (rng_below(&rng, 100) < (filling ? 70u : 30u)) {
			unsigned order = orders[rng_below(&rng, 8)];
			gfp_t gfp = gfps[rng_below(&rng, 3)] &
				    ~(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM);
			pfn_t pfn = alloc_pages(m, gfp, order, NODE_NONE, NODEMASK_NONE);

			if (pfn && nr < 8192) {
				held[nr].pfn = pfn;
				held[nr++].order = order;
			}
		} else if (nr) {
			uint32_t at = (uint32_t)rng_below(&rng, nr);

			free_pages(m, held[at].pfn, held[at].order);
			held[at] = held[--nr];
		}
		if (i % 1000 == 0)
			pcp_tick(m);
		if (i % 5000 == 0)
			pcp_drain_local(m, &m->zone[0]);
		if (i % 64 == 0 && !validate_lists(m, why, sizeof(why)))
			fail_msg("operation %d: %s", i, why);
	}
	while (nr) {
		nr--;
		free_pages(m, held[nr].pfn, held[nr].order);
	}
	pcp_drain_all(m, NULL);
	assert_int_equal(count_free(&m->zone[0]), 65536);
	machine_end(m);
}

static void test_lists_stay_sound_under_random_use(void **state)
{
	(void)state;
	random_use(PROFILE_A);
	random_use(PROFILE_C);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_batch_by_zone_size),
		cmocka_unit_test(test_limits_are_shares_of_the_low_mark_and_of_an_eighth),
		cmocka_unit_test(test_the_limits_of_a_node_without_cpus_are_shared_by_all_of_them),
		cmocka_unit_test(test_refills_double_while_nobody_frees),
		cmocka_unit_test(test_a_free_halves_the_next_refill),
		cmocka_unit_test(
			test_pages_come_out_in_the_order_of_the_refill_and_freed_ones_first),
		cmocka_unit_test(test_a_huge_refill_takes_two_and_freed_ones_stay),
		cmocka_unit_test(test_other_orders_pass_by_the_lists),
		cmocka_unit_test(test_a_flush_of_huge_pages_by_kernel),
		cmocka_unit_test(test_a_freed_huge_page_goes_through_while_kswapd_runs),
		cmocka_unit_test(test_a_flush_clears_below_high_when_the_zone_has_recovered),
		cmocka_unit_test(test_a_burst_of_freed_small_chunks_empties_the_set),
		cmocka_unit_test(test_with_a_large_cache_a_burst_flushes_only_what_fills_a_batch),
		cmocka_unit_test(test_a_full_set_raises_its_limit_by_what_was_freed_and_a_batch),
		cmocka_unit_test(test_order_0_between_ends_the_burst),
		cmocka_unit_test(test_freed_pages_go_by_their_block),
		cmocka_unit_test(test_an_unused_limit_decays),
		cmocka_unit_test(test_a_remote_zones_idle_set_is_drained_after_three_seconds),
		cmocka_unit_test(test_lists_stay_sound_under_random_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
