/* SPDX-License-Identifier: MIT */
/*
 * The same log as a logger, a mailer or a tracker would pass it on must be explained the
 * same way, without the name of the host.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <compactlab/explain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

static const char *folder;

struct text {
	char *at;
	size_t length;
	FILE *to;
};

static void begin(struct text *t)
{
	t->to = open_memstream(&t->at, &t->length);
	assert_non_null(t->to);
}

/* Call `put` with each line. */
static char *each_line(const char *log, void (*put)(FILE *to, const char *line, size_t n))
{
	struct text t;

	begin(&t);
	while (*log) {
		size_t n = strcspn(log, "\n");

		put(t.to, log, n);
		log += n + (log[n] == '\n');
	}
	fclose(t.to);
	return t.at;
}

static void syslog_line(FILE *to, const char *line, size_t n)
{
	fprintf(to, "Oct 19 13:44:52 hush-host kernel: %.*s\n", (int)n, line);
}

static void iso_line(FILE *to, const char *line, size_t n)
{
	fprintf(to, "2021-02-20T10:10:10.123456+01:00 hush-host kernel: %.*s\n", (int)n, line);
}

static void quoted_line(FILE *to, const char *line, size_t n)
{
	fprintf(to, "> > %.*s\n", (int)n, line);
}

static void dos_line(FILE *to, const char *line, size_t n)
{
	fprintf(to, "%.*s\r\n", (int)n, line);
}

static void thread_line(FILE *to, const char *line, size_t n)
{
	const char *end = memchr(line, ']', n);

	if (*line == '[' && end)
		fprintf(to, "%.*s[ T42]%.*s\n", (int)(end + 1 - line), line,
			(int)(n - (size_t)(end + 1 - line)), end + 1);
	else
		fprintf(to, "%.*s\n", (int)n, line);
}

static void starless_line(FILE *to, const char *line, size_t n)
{
	for (size_t i = 0; i < n; i++)
		fputc(line[i] == '*' ? '_' : line[i], to);
	fputc('\n', to);
}

/* At the last blank before column 76, as mailers do; what follows begins a line. */
static void wrapped_line(FILE *to, const char *line, size_t n)
{
	while (n > 76) {
		size_t cut = 76;

		while (cut && line[cut] != ' ')
			cut--;
		if (!cut)
			break;
		fprintf(to, "%.*s\n", (int)cut, line);
		line += cut + 1;
		n -= cut + 1;
	}
	fprintf(to, "%.*s\n", (int)n, line);
}

static void escaped_line(FILE *to, const char *line, size_t n)
{
	fprintf(to, "%.*s#012", (int)n, line);
}

static const struct {
	const char *name;
	void (*put)(FILE *to, const char *line, size_t n);
} forms[] = {
	{"syslog", syslog_line},   {"iso", iso_line},         {"quoted", quoted_line},
	{"dos", dos_line},         {"threads", thread_line},  {"starless", starless_line},
	{"wrapped", wrapped_line}, {"escaped", escaped_line},
};

static void check(const char *text, const char *form, const char *class)
{
	struct cl_explanation *x;
	struct text out;

	assert_int_equal(cl_explain_new(false, &x), 0);
	assert_int_equal(cl_explain_add_text(x, text, strlen(text), "log", NULL), 0);
	assert_int_equal(cl_explain_finish(x, NULL), 0);
	if (strcmp(cl_explain_class(x, 0), class))
		fail_msg("%s: %s instead of %s", form, cl_explain_class(x, 0), class);
	begin(&out);
	assert_int_equal(cl_explain_print(out.to, x, CL_EXPLAIN_JSON, 80, false), 0);
	fclose(out.to);
	assert_null(strstr(out.at, "hush-host"));
	assert_null(strstr(out.at, "\"sum_matches\": false"));
	free(out.at);
	cl_explain_free(x);
}

static void a_log_is_explained_the_same_in_every_form(void **state)
{
	static const struct {
		const char *file, *class;
	} cases[] = {
		{"c1-sysctl-read/evidence/order5.log", "C1"},
		{"c5-fork-oom/evidence/dmesg.txt", "C5"},
		{"c9-no-dma32/evidence/dmesg.txt", "C9"},
		{"c4-header-behind-lists/evidence/dmesg.txt", "C4"},
		{"c14-oom0/evidence/input.txt", "C14"},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		char *path = format("%s/%s", folder, cases[c].file), *log;

		assert_int_equal(file_read(path, &log, NULL), 0);
		for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
			char *text = each_line(log, forms[f].put);

			check(text, forms[f].name, cases[c].class);
			free(text);
		}
		free(log);
		free(path);
	}
}

/* Whatever is left of a log, an answer comes, and never that all is well. */
static void a_log_cut_anywhere_behind_its_header_is_never_healthy(void **state)
{
	char *path = format("%s/c5-fork-oom/evidence/dmesg.txt", folder), *log;
	size_t length;

	(void)state;
	assert_int_equal(file_read(path, &log, &length), 0);
	for (size_t n = 60; n < length; n += 37) {
		struct cl_explanation *x;

		assert_int_equal(cl_explain_new(false, &x), 0);
		assert_int_equal(cl_explain_add_text(x, log, n, "log", NULL), 0);
		assert_int_equal(cl_explain_finish(x, NULL), 0);
		assert_string_not_equal(cl_explain_class(x, 0), "C0");
		cl_explain_free(x);
	}
	free(log);
	free(path);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_log_is_explained_the_same_in_every_form),
		cmocka_unit_test(a_log_cut_anywhere_behind_its_header_is_never_healthy),
	};

	if (argc != 2)
		return 2;
	folder = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
