/* SPDX-License-Identifier: MIT */
#ifndef TESTS_RESULT_TEXT_H
#define TESTS_RESULT_TEXT_H
/* For tests whose result is text: canned input and expected output in tests/result/. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "util/util.h"

/* Path of a file in tests/result/; the caller frees it. */
static inline char *result_path(const char *name)
{
	char *path = format("%s/%s", RESULT_DIR, name);

	assert_non_null(path);
	return path;
}

/* With UPDATE_EXPECTED set, a text that differs becomes what is expected from now on. */
static inline void expect_text(const char *text, const char *name)
{
	char *path = result_path(name), *expected = NULL;

	if (getenv("UPDATE_EXPECTED"))
		assert_int_equal(file_replace(path, text, strlen(text)), 0);
	assert_int_equal(file_read(path, &expected, NULL), 0);
	assert_string_equal(text, expected);
	free(expected);
	free(path);
}
#endif
