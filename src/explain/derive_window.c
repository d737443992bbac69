/* SPDX-License-Identifier: MIT */
#include "explain/derive.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

struct reader {
	struct facts *f;
	const struct window *w;
	int file, line;
};

/* The change of a counter, or its value since boot. */
static bool change(const struct reader *r, const char *name, double *value)
{
	const struct window *w = r->w;
	const struct vmstat_delta *d = w->changes ? &w->changes->changes.delta : &w->delta;
	uint64_t v;

	if (w->changes) {
		for (unsigned i = 0; i < d->count; i++) {
			if (!strcmp(d->entry[i].name, name)) {
				*value = (double)d->entry[i].delta;
				return true;
			}
		}
		return false;
	}
	if (!counters_get(&w->after->counters, name, &v))
		return false;
	*value = w->has_delta ? (double)vmstat_delta_of(d, name) : (double)v;
	return true;
}

static int line_of(const struct reader *r, const char *name)
{
	if (r->w->changes)
		return r->line;
	for (unsigned i = 0; i < r->w->after->counters.count; i++)
		if (!strcmp(r->w->after->counters.entry[i].name, name))
			return r->w->after->counters.entry[i].line + r->w->after->line;
	return r->line;
}

static bool put(struct reader *r, enum fact_id id, const char *name, double scale)
{
	double v;

	if (!change(r, name, &v))
		return false;
	fact_number(r->f, id, v * scale, r->file, line_of(r, name));
	return true;
}

/* Sum of the counters whose name is `name` or begins with it and '_'. */
static bool put_family(struct reader *r, enum fact_id id, const char *name, double scale)
{
	static const char *const zones[] = {"_dma",  "_dma32",   "_normal",
					    "_high", "_movable", "_device"};
	double v, sum = 0;
	bool any = put(r, id, name, scale);
	char full[80];

	if (any)
		return true;
	for (size_t i = 0; i < sizeof(zones) / sizeof(zones[0]); i++) {
		snprintf(full, sizeof(full), "%s%s", name, zones[i]);
		if (change(r, full, &v)) {
			sum += v;
			any = true;
		}
	}
	if (any)
		fact_number(r->f, id, sum * scale, r->file, r->line);
	return any;
}

static void ratio(struct facts *f, enum fact_id id, enum fact_id of, double against, double least)
{
	if (fact_known(f, of) && against > 0 && against >= least)
		fact_number(f, id, fact_value(f, of, 0) / against, f->fact[of].file,
			    f->fact[of].line);
}

static void compaction_facts(struct reader *r)
{
	struct facts *f = r->f;
	double stalls, ok, fail, moved, all;

	put(r, FACT_STALLS, "compact_stall", 1);
	put(r, FACT_FAILS, "compact_fail", 1);
	put(r, FACT_SUCCESSES, "compact_success", 1);
	put(r, FACT_MIGRATE_SCANNED, "compact_migrate_scanned", 1);
	put(r, FACT_FREE_SCANNED, "compact_free_scanned", 1);
	put(r, FACT_ISOLATED, "compact_isolated", 1);
	put(r, FACT_BLOCKS_MOVED, "compact_blocks_moved", 1);
	put(r, FACT_PAGES_MOVED, "compact_pages_moved", 1);
	put(r, FACT_DAEMON_WAKES, "compact_daemon_wake", 1);
	stalls = fact_value(f, FACT_STALLS, 0);
	fail = fact_value(f, FACT_FAILS, 0);
	ok = fact_value(f, FACT_SUCCESSES, 0);
	/* A stall is counted when it begins, so a short window may show more ends. */
	ratio(f, FACT_FAIL_RATIO, FACT_FAILS, stalls > fail + ok ? stalls : fail + ok, 1);
	ratio(f, FACT_SCANNED_PER_ISOLATED, FACT_MIGRATE_SCANNED, fact_value(f, FACT_ISOLATED, 0),
	      1);
	if (fact_known(f, FACT_ISOLATED) && fact_value(f, FACT_ISOLATED, 1) == 0 &&
	    fact_value(f, FACT_MIGRATE_SCANNED, 0) + fact_value(f, FACT_FREE_SCANNED, 0) > 100000)
		fact_number(f, FACT_SCANNED_PER_ISOLATED, INFINITY, r->file,
			    f->fact[FACT_MIGRATE_SCANNED].line);
	ratio(f, FACT_FREE_PER_MIGRATE, FACT_FREE_SCANNED, fact_value(f, FACT_MIGRATE_SCANNED, 0),
	      1);
	moved = fact_value(f, FACT_PAGES_MOVED, 0);
	if (fact_value(f, FACT_BLOCKS_MOVED, 0) > 1000 && fact_known(f, FACT_PAGES_MOVED))
		fact_number(f, FACT_SCANNED_PER_ISOLATED,
			    moved > 0 ? fact_value(f, FACT_BLOCKS_MOVED, 0) * 512 / moved
				      : INFINITY,
			    r->file, f->fact[FACT_BLOCKS_MOVED].line);
	{
		double a = 0, b = 0;
		bool any = change(r, "compact_daemon_migrate_scanned", &a);

		any |= change(r, "compact_daemon_free_scanned", &b);
		if (any)
			fact_number(f, FACT_DAEMON_SCANNED, a + b, r->file,
				    line_of(r, "compact_daemon_migrate_scanned"));
	}
	all = fact_value(f, FACT_MIGRATE_SCANNED, 0) + fact_value(f, FACT_FREE_SCANNED, 0);
	ratio(f, FACT_DAEMON_SHARE, FACT_DAEMON_SCANNED, all, 1);
	if (fact_value(f, FACT_DAEMON_SHARE, 0) > 1)
		fact_number(f, FACT_DAEMON_SHARE, 1, r->file, f->fact[FACT_DAEMON_SCANNED].line);
}

