/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "result/figure.h"
#include "result/stat.h"

#define EXPECT(buf, text) assert_string_equal(buf, text)

static struct stat_summary summary(unsigned count, double *values)
{
	struct stat_summary s;

	stat_summarize(values, count, &s);
	return s;
}

static void median_of_an_odd_count_is_the_middle_value(void **state)
{
	struct stat_summary s = summary(5, (double[]){1473, 9, 649, 41, 575});

	(void)state;
	assert_true(s.median == 575);
	assert_true(s.min == 9);
	assert_true(s.max == 1473);
	assert_int_equal(s.count, 5);
}

static void median_of_an_even_count_is_the_mean_of_the_two_middle_values(void **state)
{
	(void)state;
	assert_true(summary(4, (double[]){7, 100, 1, 4}).median == 5.5);
	assert_true(summary(2, (double[]){-3, 4}).median == 0.5);
}

static void one_value_is_median_and_both_ends(void **state)
{
	struct stat_summary s = summary(1, (double[]){-2.5});

	(void)state;
	assert_true(s.median == -2.5 && s.min == -2.5 && s.max == -2.5);
}

static void ranges_are_apart_only_without_a_common_value(void **state)
{
	struct stat_summary low = {3, 2, 1, 3}, high = {3, 5, 4, 6}, touching = {3, 4, 3, 5};

	(void)state;
	assert_true(stat_apart(&low, &high));
	assert_true(stat_apart(&high, &low));
	assert_false(stat_apart(&low, &touching));
	assert_false(stat_apart(&low, &low));
}

static void a_single_run_is_never_apart(void **state)
{
	struct stat_summary one = {1, 100, 100, 100}, three = {3, 2, 1, 3};

	(void)state;
	assert_false(stat_apart(&one, &three));
	assert_false(stat_apart(&three, &one));
}

static unsigned lower_group(unsigned count, double *values)
{
	struct stat_summary s;

	stat_summarize(values, count, &s); /* sorts */
	return stat_lower_group(values, count);
}

static void two_groups_are_parted_by_most_of_the_range(void **state)
{
	(void)state;
	assert_int_equal(lower_group(7, (double[]){8, 0, 516, 400, 534, 521, 495}), 2);
	assert_int_equal(lower_group(6, (double[]){1, 2, 3, 4, 5, 6}), 0);
	assert_int_equal(lower_group(6, (double[]){7, 7, 7, 7, 7, 7}), 0);
}

static void one_run_far_away_is_no_group(void **state)
{
	(void)state;
	assert_int_equal(lower_group(6, (double[]){500, 510, 0, 505, 515, 520}), 0);
	assert_int_equal(lower_group(6, (double[]){0, 1, 2, 3, 4, 100}), 0);
}

static void too_few_runs_have_no_groups(void **state)
{
	(void)state;
	assert_int_equal(lower_group(4, (double[]){0, 1, 100, 101}), 0);
}

static void bars_are_as_high_as_their_values(void **state)
{
	char buf[64];

	(void)state;
	EXPECT(figure_bars((double[]){0, 50, 100}, 3, 0, 100, buf, sizeof(buf)), "▁▅█");
	EXPECT(figure_bars((double[]){4, 4}, 2, 4, 4, buf, sizeof(buf)), "▁▁");
	EXPECT(figure_bars((double[]){1, 2, 3}, 3, 0, 100, buf, FIGURE_BARS_BYTES(1)), "▁");
}

static void figures_follow_the_unit_in_the_name(void **state)
{
	char buf[64];

	(void)state;
	EXPECT(figure_print("time_ns", 531000000, buf, sizeof(buf)), "531 ms");
	EXPECT(figure_print("time_ns", -1500, buf, sizeof(buf)), "-1.50 us");
	EXPECT(figure_print("bytes", 805306368, buf, sizeof(buf)), "768M");
	EXPECT(figure_print("chunk_bytes", 1000, buf, sizeof(buf)), "1000");
	EXPECT(figure_print("compact_stall", 649, buf, sizeof(buf)), "649");
	EXPECT(figure_print("compact_stall", 648.5, buf, sizeof(buf)), "648.5");
	EXPECT(figure_print("compact_stall", 0.0625, buf, sizeof(buf)), "0.0625");
	EXPECT(figure_print("nr_free_pages", -123456789, buf, sizeof(buf)), "-123456789");
	EXPECT(figure_print("pages_in_bytesize", 4096, buf, sizeof(buf)), "4096");
}

static void a_range_says_a_common_unit_once(void **state)
{
	char buf[96];

	(void)state;
	EXPECT(figure_range("time_ns", 504e6, 560e6, buf, sizeof(buf)), "[504..560 ms]");
	EXPECT(figure_range("time_ns", 900e3, 1.5e6, buf, sizeof(buf)), "[900 us..1.50 ms]");
	EXPECT(figure_range("compact_stall", 9, 41, buf, sizeof(buf)), "[9..41]");
}

static void a_change_is_in_percent_of_the_baseline(void **state)
{
	char buf[64];

	(void)state;
	EXPECT(figure_change("compact_stall", 649, 9, buf, sizeof(buf)), "(-98.6%)");
	EXPECT(figure_change("compact_stall", 40, 43, buf, sizeof(buf)), "(+7.5%)");
	EXPECT(figure_change("compact_stall", 100000, 100001, buf, sizeof(buf)), "(0.0%)");
	EXPECT(figure_change("compact_stall", 1, 1234, buf, sizeof(buf)), "(+123300%)");
	EXPECT(figure_change("nr_free_pages", -50, -100, buf, sizeof(buf)), "(-100.0%)");
}

static void a_change_from_0_is_the_difference(void **state)
{
	char buf[64];

	(void)state;
	EXPECT(figure_change("compact_stall", 0, 5, buf, sizeof(buf)), "(+5)");
	EXPECT(figure_change("nr_free_pages", 0, -5, buf, sizeof(buf)), "(-5)");
	EXPECT(figure_change("compaction_ns", 0, 2e6, buf, sizeof(buf)), "(+2.00 ms)");
	EXPECT(figure_change("compact_stall", 0, 0, buf, sizeof(buf)), "(0.0%)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(median_of_an_odd_count_is_the_middle_value),
		cmocka_unit_test(median_of_an_even_count_is_the_mean_of_the_two_middle_values),
		cmocka_unit_test(one_value_is_median_and_both_ends),
		cmocka_unit_test(ranges_are_apart_only_without_a_common_value),
		cmocka_unit_test(a_single_run_is_never_apart),
		cmocka_unit_test(two_groups_are_parted_by_most_of_the_range),
		cmocka_unit_test(one_run_far_away_is_no_group),
		cmocka_unit_test(too_few_runs_have_no_groups),
		cmocka_unit_test(bars_are_as_high_as_their_values),
		cmocka_unit_test(figures_follow_the_unit_in_the_name),
		cmocka_unit_test(a_range_says_a_common_unit_once),
		cmocka_unit_test(a_change_is_in_percent_of_the_baseline),
		cmocka_unit_test(a_change_from_0_is_the_difference),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
