/* SPDX-License-Identifier: MIT */
/* From records whose costs are known, these costs come back. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <compactlab/run.h>
#include "backend/calibrate.h"
#include "util/util.h"

/* One record; a pass is migrate_scanned, free_scanned, moved and their time. */
static json_t *record(int64_t scan, int64_t sample, int64_t move, int64_t zero)
{
	static const int64_t work[3][3] = {{180000, 300, 20},
					   {33000, 120000, 7400},
					   {93000, 70000, 33000}};
	static const char *const names[3] = {"pinned-compact", "few-compact", "many-compact"};
	json_t *steps = json_array();

	for (int i = 0; i < 3; i++) {
		int64_t ns = work[i][0] * scan + work[i][1] * sample +
			     work[i][2] * (move + 90 + 60 + 300);

		json_array_append_new(steps,
				      json_pack("{s:s, s:I, s:{s:I, s:I, s:I}}", "name", names[i],
						"compaction_ns", (json_int_t)ns, "vmstat",
						"compact_migrate_scanned", (json_int_t)work[i][0],
						"compact_free_scanned", (json_int_t)work[i][1],
						"pgmigrate_success", (json_int_t)work[i][2]));
	}
	json_array_append_new(steps, json_pack("{s:s, s:I, s:{s:{s:i}}}", "name", "huge", "time_ns",
					       (json_int_t)(64 * (512 * zero + 1500 + 110)),
					       "pages", "node0", "huge", 64));
	json_array_append_new(steps, json_pack("{s:s, s:I, s:{s:{s:i}}}", "name", "base", "time_ns",
					       (json_int_t)(32768 * (zero + 110 + 5000)), "pages",
					       "node0", "base", 32768));
	json_array_append_new(steps,
			      json_pack("{s:s, s:I, s:{s:I}}", "name", "pressure", "kswapd_ns",
					(json_int_t)(12000 * (9000 + 80 + 9 + 40 + 40)), "vmstat",
					"pgsteal_kswapd", (json_int_t)12000));
	return json_pack("{s:o}", "steps", steps);
}

static struct cl_results *records(unsigned count, ...)
{
	struct cl_results *r = results_new();
	va_list ap;

