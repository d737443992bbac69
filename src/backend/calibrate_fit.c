/* SPDX-License-Identifier: MIT */
#include "backend/calibrate.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HUGE_PAGES   512
#define COST_MOST    1000000000
#define UNKNOWN      INT64_MIN
#define PASS_MOST    ((int64_t)1 << 40) /* so that products of three fit in 127 bits */
#define NEEDED       16                 /* units of work below which a time tells little */
#define SHRINK_BATCH 32                 /* folios of a round */
#define SLAB_A_FILE  2                  /* an inode and a directory entry */

static const char *const how[NR_COSTS] = {
	[COST_ZERO_PAGE] = "huge faults, over 512",
	[COST_FAULT] = "base faults less zeroing and allocation",
	[COST_UNMAP_PAGE] = "base memory unmapped, with freeing it",
	[COST_MADVISE_CALL] = "single pages given back less unmapping",
	[COST_PIN_PAGE] = "base memory pinned",
	[COST_INODE_CREATE] = "empty files",
	[COST_FILE_WRITE_PAGE] = "files of a page less empty ones, zeroing and allocation",
	[COST_SCAN_MIGRATE] = "compaction of pinned memory,"
			      " with few holes and with many",
	[COST_SCAN_FREE] = "as scan_migrate",
	[COST_MIGRATE_FOLIO] = "as scan_migrate",
	[COST_RECLAIM_FREE] = "kswapd's time over the pages it freed, less scanning and freeing",
};

const char *calibrate_how(enum cost_id id)
{
	return how[id];
}

/* What one record says. */
struct reading {
	const json_t *record;
	int64_t ns[NR_COSTS];
};

static int64_t measure(const struct reading *r, const char *name)
{
	double value;

	return record_measure(r->record, name, &value) || fabs(value) > 1e15 ? UNKNOWN
									     : (int64_t)value;
}

/* total / units, rounded; UNKNOWN where either is, or there is too little to divide by. */
static int64_t rate(int64_t total, int64_t units)
{
	if (total == UNKNOWN || total < 0 || units < NEEDED)
		return UNKNOWN;
	return (total + units / 2) / units;
}

/* a - b; UNKNOWN where either is, and where it is negative: then the parts are not those of the
 * whole. */
static int64_t less(int64_t a, int64_t b)
{
	return a == UNKNOWN || b == UNKNOWN || a < b ? UNKNOWN : a - b;
}

static int64_t known(const struct reading *r, enum cost_id id)
{
	return r->ns[id] == UNKNOWN ? cost_rows[id].default_ns : r->ns[id];
}

/* What the model charges for taking one page from a CPU's list, refilling included. */
static int64_t allocation(void)
{
	return cost_rows[COST_ALLOC_FAST].default_ns + cost_rows[COST_ALLOC_WALK_ZONE].default_ns +
	       cost_rows[COST_PCP_REFILL_CHUNK].default_ns;
}

static void read_memory(struct reading *r)
{
	int64_t huge = measure(r, "huge.huge"), base = measure(r, "base.base");
	int64_t per_huge = rate(measure(r, "huge.time_ns"), huge);
	int64_t *ns = r->ns;

	/* Of 2 MiB, the fault and the allocation are a small part. */
	per_huge = less(per_huge, cost_rows[COST_FAULT_HUGE].default_ns + allocation());
	ns[COST_ZERO_PAGE] =
		per_huge == UNKNOWN ? UNKNOWN : (per_huge + HUGE_PAGES / 2) / HUGE_PAGES;
	ns[COST_FAULT] = less(rate(measure(r, "base.time_ns"), base),
			      known(r, COST_ZERO_PAGE) + allocation());
	ns[COST_UNMAP_PAGE] = rate(measure(r, "base-release.time_ns"), base);
	ns[COST_MADVISE_CALL] =
		less(rate(measure(r, "many-holes.time_ns"), measure(r, "many-holes.freed_pages")),
		     known(r, COST_UNMAP_PAGE) + cost_rows[COST_FREE_PAGE].default_ns);
	ns[COST_PIN_PAGE] = rate(measure(r, "pins.time_ns"), measure(r, "pins.pinned_pages"));
}

static void read_files(struct reading *r)
{
	int64_t empty = rate(measure(r, "empty.time_ns"), measure(r, "empty.files"));
	int64_t page = rate(measure(r, "written.time_ns"), measure(r, "written.files"));

	r->ns[COST_INODE_CREATE] =
		less(empty, SLAB_A_FILE * (int64_t)cost_rows[COST_SLAB_OBJECT].default_ns);
	r->ns[COST_FILE_WRITE_PAGE] =
		less(less(page, empty), known(r, COST_ZERO_PAGE) + allocation());
}

/* Direct reclaim, which there may be besides, is not in kswapd's time and pages. */
static void read_reclaim(struct reading *r)
{
	int64_t page =
		rate(measure(r, "pressure.kswapd_ns"), measure(r, "pressure.pgsteal_kswapd"));
	int64_t round = cost_rows[COST_SHRINK_ROUND].default_ns / SHRINK_BATCH;

	r->ns[COST_RECLAIM_FREE] = less(page, cost_rows[COST_RECLAIM_SCAN].default_ns + round +
						      cost_rows[COST_FREE_PAGE].default_ns +
						      cost_rows[COST_BUDDY_FREE].default_ns);
}

