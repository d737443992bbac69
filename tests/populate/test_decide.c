/* SPDX-License-Identifier: MIT */
/* The decisions, against simulated nodes. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include "sim.h"

#define GIB 512 /* blocks */

static void clean_memory_takes_few_large_chunks(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	rules.chunk_ns = 1000000000;
	sim_run(&s, &d, &rules, 16 * GIB);
	assert_int_equal(s.huge, 16 * GIB);
	assert_int_equal(s.compactions, 0);
	assert_int_equal(d.tries, 0);
	/* 1, 2, 4 .. 512 blocks make the first gibibyte, then one chunk each. */
	assert_true(s.chunks <= 10 + 16);
	assert_int_equal(s.largest, POP_MAX_CHUNK);
}

static void no_chunk_takes_much_longer_than_it_should(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	sim_run(&s, &d, &rules, 16 * GIB);
	assert_true(s.longest_ns <= rules.chunk_ns);
	assert_true(s.chunks < 16 * GIB / 64); /* and yet they are not small */
}

static void tries_follow_the_kernels_deferral(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_outcome fail = {.time_ns = 5000000};
	uint64_t at = 0, tried[9], n = 0;
	/* compaction_deferred(): an attempt runs when ++considered reaches 1 << shift. */
	static const uint64_t attempts[9] = {1, 3, 7, 15, 31, 63, 127, 191, 255};

	(void)state;
	rules.blocks = 100000; /* so many that what a try costs does not matter */
	pop_decide_init(&d, &rules);
	while (n < 9) {
		struct pop_view v = {.left = 1000};
		struct pop_step step;

		pop_decide_next(&d, &v, &step);
		if (step.act == POP_FULL) {
			assert_int_equal(step.blocks, 1);
			tried[n++] = at + 1;
		}
		at += step.blocks;
		fail.time_ns = step.act == POP_FULL ? 5000000 : step.blocks * 500000;
		pop_decide_learn(&d, &step, &fail);
	}
	assert_memory_equal(tried, attempts, sizeof(tried));
	assert_int_equal(d.max_shift, 6);
}

static void failures_that_cost_nothing_are_followed_by_short_pauses(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000};
	struct pop_step step;
	unsigned blocks = 0, tries = 0;

	(void)state;
	rules.blocks = 100000;
	pop_decide_init(&d, &rules);
	d.base_block_ns = 500000;
	d.shift = POP_MAX_SHIFT;
	d.patience_tries = POP_PATIENCE; /* has come to an end */
	while (tries < 10) {
		struct pop_outcome o = {0};

		pop_decide_next(&d, &v, &step);
		o.time_ns = step.blocks * 500000; /* the kernel defers by itself */
		tries += step.trial;
		blocks += (unsigned)step.blocks;
		pop_decide_learn(&d, &step, &o);
	}
	assert_int_equal(blocks, 1 + 9 * (1 + POP_FREE_SKIP));
	assert_int_equal(d.shift, POP_MAX_SHIFT); /* the next costly one is followed by 63 */
	for (;;) {
		pop_decide_next(&d, &v, &step);
		if (step.trial)
			break;
		pop_decide_learn(&d, &step, &(struct pop_outcome){.time_ns = step.blocks * 500000});
	}
	pop_decide_learn(&d, &step, &(struct pop_outcome){.time_ns = 5000000});
	assert_int_equal(d.skip, 63);
}

static void pinned_node_costs_little_more_than_base_pages(void **state)
{
	struct sim s = sim_new(), plain;
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	uint64_t huge, plain_ns;

	(void)state;
	s.free_home = 1;
	s.fail_ns = 5200000; /* MADV_POPULATE_WRITE: 10.6 s for 4 GiB */
	plain = s;
	plain_ns = sim_plain(plain, 4 * GIB, &huge);
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, 1);
	assert_int_equal(huge, 1);
	assert_true(s.failures <= 40);
	assert_true(s.now_ns * 8 <= plain_ns);
	assert_true(s.now_ns * 2 <= 3 * 4 * GIB * s.base_ns); /* 1.5 times base pages */
}

static void tries_that_take_long_are_few(void **state)
{
	(void)state;
	/* From what 16 GiB of pinned pages cost to what a terabyte would. */
	for (uint64_t fail_ns = 20000000; fail_ns <= 1280000000; fail_ns *= 4) {
		struct sim s = sim_new();
		struct pop_rules rules = sim_rules();
		struct pop_decide d;
		uint64_t blocks = 64 * GIB, base_ns;

		s.free_home = 0;
		s.fail_ns = fail_ns;
		base_ns = blocks * s.base_ns;
		sim_run(&s, &d, &rules, blocks);
		assert_true(s.failures >= 8); /* it never gives up */
		if (fail_ns <= 80000000)
			assert_true(s.now_ns <= base_ns + base_ns / 6);
	}
}

