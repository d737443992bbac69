/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "util/latency.h"

static void percentiles_are_right_to_a_sixteenth(void **state)
{
	static struct latency l;

	(void)state;
	for (uint64_t i = 1; i <= 1000; i++)
		latency_add(&l, i * 1000);
	assert_in_range(latency_percentile(&l, 500), 500000, 500000 * 17 / 16);
	assert_in_range(latency_percentile(&l, 990), 990000, 1000000);
	assert_int_equal(latency_percentile(&l, 1000), 1000000);
}

static void small_and_huge_times_have_a_place(void **state)
{
	static struct latency l;

	(void)state;
	latency_add(&l, 0);
	latency_add(&l, 15);
	latency_add(&l, 16);
	latency_add(&l, UINT64_MAX / 2);
	assert_int_equal(latency_percentile(&l, 1), 0);
	assert_int_equal(latency_percentile(&l, 500), 15);
	assert_int_equal(latency_percentile(&l, 750), 16);
	assert_true(latency_percentile(&l, 1000) == UINT64_MAX / 2);
}

static void the_summary_has_exact_count_mean_and_maximum(void **state)
{
	static struct latency a, b;
	struct latency_summary s;

	(void)state;
	latency_add(&a, 10);
	latency_add(&b, 20);
	latency_add(&b, 33);
	latency_merge(&a, &b);
	latency_summarize(&a, &s);
	assert_int_equal(s.count, 3);
	assert_int_equal(s.mean_ns, 21);
	assert_int_equal(s.max_ns, 33);
}

static void of_nothing_there_is_nothing_to_say(void **state)
{
	static struct latency l;
	struct latency_summary s;

	(void)state;
	latency_summarize(&l, &s);
	assert_int_equal(s.count + s.mean_ns + s.p50_ns + s.p99_ns + s.max_ns, 0);
}

static void a_range_lasts_from_its_first_touch_to_its_last(void **state)
{
	static struct fault_latency f;

	(void)state;
	fault_latency_add(&f, 0, 9, 100, 400);   /* a huge page: the whole range */
	fault_latency_add(&f, 512, 0, 400, 410); /* base pages of the next one */
	fault_latency_add(&f, 513, 0, 500, 520);
	fault_latency_end(&f);
	assert_int_equal(f.class[FAULT_HUGE].count, 1);
	assert_int_equal(f.class[FAULT_HUGE].sum_ns, 300);
	assert_int_equal(f.class[FAULT_BASE].count, 2);
	assert_int_equal(f.class[FAULT_BASE].sum_ns, 30);
	assert_int_equal(f.class[FAULT_RANGE].count, 2);
	assert_int_equal(f.class[FAULT_RANGE].sum_ns, 300 + 120);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentiles_are_right_to_a_sixteenth),
		cmocka_unit_test(small_and_huge_times_have_a_place),
		cmocka_unit_test(the_summary_has_exact_count_mean_and_maximum),
		cmocka_unit_test(of_nothing_there_is_nothing_to_say),
		cmocka_unit_test(a_range_lasts_from_its_first_touch_to_its_last),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
