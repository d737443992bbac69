/* SPDX-License-Identifier: MIT */
/* Plans on the model: every kind of step, records, refusals, repeatability. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include "backend/backend.h"
#include "procfs/procfs.h"
#include "result/record.h"

static const char head[] = "[experiment]\n"
			   "title = steps\n"
			   "[machine]\n"
			   "nodes = 256M, 256M\n"
			   "cpus = 4\n"
			   "thp.enabled = madvise\n";

/* Runs the steps after `head`; the record, or NULL with *err filled. */
static json_t *run_traced(const char *steps, uint64_t seed, const char *kernel, FILE *trace,
			  int *result, struct cl_error *err)
{
	const struct backend *model = backend_find("model");
	struct backend_run r = {.kernel = kernel, .trace = trace};
	struct cl_scenario *scenario;
	struct plan *plan;
	json_t *record = NULL;
	char text[8192];

	assert_non_null(model);
	snprintf(text, sizeof(text), "%s%s", head, steps);
	memset(err, 0, sizeof(*err));
	*result = cl_scenario_parse(text, strlen(text), "test.ini", &scenario, err);
	if (*result)
		fail_msg("%s:%d: %s", err->file, err->line, err->what);
	*result = plan_resolve(scenario, "model", "mainline", 0, seed, &plan, err);
	if (*result)
		fail_msg("%s:%d: %s", err->file, err->line, err->what);
	r.plan = plan;
	r.scenario = scenario;
	*result = model->probe(&r, err);
	if (!*result)
		*result = model->run(&r, &record, err);
	plan_free(plan);
	cl_scenario_free(scenario);
	return record;
}

static json_t *run(const char *steps, uint64_t seed, const char *kernel, int *result,
		   struct cl_error *err)
{
	return run_traced(steps, seed, kernel, NULL, result, err);
}

static json_t *must_run(const char *steps, uint64_t seed, const char *kernel)
{
	struct cl_error err;
	int r;
	json_t *record = run(steps, seed, kernel, &r, &err);

	if (r)
		fail_msg("%s:%d: %s (%s)", err.file, err.line, err.what, err.hint);
	assert_non_null(record);
	return record;
}

static double value(const json_t *record, const char *measure)
{
	double v = -1;
	int r = record_measure(record, measure, &v);

	if (r)
		fail_msg("%s: %s", measure, strerror(-r));
	return v;
}

static void test_a_record_has_every_field(void **state)
{
	json_t *record =
		must_run("[step a]\nkind = fill\nmemory = anon\nnode = 0\nsize = 20M\n", 1, NULL);
	json_t *step = json_array_get(json_object_get(record, "steps"), 0);

	(void)state;
	assert_true(json_is_true(json_object_get(record, "simulated")));
	assert_int_equal(strlen(json_string_value(json_object_get(record, "state_hash"))), 16);
	assert_string_equal(record_kernel(record), "model (7.3)");
	assert_true(json_integer_value(json_object_get(record, "wall_ns")) > 0);
	assert_true(json_is_array(json_object_get(record, "notes")));
	assert_non_null(json_object_get(json_object_get(record, "evidence"), "nodes"));
	for (size_t i = 0; i < 8; i++) {
		static const char *const fields[] = {"name",
						     "kind",
						     "time_ns",
						     "vmstat",
						     "buddyinfo",
						     "compaction_ns",
						     "compaction_daemon_ns",
						     "kswapd_ns"};

		assert_non_null(json_object_get(step, fields[i]));
	}
	assert_int_equal(value(record, "a.defer_shift"), -1);
	assert_int_equal(value(record, "a.base_node0"), 5120);
	assert_int_equal(value(record, "a.nr_anon_pages"), 5120);
	assert_int_equal(value(record, "a.bytes"), 20 << 20);
	json_decref(record);
}

/* Everything but times: counters, free lists, pages. */
static void without_times(json_t *record)
{
	json_t *steps = json_object_get(record, "steps"), *step;
	size_t i;

	json_object_del(record, "wall_ns");
	json_object_del(record, "state_hash"); /* the clock is a part of the state */
	json_object_del(json_object_get(record, "evidence"), "costs");
	json_array_foreach(steps, i, step) {
		json_object_del(step, "time_ns");
		json_object_del(step, "compaction_ns");
		json_object_del(step, "compaction_daemon_ns");
		json_object_del(step, "kswapd_ns");
	}
}

