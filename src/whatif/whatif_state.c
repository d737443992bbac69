/* SPDX-License-Identifier: MIT */
/*
 * whatif_state.c - from tables of the evidence to counts that a machine can be made of.
 *
 * The pages of a zone: /proc/pagetypeinfo has its pageblocks by type and its free blocks by type
 * and order, /proc/buddyinfo the free blocks where pagetypeinfo stops counting, /proc/zoneinfo
 * everything that is not free. What a node counts as a whole (slab, page tables, huge pages) goes
 * to its zones by their share of the pages that could be it.
 */
#include "whatif/whatif_state.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK PAGEBLOCK_PAGES

void whatif_assume(struct what_if *w, const char *fmt, ...)
{
	va_list ap;

	if (w->assumptions == ASSUMPTIONS_MOST)
		return;
	va_start(ap, fmt);
	vsnprintf(w->assumption[w->assumptions++], sizeof(w->assumption[0]), fmt, ap);
	va_end(ap);
}

uint64_t whatif_free_blocks(const struct whatif_state *s)
{
	uint64_t blocks = 0;

	for (unsigned i = 0; i < s->zones; i++)
		for (unsigned type = 0; type < NR_MIGRATETYPES; type++)
			for (unsigned o = PAGEBLOCK_ORDER; o < NR_PAGE_ORDERS; o++)
				if (type != MIGRATE_HIGHATOMIC && type != MIGRATE_ISOLATE)
					blocks += s->zone[i].chunks[type][o]
						  << (o - PAGEBLOCK_ORDER);
	return blocks;
}

static int missing(struct what_if *w, const char *text)
{
	snprintf(w->missing, sizeof(w->missing), "%s", text);
	return -ENODATA;
}

/* ---- pageblocks and free blocks ------------------------------------------------------------ */

static enum migratetype type_of(enum page_type type)
{
	switch (type) {
	case PAGE_TYPE_MOVABLE:
		return MIGRATE_MOVABLE;
	case PAGE_TYPE_RECLAIMABLE:
		return MIGRATE_RECLAIMABLE;
	case PAGE_TYPE_RESERVE:
	case PAGE_TYPE_HIGHATOMIC:
		return MIGRATE_HIGHATOMIC;
	case PAGE_TYPE_CMA:
		return MIGRATE_CMA;
	case PAGE_TYPE_ISOLATE:
		return MIGRATE_ISOLATE;
	default:
		return MIGRATE_UNMOVABLE;
	}
}

static const struct page_type_zone *types_of(const struct sample *s, int node, const char *zone)
{
	for (unsigned d = 0; d < s->types_count; d++)
		for (unsigned i = 0; i < s->typeses[d]->types.count; i++) {
			const struct page_type_zone *z = &s->typeses[d]->types.zone[i];

			if (z->node == node && !strcmp(z->zone, zone))
				return z;
		}
	return NULL;
}

static const struct buddy_zone *buddy_of(const struct sample *s, int node, const char *zone)
{
	for (unsigned d = 0; d < s->buddy_count; d++)
		for (unsigned i = 0; i < s->buddies[d]->buddy.count; i++) {
			const struct buddy_zone *z = &s->buddies[d]->buddy.zone[i];

			if (z->node == node && !strcmp(z->zone, zone))
				return z;
		}
	return NULL;
}

/*
 * Free blocks of each type. Where buddyinfo has more of an order than pagetypeinfo, which stops at
 * 100000, or has no row at all, the rest is free in movable blocks: most blocks are.
 */
static void free_blocks(struct whatif_zone *z, const struct page_type_zone *t,
			const struct buddy_zone *b)
{
	for (unsigned o = 0; o < NR_PAGE_ORDERS; o++) {
		uint64_t sum = 0;

		for (unsigned type = 0; type < PAGE_TYPES; type++) {
			z->chunks[type_of((enum page_type)type)][o] += t->free[type][o];
			sum += t->free[type][o];
		}
		if (b && b->free[o] > sum && (t->capped || !t->orders))
			z->chunks[MIGRATE_MOVABLE][o] += b->free[o] - sum;
	}
}

