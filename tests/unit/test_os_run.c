/* SPDX-License-Identifier: MIT */
/* Whole runs on this machine, small ones: what they record and what they leave behind. */
#include "test_os.h"
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include "os/mountfd.h"
#include "procfs/procfs.h"
#include "os/settings.h"
#include "util/util.h"

#define PROACTIVENESS "/proc/sys/vm/compaction_proactiveness"

static int run_text(const char *text, json_t **record, struct cl_error *err)
{
	struct plan *p = plan_of(text, 1);
	struct os_run run = {.plan = p, .guard = true};
	int r = os_probe(&run, err);

	*record = NULL;
	if (!r)
		r = os_run(&run, record, err);
	plan_free(p);
	return r;
}

static json_t *run_well(const char *text)
{
	struct cl_error err = {0};
	char told[2048];
	json_t *record;

	if (run_text(text, &record, &err))
		fail_msg("%s", cl_error_text(&err, told, sizeof(told)));
	return record;
}

static void run_badly(const char *text, int code, int line, const char *what)
{
	struct cl_error err = {0};
	json_t *record;

	assert_int_equal(run_text(text, &record, &err), code);
	assert_null(record);
	assert_string_equal(err.file, "test.ini");
	assert_int_equal(err.line, line);
	if (!strstr(err.what, what))
		fail_msg("'%s' is not in '%s'", what, err.what);
}

static json_t *step_of(json_t *record, const char *name)
{
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(record, "steps"), i, step)
		if (!strcmp(json_string_value(json_object_get(step, "name")), name))
			return step;
	fail_msg("no step %s", name);
	return NULL;
}

static json_int_t number(json_t *from, const char *a, const char *b)
{
	json_t *at = json_object_get(from, a);

	if (b)
		at = json_object_get(at, b);
	return json_is_integer(at) ? json_integer_value(at) : -12345;
}

static json_int_t pages(json_t *step, const char *kind)
{
	json_int_t sum = 0;
	const char *node;
	json_t *one;

	json_object_foreach(json_object_get(step, "pages"), node, one)
		sum += json_integer_value(json_object_get(one, kind));
	return sum;
}

static char *word_of(const char *path, char *buf, size_t size)
{
	char *text;

	assert_int_equal(file_read(path, &text, NULL), 0);
	setting_word(text, buf, size);
	free(text);
	return buf;
}

/* A value that the setting does not have now. */
static const char *another(const char *path)
{
	char now[64];

	return strcmp(word_of(path, now, sizeof(now)), "3") ? "3" : "4";
}

/* ---- what a run records ------------------------------------------------------------------ */

