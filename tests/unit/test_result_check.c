/* SPDX-License-Identifier: MIT */
/* Relations: their grammar, and what they say about canned records. */
#include "result_text.h"
#include "result/relation.h"
#include "scenario/plan.h"
#include <compactlab/result.h>
#include <errno.h>

static int parse(const char *text, struct cl_error *err)
{
	struct relation *relation;
	int r = relation_parse(text, &relation, err);

	relation_free(relation);
	return r;
}

static void expect_parse_error(const char *relation, const char *message)
{
	struct cl_error err = {0};
	char text[2048];
	int r = parse(relation, &err);

	if (!r)
		fail_msg("'%s' was accepted", relation);
	assert_int_equal(r, -EINVAL);
	assert_string_equal(cl_error_text(&err, text, sizeof(text)), message);
}

static void expect_parse(const char *relation)
{
	struct cl_error err = {0};
	char text[2048];

	if (parse(relation, &err))
		fail_msg("'%s': %s", relation, cl_error_text(&err, text, sizeof(text)));
}

static void well_formed_relations_are_accepted(void **state)
{
	(void)state;
	expect_parse("a.s.m < 1");
	expect_parse(
		"defer-async-v3.populate.compact_stall < 0.1 * mainline.populate.compact_stall");
	expect_parse("6.12+fix.s.m>=-(1 + 2)*3e2/b.s.m - 4");
	expect_parse("max(a.s.m) - min(a.s.m) != median((a.s.x))");
	expect_parse("--1 <= a.s.m");
	expect_parse("7.s.m == 7.0");
	expect_parse("all.s.m > 0");
	expect_parse("min.s.m > 0"); /* a variant of that name */
}

static void errors_say_what_and_at_which_column(void **state)
{
	(void)state;
	expect_parse_error("", "expected a measure or a number, but the relation ends at column 1");
	expect_parse_error("a.s.m", "expected one of < <= == != >= >, but the relation ends at "
				    "column 6");
	expect_parse_error("a.s.m <", "expected a measure or a number, but the relation ends at "
				      "column 8");
	expect_parse_error("a.s.m = 1", "'=' at column 7 has no meaning here (equality is written "
					"==)");
	expect_parse_error("a.s.m < 1 < 2", "a relation has one comparison, '<' at column 11 is "
					    "the second");
	expect_parse_error("(a.s.m < 1", "expected ')', found '<' at column 8");
	expect_parse_error("a.s.m < (1", "expected ')', but the relation ends at column 11");
	expect_parse_error("a.s.m < 1 2", "expected an operator, found '2' at column 11");
	expect_parse_error("a.s.m < 1)", "expected an operator, found ')' at column 10");
	expect_parse_error("1 < 2", "the relation has no measure in it");
	expect_parse_error("a.s.m < * 2", "expected a measure or a number, found '*' at column 9");
	expect_parse_error("a.s.m & 2", "'&' at column 7 has no meaning here (a relation looks "
					"like a.step.huge < 0.5 * b.step.huge)");
}

static void errors_in_words_have_advice(void **state)
{
	(void)state;
	expect_parse_error("s.m < 1", "'s.m' at column 1 is no measure (write VARIANT.STEP.NAME)");
	expect_parse_error("a.s.m-2 < 1",
			   "'a.s.m-2' at column 1 is no measure (write VARIANT.STEP.NAME, and a "
			   "blank before and after an operator -)");
	expect_parse_error("1+2 < a.s.m",
			   "'1+2' at column 1 is no measure (write VARIANT.STEP.NAME, and a blank "
			   "before and after an operator +)");
	expect_parse_error("a..m < 1",
			   "'a..m' at column 1 is no measure (write VARIANT.STEP.NAME)");
	expect_parse_error("12M < a.s.m", "'12M' at column 1 is no measure (write "
					  "VARIANT.STEP.NAME)");
	expect_parse_error("mean(a.s.m) < 1", "there is no function 'mean' (column 1) (there are "
					      "min, max and median)");
	expect_parse_error("max(a.s.m + b.s.m) < 1", "max() at column 1 is over the repeats of one "
						     "variant, but names several");
	expect_parse_error("1 + max(min(a.s.m)) < 1", "max() at column 5 has another function "
						      "inside");
}

