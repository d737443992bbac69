/* SPDX-License-Identifier: MIT */
/*
 * pcp.c - per-CPU lists: sizes, refill, flush, drains, decay; see pcp.h.
 */
#include "model/pcp.h"

#include <errno.h>

#include "model/arena.h"
#include "model/buddy.h"
#include "model/clock.h"
#include "model/fallback.h"
#include "model/memmap.h"
#include "model/reclaim.h"
#include "model/trace.h"
#include "model/watermark.h"

#define BATCH_SCALE_MAX     5
#define HIGH_MAX_SHARE      8u /* MIN_PERCPU_PAGELIST_HIGH_FRACTION */
#define REMOTE_EXPIRE_TICKS 3
#define BATCH_MAX           63u
#define REFILL_MAX          (BATCH_MAX << BATCH_SCALE_MAX)

static int64_t min_i64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t max_i64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static int64_t clamp_i64(int64_t x, int64_t lo, int64_t hi)
{
	return min_i64(max_i64(x, lo), hi);
}

/* ---- one list: a deque chained by the XOR of both neighbours ------------------------------ */

static void list_push_head(struct model *m, struct pcp_list *l, pfn_t pfn)
{
	m->map.word[pfn] = l->head;
	if (l->head)
		m->map.word[l->head] ^= pfn;
	else
		l->tail = pfn;
	l->head = pfn;
	l->nr++;
}

static void list_push_tail(struct model *m, struct pcp_list *l, pfn_t pfn)
{
	m->map.word[pfn] = l->tail;
	if (l->tail)
		m->map.word[l->tail] ^= pfn;
	else
		l->head = pfn;
	l->tail = pfn;
	l->nr++;
}

static pfn_t list_pop_head(struct model *m, struct pcp_list *l)
{
	pfn_t pfn = l->head;

	l->head = m->map.word[pfn];
	if (l->head)
		m->map.word[l->head] ^= pfn;
	else
		l->tail = PFN_NONE;
	l->nr--;
	return pfn;
}

static pfn_t list_pop_tail(struct model *m, struct pcp_list *l)
{
	pfn_t pfn = l->tail;

	l->tail = m->map.word[pfn];
	if (l->tail)
		m->map.word[l->tail] ^= pfn;
	else
		l->head = PFN_NONE;
	l->nr--;
	return pfn;
}

/* Mirrors order_to_pindex() and pindex_to_order(). */
static unsigned list_index(unsigned order, enum migratetype type)
{
	if (order == PMD_ORDER)
		return type == MIGRATE_MOVABLE ? PCP_LIST_THP_MOVABLE : PCP_LIST_THP_OTHER;
	return 3 * order + type;
}

static unsigned list_order(unsigned index)
{
	return index >= PCP_LIST_THP_OTHER ? PMD_ORDER : index / 3;
}

/* ---- sizes -------------------------------------------------------------------------------- */

int pcp_init(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_zones; i++) {
		m->zone[i].pcp = arena_reserve(m->arena, m->nr_cpus * sizeof(*m->zone[i].pcp));
		if (!m->zone[i].pcp)
			return -ENOMEM;
	}
	return 0;
}

/* Mirrors zone_batchsize(). */
static uint32_t zone_batch(const struct zone *z)
{
	uint64_t batch = z->managed / 1024;
	uint32_t power = 1;

	batch = (batch < 256 ? batch : 256) / 4;
	batch = batch ? batch : 1;
	while (power * 2 <= batch + batch / 2)
		power *= 2;
	return power > 2 ? power - 1 : 1;
}

/* Mirrors zone_highsize(). */
static uint32_t zone_high(const struct model *m, const struct zone *z, uint64_t total,
			  uint32_t batch)
{
	uint32_t cpus = m->node[z->node.v].nr_cpus;
	uint64_t high;

	if (cpus == 0)
		cpus = m->nr_cpus;
	high = total / cpus;
	return (uint32_t)(high > 4ull * batch ? high : 4ull * batch);
}