static void what_failures_cost_stays_within_its_bounds_whatever_is_freed_meanwhile(void **state)
{
	(void)state;
	for (uint64_t fail_ns = 1000000; fail_ns <= 64000000; fail_ns *= 4) {
		for (uint64_t every = 40; every <= 2560; every *= 4) {
			struct sim s = sim_new();
			struct pop_rules rules = sim_rules();
			struct pop_decide d;
			uint64_t base_ns = 8 * GIB * s.base_ns;

			s.free_home = 0;
			s.fail_ns = fail_ns;
			s.free_every = every;
			sim_run(&s, &d, &rules, 8 * GIB);
			assert_true(s.huge + POP_MAX_TRY >= 8 * GIB / every); /* all are taken */
			/* One try can cost more than is left, and is then the last for long. */
			assert_true(s.now_ns <= base_ns + base_ns / 12 + base_ns / 32 + fail_ns);
		}
	}
}

static void free_blocks_are_taken_while_deferred(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000};
	struct pop_outcome fail = {.time_ns = 5000000}, good = {.huge = 1, .huge_home = 1};
	struct pop_step step;

	(void)state;
	pop_decide_init(&d, &rules);
	for (int i = 0; i < 3; i++) { /* deferred, and in the midst of it */
		do {
			pop_decide_next(&d, &v, &step);
			pop_decide_learn(&d, &step, &fail);
		} while (step.act != POP_FULL);
	}
	pop_decide_next(&d, &v, &step);
	assert_int_equal(step.act, POP_BASE);
	pop_decide_learn(&d, &step, &fail);
	v.free_home = 1;
	pop_decide_next(&d, &v, &step);
	assert_int_equal(step.act, POP_FULL);
	assert_false(step.trial);
	pop_decide_learn(&d, &step, &good);
	assert_int_equal(d.shift, 0); /* appearing blocks end the deferral */
	assert_int_equal(d.recoveries, 1);
}

static void blocks_that_cannot_be_had_are_not_asked_for_again(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = s.untakable_home = 300; /* CMA, say */
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, 0);
	/* One chunk finds out; after that the deferral rules. */
	assert_true(s.failures <= 1 + 40);
}

static void a_reserve_costs_one_small_step_per_chunk(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = 1000;
	s.untakable_home = 20;
	sim_run(&s, &d, &rules, 2 * GIB);
	assert_int_equal(s.huge, 980);
	assert_true(s.failures <= 20 + 10);
}

static void movable_memory_is_compacted_as_before(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	uint64_t huge, plain_ns = 0;

	(void)state;
	s.free_home = 0;
	s.compactable = 100000;
	plain_ns = sim_plain(s, 4 * GIB, &huge);
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, huge);
	assert_true(s.now_ns <= plain_ns);
	assert_int_equal(s.largest, POP_MAX_TRY);
}

static void rare_failures_do_not_cost_coverage(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	uint64_t huge;

	(void)state;
	s.free_home = 0;
	s.compactable = 100000;
	s.fail_percent = 2;
	sim_plain(s, 4 * GIB, &huge);
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_true(s.huge * 100 >= huge * 99);
}

static void the_kernels_deferral_that_others_left_is_waited_out(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	uint64_t huge;

	(void)state;
	s.free_home = 0;
	s.compactable = 100000;
	s.kernel_defers = 42; /* 2 + 4 + ... + 64 attempts, three a try */
	s.deferred_ns = 400000;
	sim_plain(s, 4 * GIB, &huge);
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_true(s.huge * 100 >= huge * 99);
}

static void patience_is_not_endless(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	/* Every try fails slowly, although pages are moved each time. */
	s.free_home = 0;
	s.moves_in_vain = true;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_true(s.now_ns * 5 <= 6 * 4 * GIB * s.base_ns);
}

static void supply_that_runs_out_is_used_up(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	uint64_t huge;

	(void)state;
	s.free_home = 100;
	s.compactable = 700;
	sim_plain(s, 4 * GIB, &huge);
	assert_int_equal(huge, 800);
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, 800);
	assert_true(s.failures <= POP_MAX_TRY + 40);
}

