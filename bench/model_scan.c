/* SPDX-License-Identifier: MIT */
/*
 * model_scan.c - what compaction's scanners cost: nanoseconds a page struct counted as scanned, and
 * a block passed.
 *
 *     bench-model-scan [MIB]
 *
 * Each row is a layout of every block of a zone and a caller; hits are the pages isolated for each
 * thousand scanned. Isolating pages and putting them back is not scanning, but cannot be left out
 * of a scan. So the same pages are then isolated and put back in the same batches without a scan;
 * "scan" is the difference, "with moves" all of it, both for a page scanned, "moves" what an
 * isolated page costs. A scan that gives a block up at its first page has the whole visit in the
 * figure for that page. The best of five runs counts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "model/compact.h"
#include "model/layout.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/model.h"

#define RUNS        5
#define LEAST_PAGES 100000u /* scanned in a run */

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
	c.pcp = false; /* what is put back stands where it was */
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

/* What a scan isolated, in order, batch by batch: an order and a chunk, or a page of order 0. */
struct moves {
	uint64_t nr, nr_batches;
	struct move {
		pfn_t pfn;
		uint32_t order;
	} * move;
	uint64_t *batch_end;
};

static void moves_add(struct moves *v, pfn_t pfn, unsigned order)
{
	v->move[v->nr++] = (struct move){pfn, order};
}

/*
 * The folios that a scan of sources took, also those that it gave back when a later page of their
 * group failed: these stand in the list still.
 */
static uint64_t taken(const struct compact_control *cc, struct moves *v)
{
	uint64_t n = 0;

	for (; n < MIGRATE_LIST_MAX && cc->migrate[n]; n++)
		moves_add(v, cc->migrate[n], 0);
	if (n)
		v->batch_end[v->nr_batches++] = v->nr;
	return n;
}

static struct figures scan_sources(struct model *m, enum migrate_mode mode, struct moves *v)
{
	struct compact_control *cc = control(m, mode);
	struct figures f = {0};

	for (pfn_t pfn = m->zone[0].start_pfn; pfn < m->zone[0].end_pfn; pfn += PAGEBLOCK_PAGES) {
		cc->migrate_pfn = pfn;
		while (cc->migrate_pfn < pfn + PAGEBLOCK_PAGES) {
			if (v)
				memset(cc->migrate, 0, sizeof(cc->migrate));
			if (scan_migrate_block(m, cc, cc->migrate_pfn, pfn + PAGEBLOCK_PAGES))
				exit(1);
			if (v)
				f.isolated += taken(cc, v);
			scan_migrate_putback(m, cc);
		}
	}
	f.scanned = cc->total_migrate_scanned;
	return f;
}

static void move_sources(struct model *m, enum migrate_mode mode, const struct moves *v)
{
	struct compact_control *cc = control(m, mode);
	uint64_t i = 0;

	for (uint64_t batch = 0; batch < v->nr_batches; batch++) {
		for (; i < v->batch_end[batch]; i++) {
			if (!lru_isolate(m, v->move[i].pfn))
				exit(1);
			cc->migrate[cc->nr_migrate++] = v->move[i].pfn;
		}
		scan_migrate_putback(m, cc);
	}
}

static struct figures scan_targets(struct model *m, enum migrate_mode mode, struct moves *v)
{
	struct compact_control *cc = control(m, mode);
	struct figures f = {0};

	cc->order = -1; /* the linear scan alone */
	cc->migrate_pfn = m->zone[0].start_pfn;
	cc->free_pfn = m->zone[0].end_pfn - PAGEBLOCK_PAGES;
	while (block_of(cc->free_pfn).v > block_of(cc->migrate_pfn).v) {
		cc->nr_migratepages = COMPACT_CLUSTER_MAX;
		scan_free_isolate(m, cc);
		f.isolated += cc->nr_freepages;
		for (unsigned order = 0; v && order < NR_PAGE_ORDERS; order++) {
			pfn_t pfn = cc->freepages[order].head;

			for (uint32_t n = cc->freepages[order].nr; n; n--, pfn = m->map.word[pfn])
				moves_add(v, pfn, order);
		}
		if (v && cc->nr_freepages)
			v->batch_end[v->nr_batches++] = v->nr;
		(void)scan_free_release(m, cc);
	}
	f.scanned = cc->total_free_scanned;
	return f;
}

