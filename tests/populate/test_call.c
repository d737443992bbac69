/* SPDX-License-Identifier: MIT */
/* cl_populate() on the running kernel: what it promises to every caller. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "help.h"
#include "populate/pop_job.h"

#define SIZE (32 * MIB)
#define RECEIPT                                                                                    \
	{                                                                                          \
		.size = sizeof(struct cl_populate_receipt)                                         \
	}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- filling -------------------------------------------------------------------- */

static void fills_the_range_and_says_so(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	uint64_t by_node = 0;
	char *at = help_map(SIZE);

	(void)state;
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(help_present(at, SIZE), SIZE);
	assert_int_equal(r.result, 0);
	assert_int_equal(r.bytes, SIZE);
	assert_int_equal(r.done_bytes, SIZE);
	assert_int_equal(r.already_bytes, 0);
	assert_int_equal(r.huge_bytes + r.base_bytes, SIZE);
	assert_true(r.total_ns > 0 && r.chunks > 0 && r.faults > 0);
	for (uint32_t i = 0; i < r.node_count; i++)
		by_node += r.nodes[i].huge_bytes + r.nodes[i].base_bytes;
	assert_true(r.node_count == 0 || by_node == SIZE);
	for (size_t i = 0; i < SIZE; i += 4096)
		assert_int_equal(at[i], 0);
	help_unmap(at, SIZE);
}

static void without_a_receipt_it_works_the_same(void **state)
{
	char *at = help_map(SIZE);

	(void)state;
	assert_int_equal(cl_populate(at, SIZE, NULL, NULL), 0);
	assert_int_equal(help_present(at, SIZE), SIZE);
	help_unmap(at, SIZE);
}

static void what_pages_hold_is_kept(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	madvise(at, SIZE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < SIZE; i += 3 * 4096)
		at[i + 7] = (char)(i / 4096);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(help_present(at, SIZE), SIZE);
	assert_int_equal(r.already_bytes, (SIZE / 4096 + 2) / 3 * 4096);
	assert_int_equal(r.huge_bytes, 0); /* every block had pages in it */
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_PRESENT);
	for (size_t i = 0; i < SIZE; i += 3 * 4096)
		assert_int_equal(at[i + 7], (char)(i / 4096));
	help_unmap(at, SIZE);
}

static void a_range_that_is_all_there_takes_no_fault(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	memset(at, 1, SIZE);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(r.already_bytes, SIZE);
	assert_int_equal(r.tries, 0);
	assert_in_range(r.faults, 0, 64); /* the worker's own */
	help_unmap(at, SIZE);
}

static void head_and_tail_outside_of_blocks_are_filled_too(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	assert_int_equal(cl_populate(at + 4096, SIZE - 3 * 4096 - 1, NULL, &r), 0);
	assert_int_equal(help_present(at + 4096, SIZE - 3 * 4096), SIZE - 3 * 4096);
	assert_int_equal(r.bytes, SIZE - 3 * 4096);
	assert_int_equal(help_present(at, 4096), 0);
	assert_int_equal(help_present(at + SIZE - 2 * 4096, 2 * 4096), 0);
	help_unmap(at, SIZE);
}

static void a_range_without_a_whole_block_is_base_pages(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	assert_int_equal(cl_populate(at + 4096, 100 * 4096, NULL, &r), 0);
	assert_int_equal(r.base_bytes, 100 * 4096);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_SMALL);
	assert_int_equal(cl_populate(at, 0, NULL, &r), 0);
	assert_int_equal(r.bytes, 0);
	help_unmap(at, SIZE);
}

static void several_threads_fill_every_page_once(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(4 * SIZE);

	(void)state;
	o.threads = 4;
	assert_int_equal(cl_populate(at, 4 * SIZE, &o, &r), 0);
	assert_int_equal(r.threads, 4);
	assert_int_equal(help_present(at, 4 * SIZE), 4 * SIZE);
	assert_int_equal(r.done_bytes, 4 * SIZE);
	help_unmap(at, 4 * SIZE);
}

static void *fill_one(void *arg)
{
	return (void *)(intptr_t)cl_populate(arg, SIZE, NULL, NULL);
}

static void calls_on_disjoint_ranges_run_at_the_same_time(void **state)
{
	char *at = help_map(4 * SIZE);
	pthread_t t[4];

	(void)state;
	for (int i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&t[i], NULL, fill_one, at + (size_t)i * SIZE), 0);
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(t[i], &result);
		assert_null(result);
	}
	assert_int_equal(help_present(at, 4 * SIZE), 4 * SIZE);
	help_unmap(at, 4 * SIZE);
}

