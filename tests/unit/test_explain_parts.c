/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <compactlab/explain.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "explain/keyword.h"
#include "explain/tar.h"
#include "explain/verdict.h"

static struct facts facts;

static int clear(void **state)
{
	(void)state;
	fact_clear(&facts);
	return 0;
}

static bool holds(const char *text)
{
	bool bad;
	bool r = condition_holds(text, &facts, NULL, &bad);

	assert_false(bad);
	return r;
}

/* ---- conditions and templates ------------------------------------------------------- */

static void conditions_compute_and_compare(void **state)
{
	(void)state;
	fact_number(&facts, FACT_ORDER, 4, 0, 1);
	fact_number(&facts, FACT_STALLS, 200, 0, 1);
	fact_number(&facts, FACT_FAILS, 150, 0, 1);
	assert_true(holds("order >= 4 && stalls > 100"));
	assert_false(holds("order > 4 || stalls < 100"));
	assert_true(holds("fails / stalls == 0.75"));
	assert_true(holds("2 + 3 * order == 14"));
	assert_true(holds("(2 + 3) * order == 20"));
	assert_true(holds("!(order < 4) && order != 5"));
	assert_true(holds("order - 1 - 1 == 2"));
}

static void a_fact_that_is_not_known_makes_no_comparison_hold(void **state)
{
	(void)state;
	assert_false(holds("order > 3"));
	assert_false(holds("order < 3"));
	assert_false(holds("order != 3"));
	assert_false(holds("order"));
	assert_true(holds("!order"));
	assert_true(holds("!has(order)"));
	assert_true(holds("!(order > 3)"));
	fact_number(&facts, FACT_ORDER, 0, 0, 1);
	assert_true(holds("has(order) && order == 0"));
}

static void text_that_is_no_condition_is_told(void **state)
{
	static const char *const wrong[] = {"order >",   "colour > 3", "(order > 3", "order > 3)",
					    "has(order", "",           "order 3",    "&& order"};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		bool bad;

		assert_false(condition_holds(wrong[i], &facts, NULL, &bad));
		assert_true(bad);
	}
}

static void templates_print_units_and_say_what_is_missing(void **state)
{
	char buf[200];
	bool missing, bad;

	(void)state;
	fact_number(&facts, FACT_BYTES, 131072, 0, 1);
	fact_number(&facts, FACT_FAIL_RATIO, 0.925, 0, 1);
	fact_number(&facts, FACT_STALLS, 1234567, 0, 1);
	fact_number(&facts, FACT_LONGEST, 184e6, 0, 1);
	template_fill("{bytes}, {fail_ratio}, {stalls}, {longest}", &facts, buf, sizeof(buf),
		      &missing, &bad);
	assert_string_equal(buf, "128 KiB, 92 %, 1,234,567, 184 ms");
	assert_false(missing || bad);
	template_fill("{order}", &facts, buf, sizeof(buf), &missing, &bad);
	assert_true(missing);
	template_fill("{nonsense}", &facts, buf, sizeof(buf), &missing, &bad);
	assert_true(bad);
	template_fill("{stalls}{stalls}{stalls}", &facts, buf, 8, &missing, &bad);
	assert_int_equal(strlen(buf), 7);
}

static void print_fault(void *arg, const char *text)
{
	(void)arg;
	print_error("%s\n", text);
}

static void every_row_of_the_tables_is_well_formed(void **state)
{
	(void)state;
	assert_int_equal(verdict_check_tables(print_fault, NULL), 0);
}

static void every_class_has_a_rule_a_sentence_and_a_remedy(void **state)
{
	(void)state;
	for (unsigned c = 0; c < CLASSES; c++) {
		bool rule = false, remedy = false, sentence = false;

		for (unsigned k = 0; k < rule_count; k++)
			rule |= rule_table[k].class == c &&
				(!c || rule_table[k].weight >= POINTS_NEEDED);
		for (unsigned k = 0; k < remedy_count; k++)
			remedy |= remedy_table[k].class == c;
		for (unsigned s = 0; s < 12 && class_table[c].sentence[s].text; s++)
			sentence |= !class_table[c].sentence[s].condition;
		assert_true(rule && remedy && sentence);
	}
}

/* ---- keywords and archives ---------------------------------------------------------- */

static void keywords_are_found_wherever_they_stand(void **state)
{
	struct keywords *k = keywords_new();
	static const char text[] = "xx: page allocation failure: order:3 and 12%";

	(void)state;
	assert_non_null(k);
	assert_int_equal(keywords_in(k, text, strlen(text)),
			 KEYWORD_LOG | KEYWORD_BEGIN | KEYWORD_PERCENT);
	assert_int_equal(keywords_in(k, "page allocatio", 14), 0);
	assert_int_equal(keywords_in(k, "nnr_free", 8) & KEYWORD_VMSTAT, KEYWORD_VMSTAT);
	assert_int_equal(keywords_in(k, "", 0), 0);
	keywords_free(k);
}

