/* SPDX-License-Identifier: MIT */
/* The slow path: which requests do what, what is counted, who gives up and who never does. */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/compact.h"
#include "model/owner.h"
#include "model/pcp.h"

#define PAGES 65536u

/* Every second page pinned: half the memory is free and no two free pages are neighbours. */
static void lay_pinned(struct model *m, struct zone *z)
{
	for (pfn_t b = z->start_pfn; b < z->end_pfn; b += PAGEBLOCK_PAGES)
		lay(m, b, "256(fP)");
}

static struct model *pinned(enum profile_id profile)
{
	struct model *m = machine_quiet(profile, PAGES);

	lay_begin(m);
	lay_pinned(m, &m->zone[0]);
	lay_end(m);
	return m;
}

/* Nothing can be freed or moved: `free` pages are free, the rest belongs to the kernel. */
static struct model *full(enum profile_id profile, unsigned free)
{
	struct model *m = machine_quiet(profile, PAGES);

	lay_begin(m);
	for (pfn_t pfn = m->zone[0].start_pfn + free; pfn < m->zone[0].end_pfn; pfn++)
		lay(m, pfn, "K");
	lay_end(m);
	return m;
}

/* ---- what a request does ------------------------------------------------------------------ */

/* Compactions as "c" and their priority, reclaim as "r", in the order of events. */
struct story {
	char text[512];
	size_t used;
	uint32_t reclaim_order, compact_order; /* of the last */
	/* Gives pages back at this reclaim, 0 = never. */
	unsigned release_at, reclaims;
	struct model *m;
	pfn_t release;
};

static void tell(void *ctx, const struct trace_event *ev)
{
	struct story *s = ctx;
	char word[8];

	if (ev->id == TRACE_TRY_TO_COMPACT_PAGES) {
		s->compact_order = (uint32_t)ev->order;
		(void)snprintf(word, sizeof(word), "c%d ", ev->prio);
	} else if (ev->id == TRACE_DIRECT_RECLAIM_BEGIN) {
		s->reclaim_order = (uint32_t)ev->order;
		(void)snprintf(word, sizeof(word), "r ");
		if (s->release_at && ++s->reclaims == s->release_at)
			buddy_free(s->m, &s->m->zone[0], s->release, 9, false);
	} else {
		return;
	}
	if (s->used + sizeof(word) < sizeof(s->text)) {
		memcpy(s->text + s->used, word, strlen(word) + 1);
		s->used += strlen(word);
	}
}

