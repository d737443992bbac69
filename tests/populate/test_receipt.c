/* SPDX-License-Identifier: MIT */
/* The receipt as JSON, and option structures of random content. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "help.h"
#include "populate/pop_receipt.h"
#include "util/util.h"

static void json_says_what_the_receipt_says(void **state)
{
	struct cl_populate_receipt r = {.size = sizeof(r),
					.result = -12,
					.limit = CL_POPULATE_LIMIT_ROOM,
					.missing = CL_POPULATE_NO_SCAN | CL_POPULATE_OWN_POLICY,
					.huge_bytes = 1ull << 40,
					.compact_stall = -1,
					.compact_fail = 7,
					.node_count = 2};
	char text[16384];
	json_t *j, *missing, *pages;
	int n;

	(void)state;
	r.nodes[1].node = 3;
	r.nodes[1].huge_bytes = 4096;
	r.nodes[1].base_sampled = 1;
	snprintf(r.text, sizeof(r.text), "a \"quoted\\\" text\n\x80");
	n = cl_populate_receipt_json(&r, text, sizeof(text));
	assert_int_equal(n, strlen(text));
	assert_null(strchr(text, '\n'));
	j = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(j);
	assert_int_equal(json_integer_value(json_object_get(j, "result")), -12);
	assert_string_equal(json_string_value(json_object_get(j, "limit")), "room");
	missing = json_object_get(j, "missing");
	assert_int_equal(json_array_size(missing), 2);
	assert_string_equal(json_string_value(json_array_get(missing, 0)), "pagemap-scan");
	assert_true(json_is_null(json_object_get(j, "compact_stall")));
	assert_int_equal(json_integer_value(json_object_get(j, "compact_fail")), 7);
	assert_int_equal(json_integer_value(json_object_get(j, "huge_bytes")), 1ll << 40);
	pages = json_object_get(json_object_get(j, "pages"), "node3");
	assert_int_equal(json_integer_value(json_object_get(pages, "huge_bytes")), 4096);
	assert_true(json_is_true(json_object_get(pages, "base_sampled")));
	json_decref(j);
	r.node_count = 0;
	cl_populate_receipt_json(&r, text, sizeof(text));
	j = json_loads(text, 0, NULL);
	assert_true(json_is_null(json_object_get(j, "pages")));
	json_decref(j);
}

static void json_reports_its_length_and_stays_in_its_buffer(void **state)
{
	struct cl_populate_receipt r = {.size = sizeof(r)};
	char whole[16384], part[100];
	int n = cl_populate_receipt_json(&r, NULL, 0);

	(void)state;
	assert_true(n > 500);
	assert_int_equal(cl_populate_receipt_json(&r, whole, sizeof(whole)), n);
	memset(part, 'x', sizeof(part));
	assert_int_equal(cl_populate_receipt_json(&r, part, 50), n);
	assert_int_equal(strlen(part), 49);
	assert_memory_equal(part, whole, 49);
	for (int i = 50; i < 100; i++)
		assert_int_equal(part[i], 'x');
	assert_int_equal(cl_populate_receipt_json(NULL, part, 50), -EINVAL);
	assert_int_equal(cl_populate_receipt_json(&r, NULL, 50), -EINVAL);
	r.size = 8;
	assert_int_equal(cl_populate_receipt_json(&r, part, 50), -EINVAL);
}

static void the_longest_json_fits_in_16_kib(void **state)
{
	struct cl_populate_receipt r;

	(void)state;
	memset(&r, 0xff, sizeof(r));
	memset(r.text, 1, sizeof(r.text));
	for (int i = 0; i < CL_POPULATE_MAX_NODES; i++)
		r.nodes[i].huge_bytes = r.nodes[i].base_bytes = UINT64_MAX;
	assert_true(cl_populate_receipt_json(&r, NULL, 0) < 16384);
}

static void every_limit_and_every_bit_has_a_name(void **state)
{
	(void)state;
	for (uint32_t i = 0; i <= CL_POPULATE_LIMIT_POOL; i++)
		assert_string_not_equal(cl_populate_limit_name(i), "unknown");
	assert_string_equal(cl_populate_limit_name(99), "unknown");
	for (uint32_t bit = 1; bit <= CL_POPULATE_NO_SPLIT; bit <<= 1)
		assert_string_not_equal(cl_populate_missing_name(bit), "unknown");
	assert_string_equal(cl_populate_missing_name(3), "unknown");
}

/* A random number that is often small, an edge, or has one bit set. */
static uint64_t odd_number(uint64_t *seed)
{
	switch (random_below(seed, 6)) {
	case 0:
		return random_below(seed, 5);
	case 1:
		return UINT64_MAX - random_below(seed, 3);
	case 2:
		return 1ull << random_below(seed, 64);
	case 3:
		return random_below(seed, 2000);
	default:
		return random_next(seed);
	}
}