static void every_policy_and_fallback_fills(void **state)
{
	(void)state;
	for (uint32_t policy = 0; policy <= CL_POPULATE_INTERLEAVE; policy++)
		for (uint32_t fallback = 0; fallback <= CL_POPULATE_SMALLER; fallback++) {
			struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
			struct cl_populate_receipt r = RECEIPT;
			char *at = help_map(SIZE);

			o.policy = policy;
			o.fallback = fallback;
			o.nodes[0] = 1;
			assert_int_equal(cl_populate(at, SIZE, &o, &r), 0);
			assert_int_equal(r.done_bytes, SIZE);
			help_unmap(at, SIZE);
		}
}

static void collapse_makes_huge_pages_of_base_pages(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);
	int result;

	(void)state;
	madvise(at, SIZE, MADV_NOHUGEPAGE);
	memset(at, 7, SIZE);
	madvise(at, SIZE, MADV_HUGEPAGE);
	result = cl_populate_collapse(at, SIZE, NULL, &r);
	if (result == -EOPNOTSUPP)
		skip();
	assert_int_equal(result, 0);
	assert_int_equal(r.huge_bytes, r.collapsed_blocks * r.block_bytes);
	assert_int_equal(r.done_bytes, SIZE);
	assert_true(r.collapsed_blocks > 0 || r.collapse_tries > 0);
	for (size_t i = 0; i < SIZE; i += 4096)
		assert_int_equal(at[i], 7);
	help_unmap(at, SIZE);
}

/* ---- ending early --------------------------------------------------------------- */

static void without_a_survey_the_counts_are_those_of_the_faults(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt seen = RECEIPT, counted = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	assert_int_equal(cl_populate(at, SIZE, NULL, &seen), 0);
	assert_int_equal(seen.huge_bytes + seen.base_bytes, SIZE);
	/* No fault of this call made a huge page, whatever is there. */
	o.flags = CL_POPULATE_NO_SURVEY;
	assert_int_equal(cl_populate(at, SIZE, &o, &counted), 0);
	assert_int_equal(counted.done_bytes, SIZE);
	assert_int_equal(counted.base_bytes, SIZE);
	assert_int_equal(counted.huge_bytes, 0);
	help_unmap(at, SIZE);
}

static void base_pages_are_collapsed_afterwards_where_that_is_wanted(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	/* A page in each block stands in the way of a huge page. */
	madvise(at, SIZE, MADV_NOHUGEPAGE);
	for (size_t off = 0; off < SIZE; off += 2 * MIB)
		at[off] = 1;
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(r.collapse_tries, 0);
	assert_int_equal(r.huge_bytes, 0);
	o.flags = CL_POPULATE_COLLAPSE;
	assert_int_equal(cl_populate(at, SIZE, &o, &r), 0);
	if ((r.missing & CL_POPULATE_NO_COLLAPSE) || r.limit == CL_POPULATE_LIMIT_THP_OFF)
		skip();
	assert_int_equal(r.collapse_tries, SIZE / (2 * MIB));
	assert_int_equal(r.huge_bytes, r.collapsed_blocks * 2 * MIB);
	help_unmap(at, SIZE);
}

/* Asking for a huge page beside the buffer, while the kernel defers. */
static void what_was_asked_beside_the_buffer_is_given_back(void **state)
{
	struct pop_probe probe;
	struct pop_job job = {.probe = &probe};
	char before[64], after[64];
	uint64_t ns = 0;

	(void)state;
	pop_probe_open(&probe);
	assert_true(pop_sys_read("/proc/self/statm", before, sizeof(before)) > 0);
	pop_ask(&job, 3, &ns);
	assert_true(pop_sys_read("/proc/self/statm", after, sizeof(after)) > 0);
	assert_int_equal(strtoul(before, NULL, 10), strtoul(after, NULL, 10));
	pop_probe_close(&probe);
}

static void a_deadline_that_has_passed_leaves_the_range_alone(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
	o.timeout_ns = 1;
	assert_int_equal(cl_populate(at, SIZE, &o, &r), -ETIMEDOUT);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_DEADLINE);
	assert_int_equal(r.done_bytes, help_present(at, SIZE));
	o.timeout_ns = UINT64_MAX; /* never: does not overflow */
	assert_int_equal(cl_populate(at, SIZE, &o, &r), 0);
	help_unmap(at, SIZE);
}

