/* SPDX-License-Identifier: MIT */
/* Batches of migration: order, passes, failure classes, what is counted and what stays in the list.
 */
#include "harness.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/owner.h"

#define SRC 1024u /* sources are laid out in this block */

static struct model *m;
static struct zone *z;
static pfn_t list[MIGRATE_LIST_MAX];
static uint32_t nr;

/* Targets from the buddy, at most `left` of them; remembers what was asked for. */
struct source {
	uint32_t left, asked, returned;
	pfn_t order_of_asking[64];
	unsigned refuse_from; /* orders from here on are refused */
};

static pfn_t take(struct model *mm, void *ctx, pfn_t src, unsigned order)
{
	struct source *s = ctx;

	if (s->asked < 64)
		s->order_of_asking[s->asked] = src;
	s->asked++;
	if (s->left == 0 || order >= s->refuse_from)
		return PFN_NONE;
	s->left--;
	return buddy_take(mm, z, order, MIGRATE_MOVABLE);
}

static void give_back(struct model *mm, void *ctx, pfn_t dst, unsigned order)
{
	struct source *s = ctx;

	s->returned++;
	s->left++;
	free_pages(mm, dst, order);
}

static struct source everything(void)
{
	return (struct source){.left = 1000, .refuse_from = 11};
}

static void prepare(const char *pattern)
{
	m = machine_quiet(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	lay(m, SRC, pattern);
	lay_end(m);
	nr = 0;
	for (pfn_t pfn = SRC; pfn < SRC + PAGEBLOCK_PAGES; pfn++) {
		uint8_t s = m->map.state[pfn];

		if (PG_KIND(s) == PG_MOVABLE_OPS)
			list[nr++] = pfn;
		else if (KINDS_LRU >> PG_KIND(s) & 1 && lru_isolate(m, pfn))
			list[nr++] = pfn;
	}
}

static struct migrate_result run(struct source *s, enum migrate_mode mode)
{
	const struct migrate_ops ops = {take, give_back, s};

	return migrate_pages(m, list, &nr, &ops, mode, MR_COMPACTION);
}

static void finish(void)
{
	while (nr) {
		pfn_t head = list[--nr];

		if (PG_KIND(m->map.state[head]) != PG_MOVABLE_OPS)
			lru_putback(m, head);
	}
	machine_end(m);
}

static void test_the_last_one_goes_first_and_flags_go_along(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("2A L 509f");
	lru_putback(m, list[0]);
	lru_activate(m, SRC);
	assert_true(lru_isolate(m, SRC));
	r = run(&s, MIGRATE_ASYNC);
	assert_int_equal(r.succeeded, 3);
	assert_int_equal(r.left, 0);
	assert_int_equal(s.order_of_asking[0], SRC + 2);
	assert_int_equal(s.order_of_asking[2], SRC);
	assert_int_equal(counter(m, VM_NR_ACTIVE_ANON), 1);
	assert_int_equal(counter(m, VM_NR_UNEVICTABLE), 1);
	assert_int_equal(counter(m, VM_NR_ISOLATED_ANON), 0);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 3);
	for (pfn_t i = 0; i < 3; i++)
		assert_false(KINDS_OWNED >> PG_KIND(m->map.state[SRC + i]) & 1);
	finish();
}

static void test_no_target_ends_the_batch_and_moves_what_has_one(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("10A 502f");
	s.left = 4;
	r = run(&s, MIGRATE_ASYNC);
	assert_true(r.no_target);
	assert_int_equal(r.succeeded, 4);
	assert_int_equal(r.left, 6);
	/* Only the one that found none counts as failed. */
	assert_int_equal(r.failed, 1);
	assert_int_equal(counter(m, VM_PGMIGRATE_FAIL), 1);
	assert_int_equal(s.asked, 5);
	finish();
}

static void test_pinned_file_pages_fail_after_all_passes_and_keep_their_place(void **state)
{
	static const enum migrate_mode modes[] = {MIGRATE_ASYNC, MIGRATE_SYNC_LIGHT};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct source s = everything();
		struct migrate_result r;

		prepare("4R 4C 504f");
		r = run(&s, modes[i]);
		assert_int_equal(r.succeeded, 4);
		assert_int_equal(r.failed, 4);
		assert_int_equal(r.left, 4);
		assert_false(r.no_target);
		/* Sync tries the failed ones again one by one, each with a target of its own. */
		assert_int_equal(s.asked, i ? 12 : 8);
		assert_int_equal(s.returned, i ? 8 : 4);
		assert_int_equal(counter(m, VM_PGMIGRATE_FAIL), 4);
		finish();
	}
}

