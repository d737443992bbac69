/* SPDX-License-Identifier: MIT */
/* Direct reclaim, kswapd, swapping, dropping caches: who frees what, and what is counted. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/kcompactd.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/reclaim.h"
#include "model/watermark.h"

#define PAGES  (64u * PAGEBLOCK_PAGES)
#define SECOND 1000000000ull

static struct alloc_context context(struct model *m, gfp_t gfp)
{
	return (struct alloc_context){
		.gfp = gfp,
		.class = gfp_zone(gfp),
		.type = gfp_migratetype(gfp),
		.zonelist = &m->node[0].zonelist[ZONELIST_FALLBACK],
		.nodemask = NODEMASK_NONE,
	};
}

static struct model *machine_with_daemons(enum profile_id profile, uint64_t swap_mib)
{
	struct model_config c = quiet_config(profile, PAGES);

	c.daemons = true;
	c.swap_mib = swap_mib;
	return machine_make(&c);
}

/* ---- direct ------------------------------------------------------------------------------- */

static void test_nothing_to_reclaim_counts_two_stalls_and_frees_nothing(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context kernel = context(m, GFP_KERNEL);
	struct alloc_context user = context(m, GFP_HIGHUSER_MOVABLE);

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fAKA)");
	lay_end(m);
	assert_int_equal(reclaim_try_to_free(m, &kernel, 0), 0);
	assert_int_equal(counter(m, VM_ALLOCSTALL_NORMAL), 2);
	assert_int_equal(reclaim_try_to_free(m, &user, 0), 0);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 2);
	/* Without swap nobody looks at anonymous pages. */
	assert_int_equal(counter(m, VM_PGSCAN_ANON), 0);
	machine_end(m);
}

static void test_clean_cache_is_freed_at_least_32_pages_at_a_time(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context ac = context(m, GFP_HIGHUSER_MOVABLE);
	uint64_t before, freed;

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fCKA)");
	lay_end(m);
	before = count_free(&m->zone[0]);
	freed = reclaim_try_to_free(m, &ac, 0);
	assert_true(freed >= 32 && freed < 64);
	assert_int_equal(count_free(&m->zone[0]), before + freed);
	assert_int_equal(counter(m, VM_PGSTEAL_DIRECT), freed);
	assert_int_equal(counter(m, VM_PGSTEAL_FILE), freed);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 1);
	machine_end(m);
}

static void test_dirty_and_pinned_cache_stays(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context ac = context(m, GFP_HIGHUSER_MOVABLE);

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fDRW)");
	lay_end(m);
	assert_int_equal(reclaim_try_to_free(m, &ac, 0), 0);
	assert_int_equal(counter(m, VM_PGSTEAL_FILE), 0);
	assert_true(counter(m, VM_PGSCAN_FILE) > 0);
	machine_end(m);
}

/* Node 0 is full of kernel pages, node 1 of `cache` pages of clean cache and kernel pages. */
static struct model *near_reclaim(uint16_t cpus, uint8_t distance, unsigned cache)
{
	struct model_config c = two_nodes_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct model *m;

	c.node[1].cpus = cpus;
	c.node[0].distance[0] = c.node[1].distance[1] = 10;
	c.node[0].distance[1] = c.node[1].distance[0] = distance;
	c.sysctl.zone_reclaim_mode = 1;
	m = machine_make(&c);
	lay_begin(m);
	lay(m, m->zone[0].start_pfn, "8192K");
	for (pfn_t pfn = m->zone[1].start_pfn; pfn < m->zone[1].end_pfn; pfn++)
		lay(m, pfn, pfn - m->zone[1].start_pfn < cache ? "C" : "K");
	lay_end(m);
	return m;
}

static void test_zone_reclaim_mode_reclaims_near_nodes_that_nobody_runs_on(void **state)
{
	static const struct {
		uint16_t cpus;
		uint8_t distance;
		unsigned cache;
		bool tried;
	} rows[] = {
		{0, 20, 4096, true},
		{0, 30, 4096, true},
		{0, 31, 4096, false},
		{1, 20, 4096, false},
		/* One percent of 8192 pages is not worth it, one page more is. */
		{0, 20, 81, false},
		{0, 20, 82, true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct model *m = near_reclaim(rows[i].cpus, rows[i].distance, rows[i].cache);
		pfn_t page = alloc_pages(m, GFP_HIGHUSER_MOVABLE, 0, NODE_NONE, NODEMASK_NONE);

		assert_int_equal(counter(m, VM_ZONE_RECLAIM_SUCCESS) +
						 counter(m, VM_ZONE_RECLAIM_FAILED) >
					 0,
				 rows[i].tried);
		if (page != PFN_NONE)
			free_pages(m, page, 0);
		machine_end(m);
	}
}

static void test_pages_of_zones_above_the_request_are_skipped_and_counted(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct alloc_context ac;
	struct model *m;

	(void)state;
	c.nr_zones = 2;
	c.zone[1] = c.zone[0];
	c.zone[0].class = ZONE_DMA32;
	c.zone[1].start_pfn = c.zone[0].start_pfn + 16 * PAGEBLOCK_PAGES;
	m = machine_make(&c);
	lay_begin(m);
	/* The oldest on the list are those of the higher zone. */
	lay(m, m->zone[1].start_pfn, "8192C");
	lay(m, m->zone[0].start_pfn, "8192C");
	lay_end(m);
	ac = context(m, GFP_KERNEL | __GFP_DMA32);
	assert_true(reclaim_try_to_free(m, &ac, 0) > 0);
	assert_true(counter(m, VM_PGSKIP_NORMAL) > 0);
	assert_int_equal(m->zone[1].stat[VM_NR_ZONE_INACTIVE_FILE] +
				 m->zone[1].stat[VM_NR_ZONE_ACTIVE_FILE],
			 8192);
	machine_end(m);
}

static void test_a_costly_request_stops_when_compaction_is_ready(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context ac = context(m, GFP_HIGHUSER_MOVABLE);

	(void)state;
	ac.order = 9;
	lay_begin(m);
	lay(m, 512, "8192(fCfC)");
	lay_end(m);
	assert_int_equal(reclaim_try_to_free(m, &ac, 9), 1);
	assert_int_equal(counter(m, VM_PGSCAN_DIRECT), 0);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 1);
	machine_end(m);
}

