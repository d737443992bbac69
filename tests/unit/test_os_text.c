/* SPDX-License-Identifier: MIT */
/* The parts of src/os that work on text and numbers; needs no root and changes nothing. */
#include "test_os.h"
#include "os/exec.h"
#include "os/guard.h"
#include "os/pagemap.h"
#include "os/settings.h"
#include "os/trace.h"

/* ---- settings -------------------------------------------------------------------------- */

static void a_setting_is_a_file_below_vm_or_thp(void **state)
{
	char path[256];

	(void)state;
	assert_int_equal(setting_path("vm.swappiness", path, sizeof(path)), 0);
	assert_string_equal(path, "/proc/sys/vm/swappiness");
	assert_int_equal(setting_path("thp.khugepaged.defrag", path, sizeof(path)), 0);
	assert_string_equal(path, "/sys/kernel/mm/transparent_hugepage/khugepaged/defrag");
	assert_int_equal(setting_path("thp.hugepages-64kB/enabled", path, sizeof(path)), 0);
	assert_int_equal(setting_path("kernel.panic", path, sizeof(path)), -EINVAL);
	assert_int_equal(setting_path("vm.", path, sizeof(path)), -EINVAL);
	assert_int_equal(setting_path("vm../kernel/panic", path, sizeof(path)), -EINVAL);
	assert_int_equal(setting_path("vm./kernel", path, sizeof(path)), -EINVAL);
}

static void the_word_in_brackets_is_what_is_put_back(void **state)
{
	char word[64];

	(void)state;
	assert_string_equal(setting_word("always [madvise] never\n", word, sizeof(word)),
			    "madvise");
	assert_string_equal(setting_word("always defer [defer+madvise] madvise never\n", word,
					 sizeof(word)),
			    "defer+madvise");
	assert_string_equal(setting_word("256\t256\t32\t0\t0\n", word, sizeof(word)),
			    "256 256 32 0 0");
	assert_string_equal(setting_word("20\n", word, sizeof(word)), "20");
	assert_string_equal(setting_word("\n", word, sizeof(word)), "");
}

static void a_value_counts_as_set_only_when_it_is_shown(void **state)
{
	(void)state;
	assert_true(setting_is("always [madvise] never\n", "madvise"));
	assert_false(setting_is("always [madvise] never\n", "always"));
	assert_true(setting_is("256\t256\t32\t0\t0\n", "256 256 32 0 0"));
	assert_true(setting_is("20\n", "020") == false); /* octal 16 */
	assert_true(setting_is("16\n", "0x10"));
	assert_false(setting_is("20\n", "21"));
	assert_false(setting_is("\n", "0"));
}

static int probe_setting(const char *name, struct cl_error *err)
{
	char copy[64], value[] = "1";
	struct setting one = {.name = copy, .value = value, .line = 7};
	struct settings s = {.count = 1, .item = &one};

	snprintf(copy, sizeof(copy), "%s", name);
	return settings_probe(&s, "x.ini", err);
}

static void an_unknown_setting_is_told_with_its_line_and_near_names(void **state)
{
	struct cl_error err;

	(void)state;
	assert_int_equal(probe_setting("vm.swappines", &err), -EINVAL);
	assert_string_equal(err.file, "x.ini");
	assert_int_equal(err.line, 7);
	assert_string_equal(err.what, "no setting vm.swappines here");
	assert_string_equal(err.hint, "did you mean vm.swappiness?");
	assert_int_equal(probe_setting("vm.nothing_like_this_exists", &err), -EOPNOTSUPP);
	assert_string_equal(err.what, "this kernel has no setting vm.nothing_like_this_exists");
	assert_int_equal(probe_setting("kernel.panic", &err), -EINVAL);
	assert_int_equal(probe_setting("vm.swappiness", &err), 0);
}

static void files_that_only_do_something_are_no_settings(void **state)
{
	struct cl_error err;

	(void)state;
	assert_int_equal(probe_setting("vm.compact_memory", &err), -EINVAL);
	assert_string_equal(err.hint, "use a step of kind compact");
	assert_int_equal(probe_setting("vm.drop_caches", &err), -EINVAL);
	assert_string_equal(err.hint, "use a step of kind drop");
}

