/* SPDX-License-Identifier: MIT */
/*
 * Random layouts: the scanners against slow and obvious ones, page by page; then random sequences
 * of runs, allocations and frees, validated after each. MODEL_RANDOM_SEEDS=N makes it longer.
 */
#include "harness.h"

#include <stdlib.h>
#include <string.h>

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/compact.h"
#include "model/memmap.h"
#include "model/pcp.h"

#define BLOCKS   48u
#define HELD_MAX 64u

static struct rng rng;

static uint64_t draw(uint64_t bound)
{
	return rng_below(&rng, bound);
}

static uint64_t seeds(uint64_t normal)
{
	const char *text = getenv("MODEL_RANDOM_SEEDS");

	return text ? strtoull(text, NULL, 10) : normal;
}

/* ---- layouts ------------------------------------------------------------------------------ */

/* A block of random pieces, or one of the patterns that short cuts are made for. */
static void lay_random_block(struct model *m, pfn_t start)
{
	static const char *const whole[] = {
		"512f", "512A", "256(fA)", "256(fP)",   "256(Pf)",
		"512K", "T",    "H",       "64(4Af3A)", "512P",
	};
	static const char letters[] = "ffffAAAAPCDSRLKGBMpQkW";
	pfn_t pfn = start;

	if (draw(3) == 0) {
		lay(m, start, whole[draw(sizeof(whole) / sizeof(whole[0]))]);
		return;
	}
	while (pfn < start + PAGEBLOCK_PAGES) {
		char letter = letters[draw(sizeof(letters) - 1)];
		unsigned run = 1 + (unsigned)draw(20);
		char text[2] = {letter, '\0'};

		if (!m->config.pcp && letter == 'p')
			letter = text[0] = 'K';
		for (; run && pfn < start + PAGEBLOCK_PAGES; run--) {
			uint32_t size = letter == 'Q' || letter == 'k' ? 4 : 1;

			if (pfn % size || pfn + size > start + PAGEBLOCK_PAGES) {
				pfn++;
				continue;
			}
			lay(m, pfn, text);
			pfn += size;
		}
	}
}

static struct model *random_machine(bool pcp)
{
	struct model_config c =
		quiet_config((enum profile_id)draw(NR_PROFILES), BLOCKS * PAGEBLOCK_PAGES);
	struct model *m;

	c.pcp = pcp;
	c.lru_batches = draw(2);
	if (draw(4) == 0)
		c.zone[0].spanned -= 200; /* a last block that is not whole */
	m = machine_make(&c);
	lay_begin(m);
	for (uint32_t b = 1; b < BLOCKS; b++) {
		if (draw(8))
			lay_random_block(m, b * PAGEBLOCK_PAGES);
	}
	lay_end(m);
	return m;
}

/* ---- the target scanner, slowly ------------------------------------------------------------ */

struct outcome {
	uint64_t scanned, taken;
	pfn_t reached;
};

static struct outcome slow_free_scan(const struct model *m, pfn_t pfn, pfn_t end, uint32_t stride,
				     uint64_t wanted)
{
	struct outcome o = {0};

	for (; pfn < end; pfn += stride) {
		uint8_t s = memmap_state(m, pfn);
		uint32_t pages = 1u << PG_ORDER(s);

		o.scanned++;
		if (PG_KIND(s) == PG_FREE) {
			o.scanned += pages - 1;
			o.taken += pages;
			if (o.taken >= wanted) {
				pfn += pages;
				break;
			}
			pfn += pages - 1;
		} else if ((KINDS_OWNED >> PG_KIND(s) & 1) && pfn + pages <= end) {
			o.scanned += pages - 1;
			pfn += pages - 1;
		}
	}
	o.reached = pfn > end ? end : pfn;
	return o;
}