static void test_a_changed_cost_changes_times_and_no_counter(void **state)
{
	static const char steps[] = "[step hog]\nkind = fill\nnode = 0\nleave = 20M\n"
				    "[step holes]\nkind = punch\nof = hog\nselect = random\n"
				    "share = 40%\n"
				    "[step f]\nkind = fault\nsize = 32M\nadvice = hugepage\n";
	char path[] = "/tmp/test-costs-XXXXXX", text[8192];
	int fd = mkstemp(path);
	json_t *plain, *slow, *costs;

	(void)state;
	assert_true(fd >= 0);
	dprintf(fd, "compactlab-costs 1\nmigrate_folio = 1900\n");
	close(fd);
	snprintf(text, sizeof(text), "vm.compaction_proactiveness = 0\n%s", steps);
	plain = must_run(text, 3, NULL);
	assert_null(json_object_get(json_object_get(plain, "evidence"), "costs"));
	snprintf(text, sizeof(text), "vm.compaction_proactiveness = 0\ncosts = %s\n%s", path,
		 steps);
	slow = must_run(text, 3, NULL);
	unlink(path);
	costs = json_object_get(json_object_get(slow, "evidence"), "costs");
	assert_string_equal(json_string_value(json_object_get(costs, "file")), path);
	assert_int_equal(strlen(json_string_value(json_object_get(costs, "sha256"))), 64);
	assert_true(value(plain, "f.pgmigrate_success") > 0);
	assert_int_equal(value(slow, "f.time_ns") - value(plain, "f.time_ns"),
			 1000 * value(plain, "f.pgmigrate_success"));
	without_times(plain);
	without_times(slow);
	assert_true(json_equal(plain, slow));
	json_decref(plain);
	json_decref(slow);
}

static void test_the_kernel_chooses_the_profile(void **state)
{
	static const char steps[] = "[step a]\nkind = sleep\ntime = 1ms\n";
	json_t *record = must_run(steps, 1, "6.12.117-cloud-amd64");
	struct cl_error err;
	int r;

	(void)state;
	assert_string_equal(record_kernel(record), "model (6.12)");
	json_decref(record);
	assert_null(run(steps, 1, "5.10", &r, &err));
	assert_int_equal(r, -EOPNOTSUPP);
	assert_string_equal(err.hint, "it knows 6.12, 6.18 and 7.3");
}

static void test_equal_seeds_give_equal_records(void **state)
{
	static const char steps[] = "[step a]\nkind = fill\nmemory = anon\nnode = 0\nleave = 60M\n"
				    "[step h]\nkind = punch\nof = a\nselect = random\nshare = 50%\n"
				    "[step f]\nkind = fault\nsize = 64M\nadvice = hugepage\n";
	json_t *a = must_run(steps, 1, NULL), *b = must_run(steps, 1, NULL);
	json_t *c = must_run(steps, 2, NULL);

	(void)state;
	assert_true(json_equal(a, b));
	assert_false(json_equal(a, c));
	json_decref(a);
	json_decref(b);
	json_decref(c);
}

/* What a script would add up from the text. */
struct trace_totals {
	unsigned events, begins, ends;
	int defer_shift;
	uint64_t migrate_scanned, time_ns;
};

static void add_up_trace(char *text, struct trace_totals *t)
{
	uint64_t begun = 0;

	memset(t, 0, sizeof(*t));
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		struct compaction_event e;
		int r = compaction_event_parse(line, strlen(line), &e);

		if (*line == '#')
			continue;
		if (r)
			fail_msg("not an event (%d): %s", r, line);
		t->events++;
		if (e.defer_shift > t->defer_shift)
			t->defer_shift = e.defer_shift;
		if (e.kind == COMPACTION_ISOLATE_MIGRATEPAGES)
			t->migrate_scanned += e.scanned;
		t->begins += e.kind == COMPACTION_BEGIN;
		t->ends += e.kind == COMPACTION_END;
		if (e.kind == COMPACTION_BEGIN)
			begun = e.time_ns;
		if (e.kind == COMPACTION_END)
			t->time_ns += e.time_ns - begun;
	}
}

