/* SPDX-License-Identifier: MIT */
/* Rules of kswapd, kcompactd and throttling one by one: what a request records, what a run may do.
 */
#include "harness.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/kcompactd.h"
#include "model/pcp.h"
#include "model/reclaim.h"
#include "model/watermark.h"

#define PAGES  (64u * PAGEBLOCK_PAGES)
#define SECOND 1000000000ull

static struct model *machine(uint64_t swap_mib, uint32_t proactiveness)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);

	c.daemons = true;
	c.swap_mib = swap_mib;
	c.sysctl.compaction_proactiveness = proactiveness;
	return machine_make(&c);
}

static void test_requests_to_one_that_is_awake_are_recorded(void **state)
{
	struct model *m = machine(0, 0);
	struct node *n = &m->node[0];

	(void)state;
	/* kswapd keeps the highest order and class; kcompactd the highest order, the lowest class.
	 */
	n->kswapd.state = n->kcompactd.state = DAEMON_RUNNING;
	kswapd_wake(m, &m->zone[0], 0, 9, ZONE_NORMAL);
	kswapd_wake(m, &m->zone[0], 0, 2, ZONE_MOVABLE);
	assert_int_equal(n->kswapd.pending_order, 9);
	assert_int_equal(n->kswapd.pending_class, ZONE_MOVABLE);
	kcompactd_wake(m, n, 9, ZONE_DMA32);
	kcompactd_wake(m, n, 2, ZONE_MOVABLE);
	assert_int_equal(n->kcompactd.max_order, 9);
	assert_int_equal(n->kcompactd.class, ZONE_DMA32);
	n->kswapd.state = n->kcompactd.state = DAEMON_SLEEPING;
	machine_end(m);
}

static void test_under_defrag_mode_balance_is_counted_in_whole_blocks(void **state)
{
	struct model *m = machine(0, 0);
	struct zone *z = &m->zone[0];
	int64_t blocks = z->stat[VM_NR_FREE_PAGES_BLOCKS];

	(void)state;
	z->stat[VM_NR_FREE_PAGES_BLOCKS] = (int64_t)z->wmark[WMARK_HIGH];
	assert_true(kswapd_balanced(m, &m->node[0], 9, ZONE_NORMAL));
	m->sysctl.defrag_mode = true;
	assert_false(kswapd_balanced(m, &m->node[0], 9, ZONE_NORMAL));
	assert_true(kswapd_balanced(m, &m->node[0], 0, ZONE_NORMAL));
	z->stat[VM_NR_FREE_PAGES_BLOCKS] = blocks;
	machine_end(m);
}

static void test_a_task_far_below_the_mark_waits_for_kswapd(void **state)
{
	struct model *m = machine(0, 0);
	struct alloc_context ac;

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(CCCK)");
	lay_end(m);
	alloc_context_init(m, &ac, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE);
	assert_true(reclaim_try_to_free(m, &ac, 0) > 0);
	assert_int_equal(counter(m, VM_PGSCAN_DIRECT_THROTTLE), 1);
	assert_true(counter(m, VM_PAGEOUTRUN) >= 1);
	/* Above half of the mark nobody waits. */
	model_sleep(m, SECOND);
	assert_true(reclaim_try_to_free(m, &ac, 0) > 0);
	assert_int_equal(counter(m, VM_PGSCAN_DIRECT_THROTTLE), 1);
	machine_end(m);
}

static void test_kernel_threads_and_those_whom_reclaim_cannot_help_do_not_wait(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct model *m = machine(0, 0);
		struct alloc_context ac;

		lay_begin(m);
		lay(m, 512, i ? "8192(CCCK)" : "8192(KKKK)");
		lay_end(m);
		alloc_context_init(m, &ac, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE);
		m->ctx.flags = i ? CTX_KTHREAD : 0;
		assert_int_equal(reclaim_try_to_free(m, &ac, 0) > 0, i);
		assert_int_equal(counter(m, VM_PGSCAN_DIRECT_THROTTLE), 0);
		m->ctx.flags = 0;
		machine_end(m);
	}
}

static void test_a_throttled_task_has_kswapd_look_at_the_lower_zones(void **state)
{
	struct model *m = machine(0, 0);

	(void)state;
	m->node[0].kswapd.pending_class = ZONE_MOVABLE;
	kswapd_force(m, &m->node[0]);
	assert_int_equal(m->node[0].kswapd.pending_class, ZONE_NORMAL);
	assert_true(kswapd_is_awake(&m->node[0]));
	model_sleep(m, SECOND);
	machine_end(m);
}

