/* SPDX-License-Identifier: MIT */
/* The ordered list against a plain array: same operations, same order, positions reported truly. */
#include "harness.h"

#include <string.h>

#include "model/ring.h"
#include "model/rng.h"

#define MAX_VALUES 2000u

static uint32_t cells[8192];
static uint32_t pos_of[MAX_VALUES + 1];
static uint32_t ref[MAX_VALUES];
static uint32_t nr;

static void moved(void *ctx, uint32_t value, uint32_t pos)
{
	(void)ctx;
	pos_of[value] = pos;
}

static void assert_same(const struct ring *r)
{
	uint32_t i = 0;

	assert_true(ring_is_valid(r));
	assert_int_equal(r->live, nr);
	for (uint32_t p = r->head; p != r->tail; p = ring_next(r, p), i++) {
		assert_int_equal(ring_at(r, p), ref[i]);
		assert_int_equal(pos_of[ref[i]], p);
	}
	assert_int_equal(i, nr);
}

static void test_random_operations_agree_with_an_array(void **state)
{
	struct ring r;
	struct rng rng;
	uint32_t next = 1;

	(void)state;
	rng_seed(&rng, 7, RNG_TEST);
	memset(cells, 0, sizeof(cells));
	ring_init(&r, cells, 4096);
	nr = 0;
	for (int i = 0; i < 60000; i++) {
		uint32_t what = (uint32_t)rng_below(&rng, 10);
		uint32_t at = nr ? (uint32_t)rng_below(&rng, nr) : 0;

		/* Phases of growth and of shrinking, so that both doubling and squeezing happen. */
		bool growing = (i / 5000) % 2 == 0;

		if (what == 0 && nr) {
			uint32_t tmp[MAX_VALUES];

			ring_rotate_to(&r, pos_of[ref[at]], moved, NULL);
			memcpy(tmp, ref, sizeof(tmp));
			for (uint32_t k = 0; k < nr; k++)
				ref[k] = tmp[(k + at) % nr];
		} else if ((what < 7) == growing && next <= MAX_VALUES && nr < MAX_VALUES) {
			uint32_t v = next++;

			if (what % 2) {
				pos_of[v] = ring_push_head(&r, v, moved, NULL);
				memmove(ref + 1, ref, nr * sizeof(ref[0]));
				ref[0] = v;
			} else {
				pos_of[v] = ring_push_tail(&r, v, moved, NULL);
				ref[nr] = v;
			}
			nr++;
		} else if (nr) {
			uint32_t v = ref[at];

			ring_remove(&r, pos_of[v]);
			memmove(ref + at, ref + at + 1, (nr - at - 1) * sizeof(ref[0]));
			nr--;
			/* Put it back at an end at once half of the time: a queue that turns over. */
			if (what % 2) {
				pos_of[v] = ring_push_tail(&r, v, moved, NULL);
				ref[nr++] = v;
			}
		}
		if (i % 97 == 0)
			assert_same(&r);
	}
	assert_same(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_operations_agree_with_an_array),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