static void deep_nesting_is_refused(void **state)
{
	char relation[256];

	(void)state;
	memset(relation, '(', 200);
	strcpy(relation + 200, "a.s.m");
	expect_parse_error(relation, "nested too deeply at column 65");
	memset(relation, '-', 200);
	expect_parse_error(relation, "nested too deeply at column 65");
}

static void a_chain_without_end_is_an_error(void **state)
{
	char *relation = malloc(2000001), *end = stpcpy(relation, "a.s.m");

	(void)state;
	while (end < relation + 2000000 - 4)
		end = stpcpy(end, " + 1");
	expect_parse_error(relation,
			   "the relation has more than 1024 numbers, measures and operators");
	free(relation);
}

static void any_text_is_accepted_or_has_an_error_with_words(void **state)
{
	static const char *const parts[] = {"a.s.m", "all.s.m", "1",    "0.5", " ", "<", "<=",
					    "==",    "!=",      "+",    "- ",  "*", "/", "(",
					    ")",     "min(",    "max(", "e",   ".", "#", "-"};
	uint64_t seed = 1;
	unsigned accepted = 0;

	(void)state;
	for (unsigned i = 0; i < 200000; i++) {
		char text[128] = "";
		struct cl_error err = {0};

		for (uint64_t n = 1 + random_below(&seed, 12); n; n--)
			strcat(text, parts[random_below(&seed, sizeof(parts) / sizeof(parts[0]))]);
		if (!parse(text, &err))
			accepted++;
		else if (!*err.what)
			fail_msg("no message for '%s'", text);
	}
	assert_true(accepted > 100);
}

/* --- evaluation --- */

static struct cl_scenario *scenario_with(const char *checks)
{
	static const char head[] = "[experiment]\ntitle = t\n[variant mainline]\n"
				   "[variant defer-async-v3]\n[variant 6.12+fix]\n"
				   "[step hog]\nkind = fill\nsize = 64M\n"
				   "[step populate]\nkind = fault\nsize = 128M\n[check]\n";
	char *text = format("%s%s\n", head, checks), message[2048];
	struct cl_scenario *s;
	struct cl_error err;

	if (cl_scenario_parse(text, strlen(text), "t.ini", &s, &err))
		fail_msg("%s", cl_error_text(&err, message, sizeof(message)));
	free(text);
	return s;
}

/* The lines printed about `checks` on canned records. */
static void expect_lines(const char *records, const char *checks, const char *expected)
{
	struct cl_scenario *s = scenario_with(checks);
	struct cl_check_summary sum;
	struct cl_results *r;
	char *path = result_path(records), *text;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	assert_int_equal(cl_results_load((const char *const[]){path}, 1, &r, NULL), 0);
	assert_int_equal(cl_results_check(to, r, s, &sum, NULL), 0);
	fclose(to);
	assert_string_equal(text, expected);
	free(text);
	free(path);
	cl_results_free(r);
	cl_scenario_free(s);
}

static void medians_of_several_variants_are_compared(void **state)
{
	(void)state;
	expect_lines("three.jsonl",
		     "c = defer-async-v3.populate.compact_stall < "
		     "0.1 * mainline.populate.compact_stall",
		     "HOLDS    c: defer-async-v3.populate.compact_stall < 0.1 * "
		     "mainline.populate.compact_stall (3 < 4)\n");
	expect_lines("three.jsonl",
		     "c = defer-async-v3.populate.compact_stall >= mainline.populate.compact_stall",
		     "FAILS    c: defer-async-v3.populate.compact_stall >= "
		     "mainline.populate.compact_stall (3 is not >= 40)\n");
}

static void one_variant_must_hold_in_every_repeat(void **state)
{
	(void)state;
	expect_lines("three.jsonl", "c = mainline.populate.compact_stall >= 38",
		     "HOLDS    c: mainline.populate.compact_stall >= 38 ([38..43] >= 38)\n");
	expect_lines("three.jsonl", "c = mainline.populate.compact_stall >= 39",
		     "FAILS    c: mainline.populate.compact_stall >= 39 (38 is not >= 39 in repeat "
		     "3 of 3)\n");
	expect_lines("three.jsonl",
		     "c = mainline.populate.compact_fail == mainline.populate.compact_stall",
		     "HOLDS    c: mainline.populate.compact_fail == "
		     "mainline.populate.compact_stall ([38..43] == [38..43])\n");
}

