/* SPDX-License-Identifier: MIT */
#include "explain/derive.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A zone of fewer blocks than this says nothing about a machine. */
#define SMALL_ZONE_BLOCKS 64
#define NODES_MOST        64

static unsigned huge_order(unsigned page_kb)
{
	unsigned order = 0;

	while (order < 15 && ((uint64_t)page_kb << order) < 2048)
		order++;
	return order;
}

/* ---- page types --------------------------------------------------------------------- */

struct type_sums {
	double worst, parked_worst;
	const struct page_type_zone *worst_zone;
	int worst_line, parked_line;
	double free_pages, unmovable_free, parked_free, parked_blocks, isolate_blocks;
	int file;
};

static void type_zone(struct type_sums *s, const struct page_type_zone *z, int base)
{
	double total = 0, parked, movable;

	for (unsigned t = 0; t < PAGE_TYPES; t++) {
		for (unsigned o = 0; o < z->orders; o++) {
			double pages = (double)z->free[t][o] * (double)(1ULL << o);

			s->free_pages += pages;
			if (t == PAGE_TYPE_UNMOVABLE || t == PAGE_TYPE_RECLAIMABLE)
				s->unmovable_free += pages;
			if (t == PAGE_TYPE_HIGHATOMIC || t == PAGE_TYPE_ISOLATE)
				s->parked_free += pages;
		}
		total += (double)z->blocks[t];
	}
	if (!z->has_blocks || total < 1)
		return;
	parked = (double)(z->blocks[PAGE_TYPE_HIGHATOMIC] + z->blocks[PAGE_TYPE_ISOLATE]);
	s->parked_blocks += parked;
	s->isolate_blocks += (double)z->blocks[PAGE_TYPE_ISOLATE];
	if (total < SMALL_ZONE_BLOCKS)
		return;
	if (parked / total > s->parked_worst) {
		s->parked_worst = parked / total;
		s->parked_line = z->blocks_line + base;
	}
	/* CMA blocks are movable by nature. */
	movable = (double)(z->blocks[PAGE_TYPE_MOVABLE] + z->blocks[PAGE_TYPE_CMA]) / total;
	if (!s->worst_zone || movable < s->worst) {
		s->worst = movable;
		s->worst_zone = z;
		s->worst_line = z->blocks_line + base;
	}
}

static void type_facts(struct facts *f, const struct sample *s, double page)
{
	struct type_sums sums = {0};
	char name[48];

	for (unsigned i = 0; i < s->types_count; i++)
		for (unsigned k = 0; k < s->typeses[i]->types.count; k++)
			type_zone(&sums, &s->typeses[i]->types.zone[k], s->typeses[i]->line);
	if (!s->types_count)
		return;
	sums.file = s->types->file;
	if (sums.worst_zone) {
		const struct page_type_zone *z = sums.worst_zone;

		fact_number(f, FACT_MOVABLE_SHARE, sums.worst, sums.file, sums.worst_line);
		snprintf(name, sizeof(name), "Node %d %s", z->node, z->zone);
		fact_text(f, FACT_MOVABLE_ZONE, name, sums.file, sums.worst_line);
		fact_number(f, FACT_UNMOVABLE_BLOCKS, (double)z->blocks[PAGE_TYPE_UNMOVABLE],
			    sums.file, sums.worst_line);
		fact_number(f, FACT_RECLAIMABLE_BLOCKS, (double)z->blocks[PAGE_TYPE_RECLAIMABLE],
			    sums.file, sums.worst_line);
		fact_number(f, FACT_PARKED_SHARE, sums.parked_worst, sums.file,
			    sums.parked_line ? sums.parked_line : sums.worst_line);
	}
	fact_number(f, FACT_PARKED_BLOCKS, sums.parked_blocks, sums.file,
		    sums.parked_line ? sums.parked_line : s->types->line + 1);
	fact_number(f, FACT_ISOLATE_BLOCKS, sums.isolate_blocks, sums.file,
		    sums.parked_line ? sums.parked_line : s->types->line + 1);
	if (sums.free_pages > 0) {
		fact_number(f, FACT_UNMOVABLE_FREE_SHARE, sums.unmovable_free / sums.free_pages,
			    sums.file, s->types->line + 1);
		fact_number(f, FACT_PARKED_FREE_SHARE, sums.parked_free / sums.free_pages,
			    sums.file, s->types->line + 1);
		fact_number(f, FACT_PARKED_FREE, sums.parked_free * page, sums.file,
			    s->types->line + 1);
	}
}