static void test_the_target_scanner_agrees_with_a_slow_one(void **state)
{
	static const uint32_t strides[] = {1, 2, 4, 8, 16, 32};

	(void)state;
	for (uint64_t seed = 1; seed <= seeds(40); seed++) {
		struct compact_control *cc;
		struct model *m;
		struct zone *z;

		rng_seed(&rng, seed, RNG_TEST);
		m = random_machine(draw(2));
		z = &m->zone[0];
		z->wmark[WMARK_MIN] = 0;
		cc = direct_cc(m, z, 9, MIGRATE_SYNC_LIGHT);
		for (uint32_t b = BLOCKS - 1; b > 0; b--) {
			pfn_t start =
				b * PAGEBLOCK_PAGES + (draw(2) ? 0 : (pfn_t)draw(PAGEBLOCK_PAGES));
			pfn_t end = (b + 1) * PAGEBLOCK_PAGES;
			uint32_t stride = strides[draw(6)];
			uint64_t wanted = draw(2) ? 1 + draw(100) : PAGEBLOCK_PAGES * 4;
			struct outcome want = slow_free_scan(m, start, end, stride, wanted);
			uint64_t before = cc->total_free_scanned;
			uint32_t taken;

			if (zone_free_pages(z) < 2 * PAGEBLOCK_PAGES * 2)
				break; /* the mark would refuse the last pages */
			cc->nr_migratepages = cc->nr_freepages + wanted;
			taken = scan_free_block(m, cc, &start, end, stride, false);
			assert_int_equal(taken, want.taken);
			assert_int_equal(start, want.reached);
			assert_int_equal(cc->total_free_scanned - before, want.scanned);
		}
		(void)scan_free_release(m, cc);
		machine_end(m);
	}
}

/* ---- the source scanner, slowly ------------------------------------------------------------ */

static bool slow_takes(const struct model *m, pfn_t pfn, int order)
{
	uint8_t s = memmap_state(m, pfn), f = m->map.flag[pfn];

	if (PG_KIND(s) == PG_MOVABLE_OPS)
		return true;
	if (!(KINDS_LRU >> PG_KIND(s) & 1) || !(f & PGF_LRU) || f & PGF_WRITEBACK)
		return false;
	return !(PG_KIND(s) == PG_ANON && f & PGF_PINNED) && (int)PG_ORDER(s) < order &&
	       PG_ORDER(s) < PAGEBLOCK_ORDER;
}

static struct outcome slow_source_scan(const struct model *m, pfn_t pfn, int order, bool async,
				       bool all)
{
	pfn_t end = pb_end(pfn), group_end = (pfn | ((1u << order) - 1)) + 1;
	struct outcome o = {0};

	while (pfn < end) {
		uint8_t s;
		uint32_t pages;

		if (async && pfn >= group_end) {
			if (o.taken)
				break;
			group_end = (pfn | ((1u << order) - 1)) + 1;
		}
		s = memmap_state(m, pfn);
		pages = 1u << PG_ORDER(s);
		o.scanned++;
		if (PG_KIND(s) == PG_FREE) {
			o.scanned += pages - 1;
			pfn += pages;
		} else if (slow_takes(m, pfn, order)) {
			o.scanned += pages - 1;
			o.taken += pages;
			pfn += pages;
			if (o.taken >= COMPACT_CLUSTER_MAX && !all)
				break;
		} else {
			if ((KINDS_OWNED >> PG_KIND(s) & 1) &&
			    (PG_KIND(s) == PG_HUGETLB || (int)PG_ORDER(s) >= order ||
			     PG_ORDER(s) >= PAGEBLOCK_ORDER)) {
				o.scanned += pages - 1;
				pfn += pages;
			} else {
				pfn++;
			}
			if (async) {
				o.taken = 0;
				/* The page after the failure may already be beyond the group. */
				if (pfn <= group_end)
					pfn = group_end;
				group_end = (pfn | ((1u << order) - 1)) + 1;
			}
		}
	}
	o.reached = pfn > end ? end : pfn;
	return o;
}

static void test_the_source_scanner_agrees_with_a_slow_one(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds(40); seed++) {
		struct model *m;
		struct zone *z;

		rng_seed(&rng, seed, RNG_TEST);
		m = random_machine(draw(2));
		z = &m->zone[0];
		for (uint32_t b = 1; b < BLOCKS - 1; b++) {
			bool async = draw(2), all = draw(3) == 0;
			int order = 1 + (int)draw(10);
			struct compact_control *cc =
				direct_cc(m, z, order, async ? MIGRATE_ASYNC : MIGRATE_SYNC_LIGHT);
			pfn_t low =
				b * PAGEBLOCK_PAGES + (draw(2) ? 0 : (pfn_t)draw(PAGEBLOCK_PAGES));
			struct outcome want;

			cc->finish_block = all;
			memmap_skip_clear(m, low);
			want = slow_source_scan(m, low, order, async, all);
			if (scan_migrate_block(m, cc, low, pb_end(low))) {
				assert_int_equal(cc->total_migrate_scanned,
						 0); /* too many isolated */
				continue;
			}
			assert_int_equal(cc->total_migrate_scanned, want.scanned);
			assert_int_equal(cc->nr_migratepages, want.taken);
			assert_int_equal(cc->migrate_pfn, want.reached);
			scan_migrate_putback(m, cc);
		}
		machine_end(m);
	}
}

