/* SPDX-License-Identifier: MIT */
/*
 * The guest backend from plan to record with a stand-in for QEMU: a script that writes
 * what a guest would to the console and to the wire.
 */
#include "test_backend.h"
#include "backend/backend.h"
#include "util/util.h"
#include <signal.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char place[64];
static struct cl_scenario *scenario;
static bool (*stopped)(void *arg); /* of the run; NULL: never */
static bool clean_log;             /* is asked for */

static const char scenario_text[] = "[experiment]\ntitle = t\n"
				    "[machine]\nnodes = 64M\ncpus = 1\ntimeout = 20s\n"
				    "[step nap]\nkind = sleep\ntime = 1ms\n";

#define RELEASE "7.3.4-test"
#define RECORD(release)                                                                            \
	"{\"kernel\": {\"release\": \"" release                                                    \
	"\"}, \"notes\": [], \"evidence\": {}, \"steps\": []}"

static int set_up(void **state)
{
	static uint8_t image[FAKE_IMAGE_BYTES];
	char path[128];

	(void)state;
	strcpy(place, "/tmp/compactlab-test-XXXXXX");
	if (!mkdtemp(place))
		return -1;
	fake_image(image, RELEASE);
	snprintf(path, sizeof(path), "%s/bzImage", place);
	return file_replace(path, image, sizeof(image)) ||
	       cl_scenario_parse(scenario_text, strlen(scenario_text), "t.ini", &scenario, NULL);
}

static int tear_down(void **state)
{
	const char *const argv[] = {"rm", "-rf", "--", place, NULL};

	(void)state;
	cl_scenario_free(scenario);
	scenario = NULL;
	stopped = NULL;
	clean_log = false;
	return child_run(argv, NULL, NULL);
}

/* Run the plan on the stand-in; `say` and `print` are shell functions for its two ports. */
static int run(const char *script, json_t **record, struct cl_error *err)
{
	char *saved = strdup(getenv("PATH")), *path, *text, kernel[128];
	struct backend_run r = {.scenario = scenario,
				.kernel = kernel,
				.keep_logs = place,
				.clean_log = clean_log,
				.stopped = stopped,
				.arg = place};
	struct plan *plan;
	int code;

	snprintf(kernel, sizeof(kernel), "%s/bzImage", place);
	path = format("%s/qemu-system-x86_64", place);
	text = format("#!/bin/sh\n"
		      "for a; do case $a in\n"
		      "file,id=wire,*) wire=${a#*path=} ;;\n"
		      "file,id=console,*) console=${a#*path=} ;;\n"
		      "esac; done\n"
		      "exec 8>$wire 9>$console\n"
		      "say() { printf '%%s %%s %%s\\n' \"$1\" \"${#2}\" \"$2\" >&8; }\n"
		      "print() { printf '%%s\\r\\n' \"$1\" >&9; }\n"
		      "%s\n",
		      script);
	assert_int_equal(file_replace(path, text, strlen(text)), 0);
	assert_int_equal(chmod(path, 0755), 0);
	free(path);
	free(text);
	path = format("%s:%s", place, saved);
	setenv("PATH", path, 1);
	assert_int_equal(plan_resolve(scenario, "guest", "mainline", 3, 5, &plan, NULL), 0);
	r.plan = plan;
	code = backend_guest.probe(&r, err);
	assert_int_equal(code, 0);
	code = backend_guest.run(&r, record, err);
	assert_int_equal(code == 0, *record != NULL);
	plan_free(plan);
	setenv("PATH", saved, 1);
	free(saved);
	free(path);
	return code;
}

/* The stand-in's run must fail with this code, and say each of these. */
static void fails(const char *script, int code, const char *what, const char *hint)
{
	struct cl_error err = {0};
	json_t *record;

	assert_int_equal(run(script, &record, &err), code);
	if (!strstr(err.what, what))
		fail_msg("\"%s\" is not in \"%s\"", what, err.what);
	if (!strstr(err.hint, hint))
		fail_msg("\"%s\" is not in \"%s\"", hint, err.hint);
}

