/* SPDX-License-Identifier: MIT */
/* Measures of a record, and records read from files. */
#include "result_text.h"
#include "result/counter.h"
#include "result/record.h"
#include <errno.h>
#include <unistd.h>

static const char record_json[] =
	"{\"variant\":\"mainline\",\"kernel\":{\"release\":\"7.3.4\"},"
	"\"evidence\":{\"nodes\":[{\"node\":0},{\"node\":1},{\"node\":2}]},\"steps\":["
	"{\"name\":\"populate\",\"kind\":\"fault\",\"time_ns\":504,\"compaction_ns\":null,"
	"\"runs\":2,\"vmstat\":{\"compact_stall\":40,\"nr_free_pages\":-7,\"odd\":null},"
	"\"pages\":{\"node0\":{\"base\":1,\"huge\":24},\"node1\":{\"base\":2,\"huge\":40}},"
	"\"detail\":{\"bytes\":4096,\"cpu_node\":1,\"text\":\"x\",\"compact_fail\":3}},"
	"{\"name\":\"bare\",\"kind\":\"sleep\",\"time_ns\":0}]}";

static json_t *the_record(void)
{
	json_t *r = json_loads(record_json, 0, NULL);

	assert_non_null(r);
	return r;
}

static void expect_measure(const char *measure, double value)
{
	json_t *r = the_record();
	double out = -12345;

	assert_int_equal(record_measure(r, measure, &out), 0);
	if (out != value)
		fail_msg("%s is %g, not %g", measure, out, value);
	json_decref(r);
}

static void expect_none(const char *measure, int code)
{
	json_t *r = the_record();
	double out;
	int e = record_measure(r, measure, &out);

	if (e != code)
		fail_msg("%s gives %d, not %d", measure, e, code);
	json_decref(r);
}

static void measures_are_found_in_the_order_of_search(void **state)
{
	(void)state;
	expect_measure("populate.time_ns", 504);
	expect_measure("populate.runs", 2);
	expect_measure("populate.bytes", 4096);
	expect_measure("populate.compact_stall", 40);
	expect_measure("populate.nr_free_pages", -7);
	expect_measure("populate.compact_fail", 3); /* detail before vmstat */
	expect_measure("bare.time_ns", 0);
}

static void pages_are_summed_over_nodes(void **state)
{
	(void)state;
	expect_measure("populate.huge", 64);
	expect_measure("populate.base", 3);
	expect_measure("populate.huge_node0", 24);
	expect_measure("populate.base_node1", 2);
	expect_measure("populate.huge_remote", 24); /* CPUs of node 1 */
}

static void a_node_without_pages_has_none_but_must_exist(void **state)
{
	(void)state;
	expect_measure("populate.huge_node2", 0);
	expect_none("populate.huge_node3", -ENODATA);
	expect_none("bare.huge_node0", -ENODATA);
	expect_none("bare.huge", -ENODATA);
}

static void a_counter_that_did_not_move_is_0_and_a_misspelt_one_is_not(void **state)
{
	(void)state;
	expect_measure("populate.compact_success", 0);
	expect_none("populate.compact_sucess", -ENODATA);
	expect_none("bare.compact_success", -ENODATA); /* has no vmstat */
}

static void null_and_absent_are_not_measured(void **state)
{
	(void)state;
	expect_none("populate.compaction_ns", -ENODATA);
	expect_none("populate.compaction_daemon_ns", -ENODATA);
	expect_none("populate.defer_shift", -ENODATA);
	expect_none("populate.odd", -ENODATA);
	expect_none("populate.text", -ENODATA);
}

static void an_unknown_step_is_another_error_than_an_unknown_measure(void **state)
{
	(void)state;
	expect_none("popul.time_ns", -ENOENT);
	expect_none("populates.time_ns", -ENOENT);
	expect_none("time_ns", -ENOENT);
}

static void a_column_names_the_kernel_when_asked(void **state)
{
	json_t *r = the_record();
	char *plain = record_column(r, false), *with = record_column(r, true);

	(void)state;
	assert_string_equal(plain, "mainline");
	assert_string_equal(with, "mainline 7.3.4");
	free(plain);
	free(with);
	json_decref(r);
}

static void a_slip_of_the_pen_has_a_nearest_counter(void **state)
{
	(void)state;
	assert_string_equal(counter_nearest("compact_stal"), "compact_stall");
	assert_string_equal(counter_nearest("thp_falut_alloc"), "thp_fault_alloc");
	assert_null(counter_nearest("something_else"));
	assert_true(counter_is_known("huge_node12"));
	assert_false(counter_is_known("huge_node"));
	assert_false(counter_is_known("huge_nodes1"));
	assert_false(counter_is_vmstat("time_ns"));
}

/* --- files --- */

#define HEAD "{\"schema\":1,\"scenario\":\"s\",\"backend\":\"guest\",\"variant\":\"v\","
#define GOOD HEAD "\"steps\":[]}\n"