/* ---- free blocks by node ------------------------------------------------------------ */

struct node_sums {
	bool seen;
	double free_pages, huge_units, huge_pages;
};

struct supply {
	struct node_sums node[NODES_MOST];
	unsigned huge;
	int file, line;
	bool any;
	int largest;
	double largest_zone;
};

static void supply_row(struct supply *s, int node, const uint64_t *blocks, unsigned orders)
{
	struct node_sums *n = node >= 0 && node < NODES_MOST ? &s->node[node] : NULL;
	double pages = 0;
	int top = -1;

	for (unsigned o = 0; o < orders; o++) {
		double p = (double)blocks[o] * (double)(1ULL << o);

		pages += p;
		if (blocks[o])
			top = (int)o;
		if (!n)
			continue;
		n->free_pages += p;
		if (o >= s->huge) {
			n->huge_units += p / (double)(1ULL << s->huge);
			n->huge_pages += p;
		}
	}
	if (n)
		n->seen = true;
	if (pages > s->largest_zone) {
		s->largest_zone = pages;
		s->largest = top;
	}
	s->any = true;
}

static void supply_of(struct supply *s, const struct sample *sample)
{
	for (unsigned i = 0; i < sample->buddy_count; i++)
		for (unsigned k = 0; k < sample->buddies[i]->buddy.count; k++) {
			const struct buddy_zone *z = &sample->buddies[i]->buddy.zone[k];

			supply_row(s, z->node, z->free, z->orders);
		}
	if (s->any) {
		s->file = sample->buddy->file;
		s->line = sample->buddy->line + 1;
		return;
	}
	for (unsigned i = 0; i < sample->types_count; i++) {
		for (unsigned k = 0; k < sample->typeses[i]->types.count; k++) {
			const struct page_type_zone *z = &sample->typeses[i]->types.zone[k];
			uint64_t sum[PROCFS_MAX_ORDERS] = {0};

			for (unsigned t = 0; t < PAGE_TYPES; t++)
				for (unsigned o = 0; o < z->orders; o++)
					sum[o] += z->free[t][o];
			supply_row(s, z->node, sum, z->orders);
		}
	}
	if (s->any) {
		s->file = sample->types->file;
		s->line = sample->types->line + 1;
	}
}

static void supply_facts(struct facts *f, const struct sample *sample, unsigned page_kb)
{
	struct supply s = {.huge = huge_order(page_kb)};
	double free_pages = 0, huge_pages = 0, units = 0, best = 0, worst = -1;
	unsigned nodes = 0;
	int poor = 0;

	supply_of(&s, sample);
	if (!s.any)
		return;
	for (int i = 0; i < NODES_MOST; i++) {
		const struct node_sums *n = &s.node[i];

		if (!n->seen)
			continue;
		nodes++;
		free_pages += n->free_pages;
		huge_pages += n->huge_pages;
		units += n->huge_units;
		if (n->huge_units > best)
			best = n->huge_units;
		if (worst < 0 || n->huge_units < worst) {
			worst = n->huge_units;
			poor = i;
		}
	}
	fact_number(f, FACT_NODES, nodes, s.file, s.line);
	fact_number(f, FACT_LARGEST_FREE_ORDER, s.largest, s.file, s.line);
	fact_number(f, FACT_HUGE_BLOCKS, units, s.file, s.line);
	if (free_pages > 0)
		fact_number(f, FACT_HUGE_SHARE, huge_pages / free_pages, s.file, s.line);
	fact_number(f, FACT_FREE, free_pages * page_kb * 1024.0, s.file, s.line);
	if (nodes < 2)
		return;
	fact_number(f, FACT_NODE_IMBALANCE, best / (worst > 1 ? worst : 1), s.file, s.line);
	fact_number(f, FACT_POOR_NODE, poor, s.file, s.line);
	fact_number(f, FACT_POOR_NODE_FREE, s.node[poor].free_pages * page_kb * 1024.0, s.file,
		    s.line);
	if (s.node[poor].free_pages > 0)
		fact_number(f, FACT_POOR_NODE_HUGE_SHARE,
			    s.node[poor].huge_pages / s.node[poor].free_pages, s.file, s.line);
}

