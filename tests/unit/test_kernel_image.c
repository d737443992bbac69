/* SPDX-License-Identifier: MIT */
#include "test_backend.h"
#include "backend/kernel_image.h"
#include <unistd.h>

static uint8_t image[FAKE_IMAGE_BYTES];
static char release[128];

static void release_is_read_up_to_the_first_blank(void **state)
{
	(void)state;
	fake_image(image, "7.3.4+deb13-cloud-amd64");
	assert_int_equal(image_parse(image, sizeof(image), release, sizeof(release)), 0);
	assert_string_equal(release, "7.3.4+deb13-cloud-amd64");
}

static void release_that_does_not_fit_is_refused(void **state)
{
	char small[8];

	(void)state;
	fake_image(image, "7.3.4+deb13-cloud-amd64");
	assert_int_equal(image_parse(image, sizeof(image), small, sizeof(small)), -EINVAL);
	assert_string_equal(small, "");
}

static void damaged_headers_are_refused(void **state)
{
	static const struct {
		const char *why;
		unsigned at;
		uint8_t byte;
	} damage[] = {
		{"no magic", 0x202, 'h'},
		{"old protocol", 0x207, 0},
		{"a zImage, loaded low", 0x211, 0},
		{"a version text outside what was read", 0x20f, 0xff},
		{"an empty version text", 0x3000, 0},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(damage) / sizeof(damage[0]); i++) {
		fake_image(image, "6.12.0");
		image[damage[i].at] = damage[i].byte;
		if (image_parse(image, sizeof(image), release, sizeof(release)) != -EINVAL)
			fail_msg("accepted: %s", damage[i].why);
		assert_string_equal(release, "");
	}
}

static void any_shorter_file_is_refused(void **state)
{
	(void)state;
	fake_image(image, "6.12.0");
	/* Each length gets memory of its own, so that a sanitizer sees a read beyond it. */
	for (size_t n = 0; n < 0x3000 + strlen("6.12.0") + 1; n += n < 0x220 ? 1 : 17) {
		uint8_t *copy = malloc(n + 1);

		memcpy(copy, image, n);
		assert_int_equal(image_parse(copy, n, release, sizeof(release)), -EINVAL);
		free(copy);
	}
}

static void version_without_an_end_is_refused(void **state)
{
	(void)state;
	fake_image(image, "6.12.0");
	memset(image + 0x3000, 'x', sizeof(image) - 0x3000);
	assert_int_equal(image_parse(image, sizeof(image), release, sizeof(release)), -EINVAL);
}

static void message_says_what_the_file_is_instead(void **state)
{
	static const struct {
		const char *head, *kind;
		size_t length;
	} files[] = {
		{"\177ELF\2\1\1", "an ELF file (vmlinux or a module?)", 7},
		{"\037\213\10", "a compressed file", 3},
		{"!<arch>\ndebian", "a package or archive", 14},
		{"[experiment]", "something else", 12},
		{"", "an empty file", 0},
	};
	char path[] = "/tmp/compactlab-test-XXXXXX", want[300];
	struct cl_error err;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (unsigned i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(ftruncate(fd, 0), 0);
		assert_int_equal(pwrite(fd, files[i].head, files[i].length, 0),
				 (int)files[i].length);
		assert_int_equal(image_release(path, release, sizeof(release), &err), -EINVAL);
		snprintf(want, sizeof(want), "%s is not a Linux bzImage but %s", path,
			 files[i].kind);
		assert_string_equal(err.what, want);
	}
	close(fd);
	unlink(path);
	assert_int_equal(image_release(path, release, sizeof(release), &err), -EINVAL);
	assert_non_null(strstr(err.what, "No such file"));
	assert_int_equal(image_release("/tmp", release, sizeof(release), &err), -EINVAL);
	assert_string_equal(err.what, "kernel image /tmp is not a regular file");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(release_is_read_up_to_the_first_blank),
		cmocka_unit_test(release_that_does_not_fit_is_refused),
		cmocka_unit_test(damaged_headers_are_refused),
		cmocka_unit_test(any_shorter_file_is_refused),
		cmocka_unit_test(version_without_an_end_is_refused),
		cmocka_unit_test(message_says_what_the_file_is_instead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
