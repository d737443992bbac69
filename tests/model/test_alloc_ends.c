/* SPDX-License-Identifier: MIT */
/* The ends of the slow path and the corners of the walk: reserves, masks, kills, retries. */
#include "harness.h"

#include <string.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/memmap.h"
#include "model/reclaim.h"
#include "model/watermark.h"

#define PAGES 65536u

static struct alloc_context context_of(struct model *m, gfp_t gfp, unsigned order)
{
	struct alloc_context ac;

	alloc_context_init(m, &ac, gfp, order, NODE_NONE, NODEMASK_NONE);
	return ac;
}

/* `free` pages are free, the rest is the kernel's. */
static struct model *full(int64_t free)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	lay_begin(m);
	for (pfn_t pfn = m->zone[0].start_pfn + (pfn_t)free; pfn < m->zone[0].end_pfn; pfn++)
		lay(m, pfn, "K");
	lay_end(m);
	return m;
}

/* Every second page pinned. */
static struct model *pinned(void)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	lay_begin(m);
	lay(m, m->zone[0].start_pfn, "32768(fP)");
	lay_end(m);
	return m;
}

/* Takes what is free, to `left` pages; it stays held. */
static void use_up(struct model *m, struct zone *z, int64_t left)
{
	for (unsigned order = MAX_PAGE_ORDER + 1; order-- > 0;) {
		for (int type = 0; type < MIGRATE_PCPTYPES; type++) {
			while (zone_free_pages(z) - left >= 1 << order &&
			       buddy_take(m, z, order, (enum migratetype)type) != PFN_NONE)
				;
		}
	}
	assert_int_equal(zone_free_pages(z), left);
}

/* Cuts every free block in halves of which one is held. */
static void break_blocks(struct model *m, struct zone *z)
{
	while (z->nr_chunks[9] || z->nr_chunks[10]) {
		pfn_t pfn = buddy_take(m, z, 9, MIGRATE_MOVABLE);

		memmap_set_held(m, pfn + 256, 8);
		memmap_set_held(m, pfn, 8);
		buddy_free(m, z, pfn + 256, 8, false);
	}
}

/* ---- the last attempt, and the killer ----------------------------------------------------- */

/* A task that holds nearly all memory; what is free is below the high mark. */
static struct model *hog(task_id *task)
{
	struct model *m = machine_quiet(PROFILE_C, 16384);
	region_id region;
	struct op op;

	assert_int_equal(model_task(m, 0, task), 0);
	assert_int_equal(model_mmap(m, *task, 16384ull << 12, ADVISE_NONE, &region), 0);
	op = (struct op){.kind = OP_TOUCH,
			 .region = region,
			 .count = 16384,
			 .write = true,
			 .leave_pages_node = 1,
			 .leave_pages = m->zone[0].wmark[WMARK_HIGH] + 64};
	assert_int_equal(model_do(m, *task, &op), 0);
	use_up(m, &m->zone[0], (int64_t)m->zone[0].wmark[WMARK_LOW]);
	return m;
}

static void test_nobody_is_killed_for_these(void **state)
{
	static const struct {
		gfp_t gfp;
		unsigned order;
		bool killed;
	} rows[] = {
		{GFP_KERNEL, 4, false},
		{GFP_KERNEL | __GFP_RETRY_MAYFAIL, 0, false},
		{GFP_KERNEL | __GFP_THISNODE, 0, false},
		{GFP_KERNEL | __GFP_DMA32, 0, false},
		{GFP_NOFS, 0, false},
		{GFP_KERNEL, 0, true}, /* and for this one somebody is */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		task_id task;
		struct model *m = hog(&task);
		struct alloc_context ac = context_of(m, rows[i].gfp, rows[i].order);
		bool progress;

		/* Above min and below high: the last attempt is not for what was there all along.
		 */
		assert_int_equal(alloc_oom(m, &ac, &progress), PFN_NONE);
		assert_int_equal(counter(m, VM_OOM_KILL), rows[i].killed);
		/* Who may not enter the file system waits for others. */
		assert_int_equal(progress, rows[i].killed || rows[i].gfp == GFP_NOFS);
		model_destroy(m);
	}
}

