/* SPDX-License-Identifier: MIT */
/*
 * layout_snapshot.c - a machine put into the state that a real one showed of itself; see layout.h.
 *
 * What is guessed, and how:
 *   - block types: /proc/pagetypeinfo says how many blocks of a zone have each type, not which. The
 *     blocks with the most pages that cannot move become UNMOVABLE and RECLAIMABLE, those with the
 *     most slab pages RECLAIMABLE.
 *   - per-CPU lists: /proc/zoneinfo says how many pages each CPU has, and such pages look like
 *     kernel memory. Kernel memory is kept together, so those that stand where the least of it is
 *     are the ones, in order of address, CPU by CPU.
 *   - pins: /proc/vmstat says how many references are held. Those that nobody known holds are put
 *     on anonymous base pages in order of address, one each.
 *   - a page on no list yet is put on its LRU list.
 * Skip bits, cached positions and deferral are fresh, lists are in order of address.
 */
#include "model/kcompactd.h"
#include "model/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/memmap.h"
#include "model/pcp.h"
#include "model/watermark.h"

/* ---- zoneinfo ----------------------------------------------------------------------------- */

struct zone_text {
	unsigned node;
	int class;
	uint64_t spanned, present, managed, start, boost;
	unsigned cpus;
	uint64_t on_cpus; /* pages on per-CPU lists */
	/* By CPU, where the caller gives room for so many. */
	unsigned cpu, room;
	uint32_t *count, *high;
};

static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p ? p + 1 : NULL;
}

static int class_of(const char *name)
{
	static const char *const names[] = {"DMA", "DMA32", "Normal", "Movable"};

	for (int k = 0; k < 4; k++) {
		if (strcmp(names[k], name) == 0)
			return k;
	}
	return -1;
}

/* The next zone of the text with pages; *at moves behind it. 1, or 0 at the end. */
static int zone_text_next(const char **at, struct zone_text *z)
{
	bool inside = false;

	for (const char *p = *at; p; p = next_line(p)) {
		char name[32];
		unsigned long long v;
		unsigned n;

		if (sscanf(p, "Node %u, zone %31s", &n, name) == 2) {
			if (inside && z->present && z->class >= 0) {
				*at = p;
				return 1;
			}
			*z = (struct zone_text){.node = n,
						.class = class_of(name),
						.room = z->room,
						.count = z->count,
						.high = z->high};
			inside = true;
		} else if (sscanf(p, " spanned %llu", &v) == 1) {
			z->spanned = v;
		} else if (sscanf(p, " present %llu", &v) == 1) {
			z->present = v;
		} else if (sscanf(p, " managed %llu", &v) == 1) {
			z->managed = v;
		} else if (sscanf(p, " start_pfn: %llu", &v) == 1) {
			z->start = v;
		} else if (sscanf(p, " boost %llu", &v) == 1) {
			z->boost = v;
		} else if (sscanf(p, " cpu: %u", &n) == 1 && n < UINT16_MAX) {
			z->cpu = n;
			z->cpus = n + 1 > z->cpus ? n + 1 : z->cpus;
		} else if (sscanf(p, " count: %llu", &v) == 1) {
			z->on_cpus += v;
			if (z->cpu < z->room)
				z->count[z->cpu] = (uint32_t)v;
		} else if (sscanf(p, " high: %llu", &v) == 1 && z->cpu < z->room) {
			z->high[z->cpu] = (uint32_t)v;
		}
	}
	*at = NULL;
	return inside && z->present && z->class >= 0;
}

int layout_config_from_zoneinfo(struct model_config *config, const char *zoneinfo)
{
	struct zone_text z = {0};
	unsigned cpus = 1;

	config->nr_zones = config->nr_nodes = 0;
	while (zoneinfo && zone_text_next(&zoneinfo, &z)) {
		if (z.node >= CONFIG_MAX_NODES || z.spanned < z.present || z.present < z.managed ||
		    config->nr_zones == CONFIG_MAX_NODES * 4)
			return -EINVAL;
		config->zone[config->nr_zones++] = (struct zone_config){
			.node = (uint8_t)z.node,
			.class = (enum zone_class)z.class,
			.start_pfn = z.start,
			.spanned = z.spanned,
		};
		if (z.node + 1 > config->nr_nodes)
			config->nr_nodes = z.node + 1;
		if (z.cpus > cpus)
			cpus = z.cpus;
	}
	/* The text does not say whose a CPU is: equal runs. */
	for (unsigned i = 0; i < config->nr_nodes; i++) {
		config->node[i] = (struct node_config){
			.cpus = (uint16_t)(cpus / config->nr_nodes + (i < cpus % config->nr_nodes)),
		};
	}
	return config->nr_zones ? 0 : -EINVAL;
}