static void a_fragmented_hog_and_a_fault_are_recorded(void **state)
{
	char before[64], after[64];
	json_t *r, *s;

	(void)state;
	word_of(PROACTIVENESS, before, sizeof(before));
	r = run_well("[machine]\nvm.compaction_proactiveness = 0\n"
		     "[step hog]\nkind = fill\nsize = 256M\n"
		     "[step holes]\nkind = punch\nof = hog\nmodulo = 2\nresidue = 1\n"
		     "[step pins]\nkind = pin\nof = hog\n"
		     "[step populate]\nkind = fault\nsize = 32M\nadvice = hugepage\n"
		     "[step loose]\nkind = unpin\nof = pins\n"
		     "[step gone]\nkind = release\nof = hog\n");
	assert_string_equal(before, word_of(PROACTIVENESS, after, sizeof(after)));

	s = step_of(r, "hog");
	assert_int_equal(number(s, "detail", "bytes"), 256 << 20);
	assert_int_equal(pages(s, "base"), 65536);
	assert_int_equal(pages(s, "huge"), 0);
	assert_true(number(s, "time_ns", NULL) > 0);
	assert_true(number(s, "vmstat", "pgfault") >= 65536);
	assert_true(json_array_size(json_object_get(json_object_get(s, "buddyinfo"), "before")) >
		    0);
	assert_true(json_array_size(json_object_get(json_object_get(s, "buddyinfo"), "after")) > 0);

	s = step_of(r, "holes");
	assert_int_equal(number(s, "detail", "freed_pages"), 32768);
	assert_int_equal(number(s, "detail", "kept_pages"), 32768);
	assert_true(number(s, "vmstat", "pgfree") >= 32768);

	s = step_of(r, "pins");
	assert_int_equal(number(s, "detail", "pinned_pages"), 32768);
	assert_true(number(s, "vmstat", "nr_foll_pin_acquired") >= 32768);

	s = step_of(r, "populate");
	assert_int_equal(pages(s, "base") + 512 * pages(s, "huge"), 8192);
	assert_int_equal(number(s, "runs", NULL), 1);
	assert_null(json_object_get(s, "all_runs"));

	assert_true(number(step_of(r, "loose"), "vmstat", "nr_foll_pin_released") >= 32768);
	assert_int_equal(number(step_of(r, "gone"), "detail", "bytes"), 256 << 20);

	assert_true(number(r, "wall_ns", NULL) > 0);
	assert_true(json_is_false(json_object_get(r, "simulated")));
	assert_true(json_is_null(json_object_get(r, "state_hash")));
	assert_non_null(json_object_get(json_object_get(r, "kernel"), "release"));
	assert_true(number(r, "evidence", "cpus") > 0);
	json_decref(r);
}

static void pins_go_in_the_midst_of_a_fault_step(void **state)
{
	json_t *r, *s;
	json_int_t at;

	(void)state;
	r = run_well("[step hog]\nkind = fill\nsize = 16M\n"
		     "[step pins]\nkind = pin\nof = hog\n"
		     "[step populate]\nkind = fault\nsize = 512M\nadvice = nohugepage\n"
		     "repeat = 2\n"
		     "[step loose]\nkind = unpin\nof = pins\nduring = populate\nat = 5%\n");
	s = step_of(r, "loose");
	at = number(s, "detail", "at_blocks");
	assert_in_range(at, 12, 256);
	/* No huge page: the blocks until the end. */
	assert_int_equal(number(s, "detail", "blocks_until_huge"), 256 - at);
	assert_int_equal(number(s, "detail", "pinned_pages"), 4096);
	assert_true(number(s, "vmstat", "nr_foll_pin_released") >= 4096);
	assert_int_equal(number(step_of(r, "populate"), "runs", NULL), 2);
	json_decref(r);
}

static void compaction_is_timed_and_what_was_not_traced_is_null(void **state)
{
	json_t *r = run_well("[step whole]\nkind = compact\n"
			     "[step rest]\nkind = sleep\ntime = 1ms\n");
	json_t *s = step_of(r, "whole"), *ns = json_object_get(s, "compaction_ns");
	int root = mountfd_open("tracefs", NULL);

	(void)state;
	if (root >= 0) {
		assert_true(json_integer_value(ns) > 0);
		assert_true(json_integer_value(ns) <= number(s, "time_ns", NULL));
		close(root);
	} else {
		assert_true(json_is_null(ns));
	}
	assert_true(number(s, "vmstat", "compact_migrate_scanned") > 0 ||
		    number(s, "vmstat", "compact_free_scanned") > 0);
	json_decref(r);
}

static void a_trace_is_the_kernels_text(void **state)
{
	struct plan *p = plan_of("[experiment]\ntitle = T\n[step whole]\nkind = compact\n", 1);
	struct os_run run = {.plan = p};
	struct compaction_event e;
	struct cl_error err = {0};
	json_t *record = NULL;
	char *text = NULL;
	unsigned ends = 0;
	size_t size = 0;
	int root = mountfd_open("tracefs", NULL), r;

	(void)state;
	run.trace = open_memstream(&text, &size);
	r = os_run(&run, &record, &err);
	fclose(run.trace);
	if (root >= 0) {
		assert_int_equal(r, 0);
		assert_int_equal(strncmp(text, "# tracer: nop\n", 14), 0);
		for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
			if (!compaction_event_parse(line, strlen(line), &e))
				ends += e.kind == COMPACTION_END && e.pid > 0;
		assert_true(ends > 0);
		close(root);
	} else {
		assert_int_equal(r, -EOPNOTSUPP);
	}
	json_decref(record);
	free(text);
	plan_free(p);
}