static void functions_are_over_repeats(void **state)
{
	(void)state;
	expect_lines("three.jsonl",
		     "c = max(mainline.populate.compact_stall) - "
		     "min(mainline.populate.compact_stall) == 5",
		     "HOLDS    c: max(mainline.populate.compact_stall) - "
		     "min(mainline.populate.compact_stall) == 5 (5 == 5)\n");
	expect_lines("three.jsonl",
		     "c = median(mainline.populate.huge_node0 + "
		     "mainline.populate.compact_stall) == 64",
		     "HOLDS    c: median(mainline.populate.huge_node0 + "
		     "mainline.populate.compact_stall) == 64 (64 == 64)\n");
	expect_lines("three.jsonl",
		     "c = max(defer-async-v3.populate.time_ns) < min(mainline.populate.time_ns)",
		     "HOLDS    c: max(defer-async-v3.populate.time_ns) < "
		     "min(mainline.populate.time_ns) (410 ms < 504 ms)\n");
}

static void all_stands_for_each_variant_that_ran(void **state)
{
	(void)state;
	expect_lines("three.jsonl", "c = all.populate.time_ns < 430e6",
		     "FAILS    c [mainline]: all.populate.time_ns < 430e6 (531 ms is not < 430 ms "
		     "in repeat 1 of 3)\n"
		     "HOLDS    c [defer-async-v3]: all.populate.time_ns < 430e6 ([261..410 ms] < "
		     "430 ms)\n");
	expect_lines("one.jsonl",
		     "c = all.populate.compact_stall <= mainline.populate.compact_stall",
		     "HOLDS    c [mainline]: all.populate.compact_stall <= "
		     "mainline.populate.compact_stall (40 <= 40)\n"
		     "HOLDS    c [defer-async-v3]: all.populate.compact_stall <= "
		     "mainline.populate.compact_stall (3 <= 40)\n");
}

static void what_was_not_measured_is_unknown(void **state)
{
	(void)state;
	expect_lines("one.jsonl", "c = defer-async-v3.populate.compaction_ns < 1",
		     "UNKNOWN  c: defer-async-v3.populate.compaction_ns < 1 "
		     "(defer-async-v3.populate.compaction_ns was not measured)\n");
	expect_lines("three.jsonl", "c = mainline.populate.compaction_ns > 0",
		     "UNKNOWN  c: mainline.populate.compaction_ns > 0 "
		     "(mainline.populate.compaction_ns was not measured)\n");
	expect_lines("three.jsonl", "c = max(mainline.populate.compaction_ns) > 0",
		     "UNKNOWN  c: max(mainline.populate.compaction_ns) > 0 "
		     "(mainline.populate.compaction_ns was not measured)\n");
	expect_lines("one.jsonl", "c = mainline.populate.compact_stal > 0",
		     "UNKNOWN  c: mainline.populate.compact_stal > 0 "
		     "(mainline.populate.compact_stal was not measured; did you mean "
		     "'compact_stall'?)\n");
	expect_lines("one.jsonl", "c = mainline.other.huge > 0",
		     "UNKNOWN  c: mainline.other.huge > 0 (mainline ran no step 'other')\n");
}

static void a_division_by_0_is_unknown(void **state)
{
	(void)state;
	expect_lines("one.jsonl", "c = 1 / mainline.populate.compact_success > 0",
		     "UNKNOWN  c: 1 / mainline.populate.compact_success > 0 "
		     "(division by 0 at column 5)\n");
}

static void a_variant_that_did_not_run_is_not_run(void **state)
{
	(void)state;
	expect_lines("one.jsonl",
		     "c = 6.12+fix.populate.compact_stall < mainline.populate.compact_stall",
		     "NOT RUN  c: 6.12+fix.populate.compact_stall < "
		     "mainline.populate.compact_stall (variant 6.12+fix was not run)\n");
	expect_lines("one.jsonl", "c = min(6.12+fix.populate.compact_stall) < 3",
		     "NOT RUN  c: min(6.12+fix.populate.compact_stall) < 3 (variant 6.12+fix was "
		     "not run)\n");
}

static void each_kernel_is_checked_by_itself(void **state)
{
	(void)state;
	expect_lines("kernels.jsonl",
		     "c = defer-async-v3.populate.compact_stall < "
		     "0.5 * mainline.populate.compact_stall",
		     "HOLDS    c [7.3.4-test]: defer-async-v3.populate.compact_stall < 0.5 * "
		     "mainline.populate.compact_stall (3 < 20)\n"
		     "FAILS    c [6.12.9-test]: defer-async-v3.populate.compact_stall < 0.5 * "
		     "mainline.populate.compact_stall (50 is not < 26)\n");
}