static void test_a_run_for_a_boost_does_not_swap(void **state)
{
	struct model *m = machine(64, 0);
	struct zone *z = &m->zone[0];

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fACK)");
	lay_end(m);
	assert_true(watermark_boost(m, z));
	kswapd_wake(m, z, 0, 0, ZONE_NORMAL);
	model_sleep(m, SECOND);
	assert_int_equal(z->boost, 0);
	assert_true(counter(m, VM_PGSCAN_FILE) > 0);
	assert_int_equal(counter(m, VM_PGSCAN_ANON), 0);
	machine_end(m);
}

static void test_a_run_for_a_boost_leaves_anonymous_pages_alone_even_without_cache(void **state)
{
	struct model *m = machine(64, 0);
	struct zone *z = &m->zone[0];

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fAAK)");
	lay_end(m);
	assert_true(watermark_boost(m, z));
	kswapd_wake(m, z, 0, 0, ZONE_NORMAL);
	model_sleep(m, SECOND);
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 1);
	assert_int_equal(z->boost, 0);
	assert_int_equal(counter(m, VM_PGSCAN_ANON) + counter(m, VM_PGREFILL), 0);
	machine_end(m);
}

/* A run that is about to begin a pass. */
static void begin_run(struct model *m)
{
	struct kswapd *k = &m->node[0].kswapd;

	kswapd_wake(m, &m->zone[0], 0, 0, ZONE_NORMAL);
	assert_int_equal(k->phase, KSWAPD_START);
	kswapd_step(m, &m->node[0]);
	assert_int_equal(k->phase, KSWAPD_PASS);
}

static void one_pass(struct model *m)
{
	do
		kswapd_step(m, &m->node[0]);
	while (m->node[0].kswapd.phase == KSWAPD_SHRINK);
}

static void test_kswapd_stays_at_a_priority_that_scans_its_target(void **state)
{
	struct model *m = machine(0, 0);
	struct kswapd *k = &m->node[0].kswapd;
	unsigned stayed = 0, fell = 0;

	(void)state;
	/* Every second page of the cache is pinned: what is scanned is not all freed. */
	lay_begin(m);
	lay(m, 512, "16384(CR)");
	lay_end(m);
	begin_run(m);
	while (k->phase == KSWAPD_PASS) {
		int before = k->sc.priority;

		one_pass(m);
		if (k->phase != KSWAPD_PASS)
			break;
		if (k->sc.nr_scanned >= k->sc.nr_to_reclaim &&
		    k->sc.nr_reclaimed > k->reclaimed_before) {
			assert_int_equal(k->sc.priority, before);
			stayed++;
		} else {
			assert_int_equal(k->sc.priority, before - 1);
			fell++;
		}
	}
	assert_true(stayed > 0);
	assert_true(fell > 0);
	model_sleep(m, SECOND);
	machine_end(m);
}

static void test_a_run_for_a_boost_ends_with_the_first_pass_that_frees_nothing(void **state)
{
	struct model *m = machine(0, 0);
	struct kswapd *k = &m->node[0].kswapd;

	(void)state;
	lay_begin(m);
	lay(m, 512, "16384(fK)");
	lay_end(m);
	assert_true(watermark_boost(m, &m->zone[0]));
	begin_run(m);
	one_pass(m);
	assert_int_equal(k->phase, KSWAPD_TRY_SLEEP);
	assert_int_equal(k->sc.priority, DEF_PRIORITY);
	assert_int_equal(k->failures, 0);
	model_sleep(m, SECOND);
	machine_end(m);
}

static void test_a_node_that_loses_its_balance_begins_anew_without_the_boost(void **state)
{
	struct model *m = machine(0, 0);
	struct kswapd *k = &m->node[0].kswapd;

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(CCCK)");
	lay_end(m);
	begin_run(m);
	k->boost_left = 100;
	k->sc.priority = DEF_PRIORITY - 2;
	kswapd_step(m, &m->node[0]);
	assert_int_equal(k->boost_left, 0);
	assert_int_equal(k->sc.priority, DEF_PRIORITY);
	assert_true(k->sc.may_write);
	assert_true(k->sc.may_swap);
	model_sleep(m, SECOND);
	machine_end(m);
}

static void test_whoever_wakes_it_from_a_nap_asks_for_the_order_it_slept_on(void **state)
{
	struct model *m = machine(0, 0);
	struct node *n = &m->node[0];
	struct kswapd *k = &n->kswapd;

	(void)state;
	n->kswapd.state = DAEMON_RUNNING;
	k->phase = KSWAPD_NAP;
	k->reclaim_order = 3;
	k->pending_order = 2;
	kswapd_step(m, n);
	assert_int_equal(k->phase, KSWAPD_START);
	assert_int_equal(k->pending_order, 3);
	assert_int_equal(counter(m, VM_KSWAPD_LOW_WMARK_HIT_QUICKLY), 1);
	k->phase = KSWAPD_NAP;
	k->pending_order = 9;
	kswapd_step(m, n);
	assert_int_equal(k->pending_order, 9);
	model_sleep(m, SECOND);
	machine_end(m);
}