/* ---- time in compaction ------------------------------------------------------------------ */

#define RANGE "zone_start=0x100000 migrate_pfn=0x100000 free_pfn=0x640000 zone_end=0x640000"

static const char two_runs[] =
	"  populate-812   [001] .....   100.000100: mm_compaction_begin: " RANGE ", mode=async\n"
	"  populate-812   [001] .....   100.000300: mm_compaction_end: " RANGE
	", mode=async status=complete\n"
	"  kcompactd0-42  [000] .....   100.000200: mm_compaction_begin: " RANGE ", mode=sync\n"
	"  kcompactd0-42  [000] .....   100.001200: mm_compaction_end: " RANGE
	", mode=sync status=success\n"
	"  populate-812   [001] .....   100.002000: mm_compaction_defer_compaction: node=0 "
	"zone=Normal   order=9 order_failed=9 consider=0 limit=8\n"
	"  populate-812   [001] .....   100.002100: mm_compaction_deferred: node=0 zone=Normal   "
	"order=9 order_failed=9 consider=1 limit=4\n";

static void time_of_tasks_and_of_the_daemon_are_kept_apart(void **state)
{
	struct trace_sum s = {0};

	(void)state;
	trace_sum_start(&s, 100000000000);
	trace_sum_feed(&s, two_runs, strlen(two_runs));
	trace_sum_end(&s, 101000000000);
	assert_int_equal(s.compaction_ns, 200000);
	assert_int_equal(s.daemon_ns, 1000000);
	assert_int_equal(s.runs, 1);
	assert_int_equal(s.daemon_runs, 1);
	assert_int_equal(s.damaged, 0);
}

static void the_largest_deferral_shift_is_kept(void **state)
{
	struct trace_sum s = {0};

	(void)state;
	trace_sum_start(&s, 0);
	assert_int_equal(s.defer_shift, -1);
	trace_sum_feed(&s, two_runs, strlen(two_runs));
	assert_int_equal(s.defer_shift, 3);
	trace_sum_start(&s, 0);
	assert_int_equal(s.defer_shift, -1);
}

static void a_line_may_be_cut_anywhere(void **state)
{
	(void)state;
	for (size_t piece = 1; piece < sizeof(two_runs); piece++) {
		struct trace_sum s = {0};

		trace_sum_start(&s, 0);
		for (size_t at = 0; at < strlen(two_runs); at += piece) {
			size_t left = strlen(two_runs) - at;

			trace_sum_feed(&s, two_runs + at, left < piece ? left : piece);
		}
		assert_int_equal(s.compaction_ns, 200000);
		assert_int_equal(s.daemon_ns, 1000000);
		assert_int_equal(s.defer_shift, 3);
		assert_int_equal(s.damaged, 0);
	}
}

static void a_run_is_cut_at_the_ends_of_the_step(void **state)
{
	static const char begin[] =
		"  x-1 [000] ..... 10.000000: mm_compaction_begin: " RANGE ", mode=sync\n";
	static const char end[] = "  x-1 [000] ..... 10.000900: mm_compaction_end: " RANGE
				  ", mode=sync status=complete\n";
	struct trace_sum s = {0};

	(void)state;
	trace_sum_start(&s, 9000000000);
	trace_sum_feed(&s, begin, strlen(begin));
	trace_sum_end(&s, 10000500000);
	assert_int_equal(s.compaction_ns, 500000);
	trace_sum_start(&s, 10000600000);
	trace_sum_feed(&s, end, strlen(end));
	trace_sum_end(&s, 11000000000);
	assert_int_equal(s.compaction_ns, 300000);
}

static void an_end_without_its_begin_adds_nothing(void **state)
{
	static const char end[] = "  x-1 [000] ..... 10.000900: mm_compaction_end: " RANGE
				  ", mode=sync status=complete\n";
	struct trace_sum s = {0};

	(void)state;
	trace_sum_start(&s, 0);
	trace_sum_feed(&s, end, strlen(end));
	trace_sum_end(&s, 20000000000);
	assert_int_equal(s.compaction_ns, 0);
}