static void repeats_are_summed_and_the_last_is_shown(void **state)
{
	json_t *r = run_well("[step f]\nkind = fault\nsize = 8M\nadvice = nohugepage\nrepeat = 3\n"
			     "threads = 2\n");
	json_t *s = step_of(r, "f"), *all = json_object_get(s, "all_runs");
	json_int_t last = number(s, "vmstat", "pgfault"), sum = number(all, "vmstat", "pgfault");

	(void)state;
	assert_int_equal(number(s, "runs", NULL), 3);
	assert_int_equal(pages(s, "base"), 2048);
	assert_true(last >= 2048);
	assert_true(sum >= 3 * 2048 && sum > last);
	assert_true(number(all, "time_ns", NULL) > number(s, "time_ns", NULL));
	json_decref(r);
}

static void every_other_kind_of_step_works(void **state)
{
	char text[1024];
	json_t *r, *s;

	(void)state;
	snprintf(text, sizeof(text),
		 "[step few]\nkind = files\ncount = 1001\nsize = 5000\nthreads = 3\n"
		 "[step out]\nkind = write\nsize = 3149824\nchunk = 4K\nthreads = 2\n"
		 "[step chunks]\nkind = request\norder = 2\ncount = 64\n"
		 "[step back]\nkind = release\nof = chunks\n"
		 "[step knob]\nkind = set\nvm.extfrag_threshold = 501\n"
		 "[step word]\nkind = set\ntry = vm.extfrag_threshold=1001\n"
		 "[step clean]\nkind = drop\nwhat = slab\n"
		 "[step look]\nkind = read\nfile = /proc/sys/vm/extfrag_threshold\n"
		 "[step nap]\nkind = sleep\ntime = 30ms\n");
	r = run_well(text);
	assert_int_equal(number(step_of(r, "few"), "detail", "files"), 1001);
	assert_int_equal(number(step_of(r, "few"), "detail", "bytes"), 1001 * 5000);
	assert_int_equal(number(step_of(r, "out"), "detail", "bytes"), 3149824);
	assert_int_equal(number(step_of(r, "chunks"), "detail", "requests"), 64);
	assert_int_equal(number(step_of(r, "chunks"), "detail", "failed"), 0);
	assert_int_equal(number(step_of(r, "chunks"), "detail", "bytes"), 64 << 14);
	assert_int_equal(number(step_of(r, "back"), "detail", "bytes"), 64 << 14);
	assert_true(number(step_of(r, "back"), "vmstat", "nr_slab_unreclaimable") <= -192);
	assert_int_equal(number(step_of(r, "word"), "detail", "refused"), 1);
	assert_true(number(step_of(r, "clean"), "vmstat", "drop_slab") >= 1);
	assert_true(number(step_of(r, "nap"), "time_ns", NULL) >= 30000000);
	s = json_object_get(step_of(r, "look"), "detail");
	assert_string_equal(json_string_value(json_object_get(s, "text")), "501\n");
	s = json_object_get(json_object_get(step_of(r, "knob"), "detail"), "settings");
	s = json_object_get(s, "vm.extfrag_threshold");
	assert_string_equal(json_string_value(json_object_get(s, "to")), "501");
	json_decref(r);
	assert_string_not_equal(word_of("/proc/sys/vm/extfrag_threshold", text, sizeof(text)),
				"501");
}