static void assert_story(enum profile_id profile, gfp_t gfp, unsigned order, const char *want)
{
	struct story s = {.text = ""};
	struct model *m = pinned(profile);

	model_trace(m, tell, &s);
	assert_int_equal(alloc_pages(m, gfp, order, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	if (strcmp(s.text, want) != 0)
		fail_msg("kernel %s, gfp %#x, order %u: \"%s\", not \"%s\"",
			 profile_get(profile)->name, gfp, order, s.text, want);
	machine_end(m);
}

static void test_what_each_kind_of_request_does_in_7_3(void **state)
{
	(void)state;
	assert_story(PROFILE_C, GFP_TRANSHUGE | __GFP_THISNODE | __GFP_NORETRY, 9, "c2 ");
	assert_story(PROFILE_C, GFP_TRANSHUGE, 9, "c2 r c1 ");
	assert_story(PROFILE_C, GFP_TRANSHUGE | __GFP_NORETRY, 9, "c2 r c2 ");
	assert_story(PROFILE_C, GFP_TRANSHUGE_LIGHT | __GFP_KSWAPD_RECLAIM, 9, "");
	assert_story(PROFILE_C, GFP_TRANSHUGE_LIGHT, 9, "");
	assert_story(PROFILE_C, GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, 5, "c2 r c2 ");
	assert_story(PROFILE_C, GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, 2, "r c1 ");
	assert_story(PROFILE_C, GFP_ATOMIC, 3, "");
	assert_story(PROFILE_C, GFP_NOWAIT, 3, "");
	/* Unmovable small orders compact first, too. */
	assert_story(PROFILE_C, GFP_KERNEL | __GFP_NORETRY, 2, "c2 r c2 ");
	/* Without __GFP_IO nothing is compacted, and a costly request ends after one reclaim. */
	assert_story(PROFILE_C, GFP_NOIO, 5, "r ");
}

static void test_what_each_kind_of_request_does_in_6_12_and_6_18(void **state)
{
	static const enum profile_id profiles[] = {PROFILE_A, PROFILE_B};

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_story(profiles[i], GFP_TRANSHUGE | __GFP_THISNODE | __GFP_NORETRY, 9, "c2 ");
		assert_story(profiles[i], GFP_TRANSHUGE, 9, "c2 r c1 ");
		assert_story(profiles[i], GFP_TRANSHUGE | __GFP_NORETRY, 9, "c2 r c2 ");
		assert_story(profiles[i], GFP_TRANSHUGE_LIGHT, 9, "");
		assert_story(profiles[i], GFP_HIGHUSER_MOVABLE | __GFP_NORETRY, 2, "r c1 ");
	}
}

/* Deferred or skipped first compactions: 7.3 goes on to reclaim, the older ones end an optional
 * request. */
static void test_an_optional_request_after_a_deferred_compaction_by_kernel(void **state)
{
	static const char *const want[] = {"c2 ", "c2 ", "c2 r c2 "};

	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		struct story s = {.text = ""};
		struct model *m = pinned((enum profile_id)p);

		m->zone[0].defer[DEFER_SHARED] = (struct deferral){.shift = 6, .order_failed = 0};
		model_trace(m, tell, &s);
		assert_int_equal(alloc_pages(m, GFP_TRANSHUGE | __GFP_NORETRY, 9, NODE_NONE,
					     NODEMASK_NONE),
				 PFN_NONE);
		assert_string_equal(s.text, want[p]);
		/* The page without reclaim bits was never in question: one or two deferred
		 * attempts. */
		assert_int_equal(counter(m, VM_COMPACT_STALL), p == PROFILE_C ? 0 : 1);
		assert_int_equal(counter(m, VM_COMPACT_FAIL), p == PROFILE_C ? 0 : 1);
		machine_end(m);
	}
}

static void test_skipped_compactions_are_not_counted(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		struct model *m = full((enum profile_id)p, 300);
		struct alloc_context ac;
		enum compact_result result;

		alloc_context_init(m, &ac, GFP_TRANSHUGE, 9, NODE_NONE, NODEMASK_NONE);
		assert_int_equal(alloc_direct_compact(m, 9, 0, &ac, COMPACT_PRIO_ASYNC, &result),
				 PFN_NONE);
		assert_int_equal(result, COMPACT_SKIPPED);
		assert_int_equal(counter(m, VM_COMPACT_STALL), 0);
		assert_int_equal(counter(m, VM_COMPACT_FAIL), 0);
		machine_end(m);
	}
}

static void test_a_stall_is_a_success_or_a_failure(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	pfn_t pfn;

	(void)state;
	/* Movable pages, every second one: compaction can help. */
	lay_begin(m);
	for (pfn_t b = 512; b < 512 + PAGES; b += PAGEBLOCK_PAGES)
		lay(m, b, "256(fA)");
	lay_end(m);
	m->zone[0].blockskip_flush = true;
	pfn = alloc_pages(m, GFP_TRANSHUGE, 9, NODE_NONE, NODEMASK_NONE);
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 1);
	assert_int_equal(counter(m, VM_COMPACT_SUCCESS), 1);
	assert_int_equal(counter(m, VM_COMPACT_FAIL), 0);
	assert_false(m->zone[0].blockskip_flush);
	assert_int_equal(m->zone[0].defer[DEFER_SHARED].order_failed, 10);
	free_pages(m, pfn, 9);
	machine_end(m);
}

/* ---- promotion under defrag_mode ---------------------------------------------------------- */

static void test_small_unmovable_requests_work_for_whole_blocks_under_defrag_mode(void **state)
{
	struct story s = {.text = ""};
	struct model *m = pinned(PROFILE_C);
	pfn_t pfn;

	(void)state;
	m->sysctl.defrag_mode = true;
	model_trace(m, tell, &s);
	pfn = alloc_pages(m, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE);
	/* At worst it mixes types, but not before reclaim and compaction at order 9 were tried. */
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(s.reclaim_order, 9);
	assert_int_equal(s.compact_order, 9);
	assert_memory_equal(s.text, "r c1 r c1 ", 10);
	free_pages(m, pfn, 0);
	machine_end(m);
}

