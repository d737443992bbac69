/* SPDX-License-Identifier: MIT */
/* Composition of policies. */
#include "harness.h"

#include <errno.h>

static void test_names_are_checked(void **state)
{
	const char *bad;

	(void)state;
	assert_int_equal(policy_check("mainline", &bad), 0);
	assert_int_equal(policy_check("mainline+", &bad), -ENOENT);
	assert_int_equal(policy_check("mainline+nosuch", &bad), -ENOENT);
	assert_string_equal(bad, "nosuch");
	assert_int_equal(policy_check("+mainline", &bad), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_checked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