static void move_targets(struct model *m, enum migrate_mode mode, const struct moves *v)
{
	struct compact_control *cc = control(m, mode);
	uint64_t i = 0;

	cc->order = -1;
	for (uint64_t batch = 0; batch < v->nr_batches; batch++) {
		for (; i < v->batch_end[batch]; i++) {
			if (!scan_free_take(m, cc, v->move[i].pfn, v->move[i].order))
				exit(1);
		}
		(void)scan_free_release(m, cc);
	}
}

struct caller {
	const char *name;
	struct figures (*scan)(struct model *m, enum migrate_mode mode, struct moves *v);
	void (*move)(struct model *m, enum migrate_mode mode, const struct moves *v);
	enum migrate_mode mode;
};

static const struct caller callers[] = {
	{"source, sync", scan_sources, move_sources, MIGRATE_SYNC_LIGHT},
	{"source, async", scan_sources, move_sources, MIGRATE_ASYNC},
	{"target, sync", scan_targets, move_targets, MIGRATE_SYNC_LIGHT},
	{"target, async", scan_targets, move_targets, MIGRATE_ASYNC},
};

static void row(struct model *m, const char *name, const struct caller *c, struct moves *v)
{
	struct figures f;
	double best = 1e18, best_moves = 1e18, scanned;
	unsigned turns;

	v->nr = v->nr_batches = 0;
	f = c->scan(m, c->mode, v);
	turns = (unsigned)(1 + LEAST_PAGES / f.scanned); /* long enough for the clock */
	scanned = (double)f.scanned * turns;
	for (int i = 0; i < RUNS; i++) {
		double start = now_ns(), ns;

		for (unsigned t = 0; t < turns; t++)
			(void)c->scan(m, c->mode, NULL);
		ns = now_ns() - start;
		best = ns < best ? ns : best;
		start = now_ns();
		for (unsigned t = 0; t < turns; t++)
			c->move(m, c->mode, v);
		ns = now_ns() - start;
		best_moves = ns < best_moves ? ns : best_moves;
	}
	if (v->nr == 0)
		best_moves = 0;
	if (best_moves > best) /* all of it, but for noise */
		best_moves = best;
	printf("%-34s %-14s %11llu %8.1f %8.2f", name, c->name, (unsigned long long)f.scanned,
	       1000.0 * (double)f.isolated / (double)f.scanned, (best - best_moves) / scanned);
	if (f.isolated)
		printf(" %11.2f %8.1f", best / scanned, best_moves / ((double)f.isolated * turns));
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
	printf("%-34s %-14s %8u blocks %18.3f ns a block\n", "all blocks marked", "source", blocks,
	       best / blocks);
}

int main(int argc, char **argv)
{
	uint64_t mib = argc > 1 ? strtoull(argv[1], NULL, 10) : 1024;
	struct moves v = {0};

	v.move = malloc((mib << 8) * sizeof(*v.move));
	v.batch_end = malloc((mib << 8) * sizeof(*v.batch_end));
	if (!v.move || !v.batch_end)
		return 1;
	printf("scanners over %llu MiB: ns a page scanned, without moves and with them; ns a page "
	       "moved\n",
	       (unsigned long long)mib);
	printf("%-34s %-14s %11s %8s %8s %11s %8s\n", "layout of each block", "scanner", "scanned",
	       "hits/1000", "scan", "with moves", "moves");
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		struct model *m = make(mib, &layouts[i]);

		for (size_t c = 0; c < sizeof(callers) / sizeof(callers[0]); c++)
			row(m, layouts[i].name, &callers[c], &v);
		if (i == 0)
			row_marked(m);
		model_destroy(m);
	}
	free(v.move);
	free(v.batch_end);
	return 0;
}