static void what_was_put_back_is_in_the_record_and_in_no_note(void **state)
{
	static const char text[] = "[step knob]\nkind = set\nvm.extfrag_threshold = 501\n";
	static const char path[] = "/proc/sys/vm/extfrag_threshold";
	char before[64];
	json_t *r, *restored, *note;
	size_t i;

	(void)state;
	word_of(path, before, sizeof(before));
	r = run_well(text);
	restored = json_object_get(r, "settings_restored");
	assert_int_equal(json_object_size(restored), 1);
	assert_string_equal(json_string_value(json_object_get(restored, path)), before);
	json_array_foreach(json_object_get(r, "notes"), i, note)
		assert_null(strstr(json_string_value(note), "put back"));
	json_decref(r);

	r = run_well("[step nap]\nkind = sleep\ntime = 1ms\n");
	assert_int_equal(json_object_size(json_object_get(r, "settings_restored")), 0);
	assert_true(json_is_object(json_object_get(r, "settings_restored")));
	json_decref(r);
}

/* ---- what cannot be done ------------------------------------------------------------------ */

static void a_node_that_is_not_there_is_told(void **state)
{
	struct cl_error err = {0};
	json_t *record;

	(void)state;
	if (access("/sys/devices/system/node/node1", F_OK) == 0)
		skip();
	assert_int_equal(run_text("[machine]\nnodes = 1G, 1G\n"
				  "[step hog]\nkind = fill\nnode = 1\nsize = 4M\n",
				  &record, &err),
			 -EOPNOTSUPP);
	assert_string_equal(err.what, "this machine has one node; step hog binds to node 1");
	assert_int_equal(err.line, 3);
}

static void a_deferral_that_was_not_reached_is_an_error(void **state)
{
	(void)state;
	run_badly("[step f]\nkind = fault\nsize = 4M\nadvice = nohugepage\nrepeat = 2\n"
		  "until_defer_shift = 6\n",
		  -EIO, 1, "step f: the deferral shift is -1 after 2 runs, not 6");
}

static void text_that_is_too_long_or_no_text_is_an_error(void **state)
{
	(void)state;
	run_badly("[step r]\nkind = read\nfile = /proc/kallsyms\n", -EFBIG, 1,
		  "/proc/kallsyms is longer than 1 MiB");
	run_badly("[step r]\nkind = read\nfile = /proc/self/auxv\n", -EINVAL, 1,
		  "does not contain text");
	run_badly("[step r]\nkind = read\nfile = /proc/sys/vm\n", -EISDIR, 1,
		  "cannot read /proc/sys/vm");
}

static void what_a_setting_refuses_is_told_with_its_line(void **state)
{
	run_badly("[step a]\nkind = sleep\ntime = 1ms\n"
		  "[step s]\nkind = set\nvm.overcommit_memory = 9\n",
		  -EINVAL, 6, "step s: cannot write '9' to /proc/sys/vm/overcommit_memory");
	(void)state;
}

static void a_value_that_does_not_stick_is_an_error(void **state)
{
	struct watchdog *w;
	struct cl_error err;

	(void)state;
	assert_int_equal(watchdog_start(-1, &w, &err), 0);
	assert_int_equal(settings_write(w, "/dev/null", "1", &err), -EIO);
	assert_string_equal(err.what, "/dev/null shows '' after '1' was written to it");
	assert_int_equal(watchdog_finish(w, NULL, &err), 0);
}

static void nothing_is_left_to_pin_after_everything_was_freed(void **state)
{
	(void)state;
	run_badly("[step hog]\nkind = fill\nsize = 4M\n"
		  "[step holes]\nkind = punch\nof = hog\nselect = random\nshare = 100%\n"
		  "[step pins]\nkind = pin\nof = hog\n",
		  -EINVAL, 9, "step pins: the memory has no page left to pin");
}