static void test_the_trace_is_read_back_and_agrees_with_the_record(void **state)
{
	static const char steps[] =
		"[step hog]\nkind = fill\nmemory = anon\nnode = 0\nleave = 60M\n"
		"[step holes]\nkind = punch\nof = hog\nselect = position\nmodulo = 2\n"
		"residue = 1\norder = descending\n"
		"[step pins]\nkind = pin\nof = hog\n"
		"[step f]\nkind = fault\nsize = 64M\nadvice = hugepage\ncpu_node = 0\n"
		"policy = bind\nnodes = 0\n";
	json_t *plain = must_run(steps, 1, NULL), *traced;
	struct trace_totals t;
	struct cl_error err;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	double ns;
	int r;

	(void)state;
	traced = run_traced(steps, 1, NULL, out, &r, &err);
	fclose(out);
	assert_non_null(traced);
	assert_true(json_equal(plain, traced));
	assert_int_equal(strncmp(text, "# tracer: nop\n", 14), 0);
	add_up_trace(text, &t);
	ns = value(traced, "f.compaction_ns");
	assert_true(t.begins > 0 && t.events > 2 * t.begins);
	assert_int_equal(t.begins, t.ends);
	/* The search in free lists for a block to begin with counts without an event. */
	assert_true(t.migrate_scanned > 0);
	assert_true(t.migrate_scanned <= value(traced, "f.compact_migrate_scanned"));
	assert_true(t.defer_shift > 0);
	assert_int_equal(t.defer_shift, value(traced, "f.defer_shift"));
	/* Times in the text are whole microseconds. */
	assert_true(t.time_ns > ns - 1000.0 * t.begins && t.time_ns < ns + 1000.0 * t.begins);
	free(text);
	json_decref(plain);
	json_decref(traced);
}

static void test_a_node_is_compacted_by_a_cpu_of_its_own(void **state)
{
	struct cl_error err;
	size_t size = 0, begins = 0;
	char *text = NULL, *save;
	FILE *out = open_memstream(&text, &size);
	json_t *record;
	int r;

	(void)state;
	record = run_traced("[step a]\nkind = fill\nnode = 1\nsize = 20M\n"
			    "[step c]\nkind = compact\nnode = 1\n",
			    1, NULL, out, &r, &err);
	fclose(out);
	assert_non_null(record);
	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		if (!strstr(line, "mm_compaction_begin"))
			continue;
		begins++;
		assert_non_null(strstr(line, "[002]"));
	}
	assert_true(begins > 0);
	free(text);
	json_decref(record);
}

static void test_a_fill_stops_at_what_is_to_be_left(void **state)
{
	json_t *record = must_run("[step a]\nkind = fill\nmemory = anon\nnode = 1\nleave = 100M\n"
				  "[step r]\nkind = read\nfile = /proc/zoneinfo\n",
				  1, NULL);
	json_t *after, *zone;
	uint64_t left = 0;
	size_t i;

	(void)state;
	after = json_object_get(json_object_get(json_array_get(json_object_get(record, "steps"), 0),
						"buddyinfo"),
				"after");
	json_array_foreach(after, i, zone) {
		json_t *free_chunks = json_object_get(zone, "free");

		if (json_integer_value(json_object_get(zone, "node")) != 1)
			continue;
		for (size_t k = 0; k < json_array_size(free_chunks); k++)
			left += (uint64_t)json_integer_value(json_array_get(free_chunks, k)) << k;
	}
	/* One refill of a CPU's list is at most 2016 pages. */
	assert_true(left >= 25600 - 2016 && left < 25600 + 64);
	json_decref(record);
}

/* The last huge page reaches beyond what was asked for; that is not counted, on no backend. */
static void test_a_fill_of_huge_pages_need_not_end_with_one(void **state)
{
	json_t *record =
		must_run("[step a]\nkind = fill\nnode = 1\npages = huge\nleave = 101M\n", 1, NULL);
	double bytes = value(record, "a.bytes");

	(void)state;
	assert_int_not_equal((uint64_t)bytes % (2 << 20), 0);
	assert_int_equal(value(record, "a.huge_node1"), (uint64_t)bytes / (2 << 20));
	assert_int_equal(value(record, "a.base_node1"), (uint64_t)bytes % (2 << 20) / 4096);
	json_decref(record);
}