static void test_non_blocking_requests_mix_types_after_one_walk_by_kernel(void **state)
{
	(void)state;
	for (int p = PROFILE_B; p <= PROFILE_C; p++) {
		struct model *m = pinned((enum profile_id)p);
		pfn_t pfn;

		m->sysctl.defrag_mode = true;
		pfn = alloc_pages(m, __GFP_NOWARN, 0, NODE_NONE, NODEMASK_NONE);
		assert_int_equal(pfn, PFN_NONE);
		pfn = alloc_pages(m, GFP_NOWAIT, 0, NODE_NONE, NODEMASK_NONE);
		assert_int_equal(pfn != PFN_NONE, p == PROFILE_C);
		if (pfn)
			free_pages(m, pfn, 0);
		machine_end(m);
	}
}

/* ---- retry predicates --------------------------------------------------------------------- */

static void test_reclaim_is_retried_sixteen_times_without_progress(void **state)
{
	struct model *m = pinned(PROFILE_C);
	struct alloc_context ac;
	int no_progress = 0, rounds = 0;

	(void)state;
	/* Order 0 would pass if everything reclaimable were free, and still nothing comes. */
	alloc_context_init(m, &ac, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE);
	while (alloc_should_reclaim_retry(m, &ac, 0, 0, false, &no_progress))
		rounds++;
	assert_int_equal(rounds, 16);
	no_progress = 5;
	assert_true(alloc_should_reclaim_retry(m, &ac, 0, 0, true, &no_progress));
	assert_int_equal(no_progress, 0);
	/* Progress at a promoted order is none. */
	assert_true(alloc_should_reclaim_retry(m, &ac, 9, 0, true, &no_progress));
	assert_int_equal(no_progress, 1);
	/* Without a chunk of the order no amount of reclaim passes the test. */
	alloc_context_init(m, &ac, GFP_KERNEL, 3, NODE_NONE, NODEMASK_NONE);
	no_progress = 0;
	assert_false(alloc_should_reclaim_retry(m, &ac, 3, 0, true, &no_progress));
	machine_end(m);
}

static void test_after_mixing_is_allowed_a_promoted_request_counts_its_retries_anew(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 16 * PAGEBLOCK_PAGES);
	struct recorded *r = malloc(sizeof(*r));

	(void)state;
	/* Cache that looks reclaimable, but every page of it is pinned. */
	lay_begin(m);
	lay(m, m->zone[0].start_pfn, "8192R");
	lay_end(m);
	m->sysctl.defrag_mode = true;
	record(m, r, TRACE_RECLAIM_RETRY_ZONE);
	assert_int_equal(alloc_pages(m, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE), PFN_NONE);
	record_stop(m);
	/* Sixteen retries for a whole block, and sixteen for the page itself. */
	assert_int_equal(r->nr, 32);
	assert_int_equal(r->ev[15].no_progress_loops, 16);
	assert_int_equal(r->ev[16].no_progress_loops, 1);
	free(r);
	machine_end(m);
}

static void test_the_last_atomic_block_is_worth_a_retry(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 131072);
	struct zone *z = &m->zone[0];
	struct alloc_context ac;
	int no_progress = 16;
	pfn_t pfn = buddy_take(m, z, 0, MIGRATE_MOVABLE);

	(void)state;
	buddy_reserve_highatomic(m, z, pfn, 1);
	alloc_context_init(m, &ac, GFP_KERNEL, 0, NODE_NONE, NODEMASK_NONE);
	assert_true(alloc_should_reclaim_retry(m, &ac, 0, 0, false, &no_progress));
	assert_int_equal(z->nr_reserved_highatomic, 0);
	assert_false(alloc_should_reclaim_retry(m, &ac, 0, 0, false, &no_progress));
	model_destroy(m);
}

static unsigned compact_retries(unsigned order, enum compact_result result,
				enum compact_priority prio)
{
	struct model *m = pinned(PROFILE_C);
	struct alloc_context ac;
	int retries = 0;
	unsigned rounds = 0;

	alloc_context_init(m, &ac, GFP_KERNEL, order, NODE_NONE, NODEMASK_NONE);
	while (rounds < 1000 &&
	       alloc_should_compact_retry(m, &ac, order, 0, result, &prio, &retries))
		rounds++;
	machine_end(m);
	return rounds;
}

