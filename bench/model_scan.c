/* SPDX-License-Identifier: MIT */
/*
 * model_scan.c - what compaction's scanners cost: nanoseconds a page struct counted as scanned, and
 * a block passed.
 *
 *     bench-model-scan [MIB]
 *
 * Each row is a layout of every block of a zone and a caller; hits are the pages isolated for each
 * thousand scanned. Sources that are isolated are put back, targets are given back; that work is in
 * the figure (it is shown as ns a page isolated where it dominates). The best of five runs counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/compact.h"
#include "model/layout.h"
#include "model/memmap.h"
#include "model/model.h"

#define RUNS 5

/* CPU time: what else runs on the machine is not the model's. */
static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

struct layout {
	const char *name;
	unsigned period;     /* pages; page 0 of each period is the odd one out */
	enum page_kind kind; /* of the odd ones */
	uint8_t flags;
	enum page_kind other; /* of the others; PG_FREE = left free */
	uint8_t other_flags;
	bool from_4; /* the odd one out is page 4, off the sampling grid */
};

#define LRU PGF_LRU
#define PIN (PGF_LRU | PGF_PINNED)

static const struct layout layouts[] = {
	{"pinned, every 2nd page free", 2, PG_ANON, PIN, PG_FREE, 0, false},
	{"pinned, every 8th page free", 8, PG_FREE, 0, PG_ANON, PIN, false},
	{"pinned, 1 of 512 movable", 512, PG_ANON, LRU, PG_ANON, PIN, false},
	{"pinned, 1 of 32 movable", 32, PG_ANON, LRU, PG_ANON, PIN, false},
	{"pinned, 1 of 8 movable", 8, PG_ANON, LRU, PG_ANON, PIN, false},
	{"kernel, no free page", 512, PG_KERNEL, 0, PG_KERNEL, 0, false},
	{"movable, 1 of 512 free", 512, PG_FREE, 0, PG_ANON, LRU, false},
	{"movable, 1 of 32 free", 32, PG_FREE, 0, PG_ANON, LRU, false},
	{"movable, 1 of 8 free", 8, PG_FREE, 0, PG_ANON, LRU, false},
	{"movable, 1 of 8 free off the grid", 8, PG_FREE, 0, PG_ANON, LRU, true},
	{"movable, every 2nd page free", 2, PG_FREE, 0, PG_ANON, LRU, false},
};

static struct model *make(uint64_t mib, const struct layout *l)
{
	struct model_config c;
	struct model *m;
	const char *why;

	model_config_defaults(&c);
	c.node[0].mib = mib;
	c.node[0].cpus = 1;
	c.flat = true;
	c.daemons = false;
	c.lru_batches = false;
	if (model_create(&c, &m, &why)) {
		fprintf(stderr, "bench-model-scan: %s\n", why);
		exit(1);
	}
	layout_begin(m);
	for (pfn_t pfn = m->zone[0].start_pfn; pfn < m->zone[0].end_pfn; pfn++) {
		bool odd = pfn % l->period == (l->from_4 ? 4u : 0u);
		enum page_kind kind = odd ? l->kind : l->other;

		if (kind != PG_FREE &&
		    layout_put(m, pfn, 0, kind, odd ? l->flags : l->other_flags, (region_id){0}))
			exit(1);
	}
	layout_end(m);
	/* No mark in the way, and no chunk that would end a run. */
	for (int w = 0; w < NR_WMARK; w++)
		m->zone[0].wmark[w] = 0;
	return m;
}

static struct compact_control *control(struct model *m, enum migrate_mode mode)
{
	struct compact_control *cc = &m->direct_cc;

	*cc = (struct compact_control){
		.zone = &m->zone[0],
		.gfp = GFP_TRANSHUGE,
		.order = 9,
		.class = ZONE_MOVABLE,
		.type = MIGRATE_MOVABLE,
		.mode = mode,
		.direct = true,
		.ignore_skip_hint = true,
	};
	return cc;
}

struct figures {
	uint64_t scanned, isolated;
	double ns;
};

static struct figures scan_sources(struct model *m, enum migrate_mode mode)
{
	struct compact_control *cc = control(m, mode);
	struct figures f = {0};
	double start = now_ns();

