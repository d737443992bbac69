/* SPDX-License-Identifier: MIT */
/*
 * buddy.c - free lists of one zone: take, split, free, merge, pristine runs; see buddy.h.
 */
#include "model/buddy.h"

#include <errno.h>

#include "model/arena.h"
#include "model/buddy_list.h"
#include "model/compact.h"
#include "model/pcp.h"
#include "model/trace.h"

#define CHUNK_PAGES (1u << MAX_PAGE_ORDER)

/* ---- lists -------------------------------------------------------------------------------- */

void buddy_list_moved(void *ctx, uint32_t value, uint32_t pos)
{
	struct buddy_list_owner *owner = ctx;

	if (value & RING_RUN)
		owner->z->run[value & ~RING_RUN].pos = pos;
	else
		owner->word[value] = pos;
}

/* Cells for twice the most chunks there can be, so that no push ever fails. */
static uint32_t ring_capacity(uint64_t pages, unsigned order)
{
	uint64_t chunks = (pages >> order) + MAX_PRISTINE_RUNS + 2;
	uint32_t cap = RING_MIN_CAP;

	while (cap < 2 * chunks)
		cap *= 2;
	return cap;
}

int buddy_init_zone(struct model *m, struct zone *z)
{
	uint64_t pages = z->end_pfn - pb_start(z->start_pfn);
	size_t cells = 0;
	uint32_t *at;

	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
		cells += (size_t)ring_capacity(pages, order) * NR_MIGRATETYPES;
	at = arena_reserve(m->arena, cells * sizeof(*at));
	if (!at)
		return -ENOMEM;
	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
		for (int type = 0; type < NR_MIGRATETYPES; type++) {
			ring_init(&z->free[order][type], at, ring_capacity(pages, order));
			at += ring_capacity(pages, order);
		}
	}
	for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++) {
		if (m->map.zone_of_block[b] == z->id.v)
			z->nr_blocks_of[block_list_type(m, b << PAGEBLOCK_ORDER)]++;
	}
	return 0;
}

void buddy_rotate(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		  uint32_t pos)
{
	struct buddy_list_owner owner = {m->map.word, z};

	ring_rotate_to(&z->free[order][type], pos, buddy_list_moved, &owner);
}

uint64_t buddy_list_chunks(const struct zone *z, unsigned order, enum migratetype type)
{
	uint64_t cells = z->free[order][type].live;

	if (order == MAX_PAGE_ORDER && type == MIGRATE_MOVABLE)
		return cells - z->nr_runs + z->nr_run_chunks;
	return cells;
}

/* ---- pristine runs ------------------------------------------------------------------------ */

static struct ring *run_ring(struct zone *z)
{
	return &z->free[MAX_PAGE_ORDER][MIGRATE_MOVABLE];
}

/* The last record takes the place of the one that ends, so that records stay dense. */
static void run_end(struct zone *z, uint32_t i)
{
	struct ring *r = run_ring(z);
	uint32_t last = z->nr_runs - 1u;

	ring_remove(r, z->run[i].pos);
	if (i != last) {
		z->run[i] = z->run[last];
		r->cell[z->run[i].pos & (r->cap - 1)] = RING_RUN | i;
	}
	z->nr_runs--;
	if (ring_is_empty(r))
		z->avail[MIGRATE_MOVABLE] &= (uint16_t) ~(1u << MAX_PAGE_ORDER);
}

/* A chunk leaves its run: literal from now on, on no list. Its counts stay those of a free chunk.
 */
static void run_release(struct model *m, struct zone *z, pfn_t head)
{
	memmap_touch_pristine(m, head);
	z->nr_run_chunks--;
}

/* First chunk of a run that stands at the head of the list: held, accounted as taken. */
static pfn_t run_pop(struct model *m, struct zone *z, uint32_t i)
{
	pfn_t head = z->run[i].lo;

	run_release(m, z, head);
	memmap_unmark_free(m, head, MAX_PAGE_ORDER);
	z->nr_chunks[MAX_PAGE_ORDER]--;
	buddy_list_account(z, MAX_PAGE_ORDER, MIGRATE_MOVABLE, -(int64_t)CHUNK_PAGES);
	z->run[i].lo += CHUNK_PAGES;
	if (z->run[i].lo == z->run[i].hi)
		run_end(z, i);
	return head;
}

