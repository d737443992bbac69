/* SPDX-License-Identifier: MIT */
/* Policies: names and composition, and what each changes. */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "model/alloc.h"
#include "model/compact.h"
#include "model/defer.h"
#include "model/layout.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/pin.h"
#include "model/policy.h"
#include "model/slab.h"
#include "model/sysctl.h"

static struct model m;
static struct zone z;

static const struct policy *get(const char *name)
{
	const struct policy *p = policy_find(name, NULL);

	if (!p)
		fail_msg("there is no policy %s", name);
	return p;
}

static struct model *machine_with(const char *policy, enum profile_id profile)
{
	struct model_config c = quiet_config(profile, 64 * PAGEBLOCK_PAGES);

	(void)snprintf(c.policy, sizeof(c.policy), "%s", policy);
	return machine_make(&c);
}

/* ---- names -------------------------------------------------------------------------------- */

static void test_names_are_checked(void **state)
{
	const char *bad;

	(void)state;
	assert_int_equal(policy_check("mainline", NULL, &bad), 0);
	assert_int_equal(policy_check("mainline+", NULL, &bad), -ENOENT);
	assert_int_equal(policy_check("mainline+nosuch", NULL, &bad), -ENOENT);
	assert_string_equal(bad, "nosuch");
	assert_int_equal(policy_check("+mainline", NULL, &bad), -ENOENT);
}

static void test_policies_that_change_different_things_combine(void **state)
{
	const char *bad;
	struct model *machine =
		machine_with("defer-async-v2+noretry-nostall+sample-random+migratable-check",
			     PROFILE_C);

	(void)state;
	assert_ptr_equal(machine->policy->deferred, get("defer-async-v2")->deferred);
	assert_ptr_equal(machine->policy->slow_gfp, get("noretry-nostall")->slow_gfp);
	assert_ptr_equal(machine->policy->free_resample, get("sample-random")->free_resample);
	assert_ptr_equal(machine->policy->suitable, get("migratable-check")->suitable);
	assert_ptr_equal(machine->policy->thp_gfp, policy_mainline.thp_gfp);
	machine_end(machine);
	assert_int_equal(policy_check("defer-async-v2+defer-async-v3", NULL, &bad), -EEXIST);
	assert_string_equal(bad, "defer-async-v3");
	assert_int_equal(policy_check("thp-defrag-2016+thp-defrag-2016-patch", NULL, &bad),
			 -EEXIST);
}

static void test_each_policy_has_a_name_of_its_own_and_says_what_it_is(void **state)
{
	(void)state;
	for (const struct policy *const *p = policy_registry; *p; p++) {
		assert_ptr_equal(policy_find((*p)->name, NULL), *p);
		assert_true(strlen((*p)->summary) > 10 && strlen((*p)->summary) < 80);
		assert_non_null((*p)->thread);
	}
}

/* ---- defer-async -------------------------------------------------------------------------- */

static void bare(void)
{
	bare_zone_z(&m, &z, PROFILE_C);
}

static void test_failed_async_runs_defer_async_runs(void **state)
{
	static const int expected[] = {1, 3, 7, 15, 31, 63};
	const struct policy *p = get("defer-async-v2");
	unsigned runs = 0;

	(void)state;
	bare();
	for (int attempt = 1; attempt <= 100; attempt++) {
		if (p->deferred(&m, &z, 9, COMPACT_PRIO_ASYNC))
			continue;
		assert_true(runs < 6);
		assert_int_equal(attempt, expected[runs++]);
		p->defer_failed(&m, &z, 9, COMPACT_PRIO_ASYNC);
	}
	assert_int_equal(runs, 6);
	assert_int_equal(z.defer[DEFER_ASYNC].shift, 6);
	assert_int_equal(z.defer[DEFER_SYNC].shift, 0);
	assert_int_equal(z.defer[DEFER_SYNC].considered, 1);
}

