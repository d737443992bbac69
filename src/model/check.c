/* SPDX-License-Identifier: MIT */
/* check.c - how an assertion ends the process. */
#include "model/check.h"

#include <stdio.h>
#include <stdlib.h>

void check_failed(const char *file, int line, const char *expr)
{
	fprintf(stderr, "%s:%d: model check failed: %s\n", file, line, expr);
	abort();
}

void check_not_yet(const char *function, ...)
{
	fprintf(stderr, "model: %s() is not written yet\n", function);
	abort();
}
