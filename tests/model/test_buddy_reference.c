/* SPDX-License-Identifier: MIT */
/*
 * The free lists against a slow, obvious reference: the same random operations on both, all lists
 * compared in order after each, the model validated after each. A million by default would be too
 * long for every run of the suite: 60000 then, and as many as the argument says otherwise.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "buddy_reference.h"
#include "model/buddy.h"
#include "model/fallback.h"
#include "model/memmap.h"

#define ZONES 2
#define START 512u
#define EDGE  (512u + 5 * 512u) /* odd: no order-9 buddies across it */
#define END   (EDGE + 6 * 512u)
#define HELD  4096

static uint64_t operations = 60000;

struct world {
	struct model *m;
	struct ref_zone ref[ZONES];
	struct rng rng;
	uint32_t nr_held[ZONES];
	struct {
		pfn_t pfn;
		unsigned order;
	} held[ZONES][HELD];
};

static struct world w;

static void compare_list(struct zone *z, const struct ref_zone *ref, unsigned order,
			 enum migratetype type, uint64_t step)
{
	const struct ring *r = buddy_list(z, order, type);
	const struct ref_list *l = &ref->list[order][type];
	uint32_t at = 0;

	for (uint32_t p = r->head; p != r->tail; p = ring_next(r, p)) {
		uint32_t cell = ring_at(r, p);
		pfn_t lo = cell, hi = cell + 1;

		if (cell & RING_RUN) {
			lo = z->run[cell & ~RING_RUN].lo;
			hi = z->run[cell & ~RING_RUN].hi;
		}
		for (pfn_t pfn = lo; pfn < hi; pfn += 1024, at++) {
			if (at >= l->nr || l->pfn[at] != pfn)
				fail_msg("operation %llu: list (%u, %d) entry %u: pfn %u, not %u",
					 (unsigned long long)step, order, type, at, pfn,
					 at < l->nr ? l->pfn[at] : 0);
		}
	}
	if (at != l->nr)
		fail_msg("operation %llu: list (%u, %d) has %u entries, not %u",
			 (unsigned long long)step, order, type, at, l->nr);
}

static void compare(uint64_t step)
{
	char why[256];

	for (int i = 0; i < ZONES; i++) {
		struct zone *z = &w.m->zone[i];

		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
			for (int type = 0; type < NR_MIGRATETYPES; type++)
				compare_list(z, &w.ref[i], order, (enum migratetype)type, step);
		}
		if (count_free(z) != ref_free_pages(&w.ref[i]))
			fail_msg("operation %llu: free pages", (unsigned long long)step);
	}
	if (!validate_lists(w.m, why, sizeof(why)))
		fail_msg("operation %llu: %s", (unsigned long long)step, why);
}

/* ---- operations --------------------------------------------------------------------------- */

static void hold(int i, pfn_t pfn, unsigned order)
{
	assert_true(w.nr_held[i] < HELD);
	w.held[i][w.nr_held[i]].pfn = pfn;
	w.held[i][w.nr_held[i]++].order = order;
}