static void test_failed_async_runs_do_not_defer_sync_runs(void **state)
{
	const struct policy *p = get("defer-async-v2");

	(void)state;
	bare();
	for (int i = 0; i < 3; i++)
		p->defer_failed(&m, &z, 9, COMPACT_PRIO_ASYNC);
	assert_false(p->deferred(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT));
	assert_true(p->deferred(&m, &z, 9, COMPACT_PRIO_ASYNC));
}

static void test_a_deferred_sync_set_stops_async_runs_without_counting_them(void **state)
{
	const struct policy *p = get("defer-async-v2");

	(void)state;
	bare();
	p->defer_failed(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT);
	p->defer_failed(&m, &z, 9, COMPACT_PRIO_ASYNC);
	assert_true(p->deferred(&m, &z, 9, COMPACT_PRIO_ASYNC));
	assert_int_equal(z.defer[DEFER_SYNC].considered, 1);
	assert_int_equal(z.defer[DEFER_ASYNC].considered, 0);
}

static void test_a_success_resets_both_sets(void **state)
{
	const struct policy *p = get("defer-async-v2");

	(void)state;
	bare();
	p->defer_failed(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT);
	p->defer_failed(&m, &z, 9, COMPACT_PRIO_ASYNC);
	p->defer_reset(&m, &z, 9, true);
	for (int i = 0; i < NR_DEFER_SETS; i++) {
		assert_int_equal(z.defer[i].shift, 0);
		assert_int_equal(z.defer[i].order_failed, 10);
	}
}

static void test_only_v3_lets_an_async_run_reset_the_skip_hints(void **state)
{
	const struct policy *v2 = get("defer-async-v2"), *v3 = get("defer-async-v3");
	struct compact_control cc = {.order = 9, .mode = MIGRATE_ASYNC};

	(void)state;
	bare();
	z.defer[DEFER_SYNC] = (struct deferral){.shift = 6, .considered = 64};
	assert_false(v2->restart(&m, &z, &cc));
	assert_true(v3->restart(&m, &z, &cc));
	cc.mode = MIGRATE_SYNC_LIGHT;
	assert_true(v2->restart(&m, &z, &cc));
	/* The asynchronous set never permits it. */
	z.defer[DEFER_ASYNC] = z.defer[DEFER_SYNC];
	z.defer[DEFER_SYNC].considered = 63;
	assert_false(v2->restart(&m, &z, &cc));
	assert_false(v3->restart(&m, &z, &cc));
}

/* ---- sample-random ------------------------------------------------------------------------ */

#define BLOCK 4096u

/* A seed whose first draw puts the second look at this offset of a block, with stride 32. */
static uint64_t seed_for_offset(uint64_t offset)
{
	struct rng r;

	for (uint64_t seed = 1;; seed++) {
		rng_seed(&r, seed, RNG_POLICY);
		if (rng_below(&r, 31) == offset - 1)
			return seed;
	}
}

/* One free page in eight, at offset 4, and room for a scan from BLOCK down. */
static struct compact_control *resampled(struct model **machine, uint64_t seed)
{
	struct model_config c = quiet_config(PROFILE_C, 64 * PAGEBLOCK_PAGES);
	struct compact_control *cc;

	(void)snprintf(c.policy, sizeof(c.policy), "sample-random");
	c.seed = seed;
	*machine = machine_make(&c);
	lay_begin(*machine);
	for (pfn_t pfn = PAGEBLOCK_PAGES; pfn < BLOCK; pfn += PAGEBLOCK_PAGES)
		lay(*machine, pfn, "512K");
	lay(*machine, BLOCK, "64(4Kf3K)");
	lay_end(*machine);
	cc = direct_cc(*machine, &(*machine)->zone[0], -1, MIGRATE_ASYNC);
	cc->migrate_pfn = BLOCK - PAGEBLOCK_PAGES;
	cc->free_pfn = BLOCK;
	cc->nr_migratepages = 16;
	return cc;
}

static void test_a_second_look_at_the_right_offset_finds_the_pages(void **state)
{
	struct model *machine;
	struct compact_control *cc = resampled(&machine, seed_for_offset(4));

	(void)state;
	scan_free_isolate(machine, cc);
	assert_int_equal(cc->nr_freepages, 16);
	assert_int_equal(cc->total_free_scanned, 16 + 16);
	(void)scan_free_release(machine, cc);
	machine_end(machine);
}