static void a_damaged_event_is_counted(void **state)
{
	static const char bad[] = "  x-1 [000] ..... 10.000900: mm_compaction_end: zone_st\n";
	struct trace_sum s = {0};

	(void)state;
	trace_sum_start(&s, 0);
	trace_sum_feed(&s, bad, strlen(bad));
	assert_int_equal(s.damaged, 1);
}

/* ---- smaps, guard, pins --------------------------------------------------------------- */

static void only_mappings_in_the_range_are_summed(void **state)
{
	static const char text[] = "7f0000000000-7f0000200000 rw-p 00000000 00:00 0\n"
				   "Size:               2048 kB\n"
				   "AnonHugePages:      2048 kB\n"
				   "7f0000200000-7f0000600000 rw-p 00000000 00:00 0\n"
				   "AnonHugePages:      4096 kB\n"
				   "VmFlags: rd wr mr mw me ac hg\n"
				   "7f0000600000-7f0000800000 ---p 00000000 00:00 0\n"
				   "AnonHugePages:         6 kB\n";
	uint64_t bytes;

	(void)state;
	assert_int_equal(pagemap_smaps_sum(text, 0x7f0000200000, 0x7f0000600000, "AnonHugePages",
					   &bytes),
			 0);
	assert_int_equal(bytes, 4096 << 10);
	assert_int_equal(pagemap_smaps_sum(text, 0x7f0000200000, 0x7f0000600000, "Nothing", &bytes),
			 -ENODATA);
}

static void the_guard_stops_a_run_that_leaves_too_little(void **state)
{
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(guard_judge(GUARD_STOP_BYTES, 0, true, &err), 0);
	assert_int_equal(guard_judge(GUARD_STOP_BYTES - 4096, 0, false, &err), -ENOMEM);
	assert_string_equal(err.what, "stopped by the guard: only 511M of memory is available");
}

static void pressure_stops_a_fill_but_not_the_measured_steps(void **state)
{
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(guard_judge(1ull << 40, 69.9, true, &err), 0);
	assert_int_equal(guard_judge(1ull << 40, 70.1, true, &err), -ENOMEM);
	assert_int_equal(guard_judge(1ull << 40, 99, false, &err), 0);
}

static void a_plan_that_leaves_too_little_is_refused(void **state)
{
	struct plan *p =
		plan_of("[machine]\nnodes = 64T\n[step hog]\nkind = fill\nsize = 60T\n", 1);
	struct cl_error err = {0};

	(void)state;
	assert_int_equal(guard_plan(p, true, &err), -EOPNOTSUPP);
	assert_string_equal(err.file, "test.ini");
	assert_int_equal(err.line, 3);
	assert_non_null(strstr(err.what, "step hog: the run would hold 60T of "));
	assert_non_null(strstr(err.what, "must leave 600M"));
	assert_int_equal(guard_plan(p, false, &err), -EOPNOTSUPP);
	plan_free(p);
}

/* Ten fills of a tenth of memory each, never two at a time: possible only if releases count. */
static void memory_that_is_released_does_not_count(void **state)
{
	char text[4096] = "[machine]\nnodes = 64T\n";
	struct cl_error err = {0};
	uint64_t available;
	struct plan *p;

	(void)state;
	assert_int_equal(guard_available(&available), 0);
	for (int i = 0; i < 10; i++)
		sprintf(text + strlen(text),
			"[step f%d]\nkind = fill\nsize = %lluK\n[step r%d]\nkind = release\n"
			"of = f%d\n",
			i, (unsigned long long)(available / 8 / 4096 * 4), i, i);
	p = plan_of(text, 1);
	if (available > 3ull << 30)
		assert_int_equal(guard_plan(p, true, &err), 0);
	plan_free(p);
}

/* A snapshot with the two counters of pins. */
static struct measure pins(uint64_t acquired, uint64_t released)
{
	struct measure m = {0};
	char text[128];

