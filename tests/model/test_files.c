/* SPDX-License-Identifier: MIT */
/* Page cache, tmpfs and slab as users of pages: which orders, which counts. */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"
#include "model/filemap.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/shmem.h"
#include "model/slab.h"

#define PAGES (64u * PAGEBLOCK_PAGES)

static struct model *machine_with_daemons(void)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);

	c.daemons = true;
	return machine_make(&c);
}

static unsigned order_at(struct model *m, region_id file, uint64_t index)
{
	return PG_ORDER(m->map.state[memmap_head(m, owner_page(m, owner_region(m, file), index))]);
}

static struct op do_op(struct model *m, enum op_kind kind, region_id region, uint64_t index,
		       uint64_t count)
{
	struct op op = {
		.kind = kind, .region = region, .index = index, .count = count, .write = true};
	task_id task;

	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_do(m, task, &op), 0);
	model_task_exit(m, task);
	return op;
}

/* ---- page cache --------------------------------------------------------------------------- */

static void test_a_write_gets_the_largest_folio_its_index_allows(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_file(m, 2048 * 4096, 9, &file), 0);
	(void)do_op(m, OP_WRITE, file, 1, 1023);
	for (unsigned order = 0; order < 9; order++)
		assert_int_equal(order_at(m, file, 1u << order), order);
	assert_int_equal(order_at(m, file, 512), 9);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 1023);
	assert_int_equal(counter(m, VM_NR_DIRTY), 1023);
	assert_int_equal(counter(m, VM_NR_FILE_HUGEPAGES), 1);
	machine_end(m);
}

static void test_the_size_of_one_write_call_bounds_the_folio(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;
	task_id task;
	struct op op;

	(void)state;
	assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
	assert_int_equal(model_task(m, 0, &task), 0);
	op = (struct op){.kind = OP_WRITE, .region = file, .count = 512, .step = 16};
	assert_int_equal(model_do(m, task, &op), 0);
	for (unsigned i = 0; i < 512; i += 16)
		assert_int_equal(order_at(m, file, i), 4);
	machine_end(m);
}

static void test_every_order_down_to_the_smallest_is_asked_for(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct recorded *r = malloc(sizeof(*r));
	struct region *region;
	unsigned order;
	region_id file;
	pfn_t page;

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fKKK)");
	lay_end(m);
	assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
	region = owner_region(m, file);
	record(m, r, TRACE_PAGE_ALLOC);
	page = filemap_alloc(m, region, 0, 512 * 4096, GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM,
			     &order);
	record_stop(m);
	assert_int_equal(order, 0);
	assert_true(page != PFN_NONE);
	assert_int_equal(r->nr, 10);
	for (unsigned i = 0; i < 10; i++) {
		assert_int_equal(r->ev[i].order, 9 - i);
		/* All but the smallest may not try hard. */
		assert_int_equal((r->ev[i].gfp & __GFP_NORETRY) != 0, i < 9);
	}
	free_pages(m, page, 0);
	free(r);
	machine_end(m);
}

static void test_a_writer_asks_as_its_kernel_does_and_readahead_never_tries_hard(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		struct model *m = machine_quiet((enum profile_id)p, PAGES);
		struct recorded *r = malloc(sizeof(*r));
		region_id file;

		assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
		record(m, r, TRACE_PAGE_ALLOC);
		(void)do_op(m, OP_WRITE, file, 0, 1);
		record_stop(m);
		assert_int_equal(r->nr, 1);
		assert_true(r->ev[0].gfp & __GFP_WRITE);
		assert_int_equal(!(r->ev[0].gfp & __GFP_FS), p != PROFILE_C);
		record(m, r, TRACE_PAGE_ALLOC);
		(void)do_op(m, OP_READ, file, 64, 1);
		record_stop(m);
		assert_true(r->nr > 0);
		assert_true(r->ev[0].gfp & __GFP_NORETRY);
		assert_false(r->ev[0].gfp & (__GFP_FS | __GFP_WRITE));
		free(r);
		machine_end(m);
	}
}

static void test_readahead_windows_and_orders_grow(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
	(void)do_op(m, OP_READ, file, 0, 1);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 4);
	(void)do_op(m, OP_READ, file, 1, 511);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 512);
	assert_int_equal(order_at(m, file, 0), 0);
	assert_int_equal(order_at(m, file, 4), 2);
	assert_int_equal(counter(m, VM_PGPGIN), 512 * 4);
	machine_end(m);
}

static void test_the_order_of_a_fresh_window_by_kernel(void **state)
{
	(void)state;
	for (int p = PROFILE_A; p <= PROFILE_C; p++) {
		struct model *m = machine_quiet((enum profile_id)p, PAGES);
		region_id file;

		assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
		(void)do_op(m, OP_READ, file, 0, 1);
		assert_int_equal(counter(m, VM_NR_FILE_PAGES), 4);
		assert_int_equal(order_at(m, file, 0), p == PROFILE_A ? 2 : 0);
		machine_end(m);
	}
}