/* ---- what is in each block ---------------------------------------------------------------- */

struct block_sum {
	uint16_t bare;      /* base pages of kernel memory: maybe on a per-CPU list */
	uint16_t unmovable; /* other pages that cannot move */
	uint16_t slab;      /* of these, in slabs */
};

struct load {
	struct model *m;
	const struct layout_snapshot *s;
	struct layout_guess *guess;
	struct block_sum *sum;      /* by block */
	uint64_t pins_left;         /* held by nobody known */
	uint64_t percpu[MAX_ZONES]; /* pages on per-CPU lists of a zone */
	/* Bare pages in blocks with at most so many of the kernel's are on lists. */
	uint16_t calm[MAX_ZONES];
	uint32_t *left;         /* of them by zone and CPU */
	uint32_t *count, *high; /* room for a zone's, by CPU */
};

static void sum_run(struct load *l, const struct layout_run *run)
{
	bool movable = KINDS_LRU >> run->kind & 1 || run->kind == PG_MOVABLE_OPS;

	/* Boot leaves the blocks that it keeps as they are: MOVABLE. */
	if (movable || run->kind == PG_FREE || run->kind == PG_HOLE || run->kind == PG_RESERVED)
		return;
	for (uint32_t i = 0; i < run->count << run->order; i++) {
		struct block_sum *sum;

		if (run->pfn + i >= l->m->map.end_pfn)
			return;
		sum = &l->sum[block_of(run->pfn + i).v];
		if (run->kind == PG_KERNEL && run->order == 0)
			sum->bare++;
		else
			sum->unmovable++;
		sum->slab += run->kind == PG_SLAB;
	}
}

static int sum_blocks(struct load *l)
{
	struct layout_run run = {0};
	uint32_t cpus = l->m->nr_cpus;

	l->sum = calloc(l->m->map.nr_blocks, sizeof(*l->sum));
	l->left = calloc((size_t)l->m->nr_zones * cpus, sizeof(*l->left));
	l->count = calloc(cpus, sizeof(*l->count));
	l->high = calloc(cpus, sizeof(*l->high));
	if (!l->sum || !l->left || !l->count || !l->high)
		return -ENOMEM;
	l->s->rewind(l->s->arg);
	while (l->s->next(l->s->arg, &run))
		sum_run(l, &run);
	return 0;
}

static unsigned block_score(const struct load *l, uint32_t block)
{
	return l->sum[block].bare + l->sum[block].unmovable;
}

/* ---- per-CPU lists ------------------------------------------------------------------------ */

/* Up to which score of their block bare pages are those on lists, so that there are enough. */
static void find_calm(struct load *l, const struct zone *z)
{
	uint32_t first = block_of(z->start_pfn).v, last = block_of(z->end_pfn - 1).v;
	uint64_t bare[PAGEBLOCK_PAGES + 1] = {0}, sum = 0;
	unsigned score = 0;

	for (uint32_t b = first; b <= last; b++) {
		unsigned s = block_score(l, b);

		bare[s < PAGEBLOCK_PAGES ? s : PAGEBLOCK_PAGES] += l->sum[b].bare;
	}
	while (score < PAGEBLOCK_PAGES && sum + bare[score] < l->percpu[z->id.v])
		sum += bare[score++];
	l->calm[z->id.v] = (uint16_t)score;
}

static void find_percpu(struct load *l)
{
	struct zone_text t = {.room = l->m->nr_cpus, .count = l->count, .high = l->high};
	const char *at = l->s->zoneinfo;

	while (at && zone_text_next(&at, &t)) {
		zone_id id = t.node < l->m->nr_nodes ? l->m->node[t.node].zone[t.class] : ZONE_NONE;

		if (id.v == ZONE_NONE.v)
			continue;
		for (uint32_t cpu = 0; cpu < l->m->nr_cpus && cpu < t.cpus; cpu++) {
			l->left[id.v * l->m->nr_cpus + cpu] = l->count[cpu];
			l->percpu[id.v] += l->count[cpu];
		}
	}
	for (uint32_t i = 0; i < l->m->nr_zones; i++) {
		const struct zone *z = &l->m->zone[i];

		find_calm(l, z);
		/* The pages chosen are not the kernel's; the types of blocks do not follow them. */
		for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++)
			if (l->percpu[i] && block_score(l, b) < l->calm[i])
				l->sum[b].bare = 0;
	}
}