static void test_after_a_kill_who_must_not_fail_takes_any_page(void **state)
{
	task_id task;
	struct model *m = hog(&task);
	struct alloc_context ac = context_of(m, GFP_KERNEL | __GFP_NOFAIL, 0);
	bool progress;

	(void)state;
	assert_int_not_equal(alloc_oom(m, &ac, &progress), PFN_NONE);
	assert_int_equal(counter(m, VM_OOM_KILL), 1);
	model_destroy(m);
}

static void test_a_request_that_must_not_fail_ends_with_half_of_the_mark(void **state)
{
	struct model *m = full(0);
	int64_t min;

	(void)state;
	min = (int64_t)m->zone[0].wmark[WMARK_MIN];
	model_destroy(m);
	m = full(min * 3 / 4);
	assert_int_equal(alloc_pages(m, GFP_KERNEL | __GFP_NORETRY, 0, NODE_NONE, NODEMASK_NONE),
			 PFN_NONE);
	assert_int_not_equal(alloc_pages(m, GFP_KERNEL | __GFP_NORETRY | __GFP_NOFAIL, 0, NODE_NONE,
					 NODEMASK_NONE),
			     PFN_NONE);
	model_destroy(m);
}

static void test_a_victim_without_rights_to_the_reserve_gives_up(void **state)
{
	struct model *m = full(0);

	(void)state;
	/* Anybody else would loop. */
	m->ctx.flags = CTX_OOM_VICTIM;
	assert_int_equal(alloc_pages(m, GFP_NOFS | __GFP_NOMEMALLOC, 0, NODE_NONE, NODEMASK_NONE),
			 PFN_NONE);
	m->ctx.flags = 0;
	machine_end(m);
}

struct story {
	unsigned reclaims;
	int most_no_progress, order;
	struct model *m;
	pfn_t release;
};

static void tell(void *ctx, const struct trace_event *ev)
{
	struct story *s = ctx;

	if (ev->id == TRACE_RECLAIM_RETRY_ZONE && ev->no_progress_loops > s->most_no_progress)
		s->most_no_progress = ev->no_progress_loops;
	if (ev->id != TRACE_DIRECT_RECLAIM_BEGIN)
		return;
	s->order = ev->order;
	if (++s->reclaims == 30 && s->release)
		buddy_free(s->m, &s->m->zone[0], s->release, 9, false);
}