static void a_file_in_memory_is_no_page_cache(void **state)
{
	char *old = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;

	(void)state;
	setenv("TMPDIR", "/dev/shm", 1);
	run_badly("[step hog]\nkind = fill\nmemory = file\nsize = 4M\n", -EOPNOTSUPP, 1,
		  "/dev/shm is kept in memory");
	if (old)
		setenv("TMPDIR", old, 1);
	else
		unsetenv("TMPDIR");
	free(old);
}

/* ---- what is put back --------------------------------------------------------------------- */

struct started {
	pthread_t thread;
	struct plan *plan;
	struct os_run run;
	struct cl_error err;
	json_t *record;
	int result;
	atomic_bool stop, napping;
};

static bool is_stopped(void *arg)
{
	return ((struct started *)arg)->stop;
}

static void note_nap(void *arg, const char *step)
{
	if (!strcmp(step, "nap"))
		((struct started *)arg)->napping = true;
}

static void *run_thread(void *arg)
{
	struct started *s = arg;

	s->result = os_run(&s->run, &s->record, &s->err);
	return NULL;
}

static void start(struct started *s, const char *text)
{
	memset(s, 0, sizeof(*s));
	s->plan = plan_of(text, 1);
	s->run = (struct os_run){
		.plan = s->plan, .step = note_nap, .stopped = is_stopped, .arg = s, .guard = true};
	assert_int_equal(pthread_create(&s->thread, NULL, run_thread, s), 0);
}

/* Name, parent and session of a process; 0 when it is gone. */
static int process_of(pid_t pid, char name[32], pid_t *parent, pid_t *session)
{
	char path[64], *text, *end;
	int found = 0, group;
	char state_letter;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	if (file_read(path, &text, NULL))
		return 0;
	end = strrchr(text, ')');
	if (end && sscanf(end + 1, " %c %d %d %d", &state_letter, parent, &group, session) == 4 &&
	    state_letter != 'Z') {
		*end = '\0';
		snprintf(name, 32, "%s", strchr(text, '(') + 1);
		found = 1;
	}
	free(text);
	return found;
}

/* A worker process by its parent or its session; 0 when there is none. */
static pid_t find_worker(pid_t parent, pid_t session)
{
	DIR *d = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *e = readdir(d); e && !found; e = readdir(d)) {
		pid_t pid = (pid_t)atoi(e->d_name), its_parent, its_session;
		char name[32];

		if (pid > 0 && process_of(pid, name, &its_parent, &its_session) &&
		    !strcmp(name, "compactlab-mem") &&
		    (its_parent == parent || its_session == session))
			found = pid;
	}
	closedir(d);
	return found;
}

/* How often to look, 10 ms apart, for what has to come: long enough for a busy machine. */
#define PATIENCE 3000

static bool wait_for_worker(pid_t parent, pid_t session, bool there, pid_t *pid)
{
	for (int i = 0; i < PATIENCE; i++) {
		*pid = find_worker(parent, session);
		if ((*pid != 0) == there)
			return true;
		nap_ms(10);
	}
	return false;
}

/* Until the run is in its step "nap"; the worker of the step before it. */
static pid_t worker_in_nap(struct started *s)
{
	pid_t pid;

	for (int i = 0; i < PATIENCE && !s->napping; i++)
		nap_ms(10);
	assert_true(s->napping);
	assert_true(wait_for_worker(getpid(), -1, true, &pid));
	return pid;
}

static void the_end_of_a_worker_ends_the_run(void **state)
{
	struct started s;

	(void)state;
	start(&s, "[step hog]\nkind = fill\nsize = 16M\n"
		  "[step nap]\nkind = sleep\ntime = 20s\n");
	assert_int_equal(kill(worker_in_nap(&s), SIGKILL), 0);
	pthread_join(s.thread, NULL);
	assert_int_equal(s.result, -ECHILD);
	assert_string_equal(s.err.what, "step nap: the worker of step hog, which held 16M, died: "
					"Killed");
	assert_int_equal(s.err.line, 4);
	assert_int_equal(find_worker(getpid(), -1), 0);
	plan_free(s.plan);
}