static void record_gets_what_only_the_runner_knows(void **state)
{
	json_t *record, *evidence;
	char path[128], *log;

	(void)state;
	assert_int_equal(run("print '[ 1.0] all is well'; say hello " RELEASE "; say step nap;"
			     "say record '" RECORD(RELEASE) "'; say end ''",
			     &record, NULL),
			 0);
	evidence = json_object_get(record, "evidence");
	assert_string_equal(json_string_value(json_object_get(evidence, "machine")), "virtual");
	assert_string_equal(json_string_value(json_object_get(evidence, "hypervisor")), "qemu");
	assert_non_null(json_string_value(json_object_get(evidence, "accelerator")));
	assert_int_equal(json_array_size(json_object_get(record, "notes")), 0);
	json_decref(record);
	snprintf(path, sizeof(path), "%s/mainline-bzImage-3.log", place);
	assert_int_equal(file_read(path, &log, NULL), 0);
	assert_string_equal(log, "[ 1.0] all is well\r\n");
	free(log);
}

static void complaints_of_the_kernel_become_notes(void **state)
{
	static const char *const notes[] = {
		"the guest ran out of memory 1 time: Out of memory: Killed process 5 (x)",
		"the guest's kernel has failed: BUG: bad page",
		"the guest's kernel reported a stall: watchdog: BUG: soft lockup",
		"the guest's kernel warned: WARNING: at mm/x.c:1",
	};
	json_t *record, *list;

	(void)state;
	assert_int_equal(run("print '[ 1.0] Out of memory: Killed process 5 (x)';"
			     "print '[ 1.0] BUG: bad page';"
			     "print '[ 1.0] watchdog: BUG: soft lockup';"
			     "print '[ 1.0] WARNING: at mm/x.c:1';"
			     "say record '" RECORD(RELEASE) "'; say end ''",
			     &record, NULL),
			 0);
	list = json_object_get(record, "notes");
	assert_int_equal(json_array_size(list), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_string_equal(json_string_value(json_array_get(list, i)), notes[i]);
	json_decref(record);
}

static void complaints_of_the_kernel_fail_a_run_that_wants_a_clean_log(void **state)
{
	static const char *const complaints[] = {
		"WARNING: mm/compaction.c:1 at f+0x1/0x2",
		"WARNING: possible circular locking dependency detected",
		"BUG: sleeping function called from invalid context at mm/x.c:1",
		"watchdog: BUG: soft lockup - CPU#1 stuck for 26s!",
	};
	char script[400], path[128];
	json_t *record;

	(void)state;
	clean_log = true;
	for (unsigned i = 0; i < sizeof(complaints) / sizeof(complaints[0]); i++) {
		snprintf(script, sizeof(script),
			 "print '[ 1.0] all is well'; print '[ 1.0] %s';"
			 "say record '" RECORD(RELEASE) "'; say end ''",
			 complaints[i]);
		fails(script, -EIO, complaints[i], "the whole console is in ");
	}
	snprintf(path, sizeof(path), "%s/mainline-bzImage-3.log", place);
	assert_int_equal(access(path, R_OK), 0);
	/* An OOM kill is the scenario's doing. */
	assert_int_equal(run("print '[ 1.0] Out of memory: Killed process 5 (x)';"
			     "print '[ 1.0] INFO: all is well';"
			     "say record '" RECORD(RELEASE) "'; say end ''",
			     &record, NULL),
			 0);
	json_decref(record);
}

static void record_of_another_kernel_is_refused(void **state)
{
	(void)state;
	fails("say record '" RECORD("6.1.0") "'; say end ''", -EIO,
	      "the guest ran kernel 6.1.0, but the image ", "");
	fails("say record '{}'; say end ''", -EIO, "the guest ran kernel of unknown release", "");
}

static void record_that_did_not_arrive_whole_is_refused(void **state)
{
	(void)state;
	fails("say hello x; say record '" RECORD(RELEASE) "'", -EIO,
	      "the record did not arrive whole", "");
	fails("say record '{'; say end ''", -EIO, "the guest's record cannot be read: ", "");
	fails("say hello x; echo 'record 9 {}' >&8; say end ''", -EIO,
	      "without a record; parts of what it sent were damaged", "");
}

static void error_of_a_step_is_passed_on_with_the_oom_kill(void **state)
{
	struct cl_error err = {0};
	json_t *record;

	(void)state;
	assert_int_equal(run("print '[ 1.0] Out of memory: Killed process 5 (x)'; say hello x;"
			     "say error '{\"code\": -12, \"file\": \"t.ini\", \"line\": 7,"
			     " \"what\": \"worker ended\", \"hint\": \"less\"}'; say end ''",
			     &record, &err),
			 -ENOMEM);
	assert_string_equal(err.file, "t.ini");
	assert_int_equal(err.line, 7);
	assert_string_equal(err.what, "worker ended; the guest ran out of memory: "
				      "Out of memory: Killed process 5 (x)");
	assert_string_equal(err.hint, "less");
}

static void kernel_that_stops_is_told_in_its_own_words(void **state)
{
	(void)state;
	fails("print '[ 1.0] Kernel panic - not syncing: x'", -EIO,
	      "the guest's kernel panicked while it booted: Kernel panic - not syncing: x",
	      "the whole console is in ");
	fails("say hello x; print '[ 1.0] Oops: y'; print '[ 1.0] Kernel panic - not syncing: x'",
	      -EIO, "the guest's kernel has failed before the first step: Oops: y", "");
	fails("say hello x; say step nap; print '[ 1.0] Out of memory: Killed process 5 (x)';"
	      "print '[ 1.0] Kernel panic - not syncing: System is deadlocked on memory'",
	      -EIO,
	      "the guest ran out of memory in step \"nap\": Out of memory: Killed process 5 (x); "
	      "Kernel panic - not syncing: System is deadlocked on memory",
	      "");
}

static void emulator_that_fails_is_told_in_its_own_words(void **state)
{
	(void)state;
	fails("echo noise >&2; echo 'qemu: no such thing' >&2; exit 1", -EIO,
	      "QEMU ended with status 1: qemu: no such thing", "");
	fails("kill -9 $$", -EIO, "QEMU was ended by signal 9 while it booted", "");
	fails("exit 0", -EIO, "kernel bzImage does not boot here", "nothing is on the console");
	fails("print '[ 1.0] last words'; exit 0", -EIO, "the guest ended while it booted",
	      "the console ends with: [ 1.0] last words");
}

/* Once the stand-in has left the file "pid" in the place. */
static bool once_it_runs(void *arg)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/pid", (const char *)arg);
	return access(path, F_OK) == 0;
}

