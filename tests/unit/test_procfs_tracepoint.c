/* SPDX-License-Identifier: MIT */
#include "test_procfs.h"

static int parse(const char *line, struct compaction_event *e)
{
	char *copy = malloc(strlen(line) + 1);
	int r;

	assert_non_null(copy);
	memcpy(copy, line, strlen(line));
	r = compaction_event_parse(copy, strlen(line), e);
	free(copy);
	return r;
}

static void begin_and_end_carry_the_zone_and_the_mode(void **state)
{
	struct compaction_event e;

	(void)state;
	assert_int_equal(
		parse("           <...>-2201    [001] .....   123.456789: mm_compaction_begin: "
		      "zone_start=0x100000 migrate_pfn=0x100200 free_pfn=0x17fe00 "
		      "zone_end=0x180000, "
		      "mode=async",
		      &e),
		0);
	assert_int_equal(e.kind, COMPACTION_BEGIN);
	assert_string_equal(e.comm, "<...>");
	assert_int_equal(e.pid, 2201);
	assert_int_equal(e.cpu, 1);
	assert_true(e.time_ns == 123456789000ULL);
	assert_int_equal(e.zone_start, 0x100000);
	assert_int_equal(e.migrate_pfn, 0x100200);
	assert_int_equal(e.free_pfn, 0x17fe00);
	assert_int_equal(e.zone_end, 0x180000);
	assert_int_equal(e.sync, 0);
	assert_int_equal(e.status, COMPACTION_STATUS_UNKNOWN);

	assert_int_equal(
		parse("      kcompactd0-45      [000] d..2.   124.000001: mm_compaction_end: "
		      "zone_start=0x1000 migrate_pfn=0x1200 free_pfn=0x2000 zone_end=0x3000, "
		      "mode=sync status=partial_skipped\n",
		      &e),
		0);
	assert_int_equal(e.kind, COMPACTION_END);
	assert_int_equal(e.sync, 1);
	assert_int_equal(e.status, COMPACTION_STATUS_PARTIAL_SKIPPED);
	assert_string_equal(e.comm, "kcompactd0");
}

/* A thread's name is any 15 bytes. */
static void the_comm_may_hold_blanks_dashes_and_brackets(void **state)
{
	static const struct {
		const char *head, *comm;
		int pid, cpu;
	} cases[] = {
		{"   DOM Worker [3]-77 [002] .N... 5.000000: ", "DOM Worker [3]", 77, 2},
		{"  a-b-12 [9]-13-400 [000] ..... 5.000000: ", "a-b-12 [9]-13", 400, 0},
		{"  kworker/0:1-ev-88   [000] .... 5.000000: ", "kworker/0:1-ev", 88, 0},
		{" ruby (x): y-88 (   80) [011] ..... 5.000000: ", "ruby (x): y", 88, 11},
		{"  [000]-9 [010] 5.000000: ", "[000]", 9, 10}, /* no flags column */
		{"mem hog  4711 [003]     5.000000: compaction:", "mem hog", 4711, 3}, /* perf */
		{"mem hog  4711/4712 [003]     5.000000: compaction:", "mem hog", 4711, 3},
	};
	struct compaction_event e;
	char line[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(line, sizeof(line),
			 "%smm_compaction_migratepages: nr_migrated=31 nr_failed=1", cases[i].head);
		assert_int_equal(parse(line, &e), 0);
		assert_string_equal(e.comm, cases[i].comm);
		assert_int_equal(e.pid, cases[i].pid);
		assert_int_equal(e.cpu, cases[i].cpu);
		assert_true(e.time_ns == 5000000000ULL);
		assert_int_equal(e.migrated, 31);
		assert_int_equal(e.failed, 1);
	}
}

static void deferral_events_give_the_shift(void **state)
{
	static const char *const names[] = {"deferred", "defer_compaction", "defer_reset"};
	static const enum compaction_event_kind kinds[] = {COMPACTION_DEFERRED,
							   COMPACTION_DEFER_COMPACTION,
							   COMPACTION_DEFER_RESET};
	struct compaction_event e;
	char line[256];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(line, sizeof(line),
			 "x-1 [000] ..... 1.5: mm_compaction_%s: node=1 zone=Normal   order=9 "
			 "order_failed=8 consider=3 limit=64",
			 names[i]);
		assert_int_equal(parse(line, &e), 0);
		assert_int_equal(e.kind, kinds[i]);
		assert_int_equal(e.node, 1);
		assert_string_equal(e.zone, "Normal");
		assert_int_equal(e.order, 9);
		assert_int_equal(e.order_failed, 8);
		assert_int_equal(e.considered, 3);
		assert_int_equal(e.limit, 64);
		assert_int_equal(e.defer_shift, 6);
		assert_int_equal(e.sync, -1);
		assert_string_equal(compaction_event_name(e.kind), names[i]);
	}
	assert_int_equal(parse("x-1 [000] ..... 1.5: mm_compaction_deferred: node=1 zone=Normal "
			       "order=9 order_failed=8 consider=3 limit=2 sync=1",
			       &e),
			 0);
	assert_int_equal(e.sync, 1);
	assert_int_equal(e.defer_shift, 1);
}