static void test_a_second_look_between_the_pages_finds_none_and_marks_the_block(void **state)
{
	struct model *machine;
	struct compact_control *cc = resampled(&machine, seed_for_offset(5));

	(void)state;
	scan_free_isolate(machine, cc);
	assert_int_equal(cc->nr_freepages, 0);
	assert_int_equal(cc->total_free_scanned, 16 + 16);
	assert_true(memmap_skip(machine, BLOCK));
	machine_end(machine);
}

static void test_the_second_look_starts_anywhere_between_two_samples(void **state)
{
	const struct policy *p = get("sample-random");
	struct model *machine = machine_with("sample-random", PROFILE_C);
	uint32_t seen = 0;
	pfn_t pfn;

	(void)state;
	for (int i = 0; i < 2000; i++) {
		assert_true(p->free_resample(machine, NULL, BLOCK, BLOCK + 512, 32, &pfn));
		assert_in_range(pfn, BLOCK + 1, BLOCK + 31);
		seen |= 1u << (pfn - BLOCK);
	}
	assert_int_equal(seen, 0xfffffffe);
	assert_true(p->free_resample(machine, NULL, BLOCK, BLOCK + 512, 2, &pfn));
	assert_int_equal(pfn, BLOCK + 1);
	/* A zone may end before the offset. */
	for (int i = 0; i < 100; i++) {
		bool again = p->free_resample(machine, NULL, BLOCK, BLOCK + 8, 32, &pfn);

		assert_int_equal(again, pfn < BLOCK + 8);
	}
	machine_end(machine);
}

/* ---- noretry-nostall ---------------------------------------------------------------------- */

/* "c" a compaction, "r" a reclaim, in the order of events. */
struct story {
	char text[64];
	size_t used;
};

static void tell(void *ctx, const struct trace_event *ev)
{
	struct story *s = ctx;

	if (s->used < sizeof(s->text) - 1 && ev->id == TRACE_TRY_TO_COMPACT_PAGES)
		s->text[s->used++] = 'c';
	else if (s->used < sizeof(s->text) - 1 && ev->id == TRACE_DIRECT_RECLAIM_BEGIN)
		s->text[s->used++] = 'r';
}