/* A type's blocks hold at least what is free in them; what is missing comes from movable ones. */
static void settle_blocks(struct whatif_zone *z, const struct page_type_zone *t)
{
	uint64_t want = (z->managed + BLOCK - 1) / BLOCK, have = 0;

	for (unsigned type = 0; type < PAGE_TYPES; type++)
		z->blocks[type_of((enum page_type)type)] += t->blocks[type];
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
		uint64_t pages = 0;

		for (unsigned o = 0; o < NR_PAGE_ORDERS; o++)
			pages += z->chunks[type][o] << o;
		if (z->blocks[type] * BLOCK < pages)
			z->blocks[type] = (pages + BLOCK - 1) / BLOCK;
		have += z->blocks[type];
	}
	/* Blocks in holes are counted by the kernel too: here only those with pages are kept. */
	if (have > want)
		z->blocks[MIGRATE_MOVABLE] -= have - want < z->blocks[MIGRATE_MOVABLE]
						      ? have - want
						      : z->blocks[MIGRATE_MOVABLE];
	else
		z->blocks[MIGRATE_MOVABLE] += want - have;
}

/* ---- what is not free ---------------------------------------------------------------------- */

/* A zone's own counter, under one of two names. */
static uint64_t own(const struct zone_info *z, const char *name, const char *old)
{
	uint64_t v;

	if (counters_get(&z->stats, name, &v) || (old && counters_get(&z->stats, old, &v)))
		return v;
	return 0;
}

/* A counter of the node, as far as it falls to a zone with `part` of `whole` pages. */
static uint64_t shared(const struct zone_info *z, const struct counters *node, const char *name,
		       uint64_t part, uint64_t whole)
{
	uint64_t v;

	if (counters_get(&z->stats, name, &v))
		return v;
	if (!node || !whole || !counters_get(node, name, &v))
		return 0;
	return (uint64_t)((unsigned __int128)v * part / whole);
}

static uint64_t at_most(uint64_t *left, uint64_t want)
{
	uint64_t n = want < *left ? want : *left;

	*left -= n;
	return n;
}

static uint64_t lru_pages(const struct zone_info *z)
{
	return own(z, "nr_zone_inactive_anon", "nr_inactive_anon") +
	       own(z, "nr_zone_active_anon", "nr_active_anon") +
	       own(z, "nr_zone_inactive_file", "nr_inactive_file") +
	       own(z, "nr_zone_active_file", "nr_active_file") +
	       own(z, "nr_zone_unevictable", "nr_unevictable");
}

static uint64_t taken_pages(const struct zone_info *z)
{
	uint64_t managed = z->has_managed ? z->managed : z->present, idle = z->free;

	for (unsigned i = 0; i < z->pagesets; i++)
		idle += z->pageset[i].count;
	return managed > idle ? managed - idle : 0;
}

/* Sums over the zones of a node, to share what the node counts as a whole. */
struct node_sums {
	const struct counters *stats;
	uint64_t anon, file, kernel;
};

static void node_sums(const struct zoneinfo *zones, int node, struct node_sums *out)
{
	memset(out, 0, sizeof(*out));
	out->stats = zoneinfo_node(zones, node);
	for (unsigned i = 0; i < zones->count; i++) {
		const struct zone_info *z = &zones->zone[i];
		uint64_t taken = taken_pages(z), lru = lru_pages(z);

		if (z->node != node)
			continue;
		out->anon += own(z, "nr_zone_inactive_anon", "nr_inactive_anon") +
			     own(z, "nr_zone_active_anon", "nr_active_anon");
		out->file += own(z, "nr_zone_inactive_file", "nr_inactive_file") +
			     own(z, "nr_zone_active_file", "nr_active_file");
		out->kernel += taken > lru ? taken - lru : 0;
	}
}

