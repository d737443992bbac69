/* SPDX-License-Identifier: MIT */
/* Type information of a kernel: a small one made here, damage to it, and this machine's own. */
#include <errno.h>
#include <linux/btf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "os/btf.h"

/*
 * enum { MANY = 7 };
 * struct outer { int first; union { int left; struct outer *right; }; };
 */
static const char names[] = "\0int\0outer\0first\0left\0right\0MANY";
enum { N_INT = 1, N_OUTER = 5, N_FIRST = 11, N_LEFT = 17, N_RIGHT = 22, N_MANY = 28 };

static const uint32_t types[] = {
	N_INT,   BTF_KIND_INT << 24,
	4,       32, /* 1: int */
	N_OUTER, BTF_KIND_STRUCT << 24 | 2,
	16, /* 2: struct outer */
	N_FIRST, 1,
	0,       0,
	4,       64, /*    first; (unnamed) */
	0,       BTF_KIND_PTR << 24,
	2, /* 3: struct outer * */
	0,       BTF_KIND_UNION << 24 | 2,
	8, /* 4: the union */
	N_LEFT,  1,
	0,       N_RIGHT,
	3,       0, /*    left; right */
	0,       BTF_KIND_ENUM << 24 | 1,
	4,       N_MANY,
	7, /* 5: the enum */
};

static char *image(size_t *size)
{
	struct btf_header h = {.magic = BTF_MAGIC,
			       .version = BTF_VERSION,
			       .hdr_len = sizeof(h),
			       .type_len = sizeof(types),
			       .str_off = sizeof(types),
			       .str_len = sizeof(names)};
	char *data = malloc(sizeof(h) + sizeof(types) + sizeof(names));

	assert_non_null(data);
	memcpy(data, &h, sizeof(h));
	memcpy(data + sizeof(h), types, sizeof(types));
	memcpy(data + sizeof(h) + sizeof(types), names, sizeof(names));
	*size = sizeof(h) + sizeof(types) + sizeof(names);
	return data;
}

static void test_members_are_found_also_in_unnamed_parts(void **state)
{
	struct btf b;
	uint64_t v;
	size_t size;
	char *data = image(&size);

	(void)state;
	assert_int_equal(btf_parse(&b, data, size), 0);
	assert_int_equal(btf_size(&b, "outer", &v), 0);
	assert_int_equal(v, 16);
	assert_int_equal(btf_offset(&b, "outer", "first", &v), 0);
	assert_int_equal(v, 0);
	assert_int_equal(btf_offset(&b, "outer", "right", &v), 0);
	assert_int_equal(v, 8);
	assert_int_equal(btf_enum(&b, "MANY", &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(btf_offset(&b, "outer", "other", &v), -ENOENT);
	assert_int_equal(btf_size(&b, "int", &v), -ENOENT);
	assert_int_equal(btf_enum(&b, "FEW", &v), -ENOENT);
	btf_free(&b);
}

/* Whatever is cut off or turned over, it is refused or harmless. */
static void test_damage_is_refused_or_harmless(void **state)
{
	struct btf b;
	uint64_t v;
	size_t size;
	char *data = image(&size);

	(void)state;
	for (size_t cut = 0; cut < size; cut++) {
		char *part = malloc(cut + 1);

		memcpy(part, data, cut);
		assert_int_equal(btf_parse(&b, part, cut), -EINVAL);
	}
	for (size_t at = 0; at < size * 8; at++) {
		char *part = malloc(size);

		memcpy(part, data, size);
		part[at / 8] ^= (char)(1 << at % 8);
		if (btf_parse(&b, part, size))
			continue;
		(void)!btf_offset(&b, "outer", "right", &v);
		(void)!btf_enum(&b, "MANY", &v);
		btf_free(&b);
	}
	free(data);
}

static void test_this_kernels_own_is_sound(void **state)
{
	struct btf b;
	uint64_t page, zone, area;
	int r = btf_load(&b, "/sys/kernel/btf/vmlinux");

	(void)state;
	if (r)
		skip();
	assert_int_equal(btf_size(&b, "page", &page), 0);
	assert_int_equal(btf_size(&b, "zone", &zone), 0);
	assert_int_equal(btf_offset(&b, "zone", "free_area", &area), 0);
	assert_true(page >= 32 && page <= 128);
	assert_true(area > 0 && area < zone);
	btf_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_members_are_found_also_in_unnamed_parts),
		cmocka_unit_test(test_damage_is_refused_or_harmless),
		cmocka_unit_test(test_this_kernels_own_is_sound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