/* What a failing request does where every second page is pinned. */
static void assert_story(const char *policy, gfp_t gfp, unsigned order, const char *want)
{
	struct story s = {.used = 0};
	struct model *machine = machine_with(policy, PROFILE_C);

	lay_begin(machine);
	for (pfn_t b = machine->zone[0].start_pfn; b < machine->zone[0].end_pfn; b += 512)
		lay(machine, b, "256(fP)");
	lay_end(machine);
	model_trace(machine, tell, &s);
	assert_int_equal(alloc_pages(machine, gfp, order, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	if (strcmp(s.text, want))
		fail_msg("%s, gfp %#x, order %u: \"%s\", not \"%s\"", policy, gfp, order, s.text,
			 want);
	machine_end(machine);
}

static void test_costly_requests_that_may_not_retry_do_not_stall(void **state)
{
	static const char name[] = "noretry-nostall";

	(void)state;
	assert_story("mainline", GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, 4, "crc");
	for (unsigned order = 4; order <= 9; order++)
		assert_story(name, GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, order, "");
	assert_story(name, GFP_TRANSHUGE | __GFP_NORETRY, 9, "");
	/* As before: small orders, one node alone, and who may retry. */
	assert_story(name, GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, 3, "rc");
	assert_story(name, GFP_TRANSHUGE | __GFP_NORETRY | __GFP_THISNODE, 9, "c");
	assert_story(name, GFP_TRANSHUGE, 9, "crc");
}

static void test_a_local_try_goes_on_to_reclaim_as_in_january_2025(void **state)
{
	gfp_t local = GFP_TRANSHUGE | __GFP_NORETRY | __GFP_THISNODE;

	(void)state;
	assert_story("mainline", local, 9, "c");
	assert_story("thisnode-reclaim", local, 9, "crc");
	assert_story("thisnode-reclaim", GFP_TRANSHUGE, 9, "crc");
}

/* All that is free are halves of UNMOVABLE blocks; a movable request must mix types to get some. */
static bool mixes(const char *policy, gfp_t gfp)
{
	struct model *machine = machine_with(policy, PROFILE_C);
	pfn_t start = machine->zone[0].start_pfn, page;

	machine->sysctl.defrag_mode = true;
	lay_begin(machine);
	for (pfn_t b = start; b < machine->zone[0].end_pfn; b += PAGEBLOCK_PAGES) {
		lay_type(machine, b, MIGRATE_UNMOVABLE);
		lay(machine, b, "256K");
	}
	lay_end(machine);
	page = alloc_pages(machine, gfp, 2, NODE_NONE, NODEMASK_NONE);
	if (page != PFN_NONE)
		free_pages(machine, page, 2);
	machine_end(machine);
	return page != PFN_NONE;
}

static void test_no_request_that_may_not_retry_mixes_types(void **state)
{
	const gfp_t gfp = GFP_NOWAIT | __GFP_MOVABLE;

	(void)state;
	assert_true(mixes("mainline", gfp | __GFP_NORETRY));
	assert_false(mixes("noretry-nostall", gfp | __GFP_NORETRY));
	assert_true(mixes("noretry-nostall", gfp));
}

/* ---- migratable-check --------------------------------------------------------------------- */

static void set_node_stat(struct model *machine, enum vmstat_item item, int64_t n)
{
	machine->node[0].stat[item - VM_NODE_FIRST] = n;
}

static void test_more_pins_than_pages_wrap_and_pass(void **state)
{
	const struct policy *p = get("migratable-check");
	static struct model bare_machine;
	static struct node node;

	(void)state;
	bare_zone_z(&bare_machine, &z, PROFILE_C);
	bare_machine.node = &node;
	set_node_stat(&bare_machine, VM_NR_ACTIVE_ANON, 600);
	set_node_stat(&bare_machine, VM_NR_INACTIVE_FILE, 400);
	set_node_stat(&bare_machine, VM_NR_FOLL_PIN_ACQUIRED, 700);
	set_node_stat(&bare_machine, VM_NR_FOLL_PIN_RELEASED, 100);
	assert_false(p->suitable(&bare_machine, &z, 9));
	assert_true(p->suitable(&bare_machine, &z, 8));
	set_node_stat(&bare_machine, VM_NR_FOLL_PIN_ACQUIRED, 1600);
	assert_true(p->suitable(&bare_machine, &z, 9));
}

static void test_a_page_pinned_twice_is_subtracted_twice(void **state)
{
	struct model *machine = machine_with("migratable-check", PROFILE_C);
	pfn_t start = machine->zone[0].start_pfn;
	uint64_t cursor = 0;
	region_id region;
	pin_id pins;

	(void)state;
	lay_begin(machine);
	assert_int_equal(owner_region_new(machine, REGION_ANON, 4, 0, &region), 0);
	for (pfn_t pfn = start; pfn < start + 4; pfn++)
		assert_int_equal(layout_put(machine, pfn, 0, PG_ANON, PGF_LRU, region), 0);
	lay_end(machine);
	assert_int_equal(pin_set_new(machine, region, 0, 4, 1, 2, &pins), 0);
	while (pin_step(machine, pins, false, &cursor) == 1)
		;
	assert_int_equal(counter(machine, VM_NR_FOLL_PIN_ACQUIRED), 8);
	/* 4 - 8 wraps: the zone with four pinned pages counts as full of movable ones. */
	assert_true(machine->policy->suitable(machine, &machine->zone[0], 9));
	machine_end(machine);
}

static void test_a_movable_zone_is_refused_for_the_pins_of_its_neighbour(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 64 * PAGEBLOCK_PAGES);
	struct model *machine;

	(void)state;
	(void)snprintf(c.policy, sizeof(c.policy), "migratable-check");
	machine = machine_make(&c);
	/* 600 movable pages here, 600 pinned ones elsewhere on the node. */
	set_node_stat(machine, VM_NR_ACTIVE_ANON, 1200);
	set_node_stat(machine, VM_NR_FOLL_PIN_ACQUIRED, 1200);
	assert_false(machine->policy->suitable(machine, &machine->zone[0], 9));
	set_node_stat(machine, VM_NR_ACTIVE_ANON, 0);
	set_node_stat(machine, VM_NR_FOLL_PIN_ACQUIRED, 0);
	machine_end(machine);
}

static void test_the_check_comes_before_free_pages_are_counted(void **state)
{
	struct recorded r;
	struct model *machine = machine_with("migratable-check", PROFILE_C);

	(void)state;
	/* Half the memory is free, in single pages; nothing on it could be moved. */
	lay_begin(machine);
	for (pfn_t b = machine->zone[0].start_pfn; b < machine->zone[0].end_pfn; b += 512)
		lay(machine, b, "256(fK)");
	lay_end(machine);
	record(machine, &r, TRACE_COMPACT_BEGIN);
	assert_int_equal(alloc_pages(machine, GFP_TRANSHUGE, 9, NODE_NONE, NODEMASK_NONE),
			 PFN_NONE);
	assert_int_equal(r.nr, 0);
	assert_int_equal(counter(machine, VM_COMPACT_STALL), 0);
	machine_end(machine);
}

/* ---- THP in 2016 -------------------------------------------------------------------------- */

#define DIRECT __GFP_DIRECT_RECLAIM
#define KSWAPD __GFP_KSWAPD_RECLAIM

static void test_who_may_stall_for_a_huge_page(void **state)
{
	static const struct {
		const char *policy;
		enum thp_defrag mode;
		gfp_t plain, advised;
	} cases[] = {
		{"thp-defrag-2016", THP_DEFRAG_ALWAYS, DIRECT, DIRECT},
		{"thp-defrag-2016", THP_DEFRAG_MADVISE, 0, DIRECT},
		{"thp-defrag-2016", THP_DEFRAG_NEVER, 0, 0},
		{"thp-defrag-2016-patch", THP_DEFRAG_ALWAYS, DIRECT, DIRECT},
		{"thp-defrag-2016-patch", THP_DEFRAG_DEFER, KSWAPD, KSWAPD},
		{"thp-defrag-2016-patch", THP_DEFRAG_MADVISE, 0, DIRECT},
		{"thp-defrag-2016-patch", THP_DEFRAG_NEVER, 0, 0},
	};

	(void)state;
	bare();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct policy *p = get(cases[i].policy);
		gfp_t base = GFP_TRANSHUGE_LIGHT | __GFP_NORETRY;

		m.thp.defrag = cases[i].mode;
		assert_int_equal(p->thp_gfp(&m, false), base | cases[i].plain);
		assert_int_equal(p->thp_gfp(&m, true), base | cases[i].advised);
	}
}

