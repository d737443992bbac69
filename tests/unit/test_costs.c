/* SPDX-License-Identifier: MIT */
/* Files with the model's costs: what they set, and what is wrong with some. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "backend/costs.h"

static void test_a_row_that_is_not_given_keeps_its_default(void **state)
{
	static const char text[] = "compactlab-costs 1\n\n# slow\nzero_page=391 # a page\n"
				   " fault\t=  0 \r\nscan_free = 1000000000";
	struct cost_table t, defaults;
	struct cl_error err = {0};

	(void)state;
	cost_defaults(&t);
	cost_defaults(&defaults);
	assert_int_equal(costs_parse(text, strlen(text), "f", &t, &err), 0);
	for (int i = 0; i < NR_COSTS; i++) {
		uint32_t want = i == COST_ZERO_PAGE   ? 391
				: i == COST_FAULT     ? 0
				: i == COST_SCAN_FREE ? 1000000000
						      : defaults.ns[i];

		assert_int_equal(t.ns[i], want);
	}
}

static void test_what_is_printed_is_read_back(void **state)
{
	struct cost_table t, back;
	struct cl_error err = {0};
	size_t length;
	char *text;
	FILE *to = open_memstream(&text, &length);

	(void)state;
	cost_defaults(&back);
	costs_print_head(to);
	for (int i = 0; i < NR_COSTS; i++) {
		t.ns[i] = (uint32_t)(1000000000u - (uint32_t)i * 7);
		costs_print_row(to, (enum cost_id)i, t.ns[i], i % 2 ? "measured = so" : NULL);
	}
	fclose(to);
	assert_int_equal(costs_parse(text, length, "f", &back, &err), 0);
	assert_memory_equal(&t, &back, sizeof(t));
	free(text);
}

static void test_damage_is_told_with_its_line(void **state)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"", "f:1: this is no file of costs (its first line is compactlab-costs 1)"},
		{"hello\n", "f:1: this is no file of costs (its first line is compactlab-costs 1)"},
		{"compactlab-costs 2\n",
		 "f:1: costs of version 2, which is not known (this program "
		 "reads version 1)"},
		{"compactlab-costs 1\n\nzero_pge = 1\n",
		 "f:3: there is no cost 'zero_pge' (did you mean 'zero_page'?)"},
		{"compactlab-costs 1\nfault 3\n",
		 "f:2: no '=' in 'fault 3' (a line is NAME = NANOSECONDS, such as zero_page = "
		 "390)"},
		{"compactlab-costs 1\nfault = 3us\n",
		 "f:2: fault: '3us' is not a whole number (a line is NAME = NANOSECONDS, such as "
		 "zero_page = 390)"},
		{"compactlab-costs 1\nfault =\n",
		 "f:2: fault: '' is not a whole number (a line is NAME = NANOSECONDS, such as "
		 "zero_page = 390)"},
		{"compactlab-costs 1\nfault = -1\n",
		 "f:2: fault: '-1' is not a whole number (a line is NAME = NANOSECONDS, such as "
		 "zero_page = 390)"},
		{"compactlab-costs 1\nfault = 99999999999999999999\n",
		 "f:2: fault: '99999999999999999999' is not a whole number (a line is NAME = "
		 "NANOSECONDS, such as zero_page = 390)"},
		{"compactlab-costs 1\nfault = 1000000001\n",
		 "f:2: fault: 1000000001 ns is more than a second"},
		{"compactlab-costs 1\nfault = 1\n# x\nfault = 1\n", "f:4: fault is given twice"},
	};
	char text[2048];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct cl_error err = {0};
		struct cost_table t;

		cost_defaults(&t);
		assert_int_equal(costs_parse(cases[i].text, strlen(cases[i].text), "f", &t, &err),
				 -EINVAL);
		assert_string_equal(cl_error_text(&err, text, sizeof(text)), cases[i].message);
	}
}

static void test_a_null_byte_and_a_long_line_are_refused(void **state)
{
	static const char null[] = "compactlab-costs 1\nfault = 1\0 000\n";
	struct cl_error err = {0};
	struct cost_table t;
	char text[512];

	(void)state;
	cost_defaults(&t);
	assert_int_equal(costs_parse(null, sizeof(null) - 1, "f", &t, &err), -EINVAL);
	assert_int_equal(err.line, 2);
	snprintf(text, sizeof(text), "compactlab-costs 1\n#%0300d\n", 0);
	assert_int_equal(costs_parse(text, strlen(text), "f", &t, &err), -EINVAL);
	assert_int_equal(err.line, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_row_that_is_not_given_keeps_its_default),
		cmocka_unit_test(test_what_is_printed_is_read_back),
		cmocka_unit_test(test_damage_is_told_with_its_line),
		cmocka_unit_test(test_a_null_byte_and_a_long_line_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