static void guest_that_is_stopped_is_gone_at_once(void **state)
{
	struct timespec start, end;
	struct cl_error err = {0};
	json_t *record;
	char path[128], *text;

	(void)state;
	stopped = once_it_runs;
	clock_gettime(CLOCK_MONOTONIC, &start);
	assert_int_equal(run("cd ${0%/*}; echo $$ >new; mv new pid; say hello x; say step nap;"
			     "exec sleep 300",
			     &record, &err),
			 -EINTR);
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_string_equal(err.what, "stopped");
	assert_true(end.tv_sec - start.tv_sec < 100);
	snprintf(path, sizeof(path), "%s/pid", place);
	assert_int_equal(file_read(path, &text, NULL), 0);
	assert_int_equal(kill((pid_t)atoi(text), 0), -1);
	assert_int_equal(errno, ESRCH);
	free(text);
}

static void signals_for_the_runner_do_not_reach_the_guest(void **state)
{
	json_t *record, *group;

	(void)state;
	assert_int_equal(run("set -- $(cat /proc/$$/stat);"
			     "say record \"{\\\"kernel\\\": {\\\"release\\\": \\\"" RELEASE
			     "\\\"}, \\\"group\\\": $5, \\\"pid\\\": $$}\"; say end ''",
			     &record, NULL),
			 0);
	group = json_object_get(record, "group");
	assert_int_equal(json_integer_value(group),
			 json_integer_value(json_object_get(record, "pid")));
	assert_int_not_equal(json_integer_value(group), getpgrp());
	json_decref(record);
}