static void test_a_node_out_of_balance_again_is_no_place_to_nap(void **state)
{
	struct model *m = machine(0, 0);
	struct node *n = &m->node[0];

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(CCCK)");
	lay_end(m);
	n->kswapd.state = DAEMON_RUNNING;
	n->kswapd.phase = KSWAPD_TRY_SLEEP;
	n->kswapd.class = ZONE_NORMAL;
	kswapd_step(m, n);
	assert_int_equal(n->kswapd.phase, KSWAPD_START);
	assert_int_equal(n->kswapd.state, DAEMON_RUNNING);
	assert_int_equal(counter(m, VM_KSWAPD_HIGH_WMARK_HIT_QUICKLY), 1);
	model_sleep(m, SECOND);
	machine_end(m);
}

/* DMA32 and Normal of 32 blocks each, every second page anonymous. */
static struct model *two_zones(void)
{
	struct model_config c = quiet_config(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	struct model *m;

	c.daemons = true;
	c.nr_zones = 2;
	c.zone[1] = c.zone[0];
	c.zone[0].class = ZONE_DMA32;
	c.zone[1].start_pfn = 33 * PAGEBLOCK_PAGES;
	c.sysctl.compaction_proactiveness = 0;
	m = machine_make(&c);
	lay_begin(m);
	for (uint32_t b = 1; b <= 64; b++)
		lay(m, b * PAGEBLOCK_PAGES, "256(fA)");
	lay_end(m);
	return m;
}

static void test_after_a_round_the_class_of_kcompactd_is_the_highest_again(void **state)
{
	struct model *m = two_zones();
	struct kcompactd *k = &m->node[0].kcompactd;

	(void)state;
	kcompactd_wake(m, &m->node[0], 9, ZONE_DMA32);
	assert_int_equal(k->class, ZONE_DMA32);
	model_sleep(m, SECOND);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 1);
	assert_int_equal(m->zone[1].nr_chunks[9], 0);
	assert_int_equal(k->class, ZONE_NORMAL);
	machine_end(m);
}

static void test_a_request_for_more_during_a_round_has_a_round_of_its_own(void **state)
{
	struct model *m = two_zones();
	struct node *n = &m->node[0];
	struct kcompactd *k = &n->kcompactd;
	struct recorded wake;

	(void)state;
	record(m, &wake, TRACE_KCOMPACTD_WAKE);
	kcompactd_wake(m, n, 3, ZONE_NORMAL);
	kcompactd_step(m, n);
	assert_true(k->in_round);
	kcompactd_wake(m, n, 9, ZONE_NORMAL);
	model_sleep(m, SECOND);
	record_stop(m);
	assert_int_equal(wake.nr, 2);
	assert_int_equal(wake.ev[0].order, 3);
	assert_int_equal(wake.ev[1].order, 9);
	assert_int_equal(k->max_order, 0);
	machine_end(m);
}

static void test_proactive_compaction_waits_while_kswapd_works(void **state)
{
	struct model *m = machine(0, 20);

	(void)state;
	lay_begin(m);
	lay(m, 512, "16384(fA)");
	lay_end(m);
	m->node[0].kswapd.state = DAEMON_RUNNING;
	model_sleep(m, 2 * SECOND);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED), 0);
	m->node[0].kswapd.state = DAEMON_SLEEPING;
	model_sleep(m, 2 * SECOND);
	assert_true(counter(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED) > 0);
	assert_int_equal(counter(m, VM_COMPACT_DAEMON_WAKE), 0);
	machine_end(m);
}

static void test_a_flush_gives_a_hopeless_node_hope_if_there_is_a_higher_one(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		for (unsigned node = 0; node < 2; node++) {
			struct model *m = machine_two_nodes((enum profile_id)p, PAGES);
			struct zone *z = &m->zone[node];
			pfn_t page[512];

			m->config.pcp = true;
			for (int i = 0; i < 512; i++)
				page[i] = buddy_take(m, z, 0, MIGRATE_MOVABLE);
			z->below_high = true;
			z->pcp[0].high_min = z->pcp[0].high = 4 * z->pcp[0].batch;
			m->node[node].kswapd.failures = 16;
			for (int i = 0; i < 512; i++)
				free_pages(m, page[i], 0);
			assert_false(z->below_high);
			assert_int_equal(m->node[node].kswapd.failures,
					 p != PROFILE_A && node == 0 ? 0 : 16);
			machine_end(m);
		}
	}
}