static void test_with_swap_anonymous_pages_go_and_come_back(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct model *m;
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	c.swap_mib = 32;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 9000 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 9000, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, 0);
	assert_true(counter(m, VM_PSWPOUT) >= 9000 - 8192);
	assert_int_equal(m->swap_used, counter(m, VM_PSWPOUT));
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 9000, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_true(counter(m, VM_PSWPIN) > 0);
	model_munmap(m, region);
	assert_int_equal(m->swap_used, 0);
	machine_end(m);
}

/* Huge pages go to swap whole; the last of the room takes them in pieces. */
static void test_huge_pages_are_swapped_whole_as_long_as_they_fit(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct model *m;
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	c.swap_mib = 5; /* 1280 pages: two huge ones and half of one */
	c.thp.enabled = THP_ENABLED_ALWAYS;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 9216 * 4096, ADVISE_NONE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 9216, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_THP_SWPOUT), 2);
	assert_int_equal(counter(m, VM_THP_SWPOUT_FALLBACK), 1);
	assert_int_equal(counter(m, VM_PSWPOUT), 1280);
	assert_int_equal(m->swap_used, 1280);
	machine_end(m);
}

static void test_an_oom_kill_ends_the_operation(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	region_id region;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_mmap(m, task, 9000 * 4096, ADVISE_NOHUGEPAGE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 9000, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, -12);
	assert_true(op.done > 7000 && op.done < 8192);
	assert_int_equal(counter(m, VM_OOM_KILL), 1);
	model_task_exit(m, task);
	assert_int_equal(counter(m, VM_NR_ANON_PAGES), 0);
	machine_end(m);
}

/* ---- kswapd ------------------------------------------------------------------------------- */

/* Further check: an order-9 request that may wake kswapd, on a node without such a chunk. */
static void order_9_wakes_both(enum profile_id profile, int64_t least)
{
	struct model *m = machine_with_daemons(profile, 0);
	struct recorded *wakes = malloc(sizeof(*wakes));
	pfn_t page;

	lay_begin(m);
	lay(m, 512, "8192(fCCK)");
	lay_end(m);
	assert_true(kswapd_balanced(m, &m->node[0], 0, ZONE_MOVABLE));
	record(m, wakes, TRACE_WAKEUP_KCOMPACTD);
	page = alloc_pages(m, GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM, 9, (node_id){0},
			   NODEMASK_NONE);
	assert_int_equal(page, PFN_NONE);
	assert_true(kswapd_is_awake(&m->node[0]));
	model_sleep(m, SECOND);
	record_stop(m);
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 1);
	assert_true(counter(m, VM_PGSTEAL_KSWAPD) >= least);
	assert_true(wakes->nr >= 1);
	assert_int_equal(wakes->ev[0].order, 9);
	assert_false(kswapd_is_awake(&m->node[0]));
	free(wakes);
	machine_end(m);
}

static void test_order_9_wakes_kswapd_which_frees_the_gap_and_wakes_kcompactd(void **state)
{
	(void)state;
	order_9_wakes_both(PROFILE_A, 1024);
	order_9_wakes_both(PROFILE_B, 1024);
	order_9_wakes_both(PROFILE_C, 32);
}

static void test_a_balanced_node_wakes_kcompactd_only_for_callers_who_may_not_reclaim(void **state)
{
	struct model *m = machine_with_daemons(PROFILE_C, 0);
	struct zone *z = &m->zone[0];

	(void)state;
	kswapd_wake(m, z, GFP_KERNEL, 9, ZONE_NORMAL);
	assert_false(kswapd_is_awake(&m->node[0]));
	assert_int_equal(m->node[0].kcompactd.max_order, 0);
	kswapd_wake(m, z, GFP_ATOMIC, 9, ZONE_NORMAL);
	assert_false(kswapd_is_awake(&m->node[0]));
	assert_int_equal(m->node[0].kcompactd.max_order, 9);
	/* The request itself is remembered in both cases. */
	assert_int_equal(m->node[0].kswapd.pending_order, 9);
	machine_end(m);
}