void buddy_materialise(struct model *m, pfn_t pfn)
{
	struct zone *z = zone_of(m, pfn);
	pfn_t head = pfn & ~(CHUNK_PAGES - 1);
	struct buddy_list_owner owner;
	struct ring *r;
	uint32_t i, old;

	if (!z || m->map.block[block_of(pfn).v].bits & BLOCK_TOUCHED)
		return;
	for (i = 0; i < z->nr_runs; i++) {
		if (head >= z->run[i].lo && head < z->run[i].hi)
			break;
	}
	if (i == z->nr_runs) /* boot has not given this memory out yet */
		return;
	owner = (struct buddy_list_owner){m->map.word, z};
	r = run_ring(z);
	run_release(m, z, head);
	m->map.word[head] = ring_insert(r, z->run[i].pos, head, buddy_list_moved, &owner);
	/* The chunk stands before its run now, where only the lowest belongs. */
	if (head == z->run[i].lo) {
		z->run[i].lo += CHUNK_PAGES;
		if (z->run[i].lo == z->run[i].hi)
			run_end(z, i);
		return;
	}
	if (z->nr_runs == MAX_PRISTINE_RUNS) {
		/* No record for a second half: what lies below becomes ordinary chunks, in order.
		 */
		for (pfn_t p = z->run[i].lo; p < head; p += CHUNK_PAGES) {
			run_release(m, z, p);
			m->map.word[p] =
				ring_insert(r, m->map.word[head], p, buddy_list_moved, &owner);
		}
	} else {
		old = z->nr_runs++;
		z->run[old] = (struct pristine_run){.lo = z->run[i].lo, .hi = head};
		z->run[old].pos =
			ring_insert(r, m->map.word[head], RING_RUN | old, buddy_list_moved, &owner);
	}
	z->run[i].lo = head + CHUNK_PAGES;
	if (z->run[i].lo == z->run[i].hi)
		run_end(z, i);
}

/* Ends a run with this chunk, or begins one; false when there is no record left. */
static bool run_append(struct model *m, struct zone *z, pfn_t head)
{
	struct ring *r = run_ring(z);
	uint32_t last = ring_is_empty(r) ? 0 : ring_at(r, r->tail - 1);

	if (last & RING_RUN && z->run[last & ~RING_RUN].hi == head) {
		z->run[last & ~RING_RUN].hi += CHUNK_PAGES;
	} else {
		struct buddy_list_owner owner = {m->map.word, z};
		uint32_t i = z->nr_runs;

		if (i == MAX_PRISTINE_RUNS)
			return false;
		z->run[i] = (struct pristine_run){.lo = head, .hi = head + CHUNK_PAGES};
		z->nr_runs++;
		z->run[i].pos = ring_push_tail(r, RING_RUN | i, buddy_list_moved, &owner);
	}
	z->nr_run_chunks++;
	z->nr_chunks[MAX_PAGE_ORDER]++;
	z->avail[MIGRATE_MOVABLE] |= 1u << MAX_PAGE_ORDER;
	buddy_list_account(z, MAX_PAGE_ORDER, MIGRATE_MOVABLE, CHUNK_PAGES);
	return true;
}

static bool block_is_pristine(const struct model *m, const struct zone *z, pfn_t pfn)
{
	const struct block *b = &m->map.block[block_of(pfn).v];

	return b->bits == 0 && b->type_x == 0 && m->map.zone_of_block[block_of(pfn).v] == z->id.v;
}

void buddy_boot_range(struct model *m, struct zone *z, pfn_t start, pfn_t end)
{
	while (start < end) {
		unsigned order = start ? (unsigned)__builtin_ctz(start) : MAX_PAGE_ORDER;

		if (order > MAX_PAGE_ORDER)
			order = MAX_PAGE_ORDER;
		while (start + (1u << order) > end)
			order--;
		if (order < MAX_PAGE_ORDER || !block_is_pristine(m, z, start) ||
		    !block_is_pristine(m, z, start + PAGEBLOCK_PAGES) || !run_append(m, z, start)) {
			memmap_boot_hold(m, start, order);
			buddy_free(m, z, start, order, true);
		}
		start += 1u << order;
	}
}

/* ---- taking ------------------------------------------------------------------------------- */

void buddy_split(struct model *m, struct zone *z, pfn_t pfn, unsigned high, unsigned low,
		 enum migratetype type)
{
	while (high > low) {
		high--;
		memmap_set_held(m, pfn + (1u << high), high);
		buddy_list_add(m, z, pfn + (1u << high), high, type, false);
	}
	memmap_set_held(m, pfn, low);
}

pfn_t buddy_list_pop(struct model *m, struct zone *z, unsigned order, enum migratetype type)
{
	uint32_t first = ring_at(&z->free[order][type], z->free[order][type].head);

	if (first & RING_RUN)
		return run_pop(m, z, first & ~RING_RUN);
	buddy_list_del(m, z, first, order, type);
	return first;
}

