/* SPDX-License-Identifier: MIT */
/* cl_run() on a backend of our own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <cmocka.h>
#include "backend/run.h"
#include "result/record.h"
#include "util/util.h"

static const char scenario_text[] = "[experiment]\ntitle = t\nseed = 10\nrepeat = 2\n"
				    "[variant mainline]\n[variant b]\n[variant c]\n"
				    "[step populate]\nkind = fault\nsize = 128M\n";

static struct cl_scenario *scenario(const char *more)
{
	char *text = format("%s%s", scenario_text, more);
	struct cl_scenario *s;
	struct cl_error err;

	if (cl_scenario_parse(text, strlen(text), "t.ini", &s, &err))
		fail_msg("%s", err.what);
	free(text);
	return s;
}

/* What the backend does, set by each test. */
static struct {
	const char *cannot;  /* variant whose probe says no */
	const char *fails;   /* variant whose run fails */
	int code;            /* how it fails, 0: -EIO */
	const char *policy;  /* that the kernel names, or NULL */
	bool slow_first;     /* the first run ends after the others */
	bool waits_for_stop; /* a run ends only when told to */
	bool later_wait;     /* so do all after the first */
	unsigned jobs;
	unsigned together; /* a run ends only once so many were under way, or after 10 s */
	pthread_mutex_t lock;
	unsigned running, most, runs;
} fake;

static void fake_reset(void)
{
	memset(&fake, 0, sizeof(fake));
	pthread_mutex_init(&fake.lock, NULL);
	fake.jobs = 1;
}

static int fake_probe(const struct backend_run *run, struct cl_error *err)
{
	if (!fake.cannot || strcmp(run->plan->variant, fake.cannot))
		return 0;
	cl_error(err, -EOPNOTSUPP, "no such thing");
	return cl_error_hint(err, -EOPNOTSUPP, "get one");
}

static unsigned most_running(void)
{
	unsigned most;

	pthread_mutex_lock(&fake.lock);
	most = fake.most;
	pthread_mutex_unlock(&fake.lock);
	return most;
}

static int fake_run(const struct backend_run *run, json_t **record, struct cl_error *err)
{
	unsigned number;
	bool waits;

	pthread_mutex_lock(&fake.lock);
	number = fake.runs++;
	waits = fake.waits_for_stop || (fake.later_wait && number);
	if (++fake.running > fake.most)
		fake.most = fake.running;
	pthread_mutex_unlock(&fake.lock);
	run->step(run->arg, "populate");
	usleep(fake.slow_first && !number ? 100000 : 5000);
	for (unsigned i = 0; most_running() < fake.together && i < 10000; i++)
		usleep(1000);
	while (waits && !run->stopped(run->arg))
		usleep(1000);
	pthread_mutex_lock(&fake.lock);
	fake.running--;
	pthread_mutex_unlock(&fake.lock);
	if (waits)
		return -EINTR;
	if (fake.fails && !strcmp(fake.fails, run->plan->variant))
		return cl_error(err, fake.code ? fake.code : -EIO, "it broke");
	*record = json_pack("{s:{s:s}, s:i, s:[{s:s}]}", "kernel", "release",
			    run->kernel ? run->kernel : "7.3.4", "wall_ns", 5, "steps", "name",
			    "populate");
	if (fake.policy)
		json_object_set_new(*record, "policy", json_string(fake.policy));
	return 0;
}

static unsigned fake_jobs(const struct backend_run *run)
{
	(void)run;
	return fake.jobs;
}

/* It runs what the guest would, so it goes by that name. */
static const struct backend fake_backend = {.name = "guest",
					    .probe = fake_probe,
					    .run = fake_run,
					    .jobs = fake_jobs};

/* What cl_run() tells its caller. */
struct told {
	char lines[16][512];
	unsigned count, progress, stop_after;
	unsigned done, total;
	char variant[32], step[32];
	int refuse;
	pthread_t thread;
};

static int on_record(void *arg, const char *line)
{
	struct told *t = arg;

	assert_true(pthread_equal(t->thread, pthread_self()));
	snprintf(t->lines[t->count++], sizeof(t->lines[0]), "%s", line);
	return t->refuse;
}

static void on_progress(void *arg, const struct cl_progress *p)
{
	struct told *t = arg;

	assert_true(pthread_equal(t->thread, pthread_self()));
	t->progress++;
	t->done = p->done;
	t->total = p->total;
	snprintf(t->variant, sizeof(t->variant), "%s", p->variant);
	if (p->step)
		snprintf(t->step, sizeof(t->step), "%s", p->step);
}