/* A kernel in a cache of its own, as it was fetched or, with a key, built. */
static void cache_kernel(const char *key)
{
	static uint8_t image[FAKE_IMAGE_BYTES];
	char path[256];

	for (const char *const *d =
		     (const char *const[]){"", "/kernels", "/kernels/k", "/kernels/k/boot", NULL};
	     *d; d++) {
		snprintf(path, sizeof(path), "%s/compactlab%s", place, *d);
		mkdir(path, 0755);
	}
	fake_image(image, RELEASE);
	snprintf(path, sizeof(path), "%s/compactlab/kernels/k/boot/vmlinuz-x", place);
	assert_int_equal(file_replace(path, image, sizeof(image)), 0);
	snprintf(path, sizeof(path), "%s/compactlab/kernels/k/built-from", place);
	if (key)
		assert_int_equal(file_replace(path, key, strlen(key)), 0);
	setenv("XDG_CACHE_HOME", place, 1);
}

static void policy_that_the_kernel_lacks_is_not_available(void **state)
{
	struct cl_error err = {0};
	struct plan *plan;
	struct backend_run r = {.scenario = scenario, .kernel = "k"};

	(void)state;
	assert_int_equal(plan_resolve(scenario, "guest", "mainline", 0, 1, &plan, NULL), 0);
	free(plan->policy);
	plan->policy = strdup("sample-random");
	r.plan = plan;
	for (unsigned i = 0; i < 2; i++) {
		cache_kernel(i ? "0123\nplain\n" : NULL);
		assert_int_equal(backend_guest.probe(&r, &err), -EOPNOTSUPP);
		assert_string_equal(err.what, "kernel k does not have the policy sample-random");
		assert_non_null(strstr(err.hint, "`compactlab kernel build 7.3`"));
	}
	/* What else may be missing here is another matter. */
	cache_kernel("0123\npolicies\n");
	err.what[0] = '\0';
	backend_guest.probe(&r, &err);
	assert_null(strstr(err.what, "policy"));
	unsetenv("XDG_CACHE_HOME");
	plan_free(plan);
}

static void guest_larger_than_the_host_is_not_available(void **state)
{
	struct cl_error err;
	struct plan *plan;
	struct backend_run r = {.scenario = scenario};

	(void)state;
	assert_int_equal(plan_resolve(scenario, "guest", "mainline", 0, 1, &plan, NULL), 0);
	r.plan = plan;
	assert_true(backend_guest.jobs(&r) >= 1);
	plan->machine.node_bytes[0] = 1ull << 50;
	assert_int_equal(backend_guest.jobs(&r), 1);
	{
		char kernel[128], *saved = strdup(getenv("PATH")), *path;

		snprintf(kernel, sizeof(kernel), "%s/bzImage", place);
		r.kernel = kernel;
		path = format("%s/qemu-system-x86_64", place);
		assert_int_equal(file_replace(path, "", 0), 0);
		assert_int_equal(chmod(path, 0755), 0);
		setenv("PATH", place, 1);
		assert_int_equal(backend_guest.probe(&r, &err), -EOPNOTSUPP);
		setenv("PATH", saved, 1);
		free(saved);
		free(path);
	}
	assert_non_null(strstr(err.what, "the guest needs 1073742144 MiB and this machine has"));
	assert_non_null(strstr(err.hint, "--scale 1/"));
	plan_free(plan);
}

int main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		CASE(record_gets_what_only_the_runner_knows),
		CASE(complaints_of_the_kernel_become_notes),
		CASE(complaints_of_the_kernel_fail_a_run_that_wants_a_clean_log),
		CASE(record_of_another_kernel_is_refused),
		CASE(record_that_did_not_arrive_whole_is_refused),
		CASE(error_of_a_step_is_passed_on_with_the_oom_kill),
		CASE(kernel_that_stops_is_told_in_its_own_words),
		CASE(emulator_that_fails_is_told_in_its_own_words),
		CASE(guest_that_is_stopped_is_gone_at_once),
		CASE(signals_for_the_runner_do_not_reach_the_guest),
		CASE(policy_that_the_kernel_lacks_is_not_available),
		CASE(guest_larger_than_the_host_is_not_available),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
