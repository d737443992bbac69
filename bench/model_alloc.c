/* SPDX-License-Identifier: MIT */
/*
 * model_alloc.c - how fast the model allocates and frees: events (one allocation or one free) a
 * second.
 *
 *     bench-model-alloc [MIB]
 *
 * pairs    one page taken and freed at once: the per-CPU list alone
 * fill     all memory taken page by page, then freed in the same order: refills, flushes, merging
 * shuffle  half of the memory taken, then freed in random order and taken again: long free lists
 * random   all memory taken, then freed in random order, of which the frees alone are timed: each
 *          waits for memory that no cache holds
 *
 * Each for order 0 and order 9. One zone, one CPU, no daemons; counting is always on. The best of
 * three runs is printed, because other work on the machine only ever adds.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "model/alloc.h"
#include "model/model.h"

struct bench {
	struct model *m;
	pfn_t *page;
	uint64_t pages; /* of the machine */
	double start;   /* of what is timed */
};

/* CPU time: what else runs on the machine is not the model's. */
static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static pfn_t take(struct bench *b, unsigned order)
{
	gfp_t gfp = order ? GFP_TRANSHUGE_LIGHT : GFP_HIGHUSER_MOVABLE & ~__GFP_DIRECT_RECLAIM;

	return alloc_pages(b->m, gfp & ~__GFP_KSWAPD_RECLAIM, order, NODE_NONE, NODEMASK_NONE);
}

static uint64_t pairs(struct bench *b, unsigned order)
{
	const uint64_t n = 5000000;

	for (uint64_t i = 0; i < n; i++)
		free_pages(b->m, take(b, order), order);
	return 2 * n;
}

static uint64_t fill(struct bench *b, unsigned order)
{
	uint64_t n = 0;

	while ((b->page[n] = take(b, order)) != PFN_NONE)
		n++;
	for (uint64_t i = 0; i < n; i++)
		free_pages(b->m, b->page[i], order);
	return 2 * n;
}

static uint64_t shuffle(struct bench *b, unsigned order)
{
	uint64_t n = (b->pages >> order) / 2, events = 0;
	struct rng rng;

	rng_seed(&rng, 1, RNG_TEST);
	for (uint64_t i = 0; i < n; i++)
		b->page[i] = take(b, order);
	events += n;
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = rng_below(&rng, n);

		free_pages(b->m, b->page[at], order);
		b->page[at] = take(b, order);
		if (i % 4 == 0) {
			/* Holes of all sizes: one more page goes each time than comes. */
			at = rng_below(&rng, n);
			free_pages(b->m, b->page[at], order);
			b->page[at] = b->page[--n];
			events++;
		}
		events += 2;
	}
	for (uint64_t i = 0; i < n; i++)
		free_pages(b->m, b->page[i], order);
	return events + n;
}

static uint64_t frees(struct bench *b, unsigned order)
{
	uint64_t n = 0;
	struct rng rng;

	while ((b->page[n] = take(b, order)) != PFN_NONE)
		n++;
	rng_seed(&rng, 1, RNG_TEST);
	for (uint64_t i = n; i > 1; i--) {
		uint64_t at = rng_below(&rng, i);
		pfn_t page = b->page[at];

		b->page[at] = b->page[i - 1];
		b->page[i - 1] = page;
	}
	b->start = now_s();
	for (uint64_t i = 0; i < n; i++)
		free_pages(b->m, b->page[i], order);
	return n;
}

static struct model *machine(uint64_t mib)
{
	struct model_config c;
	struct model *m;
	const char *why;

	model_config_defaults(&c);
	c.flat = true;
	c.node[0].mib = mib;
	c.node[0].cpus = 1;
	c.daemons = false;
	c.thp.enabled = THP_ENABLED_NEVER;
	if (model_create(&c, &m, &why) != 0) {
		fprintf(stderr, "bench-model-alloc: %s\n", why);
		exit(1);
	}
	return m;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		uint64_t (*run)(struct bench *b, unsigned order);
	} benches[] = {{"pairs", pairs}, {"fill", fill}, {"shuffle", shuffle}, {"random", frees}};
	static const unsigned orders[] = {0, 9};
	uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 4096;
	struct bench b = {.pages = mib * 256};

	b.page = malloc((b.pages + 1) * sizeof(*b.page));
	if (!b.page || mib < 64)
		return 1;
	printf("one zone of %llu MiB\n%-10s %6s %12s %16s %10s\n", (unsigned long long)mib,
	       "pattern", "order", "events", "events/s", "ns/event");
	for (size_t i = 0; i < sizeof(benches) / sizeof(benches[0]); i++) {
		for (size_t o = 0; o < sizeof(orders) / sizeof(orders[0]); o++) {
			double best = 1e9;
			uint64_t events = 0;

			for (int run = 0; run < 3; run++) {
				double took;

				b.m = machine(mib);
				b.start = now_s();
				events = benches[i].run(&b, orders[o]);
				took = now_s() - b.start;
				best = took < best ? took : best;
				model_destroy(b.m);
			}
			printf("%-10s %6u %12llu %16.0f %10.1f\n", benches[i].name, orders[o],
			       (unsigned long long)events, (double)events / best,
			       best * 1e9 / (double)events);
		}
	}
	free(b.page);
	return 0;
}