static bool on_stopped(void *arg)
{
	struct told *t = arg;

	return t->stop_after && t->progress >= t->stop_after;
}

static struct cl_run_options options_for(struct told *t)
{
	t->thread = pthread_self();
	return (struct cl_run_options){.progress = on_progress,
				       .record = on_record,
				       .stopped = on_stopped,
				       .arg = t};
}

static int run(const struct cl_run_options *o, const char *more, struct cl_results **out,
	       struct cl_error *err)
{
	struct cl_scenario *s = scenario(more);
	int r = run_on(&fake_backend, s, o, out, err);

	assert_non_null(*out);
	cl_scenario_free(s);
	return r;
}

static void expect_order(const struct cl_results *r, const char *expected)
{
	char *text = strdup("");

	for (unsigned i = 0; i < r->count; i++) {
		char *column = record_column(r->record[i], true), *more;

		more = format("%s%s/%lld ", text, column,
			      json_integer_value(json_object_get(r->record[i], "seed")));
		free(text);
		free(column);
		text = more;
	}
	assert_string_equal(text, expected);
	free(text);
}

static void records_are_in_plan_order_whatever_ends_first(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	fake.jobs = 3;
	fake.slow_first = true;
	assert_int_equal(run(&o, "", &r, NULL), 0);
	expect_order(r, "mainline 7.3.4/10 mainline 7.3.4/11 b 7.3.4/10 b 7.3.4/11 c 7.3.4/10 "
			"c 7.3.4/11 ");
	assert_int_equal(t.count, 6);
	for (unsigned i = 0; i < t.count; i++) {
		char *line = cl_results_json(r, i);

		assert_string_equal(line, t.lines[i]);
		free(line);
	}
	assert_int_equal(fake.most, 3);
	cl_results_free(r);
}

static void kernels_come_between_variant_and_repeat(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	o.kernels = "7.3,6.12";
	o.variants = "b";
	o.seed = 5;
	o.have_seed = true;
	assert_int_equal(run(&o, "", &r, NULL), 0);
	expect_order(r, "b 7.3/5 b 7.3/6 b 6.12/5 b 6.12/6 ");
	cl_results_free(r);
}

static void a_record_has_the_runners_fields_first(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	const char *sha;

	(void)state;
	fake_reset();
	o.variants = "b";
	o.repeat = 1;
	assert_int_equal(run(&o, "", &r, NULL), 0);
	sha = json_string_value(json_object_get(r->record[0], "scenario_sha256"));
	assert_int_equal(strlen(sha), 64);
	assert_non_null(
		strstr(t.lines[0], "{\"schema\":1,\"scenario\":\"t\",\"scenario_sha256\":"));
	assert_non_null(strstr(t.lines[0], "\"backend\":\"guest\",\"kernel\":{\"release\":"
					   "\"7.3.4\"},\"variant\":\"b\",\"policy\":\"mainline\","
					   "\"seed\":10,\"repeat\":0,\"version\":"));
	cl_results_free(r);
}

static void a_fault_step_says_whose_cpus_it_used(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	o.variants = "d,c";
	o.repeat = 1;
	assert_int_equal(run(&o, "[machine]\nnodes = 1G, 1G\n[variant d]\npopulate.cpu_node = 1\n",
			     &r, NULL),
			 0);
	assert_null(strstr(t.lines[1], "cpu_node"));
	assert_non_null(strstr(t.lines[0], "\"detail\":{\"cpu_node\":1}"));
	cl_results_free(r);
}

static void a_policy_that_did_not_run_is_an_error(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};
	static const char policy[] = "[variant p]\npolicy = sample-random\n";

	(void)state;
	fake_reset();
	o.variants = "p";
	o.repeat = 1;
	assert_int_equal(run(&o, policy, &r, &err), -EIO);
	assert_string_equal(err.what, "variant p: the variant asks for policy sample-random, but "
				      "the kernel that ran has mainline");
	assert_int_equal(cl_results_count(r), 0);
	cl_results_free(r);

	fake.policy = "sample-random";
	assert_int_equal(run(&o, policy, &r, NULL), 0);
	assert_string_equal(record_text(r->record[0], "policy"), "sample-random");
	cl_results_free(r);
}

