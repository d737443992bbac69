/* SPDX-License-Identifier: MIT */
/*
 * watermark.c - min_free_kbytes, zone marks, reserves, boost and the watermark test; see
 * watermark.h.
 */
#include "model/watermark.h"

#include "model/pcp.h"
#include "model/thp.h"
#include "model/trace.h"

#define KB_PER_PAGE       4u
#define MIN_FREE_KB_LEAST 128u
#define MIN_FREE_KB_MOST  262144u
#define PER_10000         10000u

/* ---- min_free_kbytes ---------------------------------------------------------------------- */

/* Largest r with r * r <= x. */
static uint64_t isqrt(uint64_t x)
{
	uint64_t r = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		if ((r + bit) * (r + bit) <= x)
			r += bit;
	}
	return r;
}

static uint64_t share_of(uint64_t pages, uint64_t per_10000)
{
	return pages * per_10000 / PER_10000;
}

/* Mirrors nr_free_buffer_pages(): what GFP_USER can reach above the high marks. */
static uint64_t buffer_pages(const struct model *m)
{
	uint64_t pages = 0;

	for (uint32_t i = 0; i < m->nr_zones; i++) {
		const struct zone *z = &m->zone[i];
		uint64_t high = zone_wmark(z, WMARK_HIGH);

		if (z->class <= ZONE_NORMAL && z->managed > high)
			pages += z->managed - high;
	}
	return pages;
}

/* Mirrors calculate_min_free_kbytes(). */
static void set_base_min_free(struct model *m)
{
	uint64_t kb = isqrt(buffer_pages(m) * KB_PER_PAGE * 16);

	if (m->sysctl.user_min_free_kbytes != 0 && kb <= m->sysctl.user_min_free_kbytes)
		return;
	if (kb < MIN_FREE_KB_LEAST)
		kb = MIN_FREE_KB_LEAST;
	if (kb > MIN_FREE_KB_MOST)
		kb = MIN_FREE_KB_MOST;
	m->sysctl.min_free_kbytes = kb;
}

/* Mirrors set_recommended_min_free_kbytes() for huge pages in use: two blocks of each type for each
 * zone to keep apart, and nine more against mixing. */
static void raise_for_thp(struct model *m)
{
	uint64_t zones = 0, pages;

	for (uint32_t i = 0; i < m->nr_zones; i++)
		zones += m->zone[i].class <= ZONE_NORMAL && m->zone[i].managed ? 1 : 0;
	pages = PAGEBLOCK_PAGES * zones * 2 +
		PAGEBLOCK_PAGES * zones * MIGRATE_PCPTYPES * MIGRATE_PCPTYPES;
	if (pages > buffer_pages(m) / 20)
		pages = buffer_pages(m) / 20;
	if (pages * KB_PER_PAGE > m->sysctl.min_free_kbytes)
		m->sysctl.min_free_kbytes = pages * KB_PER_PAGE;
}

void watermark_recalculate_min_free(struct model *m)
{
	if (!m->booted) {
		/* A value given for boot is what a user writes after it: taken as it is. */
		if (m->sysctl.min_free_kbytes != 0) {
			m->sysctl.user_min_free_kbytes = m->sysctl.min_free_kbytes;
			return;
		}
		set_base_min_free(m);
		if (thp_raises_min_free(m)) {
			/* khugepaged starts when the marks of the base value already stand. */
			watermark_setup(m);
			raise_for_thp(m);
		}
		return;
	}
	if (thp_raises_min_free(m))
		raise_for_thp(m);
	else
		set_base_min_free(m);
}

/* ---- marks and reserves ------------------------------------------------------------------- */

/* Mirrors __setup_per_zone_wmarks(). */
static void set_marks(struct model *m)
{
	uint64_t min_pages = m->sysctl.min_free_kbytes / KB_PER_PAGE;
	uint64_t lowmem = 0;

	for (uint32_t i = 0; i < m->nr_zones; i++)
		lowmem += m->zone[i].class != ZONE_MOVABLE ? m->zone[i].managed : 0;
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		struct zone *z = &m->zone[i];
		uint64_t share = lowmem ? min_pages * z->managed / lowmem : 0;
		uint64_t gap = share_of(z->managed, m->sysctl.watermark_scale_factor);

		z->wmark[WMARK_MIN] = share;
		if (z->class == ZONE_MOVABLE) {
			uint64_t min = z->managed / 1024;

			z->wmark[WMARK_MIN] = min < SWAP_CLUSTER_MAX ? SWAP_CLUSTER_MAX
					      : min > 128            ? 128
								     : min;
		}
		if (gap < share / 4)
			gap = share / 4;
		z->boost = 0;
		z->wmark[WMARK_LOW] = z->wmark[WMARK_MIN] + gap;
		z->wmark[WMARK_HIGH] = z->wmark[WMARK_LOW] + gap;
		z->wmark[WMARK_PROMO] = z->wmark[WMARK_HIGH] + gap;
	}
}

/* Mirrors setup_per_zone_lowmem_reserve(): a class must leave alone what only lower classes can
 * use. */