static void kill_worker_before(void *arg, const char *step)
{
	pid_t worker = find_worker(getpid(), -1);

	(void)arg;
	if (strcmp(step, "look"))
		return;
	assert_true(worker > 0);
	kill(worker, SIGKILL);
	assert_true(wait_for_worker(getpid(), -1, false, &worker));
}

/* Also when the step itself has nothing to do with it and succeeds. */
static void no_step_passes_over_a_dead_worker(void **state)
{
	struct plan *p = plan_of("[step hog]\nkind = fill\nsize = 4M\n"
				 "[step look]\nkind = read\nfile = /proc/meminfo\n",
				 1);
	struct os_run run = {.plan = p, .step = kill_worker_before};
	struct cl_error err;
	json_t *record;

	(void)state;
	assert_int_equal(os_run(&run, &record, &err), -ECHILD);
	assert_string_equal(err.what, "step look: the worker of step hog, which held 4M, died: "
				      "Killed");
	plan_free(p);
}

static int64_t pins_of_the_machine(void)
{
	return vmstat_now("nr_foll_pin_acquired") - vmstat_now("nr_foll_pin_released");
}

static void no_pin_outlives_a_run(void **state)
{
	int64_t before = pins_of_the_machine();

	(void)state;
	json_decref(run_well("[step hog]\nkind = fill\nsize = 64M\n"
			     "[step pins]\nkind = pin\nof = hog\n"));
	assert_true(pins_of_the_machine() - before < 1000);
}

static void memory_pinned_as_it_comes_keeps_a_pin_for_each_page(void **state)
{
	struct utsname u;
	int major, minor;
	json_t *r, *s;

	(void)state;
	/* Before, io_uring has nothing that does not merge the pins of a huge page. */
	if (uname(&u) || sscanf(u.release, "%d.%d", &major, &minor) != 2 ||
	    major * 100 + minor < 613)
		skip();
	r = run_well("[step start]\nkind = fault\nsize = 16M\nadvice = hugepage\nmethod = pin\n"
		     "[step end]\nkind = release\nof = start\n");
	s = step_of(r, "start");
	assert_int_equal(pages(s, "base") + 512 * pages(s, "huge"), 4096);
	assert_true(number(s, "vmstat", "nr_foll_pin_acquired") >= 4096);
	/* The counters are the machine's; some are released for others. */
	assert_true(number(s, "vmstat", "nr_foll_pin_released") < 2048);
	assert_true(number(step_of(r, "end"), "vmstat", "nr_foll_pin_released") >= 4096);
	json_decref(r);
}

static void a_stopped_run_puts_everything_back(void **state)
{
	char before[64], now[64], text[256];
	const char *other = another(PROACTIVENESS);
	struct started s;

	(void)state;
	word_of(PROACTIVENESS, before, sizeof(before));
	snprintf(text, sizeof(text),
		 "[machine]\nvm.compaction_proactiveness = %s\n"
		 "[step hog]\nkind = fill\nsize = 16M\n"
		 "[step nap]\nkind = sleep\ntime = 20s\n",
		 other);
	start(&s, text);
	worker_in_nap(&s);
	assert_string_equal(word_of(PROACTIVENESS, now, sizeof(now)), other);
	s.stop = true;
	pthread_join(s.thread, NULL);
	assert_int_equal(s.result, -EINTR);
	assert_string_equal(word_of(PROACTIVENESS, now, sizeof(now)), before);
	assert_int_equal(find_worker(getpid(), -1), 0);
	plan_free(s.plan);
}

/* Instances of tracefs that belong to a process. */
static bool has_instance(pid_t pid)
{
	int root = mountfd_open("tracefs", NULL);
	char path[64];
	bool there;

	if (root < 0)
		return false;
	snprintf(path, sizeof(path), "instances/compactlab-%d", (int)pid);
	there = faccessat(root, path, F_OK, 0) == 0;
	close(root);
	return there;
}