static void operators_bind_as_in_arithmetic(void **state)
{
	(void)state;
	expect_lines("one.jsonl", "c = 2 + 3 * mainline.populate.huge - 8 / 4 / 2 == -(-193)",
		     "HOLDS    c: 2 + 3 * mainline.populate.huge - 8 / 4 / 2 == -(-193) "
		     "(193 == 193)\n");
	expect_lines("one.jsonl", "c = (2 + 3) * mainline.populate.huge > 320",
		     "FAILS    c: (2 + 3) * mainline.populate.huge > 320 (320 is not > 320)\n");
	expect_lines("one.jsonl", "c = mainline.populate.huge != 64",
		     "FAILS    c: mainline.populate.huge != 64 (64 is not != 64)\n");
}

static void the_summary_counts_every_state(void **state)
{
	struct cl_scenario *s = scenario_with("a = all.populate.huge == 64\n"
					      "b = mainline.populate.huge < 64\n"
					      "c = mainline.populate.compaction_daemon_ns == 0\n"
					      "d = 6.12+fix.populate.huge == 64");
	struct cl_check_summary sum;
	struct cl_results *r;
	char *path = result_path("one.jsonl");

	(void)state;
	assert_int_equal(cl_results_load((const char *const[]){path}, 1, &r, NULL), 0);
	assert_int_equal(cl_results_check(NULL, r, s, &sum, NULL), 0);
	assert_int_equal(sum.holds, 2);
	assert_int_equal(sum.fails, 1);
	assert_int_equal(sum.unknown, 1);
	assert_int_equal(sum.not_run, 1);
	free(path);
	cl_results_free(r);
	cl_scenario_free(s);
}

/* --- before anything runs --- */

static void expect_validation(const char *checks, const char *message)
{
	struct cl_scenario *s = scenario_with(checks);
	struct cl_error err = {0};
	char text[2048];
	int r = cl_check_validate(s, "guest", &err);

	if (!message) {
		if (r)
			fail_msg("%s", cl_error_text(&err, text, sizeof(text)));
	} else {
		assert_int_equal(r, -EINVAL);
		assert_string_equal(cl_error_text(&err, text, sizeof(text)), message);
	}
	cl_scenario_free(s);
}

static void checks_are_validated_with_file_line_and_column(void **state)
{
	(void)state;
	expect_validation("c = mainline.populate.huge > 0", NULL);
	expect_validation("c = all.populate.a_counter_to_come > 0", NULL);
	expect_validation("a = mainline.hog.base > 0\nc = mainline.populate.huge >",
			  "t.ini:14: check 'c': expected a measure or a number, but the relation "
			  "ends at column 25");
	expect_validation("c = manline.populate.huge > 0",
			  "t.ini:13: check 'c': there is no variant 'manline' (column 1) (did you "
			  "mean 'mainline'?)");
	expect_validation("c = 0 < all.popolate.huge",
			  "t.ini:13: check 'c': there is no step 'popolate' (column 5) (did you "
			  "mean 'populate'?)");
	expect_validation("c = mainline.populate.compact_stal > 0",
			  "t.ini:13: check 'c': there is no measure 'compact_stal' (column 1) (did "
			  "you mean 'compact_stall'?)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(well_formed_relations_are_accepted),
		cmocka_unit_test(errors_say_what_and_at_which_column),
		cmocka_unit_test(errors_in_words_have_advice),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(a_chain_without_end_is_an_error),
		cmocka_unit_test(any_text_is_accepted_or_has_an_error_with_words),
		cmocka_unit_test(medians_of_several_variants_are_compared),
		cmocka_unit_test(one_variant_must_hold_in_every_repeat),
		cmocka_unit_test(functions_are_over_repeats),
		cmocka_unit_test(all_stands_for_each_variant_that_ran),
		cmocka_unit_test(what_was_not_measured_is_unknown),
		cmocka_unit_test(a_division_by_0_is_unknown),
		cmocka_unit_test(a_variant_that_did_not_run_is_not_run),
		cmocka_unit_test(each_kernel_is_checked_by_itself),
		cmocka_unit_test(operators_bind_as_in_arithmetic),
		cmocka_unit_test(the_summary_counts_every_state),
		cmocka_unit_test(checks_are_validated_with_file_line_and_column),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
