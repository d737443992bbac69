/* SPDX-License-Identifier: MIT */
/*
 * Malformed scenarios and the exact message of each: NAME.ini and NAME.expected in
 * tests/scenario-errors, the folder given as the argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <compactlab/scenario.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "util/util.h"

#define AT_LEAST 100

static const char *folder;

static bool ends_in(const char *name, const char *end)
{
	size_t length = strlen(name), tail = strlen(end);

	return length > tail && !strcmp(name + length - tail, end);
}

/* 0 when the message is the expected one. */
static int compare(const char *name)
{
	char *path = format("%s/%s", folder, name), *text, *expected, buf[2048];
	char *answer = format("%.*s.expected", (int)strlen(path) - 4, path);
	struct cl_scenario *s = NULL;
	struct cl_error err = {0};
	size_t length;
	int r;

	assert_int_equal(file_read(path, &text, &length), 0);
	if (file_read(answer, &expected, NULL)) {
		print_error("%s has no .expected\n", name);
		r = 1;
		goto out;
	}
	expected[strcspn(expected, "\n")] = '\0';
	r = cl_scenario_parse(text, length, name, &s, &err);
	cl_error_text(&err, buf, sizeof(buf));
	if (r != -EINVAL || s || strcmp(buf, expected)) {
		print_error("%s: returned %d\n  expected: %s\n  message:  %s\n", name, r, expected,
			    buf);
		cl_scenario_free(s);
		r = 1;
	} else {
		r = 0;
	}
	free(expected);
out:
	free(text);
	free(path);
	free(answer);
	return r;
}

static void each_malformed_scenario_gives_its_message(void **state)
{
	DIR *d = opendir(folder);
	unsigned wrong = 0, count = 0;
	struct dirent *e;

	(void)state;
	assert_non_null(d);
	while ((e = readdir(d))) {
		char *ini;

		if (ends_in(e->d_name, ".ini")) {
			count++;
			wrong += compare(e->d_name) != 0;
		} else if (ends_in(e->d_name, ".expected")) {
			ini = format("%s/%.*s.ini", folder, (int)strlen(e->d_name) - 9, e->d_name);
			assert_int_equal(access(ini, R_OK), 0);
			free(ini);
		}
	}
	closedir(d);
	assert_int_equal(wrong, 0);
	assert_true(count >= AT_LEAST);
}

static void assert_load_fails(const char *path, const char *message)
{
	struct cl_scenario *s = (struct cl_scenario *)1;
	struct cl_error err = {0};
	char buf[2048];

	assert_int_equal(cl_scenario_load(path, &s, &err), -EINVAL);
	assert_null(s);
	assert_string_equal(cl_error_text(&err, buf, sizeof(buf)), message);
}

static void what_is_not_a_scenario_file_is_named(void **state)
{
	(void)state;
	assert_load_fails("/nonexistent/x.ini",
			  "cannot read the scenario '/nonexistent/x.ini': No such file or "
			  "directory (`compactlab list scenarios` shows those that are installed)");
	assert_load_fails("/proc", "/proc: this is a folder, not a scenario file");
	assert_load_fails("/dev/zero", "/dev/zero: this is a device, not a scenario file");
}

static char temporary[] = "/tmp/compactlab-test-XXXXXX";

static int make_temporary(void **state)
{
	int fd = mkstemp(temporary);

	(void)state;
	if (fd < 0)
		return -1;
	close(fd);
	return 0;
}

static int remove_temporary(void **state)
{
	(void)state;
	return unlink(temporary);
}