/* ---- zoneinfo ----------------------------------------------------------------------- */

struct zone_sums {
	double boost, over_high, managed, cma, free_cma, slab, reclaimable, pinned, node_pinned;
	double file_pages;
	int boost_line, high_line, pin_line;
	bool any_high, any_node;
};

static double node_managed(const struct zoneinfo *z, int node)
{
	double pages = 0;

	for (unsigned i = 0; i < z->count; i++)
		if (z->zone[i].node == node)
			pages += (double)(z->zone[i].has_managed ? z->zone[i].managed
								 : z->zone[i].present);
	return pages;
}

static void zone_row(struct zone_sums *s, const struct zoneinfo *info, const struct zone_info *z,
		     int base)
{
	double managed = (double)(z->has_managed ? z->managed : z->present);

	s->managed += managed;
	s->boost += (double)z->boost;
	if (z->boost && !s->boost_line)
		s->boost_line = z->line + base;
	s->cma += (double)z->cma;
	s->free_cma += (double)counters_value(&z->stats, "nr_free_cma");
	if (z->high && managed > 16384 &&
	    (!s->any_high || (double)z->free / (double)z->high < s->over_high)) {
		s->over_high = (double)z->free / (double)z->high;
		s->high_line = z->line + base;
		s->any_high = true;
	}
	if (z->node_stats.count) {
		const struct counters *c = &z->node_stats;
		uint64_t got = counters_value(c, "nr_foll_pin_acquired");
		uint64_t back = counters_value(c, "nr_foll_pin_released");
		double pinned = got > back ? (double)(got - back) : 0;
		double all = node_managed(info, z->node);

		s->any_node = true;
		s->pinned += pinned;
		s->slab += (double)counters_value(c, "nr_slab_unreclaimable");
		s->reclaimable += (double)counters_value(c, "nr_slab_reclaimable");
		s->file_pages += (double)(counters_value(c, "nr_active_file") +
					  counters_value(c, "nr_inactive_file"));
		if (all > 0 && pinned / all > s->node_pinned) {
			s->node_pinned = pinned / all;
			s->pin_line = z->line + base;
		}
	}
}

static void zone_facts(struct facts *f, const struct sample *sample, double page)
{
	struct zone_sums s = {0};
	int file, line;

	for (unsigned i = 0; i < sample->zones_count; i++)
		for (unsigned k = 0; k < sample->zoneses[i]->zones.count; k++)
			zone_row(&s, &sample->zoneses[i]->zones, &sample->zoneses[i]->zones.zone[k],
				 sample->zoneses[i]->line);
	if (!sample->zones_count)
		return;
	file = sample->zones->file;
	line = sample->zones->line + 1;
	fact_number(f, FACT_BOOST, s.boost * page, file, s.boost_line ? s.boost_line : line);
	if (s.any_high)
		fact_number(f, FACT_FREE_OVER_HIGH, s.over_high, file, s.high_line);
	if (s.managed > 0)
		fact_number(f, FACT_RAM, s.managed * page, file, line);
	if (s.cma > 0) {
		fact_number(f, FACT_CMA_TOTAL, s.cma * page, file, line);
		fact_number(f, FACT_FREE_CMA, s.free_cma * page, file, line);
	}
	if (!s.any_node)
		return;
	fact_number(f, FACT_PINNED, s.pinned * page, file, s.pin_line ? s.pin_line : line);
	fact_number(f, FACT_NODE_PINNED_SHARE, s.node_pinned, file, s.pin_line ? s.pin_line : line);
	fact_number(f, FACT_SLAB_UNRECLAIMABLE, s.slab * page, file, line);
	fact_number(f, FACT_SLAB_RECLAIMABLE, s.reclaimable * page, file, line);
	fact_number(f, FACT_FILE_CACHE, s.file_pages * page, file, line);
}

/* ---- meminfo, slab, extfrag --------------------------------------------------------- */