pfn_t buddy_take(struct model *m, struct zone *z, unsigned order, enum migratetype type)
{
	unsigned mask = z->avail[type] & ~0u << order;
	unsigned high;
	pfn_t pfn;

	if (mask == 0)
		return PFN_NONE;
	high = (unsigned)__builtin_ctz(mask);
	pfn = buddy_list_pop(m, z, high, type);
	buddy_split(m, z, pfn, high, order, type);
	TRACE(m, PAGE_ALLOC_ZONE_LOCKED, .pfn = pfn, .order = (int)order, .migratetype = type,
	      .percpu_refill = pcp_order_ok(m, order) && type < MIGRATE_PCPTYPES);
	return pfn;
}

/*
 * Repeated smallest-first taking uses a chunk up from its start before it looks at another, and
 * what it pushes on the way it pops again. So the pages of one chunk are handed out directly, and
 * only what is left of the last chunk goes onto lists: lists that are empty, because no smaller
 * chunk was there.
 */
uint32_t buddy_take_bulk(struct model *m, struct zone *z, unsigned order, enum migratetype type,
			 uint32_t n, pfn_t *taken)
{
	uint32_t nr = 0;

	while (nr < n) {
		unsigned mask = z->avail[type] & ~0u << order;
		unsigned high;
		pfn_t pfn, end, at;

		if (mask == 0)
			break;
		high = (unsigned)__builtin_ctz(mask);
		pfn = buddy_list_pop(m, z, high, type);
		end = pfn + (1u << high);
		for (at = pfn; at < end && nr < n; at += 1u << order) {
			memmap_set_held(m, at, order);
			TRACE(m, PAGE_ALLOC_ZONE_LOCKED, .pfn = at, .order = (int)order,
			      .migratetype = type,
			      .percpu_refill = pcp_order_ok(m, order) && type < MIGRATE_PCPTYPES);
			taken[nr++] = at;
		}
		while (at < end) {
			unsigned rest = (unsigned)__builtin_ctz(at - pfn);

			memmap_set_held(m, at, rest);
			buddy_list_add(m, z, at, rest, type, false);
			at += 1u << rest;
		}
	}
	return nr;
}

void buddy_take_chunk(struct model *m, struct zone *z, pfn_t head)
{
	buddy_materialise(m, head);
	buddy_list_del(m, z, head, PG_ORDER(m->map.state[head]), block_list_type(m, head));
}

/* ---- freeing ------------------------------------------------------------------------------ */

/* Mirrors find_buddy_page_pfn(): is there a free chunk of exactly this order, in this zone? */
static bool is_free_chunk(const struct model *m, const struct zone *z, pfn_t pfn, unsigned order)
{
	/* Below a block's order it is in the same block as the page that asks, so in the same zone.
	 */
	if (order >= PAGEBLOCK_ORDER && (pfn < z->start_pfn || pfn >= z->end_pfn ||
					 m->map.zone_of_block[block_of(pfn).v] != z->id.v))
		return false;
	return m->map.state[pfn] == PG_STATE(PG_FREE, order);
}

/* Mirrors buddy_merge_likely(): the buddy of the next higher order is free already. */
static bool merge_likely(const struct model *m, const struct zone *z, pfn_t pfn, unsigned order)
{
	pfn_t parent = pfn & ~(1u << order);

	if (order >= MAX_PAGE_ORDER - 1)
		return false;
	return is_free_chunk(m, z, parent ^ (1u << (order + 1)), order + 1);
}

static void free_one(struct model *m, struct zone *z, pfn_t pfn, unsigned order, bool to_tail)
{
	enum migratetype type = block_list_type(m, pfn);

	while (order < MAX_PAGE_ORDER) {
		pfn_t buddy = pfn ^ (1u << order);
		pfn_t upper = pfn | (1u << order);
		enum migratetype buddy_type = type;

		if (m->capture && compact_capture(m, z, pfn, order, type))
			return;
		if (!is_free_chunk(m, z, buddy, order))
			break;
		if (order >= PAGEBLOCK_ORDER) {
			buddy_type = block_list_type(m, buddy);
			if (buddy_type != type && (!migratetype_is_mergeable(type) ||
						   !migratetype_is_mergeable(buddy_type)))
				break;
		}
		buddy_list_del(m, z, buddy, order, buddy_type);
		if (buddy_type != type)
			buddy_block_set_type(m, z, block_of(buddy), type);
		memmap_set_body(m, upper);
		pfn &= ~(1u << order);
		order++;
		memmap_set_held(m, pfn, order);
	}
	buddy_list_add(m, z, pfn, order, type, to_tail || merge_likely(m, z, pfn, order));
}

void buddy_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order, bool to_tail)
{
	if (order <= PAGEBLOCK_ORDER) {
		free_one(m, z, pfn, order, to_tail);
		return;
	}
	/* Mirrors split_large_buddy(): block by block, each with its own type. */
	memmap_set_held(m, pfn, PAGEBLOCK_ORDER);
	memmap_set_held(m, pfn + PAGEBLOCK_PAGES, PAGEBLOCK_ORDER);
	free_one(m, z, pfn, PAGEBLOCK_ORDER, to_tail);
	free_one(m, z, pfn + PAGEBLOCK_PAGES, PAGEBLOCK_ORDER, to_tail);
}

