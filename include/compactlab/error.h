/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_ERROR_H
#define COMPACTLAB_ERROR_H
/*
 * How a failure is told.
 *
 * Every function that can fail returns 0 or a negative errno. Those that take a
 * `struct cl_error *` also fill it: what went wrong, where in the user's input,
 * and what to do about it. Nothing is printed by the library. The pointer may be
 * NULL when the caller only wants the number.
 *
 * Three codes have a fixed meaning everywhere, because the program's exit
 * status follows from them:
 *   -EINVAL      the input is wrong                              (exit 2)
 *   -EOPNOTSUPP  the thing asked for is not available here; the
 *                text says what is missing and how to get it     (exit 77)
 *   others       it was tried and did not work                   (exit 3)
 */
#ifdef __cplusplus
extern "C" {
#endif

struct cl_error {
	char file[256];  /* input file the error lies in, or "" */
	int line;        /* 1-based line in that file, 0 when there is none */
	char what[1024]; /* one sentence, no full stop */
	char hint[512];  /* what to do, or "" */
};

/* Fill *err (ignored when NULL) and return `code`, a negative errno. */
int cl_error_at(struct cl_error *err, int code, const char *file, int line, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
int cl_error(struct cl_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Add the advice to an error that was just filled; returns `code` for chaining. */
int cl_error_hint(struct cl_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * "file:line: what (hint)" with the parts that are there. Writes at most `size`
 * bytes including the terminating null and returns `buf`.
 */
char *cl_error_text(const struct cl_error *err, char *buf, unsigned long size);

#ifdef __cplusplus
}
#endif
#endif