static unsigned random_order(void)
{
	static const uint8_t orders[16] = {0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

	return orders[rng_below(&w.rng, 16)];
}

static void op_take(int i)
{
	unsigned order = random_order();
	enum migratetype type = (enum migratetype)rng_below(&w.rng, MIGRATE_ISOLATE);
	pfn_t want = ref_take(&w.ref[i], order, type);

	assert_int_equal(buddy_take(w.m, &w.m->zone[i], order, type), want);
	if (want)
		hold(i, want, order);
}

/* A refill: the same pages in the same order as one at a time. */
static void op_take_bulk(int i)
{
	enum migratetype type = (enum migratetype)rng_below(&w.rng, MIGRATE_PCPTYPES);
	uint32_t n = 1 + (uint32_t)rng_below(&w.rng, 100), first = w.nr_held[i], got;
	pfn_t taken[100];

	got = buddy_take_bulk(w.m, &w.m->zone[i], 0, type, n, taken);
	for (uint32_t k = 0; k < got; k++)
		hold(i, taken[k], 0);
	for (uint32_t k = 0; k < n; k++) {
		pfn_t want = ref_take(&w.ref[i], 0, type);

		assert_int_equal(k < got ? w.held[i][first + k].pfn : PFN_NONE, want);
		if (!want)
			break;
	}
}

static void op_take_any(int i)
{
	unsigned order = random_order();
	enum migratetype type = (enum migratetype)rng_below(&w.rng, MIGRATE_PCPTYPES);
	bool nofragment = rng_below(&w.rng, 4) == 0;
	enum rmqueue_mode mode = RMQUEUE_NORMAL;
	int ref_mode = 0;

	for (uint64_t n = 1 + rng_below(&w.rng, 4); n > 0; n--) {
		pfn_t want = ref_take_any(&w.ref[i], order, type, nofragment, &ref_mode);
		pfn_t got = fallback_take(w.m, &w.m->zone[i], order, type,
					  nofragment ? ALLOC_NOFRAGMENT : 0, &mode);

		assert_int_equal(got, want);
		if (!want)
			break;
		hold(i, want, order);
	}
}

static void op_free(int i)
{
	bool to_tail = rng_below(&w.rng, 8) == 0;
	uint32_t at;

	if (w.nr_held[i] == 0)
		return;
	at = (uint32_t)rng_below(&w.rng, w.nr_held[i]);
	ref_free(&w.ref[i], w.held[i][at].pfn, w.held[i][at].order, to_tail);
	buddy_free(w.m, &w.m->zone[i], w.held[i][at].pfn, w.held[i][at].order, to_tail);
	w.held[i][at] = w.held[i][--w.nr_held[i]];
}

static void op_take_chunk(int i)
{
	struct zone *z = &w.m->zone[i];
	pfn_t pfn = z->start_pfn + (pfn_t)rng_below(&w.rng, z->end_pfn - z->start_pfn);

	for (unsigned bit = 0; bit <= MAX_PAGE_ORDER; bit++, pfn &= ~(1u << (bit - 1))) {
		int order = ref_order(&w.ref[i], pfn);

		if (order < 0)
			continue;
		ref_take_chunk(&w.ref[i], pfn, (unsigned)order);
		buddy_take_chunk(w.m, z, pfn);
		hold(i, pfn, (unsigned)order);
		return;
	}
}

static pfn_t random_block(int i)
{
	struct zone *z = &w.m->zone[i];

	return z->start_pfn + 512 * (pfn_t)rng_below(&w.rng, (z->end_pfn - z->start_pfn) / 512);
}

static void op_retype(int i)
{
	pfn_t pfn = random_block(i);
	enum migratetype type = (enum migratetype)rng_below(&w.rng, MIGRATE_ISOLATE);
	uint32_t want = ref_retype(&w.ref[i], pfn, type);

	assert_int_equal(buddy_retype_block(w.m, &w.m->zone[i], block_of(pfn), type), want);
}

/* Held chunks cannot move, so that blocks with one cannot be isolated: free them first. */
static void op_isolate(int i)
{
	pfn_t pfn = random_block(i);

	if (ref_type(&w.ref[i], pfn) == MIGRATE_ISOLATE) {
		ref_unisolate(&w.ref[i], pfn);
		buddy_unisolate_block(w.m, block_of(pfn), MIGRATE_MOVABLE);
		return;
	}
	for (uint32_t at = 0; at < w.nr_held[i];) {
		if (pb_start(w.held[i][at].pfn) > pfn ||
		    w.held[i][at].pfn + (1u << w.held[i][at].order) <= pfn) {
			at++;
			continue;
		}
		ref_free(&w.ref[i], w.held[i][at].pfn, w.held[i][at].order, false);
		buddy_free(w.m, &w.m->zone[i], w.held[i][at].pfn, w.held[i][at].order, false);
		w.held[i][at] = w.held[i][--w.nr_held[i]];
	}
	ref_isolate(&w.ref[i], pfn);
	assert_int_equal(buddy_isolate_block(w.m, block_of(pfn)), 0);
}

static void op_rotate(int i)
{
	unsigned order = (unsigned)rng_below(&w.rng, MAX_PAGE_ORDER);
	struct ring *r = buddy_list(&w.m->zone[i], order, MIGRATE_MOVABLE);
	struct ref_list *l = &w.ref[i].list[order][MIGRATE_MOVABLE];
	uint32_t at, pos;
	static uint32_t copy[REF_MAX_PAGES];

	if (l->nr == 0)
		return;
	at = (uint32_t)rng_below(&w.rng, l->nr);
	pos = w.m->map.word[l->pfn[at]];
	assert_int_equal(ring_at(r, pos), l->pfn[at]);
	buddy_rotate(w.m, &w.m->zone[i], order, MIGRATE_MOVABLE, pos);
	for (uint32_t k = 0; k < l->nr; k++)
		copy[k] = l->pfn[(at + k) % l->nr];
	memcpy(l->pfn, copy, l->nr * sizeof(copy[0]));
}

/* ---- the run ------------------------------------------------------------------------------ */

static struct model *two_zones(enum profile_id profile)
{
	struct model_config c = quiet_config(profile, 512);

	c.nr_zones = ZONES;
	c.zone[0] = (struct zone_config){.node = 0,
					 .class = ZONE_DMA32,
					 .start_pfn = START,
					 .spanned = EDGE - START};
	c.zone[1] = (struct zone_config){.node = 0,
					 .class = ZONE_NORMAL,
					 .start_pfn = EDGE,
					 .spanned = END - EDGE};
	return machine_make(&c);
}

/* Memory fills and empties in turn, so that both long lists and scarcity are met. */
static void run(enum profile_id profile, uint64_t seed, uint64_t steps)
{
	memset(&w, 0, sizeof(w));
	w.m = two_zones(profile);
	rng_seed(&w.rng, seed, RNG_TEST);
	ref_boot(&w.ref[0], START, EDGE);
	ref_boot(&w.ref[1], EDGE, END);
	compare(0);
	for (uint64_t step = 1; step <= steps; step++) {
		int i = (int)rng_below(&w.rng, ZONES);
		bool filling = step / 2000 % 2 == 0;
		uint64_t dice = rng_below(&w.rng, 100);

		if (w.nr_held[i] > HELD - 200 || dice < (filling ? 35 : 60))
			op_free(i);
		else if (dice < 73)
			op_take_any(i);
		else if (dice < 75)
			op_take_bulk(i);
		else if (dice < 85)
			op_take(i);
		else if (dice < 90)
			op_take_chunk(i);
		else if (dice < 94)
			op_rotate(i);
		else if (dice < 98)
			op_retype(i);
		else
			op_isolate(i);
		compare(step);
	}
	model_destroy(w.m); /* the test holds pages that have no owner */
}

static void test_lists_equal_the_reference_after_every_random_operation(void **state)
{
	(void)state;
	run(PROFILE_C, 1, operations / 3);
	run(PROFILE_C, 2, operations / 3);
	run(PROFILE_B, 3, operations / 3);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lists_equal_the_reference_after_every_random_operation),
	};

	if (argc > 1)
		operations = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