static void a_variant_that_cannot_run_is_noted_and_the_others_run(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	fake.cannot = "b";
	assert_int_equal(run(&o, "", &r, NULL), 0);
	expect_order(r, "mainline 7.3.4/10 mainline 7.3.4/11 c 7.3.4/10 c 7.3.4/11 ");
	assert_int_equal(r->notes, 1);
	assert_string_equal(r->note[0], "variant b was not run: no such thing (get one)");
	cl_results_free(r);
}

static void a_variant_asked_for_by_name_must_run(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.cannot = "b";
	o.variants = "mainline,b";
	assert_int_equal(run(&o, "", &r, &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "no such thing");
	assert_int_equal(fake.runs, 0);
	cl_results_free(r);
}

static void nothing_left_to_run_is_not_available(void **state)
{
	static const char one[] = "[experiment]\ntitle = t\n[step s]\nkind = sleep\ntime = 1ms\n";
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_scenario *s;
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.cannot = "mainline";
	assert_int_equal(cl_scenario_parse(one, strlen(one), "one.ini", &s, &err), 0);
	assert_int_equal(run_on(&fake_backend, s, &o, &r, &err), -EOPNOTSUPP);
	assert_string_equal(err.hint, "get one");
	cl_results_free(r);
	cl_scenario_free(s);
}

static void a_run_that_fails_is_noted_and_the_others_run(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.fails = "b";
	assert_int_equal(run(&o, "", &r, &err), -EIO);
	assert_string_equal(err.what, "variant b, repeat 1: it broke; 1 more run failed");
	expect_order(r, "mainline 7.3.4/10 mainline 7.3.4/11 c 7.3.4/10 c 7.3.4/11 ");
	assert_int_equal(t.count, 4);
	assert_int_equal(t.done, 6);
	assert_int_equal(fake.runs, 6);
	assert_int_equal(cl_results_notes(r), 2);
	assert_string_equal(r->note[0], "variant b, repeat 1 failed: it broke");
	assert_string_equal(r->note[1], "variant b, repeat 2 failed: it broke");
	cl_results_free(r);
}

static void a_failure_names_the_kernel_where_several_run(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.fails = "b";
	o.variants = "b";
	o.kernels = "7.3,6.12";
	o.repeat = 1;
	assert_int_equal(run(&o, "", &r, &err), -EIO);
	assert_string_equal(err.what, "variant b, kernel 7.3: it broke; 1 more run failed");
	assert_string_equal(r->note[1], "variant b, kernel 6.12 failed: it broke");
	cl_results_free(r);
}

/* They would fail the others too, or nobody wants the others any more. */
static void a_failure_of_the_input_or_of_the_place_starts_nothing_more(void **state)
{
	static const struct {
		int code;
		unsigned notes;
	} cases[] = {{-EINVAL, 1}, {-EOPNOTSUPP, 1}, {-EINTR, 0}};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct told t = {0};
		struct cl_run_options o = options_for(&t);
		struct cl_results *r;
		struct cl_error err = {0};

		fake_reset();
		fake.fails = "b";
		fake.code = cases[i].code;
		assert_int_equal(run(&o, "", &r, &err), cases[i].code);
		assert_string_equal(err.what, "variant b, repeat 1: it broke");
		expect_order(r, "mainline 7.3.4/10 mainline 7.3.4/11 ");
		assert_int_equal(t.count, 2);
		assert_int_equal(fake.runs, 3);
		assert_int_equal(cl_results_notes(r), cases[i].notes);
		cl_results_free(r);
	}
}

static void records_behind_a_failure_are_kept_too(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	fake.fails = "mainline";
	fake.slow_first = true;
	fake.jobs = 2;
	o.repeat = 1;
	assert_int_equal(run(&o, "", &r, NULL), -EIO);
	expect_order(r, "b 7.3.4/10 c 7.3.4/10 ");
	assert_int_equal(t.count, 2);
	cl_results_free(r);
}

static void a_stop_reaches_the_backend_and_starts_nothing_more(void **state)
{
	struct told t = {.stop_after = 3};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.waits_for_stop = true;
	assert_int_equal(run(&o, "", &r, &err), -EINTR);
	assert_string_equal(err.what, "stopped after 0 of 6 runs");
	assert_int_equal(fake.runs, 1);
	cl_results_free(r);
}

static void a_record_that_cannot_be_kept_stops_the_run(void **state)
{
	struct told t = {.refuse = -ENOSPC};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	fake_reset();
	fake.later_wait = true; /* or all may be done before the record of the first is refused */
	assert_int_equal(run(&o, "", &r, &err), -ENOSPC);
	assert_string_equal(err.what, "the record could not be kept: No space left on device");
	assert_int_equal(t.count, 1);
	assert_true(fake.runs < 6);
	cl_results_free(r);
}