	va_start(ap, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(results_add(r, va_arg(ap, json_t *)), 0);
	va_end(ap);
	return r;
}

static void test_known_costs_come_back_exactly(void **state)
{
	struct cl_results *r = records(1, record(830, 611, 41000, 3900));
	struct calibrated c[NR_COSTS];

	(void)state;
	assert_int_equal(calibrate_fit(r, c), 0);
	assert_int_equal(c[COST_SCAN_MIGRATE].ns, 830);
	assert_int_equal(c[COST_SCAN_FREE].ns, 611);
	assert_int_equal(c[COST_MIGRATE_FOLIO].ns, 41000);
	assert_int_equal(c[COST_ZERO_PAGE].ns, 3900);
	assert_int_equal(c[COST_FAULT].ns, 5000);
	assert_int_equal(c[COST_RECLAIM_FREE].ns, 9000);
	/* Nothing tells these. */
	assert_int_equal(c[COST_PIN_PAGE].values, 0);
	assert_int_equal(c[COST_DRAIN_ALL].values, 0);
	cl_results_free(r);
}

static void test_the_median_counts_and_the_range_is_told(void **state)
{
	struct cl_results *r = records(3, record(30, 20, 900, 390), record(90, 20, 900, 391),
				       record(31, 20, 900, 100));
	struct calibrated c[NR_COSTS];

	(void)state;
	assert_int_equal(calibrate_fit(r, c), 0);
	assert_int_equal(c[COST_SCAN_MIGRATE].ns, 31);
	assert_int_equal(c[COST_SCAN_MIGRATE].low, 30);
	assert_int_equal(c[COST_SCAN_MIGRATE].high, 90);
	assert_int_equal(c[COST_SCAN_MIGRATE].values, 3);
	assert_int_equal(c[COST_ZERO_PAGE].ns, 390);
	cl_results_free(r);
}

static void test_what_most_records_do_not_tell_is_not_measured(void **state)
{
	json_t *bad[2];
	struct calibrated c[NR_COSTS];
	struct cl_results *r;

	(void)state;
	for (int i = 0; i < 2; i++) {
		json_t *steps;

		bad[i] = record(30, 20, 900, 390);
		steps = json_object_get(bad[i], "steps");
		/* Not traced. */
		json_object_set_new(json_array_get(steps, 1), "compaction_ns", json_null());
	}
	json_array_remove(json_object_get(bad[0], "steps"), 3); /* no huge page at all */
	r = records(3, bad[0], bad[1], record(30, 20, 900, 390));
	assert_int_equal(calibrate_fit(r, c), 0);
	assert_int_equal(c[COST_SCAN_MIGRATE].values, 0);
	assert_int_equal(c[COST_MIGRATE_FOLIO].values, 0);
	assert_int_equal(c[COST_ZERO_PAGE].values, 2);
	cl_results_free(r);
}

static void test_runs_below_zero_count_for_the_median(void **state)
{
	struct cl_results *r = records(3, record(30, -20, 900, 390), record(40, 35, 900, 390),
				       record(30, 25, 900, 390));
	struct calibrated c[NR_COSTS];

	(void)state;
	assert_int_equal(calibrate_fit(r, c), 0);
	assert_int_equal(c[COST_SCAN_FREE].values, 3);
	assert_int_equal(c[COST_SCAN_FREE].ns, 25);
	assert_int_equal(c[COST_SCAN_FREE].low, 0);
	assert_int_equal(c[COST_SCAN_FREE].high, 35);
	cl_results_free(r);
	r = records(3, record(30, -20, 900, 390), record(40, -5, 900, 390),
		    record(30, 25, 900, 390));
	assert_int_equal(calibrate_fit(r, c), 0);
	assert_int_equal(c[COST_SCAN_FREE].values, 0);
	cl_results_free(r);
}

static void near(const struct calibrated *c, uint64_t want, uint64_t percent)
{
	assert_true(c->values > 0);
	if (c->ns * 100 < want * (100 - percent) || c->ns * 100 > want * (100 + percent))
		fail_msg("%llu, not about %llu", (unsigned long long)c->ns,
			 (unsigned long long)want);
}

/* The model has no other clock than its costs, so what is measured on it must be these. */
static void test_the_costs_of_a_model_are_found_on_it(void **state)
{
	struct cl_run_options options = {.backend = "model", .repeat = 1};
	char path[] = "/tmp/test-costs-XXXXXX", *set;
	int fd = mkstemp(path);
	struct calibrated c[NR_COSTS];
	struct cl_results *r = NULL;
	struct cl_scenario *s;
	struct cl_error err = {0};

	(void)state;
	assert_true(fd >= 0);
	dprintf(fd, "compactlab-costs 1\nscan_migrate = 300\nscan_free = 200\n"
		    "migrate_folio = 9000\nzero_page = 1000\nfault = 7000\nunmap_page = 600\n"
		    "pin_page = 500\nmadvise_call = 3000\ninode_create = 30000\n"
		    "file_write_page = 4000\nreclaim_free = 3000\n");
	close(fd);
	set = format("machine.costs=%s", path);
	assert_int_equal(calibrate_scenario(&s, &err), 0);
	assert_int_equal(cl_scenario_set(s, set, &err), 0);
	if (cl_run(s, &options, &r, &err))
		fail_msg("%s", err.what);
	unlink(path);
	assert_int_equal(calibrate_fit(r, c), 0);
	near(&c[COST_ZERO_PAGE], 1000, 1);
	near(&c[COST_FAULT], 7000, 1);
	near(&c[COST_UNMAP_PAGE], 600, 1);
	near(&c[COST_PIN_PAGE], 500, 2);
	near(&c[COST_MADVISE_CALL], 3000, 3);
	near(&c[COST_INODE_CREATE], 30000, 2);
	near(&c[COST_FILE_WRITE_PAGE], 4000, 10);
	near(&c[COST_RECLAIM_FREE], 3000, 3);
	/* The counter also counts pages that are passed by without a look. */
	near(&c[COST_SCAN_MIGRATE], 300, 15);
	near(&c[COST_SCAN_FREE], 200, 15);
	near(&c[COST_MIGRATE_FOLIO], 9000, 5);
	cl_results_free(r);
	cl_scenario_free(s);
	free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_costs_come_back_exactly),
		cmocka_unit_test(test_the_median_counts_and_the_range_is_told),
		cmocka_unit_test(test_what_most_records_do_not_tell_is_not_measured),
		cmocka_unit_test(test_runs_below_zero_count_for_the_median),
		cmocka_unit_test(test_the_costs_of_a_model_are_found_on_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
