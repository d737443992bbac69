/* SPDX-License-Identifier: MIT */
#include "test_backend.h"
#include "util/util.h"
#include <compactlab/kernel.h>
#include <sys/stat.h>
#include <unistd.h>

/* A cache of its own for every test: $XDG_CACHE_HOME. */
static char cache[] = "/tmp/compactlab-test-XXXXXX";

static void make(const char *directory, const char *place, const char *release)
{
	static uint8_t image[FAKE_IMAGE_BYTES];
	char path[512];

	snprintf(path, sizeof(path), "%s/compactlab/kernels/%s/%s", cache, directory, place);
	for (char *p = path + 1; *p; p++)
		if (*p == '/') {
			*p = '\0';
			mkdir(path, 0755);
			*p = '/';
		}
	fake_image(image, release);
	assert_int_equal(file_replace(path, image, sizeof(image)), 0);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(cache, "/tmp/compactlab-test-XXXXXX");
	if (!mkdtemp(cache))
		return -1;
	return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
	const char *const argv[] = {"rm", "-rf", "--", cache, NULL};

	(void)state;
	return child_run(argv, NULL, NULL);
}

static void make_three(void)
{
	make("6.12", "boot/vmlinuz-6.12.117+deb12-cloud-amd64", "6.12.117+deb12-cloud-amd64");
	make("6.12", "lib/modules/6.12.117+deb12-cloud-amd64/kernel/x.ko", "");
	make("7.3", "usr/lib/modules/7.3.4+deb13-cloud-amd64/vmlinuz", "7.3.4+deb13-cloud-amd64");
	make("mine", "boot/vmlinuz-7.10.0-rc1", "7.10.0-rc1");
}

static void names_versions_and_releases_are_found(void **state)
{
	static const struct {
		const char *wanted, *release;
	} cases[] = {
		{"7.3", "7.3.4+deb13-cloud-amd64"},
		{"7.3.4", "7.3.4+deb13-cloud-amd64"},
		{"7.3.4+deb13-cloud-amd64", "7.3.4+deb13-cloud-amd64"},
		{"6", "6.12.117+deb12-cloud-amd64"},
		{"6.12.117", "6.12.117+deb12-cloud-amd64"},
		{"mine", "7.10.0-rc1"},
		{"7", "7.10.0-rc1"},
		{NULL, "7.10.0-rc1"},
	};
	struct cl_kernel k;

	(void)state;
	make_three();
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(cl_kernel_find(cases[i].wanted, &k, NULL), 0);
		assert_string_equal(k.release, cases[i].release);
		assert_int_equal(access(k.path, R_OK), 0);
	}
	assert_int_equal(cl_kernel_find("6.12", &k, NULL), 0);
	assert_non_null(strstr(k.modules, "/lib/modules/6.12.117+deb12-cloud-amd64/kernel"));
	assert_int_equal(cl_kernel_find("7.3", &k, NULL), 0);
	assert_string_equal(k.modules, "");
}

static void one_that_was_built_is_found_by_its_own_name_only(void **state)
{
	struct cl_kernel k;

	(void)state;
	make_three();
	make("7.3-policies", "boot/vmlinuz-7.3.4-policies", "7.3.4-policies");
	make("7.3-policies", "built-from", "");
	make("linux", "boot/vmlinuz-7.11.0", "7.11.0");
	make("linux", "built-from", "");
	assert_int_equal(cl_kernel_find("7.3-policies", &k, NULL), 0);
	assert_string_equal(k.release, "7.3.4-policies");
	assert_int_equal(cl_kernel_find("7.3.4-policies", &k, NULL), 0);
	assert_true(k.built);
	assert_int_equal(cl_kernel_find("7.3", &k, NULL), 0);
	assert_string_equal(k.release, "7.3.4+deb13-cloud-amd64");
	assert_false(k.built);
	assert_int_equal(cl_kernel_find(NULL, &k, NULL), 0);
	assert_string_equal(k.release, "7.10.0-rc1");
	assert_int_equal(cl_kernel_find("7.11", &k, NULL), -EOPNOTSUPP);
}