static void a_file_without_permission_is_named(void **state)
{
	char *message = format("cannot read the scenario '%s': Permission denied", temporary);
	bool root = geteuid() == 0; /* who may read everything */

	(void)state;
	assert_int_equal(chmod(temporary, 0), 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	assert_load_fails(temporary, message);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(chmod(temporary, 0600), 0);
	free(message);
}

static void a_file_above_1_mib_is_refused_unread(void **state)
{
	char *message = format("%s: the file is larger than 1 MiB", temporary);

	(void)state;
	assert_int_equal(truncate(temporary, (1 << 20) + 1), 0);
	assert_load_fails(temporary, message);
	free(message);
}

static void only_shipped_text_may_be_serialized(void **state)
{
	char *message = format("%s:4: there is no section [serialized] (sections are experiment, "
			       "machine, variant, step, published, check, on)",
			       temporary);
	const char text[] = "[step a]\nkind = drop\n\n[serialized]\nscale = 2\n";
	struct cl_scenario *s = NULL;

	(void)state;
	assert_int_equal(truncate(temporary, 0), 0);
	assert_int_equal(file_replace(temporary, text, strlen(text)), 0);
	assert_load_fails(temporary, message);
	assert_int_equal(cl_scenario_parse(text, strlen(text), "x", &s, NULL), 0);
	cl_scenario_free(s);
	free(message);
}

static void too_many_keys_are_refused(void **state)
{
	char *text = NULL, buf[2048];
	size_t size;
	FILE *f = open_memstream(&text, &size);
	struct cl_scenario *s = NULL;
	struct cl_error err = {0};

	(void)state;
	fputs("[step a]\nkind = set\n", f);
	for (unsigned i = 0; i < 4100; i++)
		fprintf(f, "vm.x%u = 1\n", i);
	fclose(f);
	assert_int_equal(cl_scenario_parse(text, size, "x.ini", &s, &err), -EINVAL);
	assert_string_equal(cl_error_text(&err, buf, sizeof(buf)),
			    "x.ini:4098: there are more than 4096 keys");
	free(text);
}

static void assert_set_fails(const char *assignment, const char *message)
{
	const char text[] =
		"[variant a]\n[step hog]\nkind = fill\nsize = 64M\n[check]\nb = 1 > 0\n";
	struct cl_scenario *s = NULL;
	struct cl_error err = {0};
	char buf[2048];

	assert_int_equal(cl_scenario_parse(text, strlen(text), "x.ini", &s, NULL), 0);
	assert_int_equal(cl_scenario_set(s, assignment, &err), -EINVAL);
	assert_string_equal(cl_error_text(&err, buf, sizeof(buf)), message);
	cl_scenario_free(s);
}

static void wrong_overrides_are_named(void **state)
{
	(void)state;
	assert_set_fails("hog.size", "--set: 'hog.size' is not SECTION.KEY=VALUE (such as "
				     "populate.size=1G)");
	assert_set_fails("hog.sise=1M", "--set hog.sise=1M: step 'hog' (fill) has no key 'sise' "
					"(did you mean 'size'?)");
	assert_set_fails("hgo.size=1M", "--set hgo.size=1M: there is no section or step 'hgo' "
					"(did you mean 'hog'?)");
	assert_set_fails("hog.size=x", "--set hog.size=x: hog.size: 'x' is not a size such as "
				       "300M or 24G, or a share of free memory such as 25%");
	assert_set_fails("hog.kind=pin", "--set hog.kind=pin: hog.kind cannot be overridden "
					 "(write two steps and skip one of them)");
	assert_set_fails("nodes=1G", "--set nodes=1G: --set has no key 'nodes' (did you mean "
				     "'machine.nodes'?)");
	assert_set_fails("check.a=off", "--set check.a=off: there is no check 'a' (did you mean "
					"'b'?)");
	assert_set_fails("thp.defrag=x ;y",
			 "--set: thp.defrag holds ';', which starts a comment in scenario "
			 "files");
	assert_set_fails("machine.boot=a\nb", "--set: machine.boot holds the byte 0x0a, which is "
					      "not text");
	assert_set_fails("machine.boot=caf\xe9", "--set: machine.boot is not valid UTF-8");
	assert_set_fails("=", "--set =: --set has no key '' (write machine.KEY, STEP.KEY, "
			      "experiment.KEY, check.NAME, vm.NAME, thp.NAME or lru_gen.NAME)");
}

static void a_long_override_is_refused(void **state)
{
	char text[400] = "machine.boot=";

	(void)state;
	memset(text + strlen(text), 'a', 300);
	assert_set_fails(text, "--set: 'machine.boot...' has more than 180 bytes");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_malformed_scenario_gives_its_message),
		cmocka_unit_test(what_is_not_a_scenario_file_is_named),
		cmocka_unit_test(a_file_without_permission_is_named),
		cmocka_unit_test(a_file_above_1_mib_is_refused_unread),
		cmocka_unit_test(only_shipped_text_may_be_serialized),
		cmocka_unit_test(too_many_keys_are_refused),
		cmocka_unit_test(wrong_overrides_are_named),
		cmocka_unit_test(a_long_override_is_refused),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s tests/scenario-errors\n", argv[0]);
		return 2;
	}
	folder = argv[1];
	return cmocka_run_group_tests(tests, make_temporary, remove_temporary);
}
