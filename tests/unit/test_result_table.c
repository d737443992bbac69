/* SPDX-License-Identifier: MIT */
/* The exact text of tables and comparisons: tests/result/NAME.expected. */
#include "result_text.h"
#include <compactlab/result.h>
#include <errno.h>

static struct cl_scenario *canned(void)
{
	char *path = result_path("canned.ini");
	struct cl_scenario *s;
	struct cl_error err;
	char text[2048];

	if (cl_scenario_load(path, &s, &err))
		fail_msg("%s", cl_error_text(&err, text, sizeof(text)));
	free(path);
	return s;
}

static void expect_table(const char *records, const struct cl_table_options *options,
			 const char *expected)
{
	struct cl_scenario *s = canned();
	struct cl_results *r;
	char *path = result_path(records), *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	assert_int_equal(cl_results_load((const char *const[]){path}, 1, &r, NULL), 0);
	assert_int_equal(cl_results_table(to, r, s, options, NULL), 0);
	fclose(to);
	expect_text(text, expected);
	free(text);
	free(path);
	cl_results_free(r);
	cl_scenario_free(s);
}

static void expect_compare(const char *a, const char *b, bool json,
			   const struct cl_table_options *options, const char *expected)
{
	char *paths[2] = {result_path(a), b ? result_path(b) : NULL}, *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	assert_int_equal(cl_results_compare(to, (const char *const *)paths, b ? 2 : 1, json,
					    options, NULL),
			 0);
	fclose(to);
	expect_text(text, expected);
	free(text);
	free(paths[0]);
	free(paths[1]);
}

static void one_run_has_no_range(void **state)
{
	(void)state;
	expect_table("one.jsonl", NULL, "one.expected");
}

static void repeats_have_median_and_range(void **state)
{
	(void)state;
	expect_table("three.jsonl", NULL, "three.expected");
}

static void many_repeats_have_bars_and_show_two_groups(void **state)
{
	(void)state;
	expect_table("seven.jsonl", NULL, "seven.expected");
}

static void kernels_are_columns(void **state)
{
	(void)state;
	expect_table("kernels.jsonl", NULL, "kernels.expected");
}

static void a_narrow_terminal_folds_columns_into_blocks(void **state)
{
	(void)state;
	expect_table("three.jsonl", &(struct cl_table_options){.width = 80}, "narrow.expected");
}

static void all_counters_are_shown_on_demand(void **state)
{
	(void)state;
	expect_table("one.jsonl", &(struct cl_table_options){.all_counters = true}, "all.expected");
}

static void colour_is_for_headings_only(void **state)
{
	(void)state;
	expect_table("one.jsonl", &(struct cl_table_options){.colour = true}, "colour.expected");
}

static void one_file_compares_its_variants(void **state)
{
	(void)state;
	expect_compare("three.jsonl", NULL, false, NULL, "compare-variants.expected");
}

static void files_are_compared_by_variant(void **state)
{
	(void)state;
	expect_compare("before.jsonl", "after.jsonl", false, NULL, "compare-files.expected");
}

static void a_variant_only_one_file_has_stands_alone(void **state)
{
	(void)state;
	expect_compare("before.jsonl", "one.jsonl", false, NULL, "compare-uneven.expected");
}

static void a_comparison_for_programs_is_one_json_object(void **state)
{
	(void)state;
	expect_compare("before.jsonl", "one.jsonl", true, NULL, "compare-json.expected");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_run_has_no_range),
		cmocka_unit_test(repeats_have_median_and_range),
		cmocka_unit_test(many_repeats_have_bars_and_show_two_groups),
		cmocka_unit_test(kernels_are_columns),
		cmocka_unit_test(a_narrow_terminal_folds_columns_into_blocks),
		cmocka_unit_test(all_counters_are_shown_on_demand),
		cmocka_unit_test(colour_is_for_headings_only),
		cmocka_unit_test(one_file_compares_its_variants),
		cmocka_unit_test(files_are_compared_by_variant),
		cmocka_unit_test(a_variant_only_one_file_has_stands_alone),
		cmocka_unit_test(a_comparison_for_programs_is_one_json_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