/* Anonymous and file pages: the lists of the zone. */
static void lru_kinds(struct whatif_zone *out, const struct zone_info *z, const struct node_sums *n,
		      uint64_t *left)
{
	uint64_t anon = own(z, "nr_zone_inactive_anon", "nr_inactive_anon");
	uint64_t active = own(z, "nr_zone_active_anon", "nr_active_anon");
	uint64_t file = own(z, "nr_zone_inactive_file", "nr_inactive_file");
	uint64_t hot = own(z, "nr_zone_active_file", "nr_active_file");
	uint64_t all_anon = anon + active, all_file = file + hot;
	uint64_t shmem = shared(z, n->stats, "nr_shmem", all_anon, n->anon);
	uint64_t thp = shared(z, n->stats, "nr_anon_transparent_hugepages", all_anon, n->anon);
	uint64_t mapped = shared(z, n->stats, "nr_mapped", all_file, n->file);
	uint64_t acquired = shared(z, n->stats, "nr_foll_pin_acquired", all_anon, n->anon);
	uint64_t released = shared(z, n->stats, "nr_foll_pin_released", all_anon, n->anon);
	uint64_t pinned = acquired > released ? acquired - released : 0;
	uint64_t of_anon, of_file;

	out->pages[WHATIF_UNEVICTABLE] = at_most(left, own(z, "nr_zone_unevictable", NULL));
	of_anon = at_most(left, all_anon);
	of_file = at_most(left, all_file);
	out->pages[WHATIF_SHMEM] = at_most(&of_anon, shmem);
	out->pages[WHATIF_THP] = at_most(&of_anon, thp * BLOCK) / BLOCK * BLOCK;
	out->pages[WHATIF_ANON_PINNED] = at_most(&of_anon, pinned);
	out->pages[WHATIF_ANON_ACTIVE] = all_anon ? of_anon * active / all_anon : 0;
	out->pages[WHATIF_ANON] = of_anon - out->pages[WHATIF_ANON_ACTIVE];
	out->pages[WHATIF_FILE_DIRTY] =
		at_most(&of_file, shared(z, n->stats, "nr_dirty", all_file, n->file));
	/* Mapped tmpfs pages are counted among the mapped ones and are here already. */
	out->pages[WHATIF_SHMEM] += at_most(&of_file, mapped > shmem ? mapped - shmem : 0);
	out->pages[WHATIF_FILE_ACTIVE] = all_file ? of_file * hot / all_file : 0;
	out->pages[WHATIF_FILE] = of_file - out->pages[WHATIF_FILE_ACTIVE];
}

static void kernel_kinds(struct whatif_zone *out, const struct zone_info *z,
			 const struct node_sums *n, uint64_t hugetlb, uint64_t left)
{
	uint64_t all = left;

	out->pages[WHATIF_HUGETLB] = at_most(&left, hugetlb) / BLOCK * BLOCK;
	out->pages[WHATIF_SLAB_RECLAIMABLE] =
		at_most(&left, shared(z, n->stats, "nr_slab_reclaimable", all, n->kernel));
	out->pages[WHATIF_SLAB] =
		at_most(&left, shared(z, n->stats, "nr_slab_unreclaimable", all, n->kernel));
	out->pages[WHATIF_PAGE_TABLE] =
		at_most(&left, shared(z, n->stats, "nr_page_table_pages", all, n->kernel));
	out->pages[WHATIF_KERNEL] = left;
}

/* ---- zones --------------------------------------------------------------------------------- */

static bool class_of(const char *name, enum zone_class *class)
{
	static const char *const names[] = {"DMA", "DMA32", "Normal", "Movable"};

	for (unsigned k = 0; k < 4; k++)
		if (!strcmp(names[k], name)) {
			*class = (enum zone_class)k;
			return true;
		}
	return false;
}

/* Pages of the pool of huge pages of 2 MiB, as far as the tables say. */
static uint64_t pool_pages(const struct sample *s)
{
	for (unsigned i = 0; i < s->meminfo_count; i++) {
		const struct counters *c = &s->meminfo[i]->counters;
		uint64_t total, kb;

		if (counters_get(c, "HugePages_Total", &total) &&
		    counters_get(c, "Hugepagesize", &kb) && kb == 2048)
			return total * BLOCK;
	}
	return 0;
}