static void an_archive_is_read_as_its_files(void **state)
{
	static const char text[] = "compact_stall 100\ncompact_fail 3\ncompact_success 97\n";
	char path[] = "/tmp/compactlab-tar-XXXXXX";
	struct cl_explanation *x;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(tar_write(fd, "a/vmstat", text, strlen(text), 1), 0);
	assert_int_equal(tar_write(fd, "a/empty", "", 0, 1), 0);
	assert_int_equal(tar_finish(fd), 0);
	close(fd);
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add(x, path, NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	assert_string_equal(cl_explain_class(x, 0), "C0");
	assert_non_null(strstr(cl_explain_summary(x, 0), "97 of 100"));
	cl_explain_free(x);
	unlink(path);
}

static void collecting_writes_a_private_archive_and_never_over_a_file(void **state)
{
	char path[] = "/tmp/compactlab-collect-XXXXXX";
	struct cl_explanation *x;
	struct cl_error err = {0};
	struct stat st;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(cl_collect(path, 1, NULL, &err), -EINVAL);
	assert_non_null(strstr(err.what, "File exists"));
	unlink(path);
	assert_int_equal(cl_collect(path, 1, NULL, &err), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add(x, path, NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	assert_true(cl_explain_incidents(x) >= 1);
	cl_explain_free(x);
	unlink(path);
}

/* ---- input that is none ------------------------------------------------------------- */

static void input_without_evidence_is_refused_and_named(void **state)
{
	static const struct {
		const char *text;
		size_t length;
		const char *says;
	} cases[] = {
		{"", 0, "empty"},
		{"hello, world\n", 13, "nothing that explain knows"},
		{"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0\0\0\1\0\0\0\0\0\0", 30, "not text"},
		{"50% of all users\n100% cotton\n", 29, "nothing that explain knows"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cl_error err = {0};
		struct cl_explanation *x;

		assert_int_equal(cl_explain_new(false, &x), 0);
		assert_int_equal(cl_explain_add_text(x, cases[i].text, cases[i].length, "thing",
						     &err),
				 0);
		assert_int_equal(cl_explain_finish(x, &err), -EINVAL);
		assert_non_null(strstr(err.what, "thing"));
		assert_non_null(strstr(err.what, cases[i].says));
		assert_non_null(strstr(err.hint, "compactlab collect"));
		cl_explain_free(x);
	}
}

static void a_quiet_kernel_log_is_healthy(void **state)
{
	static const char text[] = "[    0.000000] Linux version 6.1.0 (gcc) #1 SMP\n"
				   "[    1.234567] usb 1-1: new device\n";
	struct cl_explanation *x;

	(void)state;
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add_text(x, text, strlen(text), "log", NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	assert_string_equal(cl_explain_class(x, 0), "C0");
	cl_explain_free(x);
}

static char *explain_text(const char *text, bool raw, enum cl_explain_format format)
{
	struct cl_explanation *x;
	char *out = NULL;
	size_t length;
	FILE *to = open_memstream(&out, &length);

	assert_int_equal(cl_explain_new(raw, &x), 0);
	assert_int_equal(cl_explain_add_text(x, text, strlen(text), "log", NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	assert_int_equal(cl_explain_print(to, x, format, 80, false), 0);
	fclose(to);
	cl_explain_free(x);
	return out;
}

static void host_names_appear_with_raw_only(void **state)
{
	static const char text[] = "Jul 12 03:11:09 topsecret kernel: nginx: page allocation "
				   "failure. order:1, mode:0x20\n";
	char *plain = explain_text(text, false, CL_EXPLAIN_TEXT);
	char *raw = explain_text(text, true, CL_EXPLAIN_TEXT);

	(void)state;
	assert_null(strstr(plain, "topsecret"));
	assert_non_null(strstr(raw, "topsecret"));
	free(plain);
	free(raw);
}

static void markdown_from_the_input_stays_text(void **state)
{
	char *out = explain_text("a|b<x>: page allocation failure. order:1, mode:0x20\n", false,
				 CL_EXPLAIN_MARKDOWN);

	(void)state;
	assert_null(strstr(out, "a|b"));
	assert_non_null(strstr(out, "a\\|b\\<x\\>"));
	free(out);
}

static void a_sum_that_differs_is_said(void **state)
{
	char *out = explain_text("x: page allocation failure: order:4, mode:0xcc0(GFP_KERNEL)\n"
				 "Node 0 Normal: 10*4kB 5*8kB 0*16kB = 81kB\n",
				 false, CL_EXPLAIN_TEXT);

	(void)state;
	assert_non_null(strstr(out, "adds up to 80 kB, printed are 81 kB"));
	free(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(conditions_compute_and_compare, clear),
		cmocka_unit_test_setup(a_fact_that_is_not_known_makes_no_comparison_hold, clear),
		cmocka_unit_test_setup(text_that_is_no_condition_is_told, clear),
		cmocka_unit_test_setup(templates_print_units_and_say_what_is_missing, clear),
		cmocka_unit_test(every_row_of_the_tables_is_well_formed),
		cmocka_unit_test(every_class_has_a_rule_a_sentence_and_a_remedy),
		cmocka_unit_test(keywords_are_found_wherever_they_stand),
		cmocka_unit_test(an_archive_is_read_as_its_files),
		cmocka_unit_test(collecting_writes_a_private_archive_and_never_over_a_file),
		cmocka_unit_test(input_without_evidence_is_refused_and_named),
		cmocka_unit_test(a_quiet_kernel_log_is_healthy),
		cmocka_unit_test(host_names_appear_with_raw_only),
		cmocka_unit_test(markdown_from_the_input_stays_text),
		cmocka_unit_test(a_sum_that_differs_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
