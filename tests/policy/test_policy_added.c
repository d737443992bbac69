/* SPDX-License-Identifier: MIT */
/* The worked example of docs/write-a-policy.md, as a policy of this tree: one file and one line
 * more. */
#include "../model/harness.h"

#include <errno.h>
#include <string.h>

#include "model/policy.h"

static void test_one_file_and_one_line_make_a_policy(void **state)
{
	const char *bad;

	(void)state;
	assert_non_null(policy_find("defer-shared", NULL));
	assert_non_null(policy_find("defer-async-v2", NULL));
	assert_int_equal(policy_check("defer-shared+sample-random", NULL, &bad), 0);
	assert_int_equal(policy_check("defer-shared+defer-async-v2", NULL, &bad), -EEXIST);
}

static void test_it_changes_what_it_says(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, 64 * PAGEBLOCK_PAGES);
	struct model *m;
	struct zone *z;

	(void)state;
	strcpy(c.policy, "defer-shared");
	m = machine_make(&c);
	z = &m->zone[0];
	/* An asynchronous failure defers both kinds of run, which mainline and the published change
	 * do not. */
	m->policy->defer_failed(m, z, 9, COMPACT_PRIO_ASYNC);
	assert_true(m->policy->deferred(m, z, 9, COMPACT_PRIO_SYNC_LIGHT));
	assert_int_equal(z->defer[DEFER_SHARED].shift, 1);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_file_and_one_line_make_a_policy),
		cmocka_unit_test(test_it_changes_what_it_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