void pcp_resize_zone(struct model *m, struct zone *z)
{
	uint32_t fraction = m->sysctl.percpu_pagelist_high_fraction;
	uint32_t batch = zone_batch(z);
	uint32_t high_min, high_max;

	if (fraction) {
		high_min = high_max = zone_high(m, z, z->managed / fraction, batch);
	} else {
		high_min = zone_high(m, z, z->wmark[WMARK_LOW], batch);
		high_max = zone_high(m, z, z->managed / HIGH_MAX_SHARE, batch);
	}
	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		z->pcp[c].batch = batch;
		z->pcp[c].high_min = high_min;
		z->pcp[c].high_max = high_max;
	}
}

/* ---- bulk --------------------------------------------------------------------------------- */

/* Mirrors free_pcppages_bulk(): from the tails, the given list first, each list to its end. */
static void bulk_free(struct model *m, struct zone *z, struct pcp *p, int64_t count, unsigned index)
{
	uint64_t chunks = 0;

	count = min_i64(count, p->count);
	p->remote_activity = true;
	for (; count > 0; index = index + 1 < NR_PCP_LISTS ? index + 1 : 0) {
		struct pcp_list *l = &p->list[index];
		unsigned order = list_order(index);

		while (count > 0 && l->nr) {
			pfn_t pfn = list_pop_tail(m, l);

			p->count -= 1u << order;
			count -= 1 << order;
			memmap_unmark_pcp(m, pfn, order);
			TRACE(m, PAGE_PCPU_DRAIN, .pfn = pfn, .order = (int)order,
			      .migratetype = block_list_type(m, pfn));
			buddy_free(m, z, pfn, order, false);
			chunks++;
		}
	}
	clock_charge(m, COST_BUDDY_FREE, chunks);
}

/* Mirrors nr_pcp_alloc(): how many chunks a refill takes; raises the set's limit first. */
static uint32_t refill_chunks(const struct zone *z, struct pcp *p, unsigned order)
{
	int64_t base = p->batch, high, batch;

	high = p->high = (uint32_t)clamp_i64(p->high, p->high_min, p->high_max);
	if (high < base)
		return 1;
	batch = order ? base : base << p->alloc_factor;
	if (p->high_min != p->high_max && !z->below_high)
		high = p->high = (uint32_t)min_i64(high + batch, p->high_max);
	if (order == 0) {
		int64_t room = max_i64(high - p->count - base, base);

		if (batch <= room && p->alloc_factor < BATCH_SCALE_MAX)
			p->alloc_factor++;
		batch = min_i64(batch, room);
	}
	return (uint32_t)(batch > 1 ? max_i64(batch >> order, 2) : batch);
}

/* Fills an empty list; false when the zone has nothing. */
static bool refill(struct model *m, struct zone *z, struct pcp *p, struct pcp_list *l,
		   unsigned order, enum migratetype type, alloc_flags_t flags)
{
	pfn_t taken[REFILL_MAX];
	uint32_t n = refill_chunks(z, p, order);

	must(n <= REFILL_MAX);
	n = fallback_bulk(m, z, order, type, flags, n, taken);
	for (uint32_t i = 0; i < n; i++) {
		memmap_mark_pcp(m, taken[i], order);
		list_push_tail(m, l, taken[i]);
	}
	p->count += n << order;
	clock_charge(m, COST_PCP_REFILL_CHUNK, n);
	return n != 0;
}

pfn_t pcp_alloc(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		alloc_flags_t flags)
{
	struct pcp *p = pcp_of(z, m->ctx.cpu);
	struct pcp_list *l = &p->list[list_index(order, type)];
	pfn_t pfn;

	p->free_count >>= 1;
	p->remote_activity = true;
	if (l->nr == 0) {
		/* A refill would starve the reserve that such a request is meant to build up. */
		if (m->profile->highatomic_growth == HIGHATOMIC_FROM_BUDDY_AT_MIN &&
		    flags & ALLOC_HIGHATOMIC && (flags & ALLOC_WMARK_MASK) == ALLOC_WMARK_MIN)
			return PFN_NONE;
		if (!refill(m, z, p, l, order, type, flags))
			return PFN_NONE;
	}
	pfn = list_pop_head(m, l);
	p->count -= 1u << order;
	memmap_unmark_pcp(m, pfn, order);
	return pfn;
}