/* ---- sequences ----------------------------------------------------------------------------- */

struct held {
	uint32_t nr;
	pfn_t pfn[HELD_MAX];
	uint8_t order[HELD_MAX];
};

static void keep(struct held *h, struct model *m, pfn_t pfn, unsigned order)
{
	if (pfn == PFN_NONE)
		return;
	if (h->nr == HELD_MAX) {
		free_pages(m, pfn, order);
		return;
	}
	h->pfn[h->nr] = pfn;
	h->order[h->nr++] = (uint8_t)order;
}

static void random_run(struct model *m, struct held *h)
{
	static const gfp_t gfps[] = {GFP_TRANSHUGE, GFP_KERNEL, GFP_NOFS, GFP_HIGHUSER_MOVABLE,
				     GFP_KERNEL | __GFP_RECLAIMABLE};
	gfp_t gfp = gfps[draw(5)];
	unsigned order = 1 + (unsigned)draw(10);
	struct alloc_context ac = {
		.gfp = gfp,
		.order = (uint8_t)order,
		.type = gfp_migratetype(gfp),
		.class = gfp_zone(gfp),
		.zonelist = &m->node[0].zonelist[ZONELIST_FALLBACK],
	};
	enum compact_result result;
	pfn_t page;

	result = compact_try_pages(m, order, ALLOC_WMARK_MIN | ALLOC_CPUSET, &ac,
				   (enum compact_priority)draw(3), &page);
	assert_true(result <= COMPACT_SUCCESS);
	keep(h, m, page, order);
}

static void random_step(struct model *m, struct held *h)
{
	struct zone *z = &m->zone[0];
	unsigned order;

	switch (draw(8)) {
	case 0:
		order = (unsigned)draw(11);
		/* Without reclaim: only the lists, and steals from other types. */
		keep(h, m,
		     alloc_pages(m, draw(2) ? __GFP_MOVABLE | __GFP_HIGHMEM : 0, order, NODE_NONE,
				 NODEMASK_NONE),
		     order);
		break;
	case 1:
		if (h->nr) {
			uint32_t i = (uint32_t)draw(h->nr);

			free_pages(m, h->pfn[i], h->order[i]);
			h->pfn[i] = h->pfn[--h->nr];
			h->order[i] = h->order[h->nr];
		}
		break;
	case 2:
		compact_node_begin(m, &m->node[0]);
		while (compact_node_step(m, &m->node[0]))
			;
		break;
	case 3:
		compact_reset_zone(m, z);
		pcp_drain_local(m, z);
		break;
	default:
		random_run(m, h);
	}
}

static void test_random_runs_keep_every_invariant(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= seeds(25); seed++) {
		struct held h = {0};
		struct model *m;
		int64_t lru;
		char why[256];

		rng_seed(&rng, seed, RNG_TEST);
		m = random_machine(draw(2));
		lru = counter(m, VM_NR_ANON_PAGES) + counter(m, VM_NR_FILE_PAGES);
		for (int i = 0; i < 40; i++) {
			random_step(m, &h);
			if (!validate(m, why, sizeof(why)))
				fail_msg("seed %u step %d: %s", (unsigned)seed, i, why);
			assert_int_equal(counter(m, VM_NR_ISOLATED_ANON), 0);
			assert_int_equal(counter(m, VM_NR_ISOLATED_FILE), 0);
			/* Compaction moves pages, it neither makes nor loses any. */
			assert_int_equal(counter(m, VM_NR_ANON_PAGES) +
						 counter(m, VM_NR_FILE_PAGES),
					 lru);
		}
		while (h.nr) {
			h.nr--;
			free_pages(m, h.pfn[h.nr], h.order[h.nr]);
		}
		machine_end(m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_target_scanner_agrees_with_a_slow_one),
		cmocka_unit_test(test_the_source_scanner_agrees_with_a_slow_one),
		cmocka_unit_test(test_random_runs_keep_every_invariant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
