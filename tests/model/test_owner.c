/* SPDX-License-Identifier: MIT */
/* Regions and slots, LRU lists and batches, the clock. */
#include "harness.h"

#include <errno.h>
#include <string.h>

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"

#define PAGES (16u * PAGEBLOCK_PAGES)

static pfn_t take(struct model *m, unsigned order)
{
	pfn_t page = alloc_pages(m, GFP_HIGHUSER_MOVABLE, order, NODE_NONE, NODEMASK_NONE);

	assert_true(page != PFN_NONE);
	return page;
}

static void give(struct model *m, pfn_t head)
{
	unsigned order = PG_ORDER(m->map.state[head]);

	lru_forget(m, head);
	owner_detach(m, head);
	free_pages(m, head, order);
}

/* ---- regions ------------------------------------------------------------------------------ */

static void test_slots_have_the_phase_of_the_address_and_are_used_again(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	region_id a, b, c;
	uint32_t first;

	(void)state;
	assert_int_equal(owner_region_new(m, REGION_ANON, 600, 5 * 4096, &a), 0);
	assert_int_equal(owner_region(m, a)->first_slot % SLOT_GROUP, 5);
	assert_int_equal(owner_region_new(m, REGION_FILE, 1, 0, &b), 0);
	/* 5 + 600 slots are two groups; the next region has the third. */
	assert_int_equal(owner_region(m, b)->first_slot / SLOT_GROUP,
			 owner_region(m, a)->first_slot / SLOT_GROUP + 2);
	first = owner_region(m, a)->first_slot;
	owner_region_free(m, a);
	assert_int_equal(owner_region_new(m, REGION_ANON, 512, 0, &c), 0);
	assert_int_equal(owner_region(m, c)->first_slot / SLOT_GROUP, first / SLOT_GROUP);
	assert_int_equal(owner_region_new(m, REGION_ANON, 0, 0, &a), -EINVAL);
	assert_int_equal(owner_region_new(m, REGION_ANON, 1ull << 40, 0, &a), -ENOSPC);
	machine_end(m);
}

static void test_a_huge_page_fills_its_group_and_is_found_inside(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct region *r;
	region_id id;
	pfn_t head;
	slot_t slot;

	(void)state;
	assert_int_equal(owner_region_new(m, REGION_ANON, 1024, 0, &id), 0);
	r = owner_region(m, id);
	head = take(m, 9);
	slot = (slot_t){r->first_slot + 512};
	owner_attach(m, head, 9, PG_ANON, slot, true);
	lru_add(m, head);
	assert_int_equal(owner_page(m, r, 512), head);
	assert_int_equal(owner_page(m, r, 700), head + 188);
	assert_int_equal(owner_page(m, r, 511), PFN_NONE);
	assert_false(owner_group_is_empty(m, slot.v + 100));
	assert_true(owner_group_is_empty(m, r->first_slot));
	assert_int_equal(r->nr_huge, 1);
	owner_split_pmd(m, slot.v);
	assert_int_equal(r->nr_huge, 0);
	assert_int_equal(owner_page(m, r, 700), head + 188);
	assert_true(owner_region_is_valid(m, id));
	give(m, head);
	assert_int_equal(r->nr_pages, 0);
	machine_end(m);
}

static void test_a_moved_page_is_found_at_its_new_place_with_its_flags(void **state)
{
	struct model *m = machine_two_nodes(PROFILE_C, PAGES);
	struct region *r;
	region_id id;
	pfn_t src, dst;

	(void)state;
	assert_int_equal(owner_region_new(m, REGION_FILE, 8, 0, &id), 0);
	r = owner_region(m, id);
	src = take(m, 0);
	owner_attach(m, src, 0, PG_FILE, (slot_t){r->first_slot + 3}, false);
	memmap_flag_set(m, src, PGF_ACTIVE | PGF_REFERENCED);
	dst = alloc_pages(m, GFP_HIGHUSER_MOVABLE, 0, (node_id){1}, NODEMASK_NONE);
	owner_move(m, src, dst);
	assert_int_equal(owner_page(m, r, 3), dst);
	assert_int_equal(owner_slot(m, dst).v, r->first_slot + 3);
	assert_int_equal(m->map.flag[dst], PGF_ACTIVE | PGF_REFERENCED);
	assert_int_equal(m->node[0].stat[VM_NR_FILE_PAGES - VM_NODE_FIRST], 0);
	assert_int_equal(m->node[1].stat[VM_NR_FILE_PAGES - VM_NODE_FIRST], 1);
	free_pages(m, src, 0);
	lru_add(m, dst);
	machine_end(m);
}

/* ---- lists -------------------------------------------------------------------------------- */