static void missing_image_names_the_command_that_gets_it(void **state)
{
	struct cl_error err;
	struct cl_kernel k;

	(void)state;
	assert_int_equal(cl_kernel_find(NULL, &k, &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "no kernel image in the cache");
	assert_non_null(strstr(err.hint, "`compactlab kernel fetch 7.3`"));
	make_three();
	assert_int_equal(cl_kernel_find("7.1", &k, &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "no kernel image \"7.1\" in the cache");
	assert_non_null(strstr(err.hint, "`compactlab kernel fetch 7.1`"));
}

static void path_is_taken_as_it_is(void **state)
{
	struct cl_error err;
	struct cl_kernel k;
	char path[512];

	(void)state;
	make_three();
	snprintf(path, sizeof(path), "%s/compactlab/kernels/mine/boot/vmlinuz-7.10.0-rc1", cache);
	assert_int_equal(cl_kernel_find(path, &k, &err), 0);
	assert_string_equal(k.release, "7.10.0-rc1");
	assert_string_equal(k.path, path);
	assert_string_equal(k.name, "vmlinuz-7.10.0-rc1");
	assert_int_equal(cl_kernel_find("/proc/self/exe", &k, &err), -EINVAL);
	assert_non_null(strstr(err.what, "is not a Linux bzImage but an ELF file"));
}

static void unfinished_and_foreign_directories_are_passed_over(void **state)
{
	struct cl_kernel_entry *list;
	unsigned count;

	(void)state;
	make(".unpack-abc", "boot/vmlinuz-9.9.9", "9.9.9");
	make("notes", "README", "9.9.8");
	make("7.3", "usr/lib/modules/7.3.4+deb13-cloud-amd64/vmlinuz", "7.3.4+deb13-cloud-amd64");
	assert_int_equal(cl_kernel_list(&list, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_string_equal(list[0].kernel.name, "7.3");
	assert_true(list[0].cached);
	assert_string_equal(list[1].kernel.name, "6.12");
	assert_false(list[1].cached);
	free(list);
}

static void list_is_newest_first_and_ends_with_what_can_be_fetched(void **state)
{
	struct cl_kernel_entry *list;
	unsigned count;

	(void)state;
	assert_int_equal(cl_kernel_list(&list, &count, NULL), 0);
	assert_int_equal(count, 2);
	assert_false(list[0].cached || list[1].cached);
	free(list);
	make_three();
	assert_int_equal(cl_kernel_list(&list, &count, NULL), 0);
	assert_int_equal(count, 3);
	assert_string_equal(list[0].kernel.name, "mine");
	assert_string_equal(list[1].kernel.name, "7.3");
	assert_string_equal(list[2].kernel.name, "6.12");
	free(list);
}

static void fetch_of_what_is_there_needs_no_tool(void **state)
{
	struct cl_error err;
	struct cl_kernel k;

	(void)state;
	make_three();
	assert_int_equal(cl_kernel_fetch("7.3", NULL, &k, &err), 0);
	assert_string_equal(k.release, "7.3.4+deb13-cloud-amd64");
}

static void fetch_without_apt_says_what_works_instead(void **state)
{
	const char *path = getenv("PATH");
	char *saved = strdup(path ? path : "/usr/bin:/bin");
	struct cl_error err;
	struct cl_kernel k;

	(void)state;
	setenv("PATH", cache, 1);
	assert_int_equal(cl_kernel_fetch("7.3", NULL, &k, &err), -EOPNOTSUPP);
	setenv("PATH", saved, 1);
	free(saved);
	assert_string_equal(err.what,
			    "kernels are fetched as Debian packages, and apt-get is not here");
	assert_string_equal(err.hint, "give any bzImage with --kernel FILE instead");
}

static void fetch_refuses_what_is_no_version(void **state)
{
	static const char *const names[] = {"", "latest", "../7.3", "7.3/..", "7.3 x", "-o"};
	struct cl_error err;
	struct cl_kernel k;

	(void)state;
	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_int_equal(cl_kernel_fetch(names[i], NULL, &k, &err), -EINVAL);
		assert_non_null(strstr(err.what, "is not a kernel version"));
	}
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(names_versions_and_releases_are_found),
		CASE(one_that_was_built_is_found_by_its_own_name_only),
		CASE(missing_image_names_the_command_that_gets_it),
		CASE(path_is_taken_as_it_is),
		CASE(unfinished_and_foreign_directories_are_passed_over),
		CASE(list_is_newest_first_and_ends_with_what_can_be_fetched),
		CASE(fetch_of_what_is_there_needs_no_tool),
		CASE(fetch_without_apt_says_what_works_instead),
		CASE(fetch_refuses_what_is_no_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