static void test_the_default_was_always_and_became_madvise(void **state)
{
	struct model_config c;

	(void)state;
	model_config_defaults(&c);
	strcpy(c.policy, "thp-defrag-2016");
	assert_int_equal(policy_defaults(&c), 0);
	assert_int_equal(c.thp.defrag, THP_DEFRAG_ALWAYS);
	strcpy(c.policy, "thp-defrag-2016-patch");
	assert_int_equal(policy_defaults(&c), 0);
	assert_int_equal(c.thp.defrag, THP_DEFRAG_MADVISE);
}

static void test_the_words_of_2016_are_compared_as_far_as_they_go(void **state)
{
	static const struct {
		const char *text;
		int result;
		enum thp_defrag mode;
	} cases[] = {
		{"defer\n", 0, THP_DEFRAG_DEFER},   {"defer+madvise\n", 0, THP_DEFRAG_DEFER},
		{"d", 0, THP_DEFRAG_DEFER},         {"d\n", -EINVAL, 0},
		{"a", 0, THP_DEFRAG_ALWAYS},        {"madvise", 0, THP_DEFRAG_MADVISE},
		{"nevermore", 0, THP_DEFRAG_NEVER}, {"later", -EINVAL, 0},
	};
	struct model *machine = machine_with("thp-defrag-2016-patch", PROFILE_A);
	struct model *before = machine_with("thp-defrag-2016", PROFILE_A);

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(sysctl_write(machine, "transparent_hugepage/defrag",
					      cases[i].text),
				 cases[i].result);
		if (!cases[i].result)
			assert_int_equal(machine->thp.defrag, cases[i].mode);
	}
	assert_int_equal(sysctl_write(before, "transparent_hugepage/defrag", "defer"), -EINVAL);
	machine_end(before);
	machine_end(machine);
}