static int load_text(const char *text, struct cl_results **out, struct cl_error *err, char *path)
{
	int fd, r;

	strcpy(path, "/tmp/compactlab-test-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	r = cl_results_load((const char *const[]){path}, 1, out, err);
	unlink(path);
	return r;
}

static void expect_error(const char *text, const char *message)
{
	struct cl_results *r;
	struct cl_error err = {0};
	char path[64], got[2048], expected[2048];

	assert_int_equal(load_text(text, &r, &err, path), -EINVAL);
	assert_null(r);
	snprintf(expected, sizeof(expected), "%s%s", path, message);
	assert_string_equal(cl_error_text(&err, got, sizeof(got)), expected);
}

static void a_line_that_is_no_record_is_named(void **state)
{
	(void)state;
	expect_error(GOOD "{\"schema\":1,}\n",
		     ":2: not JSON: string or '}' expected near '}'");
	expect_error("{}\n", ":1: not a record: it has no \"schema\" number");
	expect_error(GOOD "\n[1]\n", ":3: not a record: it has no \"schema\" number");
	expect_error("{\"schema\":1,\"scenario\":\"s\",\"variant\":\"v\",\"steps\":[]}\n",
		     ":1: not a record: \"backend\" is missing");
	expect_error(HEAD "\"steps\":3}\n", ":1: not a record: \"steps\" is missing");
	expect_error(HEAD "\"steps\":[{\"name\":\"a\"},{}]}\n",
		     ":1: not a record: step 2 has no \"name\"");
	expect_error("", ": there is no record in it");
}

static void a_newer_schema_is_refused(void **state)
{
	(void)state;
	expect_error("{\"schema\":2,\"version\":\"9.1\"}\n",
		     ":1: the record has schema 2, this program knows up to 1 "
		     "(use the compactlab that wrote it: 9.1)");
}

static void an_unfinished_last_line_is_left_out_and_noted(void **state)
{
	struct cl_results *r;
	struct cl_error err = {0};
	char path[64], note[256];

	(void)state;
	assert_int_equal(load_text(GOOD GOOD "{\"schema\":1,\"scen", &r, &err, path), 0);
	assert_int_equal(cl_results_count(r), 2);
	assert_int_equal(r->notes, 1);
	snprintf(note, sizeof(note), "%s:3: unfinished last line left out: its writer was stopped",
		 path);
	assert_string_equal(r->note[0], note);
	cl_results_free(r);
}

static void a_whole_record_needs_no_newline(void **state)
{
	struct cl_results *r;
	char path[64];

	(void)state;
	assert_int_equal(load_text(GOOD HEAD "\"steps\":[]}", &r, NULL, path), 0);
	assert_int_equal(cl_results_count(r), 2);
	assert_int_equal(r->notes, 0);
	cl_results_free(r);
}

static void a_record_comes_back_as_it_was(void **state)
{
	struct cl_results *r;
	char *path = result_path("one.jsonl"), *text, *line;

	(void)state;
	assert_int_equal(cl_results_load((const char *const[]){path}, 1, &r, NULL), 0);
	assert_int_equal(cl_results_count(r), 2);
	assert_int_equal(file_read(path, &text, NULL), 0);
	line = cl_results_json(r, 0);
	assert_memory_equal(line, text, strlen(line));
	assert_int_equal(text[strlen(line)], '\n');
	free(line);
	free(text);
	free(path);
	cl_results_free(r);
}

static void a_missing_file_is_named(void **state)
{
	struct cl_results *r;
	struct cl_error err = {0};
	char text[512];

	(void)state;
	assert_int_equal(cl_results_load((const char *const[]){"/nowhere/x.jsonl"}, 1, &r, &err),
			 -EINVAL);
	assert_string_equal(cl_error_text(&err, text, sizeof(text)),
			    "/nowhere/x.jsonl: cannot read it: No such file or directory");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(measures_are_found_in_the_order_of_search),
		cmocka_unit_test(pages_are_summed_over_nodes),
		cmocka_unit_test(a_node_without_pages_has_none_but_must_exist),
		cmocka_unit_test(a_counter_that_did_not_move_is_0_and_a_misspelt_one_is_not),
		cmocka_unit_test(null_and_absent_are_not_measured),
		cmocka_unit_test(an_unknown_step_is_another_error_than_an_unknown_measure),
		cmocka_unit_test(a_column_names_the_kernel_when_asked),
		cmocka_unit_test(a_slip_of_the_pen_has_a_nearest_counter),
		cmocka_unit_test(a_line_that_is_no_record_is_named),
		cmocka_unit_test(a_newer_schema_is_refused),
		cmocka_unit_test(an_unfinished_last_line_is_left_out_and_noted),
		cmocka_unit_test(a_whole_record_needs_no_newline),
		cmocka_unit_test(a_record_comes_back_as_it_was),
		cmocka_unit_test(a_missing_file_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
