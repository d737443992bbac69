/* SPDX-License-Identifier: MIT */
/*
 * Whole cases: tests/explain/NAME/evidence is what somebody gave, expect.json what must
 * come out of it. Keys of expect.json, all optional but class:
 *
 *   class, runner_up, first_remedy, incidents (1: no "incidents" array)
 *   facts        {name: value} of the worst incident
 *   not_facts    [name] that must not be known
 *   zones        {zone name: why it cannot serve}
 *   never        [text] that must not be in any output
 *   no_remedies  true: none is offered
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <compactlab/explain.h>
#include <dirent.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

static const char *folder;

static char *print(const struct cl_explanation *x, enum cl_explain_format format)
{
	char *text = NULL;
	size_t length;
	FILE *to = open_memstream(&text, &length);

	assert_non_null(to);
	assert_int_equal(cl_explain_print(to, x, format, 80, false), 0);
	fclose(to);
	return text;
}

static const json_t *fact(const json_t *top, const char *name)
{
	size_t i;
	json_t *f;

	json_array_foreach(json_object_get(top, "facts"), i, f)
		if (!strcmp(json_string_value(json_object_get(f, "name")), name))
			return f;
	return NULL;
}

static void check_facts(const json_t *top, json_t *expect)
{
	const char *name;
	json_t *wanted;
	size_t i;

	json_object_foreach(json_object_get(expect, "facts"), name, wanted) {
		const json_t *f = fact(top, name), *value;

		if (!f)
			fail_msg("fact %s is not known", name);
		value = json_object_get(f, "value");
		if (json_is_string(wanted)) {
			assert_string_equal(json_string_value(value), json_string_value(wanted));
		} else if (json_is_boolean(wanted)) {
			assert_true(json_is_true(value) == json_is_true(wanted));
		} else {
			double a = json_number_value(value), b = json_number_value(wanted);

			if (!(fabs(a - b) <= 1e-6 * fabs(b)))
				fail_msg("fact %s is %g, not %g", name, a, b);
		}
	}
	json_array_foreach(json_object_get(expect, "not_facts"), i, wanted)
		assert_null(fact(top, json_string_value(wanted)));
}

static void check_zones(const json_t *top, json_t *expect)
{
	const char *name;
	json_t *wanted, *z;
	size_t i;

	json_object_foreach(json_object_get(expect, "zones"), name, wanted) {
		bool found = false;

		json_array_foreach(json_object_get(top, "zones"), i, z) {
			if (strcmp(json_string_value(json_object_get(z, "zone")), name))
				continue;
			assert_string_equal(json_string_value(json_object_get(z, "why")),
					    json_string_value(wanted));
			found = true;
		}
		assert_true(found);
	}
}

/* What every explanation promises, whatever the case. */
static void check_shape(const json_t *o)
{
	const json_t *evidence = json_object_get(o, "evidence");
	double confidence = json_number_value(json_object_get(o, "confidence"));
	json_t *e;
	size_t i;

	assert_true(confidence > 0 && confidence < 1);
	assert_true(strlen(json_string_value(json_object_get(o, "summary"))) > 20);
	assert_null(strchr(json_string_value(json_object_get(o, "summary")), '{'));
	assert_true(json_is_array(json_object_get(o, "facts")));
	assert_true(json_is_array(json_object_get(o, "left_out")));
	assert_true(json_is_array(json_object_get(evidence, "for")));
	assert_true(json_is_array(json_object_get(evidence, "against")));
	json_array_foreach(json_object_get(evidence, "for"), i, e)
		assert_true(json_is_string(json_object_get(e, "file")));
	json_array_foreach(json_object_get(o, "remedies"), i, e) {
		static const char *const keys[] = {"id", "effect", "cost", "check"};

		for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			assert_true(strlen(json_string_value(json_object_get(e, keys[k]))) > 1);
	}
}

static void check_json(const char *text, json_t *expect)
{
	json_error_t error;
	json_t *top = json_loads(text, 0, &error), *i, *first;
	size_t k;

	assert_non_null(top);
	assert_int_equal(json_integer_value(json_object_get(top, "schema")), 1);
	assert_string_equal(json_string_value(json_object_get(top, "class")),
			    json_string_value(json_object_get(expect, "class")));
	check_shape(top);
	json_array_foreach(json_object_get(top, "incidents"), k, i)
		check_shape(i);
	i = json_object_get(expect, "incidents");
	if (i && json_integer_value(i) == 1)
		assert_null(json_object_get(top, "incidents"));
	else if (i)
		assert_int_equal(json_array_size(json_object_get(top, "incidents")),
				 json_integer_value(i));
	if (json_object_get(expect, "runner_up"))
		assert_true(json_equal(json_object_get(expect, "runner_up"),
				       json_object_get(top, "runner_up")));
	first = json_array_get(json_object_get(top, "remedies"), 0);
	if (json_object_get(expect, "first_remedy"))
		assert_string_equal(json_string_value(json_object_get(first, "id")),
				    json_string_value(json_object_get(expect, "first_remedy")));
	if (json_object_get(expect, "no_remedies"))
		assert_null(first);
	check_facts(top, expect);
	check_zones(top, expect);
	json_decref(top);
}

static void check_output(const struct cl_explanation *x, json_t *expect)
{
	static const enum cl_explain_format formats[] = {CL_EXPLAIN_JSON, CL_EXPLAIN_TEXT,
							 CL_EXPLAIN_MARKDOWN};

	for (size_t f = 0; f < 3; f++) {
		char *text = print(x, formats[f]);
		json_t *never;
		size_t i;

		if (formats[f] == CL_EXPLAIN_JSON)
			check_json(text, expect);
		if (formats[f] == CL_EXPLAIN_TEXT) {
			assert_null(strchr(text, '\033'));
			for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
				assert_true(strcspn(line, "\n") <= 110);
		}
		json_array_foreach(json_object_get(expect, "never"), i, never)
			assert_null(strstr(text, json_string_value(never)));
		free(text);
	}
}

static void case_is_explained(void **state)
{
	char *expect_path = format("%s/%s/expect.json", folder, (const char *)*state);
	char *evidence = format("%s/%s/evidence", folder, (const char *)*state);
	struct cl_explanation *x;
	json_error_t error;
	json_t *expect = json_load_file(expect_path, 0, &error);

	if (!expect)
		fail_msg("%s:%d: %s", expect_path, error.line, error.text);
	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add(x, evidence, NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	assert_string_equal(cl_explain_class(x, 0),
			    json_string_value(json_object_get(expect, "class")));
	check_output(x, expect);
	cl_explain_free(x);
	json_decref(expect);
	free(expect_path);
	free(evidence);
}

static int is_case(const struct dirent *d)
{
	return d->d_name[0] == 'c';
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[200];
	struct dirent **entry;
	int n, failed;

	if (argc != 2)
		return 2;
	folder = argv[1];
	n = scandir(folder, &entry, is_case, alphasort);
	if (n < 30 || n > 200)
		return 2; /* the cases are missing */
	for (int i = 0; i < n; i++)
		tests[i] = (struct CMUnitTest){.name = entry[i]->d_name,
					       .test_func = case_is_explained,
					       .initial_state = entry[i]->d_name};
	failed = _cmocka_run_group_tests("explain cases", tests, (size_t)n, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(entry[i]);
	free(entry);
	return failed;
}