static void test_enabled_takes_defer_for_always_only_in_the_change_as_posted(void **state)
{
	struct model *posted = machine_with("thp-defrag-2016-patch", PROFILE_A);
	struct model *mainline = machine_with("mainline", PROFILE_C);

	(void)state;
	assert_int_equal(sysctl_write(posted, "transparent_hugepage/enabled", "defer\n"), 0);
	assert_int_equal(posted->thp.enabled, THP_ENABLED_ALWAYS);
	assert_int_equal(sysctl_write(posted, "transparent_hugepage/enabled", "later"), -EINVAL);
	assert_int_equal(sysctl_write(mainline, "transparent_hugepage/enabled", "defer\n"),
			 -EINVAL);
	machine_end(posted);
	machine_end(mainline);
}

static void test_slabs_woke_kswapd_for_high_orders_before(void **state)
{
	const struct policy *p = get("thp-defrag-2016");

	(void)state;
	assert_true(p->slab_gfp(GFP_KERNEL, 3, 0) & KSWAPD);
	assert_false(p->slab_gfp(GFP_KERNEL, 3, 0) & DIRECT);
	assert_false(slab_mainline_gfp(GFP_KERNEL, 3, 0) & KSWAPD);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_checked),
		cmocka_unit_test(test_policies_that_change_different_things_combine),
		cmocka_unit_test(test_each_policy_has_a_name_of_its_own_and_says_what_it_is),
		cmocka_unit_test(test_failed_async_runs_defer_async_runs),
		cmocka_unit_test(test_failed_async_runs_do_not_defer_sync_runs),
		cmocka_unit_test(test_a_deferred_sync_set_stops_async_runs_without_counting_them),
		cmocka_unit_test(test_a_success_resets_both_sets),
		cmocka_unit_test(test_only_v3_lets_an_async_run_reset_the_skip_hints),
		cmocka_unit_test(test_a_second_look_at_the_right_offset_finds_the_pages),
		cmocka_unit_test(
			test_a_second_look_between_the_pages_finds_none_and_marks_the_block),
		cmocka_unit_test(test_the_second_look_starts_anywhere_between_two_samples),
		cmocka_unit_test(test_costly_requests_that_may_not_retry_do_not_stall),
		cmocka_unit_test(test_a_local_try_goes_on_to_reclaim_as_in_january_2025),
		cmocka_unit_test(test_no_request_that_may_not_retry_mixes_types),
		cmocka_unit_test(test_more_pins_than_pages_wrap_and_pass),
		cmocka_unit_test(test_a_page_pinned_twice_is_subtracted_twice),
		cmocka_unit_test(test_a_movable_zone_is_refused_for_the_pins_of_its_neighbour),
		cmocka_unit_test(test_the_check_comes_before_free_pages_are_counted),
		cmocka_unit_test(test_who_may_stall_for_a_huge_page),
		cmocka_unit_test(test_the_default_was_always_and_became_madvise),
		cmocka_unit_test(test_the_words_of_2016_are_compared_as_far_as_they_go),
		cmocka_unit_test(test_enabled_takes_defer_for_always_only_in_the_change_as_posted),
		cmocka_unit_test(test_slabs_woke_kswapd_for_high_orders_before),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