	for (pfn_t pfn = m->zone[0].start_pfn; pfn < m->zone[0].end_pfn; pfn += PAGEBLOCK_PAGES) {
		cc->migrate_pfn = pfn;
		while (cc->migrate_pfn < pfn + PAGEBLOCK_PAGES) {
			if (scan_migrate_block(m, cc, cc->migrate_pfn, pfn + PAGEBLOCK_PAGES))
				exit(1);
			f.isolated += cc->nr_migratepages;
			scan_migrate_putback(m, cc);
		}
	}
	f.ns = now_ns() - start;
	f.scanned = cc->total_migrate_scanned;
	return f;
}

static struct figures scan_targets(struct model *m, enum migrate_mode mode)
{
	struct compact_control *cc = control(m, mode);
	struct figures f = {0};
	double start = now_ns();

	cc->order = -1; /* the linear scan alone */
	cc->migrate_pfn = m->zone[0].start_pfn;
	cc->free_pfn = m->zone[0].end_pfn - PAGEBLOCK_PAGES;
	while (block_of(cc->free_pfn).v > block_of(cc->migrate_pfn).v) {
		cc->nr_migratepages = COMPACT_CLUSTER_MAX;
		scan_free_isolate(m, cc);
		f.isolated += cc->nr_freepages;
		(void)scan_free_release(m, cc);
	}
	f.ns = now_ns() - start;
	f.scanned = cc->total_free_scanned;
	return f;
}

static void row(struct model *m, const char *name, const char *caller,
		struct figures (*scan)(struct model *m, enum migrate_mode mode),
		enum migrate_mode mode)
{
	struct figures best = {.ns = 1e18}, f;

	for (int i = 0; i < RUNS; i++) {
		f = scan(m, mode);
		if (f.ns < best.ns)
			best = f;
	}
	printf("%-34s %-16s %11llu %8.1f %8.2f", name, caller, (unsigned long long)best.scanned,
	       1000.0 * (double)best.isolated / (double)best.scanned,
	       best.ns / (double)best.scanned);
	if (best.isolated)
		printf(" %10.1f", best.ns / (double)best.isolated);
	printf("\n");
}

/* The marks of a whole zone passed by both scanners, as a failing direct run does. */
static void row_marked(struct model *m)
{
	struct zone *z = &m->zone[0];
	struct compact_control *cc = control(m, MIGRATE_ASYNC);
	uint32_t blocks = block_of(z->end_pfn).v - block_of(z->start_pfn).v;
	double best = 1e18;

	for (uint32_t b = block_of(z->start_pfn).v; b < block_of(z->end_pfn).v; b++)
		memmap_skip_set(m, block_start((block_t){b}));
	cc->ignore_skip_hint = false;
	for (int i = 0; i < RUNS * 100; i++) {
		double start = now_ns(), ns;

		cc->migrate_pfn = z->start_pfn;
		cc->free_pfn = z->end_pfn - PAGEBLOCK_PAGES;
		(void)scan_migrate_isolate(m, cc);
		ns = now_ns() - start;
		best = ns < best ? ns : best;
	}
	printf("%-34s %-16s %8u blocks %17.3f ns a block\n", "all blocks marked", "source", blocks,
	       best / blocks);
}

int main(int argc, char **argv)
{
	uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 1024;

	printf("scanners over %llu MiB: ns a page scanned (and a page isolated)\n",
	       (unsigned long long)mib);
	printf("%-34s %-16s %11s %8s %8s %10s\n", "layout of each block", "scanner", "scanned",
	       "hits/1000", "ns/page", "ns/isolated");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct model *m = make(mib, &layouts[i]);

		row(m, layouts[i].name, "source, sync", scan_sources, MIGRATE_SYNC_LIGHT);
		row(m, layouts[i].name, "source, async", scan_sources, MIGRATE_ASYNC);
		row(m, layouts[i].name, "target, sync", scan_targets, MIGRATE_SYNC_LIGHT);
		row(m, layouts[i].name, "target, async", scan_targets, MIGRATE_ASYNC);
		if (i == 0)
			row_marked(m);
		model_destroy(m);
	}
	return 0;
}
