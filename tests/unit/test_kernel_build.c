/* SPDX-License-Identifier: MIT */
/* What a kernel that is built will be called, and when it is the same as another. */
#include "backend/kernel_build.h"
#include "test_backend.h"
#include "util/util.h"
#include <compactlab/kernel.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];

static void put(const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, file);
	for (char *p = path + strlen(folder) + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	assert_int_equal(file_replace(path, text, strlen(text)), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/compactlab-test-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	put("tree/mm/compaction.c", "a");
	put("tree/Makefile", "b");
	put("scripts/apply", "c");
	put("scripts/mm/policy.c", "d");
	put("my.config", "CONFIG_X=y\n");
	return setenv("XDG_CACHE_HOME", folder, 1);
}

static int tear_down(void **state)
{
	const char *const argv[] = {"rm", "-rf", "--", folder, NULL};

	(void)state;
	return child_run(argv, NULL, NULL);
}

static void key_of(const struct cl_kernel_build *ask, const char *source, char key[TREE_ID])
{
	char from[256], scripts[256];

	snprintf(from, sizeof(from), "%s/%s", folder, source);
	snprintf(scripts, sizeof(scripts), "%s/scripts", folder);
	assert_int_equal(build_key(ask, from, scripts, key, NULL), 0);
	assert_int_equal(strlen(key), TREE_ID - 1);
}

static void names_come_from_version_folder_and_kind(void **state)
{
	static const struct {
		struct cl_kernel_build ask;
		const char *name; /* NULL: refused */
	} cases[] = {
		{{.version = "7.3"}, "7.3-policies"},
		{{.version = "6.12", .no_policies = 1}, "6.12-plain"},
		{{.version = "7.3", .debug = 1}, "7.3-policies-debug"},
		{{.version = "7.3", .debug = 1, .no_policies = 1}, "7.3-plain-debug"},
		{{.version = "7.3", .source = "/home/me/linux/"}, "linux"},
		{{.version = "7.3", .source = "linux"}, "linux"},
		{{.version = "7.3", .source = "../linux-7.4.tar.xz", .debug = 1},
		 "linux-7.4-debug"},
		{{.version = "7.3", .source = "x", .name = "mine"}, "mine"},
		{{.version = "7.3", .name = "a b"}, NULL},
		{{.version = "7.3", .name = "../a"}, NULL},
		{{.version = "7.3", .name = ""}, NULL},
		{{.version = "7.3", .source = "/"}, NULL},
		{{.version = "7.3", .source = ".."}, NULL},
	};
	char name[64];

	(void)state;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int r = build_name(&cases[i].ask, name, sizeof(name), NULL);

		assert_int_equal(r, cases[i].name ? 0 : -EINVAL);
		if (cases[i].name)
			assert_string_equal(name, cases[i].name);
	}
}

static void every_part_changes_the_key(void **state)
{
	char config[256], keys[8][TREE_ID];
	struct cl_kernel_build plain = {.version = "7.3"}, other = plain;
	unsigned n = 0;

	(void)state;
	key_of(&plain, "tree", keys[n++]);
	other.debug = 1;
	key_of(&other, "tree", keys[n++]);
	other = plain;
	other.no_policies = 1;
	key_of(&other, "tree", keys[n++]);
	other = plain;
	snprintf(config, sizeof(config), "%s/my.config", folder);
	other.config = config;
	key_of(&other, "tree", keys[n++]);
	put("my.config", "CONFIG_X=n\n");
	key_of(&other, "tree", keys[n++]);
	put("scripts/mm/policy.c", "D");
	key_of(&plain, "tree", keys[n++]);
	put("tree/mm/compaction.c", "aa");
	key_of(&plain, "tree", keys[n++]);
	put("tree/mm/new.c", "");
	key_of(&plain, "tree", keys[n++]);
	for (unsigned i = 0; i < n; i++)
		for (unsigned j = 0; j < i; j++)
			assert_string_not_equal(keys[i], keys[j]);
}

static void what_a_build_leaves_behind_does_not_change_the_key(void **state)
{
	struct cl_kernel_build ask = {.version = "7.3"};
	char before[TREE_ID], after[TREE_ID];

	(void)state;
	key_of(&ask, "tree", before);
	put("tree/.config", "x");
	put("tree/.git/index", "x");
	put("tree/mm/compaction.o", "x");
	put("tree/mm/.compaction.o.cmd", "x");
	put("tree/vmlinux", "x");
	put("tree/include/generated/autoconf.h", "x");
	put("tree/arch/x86/include/generated/asm/x.h", "x");
	put("tree/arch/x86/kernel/vmlinux.lds", "x");
	key_of(&ask, "tree", after);
	assert_string_equal(before, after);
	/* What it is made from is a source. */
	put("tree/arch/x86/kernel/vmlinux.lds.S", "x");
	key_of(&ask, "tree", after);
	assert_string_not_equal(before, after);
	memcpy(before, after, sizeof(before));
	/* Only there: a source file elsewhere may have that name. */
	put("tree/lib/generated/table.c", "x");
	key_of(&ask, "tree", after);
	assert_string_not_equal(before, after);
}

