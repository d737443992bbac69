/* SPDX-License-Identifier: MIT */
/*
 * Each step notices when it did not achieve what it says. The steps are done in this process,
 * without a runner, so that the test can spoil them between the operation and its check.
 */
#include "test_os.h"
#include <sys/mman.h>
#include "os/pagemap.h"
#include "os/worker.h"
#include "procfs/procfs.h"

struct bench {
	struct plan *plan;
	struct worker_shared shared;
	struct memory m;
	struct worker_reply reply;
};

static struct bench *bench_new(const char *text)
{
	struct bench *b = calloc(1, sizeof(*b));

	assert_non_null(b);
	b->plan = plan_of(text, 1);
	b->m.plan = b->plan;
	b->m.guard = true;
	b->m.shared = &b->shared;
	b->m.node = PLAN_NODE_ANY;
	b->m.fd = -1;
	return b;
}

static void bench_free(struct bench *b)
{
	release_job.act(&b->m, 0, &b->reply);
	plan_free(b->plan);
	free(b);
}

static int prepare_and_act(struct bench *b, const struct worker_job *job, unsigned step)
{
	int r = job->prepare(&b->m, step, &b->reply);

	if (!r)
		r = job->act(&b->m, step, &b->reply);
	if (r)
		fail_msg("%s (%s)", b->reply.error.what, b->reply.error.hint);
	return r;
}

static int verify(struct bench *b, const struct worker_job *job, unsigned step)
{
	return job->verify(&b->m, step, &b->reply);
}

static void steal(struct bench *b, uint64_t page)
{
	assert_int_equal(madvise(b->m.base + page * PAGE_BYTES, PAGE_BYTES, MADV_DONTNEED), 0);
}

static void bring(struct bench *b, uint64_t page)
{
	*(volatile char *)(b->m.base + page * PAGE_BYTES) = 1;
}

static bool present(struct bench *b, uint64_t page, uint64_t *pfn)
{
	struct pagemap_entry e;
	uint64_t raw;

	assert_int_equal(pagemap_read(b->m.base + page * PAGE_BYTES, 1, &raw, NULL), 0);
	e = pagemap_decode(raw);
	*pfn = e.pfn;
	return e.present;
}

/* ---- fill ------------------------------------------------------------------------------- */

static void a_fill_that_lost_a_page_is_an_error(void **state)
{
	struct bench *b = bench_new("[step hog]\nkind = fill\nsize = 8M\n");

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	assert_int_equal(verify(b, &fill_job, 0), 0);
	assert_int_equal(b->reply.pages[0].base, 2048);
	assert_int_equal(b->reply.pages[0].huge, 0);
	steal(b, 77);
	assert_int_equal(verify(b, &fill_job, 0), -EIO);
	assert_string_equal(b->reply.error.what,
			    "1 of 2048 pages are not in memory after the fill");
	bench_free(b);
}

static void a_file_that_lost_its_cache_is_an_error(void **state)
{
	struct bench *b = bench_new("[step hog]\nkind = fill\nmemory = file\nsize = 4M\n");

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	assert_int_equal(verify(b, &fill_job, 0), 0);
	assert_int_equal(b->reply.pages[0].base, 1024);
	assert_int_equal(posix_fadvise(b->m.fd, 8 * PAGE_BYTES, 4 * PAGE_BYTES,
				       POSIX_FADV_DONTNEED),
			 0);
	assert_int_equal(verify(b, &fill_job, 0), -EIO);
	assert_string_equal(b->reply.error.what,
			    "4 of 1024 pages are not in memory after the fill");
	bench_free(b);
}

static void a_huge_fill_of_base_pages_is_an_error(void **state)
{
	struct bench *b = bench_new("[step hog]\nkind = fill\npages = huge\nsize = 8M\n");

	(void)state;
	assert_int_equal(fill_job.prepare(&b->m, 0, &b->reply), 0);
	assert_int_equal(madvise(b->m.base, b->m.room, MADV_NOHUGEPAGE), 0);
	assert_int_equal(fill_job.act(&b->m, 0, &b->reply), 0);
	assert_int_equal(verify(b, &fill_job, 0), -EIO);
	assert_string_equal(b->reply.error.what, "only 0 of 4 huge pages could be had");
	bench_free(b);
}

/* ---- punch ------------------------------------------------------------------------------ */

#define HOG   "[step hog]\nkind = fill\nsize = 8M\n"
#define HOLES "[step holes]\nkind = punch\nof = hog\n"

