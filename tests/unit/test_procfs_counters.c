/* SPDX-License-Identifier: MIT */
#include "test_procfs.h"
#include <stdlib.h>
#include <string.h>

static const char vmstat_text[] = "nr_free_pages 1119518\n"
				  "nr_free_cma 0\n"
				  "numa_hit 18446744073709551615\n"
				  "compact_stall 66\n"
				  "compact_fail 61\n"
				  "nr_unstable 0\n";

static void vmstat_keeps_order_and_finds_by_name(void **state)
{
	struct counters c;
	uint64_t v;

	(void)state;
	assert_int_equal(vmstat_parse(vmstat_text, strlen(vmstat_text), &c, NULL), 0);
	assert_int_equal(c.count, 6);
	assert_int_equal(c.skipped, 0);
	assert_string_equal(c.entry[0].name, "nr_free_pages");
	assert_string_equal(c.entry[5].name, "nr_unstable");
	assert_int_equal(c.entry[3].line, 4);
	assert_true(counters_get(&c, "numa_hit", &v));
	assert_true(v == UINT64_MAX);
	assert_int_equal(counters_value(&c, "compact_fail"), 61);
	assert_false(counters_get(&c, "compact_success", &v));
	counters_free(&c);
}

static void vmstat_leaves_out_damaged_lines_and_counts_them(void **state)
{
	static const char text[] = "compact_stall 5\n"
				   "compact_fail\n"
				   "compact_success 18446744073709551616\n" /* does not fit */
				   "compact_stall 7\n"                      /* twice */
				   "9lives 3\n"
				   "pgfree 12x\n"
				   "pgalloc_dma -3\n"
				   "\n"
				   "pgfault 1\r\n";
	struct counters c;

	(void)state;
	assert_int_equal(vmstat_parse(text, strlen(text), &c, NULL), 0);
	assert_int_equal(c.count, 2);
	assert_int_equal(c.skipped, 6);
	assert_int_equal(counters_value(&c, "compact_stall"), 5);
	assert_int_equal(counters_value(&c, "pgfault"), 1);
	counters_free(&c);
}

static void vmstat_reads_exactly_the_length_it_is_given(void **state)
{
	struct counters c;

	(void)state;
	/* Cut in the middle of the third line's number. */
	assert_int_equal(parse_copy(vmstat_parse, vmstat_text, 48, &c), 0);
	assert_int_equal(c.count, 3);
	assert_int_equal(counters_value(&c, "numa_hit"), 184);
	counters_free(&c);
}

static void vmstat_refuses_text_of_another_kind_with_advice(void **state)
{
	struct cl_error err = {0};
	struct counters c;

	(void)state;
	assert_int_equal(vmstat_parse("hello, world\n", 13, &c, &err), -EINVAL);
	assert_string_equal(err.what, "no line has the form of /proc/vmstat");
	assert_non_null(strstr(err.hint, "compact_stall 42"));
	assert_int_equal(vmstat_parse("", 0, &c, NULL), -EINVAL);
	assert_int_equal(vmstat_parse(NULL, 0, &c, NULL), -EINVAL);
}

static void delta_has_only_what_changed_and_signs_of_gauges(void **state)
{
	static const char a[] = "nr_free_pages 100\ncompact_stall 5\npgfree 9\nonly_old 1\n";
	static const char b[] = "nr_free_pages 40\ncompact_stall 12\npgfree 9\nonly_new 1\n";
	struct counters before, after;
	struct vmstat_delta d;

	(void)state;
	assert_int_equal(vmstat_parse(a, strlen(a), &before, NULL), 0);
	assert_int_equal(vmstat_parse(b, strlen(b), &after, NULL), 0);
	assert_int_equal(vmstat_delta(&before, &after, &d), 0);
	assert_int_equal(d.count, 2);
	assert_int_equal(d.only_before, 1);
	assert_int_equal(d.only_after, 1);
	assert_true(vmstat_delta_of(&d, "nr_free_pages") == -60);
	assert_true(vmstat_delta_of(&d, "compact_stall") == 7);
	assert_true(vmstat_delta_of(&d, "pgfree") == 0);
	assert_int_equal(d.entry[1].before, 5);
	vmstat_delta_free(&d);
	counters_free(&before);
	counters_free(&after);
}

