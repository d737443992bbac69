/* SPDX-License-Identifier: MIT */
#include "explain/zone_view.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const rank_names[] = {"DMA", "DMA32", "Normal", "HighMem", "Movable", "Device"};
enum { RANK_DMA, RANK_DMA32, RANK_NORMAL, RANK_HIGHMEM, RANK_MOVABLE, RANK_DEVICE };

static int rank_of(const char *name)
{
	for (int i = 0; i <= RANK_DEVICE; i++)
		if (!strcmp(name, rank_names[i]))
			return i;
	return RANK_NORMAL;
}

/* The highest zone the flags allow. */
static int class_of(uint32_t gfp)
{
	if (gfp & GFP_F_DMA)
		return RANK_DMA;
	if (gfp & GFP_F_DMA32)
		return RANK_DMA32;
	if ((gfp & GFP_F_HIGHMEM) && (gfp & GFP_F_MOVABLE))
		return RANK_MOVABLE;
	if (gfp & GFP_F_HIGHMEM)
		return RANK_HIGHMEM;
	return RANK_NORMAL;
}

const char *zone_why_text(enum zone_why why)
{
	static const char *const texts[ZONE_WHYS] = {
		[ZONE_OPEN] = "usable",
		[ZONE_OUT_OF_REACH] = "out of reach for these flags",
		[ZONE_RESERVE] = "held back by lowmem_reserve",
		[ZONE_WATERMARK] = "below the watermark",
		[ZONE_ORDER_WATERMARK] = "below the watermark for this order (kernels before 4.4)",
		[ZONE_ASSUMED_RESERVE] = "held back (assumed: no lowmem_reserve was given)",
	};

	return texts[why];
}

/* ---- filling in --------------------------------------------------------------------- */

static struct zone_view *add(struct zone_views *v, int node, const char *name, int file)
{
	struct zone_view *z;

	if (v->count == ZONE_VIEWS_MOST)
		return NULL;
	z = reallocarray(v->zone, v->count + 1, sizeof(*z));
	if (!z)
		return NULL;
	v->zone = z;
	z += v->count++;
	memset(z, 0, sizeof(*z));
	z->node = node;
	memcpy(z->name, name, sizeof(z->name));
	z->file = file;
	z->page_kb = 4;
	return z;
}

static void set_blocks(struct zone_view *z, const uint64_t *blocks, unsigned orders)
{
	z->has_blocks = true;
	z->orders = orders;
	memcpy(z->blocks, blocks, sizeof(z->blocks));
	z->sum_kb = 0;
	for (unsigned o = 0; o < orders; o++)
		z->sum_kb += blocks[o] * ((uint64_t)z->page_kb << o);
}

int zone_views_of_event(struct zone_views *v, const struct klog_event *e, int file)
{
	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; i < e->zones; i++) {
		const struct klog_zone *k = &e->zone[i];
		struct zone_view *z = add(v, k->node, k->name, file);

		if (!z)
			return -ENOMEM;
		z->state_line = k->state_line;
		z->list_line = k->list_line;
		z->has_marks = k->state_line > 0;
		z->free_kb = k->free_kb;
		z->min_kb = k->min_kb;
		z->low_kb = k->low_kb;
		z->high_kb = k->high_kb;
		z->size_kb = k->managed_kb ? k->managed_kb : k->present_kb;
		z->free_cma_kb = k->free_cma_kb;
		z->highatomic_kb = k->reserved_highatomic_kb;
		z->highatomic_free_kb = k->free_highatomic_kb;
		z->reserves = k->reserves;
		memcpy(z->reserve_pages, k->reserve_pages, sizeof(z->reserve_pages));
		if (k->list_line) {
			z->page_kb = k->page_kb;
			set_blocks(z, k->blocks, k->orders);
			memcpy(z->types, k->types, sizeof(z->types));
			z->has_types = k->has_types;
			z->has_total = k->has_total;
			z->total_kb = k->total_kb;
			if (!z->has_marks)
				z->free_kb = z->sum_kb;
		}
	}
	return 0;
}