/* ---- freeing ------------------------------------------------------------------------------ */

/* Mirrors nr_pcp_high(): the count from which on a free flushes; tunes the set's own limit. */
static int64_t flush_limit(const struct zone *z, struct pcp *p, bool free_high)
{
	int64_t batch = p->batch, burst = max_i64(p->free_count, batch);
	int64_t high = clamp_i64(p->high, p->high_min, p->high_max);

	p->high = (uint32_t)high;
	if (high == 0)
		return 0;
	if (free_high) {
		p->high = (uint32_t)max_i64(high - (batch << BATCH_SCALE_MAX), p->high_min);
		return 0;
	}
	if (z->reclaim_active) {
		p->high = (uint32_t)max_i64(high - burst, p->high_min);
		return min_i64(batch << 2, p->high);
	}
	if (p->high_min == p->high_max)
		return high;
	if (z->below_high) {
		p->high = (uint32_t)max_i64(high - burst, p->high_min);
		return max_i64(p->count, p->high_min);
	}
	if (p->count >= high) {
		int64_t need = (int64_t)p->free_count + batch;

		if (p->high < need)
			p->high = (uint32_t)clamp_i64(need, p->high_min, p->high_max);
	}
	return high;
}

/* Mirrors nr_pcp_free(): how many pages such a flush gives back. */
static int64_t flush_pages(const struct pcp *p, int64_t limit, bool free_high)
{
	int64_t batch = p->batch;

	if (free_high)
		return min_i64(p->count, batch << BATCH_SCALE_MAX);
	if (limit < batch)
		return 1;
	/* As clamp(), the lower bound first: limit - batch may be below batch. */
	return min_i64(max_i64(p->free_count, batch), limit - batch);
}

/* After a flush: has the zone recovered? The tail of free_frozen_page_commit(). */
static void after_flush(struct model *m, struct zone *z)
{
	if (!z->below_high ||
	    !watermark_ok(z, 0, zone_wmark(z, WMARK_HIGH), ZONE_MOVABLE, 0, zone_free_pages(z)))
		return;
	z->below_high = false;
	kswapd_pcp_flushed(m, z);
}

/* Is this a burst of freed order 1..3 chunks without allocations between? */
static bool is_free_high(const struct model *m, struct pcp *p, unsigned order)
{
	uint32_t threshold = p->batch;
	bool burst;

	if (m->profile->free_high_adds_half_high_min)
		threshold += p->high_min / 2;
	if (order == 0 || order > PAGE_ALLOC_COSTLY_ORDER) {
		p->prev_free_high_order = false;
		return false;
	}
	burst = p->free_count >= threshold && p->prev_free_high_order &&
		(!m->config.large_cpu_cache || p->count >= p->batch);
	p->prev_free_high_order = true;
	return burst;
}

void pcp_put(struct model *m, struct zone *z, cpu_id cpu, pfn_t pfn, unsigned order,
	     enum migratetype type)
{
	struct pcp *p = pcp_of(z, cpu);

	memmap_mark_pcp(m, pfn, order);
	list_push_head(m, &p->list[list_index(order, type)], pfn);
	p->count += 1u << order;
}

void pcp_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order)
{
	struct pcp *p = pcp_of(z, m->ctx.cpu);
	enum migratetype type = block_list_type(m, pfn);
	int64_t limit, left;
	bool free_high;

	if (type == MIGRATE_ISOLATE) {
		buddy_free(m, z, pfn, order, false);
		clock_charge(m, COST_BUDDY_FREE, 1);
		return;
	}
	if (type >= MIGRATE_PCPTYPES)
		type = MIGRATE_MOVABLE;
	p->alloc_factor >>= 1;
	p->remote_activity = true;
	pcp_put(m, z, m->ctx.cpu, pfn, order, type);
	free_high = is_free_high(m, p, order);
	if (p->free_count < p->batch << BATCH_SCALE_MAX)
		p->free_count += 1u << order;
	limit = flush_limit(z, p, free_high);
	if (p->count < limit)
		return;
	left = flush_pages(p, limit, free_high);
	if (m->profile->pcp_flush == PCP_FLUSH_ONE_BULK) {
		bulk_free(m, z, p, left, list_index(order, type));
	} else {
		while (left > 0 && p->count > 0) {
			int64_t bulk = min_i64(left, p->batch);

			bulk_free(m, z, p, bulk, list_index(order, type));
			left -= bulk;
		}
	}
	after_flush(m, z);
}