static void test_pinned_memory_fails_huge_pages_one_by_one(void **state)
{
	json_t *record =
		must_run("[step hog]\nkind = fill\nmemory = anon\nnode = 0\nleave = 60M\n"
			 "[step holes]\nkind = punch\nof = hog\nselect = position\nmodulo = 2\n"
			 "residue = 1\norder = descending\n"
			 "[step pins]\nkind = pin\nof = hog\n"
			 "[step f]\nkind = fault\nsize = 64M\nadvice = hugepage\ncpu_node = 0\n"
			 "[step u]\nkind = unpin\nof = pins\n"
			 "[step rel]\nkind = release\nof = hog\n"
			 "[step g]\nkind = fault\nsize = 64M\nadvice = hugepage\ncpu_node = 0\n",
			 1, NULL);

	(void)state;
	assert_int_equal(value(record, "pins.nr_foll_pin_acquired"),
			 value(record, "pins.pinned_pages"));
	assert_int_equal(value(record, "u.nr_foll_pin_released"),
			 value(record, "pins.pinned_pages"));
	assert_true(value(record, "f.huge_node1") > 0);
	/* Where only pages of programs are in the way, one may succeed. */
	assert_int_equal(value(record, "f.compact_fail"), value(record, "f.huge_node1"));
	assert_true(value(record, "f.compact_success") <= 1);
	assert_true(value(record, "f.compaction_ns") > 0);
	/* Once it is gone, node 0 has room again. */
	assert_int_equal(value(record, "g.huge_node0"), 32);
	json_decref(record);
}

static void test_every_other_kind_of_step_runs(void **state)
{
	json_t *record = must_run(
		"[step s]\nkind = fill\nmemory = shmem\nsize = 10M\n"
		"[step c]\nkind = fill\nmemory = file\nsize = 10M\n"
		"[step l]\nkind = fill\nmemory = mlocked\nsize = 10M\n"
		"[step h]\nkind = fill\nmemory = anon\npages = huge\nsize = 20M\n"
		"[step p]\nkind = punch\nof = c\nselect = pfn\nmodulo = 4\nresidue = 1\n"
		"[step b]\nkind = punch\nof = s\nselect = pageblock\naction = keep\n"
		"[step t]\nkind = files\ncount = 500\nsize = 6K\nthreads = 3\n"
		"[step w]\nkind = write\nsize = 20M\nthreads = 2\n"
		"[step k]\nkind = compact\n"
		"[step n]\nkind = compact\nnode = 1\n"
		"[step d]\nkind = drop\nwhat = all\n"
		"[step e]\nkind = set\nvm.swappiness = 10\n"
		"[step z]\nkind = sleep\ntime = 2s\n"
		"[step r]\nkind = read\nfile = /sys/kernel/mm/transparent_hugepage/defrag\n"
		"[step i]\nkind = fault\nsize = 16M\nadvice = hugepage\n"
		"policy = interleave\nnodes = 0, 1\nthreads = 4\nrepeat = 2\n",
		1, NULL);
	json_t *last = json_array_get(json_object_get(record, "steps"), 13);

	(void)state;
	assert_int_equal(value(record, "h.huge"), 10);
	assert_int_equal(value(record, "p.freed_pages") + value(record, "p.kept_pages"), 2560);
	assert_int_equal(value(record, "b.nr_shmem"), -value(record, "b.freed_pages"));
	assert_int_equal(value(record, "t.files"), 500);
	assert_int_equal(value(record, "t.nr_shmem"), 1000);
	assert_int_equal(value(record, "w.bytes"), 20 << 20);
	assert_int_equal(value(record, "d.drop_pagecache"), 1);
	assert_int_equal(value(record, "z.time_ns"), 2000000000);
	assert_int_equal(value(record, "i.huge_node0"), 4);
	assert_int_equal(value(record, "i.runs"), 2);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(last, "detail"), "text")),
			    "always defer defer+madvise [madvise] never\n");
	json_decref(record);
}