static void huge_pages_come_back_within_64_chunks_after_unpinning(void **state)
{
	(void)state;
	/* Wherever in the deferral it happens, and whatever a try costs. */
	for (uint64_t fail_ns = 5000000; fail_ns <= 1280000000; fail_ns *= 4) {
		for (uint64_t at = 200; at < 1200; at += 7) {
			struct sim s = sim_new();
			struct pop_rules rules = sim_rules();
			struct pop_decide d;

			s.free_home = 0;
			s.fail_ns = fail_ns;
			s.unpin_at = at;
			s.defer_after_unpin = 22; /* the kernel's own 64 attempts, three a try */
			sim_run(&s, &d, &rules, 16 * GIB);
			if (fail_ns > 5000000) { /* then it is the time that spaces tries */
				assert_true(s.blocks_until_huge * s.base_ns <=
					    POP_MAX_PAUSE * rules.chunk_ns + 88 * s.base_ns);
				continue;
			}
			assert_in_range(s.first_huge_after_unpin, 1, 64);
			assert_true(s.huge >= 16 * GIB - at - 128 - 22 * (1 + POP_FREE_SKIP));
			assert_true(d.recoveries >= 1);
		}
	}
}

static void counted_pins_that_go_away_end_the_wait_at_once(void **state)
{
	(void)state;
	/* Here it is blocks that are counted, and a try may cost seconds. */
	for (uint64_t fail_ns = 5000000; fail_ns <= 5120000000; fail_ns *= 4) {
		for (uint64_t at = 200; at < 1200; at += 7) {
			struct sim s = sim_new();
			struct pop_rules rules = sim_rules();
			struct pop_decide d;

			s.free_home = 0;
			s.fail_ns = fail_ns;
			s.pins = 1000000;
			s.unpin_at = at;
			s.defer_after_unpin = 22;
			sim_run(&s, &d, &rules, 16 * GIB);
			assert_in_range(s.blocks_until_huge, 1, 64);
		}
	}
}

static void pins_that_come_and_go_do_not_end_it(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000, .pins = 80000};
	struct pop_outcome fail = {.time_ns = 5000000, .seen = POP_SEEN_FIXED, .pins = 80000};
	struct pop_step step;

	(void)state;
	rules.blocks = 100000;
	pop_decide_init(&d, &rules);
	d.shift = POP_MAX_SHIFT;
	pop_decide_next(&d, &v, &step);
	assert_true(step.trial);
	assert_false(pop_decide_wants_pins(&d)); /* nothing is deferred */
	pop_decide_learn(&d, &step, &fail);
	assert_true(pop_decide_wants_pins(&d));
	v.pins = 70001; /* an eighth would be 10,000 */
	pop_decide_next(&d, &v, &step);
	assert_int_equal(step.act, POP_BASE);
	pop_decide_learn(&d, &step, &(struct pop_outcome){.time_ns = step.blocks * 500000});
	v.pins = 70000;
	pop_decide_next(&d, &v, &step);
	assert_true(step.trial);
	/* Still in vain: from here on it takes an eighth of what is left. */
	fail.pins = 70000;
	pop_decide_learn(&d, &step, &fail);
	assert_int_equal(d.skip, 63);
	v.pins = 62000;
	pop_decide_next(&d, &v, &step);
	assert_int_equal(step.act, POP_BASE);
}

/* Where tries have brought huge pages for their time, the kernel's pauses are sat out. */
static void the_kernels_deferral_after_successes_is_waited_out_on_a_busy_machine(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = 0;
	s.compactable = 100000;
	s.defer_every = 150; /* the scanners meet: 42 tries in vain, each a little late */
	s.deferred_ns = 700000;
	sim_run(&s, &d, &rules, GIB);
	/* The waiting is done beside the buffer: each round costs a block, the first one two. */
	assert_true(s.huge >= GIB - 3 - 2);
}

static void other_nodes_pages_are_taken_without_compaction(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = 10;
	s.free_other = 1500;
	rules.use_other = true;
	sim_run(&s, &d, &rules, 2 * GIB);
	assert_int_equal(s.huge, 2 * GIB);
	assert_int_equal(s.huge_home, 10);
	assert_true(s.failures <= 24); /* MADV_POPULATE_WRITE: 1,014 */
}

static void without_the_wish_other_nodes_are_left_alone(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000, .free_other = 500};
	struct pop_outcome fail = {.time_ns = 5000000};

	(void)state;
	pop_decide_init(&d, &rules);
	for (int i = 0; i < 100; i++) {
		struct pop_step step;

		pop_decide_next(&d, &v, &step);
		assert_int_not_equal(step.act, POP_OTHER);
		pop_decide_learn(&d, &step, &fail);
	}
}