/* Is this page of kernel memory one that is on a list? Then it is put there. */
static bool load_percpu(struct load *l, pfn_t pfn)
{
	const struct zone *z = zone_of(l->m, pfn);
	const struct block_sum *sum = &l->sum[block_of(pfn).v];
	uint32_t *left = &l->left[z->id.v * l->m->nr_cpus];
	cpu_id cpu = {0};

	if (!l->percpu[z->id.v] || (sum->bare && sum->bare + sum->unmovable > l->calm[z->id.v]))
		return false;
	while (!left[cpu.v])
		cpu.v++;
	left[cpu.v]--;
	l->percpu[z->id.v]--;
	layout_put_pcp(l->m, pfn, 0, block_type(l->m, pfn), cpu);
	l->guess->percpu++;
	return true;
}

/* ---- pages -------------------------------------------------------------------------------- */

static int load_chunk(struct load *l, const struct layout_run *run, pfn_t pfn)
{
	uint8_t flags = run->flags;

	if (run->kind == PG_HOLE || run->kind == PG_RESERVED)
		return layout_put_unused(l->m, pfn, run->kind);
	if (run->kind == PG_FREE)
		return 0;
	if (run->kind == PG_KERNEL && run->order == 0 && load_percpu(l, pfn))
		return 0;
	if (run->slot.v)
		return layout_put_owned(l->m, pfn, run->order, run->kind, flags, run->slot);
	if (run->kind == PG_ANON && run->order == 0 && l->pins_left && !(flags & PGF_PINNED)) {
		flags |= PGF_PINNED;
		l->pins_left--;
		l->guess->pins++;
	}
	return layout_put(l->m, pfn, run->order, run->kind, flags, (region_id){0});
}

static int load_pages(struct load *l)
{
	struct layout_run run = {0};
	pfn_t end = 0;

	l->s->rewind(l->s->arg);
	while (l->s->next(l->s->arg, &run)) {
		if (run.pfn != end)
			return -EINVAL;
		end = run.pfn + (run.count << run.order);
		for (pfn_t pfn = run.pfn; pfn < end; pfn += 1u << run.order) {
			int err;

			/* Between zones there is nothing, and nothing is to be there. */
			if (pfn >= l->m->map.end_pfn || !zone_of(l->m, pfn))
				continue;
			if (pfn < zone_of(l->m, pfn)->start_pfn ||
			    pfn >= zone_of(l->m, pfn)->end_pfn)
				continue;
			err = load_chunk(l, &run, pfn);
			if (err == -EBUSY && l->s->inside)
				l->guess->changed += run.kind != PG_KERNEL;
			else if (err)
				return err;
		}
	}
	for (uint32_t i = 0; i < l->m->nr_zones; i++)
		if (l->m->zone[i].end_pfn > end)
			return -EINVAL;
	return 0;
}

/* ---- block types -------------------------------------------------------------------------- */

/* "Node 0, zone Normal 12 3000 7 0 0 0" behind "Number of blocks type": U, M, R ... of a zone. */
static void snapshot_block_counts(const char *text, const struct zone *z, uint64_t *unmovable,
				  uint64_t *reclaimable)
{
	const char *p = text ? strstr(text, "Number of blocks type") : NULL;

	*unmovable = *reclaimable = 0;
	for (p = p ? next_line(p) : NULL; p; p = next_line(p)) {
		unsigned node;
		char name[32];
		unsigned long long u, mv, r;

		if (sscanf(p, "Node %u, zone %31s %llu %llu %llu", &node, name, &u, &mv, &r) == 5 &&
		    node == z->node.v && strcmp(name, z->name) == 0) {
			*unmovable = u;
			*reclaimable = r;
		}
	}
}

/*
 * Gives `type` to the `want` blocks of a zone with the highest score that are MOVABLE yet. Scores
 * are 1..512, so one histogram finds the threshold.
 */