/* ---- drains ------------------------------------------------------------------------------- */

void pcp_drain_local(struct model *m, struct zone *z)
{
	struct pcp *p = pcp_of(z, m->ctx.cpu);

	clock_charge(m, COST_DRAIN_LOCAL, 1);
	bulk_free(m, z, p, p->count, 0);
}

void pcp_drain_all(struct model *m, struct zone *only)
{
	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		bool reached = false;

		for (uint32_t i = 0; i < m->nr_zones; i++) {
			struct zone *z = &m->zone[i];

			if ((only && z != only) || z->pcp[c].count == 0)
				continue;
			bulk_free(m, z, &z->pcp[c], z->pcp[c].count, 0);
			reached = true;
		}
		if (reached)
			clock_charge(m, COST_DRAIN_ALL, 1);
	}
}

/* Mirrors decay_pcp_high(): a limit that is not used shrinks, the excess goes back. */
static void decay(struct model *m, struct zone *z, struct pcp *p)
{
	int64_t excess;

	if (p->high > p->high_min) {
		int64_t high = max_i64((int64_t)p->count - ((int64_t)p->batch << BATCH_SCALE_MAX),
				       (int64_t)p->high - (p->high >> 3));

		p->high = (uint32_t)max_i64(high, p->high_min);
	}
	for (excess = (int64_t)p->count - p->high; excess > 0; excess -= p->batch)
		bulk_free(m, z, p, min_i64(excess, p->batch), 0);
}

/* Mirrors the pageset half of refresh_cpu_vm_stats(). */
void pcp_tick(struct model *m)
{
	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		for (uint32_t i = 0; i < m->nr_zones; i++) {
			struct zone *z = &m->zone[i];
			struct pcp *p = &z->pcp[c];

			if (p->remote_activity)
				p->expire = REMOTE_EXPIRE_TICKS;
			p->remote_activity = false;
			decay(m, z, p);
			if (p->expire == 0 || p->count == 0)
				continue;
			if (z->node.v == m->cpu[c].node.v)
				p->expire = 0;
			else if (--p->expire == 0)
				bulk_free(m, z, p, p->batch, 0);
		}
	}
}

/* ---- looking ------------------------------------------------------------------------------ */

uint64_t pcp_zone_pages(const struct model *m, const struct zone *z)
{
	uint64_t pages = 0;

	for (uint32_t c = 0; c < m->nr_cpus; c++)
		pages += z->pcp[c].count;
	return pages;
}

static bool list_is_valid(struct model *m, struct zone *z, const struct pcp_list *l, unsigned order)
{
	pfn_t previous = PFN_NONE, pfn = l->head;
	uint32_t nr = 0;

	while (pfn) {
		pfn_t next = m->map.word[pfn] ^ previous;

		if (m->map.state[pfn] != PG_STATE(PG_PCP, order) || zone_of(m, pfn) != z ||
		    nr++ == l->nr)
			return false;
		previous = pfn;
		pfn = next;
	}
	return nr == l->nr && l->tail == previous;
}

bool pcp_zone_is_valid(struct model *m, struct zone *z)
{
	uint64_t in_blocks = 0, on_lists = 0;

	for (uint32_t c = 0; c < m->nr_cpus; c++) {
		const struct pcp *p = &z->pcp[c];
		uint64_t count = 0;

		for (unsigned i = 0; i < NR_PCP_LISTS; i++) {
			if (!list_is_valid(m, z, &p->list[i], list_order(i)))
				return false;
			count += (uint64_t)p->list[i].nr << list_order(i);
		}
		if (count != p->count)
			return false;
		on_lists += count;
	}
	for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++)
		in_blocks += m->map.zone_of_block[b] == z->id.v ? m->map.block[b].nr_pcp : 0;
	return in_blocks == on_lists;
}