/* A node where nothing can be freed: every run fails until it is hopeless. */
static struct model *hopeless_machine(enum profile_id profile)
{
	struct model *m = machine_with_daemons(profile, 0);

	lay_begin(m);
	lay(m, 512, "8192(fAKA)");
	lay_end(m);
	for (int i = 0; i < 20; i++) {
		kswapd_wake(m, &m->zone[0], GFP_KERNEL, 9, ZONE_MOVABLE);
		model_sleep(m, 10 * SECOND);
	}
	return m;
}

static void test_sixteen_fruitless_runs_make_a_node_hopeless(void **state)
{
	struct model *m = hopeless_machine(PROFILE_C);

	(void)state;
	assert_true(kswapd_is_hopeless(&m->node[0]));
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 16);
	machine_end(m);
}

static void test_progress_gives_hope_to_old_kernels_and_balance_to_new_ones(void **state)
{
	struct model *a = hopeless_machine(PROFILE_A), *c = hopeless_machine(PROFILE_C);

	(void)state;
	kswapd_progress(a, &a->node[0], 9, ZONE_MOVABLE);
	kswapd_progress(c, &c->node[0], 9, ZONE_MOVABLE);
	assert_false(kswapd_is_hopeless(&a->node[0]));
	assert_true(kswapd_is_hopeless(&c->node[0]));
	kswapd_progress(c, &c->node[0], 0, ZONE_MOVABLE);
	assert_false(kswapd_is_hopeless(&c->node[0]));
	machine_end(a);
	machine_end(c);
}

static void test_a_boosted_run_takes_its_boost_away_and_asks_for_blocks(void **state)
{
	struct model *m = machine_with_daemons(PROFILE_C, 0);
	struct zone *z = &m->zone[0];

	(void)state;
	assert_true(watermark_boost(m, z));
	assert_true(z->boost > 0);
	kswapd_wake(m, z, 0, 0, ZONE_NORMAL);
	assert_true(kswapd_is_awake(&m->node[0]));
	model_sleep(m, SECOND);
	assert_int_equal(z->boost, 0);
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 1);
	machine_end(m);
}

static void test_writing_more_than_memory_holds_keeps_going(void **state)
{
	struct model *m = machine_with_daemons(PROFILE_C, 0);
	region_id file;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_file(m, 3ull * PAGES * 4096, 4, &file), 0);
	op = (struct op){.kind = OP_WRITE, .region = file, .count = 3 * PAGES};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, 0);
	assert_int_equal(op.done, 3 * PAGES);
	assert_true(counter(m, VM_PGSTEAL_KSWAPD) > 0);
	assert_true(counter(m, VM_NR_WRITTEN) > (int64_t)PAGES);
	assert_int_equal(counter(m, VM_OOM_KILL), 0);
	machine_end(m);
}

/* ---- drop_caches -------------------------------------------------------------------------- */

static void test_drop_caches_takes_what_is_clean(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct op op = {.kind = OP_DROP_CACHES, .what = 1};
	task_id task;

	(void)state;
	lay_begin(m);
	lay(m, 512, "1000(CDSA)");
	lay_end(m);
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(counter(m, VM_NR_INACTIVE_FILE), 1000);
	assert_int_equal(counter(m, VM_NR_DIRTY), 1000);
	assert_int_equal(counter(m, VM_NR_SHMEM), 1000);
	assert_int_equal(counter(m, VM_DROP_PAGECACHE), 1);
	assert_int_equal(counter(m, VM_DROP_SLAB), 0);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing_to_reclaim_counts_two_stalls_and_frees_nothing),
		cmocka_unit_test(test_clean_cache_is_freed_at_least_32_pages_at_a_time),
		cmocka_unit_test(test_dirty_and_pinned_cache_stays),
		cmocka_unit_test(test_zone_reclaim_mode_reclaims_near_nodes_that_nobody_runs_on),
		cmocka_unit_test(test_pages_of_zones_above_the_request_are_skipped_and_counted),
		cmocka_unit_test(test_a_costly_request_stops_when_compaction_is_ready),
		cmocka_unit_test(test_with_swap_anonymous_pages_go_and_come_back),
		cmocka_unit_test(test_huge_pages_are_swapped_whole_as_long_as_they_fit),
		cmocka_unit_test(test_an_oom_kill_ends_the_operation),
		cmocka_unit_test(test_order_9_wakes_kswapd_which_frees_the_gap_and_wakes_kcompactd),
		cmocka_unit_test(
			test_a_balanced_node_wakes_kcompactd_only_for_callers_who_may_not_reclaim),
		cmocka_unit_test(test_sixteen_fruitless_runs_make_a_node_hopeless),
		cmocka_unit_test(test_progress_gives_hope_to_old_kernels_and_balance_to_new_ones),
		cmocka_unit_test(test_a_boosted_run_takes_its_boost_away_and_asks_for_blocks),
		cmocka_unit_test(test_writing_more_than_memory_holds_keeps_going),
		cmocka_unit_test(test_drop_caches_takes_what_is_clean),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