static void test_the_kernel_takes_unmovable_chunks_until_they_are_released(void **state)
{
	json_t *record = must_run("[step q]\nkind = request\norder = 3\ncount = 100\ncpu_node = 1\n"
				  "[step r]\nkind = release\nof = q\n",
				  1, NULL);

	(void)state;
	assert_int_equal(value(record, "q.requests"), 100);
	assert_int_equal(value(record, "q.failed"), 0);
	assert_int_equal(value(record, "q.bytes"), 100 << 15);
	assert_int_equal(value(record, "q.nr_slab_unreclaimable"), 800);
	assert_int_equal(value(record, "q.numa_local"), 100);
	assert_int_equal(value(record, "r.bytes"), 100 << 15);
	assert_int_equal(value(record, "r.nr_slab_unreclaimable"), -800);
	json_decref(record);
}

/* Movable memory full of holes: order 4 takes compaction, of order 10 there are few. */
static void test_requests_compact_and_large_ones_are_refused(void **state)
{
	json_t *record = must_run("[step hog]\nkind = fill\nleave = 40M\n"
				  "[step holes]\nkind = punch\nof = hog\nselect = random\nshare = "
				  "50%\norder = shuffled\n"
				  "[step q]\nkind = request\norder = 4\ncount = 2000\n"
				  "[step large]\nkind = request\norder = 10\ncount = 120\n",
				  1, NULL);

	(void)state;
	assert_true(value(record, "q.compact_success") > 0);
	assert_true(value(record, "q.pgmigrate_success") > 0);
	/* Together they would be nearly all of the machine. */
	assert_true(value(record, "large.failed") > 60);
	assert_int_equal(value(record, "large.bytes"), (120 - (int)value(record, "large.failed"))
							       << 22);
	json_decref(record);
}

static void test_what_the_model_lacks_is_refused_with_its_place(void **state)
{
	struct cl_error err;
	int r;

	(void)state;
	assert_null(run("[step r]\nkind = read\nfile = /proc/cpuinfo\n", 1, NULL, &r, &err));
	assert_int_equal(r, -EOPNOTSUPP);
	assert_string_equal(err.what, "step r: the model has no /proc/cpuinfo");
	assert_null(run("[step s]\nkind = set\nvm.overcommit_memory = 1\n", 1, NULL, &r, &err));
	assert_int_equal(r, -EOPNOTSUPP);
	assert_string_equal(err.what, "step s: the model has no setting vm.overcommit_memory");
	assert_int_equal(err.line, 9);
	assert_null(run("[step s]\nkind = set\nvm.defrag_mode = 1\n", 1, "6.12", &r, &err));
	assert_int_equal(r, -EOPNOTSUPP);
}

static void test_a_tried_setting_is_refused_when_it_is_no_value_and_stays_otherwise(void **state)
{
	json_t *record = must_run("[step a]\nkind = set\ntry = thp.enabled=defer\n"
				  "[step b]\nkind = set\ntry = thp.enabled=always\n"
				  "[step r]\nkind = read\n"
				  "file = /sys/kernel/mm/transparent_hugepage/enabled\n",
				  1, NULL);
	json_t *last = json_array_get(json_object_get(record, "steps"), 2);

	(void)state;
	assert_int_equal(value(record, "a.refused"), 1);
	assert_int_equal(value(record, "b.refused"), 0);
	assert_string_equal(json_string_value(
				    json_object_get(json_object_get(last, "detail"), "text")),
			    "[always] madvise never\n");
	json_decref(record);
}

static void test_too_much_memory_is_an_oom_kill(void **state)
{
	struct cl_error err;
	int r;

	(void)state;
	assert_null(run("[step f]\nkind = fill\nmemory = anon\nsize = 511M\n", 1, NULL, &r, &err));
	assert_int_equal(r, -ENOMEM);
	assert_non_null(strstr(err.what, "step f: the model's OOM killer ended the task after "));
}

static void test_memory_pinned_as_it_comes_is_not_in_cma(void **state)
{
	/* In [machine], which `head` has opened. */
	json_t *record = must_run("cma = 128M\n"
				  "[step guest]\nkind = fault\nsize = 160M\nadvice = hugepage\n"
				  "method = pin\ncpu_node = 0\n",
				  1, NULL);

	(void)state;
	assert_int_equal(value(record, "guest.nr_foll_pin_acquired"), 160 << 8);
	/* Less than the node's ordinary half of 128 MiB, so the rest is elsewhere. */
	assert_true(value(record, "guest.huge_node0") * 2 +
			    value(record, "guest.base_node0") / 256 <
		    128);
	assert_true(value(record, "guest.huge_remote") > 0);
	json_decref(record);
}