static void set_reserves(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		struct zone *z = &m->zone[i];
		const struct node *n = node_get(m, z->node);
		uint32_t ratio = m->sysctl.lowmem_reserve_ratio[z->class];
		uint64_t above = 0;

		for (int j = 0; j < NR_ZONE_CLASSES; j++) {
			if (j <= (int)z->class) {
				z->lowmem_reserve[j] = 0;
				continue;
			}
			if (n->zone[j].v != ZONE_NONE.v)
				above += zone_get(m, n->zone[j])->managed;
			z->lowmem_reserve[j] = ratio && z->managed ? above / ratio : 0;
		}
	}
}

/* Mirrors calculate_totalreserve_pages(). */
static uint64_t zone_reserve(const struct zone *z)
{
	uint64_t most = 0;

	for (int j = z->class; j < NR_ZONE_CLASSES; j++)
		most = z->lowmem_reserve[j] > most ? z->lowmem_reserve[j] : most;
	most += z->wmark[WMARK_HIGH];
	return most > z->managed ? z->managed : most;
}

/* Mirrors pgdat.totalreserve_pages. */
static uint64_t watermark_node_reserve(const struct model *m, const struct node *n)
{
	uint64_t pages = 0;

	for (int c = 0; c < NR_ZONE_CLASSES; c++) {
		if (n->zone[c].v != ZONE_NONE.v)
			pages += zone_reserve(&m->zone[n->zone[c].v]);
	}
	return pages;
}

uint64_t watermark_dirtyable(const struct model *m, const struct node *nodes, unsigned nr)
{
	uint64_t free = 0, reserve = 0, file = 0;

	for (const struct node *n = nodes; n < nodes + nr; n++) {
		for (int c = 0; c < NR_ZONE_CLASSES; c++) {
			if (n->zone[c].v != ZONE_NONE.v)
				free += (uint64_t)zone_free_pages(&m->zone[n->zone[c].v]);
		}
		reserve += watermark_node_reserve(m, n);
		file += (uint64_t)n->stat[VM_NR_INACTIVE_FILE - VM_NODE_FIRST];
		file += (uint64_t)n->stat[VM_NR_ACTIVE_FILE - VM_NODE_FIRST];
	}
	return free - (free < reserve ? free : reserve) + file;
}

void watermark_setup(struct model *m)
{
	set_marks(m);
	set_reserves(m);
	m->total_reserve_pages = 0;
	for (unsigned i = 0; i < MAX_NODES; i++)
		m->total_reserve_pages += watermark_node_reserve(m, &m->node[i]);
	for (uint32_t i = 0; i < m->nr_zones; i++)
		pcp_resize_zone(m, &m->zone[i]);
}

/* ---- the test ----------------------------------------------------------------------------- */

bool watermark_ok(const struct zone *z, unsigned order, uint64_t mark, enum zone_class class,
		  alloc_flags_t flags, int64_t free)
{
	int64_t min = (int64_t)mark;
	unsigned lists;

	free -= watermark_unusable(z, order, flags);
	if (flags & ALLOC_RESERVES) {
		if (flags & ALLOC_MIN_RESERVE) {
			min -= min / 2;
			if (flags & ALLOC_NON_BLOCK)
				min -= min / 4;
		}
		if (flags & ALLOC_OOM)
			min -= min / 2;
	}
	if (free <= min + (int64_t)z->lowmem_reserve[class])
		return false;
	if (order == 0)
		return true;
	lists = z->avail[MIGRATE_UNMOVABLE] | z->avail[MIGRATE_MOVABLE] |
		z->avail[MIGRATE_RECLAIMABLE];
	if (flags & ALLOC_CMA)
		lists |= z->avail[MIGRATE_CMA];
	if (flags & (ALLOC_HIGHATOMIC | ALLOC_OOM))
		lists |= z->avail[MIGRATE_HIGHATOMIC];
	return lists >> order != 0;
}

bool watermark_full(const struct zone *z, unsigned order, uint64_t mark, enum zone_class class,
		    alloc_flags_t flags)
{
	int64_t free = zone_free_pages(z);

	if (watermark_ok(z, order, mark, class, flags, free))
		return true;
	/* A boost is no reason to fail those who may use the reserve. */
	if (order == 0 && flags & ALLOC_MIN_RESERVE && z->boost != 0 &&
	    (flags & ALLOC_WMARK_MASK) == ALLOC_WMARK_MIN)
		return watermark_ok(z, order, z->wmark[WMARK_MIN], class, flags, free);
	return false;
}

bool watermark_boost(struct model *m, struct zone *z)
{
	uint64_t most = share_of(z->wmark[WMARK_HIGH], m->sysctl.watermark_boost_factor);

	if (m->sysctl.watermark_boost_factor == 0 || 4 * PAGEBLOCK_PAGES > z->managed || most == 0)
		return false;
	if (most < PAGEBLOCK_PAGES)
		most = PAGEBLOCK_PAGES;
	z->boost = z->boost + PAGEBLOCK_PAGES < most ? z->boost + PAGEBLOCK_PAGES : most;
	return true;
}