/* ---- three passes of compaction, three unknowns ------------------------------------------- */

enum { WORK_SCANNED, WORK_SAMPLED, WORK_MOVED, WORKS };

/* How much work of each kind there was, and the time but for what is known. */
struct pass {
	int64_t work[WORKS], ns;
};

static int read_pass(const struct reading *r, const char *step, struct pass *p)
{
	static const char *const measures[] = {"compact_migrate_scanned", "compact_free_scanned",
					       "pgmigrate_success", "compaction_ns"};
	int64_t value[WORKS + 1];

	for (int i = 0; i <= WORKS; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.%s", step, measures[i]);
		value[i] = measure(r, name);
		if (value[i] < 0 || value[i] > PASS_MOST)
			return -ENODATA;
	}
	memcpy(p->work, value, sizeof(p->work));
	/* What is spent on each page moved besides; a target is mostly a single page. */
	p->ns = value[WORKS] - value[WORK_MOVED] * (cost_rows[COST_ISOLATE_SOURCE].default_ns +
						    cost_rows[COST_ISOLATE_TARGET].default_ns +
						    cost_rows[COST_MIGRATE_COPY].default_ns);
	return 0;
}

static __int128 determinant(const struct pass p[WORKS])
{
	__int128 sum = 0;

	for (int i = 0; i < WORKS; i++) {
		int j = (i + 1) % WORKS, k = (i + 2) % WORKS;

		sum += (__int128)p[0].work[i] * ((__int128)p[1].work[j] * p[2].work[k] -
						 (__int128)p[1].work[k] * p[2].work[j]);
	}
	return sum;
}

/*
 * By Cramer's rule, in whole numbers. It may be below zero where the passes were of different
 * speed; without such runs the median of the others would be too high.
 */
static int64_t solve(const struct pass p[WORKS], int unknown)
{
	struct pass q[WORKS];
	__int128 all = determinant(p), one;

	memcpy(q, p, sizeof(q));
	for (int i = 0; i < WORKS; i++)
		q[i].work[unknown] = p[i].ns;
	one = determinant(q);
	if (all < 0) {
		all = -all;
		one = -one;
	}
	if (one / COST_MOST >= all || one / -COST_MOST >= all)
		return UNKNOWN;
	return (int64_t)((one < 0 ? one - all / 2 : one + all / 2) / all);
}

/*
 * Of pinned memory nothing moves and no target is sought; with few holes, many pages are looked at
 * for each that moves; with many, few. A page scanned has its part of the visit to its block.
 */
static void read_compaction(struct reading *r)
{
	static const char *const steps[WORKS] = {"pinned-compact", "few-compact", "many-compact"};
	static const enum cost_id ids[WORKS] = {[WORK_SCANNED] = COST_SCAN_MIGRATE,
						[WORK_SAMPLED] = COST_SCAN_FREE,
						[WORK_MOVED] = COST_MIGRATE_FOLIO};
	struct pass p[WORKS];
	int64_t ns[WORKS];

	for (int i = 0; i < WORKS; i++)
		if (read_pass(r, steps[i], &p[i]))
			return;
	if (determinant(p) == 0)
		return;
	for (int i = 0; i < WORKS; i++) {
		ns[i] = solve(p, i);
		if (ns[i] == UNKNOWN)
			return;
	}
	for (int i = 0; i < WORKS; i++)
		r->ns[ids[i]] = ns[i];
}

/* ---- the median of the records ------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static void summarize(int64_t *values, unsigned count, unsigned records, struct calibrated *out)
{
	int64_t median;

	if (count * 2 <= records)
		return;
	qsort(values, count, sizeof(*values), by_size);
	median = (values[(count - 1) / 2] + values[count / 2]) / 2;
	if (median < 0)
		return;
	out->values = count;
	out->low = values[0] < 0 ? 0 : (uint64_t)values[0];
	out->high = (uint64_t)values[count - 1];
	out->ns = (uint64_t)median;
}

int calibrate_fit(const struct cl_results *records, struct calibrated out[NR_COSTS])
{
	struct reading *all = calloc(records->count + 1, sizeof(*all));
	int64_t *values = calloc(records->count + 1, sizeof(*values));

	memset(out, 0, NR_COSTS * sizeof(*out));
	for (unsigned k = 0; all && k < records->count; k++) {
		all[k].record = records->record[k];
		for (int i = 0; i < NR_COSTS; i++)
			all[k].ns[i] = UNKNOWN;
		read_memory(&all[k]);
		read_files(&all[k]);
		read_reclaim(&all[k]);
		read_compaction(&all[k]);
	}
	for (int i = 0; all && values && i < NR_COSTS; i++) {
		unsigned count = 0;

		for (unsigned k = 0; k < records->count; k++)
			if (all[k].ns[i] != UNKNOWN && all[k].ns[i] <= COST_MOST)
				values[count++] = all[k].ns[i];
		summarize(values, count, records->count, &out[i]);
	}
	free(values);
	free(all);
	return all && values ? 0 : -ENOMEM;
}