static void a_freed_page_that_came_back_is_an_error(void **state)
{
	struct bench *b = bench_new(HOG HOLES "modulo = 2\nresidue = 1\n");

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	prepare_and_act(b, &punch_job, 1);
	bring(b, 5);
	assert_int_equal(verify(b, &punch_job, 1), -EIO);
	assert_string_equal(b->reply.error.what, "1 of 1024 freed pages are still there");
	bench_free(b);
}

static void a_kept_page_that_is_gone_is_an_error(void **state)
{
	struct bench *b = bench_new(HOG HOLES "modulo = 2\nresidue = 1\n");

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	prepare_and_act(b, &punch_job, 1);
	steal(b, 4);
	assert_int_equal(verify(b, &punch_job, 1), -EIO);
	assert_string_equal(b->reply.error.what, "1 of 1024 pages to keep are gone");
	bench_free(b);
}

/* Parts of huge pages are unmapped, but their memory does not become free. Others may free as much
 * meanwhile, so a busy machine gets some tries. */
static void a_fragmenter_that_did_not_fragment_is_an_error(void **state)
{
	int error = 0;

	(void)state;
	for (int try = 0; try < 5 && !error; try++) {
		struct bench *b = bench_new("[step hog]\nkind = fill\nmemory = anon\npages = huge\n"
					    "size = 64M\n" HOLES "modulo = 2\nresidue = 1\n");

		prepare_and_act(b, &fill_job, 0);
		if (verify(b, &fill_job, 0)) {
			bench_free(b);
			skip(); /* no huge pages to be had here now */
		}
		prepare_and_act(b, &punch_job, 1);
		error = verify(b, &punch_job, 1);
		if (error)
			assert_non_null(strstr(b->reply.error.what, "8192 pages were freed but"));
		bench_free(b);
	}
	assert_int_equal(error, -EIO);
}

/* Others may free as much meanwhile here, too. */
static void pinned_pages_cannot_be_punched(void **state)
{
	int error = 0;

	(void)state;
	for (int try = 0; try < 5 && !error; try++) {
		struct bench *b = bench_new("[step hog]\nkind = fill\nsize = 64M\n"
					    "[step pins]\nkind = pin\nof = hog\n" HOLES
					    "modulo = 2\nresidue = 1\n");

		prepare_and_act(b, &fill_job, 0);
		prepare_and_act(b, &pin_job, 1);
		assert_int_equal(verify(b, &pin_job, 1), 0);
		prepare_and_act(b, &punch_job, 2);
		error = verify(b, &punch_job, 2);
		if (error)
			assert_non_null(strstr(b->reply.error.what, "8192 frames are still held"));
		bench_free(b);
	}
	assert_int_equal(error, -EIO);
}

static void a_selection_of_nothing_is_an_error(void **state)
{
	struct bench *b = bench_new("[step hog]\nkind = fill\nsize = 8K\n" HOLES
				    "modulo = 1000\nresidue = 999\n");

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	assert_int_equal(punch_job.prepare(&b->m, 1, &b->reply), -EINVAL);
	assert_string_equal(b->reply.error.what, "selects no page of 2 to free");
	bench_free(b);
}

static void take_frames(struct bench *b, uint64_t *frame, unsigned pages)
{
	for (unsigned i = 0; i < pages; i++)
		if (!present(b, i, &frame[i]))
			frame[i] = 0;
}

/*
 * Fill, punch and what comes `then`, with the frames of the pages after the fill and at the end; 0
 * is none. The kernel may give a page another frame at any time, as when somebody compacts: then
 * all is done again. NULL when this kernel cannot do what comes then.
 */
static struct bench *punch_still(const char *text, int (*then)(struct memory *m), unsigned pages,
				 uint64_t *before, uint64_t *after)
{
	int verified = 0;

	for (int tries = 0; tries < 200; tries++) {
		int64_t moved = vmstat_now("pgmigrate_success");
		struct bench *b = bench_new(text);
		int r;

		prepare_and_act(b, &fill_job, 0);
		take_frames(b, before, pages);
		prepare_and_act(b, &punch_job, 1);
		verified = verify(b, &punch_job, 1);
		r = then && !verified ? then(&b->m) : 0;
		take_frames(b, after, pages);
		if (!r && !verified && vmstat_now("pgmigrate_success") == moved)
			return b;
		bench_free(b);
		if (r)
			return NULL;
	}
	/* Never still; but a punch that is never verified is not the neighbours' doing. */
	assert_int_equal(verified, 0);
	return NULL;
}