static void test_each_fault_is_timed(void **state)
{
	json_t *record = must_run("[step a]\nkind = fault\nsize = 20M\nadvice = hugepage\n"
				  "threads = 2\nlatency = yes\n"
				  "[step b]\nkind = fault\nsize = 8M\nlatency = yes\n",
				  1, NULL);

	(void)state;
	assert_int_equal(value(record, "a.huge_faults"), value(record, "a.huge"));
	assert_int_equal(value(record, "a.range_faults"), 10);
	assert_true(value(record, "a.huge_p50_ns") > 100000); /* 512 pages are zeroed */
	assert_int_equal(value(record, "b.huge_faults"), 0);
	assert_int_equal(value(record, "b.base_faults"), 2048);
	assert_true(value(record, "b.base_max_ns") >= value(record, "b.base_mean_ns"));
	assert_true(value(record, "b.range_mean_ns") > 512 * 100);
	json_decref(record);
}

static void test_writers_beside_a_fault_write_all_and_do_not_lengthen_it(void **state)
{
	json_t *record = must_run("[step a]\nkind = fault\nsize = 2M\nadvice = hugepage\n"
				  "io_threads = 2\nio_size = 32M\nio_pause = 1ms\n",
				  1, NULL);

	(void)state;
	assert_int_equal(value(record, "a.nr_dirtied"), 8192);
	assert_true(value(record, "a.time_ns") < 5e6);
	json_decref(record);
}

static void test_writers_that_think_are_slower(void **state)
{
	json_t *record =
		must_run("[step fast]\nkind = write\nsize = 4M\nchunk = 64K\n"
			 "[step slow]\nkind = write\nsize = 4M\nchunk = 64K\nthink = 1ms\n",
			 1, NULL);

	(void)state;
	assert_int_equal(value(record, "slow.writes"), 64);
	assert_true(value(record, "slow.time_ns") >= value(record, "fast.time_ns") + 63e6);
	assert_true(value(record, "slow.writes_per_s") < 1100);
	json_decref(record);
}

/* Of the same memory: the costs are stretched, not the work. */
static void test_slowdown_stretches_time_alone(void **state)
{
	json_t *fast = must_run("[step a]\nkind = fill\nnode = 0\nsize = 4M\n", 1, NULL);
	json_t *slow =
		must_run("slowdown = 30\n[step a]\nkind = fill\nnode = 0\nsize = 4M\n", 1, NULL);

	(void)state;
	assert_true(value(slow, "a.time_ns") == 30 * value(fast, "a.time_ns"));
	assert_true(value(slow, "a.pgfault") == value(fast, "a.pgfault"));
	json_decref(fast);
	json_decref(slow);
}

static void test_the_model_has_the_classic_lru_only(void **state)
{
	struct cl_error err;
	int r;
	json_t *record =
		must_run("lru_gen.enabled = 0\n[step a]\nkind = sleep\ntime = 1ms\n", 1, NULL);

	(void)state;
	json_decref(record);
	assert_null(run("lru_gen.enabled = 7\n[step a]\nkind = sleep\ntime = 1ms\n", 1, NULL, &r,
			&err));
	assert_int_equal(r, -EOPNOTSUPP);
}

static void test_empty_files_take_no_page_cache(void **state)
{
	json_t *record = must_run("[step a]\nkind = files\ncount = 1000\n", 1, NULL);

	(void)state;
	assert_int_equal(value(record, "a.files"), 1000);
	assert_int_equal(value(record, "a.nr_shmem"), 0);
	json_decref(record);
}