static int add_zone(struct whatif_state *s, const struct sample *sample, const struct zone_info *z,
		    const struct node_sums *n, uint64_t hugetlb, struct what_if *w)
{
	const struct page_type_zone *t = types_of(sample, z->node, z->zone);
	struct whatif_zone *out = &s->zone[s->zones];
	uint64_t left = taken_pages(z);

	if (s->zones == WHATIF_ZONES || z->node < 0 || z->node >= WHATIF_NODES)
		return missing(w, "the model takes up to 16 nodes and 64 zones");
	memset(out, 0, sizeof(*out));
	if (!class_of(z->zone, &out->class))
		return missing(w, "the model has no HighMem zone");
	if (!t || !t->has_blocks)
		return missing(w, "/proc/pagetypeinfo does not describe every zone of "
				  "/proc/zoneinfo");
	if (t->orders > NR_PAGE_ORDERS)
		return missing(w, "the model has blocks of up to order 10");
	s->zones++;
	out->node = (unsigned)z->node;
	memcpy(out->name, z->zone, sizeof(out->name));
	out->managed = z->has_managed ? z->managed : z->present;
	free_blocks(out, t, buddy_of(sample, z->node, z->zone));
	settle_blocks(out, t);
	lru_kinds(out, z, n, &left);
	kernel_kinds(out, z, n, hugetlb, left);
	/* min_free_kbytes is shared out over all zones but Movable, whose own is a copy. */
	if (out->class != ZONE_MOVABLE)
		s->min_free_kb += (z->min - (z->boost < z->min ? z->boost : 0)) * 4;
	if (s->nodes < out->node + 1)
		s->nodes = out->node + 1;
	if (s->cpus[out->node] < z->pagesets)
		s->cpus[out->node] = z->pagesets;
	return 0;
}

static int all_zones(struct whatif_state *s, const struct sample *sample, struct what_if *w)
{
	uint64_t kernel = 0, hugetlb = pool_pages(sample);
	int r = 0;

	for (unsigned d = 0; d < sample->zones_count; d++) {
		const struct zoneinfo *zones = &sample->zoneses[d]->zones;

		for (unsigned i = 0; i < zones->count; i++) {
			uint64_t taken = taken_pages(&zones->zone[i]);
			uint64_t lru = lru_pages(&zones->zone[i]);

			kernel += taken > lru ? taken - lru : 0;
		}
	}
	for (unsigned d = 0; d < sample->zones_count && !r; d++) {
		const struct zoneinfo *zones = &sample->zoneses[d]->zones;

		for (unsigned i = 0; i < zones->count && !r; i++) {
			const struct zone_info *z = &zones->zone[i];
			uint64_t taken = taken_pages(z), lru = lru_pages(z);
			struct node_sums n;

			if (!z->present)
				continue;
			node_sums(zones, z->node, &n);
			taken = taken > lru ? taken - lru : 0;
			r = add_zone(s, sample, z, &n,
				     kernel ? (uint64_t)((unsigned __int128)hugetlb * taken /
							 kernel)
					    : 0,
				     w);
		}
	}
	if (!r && hugetlb)
		whatif_assume(w,
			      "the pool of %llu huge pages is spread over the zones like the "
			      "kernel's memory",
			      (unsigned long long)(hugetlb / BLOCK));
	return r;
}

static int by_place(const void *a, const void *b)
{
	const struct whatif_zone *x = a, *y = b;

	if (x->node != y->node)
		return x->node < y->node ? -1 : 1;
	return (int)x->class - (int)y->class;
}

/* The model has CMA in the highest zone of a node below Movable; elsewhere it is movable memory. */
static void keep_cma(struct whatif_state *s, struct what_if *w)
{
	for (unsigned i = 0; i < s->zones; i++) {
		struct whatif_zone *z = &s->zone[i];
		bool highest = z->class != ZONE_MOVABLE;

		for (unsigned k = i + 1; k < s->zones; k++)
			highest &= s->zone[k].node != z->node || s->zone[k].class == ZONE_MOVABLE;
		if (highest || !z->blocks[MIGRATE_CMA])
			continue;
		for (unsigned o = 0; o < NR_PAGE_ORDERS; o++) {
			z->chunks[MIGRATE_MOVABLE][o] += z->chunks[MIGRATE_CMA][o];
			z->chunks[MIGRATE_CMA][o] = 0;
		}
		z->blocks[MIGRATE_MOVABLE] += z->blocks[MIGRATE_CMA];
		z->blocks[MIGRATE_CMA] = 0;
		whatif_assume(w, "CMA blocks of node %u, zone %s count as movable ones", z->node,
			      z->name);
	}
}

/* ---- size ----------------------------------------------------------------------------------- */

/* Memory of the modelled machine is at most this: a trial then takes a second or two. */
#define PAGES_MOST (UINT64_C(64) << 18)

static uint64_t divided(uint64_t v, unsigned by)
{
	return (v + by / 2) / by;
}