static void keeping_by_frame_number_keeps_these_and_no_others(void **state)
{
	uint64_t before[2048], after[2048], kept = 0;
	struct bench *b = punch_still(HOG HOLES "action = keep\nselect = pfn\nmodulo = 8\n"
						"residue = 4\norder = shuffled\n",
				      NULL, 2048, before, after);

	(void)state;
	if (!b)
		skip();
	for (unsigned i = 0; i < 2048; i++) {
		assert_true(before[i]);
		assert_true(!!after[i] == (before[i] % 8 == 4));
		kept += before[i] % 8 == 4;
	}
	assert_int_equal(b->reply.kept_pages, kept);
	assert_int_equal(b->reply.freed_pages, 2048 - kept);
	bench_free(b);
}

static void one_page_a_block_is_the_first_at_or_behind_the_residue(void **state)
{
	uint64_t pfn[2048], after[2048], freed = 0;
	struct bench *b = punch_still(HOG HOLES "select = pageblock\nresidue = 100\n"
						"order = descending\n",
				      NULL, 2048, pfn, after);

	(void)state;
	if (!b)
		skip();
	for (unsigned i = 0; i < 2048; i++) {
		bool first = pfn[i] % 512 >= 100;

		for (unsigned j = 0; j < 2048 && first; j++)
			first = pfn[j] / 512 != pfn[i] / 512 || pfn[j] % 512 < 100 ||
				pfn[j] >= pfn[i];
		assert_true(!!after[i] == !first);
		freed += first;
	}
	assert_int_equal(b->reply.freed_pages, freed);
	assert_true(freed > 0);
	bench_free(b);
}

static uint64_t random_freed(uint64_t seed)
{
	struct bench *b = bench_new(HOG HOLES "select = random\nshare = 25%\n");
	uint64_t freed = 0, pfn;

	b->plan->seed = seed;
	prepare_and_act(b, &fill_job, 0);
	prepare_and_act(b, &punch_job, 1);
	assert_int_equal(verify(b, &punch_job, 1), 0);
	/* A sum of positions stands for the whole choice. */
	for (unsigned i = 0; i < 2048; i++)
		if (!present(b, i, &pfn))
			freed += 1000000 + i;
	bench_free(b);
	return freed;
}

static void a_random_choice_depends_on_the_seed_alone(void **state)
{
	uint64_t one = random_freed(1);

	(void)state;
	assert_int_equal(one, random_freed(1));
	assert_int_not_equal(one, random_freed(2));
	/* 512 of 2048 expected, standard deviation 20 */
	assert_in_range(one / 1000000, 400, 620);
}

static void every_kind_of_memory_can_be_punched(void **state)
{
	static const char *const kinds[] = {"anon", "shmem", "file", "mlocked"};

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		char text[256];
		struct bench *b;

		snprintf(text, sizeof(text),
			 "[step hog]\nkind = fill\nmemory = %s\nsize = 16M\n" HOLES
			 "modulo = 4\nresidue = 3\n",
			 kinds[k]);
		b = bench_new(text);
		prepare_and_act(b, &fill_job, 0);
		if (verify(b, &fill_job, 0))
			fail_msg("%s: %s", kinds[k], b->reply.error.what);
		prepare_and_act(b, &punch_job, 1);
		if (verify(b, &punch_job, 1))
			fail_msg("%s: %s", kinds[k], b->reply.error.what);
		assert_int_equal(b->reply.freed_pages, 1024);
		assert_int_equal(b->reply.kept_pages, 3072);
		bench_free(b);
	}
}

/* ---- pin -------------------------------------------------------------------------------- */

#define PINS "[step pins]\nkind = pin\nof = hog\n"

static void a_pin_that_faulted_a_hole_in_is_an_error(void **state)
{
	struct bench *b = bench_new(HOG HOLES "modulo = 2\nresidue = 1\n" PINS);

	(void)state;
	prepare_and_act(b, &fill_job, 0);
	prepare_and_act(b, &punch_job, 1);
	assert_int_equal(verify(b, &punch_job, 1), 0);
	prepare_and_act(b, &pin_job, 2);
	bring(b, 2047);
	assert_int_equal(verify(b, &pin_job, 2), -EIO);
	assert_string_equal(b->reply.error.what, "1024 pages were pinned but 1025 are there now");
	bench_free(b);
}