/* By the seed all on even frames or all on odd ones, as in a boot: both occur, and no mixture. */
static void test_odd_positions_of_a_fill_lie_on_frames_of_one_parity(void **state)
{
	static const char steps[] = "[step a]\nkind = fill\nnode = 0\nsize = 32M\n"
				    "[step b]\nkind = punch\nof = a\nmodulo = 2\nresidue = 1\n"
				    "[step c]\nkind = punch\nof = a\nselect = pfn\nmodulo = 2\n"
				    "residue = 0\naction = keep\n";
	unsigned even = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 16; seed++) {
		struct cl_error err;
		int r;
		json_t *record = run(steps, seed, NULL, &r, &err);
		double freed = r ? 0 : value(record, "c.freed_pages");

		/* All that is left lies on even frames, so that there is nothing to free, or on odd
		 * ones. */
		assert_true(freed < 410 || freed > 3686);
		even += freed < 410;
		json_decref(record);
	}
	assert_in_range(even, 3, 13);
}

/* A process frees its memory in the order of addresses, so that the next one gets pages out of the
 * holes, and not the frames on which the last one had its own. On even frames compaction sees it.
 */
static void test_compaction_recovers_where_the_next_process_lies_on_sampled_frames(void **state)
{
	static const char steps[] =
		"vm.compaction_proactiveness = 0\n[step hog]\nkind = fill\nnode = 0\nleave = 110M\n"
		"[step holes]\nkind = punch\nof = hog\nselect = pfn\nmodulo = 2\norder = "
		"descending\n"
		"[step pins]\nkind = pin\nof = hog\n"
		"[step pinned]\nkind = fault\nsize = 256M\nadvice = hugepage\ncpu_node = 0\n"
		"[step may-wait]\nkind = set\nthp.defrag = always\n"
		"[step drive]\nkind = fault\nsize = 64M\nadvice = hugepage\npolicy = bind\n"
		"nodes = 0\ncpu_node = 0\nrepeat = 40\nuntil_defer_shift = 6\n"
		"[step drive-end]\nkind = release\nof = drive\n"
		"[step may-not-wait]\nkind = set\nthp.defrag = madvise\n"
		"[step unpinned]\nkind = unpin\nof = pins\n"
		"[step recover]\nkind = fault\nsize = 768M\nadvice = hugepage\ncpu_node = 0\n"
		"[variant mainline]\nmachine.nodes = 2G, 1G\nmachine.cpus = 2\n";

	(void)state;
	for (uint64_t seed = 3; seed <= 8; seed++) {
		json_t *record = must_run(steps, seed, NULL);

		assert_true(value(record, "pinned.compact_success") < 10);
		assert_true(value(record, "recover.compact_success") > 200);
		json_decref(record);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slowdown_stretches_time_alone),
		cmocka_unit_test(test_the_model_has_the_classic_lru_only),
		cmocka_unit_test(test_empty_files_take_no_page_cache),
		cmocka_unit_test(test_odd_positions_of_a_fill_lie_on_frames_of_one_parity),
		cmocka_unit_test(
			test_compaction_recovers_where_the_next_process_lies_on_sampled_frames),
		cmocka_unit_test(test_a_record_has_every_field),
		cmocka_unit_test(test_a_changed_cost_changes_times_and_no_counter),
		cmocka_unit_test(test_the_kernel_chooses_the_profile),
		cmocka_unit_test(test_equal_seeds_give_equal_records),
		cmocka_unit_test(test_the_trace_is_read_back_and_agrees_with_the_record),
		cmocka_unit_test(test_a_node_is_compacted_by_a_cpu_of_its_own),
		cmocka_unit_test(test_a_fill_stops_at_what_is_to_be_left),
		cmocka_unit_test(test_a_fill_of_huge_pages_need_not_end_with_one),
		cmocka_unit_test(test_pinned_memory_fails_huge_pages_one_by_one),
		cmocka_unit_test(test_every_other_kind_of_step_runs),
		cmocka_unit_test(test_the_kernel_takes_unmovable_chunks_until_they_are_released),
		cmocka_unit_test(test_requests_compact_and_large_ones_are_refused),
		cmocka_unit_test(test_what_the_model_lacks_is_refused_with_its_place),
		cmocka_unit_test(
			test_a_tried_setting_is_refused_when_it_is_no_value_and_stays_otherwise),
		cmocka_unit_test(test_too_much_memory_is_an_oom_kill),
		cmocka_unit_test(test_memory_pinned_as_it_comes_is_not_in_cma),
		cmocka_unit_test(test_each_fault_is_timed),
		cmocka_unit_test(test_writers_beside_a_fault_write_all_and_do_not_lengthen_it),
		cmocka_unit_test(test_writers_that_think_are_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
