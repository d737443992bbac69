/* SPDX-License-Identifier: MIT */
/* Events as text: the lines of the kernel's trace file. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/compact.h"
#include "model/defer.h"
#include "model/policy.h"

static void assert_line(const struct trace_event *ev, const char *want)
{
	char buf[512];
	size_t n = trace_format(ev, buf, sizeof(buf));

	assert_int_equal(n, strlen(buf));
	assert_string_equal(buf, want);
}

static void test_lines_are_the_kernels(void **state)
{
	struct trace_event ev = {
		.id = TRACE_COMPACT_BEGIN,
		.time = 16797807123ull,
		.cpu = {1},
		.comm = "memhog",
		.pid = 112,
		.zone_start = 0x1000,
		.migrate_pfn = 0x1000,
		.free_pfn = 0x2fe00,
		.zone_end = 0x30000,
	};

	(void)state;
	assert_line(&ev, "          memhog-112     [001] .....    16.797807: mm_compaction_begin: "
			 "zone_start=0x1000 migrate_pfn=0x1000 free_pfn=0x2fe00 zone_end=0x30000, "
			 "mode=async");
	ev.id = TRACE_COMPACT_END;
	ev.sync = true;
	ev.status = COMPACT_PARTIAL_SKIPPED;
	assert_line(&ev, "          memhog-112     [001] .....    16.797807: mm_compaction_end: "
			 "zone_start=0x1000 migrate_pfn=0x1000 free_pfn=0x2fe00 zone_end=0x30000, "
			 "mode=sync status=partial_skipped");
}

#define WHO "               ?-0       [000] .....     0.000000: "

static void test_fields_of_each_kind_of_event(void **state)
{
	static const struct {
		struct trace_event ev;
		const char *text;
	} cases[] = {
		{{.id = TRACE_TRY_TO_COMPACT_PAGES,
		  .order = 9,
		  .prio = 2,
		  .gfp = GFP_TRANSHUGE | __GFP_NORETRY | __GFP_THISNODE},
		 "mm_compaction_try_to_compact_pages: order=9 "
		 "gfp_mask=GFP_TRANSHUGE|__GFP_NORETRY|__GFP_THISNODE priority=2"},
		{{.id = TRACE_COMPACT_SUITABLE,
		  .nid = 0,
		  .idx = ZONE_DMA32,
		  .order = 9,
		  .ret = COMPACT_CONTINUE},
		 "mm_compaction_suitable: node=0 zone=DMA32    order=9 ret=continue"},
		{{.id = TRACE_COMPACT_FINISHED,
		  .nid = 1,
		  .idx = ZONE_NORMAL,
		  .order = -1,
		  .ret = COMPACT_NO_SUITABLE_PAGE},
		 "mm_compaction_finished: node=1 zone=Normal   order=-1 ret=no_suitable_page"},
		{{.id = TRACE_DEFERRED,
		  .idx = ZONE_NORMAL,
		  .order = 9,
		  .considered = 3,
		  .defer_shift = 6},
		 "mm_compaction_deferred: node=0 zone=Normal   order=9 order_failed=0 consider=3 "
		 "limit=64"},
		{{.id = TRACE_DEFER_RESET,
		  .idx = ZONE_NORMAL,
		  .order = 9,
		  .defer_set = 1 + DEFER_ASYNC},
		 "mm_compaction_defer_reset: node=0 zone=Normal   order=9 order_failed=0 "
		 "consider=0 "
		 "limit=1 sync=0"},
		{{.id = TRACE_ISOLATE_FREEPAGES,
		  .start_pfn = 0x200,
		  .end_pfn = 0x400,
		  .nr_scanned = 16},
		 "mm_compaction_isolate_freepages: range=(0x200 ~ 0x400) nr_scanned=16 nr_taken=0"},
		{{.id = TRACE_COMPACT_MIGRATEPAGES, .nr_migrated = 14, .nr_failed = 18},
		 "mm_compaction_migratepages: nr_migrated=14 nr_failed=18"},
		{{.id = TRACE_KCOMPACTD_SLEEP, .nid = 1}, "mm_compaction_kcompactd_sleep: nid=1"},
		{{.id = TRACE_KCOMPACTD_WAKE, .order = 9, .highest_zoneidx = ZONE_NORMAL},
		 "mm_compaction_kcompactd_wake: nid=0 order=9 classzone_idx=Normal  "},
		{{.id = TRACE_COMPACT_RETRY,
		  .order = 9,
		  .prio = 1,
		  .status = COMPACT_SUCCESS,
		  .retries = 1,
		  .max_retries = 4,
		  .ret = 1},
		 "compact_retry: order=9 priority=COMPACT_PRIO_SYNC_LIGHT "
		 "compaction_result=progress "
		 "retries=1 max_retries=4 should_retry=1"},
		{{.id = TRACE_DIRECT_RECLAIM_BEGIN,
		  .order = 0,
		  .gfp = GFP_HIGHUSER_MOVABLE | __GFP_ZERO},
		 "mm_vmscan_direct_reclaim_begin: order=0 "
		 "gfp_flags=GFP_HIGHUSER_MOVABLE|__GFP_ZERO"},
		{{.id = TRACE_WAKEUP_KSWAPD, .nid = 0, .order = 9},
		 "mm_vmscan_wakeup_kswapd: nid=0 order=9 gfp_flags=none"},
		{{.id = TRACE_PAGE_ALLOC,
		  .pfn = PFN_NONE,
		  .order = 9,
		  .migratetype = 1,
		  .gfp = GFP_ATOMIC},
		 "mm_page_alloc: page=0000000000000000 pfn=0x0 order=9 migratetype=1 "
		 "gfp_flags=GFP_ATOMIC"},
		{{.id = TRACE_PAGE_ALLOC_EXTFRAG,
		  .pfn = 0x1000,
		  .order = 0,
		  .fallback_order = 4,
		  .migratetype = 0,
		  .fallback_migratetype = 1,
		  .change_ownership = true},
		 "mm_page_alloc_extfrag: page=ffffea0000040000 pfn=0x1000 alloc_order=0 "
		 "fallback_order=4 "
		 "pageblock_order=9 alloc_migratetype=0 fallback_migratetype=1 fragmenting=1 "
		 "change_ownership=1"},
		{{.id = TRACE_MIGRATE_PAGES,
		  .nr_migrated = 32,
		  .mode = MIGRATE_SYNC_LIGHT,
		  .reason = MR_COMPACTION},
		 "mm_migrate_pages: nr_succeeded=32 nr_failed=0 nr_thp_succeeded=0 nr_thp_failed=0 "
		 "nr_thp_split=0 nr_split=0 mode=MIGRATE_SYNC_LIGHT reason=compaction"},
		{{.id = TRACE_MIGRATE_PAGES_START, .mode = MIGRATE_SYNC, .reason = MR_LONGTERM_PIN},
		 "mm_migrate_pages_start: mode=MIGRATE_SYNC reason=longterm_pin"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char want[512];

		snprintf(want, sizeof(want), WHO "%s", cases[i].text);
		assert_line(&cases[i].ev, want);
	}
}

static void test_7_3_says_who_reclaims_and_which_order_collapses(void **state)
{
	struct trace_event ev = {
		.order = 9, .gfp = GFP_KERNEL, .nr_reclaimed = 33, .isolated = 1, .status = 1};

	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		ev.profile = profile_get((enum profile_id)p);
		ev.pid = 0;
		ev.id = TRACE_DIRECT_RECLAIM_BEGIN;
		assert_line(&ev, p == PROFILE_C ? WHO "mm_vmscan_direct_reclaim_begin: order=9 "
						      "gfp_flags=GFP_KERNEL pid=0 memcg_id=0 "
						: WHO "mm_vmscan_direct_reclaim_begin: order=9 "
						      "gfp_flags=GFP_KERNEL");
		ev.id = TRACE_DIRECT_RECLAIM_END;
		assert_line(&ev, p == PROFILE_C
					 ? WHO "mm_vmscan_direct_reclaim_end: nr_reclaimed=33 "
					       "pid=0 memcg_id=0 "
					 : WHO "mm_vmscan_direct_reclaim_end: nr_reclaimed=33");
		ev.id = TRACE_COLLAPSE_HUGE_PAGE;
		assert_line(&ev, p == PROFILE_C ? WHO "mm_collapse_huge_page: mm=0000000000000000, "
						      "isolated=1, status=succeeded, order=9"
						: WHO "mm_collapse_huge_page: mm=0000000000000000, "
						      "isolated=1, status=succeeded");
	}
}

static void test_every_event_has_a_name_and_a_line(void **state)
{
	char buf[512];

	(void)state;
	for (int id = 0; id < NR_TRACE_EVENTS; id++) {
		struct trace_event ev = {.id = (enum trace_id)id};

		assert_non_null(trace_event_name(ev.id));
		assert_true(trace_format(&ev, buf, sizeof(buf)) > sizeof(WHO));
		assert_non_null(strstr(buf, trace_event_name(ev.id)));
	}
}

static void test_a_short_buffer_is_filled_and_ended(void **state)
{
	struct trace_event ev = {.id = TRACE_COMPACT_BEGIN};
	char buf[40];

	(void)state;
	memset(buf, 'x', sizeof(buf));
	assert_int_equal(trace_format(&ev, buf, sizeof(buf)), sizeof(buf) - 1);
	assert_int_equal(buf[sizeof(buf) - 1], '\0');
}

static bool two_sets(struct model *m, struct zone *z, int order, enum compact_priority prio)
{
	(void)prio;
	return defer_check(m, z, DEFER_ASYNC, order);
}

static void test_only_a_kernel_with_two_sets_prints_which(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	struct policy policy = *m->policy;
	struct recorded r;

	(void)state;
	record(m, &r, TRACE_DEFER_COMPACTION);
	defer_fail(m, &m->zone[0], DEFER_SYNC, 9);
	assert_int_equal(r.ev[0].defer_set, 0);
	policy.deferred = two_sets;
	m->policy = &policy;
	defer_fail(m, &m->zone[0], DEFER_SYNC, 9);
	assert_int_equal(r.ev[1].defer_set, 1 + DEFER_SYNC);
	record_stop(m);
	machine_end(m);
}

static void test_a_run_prints_a_trace_file(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	assert_non_null(out);
	fputs(trace_header, out);
	model_trace(m, trace_print, out);
	defer_fail(m, &m->zone[0], DEFER_SYNC, 9);
	defer_reset(m, &m->zone[0], DEFER_SYNC, 9, true);
	model_trace(m, NULL, NULL);
	fclose(out);
	assert_int_equal(strncmp(text, "# tracer: nop\n#\n", 16), 0);
	assert_non_null(strstr(
		text,
		"     task-0-1000    [000] .....     0.000000: mm_compaction_defer_compaction: "
		"node=0 zone=Normal   order=9 order_failed=0 consider=0 limit=2\n"));
	assert_non_null(strstr(text, "mm_compaction_defer_reset: node=0 zone=Normal   order=9 "
				     "order_failed=10 consider=0 limit=1\n"));
	free(text);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines_are_the_kernels),
		cmocka_unit_test(test_fields_of_each_kind_of_event),
		cmocka_unit_test(test_7_3_says_who_reclaims_and_which_order_collapses),
		cmocka_unit_test(test_every_event_has_a_name_and_a_line),
		cmocka_unit_test(test_a_short_buffer_is_filled_and_ended),
		cmocka_unit_test(test_only_a_kernel_with_two_sets_prints_which),
		cmocka_unit_test(test_a_run_prints_a_trace_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