static void many_counters_survive_the_growth_of_the_table(void **state)
{
	char text[200 * 16], *at = text;
	struct counters c;

	(void)state;
	for (unsigned i = 0; i < 200; i++)
		at += sprintf(at, "nr_%u %u\n", (i * 77) % 200, i);
	assert_int_equal(vmstat_parse(text, (size_t)(at - text), &c, NULL), 0);
	assert_int_equal(c.count, 200);
	for (unsigned i = 0; i < 200; i++) {
		char name[16];

		sprintf(name, "nr_%u", (i * 77) % 200);
		assert_int_equal(counters_value(&c, name), i);
	}
	counters_free(&c);
}

static void meminfo_knows_units_and_names_with_brackets(void **state)
{
	static const char text[] = "MemTotal:        4926540 kB\n"
				   "Active(anon):       3100 kB\n"
				   "HugePages_Total:    1024\n"
				   "CmaFree:               0 kB\n"
				   "Half line:\n";
	struct counters c;
	int node;

	(void)state;
	assert_int_equal(meminfo_parse(text, strlen(text), &c, &node, NULL), 0);
	assert_int_equal(node, -1);
	assert_int_equal(c.count, 4);
	assert_int_equal(c.skipped, 1);
	assert_int_equal(counters_value(&c, "Active(anon)"), 3100);
	assert_int_equal(counters_value(&c, "HugePages_Total"), 1024);
	counters_free(&c);
}

static void meminfo_of_a_node_says_which(void **state)
{
	static const char text[] = "\nNode 3 MemTotal:       16384 kB\n"
				   "Node 3 MemFree:        8192 kB\n"
				   "Node 4 MemFree:        1 kB\n";
	struct counters c;
	int node;

	(void)state;
	assert_int_equal(meminfo_parse(text, strlen(text), &c, &node, NULL), 0);
	assert_int_equal(node, 3);
	assert_int_equal(c.count, 2);
	assert_int_equal(counters_value(&c, "MemFree"), 8192);
	counters_free(&c);
	assert_int_equal(meminfo_parse("nothing", 7, &c, &node, NULL), -EINVAL);
}

static void pressure_takes_some_and_full(void **state)
{
	static const char text[] = "some avg10=1.53 avg60=0.00 avg300=100.00 total=123456\n"
				   "full avg10=0.01 avg60=0.00 avg300=0.00 total=99\n";
	struct pressure p;

	(void)state;
	assert_int_equal(pressure_parse(text, strlen(text), &p, NULL), 0);
	assert_true(p.some.present && p.full.present);
	assert_true(p.some.avg10 > 1.529 && p.some.avg10 < 1.531);
	assert_true(p.some.avg300 == 100.0);
	assert_int_equal(p.some.total_us, 123456);
	assert_int_equal(p.full.total_us, 99);
}

static void pressure_without_a_sound_line_is_refused(void **state)
{
	static const char text[] = "some avg10=1.53 avg60=0.00 total=1\nfull\n";
	struct pressure p;

	(void)state;
	assert_int_equal(pressure_parse(text, strlen(text), &p, NULL), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vmstat_keeps_order_and_finds_by_name),
		cmocka_unit_test(vmstat_leaves_out_damaged_lines_and_counts_them),
		cmocka_unit_test(vmstat_reads_exactly_the_length_it_is_given),
		cmocka_unit_test(vmstat_refuses_text_of_another_kind_with_advice),
		cmocka_unit_test(delta_has_only_what_changed_and_signs_of_gauges),
		cmocka_unit_test(many_counters_survive_the_growth_of_the_table),
		cmocka_unit_test(meminfo_knows_units_and_names_with_brackets),
		cmocka_unit_test(meminfo_of_a_node_says_which),
		cmocka_unit_test(pressure_takes_some_and_full),
		cmocka_unit_test(pressure_without_a_sound_line_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