static void test_a_zone_below_its_high_mark_flushes_what_the_limit_had_grown_to(void **state)
{
	struct model *m = machine(0, 0);
	struct zone *z = &m->zone[0];
	struct pcp *p = &z->pcp[0];
	pfn_t page[64];

	(void)state;
	m->config.pcp = true;
	for (int i = 0; i < 64; i++)
		page[i] = buddy_take(m, z, 0, MIGRATE_MOVABLE);
	p->high_min = 10;
	p->high_max = 1000;
	p->high = 500;
	for (int i = 0; i < 9; i++)
		free_pages(m, page[i], 0);
	assert_int_equal(p->count, 9);
	/* The count is the limit then: each free flushes, and the set's own limit falls. */
	z->below_high = true;
	z->wmark[WMARK_HIGH] += (uint64_t)zone_free_pages(z); /* and it stays so */
	free_pages(m, page[9], 0);
	/* Of 10, what is more than a batch of 7. */
	assert_int_equal(p->batch, 7);
	assert_int_equal(p->count, 7);
	for (int i = 10; i < 64; i++)
		free_pages(m, page[i], 0);
	assert_true(p->count <= 32);
	assert_true(p->high < 500);
	assert_true(z->below_high);
	pcp_drain_all(m, NULL);
	z->wmark[WMARK_HIGH] -= z->wmark[WMARK_HIGH];
	machine_end(m);
}

static void test_movable_zones_are_no_part_of_min_free_kbytes(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 65536);
	struct model *m;

	(void)state;
	c.nr_zones = 2;
	c.zone[1] = c.zone[0];
	c.zone[1].class = ZONE_MOVABLE;
	c.zone[1].start_pfn = c.zone[0].start_pfn + 65536;
	m = machine_make(&c);
	/* isqrt(65536 * 4 * 16) kB, which are 512 pages, all for the Normal zone. */
	assert_int_equal(m->sysctl.min_free_kbytes, 2048);
	assert_int_equal(m->zone[0].wmark[WMARK_MIN], 512);
	/* A smaller value of the user's gives way, a larger one stays. */
	assert_int_equal(model_set(m, "vm.min_free_kbytes", "1500"), 0);
	assert_int_equal(model_set(m, "transparent_hugepage/enabled", "never"), 0);
	/* high 375 + 2 * 93; isqrt(64 * (65536 - 561)) */
	assert_int_equal(m->sysctl.min_free_kbytes, 2039);
	assert_int_equal(model_set(m, "vm.min_free_kbytes", "4000"), 0);
	assert_int_equal(model_set(m, "transparent_hugepage/enabled", "never"), 0);
	assert_int_equal(m->sysctl.min_free_kbytes, 4000);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_to_one_that_is_awake_are_recorded),
		cmocka_unit_test(test_under_defrag_mode_balance_is_counted_in_whole_blocks),
		cmocka_unit_test(test_a_task_far_below_the_mark_waits_for_kswapd),
		cmocka_unit_test(
			test_kernel_threads_and_those_whom_reclaim_cannot_help_do_not_wait),
		cmocka_unit_test(test_a_throttled_task_has_kswapd_look_at_the_lower_zones),
		cmocka_unit_test(test_a_run_for_a_boost_does_not_swap),
		cmocka_unit_test(
			test_a_run_for_a_boost_leaves_anonymous_pages_alone_even_without_cache),
		cmocka_unit_test(test_kswapd_stays_at_a_priority_that_scans_its_target),
		cmocka_unit_test(
			test_a_run_for_a_boost_ends_with_the_first_pass_that_frees_nothing),
		cmocka_unit_test(test_a_node_that_loses_its_balance_begins_anew_without_the_boost),
		cmocka_unit_test(test_whoever_wakes_it_from_a_nap_asks_for_the_order_it_slept_on),
		cmocka_unit_test(test_a_node_out_of_balance_again_is_no_place_to_nap),
		cmocka_unit_test(test_after_a_round_the_class_of_kcompactd_is_the_highest_again),
		cmocka_unit_test(test_a_request_for_more_during_a_round_has_a_round_of_its_own),
		cmocka_unit_test(test_proactive_compaction_waits_while_kswapd_works),
		cmocka_unit_test(test_a_flush_gives_a_hopeless_node_hope_if_there_is_a_higher_one),
		cmocka_unit_test(
			test_a_zone_below_its_high_mark_flushes_what_the_limit_had_grown_to),
		cmocka_unit_test(test_movable_zones_are_no_part_of_min_free_kbytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
