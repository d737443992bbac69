/* SPDX-License-Identifier: MIT */
/* The deferral state machine: numbers in, numbers out. */
#include "harness.h"

#include "model/defer.h"

static struct model m;
static struct zone z;

static int fresh(void **state)
{
	(void)state;
	bare_zone_z(&m, &z, PROFILE_C);
	return 0;
}

static void test_sync_failures_run_at_1_3_7_15_and_so_on(void **state)
{
	static const int expected[] = { 1, 3, 7, 15, 31, 63, 127, 191, 255 };
	unsigned runs = 0, deferred = 0;

	(void)state;
	for (int attempt = 1; attempt <= 255; attempt++) {
		if (defer_mainline_deferred(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT)) {
			deferred++;
			continue;
		}
		assert_true(runs < 9);
		assert_int_equal(attempt, expected[runs++]);
		defer_mainline_failed(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT);
	}
	assert_int_equal(runs, 9);
	assert_int_equal(deferred, 246);
	assert_int_equal(z.defer[DEFER_SHARED].shift, 6);
	assert_int_equal(z.defer[DEFER_SHARED].considered, 0);
}

static void test_async_failures_do_not_defer(void **state)
{
	unsigned runs = 0;

	(void)state;
	for (int attempt = 1; attempt <= 100; attempt++) {
		if (defer_mainline_deferred(&m, &z, 9, COMPACT_PRIO_ASYNC))
			continue;
		runs++;
		defer_mainline_failed(&m, &z, 9, COMPACT_PRIO_ASYNC);
	}
	assert_int_equal(runs, 100);
	assert_int_equal(z.defer[DEFER_SHARED].shift, 0);
}

static void test_reset_raises_the_failed_order_and_clears_only_when_real(void **state)
{
	struct deferral *d = &z.defer[DEFER_SHARED];

	(void)state;
	*d = (struct deferral){ .considered = 5, .shift = 4, .order_failed = 9 };
	defer_mainline_reset(&m, &z, 9, false);
	assert_int_equal(d->shift, 4);
	assert_int_equal(d->considered, 5);
	assert_int_equal(d->order_failed, 10);
	defer_mainline_reset(&m, &z, 4, true);
	assert_int_equal(d->shift, 0);
	assert_int_equal(d->considered, 0);
	assert_int_equal(d->order_failed, 10);
	assert_false(defer_mainline_deferred(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT));
	assert_int_equal(d->considered, 0);
}

static void test_the_first_failure_defers_every_order(void **state)
{
	(void)state;
	defer_mainline_failed(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT);
	assert_true(defer_mainline_deferred(&m, &z, 2, COMPACT_PRIO_SYNC_LIGHT));
}

static void test_at_the_limit_every_attempt_runs_until_a_failure_re_arms(void **state)
{
	(void)state;
	z.defer[DEFER_SHARED] = (struct deferral){ .considered = 63, .shift = 6, .order_failed = 0 };
	for (int i = 0; i < 5; i++) {
		assert_false(defer_mainline_deferred(&m, &z, 9, COMPACT_PRIO_ASYNC));
		assert_int_equal(z.defer[DEFER_SHARED].considered, 64);
		assert_true(defer_restarting(&z, DEFER_SHARED, 9));
	}
	defer_mainline_failed(&m, &z, 9, COMPACT_PRIO_SYNC_LIGHT);
	assert_int_equal(z.defer[DEFER_SHARED].considered, 0);
	assert_false(defer_restarting(&z, DEFER_SHARED, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_sync_failures_run_at_1_3_7_15_and_so_on, fresh),
		cmocka_unit_test_setup(test_async_failures_do_not_defer, fresh),
		cmocka_unit_test_setup(test_reset_raises_the_failed_order_and_clears_only_when_real, fresh),
		cmocka_unit_test_setup(test_the_first_failure_defers_every_order, fresh),
		cmocka_unit_test_setup(test_at_the_limit_every_attempt_runs_until_a_failure_re_arms, fresh),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
