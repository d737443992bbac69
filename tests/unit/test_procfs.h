/* SPDX-License-Identifier: MIT */
#ifndef TEST_PROCFS_H
#define TEST_PROCFS_H
/* What the tests of the parsers share. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "procfs/procfs.h"

/*
 * Parse the first `length` bytes from a copy of just that size, so that the sanitizer
 * sees a parser that reads past what it was given.
 */
#define parse_copy(parse, text, length, out)                                                       \
	({                                                                                         \
		char *copy_ = malloc(length);                                                      \
		int r_;                                                                            \
		assert_non_null(copy_);                                                            \
		memcpy(copy_, text, length);                                                       \
		r_ = parse(copy_, length, out, NULL);                                              \
		free(copy_);                                                                       \
		r_;                                                                                \
	})
#endif