static void the_other_events_carry_their_fields(void **state)
{
	struct compaction_event e;

	(void)state;
	assert_int_equal(parse("x-1 [000] ..... 1.5: mm_compaction_isolate_freepages: "
			       "range=(0x17fe00 ~ 0x180000) nr_scanned=512 nr_taken=33",
			       &e),
			 0);
	assert_int_equal(e.kind, COMPACTION_ISOLATE_FREEPAGES);
	assert_int_equal(e.range_start, 0x17fe00);
	assert_int_equal(e.range_end, 0x180000);
	assert_int_equal(e.scanned, 512);
	assert_int_equal(e.taken, 33);

	assert_int_equal(parse("x-1 [000] ..... 1.5: mm_compaction_try_to_compact_pages: order=9 "
			       "gfp_mask=GFP_TRANSHUGE|__GFP_THISNODE priority=2",
			       &e),
			 0);
	assert_int_equal(e.order, 9);
	assert_string_equal(e.gfp, "GFP_TRANSHUGE|__GFP_THISNODE");
	assert_int_equal(e.priority, 2);

	assert_int_equal(parse("x-1 [000] ..... 1.5: mm_compaction_finished: node=0 zone=DMA32    "
			       "order=9 ret=no_suitable_page",
			       &e),
			 0);
	assert_string_equal(e.zone, "DMA32");
	assert_int_equal(e.status, COMPACTION_STATUS_NO_SUITABLE_PAGE);

	assert_int_equal(
		parse("x-1 [000] ..... 1.5: mm_compaction_suitable: node=0 zone=Normal   order=9 "
		      "ret=continue",
		      &e),
		0);
	assert_int_equal(e.kind, COMPACTION_SUITABLE);
	assert_int_equal(e.status, COMPACTION_STATUS_CONTINUE);

	assert_int_equal(parse("kswapd0-50 [000] ..... 1.5: mm_compaction_wakeup_kcompactd: nid=0 "
			       "order=6 classzone_idx=Normal  ",
			       &e),
			 0);
	assert_int_equal(e.kind, COMPACTION_WAKEUP_KCOMPACTD);
	assert_int_equal(e.node, 0);
	assert_int_equal(e.order, 6);
	assert_string_equal(e.zone, "Normal");

	assert_int_equal(
		parse("kcompactd1-50 [000] ..... 1.5: mm_compaction_kcompactd_sleep: nid=1", &e),
		0);
	assert_int_equal(e.node, 1);
	assert_int_equal(e.order, -1);
}

/* 3.14 printed addresses in decimal and under other names. */
static void events_of_old_kernels_are_read(void **state)
{
	struct compaction_event e;

	(void)state;
	assert_int_equal(parse("x-1 [000] .... 1.5: mm_compaction_begin: zone_start=4096 "
			       "migrate_start=4608 free_start=8192 zone_end=12288",
			       &e),
			 0);
	assert_int_equal(e.zone_start, 4096);
	assert_int_equal(e.migrate_pfn, 4608);
	assert_int_equal(e.free_pfn, 8192);
	assert_int_equal(e.sync, -1);
	assert_int_equal(parse("x-1 [000] .... 1.5: mm_compaction_isolate_migratepages: "
			       "nr_scanned=1024 nr_taken=0",
			       &e),
			 0);
	assert_int_equal(e.scanned, 1024);
}

static void other_lines_are_no_events(void **state)
{
	static const char *const lines[] = {
		"",
		"# tracer: nop",
		"x-1 [000] ..... 1.5: mm_vmscan_kswapd_wake: nid=0 order=9",
		"x-1 [000] ..... 1.5: mm_compaction_new_event: nid=0",
		"CPU:0 [LOST 17 EVENTS]",
		"mm_compaction_begin",
	};
	struct compaction_event e;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(lines[i], &e), -ENOENT);
}

static void damaged_events_are_refused(void **state)
{
	static const char *const lines[] = {
		"x-1 [000] ..... 1.5: mm_compaction_migratepages: nr_migrated=31 nr_fail",
		"x-1 [000] ..... 1.5: mm_compaction_migratepages: nr_migrated=31x nr_failed=1",
		"x-1 [000] ..... yesterday: mm_compaction_migratepages: nr_migrated=31 nr_failed=1",
		"x-1 [000] ..... 1.5: mm_compaction_begin: zone_start=0x1 migrate_pfn=0x1 "
		"free_pfn=0x2",
		"x-1 [000] ..... 1.5: mm_compaction_isolate_freepages: range=(0x17fe00 "
		"nr_scanned=1 "
		"nr_taken=1",
		"x-1 [000] ..... 1.5: mm_compaction_deferred: node=1 zone=Normal order=9 "
		"order_failed=8 consider=3 limit=0",
		"x-1 [000] ..... 1.5: mm_compaction_kcompactd_wake: nid=99999999999 order=3",
	};
	struct compaction_event e;

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_int_equal(parse(lines[i], &e), -EINVAL);
}

static void an_event_survives_a_cut_at_every_byte(void **state)
{
	static const char line[] =
		"  a-b [9]-13-400 [000] d..2. 5.000000: mm_compaction_defer_compaction: node=1 "
		"zone=Normal   order=9 order_failed=8 consider=3 limit=64";
	struct compaction_event e;

	(void)state;
	for (size_t n = 1; n < sizeof(line); n++) {
		char *copy = malloc(n);

		assert_non_null(copy);
		memcpy(copy, line, n);
		compaction_event_parse(copy, n, &e);
		free(copy);
	}
	assert_int_equal(compaction_event_parse(line, strlen(line), &e), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(begin_and_end_carry_the_zone_and_the_mode),
		cmocka_unit_test(the_comm_may_hold_blanks_dashes_and_brackets),
		cmocka_unit_test(deferral_events_give_the_shift),
		cmocka_unit_test(the_other_events_carry_their_fields),
		cmocka_unit_test(events_of_old_kernels_are_read),
		cmocka_unit_test(other_lines_are_no_events),
		cmocka_unit_test(damaged_events_are_refused),
		cmocka_unit_test(an_event_survives_a_cut_at_every_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