static void test_a_batch_is_flushed_when_it_is_full_or_a_folio_is_large(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct region *r;
	struct model *m;
	region_id id;

	(void)state;
	c.lru_batches = true;
	m = machine_make(&c);
	assert_int_equal(owner_region_new(m, REGION_ANON, 1024, 0, &id), 0);
	r = owner_region(m, id);
	for (uint32_t i = 0; i < 30; i++) {
		pfn_t page = take(m, 0);

		owner_attach(m, page, 0, PG_ANON, (slot_t){r->first_slot + i}, false);
		lru_add(m, page);
		assert_int_equal(counter(m, VM_NR_INACTIVE_ANON), 0);
	}
	owner_attach(m, take(m, 0), 0, PG_ANON, (slot_t){r->first_slot + 30}, false);
	lru_add(m, owner_page(m, r, 30));
	assert_int_equal(counter(m, VM_NR_INACTIVE_ANON), 31);
	owner_attach(m, take(m, 0), 0, PG_ANON, (slot_t){r->first_slot + 31}, false);
	lru_add(m, owner_page(m, r, 31));
	assert_false(lru_isolate(m, owner_page(m, r, 31)));
	owner_attach(m, take(m, 2), 2, PG_ANON, (slot_t){r->first_slot + 32}, false);
	lru_add(m, owner_page(m, r, 32));
	assert_int_equal(counter(m, VM_NR_INACTIVE_ANON), 36);
	machine_end(m);
}

static void test_the_oldest_page_is_at_the_tail(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);
	struct node *n = &m->node[0];
	struct region *r;
	region_id id;

	(void)state;
	assert_int_equal(owner_region_new(m, REGION_FILE, 8, 0, &id), 0);
	r = owner_region(m, id);
	for (uint32_t i = 0; i < 4; i++) {
		owner_attach(m, take(m, 0), 0, PG_FILE, (slot_t){r->first_slot + i}, false);
		lru_add(m, owner_page(m, r, i));
	}
	assert_int_equal(lru_tail(m, n, LRU_INACTIVE_FILE), owner_page(m, r, 0));
	assert_true(lru_isolate(m, owner_page(m, r, 0)));
	assert_int_equal(counter(m, VM_NR_ISOLATED_FILE), 1);
	assert_int_equal(lru_tail(m, n, LRU_INACTIVE_FILE), owner_page(m, r, 1));
	lru_putback(m, owner_page(m, r, 0));
	assert_int_equal(counter(m, VM_NR_ISOLATED_FILE), 0);
	lru_activate(m, owner_page(m, r, 1));
	assert_int_equal(lru_tail(m, n, LRU_INACTIVE_FILE), owner_page(m, r, 2));
	assert_int_equal(lru_tail(m, n, LRU_ACTIVE_FILE), owner_page(m, r, 1));
	assert_int_equal(owner_slot(m, owner_page(m, r, 1)).v, r->first_slot + 1);
	machine_end(m);
}

/* ---- time --------------------------------------------------------------------------------- */

static void test_daemons_run_at_scheduling_points_up_to_now(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	struct model *m;
	uint64_t events;

	(void)state;
	c.daemons = true;
	m = machine_make(&c);
	m->clock.now = 999999999;
	events = m->clock.events;
	clock_point(m);
	assert_int_equal(m->clock.events, events);
	m->clock.now = 3500000000;
	clock_point(m);
	/* The tick of each second that has passed, and nothing of the seconds to come. */
	assert_true(m->clock.events >= events + 3);
	assert_true(m->clock.daemon_next > m->clock.now);
	assert_int_equal(m->clock.now, 3500000000);
	machine_end(m);
}

static bool never(struct model *m, void *arg)
{
	(void)m;
	(*(unsigned *)arg)++;
	return false;
}

static void test_a_wait_ends_at_its_time_and_asks_after_each_step(void **state)
{
	struct model_config c = quiet_config(PROFILE_C, PAGES);
	unsigned asked = 0;
	struct model *m;

	(void)state;
	c.daemons = true;
	m = machine_make(&c);
	clock_wait(m, 5500000000, never, &asked);
	assert_int_equal(m->clock.now, 5500000000);
	assert_true(asked >= 5);
	machine_end(m);
}

static void test_overlapping_stalls_count_once(void **state)
{
	struct model *m = machine_quiet(PROFILE_C, PAGES);

	(void)state;
	m->clock.now = 100;
	clock_memstall_enter(m);
	clock_memstall_enter(m);
	m->clock.now = 200;
	clock_memstall_leave(m);
	clock_memstall_leave(m);
	assert_int_equal(m->clock.psi_some_ns, 100);
	/* Another task stalled from 150 to 250: fifty more. */
	m->clock.now = 150;
	clock_memstall_enter(m);
	m->clock.now = 250;
	clock_memstall_leave(m);
	assert_int_equal(m->clock.psi_some_ns, 150);
	machine_end(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slots_have_the_phase_of_the_address_and_are_used_again),
		cmocka_unit_test(test_a_huge_page_fills_its_group_and_is_found_inside),
		cmocka_unit_test(test_a_moved_page_is_found_at_its_new_place_with_its_flags),
		cmocka_unit_test(test_a_batch_is_flushed_when_it_is_full_or_a_folio_is_large),
		cmocka_unit_test(test_the_oldest_page_is_at_the_tail),
		cmocka_unit_test(test_daemons_run_at_scheduling_points_up_to_now),
		cmocka_unit_test(test_a_wait_ends_at_its_time_and_asks_after_each_step),
		cmocka_unit_test(test_overlapping_stalls_count_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