static void scale_zone(struct whatif_zone *z, unsigned by)
{
	/* Small zones stay: their size decides who may use them. */
	if (z->managed < (UINT64_C(64) << 8))
		return;
	z->managed = divided(z->managed, by);
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
		z->blocks[type] = divided(z->blocks[type], by);
		for (unsigned o = 0; o < NR_PAGE_ORDERS; o++)
			z->chunks[type][o] = divided(z->chunks[type][o], by);
	}
	for (unsigned k = 0; k < WHATIF_KINDS; k++)
		z->pages[k] = divided(z->pages[k], by);
	z->pages[WHATIF_THP] = z->pages[WHATIF_THP] / BLOCK * BLOCK;
	z->pages[WHATIF_HUGETLB] = z->pages[WHATIF_HUGETLB] / BLOCK * BLOCK;
}

static void scale(struct whatif_state *s, struct what_if *w)
{
	uint64_t pages = 0;

	for (unsigned i = 0; i < s->zones; i++)
		pages += s->zone[i].managed;
	w->state_pages = pages;
	s->scale = (unsigned)((pages + PAGES_MOST - 1) / PAGES_MOST);
	if (!s->scale)
		s->scale = 1;
	w->scale = s->scale;
	if (s->scale == 1)
		return;
	for (unsigned i = 0; i < s->zones; i++)
		scale_zone(&s->zone[i], s->scale);
	s->min_free_kb /= s->scale;
	whatif_assume(w,
		      "the model is %u times smaller than the machine; blocks, pages and the "
		      "remedy's time are multiplied by that",
		      s->scale);
}

/* ---- settings and the request --------------------------------------------------------------- */

static const char *setting(const struct evidence *e, const char *name)
{
	const char *value = NULL;

	for (unsigned i = 0; i < e->settings; i++)
		if (!strcmp(e->setting[i].setting.name, name))
			value = e->setting[i].setting.value;
	return value;
}

static void settings(struct whatif_state *s, const struct evidence *e, struct what_if *w)
{
	const char *scale_factor = setting(e, "vm.watermark_scale_factor");
	const char *enabled = setting(e, "thp.enabled"), *defrag = setting(e, "thp.defrag");

	if (scale_factor)
		s->watermark_scale = (unsigned)strtoul(scale_factor, NULL, 10);
	/* The longest mode, "defer+madvise", fits; what is longer is none. */
	snprintf(s->thp_enabled, sizeof(s->thp_enabled), "%.15s", enabled ? enabled : "always");
	snprintf(s->thp_defrag, sizeof(s->thp_defrag), "%.15s", defrag ? defrag : "madvise");
	if (!enabled || !defrag)
		whatif_assume(w, "transparent huge pages: enabled=%s, defrag=%s", s->thp_enabled,
			      s->thp_defrag);
}

static void kernel(struct whatif_state *s, const struct evidence *e, struct what_if *w)
{
	uint32_t version = e->kernel.version;

	for (unsigned i = 0; i < e->events && !version; i++)
		version = e->event[i].log->version;
	snprintf(s->kernel, sizeof(s->kernel), "%s",
		 !version || version >= KERNEL_VERSION_CODE(7, 0, 0) ? "7.3"
		 : version >= KERNEL_VERSION_CODE(6, 15, 0)          ? "6.18"
								     : "6.12");
	snprintf(w->kernel, sizeof(w->kernel), "%s", s->kernel);
	whatif_assume(w, "the kernel behaves like %s%s", s->kernel,
		      version ? "" : " (the evidence does not name one)");
}

static gfp_t flags_of(uint32_t f)
{
	static const struct {
		uint32_t from;
		gfp_t to;
	} map[] = {
		{GFP_F_DMA, __GFP_DMA},
		{GFP_F_HIGHMEM, __GFP_HIGHMEM},
		{GFP_F_DMA32, __GFP_DMA32},
		{GFP_F_MOVABLE, __GFP_MOVABLE},
		{GFP_F_RECLAIMABLE, __GFP_RECLAIMABLE},
		{GFP_F_HIGH, __GFP_HIGH},
		{GFP_F_IO, __GFP_IO},
		{GFP_F_FS, __GFP_FS},
		{GFP_F_DIRECT_RECLAIM, __GFP_DIRECT_RECLAIM},
		{GFP_F_KSWAPD_RECLAIM, __GFP_KSWAPD_RECLAIM},
		{GFP_F_RETRY_MAYFAIL, __GFP_RETRY_MAYFAIL},
		{GFP_F_NORETRY, __GFP_NORETRY},
		{GFP_F_NOMEMALLOC, __GFP_NOMEMALLOC},
		{GFP_F_THISNODE, __GFP_THISNODE},
		{GFP_F_COMP, __GFP_COMP},
	};
	gfp_t gfp = 0;

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (f & map[i].from)
			gfp |= map[i].to;
	/* Masks of old kernels had no bit for it: everybody woke kswapd. */
	return gfp | ((f & (GFP_F_DIRECT_RECLAIM | GFP_F_HIGH)) && !(f & GFP_F_NO_KSWAPD)
			      ? __GFP_KSWAPD_RECLAIM
			      : 0);
}