static void test_one_large_folio_that_fails_ends_them_for_its_window(void **state)
{
	struct model *m = machine_quiet(PROFILE_A, PAGES);
	struct recorded *r = malloc(sizeof(*r));
	region_id file;

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fKKK)");
	lay_end(m);
	assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
	record(m, r, TRACE_PAGE_ALLOC);
	(void)do_op(m, OP_READ, file, 0, 1);
	record_stop(m);
	/* One try of order 2, then the four pages of the window one by one. */
	assert_int_equal(r->nr, 5);
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(r->ev[i].order, i ? 0 : 2);
	free(r);
	machine_end(m);
}

static void test_a_second_access_activates(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_file(m, 32 * 4096, 0, &file), 0);
	(void)do_op(m, OP_READ, file, 0, 32);
	assert_int_equal(counter(m, VM_NR_ACTIVE_FILE), 0);
	(void)do_op(m, OP_READ, file, 0, 32);
	assert_int_equal(counter(m, VM_NR_ACTIVE_FILE), 32);
	assert_int_equal(counter(m, VM_PGACTIVATE), 32);
	machine_end(m);
}

static void test_sync_leaves_nothing_dirty(void **state)
{
	struct model *m = machine_with_daemons();
	region_id file;

	(void)state;
	assert_int_equal(model_file(m, 5000 * 4096, 4, &file), 0);
	(void)do_op(m, OP_WRITE, file, 0, 5000);
	assert_int_equal(counter(m, VM_NR_DIRTIED), 5000);
	model_sync(m);
	assert_int_equal(counter(m, VM_NR_DIRTY), 0);
	assert_int_equal(counter(m, VM_NR_WRITEBACK), 0);
	assert_int_equal(counter(m, VM_NR_WRITTEN), 5000);
	assert_int_equal(counter(m, VM_NR_ZONE_WRITE_PENDING), 0);
	machine_end(m);
}

static void test_part_of_a_cached_folio_is_dropped_by_splitting_it(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_file(m, 512 * 4096, 9, &file), 0);
	(void)do_op(m, OP_WRITE, file, 0, 512);
	(void)do_op(m, OP_RELEASE, file, 100, 1);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 511);
	assert_int_equal(counter(m, VM_NR_DIRTY), 511);
	assert_int_equal(counter(m, VM_NR_FILE_HUGEPAGES), 0);
	assert_int_equal(order_at(m, file, 0), 0);
	machine_end(m);
}

/* ---- shared memory ------------------------------------------------------------------------- */

static void test_tmpfs_pages_live_on_the_anonymous_lists(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_shmem(m, (task_id){0}, 100 * 4096, false, &file), 0);
	(void)do_op(m, OP_WRITE, file, 0, 100);
	assert_int_equal(counter(m, VM_NR_SHMEM), 100);
	assert_int_equal(counter(m, VM_NR_FILE_PAGES), 100);
	assert_int_equal(counter(m, VM_NR_INACTIVE_ANON), 100);
	assert_int_equal(counter(m, VM_NR_INACTIVE_FILE), 0);
	machine_end(m);
}

static void test_huge_tmpfs_takes_order_9_and_says_so(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id file;

	(void)state;
	assert_int_equal(model_shmem(m, (task_id){0}, 1000 * 4096, true, &file), 0);
	(void)do_op(m, OP_WRITE, file, 0, 1000);
	assert_int_equal(order_at(m, file, 0), 9);
	/* The second range is not a whole one. */
	assert_int_equal(order_at(m, file, 512), 0);
	assert_int_equal(counter(m, VM_THP_FILE_ALLOC), 1);
	assert_int_equal(counter(m, VM_THP_FILE_FALLBACK), 0);
	assert_int_equal(counter(m, VM_NR_SHMEM_HUGEPAGES), 1);
	machine_end(m);
}

static void test_files_have_inodes_and_lose_them(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id set;
	struct op op;

	(void)state;
	assert_int_equal(model_shmem_set(m, 1000, 4096, &set), 0);
	op = do_op(m, OP_FILES, set, 0, 1000);
	assert_int_equal(op.done, 1000);
	assert_int_equal(m->slab[SLAB_DENTRY].live, 1000);
	assert_int_equal(m->slab[SLAB_SHMEM_INODE].live, 1000);
	assert_int_equal(m->slab[SLAB_LSM_INODE].live, 1000);
	assert_int_equal(m->slab[SLAB_MAPLE_NODE].live, 100);
	assert_int_equal(m->slab[SLAB_XARRAY_NODE].live, 0);
	assert_int_equal(counter(m, VM_NR_SHMEM), 1000);
	assert_true(counter(m, VM_NR_SLAB_RECLAIMABLE) >= 1000 * 192 / 4096);
	(void)do_op(m, OP_RELEASE, set, 0, 600);
	assert_int_equal(m->slab[SLAB_DENTRY].live, 400);
	assert_int_equal(m->slab[SLAB_SHMEM_INODE].live, 400);
	assert_int_equal(m->slab[SLAB_LSM_INODE].live, 400);
	assert_int_equal(m->slab[SLAB_MAPLE_NODE].live, 40);
	machine_end(m);
}