static void a_folder_that_is_not_linux_is_not_copied(void **state)
{
	struct cl_error err = {0};
	char from[256], to[256];

	(void)state;
	snprintf(from, sizeof(from), "%s/scripts", folder);
	snprintf(to, sizeof(to), "%s/copy", folder);
	assert_int_equal(tree_copy(from, to, "x", NULL, &err), -EINVAL);
	assert_non_null(strstr(err.what, "no sources of Linux"));
	assert_int_equal(access(to, F_OK), -1);
}

static void an_archive_is_unpacked_once_and_again_when_it_changes(void **state)
{
	char archive[256], to[256], file[300], *text;
	const char *const pack[] = {"tar", "-cf", archive, "-C", folder, "tree", NULL};

	(void)state;
	snprintf(archive, sizeof(archive), "%s/linux.tar", folder);
	snprintf(to, sizeof(to), "%s/copy", folder);
	snprintf(file, sizeof(file), "%s/mm/compaction.c", to);
	assert_int_equal(child_run(pack, NULL, NULL), 0);
	assert_int_equal(tree_copy(archive, to, "x", NULL, NULL), 0);
	assert_int_equal(file_replace(file, "changed by us", 13), 0);
	assert_int_equal(tree_copy(archive, to, "x", NULL, NULL), 0);
	assert_int_equal(file_read(file, &text, NULL), 0);
	assert_string_equal(text, "changed by us");
	free(text);
	/* For another purpose the changes are not wanted. */
	assert_int_equal(tree_copy(archive, to, "y", NULL, NULL), 0);
	assert_int_equal(file_read(file, &text, NULL), 0);
	assert_string_equal(text, "a");
	free(text);
	assert_int_equal(file_replace(file, "changed by us", 13), 0);
	put("tree/mm/more.c", "a longer archive, so that its size is another");
	put("tree/mm/and-more.c", "x");
	for (int i = 0; i < 20; i++) {
		char name[64];

		snprintf(name, sizeof(name), "tree/mm/file%d.c", i);
		put(name, "x");
	}
	assert_int_equal(child_run(pack, NULL, NULL), 0);
	assert_int_equal(tree_copy(archive, to, "y", NULL, NULL), 0);
	assert_int_equal(file_read(file, &text, NULL), 0);
	assert_string_equal(text, "a");
	free(text);
}

static void copy_of_a_folder_becomes_as_the_folder_is_now(void **state)
{
	const char *const rsync[] = {"rsync", "--version", NULL};
	char from[256], to[256], file[300], *text;

	(void)state;
	if (child_run(rsync, NULL, NULL))
		skip();
	snprintf(from, sizeof(from), "%s/tree", folder);
	snprintf(to, sizeof(to), "%s/copy", folder);
	put("tree/.git/index", "x");
	put("tree/vmlinux.map", "x");
	put("tree/include/asm-generic/vmlinux.lds.h", "x");
	assert_int_equal(tree_copy(from, to, "x", NULL, NULL), 0);
	snprintf(file, sizeof(file), "%s/.git", to);
	assert_int_equal(access(file, F_OK), -1);
	snprintf(file, sizeof(file), "%s/vmlinux.map", to);
	assert_int_equal(access(file, F_OK), -1);
	snprintf(file, sizeof(file), "%s/include/asm-generic/vmlinux.lds.h", to);
	assert_int_equal(access(file, F_OK), 0);
	/* As `apply` would, then a change by the user. */
	put("copy/mm/compaction.c", "changed by us");
	put("copy/mm/ours.c", "x");
	put("copy/.compactlab/mm/compaction.c", "a");
	put("tree/mm/compaction.c", "changed by the user");
	assert_int_equal(tree_copy(from, to, "x", NULL, NULL), 0);
	snprintf(file, sizeof(file), "%s/mm/compaction.c", to);
	assert_int_equal(file_read(file, &text, NULL), 0);
	assert_string_equal(text, "changed by the user");
	free(text);
	snprintf(file, sizeof(file), "%s/mm/ours.c", to);
	assert_int_equal(access(file, F_OK), -1);
	snprintf(file, sizeof(file), "%s/.compactlab", to);
	assert_int_equal(access(file, F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_from_version_folder_and_kind),
		cmocka_unit_test_setup_teardown(every_part_changes_the_key, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_a_build_leaves_behind_does_not_change_the_key,
						set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_folder_that_is_not_linux_is_not_copied, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(
			an_archive_is_unpacked_once_and_again_when_it_changes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(copy_of_a_folder_becomes_as_the_folder_is_now,
						set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