#define REQUESTS   8
#define HUGE_PAGES 64

/* The worst incident's own request when it has one that the model can make; else huge pages. */
static void request(struct whatif_state *s, const struct cl_explanation *x, struct what_if *w)
{
	struct whatif_request *r = &s->request;
	const struct incident *worst = x->incidents ? x->incident[0] : NULL;
	const struct klog_event *log = NULL;

	for (unsigned i = 0; worst && worst->is_event && i < x->evidence.events; i++)
		if (x->evidence.event[i].file == worst->file &&
		    x->evidence.event[i].log->line == worst->line)
			log = x->evidence.event[i].log;
	if (log && log->order >= 0 && log->order < NR_PAGE_ORDERS && log->has_gfp) {
		char names[120];

		*r = (struct whatif_request){
			.order = (unsigned)log->order,
			.count = REQUESTS,
			.gfp = flags_of(log->gfp),
		};
		gfp_print(log->gfp, names, sizeof(names));
		snprintf(w->request, sizeof(w->request), "%u requests of order %u with %s",
			 r->count, r->order, names);
		return;
	}
	r->fault = true;
	r->order = PMD_ORDER;
	r->count = HUGE_PAGES;
	/* The kind of fault that waits with the settings as they are. */
	r->advised = strcmp(s->thp_enabled, "always") != 0 || !strcmp(s->thp_defrag, "madvise") ||
		     !strcmp(s->thp_defrag, "defer+madvise");
	snprintf(w->request, sizeof(w->request), "%u huge page faults of a program that %s",
		 r->count, r->advised ? "asks for them with madvise" : "does not ask for them");
}

/* ---- all of it ------------------------------------------------------------------------------ */

static bool has_state(const struct sample *s)
{
	return s->types_count && s->zones_count;
}

int whatif_state(struct cl_explanation *x, struct whatif_state *s, struct what_if *w)
{
	const struct evidence *e = &x->evidence;
	struct sample sample = {0};
	int samples = 0, r;

	memset(s, 0, sizeof(*s));
	for (unsigned i = 0; i < e->documents; i++)
		if (e->document[i].sample >= samples)
			samples = e->document[i].sample + 1;
	for (int k = 0; k < samples && !has_state(&sample); k++)
		sample_collect(e, (unsigned)k, &sample);
	if (!has_state(&sample))
		return missing(w, "it needs /proc/pagetypeinfo (as root) and /proc/zoneinfo of one "
				  "moment; compactlab collect has both");
	if (derive_page_kb(e) != 4)
		return missing(w, "the model has pages of 4 KiB");
	if (sample.types->types.block_order && sample.types->types.block_order != PAGEBLOCK_ORDER)
		return missing(w, "the model has pageblocks of order 9");
	for (unsigned i = 0; i < sample.meminfo_count; i++)
		s->swap_mib = counters_value(&sample.meminfo[i]->counters, "SwapFree") / 1024;
	kernel(s, e, w);
	settings(s, e, w);
	request(s, x, w);
	r = all_zones(s, &sample, w);
	if (!r && !s->zones)
		r = missing(w, "/proc/zoneinfo shows no zone with memory");
	if (r)
		return r;
	qsort(s->zone, s->zones, sizeof(s->zone[0]), by_place);
	keep_cma(s, w);
	w->blocks_before = whatif_free_blocks(s);
	if (x->snapshot) {
		s->scale = w->scale = 1;
		for (unsigned i = 0; i < s->zones; i++)
			w->state_pages += s->zone[i].managed;
	} else {
		scale(s, w);
	}
	return 0;
}