static uint64_t load_block_type(struct load *l, const struct zone *z, uint64_t want,
				enum migratetype type)
{
	uint32_t first = block_of(z->start_pfn).v, last = block_of(z->end_pfn - 1).v;
	uint64_t histogram[PAGEBLOCK_PAGES + 1] = {0}, above = 0, done = 0;
	unsigned threshold = PAGEBLOCK_PAGES;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t b = first; b <= last; b++) {
			pfn_t start = block_start((block_t){b});
			unsigned score =
				type == MIGRATE_RECLAIMABLE ? l->sum[b].slab : block_score(l, b);

			if (score > PAGEBLOCK_PAGES)
				score = PAGEBLOCK_PAGES;
			if (score == 0 || block_type(l->m, start) != MIGRATE_MOVABLE)
				continue;
			if (pass == 0) {
				histogram[score]++;
			} else if (score > threshold || (score == threshold && above < want)) {
				above += score == threshold;
				if (done++ < want)
					layout_block_type(l->m, start, type);
			}
		}
		if (pass == 0) {
			while (threshold > 1 && above + histogram[threshold] < want)
				above += histogram[threshold--];
		}
	}
	return done < want ? done : want;
}

static void load_types(struct load *l)
{
	for (uint32_t i = 0; i < l->m->nr_zones; i++) {
		const struct zone *z = &l->m->zone[i];
		uint64_t unmovable, reclaimable;

		snapshot_block_counts(l->s->pagetypeinfo, z, &unmovable, &reclaimable);
		l->guess->block_types += load_block_type(l, z, reclaimable, MIGRATE_RECLAIMABLE);
		l->guess->block_types += load_block_type(l, z, unmovable, MIGRATE_UNMOVABLE);
	}
}

/* ---- watermarks --------------------------------------------------------------------------- */

/*
 * What is managed follows from the pages themselves, and the marks from that; the text counts pages
 * that boot kept at addresses without memory otherwise. Setting up the marks ends a boost.
 */
static int snapshot_marks(struct load *l)
{
	struct model *m = l->m;
	struct zone_text t = {.room = m->nr_cpus, .count = l->count, .high = l->high};
	const char *zoneinfo = l->s->zoneinfo;

	watermark_recalculate_min_free(m);
	watermark_setup(m);
	while (zoneinfo && zone_text_next(&zoneinfo, &t)) {
		zone_id id = t.node < m->nr_nodes ? m->node[t.node].zone[t.class] : ZONE_NONE;

		if (id.v == ZONE_NONE.v)
			return -EINVAL;
		m->zone[id.v].boost = t.boost;
		for (uint16_t cpu = 0; cpu < m->nr_cpus && cpu < t.cpus; cpu++)
			if (l->high[cpu])
				pcp_tune(&m->zone[id.v], (cpu_id){cpu}, l->high[cpu], 0, 0);
	}
	return 0;
}

/* ---- all of it ---------------------------------------------------------------------------- */

static uint64_t snapshot_counter(const char *vmstat, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = vmstat; p; p = next_line(p)) {
		if (strncmp(p, name, len) == 0 && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	}
	return 0;
}

int layout_load(struct model *m, const struct layout_snapshot *snap, struct layout_guess *guess)
{
	struct load l = {.m = m, .s = snap, .guess = guess};
	uint64_t acquired = snapshot_counter(snap->vmstat, "nr_foll_pin_acquired");
	uint64_t released = snapshot_counter(snap->vmstat, "nr_foll_pin_released");
	int err;

	*guess = (struct layout_guess){0};
	if (acquired > released + snap->known_pins)
		l.pins_left = acquired - released - snap->known_pins;
	err = sum_blocks(&l);
	if (!err) {
		layout_begin(m);
		if (snap->inside) {
			layout_inside_blocks(m, snap->inside);
			layout_inside_lists(m, snap->inside, &guess->changed);
		} else {
			find_percpu(&l);
			load_types(&l);
		}
		err = load_pages(&l);
		layout_end(m);
	}
	if (!err)
		err = snapshot_marks(&l);
	if (!err && snap->inside)
		layout_inside_state(m, snap->inside);
	if (!err)
		kcompactd_taken_over(m);
	free(l.sum);
	free(l.left);
	free(l.count);
	free(l.high);
	return err;
}