static void reclaim_facts(struct reader *r, double page)
{
	struct facts *f = r->f;

	put_family(r, FACT_SCAN_DIRECT, "pgscan_direct", 1);
	put_family(r, FACT_SCAN_KSWAPD, "pgscan_kswapd", 1);
	put_family(r, FACT_STEAL_DIRECT, "pgsteal_direct", page);
	put(r, FACT_MIGRATE_OK, "pgmigrate_success", 1);
	put(r, FACT_MIGRATE_FAIL, "pgmigrate_fail", 1);
	put(r, FACT_MIGRATE_FAIL, "compact_pagemigrate_failed", 1);
	ratio(f, FACT_MIGRATE_FAIL_RATIO, FACT_MIGRATE_FAIL,
	      fact_value(f, FACT_MIGRATE_OK, 0) + fact_value(f, FACT_MIGRATE_FAIL, 0), 100);
	put(r, FACT_HTLB_FAILS, "htlb_buddy_alloc_fail", 1);
	put(r, FACT_CMA_FAILS, "cma_alloc_fail", 1);
}

static void huge_facts(struct reader *r)
{
	double a = 0, b = 0;
	bool any = change(r, "thp_fault_alloc", &a);

	any |= change(r, "thp_fault_fallback", &b);
	if (!any)
		return;
	fact_number(r->f, FACT_THP_FAULTS, a + b, r->file, line_of(r, "thp_fault_alloc"));
	if (a + b > 0)
		fact_number(r->f, FACT_THP_FALLBACK_RATIO, b / (a + b), r->file,
			    line_of(r, "thp_fault_fallback"));
}

static void numa_facts(struct reader *r)
{
	double hit = 0, foreign;

	if (!change(r, "numa_foreign", &foreign))
		return;
	fact_number(r->f, FACT_NUMA_FOREIGN, foreign, r->file, line_of(r, "numa_foreign"));
	if (change(r, "numa_hit", &hit) && hit + foreign > 0)
		fact_number(r->f, FACT_NUMA_FOREIGN_SHARE, foreign / (hit + foreign), r->file,
			    line_of(r, "numa_foreign"));
}

/* Values, not differences, that vmstat has too. */
static void gauge_facts(struct reader *r, double page)
{
	const struct counters *c = r->w->after ? &r->w->after->counters : NULL;
	uint64_t acquired, released, v;

	if (!c)
		return;
	if (counters_get(c, "nr_foll_pin_acquired", &acquired) &&
	    counters_get(c, "nr_foll_pin_released", &released))
		fact_number(r->f, FACT_PINNED,
			    acquired > released ? (double)(acquired - released) * page : 0, r->file,
			    line_of(r, "nr_foll_pin_acquired"));
	if (counters_get(c, "nr_free_cma", &v))
		fact_number(r->f, FACT_FREE_CMA, (double)v * page, r->file,
			    line_of(r, "nr_free_cma"));
	if (counters_get(c, "nr_free_pages", &v))
		fact_number(r->f, FACT_FREE, (double)v * page, r->file,
			    line_of(r, "nr_free_pages"));
}

static void window_time(struct reader *r)
{
	const struct window *w = r->w;
	double s = 0;

	if (w->changes)
		s = w->changes->changes.seconds;
	else if (w->has_delta && w->before->clock >= 0 && w->after->clock >= 0)
		s = w->after->clock - w->before->clock;
	if (s < 0)
		s += 86400;
	if (s > 0)
		fact_number(r->f, FACT_WINDOW, s * 1e9, r->file, r->line);
}

void derive_window(struct facts *f, const struct window *w, unsigned page_kb)
{
	const struct document *d = w->changes ? w->changes : w->after;
	struct reader r = {f, w, d->file, d->line + 1};
	double page = page_kb * 1024.0;

	if (w->changes || w->has_delta)
		fact_flag(f, FACT_HAS_DELTA, true, r.file, r.line);
	else
		fact_flag(f, FACT_SINCE_BOOT, true, r.file, r.line);
	window_time(&r);
	compaction_facts(&r);
	reclaim_facts(&r, page);
	huge_facts(&r);
	numa_facts(&r);
	gauge_facts(&r, page);
}