static void after_sigkill_settings_traces_and_memory_are_gone(void **state)
{
	char before[64], now[64], text[512];
	const char *other = another(PROACTIVENESS);
	bool traced;
	pid_t runner, pid;

	(void)state;
	word_of(PROACTIVENESS, before, sizeof(before));
	snprintf(text, sizeof(text),
		 "[machine]\nvm.compaction_proactiveness = %s\n"
		 "[step hog]\nkind = fill\nsize = 64M\n"
		 "[step knob]\nkind = set\nvm.extfrag_threshold = 502\n"
		 "[step pins]\nkind = pin\nof = hog\n"
		 "[step nap]\nkind = sleep\ntime = 60s\n",
		 other);
	runner = fork();
	if (runner == 0) {
		struct cl_error err;
		json_t *record;

		setsid();
		run_text(text, &record, &err);
		_exit(0);
	}
	assert_true(wait_for_worker(runner, runner, true, &pid));
	for (int i = 0; i < PATIENCE &&
			strcmp(word_of("/proc/sys/vm/extfrag_threshold", now, sizeof(now)), "502");
	     i++)
		nap_ms(10);
	assert_string_equal(now, "502");
	assert_string_equal(word_of(PROACTIVENESS, now, sizeof(now)), other);
	traced = has_instance(runner);
	nap_ms(100);

	/* A worker that does not listen has to go as well. */
	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(kill(runner, SIGKILL), 0);
	waitpid(runner, NULL, 0);
	for (int i = 0; i < PATIENCE; i++) {
		word_of(PROACTIVENESS, now, sizeof(now));
		if (!strcmp(now, before) && !has_instance(runner) && !find_worker(runner, runner))
			break;
		nap_ms(10);
	}
	assert_string_equal(now, before);
	assert_string_not_equal(word_of("/proc/sys/vm/extfrag_threshold", now, sizeof(now)), "502");
	assert_int_equal(find_worker(runner, runner), 0);
	assert_false(has_instance(runner));
	if (mountfd_open("tracefs", NULL) >= 0)
		assert_true(traced);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fragmented_hog_and_a_fault_are_recorded),
		cmocka_unit_test(pins_go_in_the_midst_of_a_fault_step),
		cmocka_unit_test(compaction_is_timed_and_what_was_not_traced_is_null),
		cmocka_unit_test(a_trace_is_the_kernels_text),
		cmocka_unit_test(repeats_are_summed_and_the_last_is_shown),
		cmocka_unit_test(every_other_kind_of_step_works),
		cmocka_unit_test(what_was_put_back_is_in_the_record_and_in_no_note),
		cmocka_unit_test(a_node_that_is_not_there_is_told),
		cmocka_unit_test(a_deferral_that_was_not_reached_is_an_error),
		cmocka_unit_test(text_that_is_too_long_or_no_text_is_an_error),
		cmocka_unit_test(what_a_setting_refuses_is_told_with_its_line),
		cmocka_unit_test(a_value_that_does_not_stick_is_an_error),
		cmocka_unit_test(nothing_is_left_to_pin_after_everything_was_freed),
		cmocka_unit_test(a_file_in_memory_is_no_page_cache),
		cmocka_unit_test(the_end_of_a_worker_ends_the_run),
		cmocka_unit_test(no_step_passes_over_a_dead_worker),
		cmocka_unit_test(no_pin_outlives_a_run),
		cmocka_unit_test(memory_pinned_as_it_comes_keeps_a_pin_for_each_page),
		cmocka_unit_test(a_stopped_run_puts_everything_back),
		cmocka_unit_test(after_sigkill_settings_traces_and_memory_are_gone),
	};

	need_root();
	take_host_lock();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