static void test_a_kill_by_others_counts_as_progress(void **state)
{
	struct model *m = full(512);
	struct story s = {.m = m};

	(void)state;
	s.release = buddy_take(m, &m->zone[0], 9, MIGRATE_MOVABLE);
	m->zone[0].wmark[WMARK_MIN] = 100;
	model_trace(m, tell, &s);
	assert_int_not_equal(alloc_pages(m, GFP_NOFS, 0, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	assert_int_equal(s.reclaims, 30);
	assert_int_equal(s.most_no_progress, 1);
	model_destroy(m);
}

static void test_who_reclaims_already_does_not_reclaim_again(void **state)
{
	struct model *m = pinned();
	struct story s = {0};

	(void)state;
	model_trace(m, tell, &s);
	m->ctx.flags = CTX_MEMALLOC;
	assert_int_equal(alloc_pages(m, GFP_TRANSHUGE, 9, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	assert_int_equal(s.reclaims, 0);
	m->ctx.flags = 0;
	assert_int_equal(alloc_pages(m, GFP_TRANSHUGE, 9, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	assert_int_equal(s.reclaims, 1);
	machine_end(m);
}

/* ---- defrag_mode -------------------------------------------------------------------------- */

static void test_defrag_mode_promotes_unmovable_requests_alone(void **state)
{
	static const gfp_t gfps[] = {GFP_KERNEL, GFP_HIGHUSER_MOVABLE};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct model *m = machine_quiet(PROFILE_C, PAGES);
		struct story s = {0};

		/* What is free is of the other type. */
		lay_begin(m);
		for (pfn_t b = 512; b < 512 + PAGES; b += PAGEBLOCK_PAGES) {
			lay(m, b, "256(fK)");
			if (i)
				lay_type(m, b, MIGRATE_UNMOVABLE);
		}
		lay_end(m);
		m->sysctl.defrag_mode = true;
		model_trace(m, tell, &s);
		assert_int_equal(alloc_pages(m, gfps[i] | __GFP_NORETRY, 0, NODE_NONE,
					     NODEMASK_NONE),
				 PFN_NONE);
		assert_int_equal(s.order, i ? 0 : 9);
		machine_end(m);
	}
}

static void test_defrag_mode_wakes_kswapd_for_whole_blocks(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context ac = context_of(m, GFP_KERNEL, 2);

	(void)state;
	alloc_wake_kswapds(m, &ac);
	assert_int_equal(m->node[0].kswapd.pending_order, 2);
	m->sysctl.defrag_mode = true;
	alloc_wake_kswapds(m, &ac);
	assert_int_equal(m->node[0].kswapd.pending_order, 9);
	machine_end(m);
}

static void test_a_promoted_compaction_that_was_skipped_is_not_retried(void **state)
{
	struct model *m = pinned();
	struct alloc_context ac = context_of(m, GFP_KERNEL, 3);
	enum compact_priority prio = COMPACT_PRIO_SYNC_LIGHT;
	int retries = 0;

	(void)state;
	assert_true(alloc_should_compact_retry(m, &ac, 3, 0, COMPACT_SKIPPED, &prio, &retries));
	assert_false(alloc_should_compact_retry(m, &ac, 9, 0, COMPACT_SKIPPED, &prio, &retries));
	machine_end(m);
}

/* ---- the walk ----------------------------------------------------------------------------- */

static void test_grouping_gives_way_at_the_end_of_the_list(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct alloc_context ac = context_of(m, GFP_KERNEL, 0);

	(void)state;
	break_blocks(m, &m->zone[0]);
	m->sysctl.defrag_mode = true;
	assert_int_equal(alloc_walk(m, 0, ALLOC_WMARK_LOW | ALLOC_NOFRAGMENT, &ac), PFN_NONE);
	m->sysctl.defrag_mode = false;
	assert_int_not_equal(alloc_walk(m, 0, ALLOC_WMARK_LOW | ALLOC_NOFRAGMENT, &ac), PFN_NONE);
	model_destroy(m);
}

static void test_an_atomic_request_drops_its_nodemask_in_the_slow_path(void **state)
{
	struct model *m = machine_two_nodes(PROFILE_C, PAGES);
	pfn_t pfn;

	(void)state;
	use_up(m, &m->zone[0], 0);
	pfn = alloc_pages(m, GFP_ATOMIC, 0, (node_id){0}, 1);
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(zone_of(m, pfn)->node.v, 1);
	/* Those without __GFP_HIGH keep theirs. */
	assert_int_equal(alloc_pages(m, GFP_NOWAIT, 0, (node_id){0}, 1), PFN_NONE);
	model_destroy(m);
}

static void test_writers_are_spread_in_the_fast_path_alone(void **state)
{
	const gfp_t gfp = GFP_HIGHUSER_MOVABLE | __GFP_WRITE | __GFP_NORETRY;
	struct model *m = machine_two_nodes(PROFILE_C, PAGES);

	(void)state;
	stat_node(&m->node[0], VM_NR_DIRTY, PAGES); /* over any limit */
	assert_int_equal(zone_of(m, alloc_pages(m, gfp, 0, (node_id){0}, NODEMASK_NONE))->node.v,
			 1);
	use_up(m, &m->zone[1], 0);
	assert_int_equal(zone_of(m, alloc_pages(m, gfp, 0, (node_id){0}, NODEMASK_NONE))->node.v,
			 0);
	model_destroy(m);
}

static void test_a_boosts_wake_is_spent_by_whoever_may_wake_even_without_a_page(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct zone *z = &m->zone[0];
	struct alloc_context ac = context_of(m, GFP_KERNEL, 0);

	(void)state;
	use_up(m, z, 0);
	z->boosted_wake = true;
	assert_int_equal(alloc_rmqueue(m, z, z, 0, 0, &ac), PFN_NONE);
	assert_true(z->boosted_wake);
	assert_int_equal(alloc_rmqueue(m, z, z, 0, ALLOC_KSWAPD, &ac), PFN_NONE);
	assert_false(z->boosted_wake);
	model_destroy(m);
}

/* ---- reserves ----------------------------------------------------------------------------- */

static void test_real_time_tasks_get_half_of_the_mark(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 8192);

	(void)state;
	m->ctx.flags = CTX_RT;
	assert_int_equal(alloc_flags_slow(m, GFP_KERNEL, 0),
			 ALLOC_CPUSET | ALLOC_KSWAPD | ALLOC_MIN_RESERVE);
	/* Not when they may not wait. */
	assert_int_equal(alloc_flags_slow(m, GFP_NOWAIT, 0),
			 ALLOC_CPUSET | ALLOC_KSWAPD | ALLOC_NON_BLOCK);
	m->ctx.flags = 0;
	machine_end(m);
}

static void test_victims_may_read_the_atomic_reserve(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct zone *z = &m->zone[0];
	struct alloc_context ac = context_of(m, GFP_KERNEL, 0);
	pfn_t pfn = buddy_take(m, z, 0, MIGRATE_MOVABLE);

	(void)state;
	buddy_reserve_highatomic(m, z, pfn, 0);
	use_up(m, z, 511); /* the reserve */
	z->wmark[WMARK_MIN] = 100;
	assert_int_equal(alloc_walk(m, 0, ALLOC_WMARK_MIN, &ac), PFN_NONE);
	pfn = alloc_walk(m, 0, ALLOC_WMARK_MIN | ALLOC_OOM, &ac);
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(block_type(m, pfn), MIGRATE_HIGHATOMIC);
	model_destroy(m);
}

static void test_reclaim_without_a_page_gives_back_all_but_one_atomic_block(void **state)
{
	struct model *m = pinned();
	struct zone *z = &m->zone[0];
	struct alloc_context ac = context_of(m, GFP_TRANSHUGE, 9);
	uint64_t progress;

	(void)state;
	buddy_reserve_highatomic(m, z, 512, 0);
	buddy_reserve_highatomic(m, z, 1024, 0);
	assert_int_equal(z->nr_reserved_highatomic, 1024);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(alloc_direct_reclaim(m, 9, 0, &ac, &progress), PFN_NONE);
		assert_int_equal(progress, 1);
		assert_int_equal(z->nr_reserved_highatomic, 512);
	}
	machine_end(m);
}

static void test_anonymous_pages_are_reclaimable_as_long_as_there_is_swap(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 8192);
	struct model *m;

	(void)state;
	c.swap_mib = 1;
	m = machine_make(&c);
	lay_begin(m);
	lay(m, 512, "100(AACK)");
	lay_end(m);
	assert_int_equal(alloc_reclaimable(m, &m->zone[0]), 300);
	m->swap_pages = 0;
	assert_int_equal(alloc_reclaimable(m, &m->zone[0]), 100);
	m->swap_pages = 256;
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nobody_is_killed_for_these),
		cmocka_unit_test(test_after_a_kill_who_must_not_fail_takes_any_page),
		cmocka_unit_test(test_a_request_that_must_not_fail_ends_with_half_of_the_mark),
		cmocka_unit_test(test_a_victim_without_rights_to_the_reserve_gives_up),
		cmocka_unit_test(test_a_kill_by_others_counts_as_progress),
		cmocka_unit_test(test_who_reclaims_already_does_not_reclaim_again),
		cmocka_unit_test(test_defrag_mode_promotes_unmovable_requests_alone),
		cmocka_unit_test(test_defrag_mode_wakes_kswapd_for_whole_blocks),
		cmocka_unit_test(test_a_promoted_compaction_that_was_skipped_is_not_retried),
		cmocka_unit_test(test_grouping_gives_way_at_the_end_of_the_list),
		cmocka_unit_test(test_an_atomic_request_drops_its_nodemask_in_the_slow_path),
		cmocka_unit_test(test_writers_are_spread_in_the_fast_path_alone),
		cmocka_unit_test(
			test_a_boosts_wake_is_spent_by_whoever_may_wake_even_without_a_page),
		cmocka_unit_test(test_real_time_tasks_get_half_of_the_mark),
		cmocka_unit_test(test_victims_may_read_the_atomic_reserve),
		cmocka_unit_test(test_reclaim_without_a_page_gives_back_all_but_one_atomic_block),
		cmocka_unit_test(test_anonymous_pages_are_reclaimable_as_long_as_there_is_swap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