int zone_views_of_tables(struct zone_views *v, const struct buddyinfo *b, int buddy_file,
			 int buddy_line, const struct zoneinfo *zones, int zones_file,
			 int zones_line, unsigned page_kb)
{
	memset(v, 0, sizeof(*v));
	for (unsigned i = 0; b && i < b->count; i++) {
		struct zone_view *z = add(v, b->zone[i].node, b->zone[i].zone, buddy_file);

		if (!z)
			return -ENOMEM;
		z->page_kb = page_kb;
		z->list_line = b->zone[i].line + buddy_line;
		set_blocks(z, b->zone[i].free, b->zone[i].orders);
		z->free_kb = z->sum_kb;
	}
	for (unsigned i = 0; zones && i < zones->count; i++) {
		const struct zone_info *from = &zones->zone[i];
		struct zone_view *z = NULL;

		for (unsigned k = 0; k < v->count; k++)
			if (v->zone[k].node == from->node && !strcmp(v->zone[k].name, from->zone))
				z = &v->zone[k];
		if (!z && (!from->has_managed || from->managed)) {
			z = add(v, from->node, from->zone, zones_file);
			if (!z)
				return -ENOMEM;
			z->page_kb = page_kb;
			z->free_kb = from->free * page_kb;
		}
		if (!z)
			continue;
		z->state_line = from->line + zones_line;
		z->has_marks = true;
		z->min_kb = from->min * page_kb;
		z->low_kb = from->low * page_kb;
		z->high_kb = from->high * page_kb;
		z->size_kb = (from->has_managed ? from->managed : from->present) * page_kb;
		z->free_cma_kb = counters_value(&from->stats, "nr_free_cma") * page_kb;
		z->highatomic_kb = from->reserved_highatomic * page_kb;
		z->reserves = from->protections;
		memcpy(z->reserve_pages, from->protection, sizeof(z->reserve_pages));
	}
	return 0;
}

void zone_views_free(struct zone_views *v)
{
	free(v->zone);
	memset(v, 0, sizeof(*v));
}

/* ---- judging ------------------------------------------------------------------------ */

/*
 * lowmem_reserve of the request's class. Its index counts the configured zones, of which
 * empty ones are not printed. Beyond the highest zone with memory all entries are equal,
 * so the last one serves unless a zone above the class has memory.
 */
static uint64_t reserve_pages(const struct zone_views *v, const struct zone_view *z, int class)
{
	bool above = false, seen[RANK_DEVICE + 1] = {false};
	unsigned index = 0;

	if (!z->reserves || rank_of(z->name) >= class)
		return 0;
	for (unsigned i = 0; i < v->count; i++) {
		int rank = rank_of(v->zone[i].name);

		seen[rank] = true;
		above |= rank > class && v->zone[i].size_kb;
	}
	if (!above)
		return z->reserve_pages[z->reserves - 1];
	for (int rank = 0; rank < class; rank++)
		index += seen[rank];
	return z->reserve_pages[index < z->reserves ? index : z->reserves - 1];
}

static bool may_highatomic(const struct request *r)
{
	return r->has_gfp && (r->gfp & GFP_F_ATOMIC) && gfp_is_atomic(r->gfp) && r->order > 0;
}

static bool may_cma(const struct request *r)
{
	return r->has_gfp && (r->gfp & GFP_F_MOVABLE);
}