static void what_was_done_by_the_deadline_is_described(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(16 * SIZE);
	uint64_t t = now_ns();
	int result;

	(void)state;
	o.timeout_ns = 20000000;
	result = cl_populate(at, 16 * SIZE, &o, &r);
	assert_true(result == 0 || result == -ETIMEDOUT);
	/* Only a hang is seen here: filling all takes less. */
	assert_true(now_ns() - t < 10000000000);
	assert_int_equal(r.done_bytes, help_present(at, 16 * SIZE));
	help_unmap(at, 16 * SIZE);
}

static void cancelled_before_it_begins_nothing_is_filled(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);
	int cancel = 1;

	(void)state;
	o.cancel = &cancel;
	assert_int_equal(cl_populate(at, SIZE, &o, &r), -ECANCELED);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_CANCELLED);
	assert_int_equal(help_present(at, SIZE), 0);
	help_unmap(at, SIZE);
}

struct canceller {
	int cancel;
	uint64_t at_ns;
};

static void *cancel_soon(void *arg)
{
	struct canceller *c = arg;
	struct timespec t = {.tv_nsec = 20000000};

	nanosleep(&t, NULL);
	c->at_ns = now_ns();
	__atomic_store_n(&c->cancel, 1, __ATOMIC_RELEASE);
	return NULL;
}

static void cancel_returns_within_a_chunk(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct canceller c = {0};
	char *at = help_map(32 * SIZE);
	uint64_t end;
	pthread_t t;
	int result;

	(void)state;
	o.cancel = &c.cancel;
	pthread_create(&t, NULL, cancel_soon, &c);
	result = cl_populate(at, 32 * SIZE, &o, NULL);
	end = now_ns();
	pthread_join(t, NULL);
	assert_true(result == 0 || result == -ECANCELED);
	/* 50 ms a chunk; a hundred times that for a busy machine and a sanitizer. */
	if (result)
		assert_true(end - c.at_ns < 5000000000);
	help_unmap(at, 32 * SIZE);
}

struct watch {
	pthread_t thread;
	unsigned calls;
	uint64_t last_done, bytes;
	int stop;
};

static int on_progress(void *arg, const struct cl_populate_progress *p)
{
	struct watch *w = arg;

	assert_true(pthread_equal(pthread_self(), w->thread));
	assert_true(p->done_bytes >= w->last_done);
	assert_true(p->huge_bytes <= p->done_bytes && p->done_bytes <= p->bytes);
	w->last_done = p->done_bytes;
	w->bytes = p->bytes;
	w->calls++;
	return w->stop;
}

static void progress_comes_on_the_calling_thread_and_ends_complete(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct watch w = {.thread = pthread_self()};
	char *at = help_map(4 * SIZE);

	(void)state;
	o.progress = on_progress;
	o.arg = &w;
	o.threads = 2;
	assert_int_equal(cl_populate(at, 4 * SIZE, &o, NULL), 0);
	assert_true(w.calls >= 1);
	assert_int_equal(w.last_done, 4 * SIZE);
	assert_int_equal(w.bytes, 4 * SIZE);
	help_unmap(at, 4 * SIZE);
}

static void progress_can_cancel(void **state)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct watch w = {.thread = pthread_self(), .stop = 1};
	char *at = help_map(32 * SIZE);
	int result;

	(void)state;
	o.progress = on_progress;
	o.arg = &w;
	result = cl_populate(at, 32 * SIZE, &o, NULL);
	/* Fast machines are through before the first report but the last, which cannot. */
	assert_true(result == -ECANCELED || w.calls == 1);
	help_unmap(at, 32 * SIZE);
}

/* ---- structures ----------------------------------------------------------------- */

static void options_that_make_no_sense_are_refused(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)state;
#define REFUSED(change, error)                                                                     \
	do {                                                                                       \
		struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;                           \
		o.change;                                                                          \
		assert_int_equal(cl_populate(at, SIZE, &o, &r), error);                            \
		assert_int_equal(r.result, error);                                                 \
		assert_int_equal(help_present(at, SIZE), 0);                                       \
	} while (0)
	REFUSED(size = 0, -EINVAL);
	REFUSED(size = 8, -EINVAL);
	REFUSED(size = 5000, -EINVAL);
	REFUSED(flags = 0x80000000u, -EINVAL);
	REFUSED(policy = 4, -EINVAL);
	REFUSED(fallback = 3, -EINVAL);
	REFUSED(threads = 1025, -EINVAL);
	REFUSED(node = -2, -EINVAL);
	REFUSED(node = 256, -EINVAL);
	REFUSED(min_huge_permille = 1001, -EINVAL);
	REFUSED(reserved = 1, -EINVAL);
	REFUSED(policy = CL_POPULATE_INTERLEAVE, -EINVAL); /* no node named */