static void test_writeback_fails_at_once_unless_fully_sync(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("W 511f");
	r = run(&s, MIGRATE_SYNC_LIGHT);
	assert_int_equal(r.left, 1);
	assert_int_equal(r.failed, 1);
	assert_int_equal(s.returned, 2);
	finish();
}

static void test_a_large_folio_without_a_target_goes_on_in_pieces(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("2Q A 503f");
	s.refuse_from = 2;
	r = run(&s, MIGRATE_ASYNC);
	assert_int_equal(r.succeeded, 9);
	assert_int_equal(r.left, 0);
	assert_int_equal(counter(m, VM_PGMIGRATE_SUCCESS), 9);
	assert_int_equal(counter(m, VM_PGMIGRATE_FAIL), 0);
	finish();
}

static void test_a_huge_page_moves_whole_or_splits(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("T");
	r = run(&s, MIGRATE_SYNC_LIGHT);
	assert_int_equal(r.succeeded, 512);
	assert_int_equal(counter(m, VM_THP_MIGRATION_SUCCESS), 1);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 1);
	finish();
	prepare("T");
	s = everything();
	s.refuse_from = 9;
	r = run(&s, MIGRATE_ASYNC);
	assert_int_equal(r.succeeded, 512);
	assert_int_equal(counter(m, VM_THP_MIGRATION_FAIL), 1);
	assert_int_equal(counter(m, VM_THP_MIGRATION_SPLIT), 1);
	assert_int_equal(counter(m, VM_NR_ANON_TRANSPARENT_HUGEPAGES), 0);
	finish();
}

static void test_movable_ops_pages_move_through_their_callbacks(void **state)
{
	struct source s = everything();
	struct migrate_result r;

	(void)state;
	prepare("3M 509f");
	r = run(&s, MIGRATE_ASYNC);
	assert_int_equal(r.succeeded, 3);
	for (pfn_t i = 0; i < 3; i++)
		assert_false(KINDS_OWNED >> PG_KIND(m->map.state[SRC + i]) & 1);
	finish();
}

static void test_long_lists_go_in_chunks_of_512_pages(void **state)
{
	struct source s = everything();
	struct recorded events;
	struct migrate_result r;

	(void)state;
	prepare("512A");
	s.left = 520;
	record(m, &events, TRACE_MIGRATE_PAGES);
	r = run(&s, MIGRATE_SYNC_LIGHT);
	record_stop(m);
	assert_int_equal(r.succeeded, 512);
	assert_int_equal(events.nr, 1);
	finish();
}

static void test_a_target_elsewhere_moves_the_gauges_of_the_node(void **state)
{
	struct migrate_target_control mtc = {.nid = {1}, .gfp = GFP_USER | __GFP_MOVABLE};
	const struct migrate_ops ops = {migrate_alloc_target, migrate_free_target, &mtc};
	struct migrate_result r;

	(void)state;
	m = machine_two_nodes(PROFILE_C, 32 * PAGEBLOCK_PAGES);
	z = &m->zone[0];
	lay_begin(m);
	lay(m, SRC, "A L 510f");
	lay_end(m);
	list[0] = SRC;
	list[1] = SRC + 1;
	nr = 2;
	assert_true(lru_isolate(m, SRC) && lru_isolate(m, SRC + 1));
	r = migrate_pages(m, list, &nr, &ops, MIGRATE_SYNC, MR_SYSCALL);
	assert_int_equal(r.succeeded, 2);
	assert_int_equal(m->node[0].stat[VM_NR_ANON_PAGES - VM_NODE_FIRST], 0);
	assert_int_equal(m->node[1].stat[VM_NR_ANON_PAGES - VM_NODE_FIRST], 2);
	assert_int_equal(m->zone[1].stat[VM_NR_MLOCK], 1);
	finish();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_last_one_goes_first_and_flags_go_along),
		cmocka_unit_test(test_no_target_ends_the_batch_and_moves_what_has_one),
		cmocka_unit_test(test_pinned_file_pages_fail_after_all_passes_and_keep_their_place),
		cmocka_unit_test(test_writeback_fails_at_once_unless_fully_sync),
		cmocka_unit_test(test_a_large_folio_without_a_target_goes_on_in_pieces),
		cmocka_unit_test(test_a_huge_page_moves_whole_or_splits),
		cmocka_unit_test(test_movable_ops_pages_move_through_their_callbacks),
		cmocka_unit_test(test_long_lists_go_in_chunks_of_512_pages),
		cmocka_unit_test(test_a_target_elsewhere_moves_the_gauges_of_the_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