static void without_buddyinfo_it_finds_out_by_trying(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	rules.free_known = false;
	s.free_home = 1000;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, 1000);
	assert_true(s.largest <= POP_MAX_BLIND);
	assert_true(s.failures <= POP_MAX_BLIND + 40);
}

static void where_asking_costs_nothing_everything_is_asked_for(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	rules.stalls = false;
	s.fail_ns = 0;
	s.free_home = 700;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.huge, 700);
	assert_int_equal(d.deferred_blocks, 0);
	assert_true(s.chunks <= 4 * GIB / 32);
}

static void thp_off_means_base_pages_in_large_chunks(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	rules.huge = false;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_int_equal(s.base, 4 * GIB);
	assert_true(s.chunks <= 10 + 4 * GIB * s.base_ns / (rules.chunk_ns / 2));
}

static void near_the_deadline_no_compaction_is_risked(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	/* Just compactable, but slowly: all of it would take 12 s. */
	s.free_home = 0;
	s.compactable = 100000;
	s.compact_ns = 5750000;
	rules.deadline_ns = 4000000000;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_true(s.now_ns <= rules.deadline_ns);
	assert_true(s.huge > 100);
	assert_int_equal(s.huge + s.base, 4 * GIB);
	assert_true(d.base_only);
}

static void a_contract_out_of_reach_ends_the_work(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = 1000;
	rules.base_budget = 20; /* 99 % of 2048 */
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_true(s.stopped);
	assert_int_equal(s.huge, 1000);
	assert_in_range(s.base, 20, 20 + POP_MAX_TRY);
}

static void a_contract_within_reach_is_kept(void **state)
{
	struct sim s = sim_new();
	struct pop_rules rules = sim_rules();
	struct pop_decide d;

	(void)state;
	s.free_home = 1000;
	s.compactable = 1040;
	rules.base_budget = 20;
	sim_run(&s, &d, &rules, 4 * GIB);
	assert_false(s.stopped);
	assert_true(s.base <= 20);
}

static void a_second_worker_does_not_pile_up_behind_a_try(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000};
	struct pop_outcome fail = {.time_ns = 5000000};
	struct pop_step one, two;

	(void)state;
	rules.blocks = 100000;
	pop_decide_init(&d, &rules);
	pop_decide_next(&d, &v, &one);
	pop_decide_learn(&d, &one, &fail);
	pop_decide_next(&d, &v, &one); /* the one block to be passed over */
	assert_int_equal(one.act, POP_BASE);
	pop_decide_next(&d, &v, &one);
	assert_true(one.trial);
	pop_decide_next(&d, &v, &two);
	assert_int_equal(two.act, POP_BASE);
}

static void a_kernel_that_never_compacts_is_not_asked_again(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000, .pins = POP_PINS_UNKNOWN};
	struct pop_outcome o = {.time_ns = 500000, .seen = POP_SEEN_LITTLE, .deaf = true};
	struct pop_step step;

	(void)state;
	rules.blocks = 100000;
	pop_decide_init(&d, &rules);
	d.base_block_ns = 500000;
	d.patience_tries = 1;
	pop_decide_next(&d, &v, &step);
	assert_true(step.trial && step.ask);
	pop_decide_learn(&d, &step, &o);
	pop_decide_next(&d, &v, &step);
	assert_true(step.trial && !step.ask && !step.may_ask);
	o = (struct pop_outcome){.huge = 1, .huge_home = 1, .time_ns = 500000};
	pop_decide_learn(&d, &step, &o);
	pop_decide_next(&d, &v, &step);
	assert_true(step.trial && step.may_ask);
}

static void before_anything_is_known_one_worker_tries_and_others_wait(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000, .pins = POP_PINS_UNKNOWN};
	struct pop_outcome good = {.huge = 1, .huge_home = 1, .time_ns = 1000000};
	struct pop_step one, two;

	(void)state;
	rules.blocks = 100000;
	pop_decide_init(&d, &rules);
	pop_decide_next(&d, &v, &one);
	assert_true(one.trial);
	pop_decide_next(&d, &v, &two);
	assert_int_equal(two.act, POP_WAIT);
	assert_int_equal(two.blocks, 0);
	assert_int_equal(d.chunks, 1);
	/* Once tries are known to be worth it, all try. */
	pop_decide_learn(&d, &one, &good);
	pop_decide_next(&d, &v, &one);
	pop_decide_next(&d, &v, &two);
	assert_true(one.trial && two.trial);
}