#undef REFUSED
	{
		struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;

		o.policy = CL_POPULATE_PREFER;
		o.node = 255; /* does not exist here */
		assert_int_equal(cl_populate(at, SIZE, &o, &r), -EINVAL);
	}
	assert_int_equal(cl_populate(at + 1, SIZE, NULL, &r), -EINVAL);
	assert_int_equal(cl_populate(at, SIZE_MAX - 4096, NULL, &r), -EINVAL);
	help_unmap(at, SIZE);
}

static void options_of_a_newer_header_work_as_long_as_they_are_zero(void **state)
{
	struct {
		struct cl_populate_options o;
		char more[64];
	} newer = {.o = CL_POPULATE_OPTIONS_INIT};
	char *at = help_map(SIZE);

	(void)state;
	newer.o.size = sizeof(newer);
	assert_int_equal(cl_populate(at, SIZE, &newer.o, NULL), 0);
	newer.more[63] = 1;
	assert_int_equal(cl_populate(at, SIZE, &newer.o, NULL), -E2BIG);
	help_unmap(at, SIZE);
}

static void a_receipt_of_another_size_is_filled_as_far_as_it_goes(void **state)
{
	struct {
		struct cl_populate_receipt r;
		unsigned char more[32];
	} newer;
	struct { /* how the receipt of an older header might end */
		uint32_t size;
		int32_t result;
		uint32_t limit, missing;
		uint64_t block_bytes, bytes;
		unsigned char fence[24];
	} older;
	char *at = help_map(SIZE);

	(void)state;
	memset(&older, 0xee, sizeof(older));
	older.size = 32;
	assert_int_equal(cl_populate(at, SIZE, NULL, (void *)&older), 0);
	assert_int_equal(older.size, 32);
	assert_int_equal(older.bytes, SIZE);
	for (unsigned i = 0; i < sizeof(older.fence); i++)
		assert_int_equal(older.fence[i], 0xee);

	memset(&newer, 0xee, sizeof(newer));
	newer.r.size = sizeof(newer);
	assert_int_equal(cl_populate(at, SIZE, NULL, &newer.r), 0);
	assert_int_equal(newer.r.size, sizeof(newer.r));
	assert_int_equal(newer.more[31], 0); /* what a newer program would read is not rubbish */

	newer.r.size = 3;
	assert_int_equal(cl_populate(at, SIZE, NULL, &newer.r), -EINVAL);
	help_unmap(at, SIZE);
}

static void the_version_is_a_number(void **state)
{
	(void)state;
	assert_true(cl_populate_version() >= 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fills_the_range_and_says_so),
		cmocka_unit_test(without_a_receipt_it_works_the_same),
		cmocka_unit_test(what_pages_hold_is_kept),
		cmocka_unit_test(a_range_that_is_all_there_takes_no_fault),
		cmocka_unit_test(head_and_tail_outside_of_blocks_are_filled_too),
		cmocka_unit_test(a_range_without_a_whole_block_is_base_pages),
		cmocka_unit_test(several_threads_fill_every_page_once),
		cmocka_unit_test(calls_on_disjoint_ranges_run_at_the_same_time),
		cmocka_unit_test(every_policy_and_fallback_fills),
		cmocka_unit_test(collapse_makes_huge_pages_of_base_pages),
		cmocka_unit_test(without_a_survey_the_counts_are_those_of_the_faults),
		cmocka_unit_test(base_pages_are_collapsed_afterwards_where_that_is_wanted),
		cmocka_unit_test(what_was_asked_beside_the_buffer_is_given_back),
		cmocka_unit_test(a_deadline_that_has_passed_leaves_the_range_alone),
		cmocka_unit_test(what_was_done_by_the_deadline_is_described),
		cmocka_unit_test(cancelled_before_it_begins_nothing_is_filled),
		cmocka_unit_test(cancel_returns_within_a_chunk),
		cmocka_unit_test(progress_comes_on_the_calling_thread_and_ends_complete),
		cmocka_unit_test(progress_can_cancel),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
		cmocka_unit_test(options_of_a_newer_header_work_as_long_as_they_are_zero),
		cmocka_unit_test(a_receipt_of_another_size_is_filled_as_far_as_it_goes),
		cmocka_unit_test(the_version_is_a_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