static void a_backend_that_fits_one_run_never_gets_two(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	o.jobs = 4;
	assert_int_equal(run(&o, "", &r, NULL), 0);
	assert_int_equal(fake.most, 1);
	cl_results_free(r);

	fake_reset();
	fake.jobs = 2;
	fake.together = 4;
	o.jobs = 4;
	t.count = 0;
	assert_int_equal(run(&o, "", &r, NULL), 0);
	assert_int_equal(fake.most, 4);
	cl_results_free(r);
}

static void progress_names_variant_step_and_count(void **state)
{
	struct told t = {0};
	struct cl_run_options o = options_for(&t);
	struct cl_results *r;

	(void)state;
	fake_reset();
	assert_int_equal(run(&o, "", &r, NULL), 0);
	assert_true(t.progress >= 12);
	assert_string_equal(t.variant, "c");
	assert_string_equal(t.step, "populate");
	assert_int_equal(t.done, 6);
	assert_int_equal(t.total, 6);
	cl_results_free(r);
}

static void expect_input_error(struct cl_run_options o, const char *more, const char *message)
{
	struct cl_results *r;
	struct cl_error err = {0};
	char text[1024];

	fake_reset();
	assert_int_equal(run(&o, more, &r, &err), -EINVAL);
	assert_string_equal(cl_error_text(&err, text, sizeof(text)), message);
	assert_int_equal(fake.runs, 0);
	cl_results_free(r);
}

static void wrong_input_is_found_before_anything_runs(void **state)
{
	(void)state;
	expect_input_error((struct cl_run_options){.variants = "mainlin"}, "",
			   "scenario t has no variant 'mainlin' (did you mean 'mainline'?)");
	expect_input_error((struct cl_run_options){.variants = "b,,c"}, "",
			   "an empty name in 'b,,c'");
	expect_input_error(
		(struct cl_run_options){0}, "[check]\nx = mainline.populat.huge > 0\n",
		"t.ini:12: check 'x': there is no step 'populat' (column 1) (did you mean "
		"'populate'?)");
}

static void an_unknown_backend_is_wrong_input(void **state)
{
	struct cl_run_options o = {.backend = "guset"};
	struct cl_scenario *s = scenario("");
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(cl_run(s, &o, &r, &err), -EINVAL);
	assert_string_equal(err.what, "there is no backend 'guset'");
	assert_string_equal(err.hint, "did you mean 'guest'?");
	cl_results_free(r);
	cl_scenario_free(s);
}

static void the_host_takes_no_kernel(void **state)
{
	struct cl_run_options o = {.backend = "host", .kernels = "6.12"};
	struct cl_scenario *s = scenario("");
	struct cl_results *r;
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(cl_run(s, &o, &r, &err), -EINVAL);
	assert_string_equal(err.what, "the host backend runs on this machine's own kernel");
	cl_results_free(r);
	cl_scenario_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(records_are_in_plan_order_whatever_ends_first),
		cmocka_unit_test(kernels_come_between_variant_and_repeat),
		cmocka_unit_test(a_record_has_the_runners_fields_first),
		cmocka_unit_test(a_fault_step_says_whose_cpus_it_used),
		cmocka_unit_test(a_policy_that_did_not_run_is_an_error),
		cmocka_unit_test(a_variant_that_cannot_run_is_noted_and_the_others_run),
		cmocka_unit_test(a_variant_asked_for_by_name_must_run),
		cmocka_unit_test(nothing_left_to_run_is_not_available),
		cmocka_unit_test(a_run_that_fails_is_noted_and_the_others_run),
		cmocka_unit_test(a_failure_names_the_kernel_where_several_run),
		cmocka_unit_test(a_failure_of_the_input_or_of_the_place_starts_nothing_more),
		cmocka_unit_test(records_behind_a_failure_are_kept_too),
		cmocka_unit_test(a_stop_reaches_the_backend_and_starts_nothing_more),
		cmocka_unit_test(a_record_that_cannot_be_kept_stops_the_run),
		cmocka_unit_test(a_backend_that_fits_one_run_never_gets_two),
		cmocka_unit_test(progress_names_variant_step_and_count),
		cmocka_unit_test(wrong_input_is_found_before_anything_runs),
		cmocka_unit_test(an_unknown_backend_is_wrong_input),
		cmocka_unit_test(the_host_takes_no_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