/* Are the blocks of that order on a list the request may take from? */
static bool list_open(const struct zone_view *z, unsigned o, const struct request *r)
{
	uint8_t t = z->types[o];

	if (!z->has_types || !t)
		return true;
	if (t & (KLOG_TYPE_U | KLOG_TYPE_M | KLOG_TYPE_E | KLOG_TYPE_R))
		return true;
	if ((t & KLOG_TYPE_C) && may_cma(r))
		return true;
	return (t & KLOG_TYPE_H) && may_highatomic(r);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* Why the watermark refuses that order, or ZONE_OPEN. */
static enum zone_why watermark(const struct zone_view *z, const struct request *r, unsigned order)
{
	uint64_t free_pages = z->free_kb / z->page_kb, min = z->min_kb / z->page_kb;
	uint64_t reserve = z->reserve_kb / z->page_kb;

	if (!z->has_marks)
		return ZONE_OPEN;
	if (!may_cma(r))
		free_pages = less(free_pages, z->free_cma_kb / z->page_kb);
	if (!may_highatomic(r) && !r->old)
		free_pages = less(free_pages, z->highatomic_kb / z->page_kb);
	free_pages = less(free_pages, (1ULL << order) - 1);
	if (r->has_gfp && (r->gfp & GFP_F_HIGH))
		min -= min / 2;
	if (r->has_gfp && (r->gfp & GFP_F_ATOMIC))
		min -= min / 4;
	if (free_pages <= min + reserve)
		return free_pages > min ? ZONE_RESERVE : ZONE_WATERMARK;
	if (!r->old || !z->has_blocks)
		return ZONE_OPEN;
	for (unsigned o = 0; o < order && o < z->orders && o < PROCFS_MAX_ORDERS; o++) {
		free_pages = less(free_pages, z->blocks[o] << o);
		min >>= 1;
		if (free_pages <= min)
			return ZONE_ORDER_WATERMARK;
	}
	return ZONE_OPEN;
}

static bool block_at_least(const struct zone_view *z, const struct request *r, unsigned order)
{
	for (unsigned o = order; o < z->orders; o++)
		if (z->blocks[o] && list_open(z, o, r))
			return true;
	return false;
}

/* Without lowmem_reserve: the 16 MB of a PC are kept from everybody who can go elsewhere. */
static bool assumed_reserve(const struct zone_views *v, const struct zone_view *z, int class)
{
	if (z->reserves || z->has_marks || strcmp(z->name, "DMA") || class == RANK_DMA)
		return false;
	if (z->sum_kb > 64 * 1024)
		return false;
	for (unsigned i = 0; i < v->count; i++)
		if (rank_of(v->zone[i].name) > RANK_DMA)
			return true;
	return false;
}

static void judge(const struct zone_views *v, struct zone_view *z, const struct request *r)
{
	int class = r->has_gfp ? class_of(r->gfp) : RANK_NORMAL;
	unsigned order = r->order > 0 ? (unsigned)r->order : 0;
	bool assumed;

	z->eligible = rank_of(z->name) <= class;
	z->reserve_kb = reserve_pages(v, z, class) * z->page_kb;
	z->present_order = z->usable_order = -1;
	z->why = ZONE_OPEN;
	assumed = assumed_reserve(v, z, class);
	for (unsigned o = 0; o < z->orders; o++) {
		if (!z->blocks[o])
			continue;
		z->present_order = (int)o;
		if (z->eligible && !assumed && list_open(z, o, r) &&
		    watermark(z, r, o) == ZONE_OPEN)
			z->usable_order = (int)o;
	}
	if (!z->eligible)
		z->why = ZONE_OUT_OF_REACH;
	else if (assumed)
		z->why = ZONE_ASSUMED_RESERVE;
	else
		z->why = watermark(z, r, order);
	z->held_blocks = z->parked_blocks = z->cma_blocks = 0;
	for (unsigned o = order; o < z->orders && z->eligible; o++) {
		if (list_open(z, o, r))
			z->held_blocks += z->why == ZONE_OPEN ? 0 : z->blocks[o];
		else if (z->types[o] & KLOG_TYPE_C)
			z->cma_blocks += z->blocks[o];
		else
			z->parked_blocks += z->blocks[o];
	}
	/* Before 6.13 only the size of the reserve is printed; the letters tell what is free of
	   it at least. */
	if (!z->highatomic_free_kb)
		for (unsigned o = 0; o < z->orders; o++)
			if (z->types[o] == KLOG_TYPE_H)
				z->highatomic_free_kb += z->blocks[o] * ((uint64_t)z->page_kb << o);
	z->has_index = z->has_blocks && r->order > 0;
	if (z->has_index) {
		z->index = fragmentation_index(z->blocks, z->orders, order);
		if (z->index == -1000 && !block_at_least(z, r, order)) {
			/* Blocks are there, on lists that this request may not take from. */
			uint64_t own[PROCFS_MAX_ORDERS];

			memcpy(own, z->blocks, sizeof(own));
			for (unsigned o = order; o < z->orders; o++)
				own[o] = 0;
			z->index = fragmentation_index(own, z->orders, order);
		}
	}
}

void zone_views_judge(struct zone_views *v, const struct request *r)
{
	for (unsigned i = 0; i < v->count; i++)
		judge(v, &v->zone[i], r);
}

struct request request_of_event(const struct klog_event *e)
{
	struct request r = {
		.order = e->order,
		.gfp = e->gfp,
		.has_gfp = e->has_gfp,
		.version = e->version,
	};

	/* Names are printed since 4.6; without a version, a bare number is older. */
	r.old = r.version ? r.version < KERNEL_VERSION_CODE(4, 4, 0)
			  : r.has_gfp && !e->gfp_named && e->kind != KLOG_SLUB;
	return r;
}