static void test_compaction_retries_by_order_result_and_priority(void **state)
{
	(void)state;
	/* SUCCESS without a page: 4 retries when costly, 16 otherwise, again after each rise. */
	assert_int_equal(compact_retries(9, COMPACT_SUCCESS, COMPACT_PRIO_SYNC_LIGHT), 4);
	assert_int_equal(compact_retries(3, COMPACT_SUCCESS, COMPACT_PRIO_SYNC_FULL), 16);
	assert_int_equal(compact_retries(3, COMPACT_SUCCESS, COMPACT_PRIO_SYNC_LIGHT), 16 + 1 + 16);
	/* Failures raise the priority to its floor and no further. */
	assert_int_equal(compact_retries(9, COMPACT_COMPLETE, COMPACT_PRIO_ASYNC), 1);
	assert_int_equal(compact_retries(3, COMPACT_COMPLETE, COMPACT_PRIO_ASYNC), 2);
	assert_int_equal(compact_retries(3, COMPACT_COMPLETE, COMPACT_PRIO_SYNC_FULL), 0);
	assert_int_equal(compact_retries(0, COMPACT_SUCCESS, COMPACT_PRIO_ASYNC), 0);
	/* SKIPPED: as long as there would be room to move into. Here there always is. */
	assert_int_equal(compact_retries(3, COMPACT_SKIPPED, COMPACT_PRIO_SYNC_LIGHT), 1000);
}

/* ---- no memory at all --------------------------------------------------------------------- */

static void test_a_request_without_fs_never_kills_and_loops(void **state)
{
	struct model *m = full(PROFILE_C, 512 + 1024);
	struct story s = {.text = "", .release_at = 100, .m = m};
	task_id task;
	pfn_t pfn;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	/* A held block is what the loop finds in the end; everything else is used up. */
	s.release = buddy_take(m, &m->zone[0], 9, MIGRATE_MOVABLE);
	while (buddy_take(m, &m->zone[0], 0, MIGRATE_MOVABLE) != PFN_NONE)
		;
	m->zone[0].wmark[WMARK_MIN] = 100;
	model_trace(m, tell, &s);
	pfn = alloc_pages(m, GFP_NOFS, 0, NODE_NONE, NODEMASK_NONE);
	assert_int_not_equal(pfn, PFN_NONE);
	assert_int_equal(s.reclaims, 100);
	assert_int_equal(counter(m, VM_OOM_KILL), 0);
	model_destroy(m);
}

/* A task that holds memory which reclaim cannot take (no swap), on a machine that has no other. */
static struct model *hog(task_id *task)
{
	struct model_config c = quiet_config(PROFILE_C, 16384);
	struct model *m;
	region_id region;
	struct op op;

	c.pcp = true;
	m = machine_make(&c);
	assert_int_equal(model_task(m, 0, task), 0);
	assert_int_equal(model_mmap(m, *task, 16384ull << 12, ADVISE_NONE, &region), 0);
	op = (struct op){.kind = OP_TOUCH,
			 .region = region,
			 .count = 16384,
			 .write = true,
			 .leave_pages_node = 1,
			 .leave_pages = m->zone[0].wmark[WMARK_HIGH] + 256};
	assert_int_equal(model_do(m, *task, &op), 0);
	return m;
}

static void test_running_out_kills_the_task_that_holds_most(void **state)
{
	task_id task, other;
	struct model *m = hog(&task);
	region_id region;
	struct op op;

	(void)state;
	assert_int_equal(model_task(m, 0, &other), 0);
	assert_int_equal(model_mmap(m, other, 4096ull << 12, ADVISE_NONE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 4096, .write = true};
	assert_int_equal(model_do(m, other, &op), 0);
	assert_int_equal(counter(m, VM_OOM_KILL), 1);
	assert_true(m->task[task.v].oom_victim);
	assert_false(m->task[other.v].oom_victim);
	assert_int_equal(op.done, 4096);
	machine_end(m);
}

static void test_a_task_that_kills_itself_ends_with_enomem(void **state)
{
	task_id task;
	struct model *m = hog(&task);
	region_id region;
	struct op op;

	(void)state;
	assert_int_equal(model_mmap(m, task, 16384ull << 12, ADVISE_NONE, &region), 0);
	op = (struct op){.kind = OP_TOUCH, .region = region, .count = 16384, .write = true};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.error, -ENOMEM);
	assert_int_equal(counter(m, VM_OOM_KILL), 1);
	assert_true(op.done < 4096);
	machine_end(m);
}