static int by_number(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Enough holes that the pages are moved together: same frames, and every position remembered. */
static void squeezing_moves_no_frame_and_forgets_no_position(void **state)
{
	uint64_t before[4096], after[4096], n = 0;
	/* Before Linux 6.8 it cannot be done. */
	struct bench *b = punch_still("[step hog]\nkind = fill\nsize = 16M\n" HOLES
				      "modulo = 3\nresidue = 1\n",
				      squeeze, 4096, before, after);

	(void)state;
	if (!b)
		skip();
	for (unsigned i = 0; i < 4096; i++) {
		if (!after[i])
			continue;
		assert_int_equal(i, n);
		assert_int_equal(after[i], before[b->m.place[i]]);
		assert_int_not_equal(b->m.place[i] % 3, 1);
		n++;
	}
	assert_int_equal(n, 2731);
	qsort(before, 4096, sizeof(*before), by_number);
	for (unsigned i = 1; i < 4096; i++)
		assert_true(before[i] > before[i - 1]);
	bench_free(b);
}

/* ---- fault ------------------------------------------------------------------------------ */

static void a_fault_that_lost_a_page_is_an_error(void **state)
{
	struct bench *b = bench_new("[step f]\nkind = fault\nsize = 8M\nadvice = nohugepage\n"
				    "threads = 3\n");

	(void)state;
	prepare_and_act(b, &fault_job, 0);
	assert_int_equal(verify(b, &fault_job, 0), 0);
	assert_int_equal(b->reply.pages[0].base, 2048);
	steal(b, 0);
	assert_int_equal(verify(b, &fault_job, 0), -EIO);
	assert_string_equal(b->reply.error.what, "1 of 2048 pages are not in memory");
	bench_free(b);
}

static void populating_writes_every_page(void **state)
{
	struct bench *b = bench_new("[step f]\nkind = fault\nsize = 6M\nadvice = nohugepage\n"
				    "method = populate-write\nthreads = 2\n");
	int r;

	(void)state;
	assert_int_equal(fault_job.prepare(&b->m, 0, &b->reply), 0);
	r = fault_job.act(&b->m, 0, &b->reply);
	if (r != -EOPNOTSUPP) {
		assert_int_equal(r, 0);
		assert_int_equal(verify(b, &fault_job, 0), 0);
		assert_int_equal(b->reply.pages[0].base, 1536);
	}
	bench_free(b);
}

static void huge_pages_are_counted_as_smaps_does(void **state)
{
	struct bench *b =
		bench_new("[step f]\nkind = fault\nsize = 32M\nadvice = hugepage\nthreads = 2\n");
	uint64_t told;

	(void)state;
	prepare_and_act(b, &fault_job, 0);
	assert_int_equal(verify(b, &fault_job, 0), 0);
	assert_int_equal(pagemap_smaps_huge(b->m.base, b->m.bytes, &told), 0);
	assert_int_equal(b->reply.pages[0].huge * HUGE_BYTES, told);
	assert_int_equal(b->reply.pages[0].huge * 512 + b->reply.pages[0].base, 8192);
	assert_string_equal(b->reply.note, "");
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_fill_that_lost_a_page_is_an_error),
		cmocka_unit_test(a_file_that_lost_its_cache_is_an_error),
		cmocka_unit_test(a_huge_fill_of_base_pages_is_an_error),
		cmocka_unit_test(a_freed_page_that_came_back_is_an_error),
		cmocka_unit_test(a_kept_page_that_is_gone_is_an_error),
		cmocka_unit_test(a_fragmenter_that_did_not_fragment_is_an_error),
		cmocka_unit_test(pinned_pages_cannot_be_punched),
		cmocka_unit_test(a_selection_of_nothing_is_an_error),
		cmocka_unit_test(keeping_by_frame_number_keeps_these_and_no_others),
		cmocka_unit_test(one_page_a_block_is_the_first_at_or_behind_the_residue),
		cmocka_unit_test(a_random_choice_depends_on_the_seed_alone),
		cmocka_unit_test(every_kind_of_memory_can_be_punched),
		cmocka_unit_test(a_pin_that_faulted_a_hole_in_is_an_error),
		cmocka_unit_test(squeezing_moves_no_frame_and_forgets_no_position),
		cmocka_unit_test(a_fault_that_lost_a_page_is_an_error),
		cmocka_unit_test(populating_writes_every_page),
		cmocka_unit_test(huge_pages_are_counted_as_smaps_does),
	};

	need_root();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