static void two_workers_do_not_take_the_same_free_blocks(void **state)
{
	struct pop_rules rules = sim_rules();
	struct pop_decide d;
	struct pop_view v = {.left = 1000, .free_home = 3};
	struct pop_step one, two, three;

	(void)state;
	pop_decide_init(&d, &rules);
	d.chunk = 2;
	pop_decide_next(&d, &v, &one);
	pop_decide_next(&d, &v, &two);
	pop_decide_next(&d, &v, &three);
	assert_int_equal(one.blocks, 2);
	assert_false(one.trial);
	assert_int_equal(two.blocks, 1);
	assert_false(two.trial);
	assert_true(three.trial);
}

static void every_block_is_handed_out_once_whatever_happens(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 300; seed++) {
		struct sim s = sim_new();
		struct pop_rules rules = sim_rules();
		struct pop_decide d;
		uint64_t n = 1 + seed * 37 % 5000;

		s.random = seed;
		s.fail_percent = (unsigned)(seed * 7 % 101);
		s.free_home = seed * 131 % 3000;
		s.untakable_home = s.free_home / (1 + seed % 5);
		s.free_other = seed * 17 % 999;
		s.compactable = seed * 71 % 4000;
		rules.use_other = seed % 2;
		rules.free_known = seed % 7 != 0;
		rules.stalls = seed % 11 != 0;
		rules.deadline_ns = seed % 3 ? 0 : 1 + seed * 10000000;
		sim_run(&s, &d, &rules, n);
		assert_false(s.stopped);
		assert_int_equal(s.huge + s.base, n);
		assert_int_equal(d.trying, 0);
		assert_int_equal(d.sent_home, 0);
		assert_int_equal(d.sent_other, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clean_memory_takes_few_large_chunks),
		cmocka_unit_test(no_chunk_takes_much_longer_than_it_should),
		cmocka_unit_test(tries_follow_the_kernels_deferral),
		cmocka_unit_test(failures_that_cost_nothing_are_followed_by_short_pauses),
		cmocka_unit_test(pinned_node_costs_little_more_than_base_pages),
		cmocka_unit_test(tries_that_take_long_are_few),
		cmocka_unit_test(
			what_failures_cost_stays_within_its_bounds_whatever_is_freed_meanwhile),
		cmocka_unit_test(free_blocks_are_taken_while_deferred),
		cmocka_unit_test(blocks_that_cannot_be_had_are_not_asked_for_again),
		cmocka_unit_test(a_reserve_costs_one_small_step_per_chunk),
		cmocka_unit_test(movable_memory_is_compacted_as_before),
		cmocka_unit_test(rare_failures_do_not_cost_coverage),
		cmocka_unit_test(the_kernels_deferral_that_others_left_is_waited_out),
		cmocka_unit_test(patience_is_not_endless),
		cmocka_unit_test(supply_that_runs_out_is_used_up),
		cmocka_unit_test(huge_pages_come_back_within_64_chunks_after_unpinning),
		cmocka_unit_test(counted_pins_that_go_away_end_the_wait_at_once),
		cmocka_unit_test(pins_that_come_and_go_do_not_end_it),
		cmocka_unit_test(
			the_kernels_deferral_after_successes_is_waited_out_on_a_busy_machine),
		cmocka_unit_test(other_nodes_pages_are_taken_without_compaction),
		cmocka_unit_test(without_the_wish_other_nodes_are_left_alone),
		cmocka_unit_test(without_buddyinfo_it_finds_out_by_trying),
		cmocka_unit_test(where_asking_costs_nothing_everything_is_asked_for),
		cmocka_unit_test(thp_off_means_base_pages_in_large_chunks),
		cmocka_unit_test(near_the_deadline_no_compaction_is_risked),
		cmocka_unit_test(a_contract_out_of_reach_ends_the_work),
		cmocka_unit_test(a_contract_within_reach_is_kept),
		cmocka_unit_test(a_second_worker_does_not_pile_up_behind_a_try),
		cmocka_unit_test(a_kernel_that_never_compacts_is_not_asked_again),
		cmocka_unit_test(before_anything_is_known_one_worker_tries_and_others_wait),
		cmocka_unit_test(two_workers_do_not_take_the_same_free_blocks),
		cmocka_unit_test(every_block_is_handed_out_once_whatever_happens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