	snprintf(text, sizeof(text), "nr_foll_pin_acquired %llu\nnr_foll_pin_released %llu\n",
		 (unsigned long long)acquired, (unsigned long long)released);
	assert_int_equal(vmstat_parse(text, strlen(text), &m.vmstat, NULL), 0);
	return m;
}

static int check_pins(enum step_kind kind, uint64_t acquired, uint64_t released)
{
	struct worker_reply reply = {.pinned_pages = 1000, .pin_references = 1000};
	struct measure before = pins(5000, 4000), after = pins(5000 + acquired, 4000 + released);
	int r = step_check_pins(kind, &before, &after, &reply, NULL);

	measure_free(&before);
	measure_free(&after);
	return r;
}

static void pins_that_the_kernel_did_not_count_are_an_error(void **state)
{
	(void)state;
	assert_int_equal(check_pins(STEP_PIN, 1000, 0), 0);
	assert_int_equal(check_pins(STEP_PIN, 1007, 7), 0);
	assert_int_equal(check_pins(STEP_PIN, 999, 0), -EIO);
	assert_int_equal(check_pins(STEP_PIN, 1000, 500), -EIO);
	assert_int_equal(check_pins(STEP_UNPIN, 0, 1000), 0);
	assert_int_equal(check_pins(STEP_UNPIN, 0, 999), -EIO);
}

static struct measure slab_pages(unsigned pages)
{
	struct measure m;
	char text[64];

	memset(&m, 0, sizeof(m));
	snprintf(text, sizeof(text), "nr_slab_unreclaimable %u\n", pages);
	assert_int_equal(vmstat_parse(text, strlen(text), &m.vmstat, NULL), 0);
	return m;
}

static int check_requests(unsigned order, uint64_t got, unsigned grew)
{
	struct worker_reply reply = {.bytes = got * (PAGE_BYTES << order)};
	struct step_request s = {.order = order, .count = 1000, .cpu_node = PLAN_NODE_ANY};
	struct measure before = slab_pages(700), after = slab_pages(700 + grew);
	int r = step_check_requests(&s, &before, &after, &reply, NULL);

	measure_free(&before);
	measure_free(&after);
	return r;
}

static void requests_of_a_smaller_order_are_an_error(void **state)
{
	(void)state;
	assert_int_equal(check_requests(3, 1000, 8000), 0);
	assert_int_equal(check_requests(3, 1000, 7700), 0);
	assert_int_equal(check_requests(3, 500, 4000), 0);
	assert_int_equal(check_requests(3, 1000, 4000), -EIO);
	assert_int_equal(check_requests(4, 1, 0), -EIO);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_setting_is_a_file_below_vm_or_thp),
		cmocka_unit_test(the_word_in_brackets_is_what_is_put_back),
		cmocka_unit_test(a_value_counts_as_set_only_when_it_is_shown),
		cmocka_unit_test(an_unknown_setting_is_told_with_its_line_and_near_names),
		cmocka_unit_test(files_that_only_do_something_are_no_settings),
		cmocka_unit_test(time_of_tasks_and_of_the_daemon_are_kept_apart),
		cmocka_unit_test(the_largest_deferral_shift_is_kept),
		cmocka_unit_test(a_line_may_be_cut_anywhere),
		cmocka_unit_test(a_run_is_cut_at_the_ends_of_the_step),
		cmocka_unit_test(an_end_without_its_begin_adds_nothing),
		cmocka_unit_test(a_damaged_event_is_counted),
		cmocka_unit_test(only_mappings_in_the_range_are_summed),
		cmocka_unit_test(the_guard_stops_a_run_that_leaves_too_little),
		cmocka_unit_test(pressure_stops_a_fill_but_not_the_measured_steps),
		cmocka_unit_test(a_plan_that_leaves_too_little_is_refused),
		cmocka_unit_test(memory_that_is_released_does_not_count),
		cmocka_unit_test(pins_that_the_kernel_did_not_count_are_an_error),
		cmocka_unit_test(requests_of_a_smaller_order_are_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