/* ---- validation --------------------------------------------------------------------------- */

struct list_sums {
	int64_t pages, block_pages, cma_pages, highatomic_pages;
	uint64_t chunks[NR_PAGE_ORDERS];
	uint64_t run_chunks;
	uint32_t runs;
};

static bool run_is_valid(struct model *m, struct zone *z, uint32_t cell, uint32_t pos)
{
	uint32_t i = cell & ~RING_RUN;
	const struct pristine_run *run = &z->run[i];

	if (i >= z->nr_runs || run->pos != pos || run->lo >= run->hi || run->lo % CHUNK_PAGES ||
	    run->hi % CHUNK_PAGES)
		return false;
	for (pfn_t pfn = run->lo; pfn < run->hi; pfn += PAGEBLOCK_PAGES) {
		if (!block_is_pristine(m, z, pfn))
			return false;
	}
	return true;
}

static bool list_is_valid(struct model *m, struct zone *z, unsigned order, enum migratetype type,
			  struct list_sums *sums)
{
	const struct ring *r = &z->free[order][type];
	uint64_t chunks = 0;

	if (!ring_is_valid(r) || buddy_has(z, order, type) == ring_is_empty(r))
		return false;
	for (uint32_t pos = r->head; pos != r->tail; pos = ring_next(r, pos)) {
		uint32_t cell = ring_at(r, pos);

		if (cell & RING_RUN) {
			if (order != MAX_PAGE_ORDER || type != MIGRATE_MOVABLE ||
			    !run_is_valid(m, z, cell, pos))
				return false;
			chunks += (z->run[cell & ~RING_RUN].hi - z->run[cell & ~RING_RUN].lo) /
				  CHUNK_PAGES;
			sums->run_chunks +=
				(z->run[cell & ~RING_RUN].hi - z->run[cell & ~RING_RUN].lo) /
				CHUNK_PAGES;
			sums->runs++;
			continue;
		}
		if (cell < z->start_pfn || cell >= z->end_pfn || cell & ((1u << order) - 1) ||
		    m->map.state[cell] != PG_STATE(PG_FREE, order) || m->map.word[cell] != pos ||
		    block_list_type(m, cell) != type ||
		    block_list_type(m, cell + (1u << order) - 1) != type || zone_of(m, cell) != z)
			return false;
		chunks++;
	}
	if (chunks != buddy_list_chunks(z, order, type))
		return false;
	sums->chunks[order] += chunks;
	if (type == MIGRATE_ISOLATE)
		return true;
	sums->pages += (int64_t)(chunks << order);
	if (order >= PAGEBLOCK_ORDER)
		sums->block_pages += (int64_t)(chunks << order);
	if (type == MIGRATE_CMA)
		sums->cma_pages += (int64_t)(chunks << order);
	if (type == MIGRATE_HIGHATOMIC)
		sums->highatomic_pages += (int64_t)(chunks << order);
	return true;
}

bool buddy_zone_is_valid(struct model *m, struct zone *z)
{
	struct list_sums sums = {0};
	uint32_t blocks[NR_MIGRATETYPES] = {0};
	uint32_t isolated = 0;
	uint64_t heads = 0, listed = 0;

	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
		for (int type = 0; type < NR_MIGRATETYPES; type++) {
			if (!list_is_valid(m, z, order, (enum migratetype)type, &sums))
				return false;
		}
		if (sums.chunks[order] != z->nr_chunks[order])
			return false;
		listed += sums.chunks[order];
	}
	for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++) {
		if (m->map.zone_of_block[b] != z->id.v)
			continue;
		blocks[block_list_type(m, b << PAGEBLOCK_ORDER)]++;
		isolated += m->map.block[b].bits & BLOCK_ISOLATE ? 1 : 0;
		heads += m->map.block[b].nr_free_heads;
	}
	/* Each free head is on a list, and each list entry is a different head. */
	if (heads != listed - sums.run_chunks)
		return false;
	return sums.runs == z->nr_runs && sums.run_chunks == z->nr_run_chunks &&
	       isolated == z->nr_isolated_blocks &&
	       memcmp(blocks, z->nr_blocks_of, sizeof(blocks)) == 0 &&
	       sums.pages == z->stat[VM_NR_FREE_PAGES] &&
	       sums.block_pages == z->stat[VM_NR_FREE_PAGES_BLOCKS] &&
	       sums.cma_pages == z->stat[VM_NR_FREE_CMA] &&
	       (uint64_t)sums.highatomic_pages == z->nr_free_highatomic;
}