/* ---- one huge-page fault on a fragmented node ---------------------------------------------- */

static struct model *two_nodes(bool remote_pinned, task_id *task, region_id *region)
{
	struct model_config c = two_nodes_config(PROFILE_C, PAGES);
	struct model *m;

	c.daemons = true;
	c.thp.enabled = THP_ENABLED_MADVISE;
	c.thp.defrag = THP_DEFRAG_MADVISE;
	c.sysctl.min_free_kbytes = 2048;
	m = machine_make(&c);
	lay_begin(m);
	lay_pinned(m, &m->zone[0]);
	if (remote_pinned)
		lay_pinned(m, &m->zone[1]);
	lay_end(m);
	assert_int_equal(model_task(m, 0, task), 0);
	assert_int_equal(model_mmap(m, *task, 2 << 20, ADVISE_HUGEPAGE, region), 0);
	return m;
}

static void test_one_remote_huge_page_costs_one_failed_local_attempt(void **state)
{
	task_id task;
	region_id region;
	struct model *m = two_nodes(false, &task, &region);
	struct op op = {.kind = OP_TOUCH, .region = region, .count = 1, .write = true};

	(void)state;
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.huge_pages[1], 1);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 1);
	assert_int_equal(counter(m, VM_COMPACT_FAIL), 1);
	assert_int_equal(counter(m, VM_ALLOCSTALL_MOVABLE), 0);
	assert_int_equal(counter(m, VM_PAGEOUTRUN), 0);
	assert_int_equal(m->node[0].kswapd.state, DAEMON_SLEEPING);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC), 1);
	assert_int_equal(counter(m, VM_THP_FAULT_FALLBACK), 0);
	assert_int_equal(m->zone[1].stat[VM_NUMA_MISS], 1);
	assert_int_equal(m->zone[0].stat[VM_NUMA_FOREIGN], 1);
	machine_end(m);
}

static void test_no_huge_page_anywhere_costs_three_attempts(void **state)
{
	task_id task;
	region_id region;
	struct model *m = two_nodes(true, &task, &region);
	struct op op = {.kind = OP_TOUCH, .region = region, .count = 1, .write = true};

	(void)state;
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.base_pages[0], 1);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 3);
	assert_int_equal(counter(m, VM_COMPACT_FAIL), 3);
	assert_true(counter(m, VM_ALLOCSTALL_MOVABLE) >= 1);
	assert_int_equal(counter(m, VM_THP_FAULT_ALLOC), 0);
	assert_int_equal(counter(m, VM_THP_FAULT_FALLBACK), 1);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_each_kind_of_request_does_in_7_3),
		cmocka_unit_test(test_what_each_kind_of_request_does_in_6_12_and_6_18),
		cmocka_unit_test(test_an_optional_request_after_a_deferred_compaction_by_kernel),
		cmocka_unit_test(test_skipped_compactions_are_not_counted),
		cmocka_unit_test(test_a_stall_is_a_success_or_a_failure),
		cmocka_unit_test(
			test_small_unmovable_requests_work_for_whole_blocks_under_defrag_mode),
		cmocka_unit_test(test_non_blocking_requests_mix_types_after_one_walk_by_kernel),
		cmocka_unit_test(test_reclaim_is_retried_sixteen_times_without_progress),
		cmocka_unit_test(
			test_after_mixing_is_allowed_a_promoted_request_counts_its_retries_anew),
		cmocka_unit_test(test_the_last_atomic_block_is_worth_a_retry),
		cmocka_unit_test(test_compaction_retries_by_order_result_and_priority),
		cmocka_unit_test(test_a_request_without_fs_never_kills_and_loops),
		cmocka_unit_test(test_running_out_kills_the_task_that_holds_most),
		cmocka_unit_test(test_a_task_that_kills_itself_ends_with_enomem),
		cmocka_unit_test(test_one_remote_huge_page_costs_one_failed_local_attempt),
		cmocka_unit_test(test_no_huge_page_anywhere_costs_three_attempts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