/* What every counter of meminfo leaves over. */
static void unaccounted_facts(struct facts *f, const struct document *d)
{
	static const char *const used[] = {"MemFree",   "Buffers",      "Cached",     "SwapCached",
					   "AnonPages", "Slab",         "PageTables", "KernelStack",
					   "Percpu",    "SecPageTables"};
	const struct counters *c = &d->counters;
	uint64_t total, v, size, sum = 0;

	/* All of the large ones must be there, or the rest means nothing. */
	if (!counters_get(c, "MemTotal", &total) || !counters_get(c, "MemFree", &v) ||
	    !counters_get(c, "Cached", &v) || !counters_get(c, "AnonPages", &v) ||
	    !counters_get(c, "Slab", &v) || !total)
		return;
	for (size_t i = 0; i < sizeof(used) / sizeof(used[0]); i++)
		sum += counters_value(c, used[i]);
	if (counters_get(c, "Hugetlb", &v))
		sum += v;
	else if (counters_get(c, "HugePages_Total", &v) && counters_get(c, "Hugepagesize", &size))
		sum += v * size;
	fact_number(f, FACT_UNACCOUNTED, sum < total ? (double)(total - sum) * 1024.0 : 0, d->file,
		    d->line + 1);
	fact_number(f, FACT_UNACCOUNTED_SHARE,
		    sum < total ? (double)(total - sum) / (double)total : 0, d->file, d->line + 1);
}

static void meminfo_facts(struct facts *f, const struct sample *s)
{
	static const struct {
		const char *name;
		enum fact_id fact;
	} list[] = {
		{"MemTotal", FACT_RAM},
		{"MemFree", FACT_FREE},
		{"SReclaimable", FACT_SLAB_RECLAIMABLE},
		{"SUnreclaim", FACT_SLAB_UNRECLAIMABLE},
		{"CmaTotal", FACT_CMA_TOTAL},
		{"CmaFree", FACT_FREE_CMA},
		{"SwapFree", FACT_SWAP_FREE},
		{"SwapTotal", FACT_SWAP_TOTAL},
	};
	uint64_t a, b, kb;

	for (unsigned m = 0; m < s->meminfo_count; m++) {
		const struct document *d = s->meminfo[m];

		for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
			if (counters_get(&d->counters, list[i].name, &kb))
				fact_number(f, list[i].fact, (double)kb * 1024.0, d->file,
					    d->line + 1);
		if (counters_get(&d->counters, "Active(file)", &a) &&
		    counters_get(&d->counters, "Inactive(file)", &b))
			fact_number(f, FACT_FILE_CACHE, (double)(a + b) * 1024.0, d->file,
				    d->line + 1);
		else if (counters_get(&d->counters, "Cached", &a))
			fact_number(f, FACT_FILE_CACHE, (double)a * 1024.0, d->file, d->line + 1);
		unaccounted_facts(f, d);
	}
}

static void extfrag_facts(struct facts *f, const struct sample *s)
{
	const struct document *d = s->extfrag;
	int lowest = 99, line = 0;

	if (!d)
		return;
	for (unsigned i = 0; i < d->extfrag.count; i++) {
		const struct extfrag_zone *z = &d->extfrag.zone[i];

		if (!strcmp(z->zone, "DMA"))
			continue;
		for (unsigned o = 0; o < z->orders; o++) {
			if (z->index[o] > 500 && (int)o < lowest) {
				lowest = (int)o;
				line = z->line + d->line;
			}
		}
	}
	if (lowest < 99)
		fact_number(f, FACT_EXTFRAG_ORDER, lowest, d->file, line);
}

void derive_sample(struct facts *f, const struct sample *s, unsigned page_kb)
{
	double page = page_kb * 1024.0;

	zone_facts(f, s, page);
	supply_facts(f, s, page_kb);
	meminfo_facts(f, s);
	type_facts(f, s, page);
	extfrag_facts(f, s);
	if (s->slab && s->slab->slab.count) {
		const struct slabinfo_cache *c = &s->slab->slab.cache[0];

		fact_text(f, FACT_TOP_SLAB, c->name, s->slab->file, c->line + s->slab->line);
		fact_number(f, FACT_TOP_SLAB_BYTES, (double)c->bytes, s->slab->file,
			    c->line + s->slab->line);
	}
}