/* ---- slab ---------------------------------------------------------------------------------- */

static void test_slab_orders_follow_size_and_cpus(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct model *small, *large;

	(void)state;
	c.node[0].cpus = 2;
	small = machine_make(&c);
	c.node[0].cpus = 16;
	large = machine_make(&c);
	assert_int_equal(small->slab[SLAB_DENTRY].order, 0);
	assert_int_equal(small->slab[SLAB_DENTRY].objects_per_slab, 21);
	/* As /proc/slabinfo of a 7.3 guest shows them. */
	assert_int_equal(small->slab[SLAB_SHMEM_INODE].order, 2);
	assert_int_equal(small->slab[SLAB_SHMEM_INODE].objects_per_slab, 23);
	assert_int_equal(small->slab[SLAB_LSM_INODE].objects_per_slab, 46);
	assert_int_equal(small->slab[SLAB_MAPLE_NODE].objects_per_slab, 16);
	assert_int_equal(large->slab[SLAB_DENTRY].order, 1);
	assert_int_equal(large->slab[SLAB_SHMEM_INODE].order, 3);
	assert_int_equal(large->slab[SLAB_SHMEM_INODE].min_order, 0);
	machine_end(small);
	machine_end(large);
}

static void test_the_preferred_slab_order_never_tries_hard(void **state)
{
	gfp_t gfp = slab_mainline_gfp(GFP_KERNEL | __GFP_NOFAIL, 3, 0);

	(void)state;
	assert_int_equal(gfp & (__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM | __GFP_NOFAIL), 0);
	assert_int_equal(gfp & (__GFP_NORETRY | __GFP_NOWARN | __GFP_NOMEMALLOC),
			 __GFP_NORETRY | __GFP_NOWARN | __GFP_NOMEMALLOC);
	/* Where it is the smallest order already, it may. */
	gfp = slab_mainline_gfp(GFP_KERNEL, 1, 1);
	assert_true(gfp & __GFP_DIRECT_RECLAIM);
}

static void test_a_slab_falls_back_to_its_smallest_order(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	lay_begin(m);
	lay(m, 512, "8192(fKKK)");
	lay_end(m);
	assert_int_equal(slab_alloc(m, SLAB_SHMEM_INODE, GFP_KERNEL, 50), 50);
	assert_int_equal(counter(m, VM_NR_SLAB_UNRECLAIMABLE), 10);
	assert_int_equal(counter(m, VM_COMPACT_STALL), 0);
	assert_int_equal(slab_free_oldest(m, SLAB_SHMEM_INODE, 50), 10);
	assert_int_equal(counter(m, VM_NR_SLAB_UNRECLAIMABLE), 0);
	machine_end(m);
}

static void test_reclaimable_objects_are_shrunk(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct op op = {.kind = OP_SLAB, .cache = SLAB_DENTRY, .count = 5000};
	task_id task;

	(void)state;
	assert_int_equal(model_task(m, 0, &task), 0);
	assert_int_equal(model_do(m, task, &op), 0);
	assert_int_equal(op.done, 5000);
	op = (struct op){.kind = OP_DROP_CACHES, .what = 2};
	assert_int_equal(model_do(m, task, &op), 0);
	assert_true(m->slab[SLAB_DENTRY].live < 300);
	assert_true(counter(m, VM_SLABS_SCANNED) > 4700);
	assert_int_equal(counter(m, VM_DROP_SLAB), 1);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_write_gets_the_largest_folio_its_index_allows),
		cmocka_unit_test(test_the_size_of_one_write_call_bounds_the_folio),
		cmocka_unit_test(test_every_order_down_to_the_smallest_is_asked_for),
		cmocka_unit_test(
			test_a_writer_asks_as_its_kernel_does_and_readahead_never_tries_hard),
		cmocka_unit_test(test_readahead_windows_and_orders_grow),
		cmocka_unit_test(test_the_order_of_a_fresh_window_by_kernel),
		cmocka_unit_test(test_one_large_folio_that_fails_ends_them_for_its_window),
		cmocka_unit_test(test_a_second_access_activates),
		cmocka_unit_test(test_sync_leaves_nothing_dirty),
		cmocka_unit_test(test_part_of_a_cached_folio_is_dropped_by_splitting_it),
		cmocka_unit_test(test_tmpfs_pages_live_on_the_anonymous_lists),
		cmocka_unit_test(test_huge_tmpfs_takes_order_9_and_says_so),
		cmocka_unit_test(test_files_have_inodes_and_lose_them),
		cmocka_unit_test(test_slab_orders_follow_size_and_cpus),
		cmocka_unit_test(test_the_preferred_slab_order_never_tries_hard),
		cmocka_unit_test(test_a_slab_falls_back_to_its_smallest_order),
		cmocka_unit_test(test_reclaimable_objects_are_shrunk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