/*
 * Half of the fields are left as they should be, or nothing but -EINVAL would be seen.
 * Pointers stay null: a wild pointer is the caller's mistake in any library.
 */
static void random_options_never_crash_and_never_lie(void **state)
{
	uint64_t seed = 6, accepted = 0;
	const char *rounds = getenv("POPULATE_FUZZ_ROUNDS");
	unsigned n = rounds ? (unsigned)atoi(rounds) : 2000;
	size_t size = 6 * MIB;

	(void)state;
	for (unsigned i = 0; i < n; i++) {
		struct {
			struct cl_populate_options o;
			unsigned char more[128];
		} given = {.o = CL_POPULATE_OPTIONS_INIT};
		struct cl_populate_receipt r = {.size = sizeof(r)};
		char *at = help_map(size);
		uint64_t skew = random_below(&seed, 4) ? random_below(&seed, 3) * 4096
						       : random_below(&seed, 5000);
		int result;

#define MAYBE(field, limit)                                                                        \
	if (random_below(&seed, 8) == 0)                                                           \
		given.o.field = (__typeof__(given.o.field))odd_number(&seed);                      \
	else                                                                                       \
		given.o.field = (__typeof__(given.o.field))random_below(&seed, limit)
		MAYBE(flags, 8);
		MAYBE(policy, 4);
		MAYBE(fallback, 3);
		MAYBE(node, 2);
		MAYBE(threads, 5);
		MAYBE(nodes[0], 3);
		MAYBE(timeout_ns, 100000000);
		MAYBE(min_huge_permille, 1001);
		MAYBE(reserved, 1);
#undef MAYBE
		if (random_below(&seed, 4) == 0)
			given.o.size = (uint32_t)(random_below(&seed, 2)
							  ? random_below(&seed, sizeof(given) + 1)
							  : odd_number(&seed));
		if (given.o.size > sizeof(given)) /* it is the caller's word for what is there */
			given.o.size = 5000;
		if (random_below(&seed, 8) == 0)
			given.more[random_below(&seed, sizeof(given.more))] = 1;
		result = random_below(&seed, 5)
				 ? cl_populate(at + skew, size - 2 * 5000, &given.o, &r)
				 : cl_populate_collapse(at + skew, size - 2 * 5000, &given.o, &r);
		assert_int_equal(r.result, result);
		assert_true(result <= 0);
		assert_true(r.done_bytes <= r.bytes);
		assert_true(r.limit <= CL_POPULATE_LIMIT_POOL);
		assert_true(r.text[0] && memchr(r.text, 0, sizeof(r.text)));
		if (!result && r.done_bytes == r.bytes)
			accepted++;
		help_unmap(at, size);
	}
	assert_true(accepted > n / 20); /* the fuzzing reaches the inside */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_says_what_the_receipt_says),
		cmocka_unit_test(json_reports_its_length_and_stays_in_its_buffer),
		cmocka_unit_test(the_longest_json_fits_in_16_kib),
		cmocka_unit_test(every_limit_and_every_bit_has_a_name),
		cmocka_unit_test(random_options_never_crash_and_never_lie),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
