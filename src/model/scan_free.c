/* SPDX-License-Identifier: MIT */
/*
 * scan_free.c - the target scanner and its chunks in hand; see compact.h.
 */
#include "model/compact.h"

#include "model/alloc.h"
#include "model/buddy.h"
#include "model/clock.h"
#include "model/memmap.h"
#include "model/policy.h"
#include "model/trace.h"
#include "model/watermark.h"

/* ---- chunks in hand ----------------------------------------------------------------------- */

static void held_push_tail(struct model *m, struct held_list *l, pfn_t pfn)
{
	m->map.word[pfn] = PFN_NONE;
	if (l->nr++)
		m->map.word[l->tail] = pfn;
	else
		l->head = pfn;
	l->tail = pfn;
}

static void held_push_head(struct model *m, struct held_list *l, pfn_t pfn)
{
	m->map.word[pfn] = l->head;
	if (l->nr++ == 0) {
		m->map.word[pfn] = PFN_NONE;
		l->tail = pfn;
	}
	l->head = pfn;
}

static pfn_t held_pop(struct model *m, struct held_list *l)
{
	pfn_t pfn = l->head;

	l->head = m->map.word[pfn];
	l->nr--;
	return pfn;
}

bool scan_free_take(struct model *m, struct compact_control *cc, pfn_t head, unsigned order)
{
	struct zone *z = cc->zone;

	/* The chunk is there, so an order-0 test with a raised mark says what an order-k test
	 * would. */
	if (block_list_type(m, head) != MIGRATE_ISOLATE &&
	    !watermark_ok(z, 0, z->wmark[WMARK_MIN] + (1u << order), ZONE_DMA, ALLOC_CMA,
			  zone_free_pages(z)))
		return false;
	buddy_take_chunk(m, z, head);
	/* Half a block or more: the rest is expected to be filled with movable pages, too. */
	if (order >= PAGEBLOCK_ORDER - 1) {
		for (pfn_t pfn = head; pfn < head + (1u << order); pfn += PAGEBLOCK_PAGES) {
			if (migratetype_is_mergeable(block_list_type(m, pfn)))
				(void)buddy_retype_block(m, z, block_of(pfn), MIGRATE_MOVABLE);
		}
	}
	held_push_tail(m, &cc->freepages[order], head);
	cc->nr_freepages += 1u << order;
	clock_charge(m, COST_ISOLATE_TARGET, 1);
	return true;
}

pfn_t scan_free_target(struct model *m, struct compact_control *cc, unsigned order)
{
	unsigned from = order;
	bool searched = false;
	pfn_t pfn;

	for (;;) {
		while (from < NR_PAGE_ORDERS && cc->freepages[from].nr == 0)
			from++;
		if (from < NR_PAGE_ORDERS)
			break;
		if (searched)
			return PFN_NONE;
		scan_free_isolate(m, cc);
		searched = true;
		from = order;
	}
	pfn = held_pop(m, &cc->freepages[from]);
	while (from > order) {
		from--;
		memmap_set_held(m, pfn + (1u << from), from);
		held_push_head(m, &cc->freepages[from], pfn + (1u << from));
	}
	memmap_set_held(m, pfn, order);
	cc->nr_freepages -= 1u << order;
	cc->nr_migratepages -= 1u << order;
	return pfn;
}

void scan_free_target_back(struct model *m, struct compact_control *cc, pfn_t pfn, unsigned order)
{
	held_push_head(m, &cc->freepages[order], pfn);
	cc->nr_freepages += 1u << order;
	cc->nr_migratepages += 1u << order;
}

pfn_t scan_free_release(struct model *m, struct compact_control *cc)
{
	pfn_t highest = PFN_NONE;

	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
		while (cc->freepages[order].nr) {
			pfn_t pfn = held_pop(m, &cc->freepages[order]);

			free_pages(m, pfn, order);
			if (pfn > highest)
				highest = pfn;
		}
	}
	cc->nr_freepages = 0;
	return highest;
}

/* ---- one block ---------------------------------------------------------------------------- */

static inline bool enough(const struct compact_control *cc)
{
	return cc->nr_freepages >= cc->nr_migratepages;
}

/* The next pfn in [pfn, end) whose state byte says "head of a free chunk"; end if there is none. */
static inline pfn_t next_free_head(const struct model *m, pfn_t pfn, pfn_t end)
{
	const uint8_t *state = m->map.state;

	while (pfn < end && pfn % 8) {
		if (PG_KIND(state[pfn]) == PG_FREE)
			return pfn;
		pfn++;
	}
	while (pfn + 8 <= end) {
		uint64_t x, high;

		memcpy(&x, &state[pfn], sizeof(x));
		/* Bytes 0x1? become 0x0?: find one whose high nibble is zero. */
		high = (x ^ 0x1010101010101010ull) & 0xf0f0f0f0f0f0f0f0ull;
		if ((high - 0x0101010101010101ull) & ~high & 0x8080808080808080ull)
			break;
		pfn += 8;
	}
	while (pfn < end && PG_KIND(state[pfn]) != PG_FREE)
		pfn++;
	return pfn;
}

/* What a scan of one block found out. */
struct free_scan {
	pfn_t pfn;         /* reached */
	uint64_t scanned;  /* as the kernel counts */
	uint32_t sampled;  /* page structs looked at: what the scan costs */
	uint32_t isolated; /* base pages */
};

/* A free head at s->pfn. False: the scan ends here, refused or satisfied. */
static bool free_scan_take(struct model *m, struct compact_control *cc, struct free_scan *s,
			   bool strict)
{
	unsigned order = PG_ORDER(memmap_state(m, s->pfn));
	uint32_t pages = 1u << order;

	if (!scan_free_take(m, cc, s->pfn, order))
		return false;
	s->scanned += pages - 1;
	s->isolated += pages;
	if (!strict && enough(cc)) {
		s->pfn += pages;
		return false;
	}
	s->pfn += pages - 1;
	return true;
}

/* Every page of the block: nothing can be jumped over unseen, so only the free heads matter. */
static void free_scan_all(struct model *m, struct compact_control *cc, struct free_scan *s,
			  pfn_t end)
{
	for (;;) {
		pfn_t head = next_free_head(m, s->pfn, end);

		s->scanned += head - s->pfn;
		s->sampled += head - s->pfn;
		s->pfn = head;
		if (head == end)
			return;
		s->scanned++;
		s->sampled++;
		if (!free_scan_take(m, cc, s, false))
			return;
		s->pfn++;
		if (s->pfn > end)
			s->pfn = end; /* a chunk of two blocks */
	}
}

/* Every stride-th page. Jumps over compounds and chunks shift the grid. */
static void free_scan_sampled(struct model *m, struct compact_control *cc, struct free_scan *s,
			      pfn_t end, uint32_t stride)
{
	for (; s->pfn < end; s->pfn += stride) {
		uint8_t state = memmap_state(m, s->pfn);
		enum page_kind kind = PG_KIND(state);

		s->scanned++;
		s->sampled++;
		if (KINDS_OWNED >> kind & 1) {
			uint32_t pages = 1u << PG_ORDER(state);

			if (s->pfn + pages <= end) {
				s->pfn += pages - 1;
				s->scanned += pages - 1;
			}
		} else if (kind == PG_FREE) {
			if (!free_scan_take(m, cc, s, false))
				return;
		}
	}
}

/* alloc_contig wants all of it: the first page that is not free ends the scan. */
static void free_scan_strict(struct model *m, struct compact_control *cc, struct free_scan *s,
			     pfn_t end)
{
	for (; s->pfn < end; s->pfn++) {
		s->scanned++;
		s->sampled++;
		if (PG_KIND(memmap_state(m, s->pfn)) != PG_FREE || !free_scan_take(m, cc, s, true))
			return;
	}
}

uint32_t scan_free_block(struct model *m, struct compact_control *cc, pfn_t *start, pfn_t end,
			 uint32_t stride, bool strict)
{
	const struct block *b = &m->map.block[block_of(*start).v];
	bool touched = b->bits & BLOCK_TOUCHED;
	struct free_scan s = {.pfn = *start};

	if (strict) {
		free_scan_strict(m, cc, &s, end);
	} else if (touched && b->nr_free_heads == 0 && (stride == 1 || b->nr_compound == 0)) {
		/* No head to find: the samples are counted and not taken. */
		s.scanned = s.sampled = (end - s.pfn + stride - 1) / stride;
		s.pfn = end;
	} else if (stride == 1 && touched) {
		free_scan_all(m, cc, &s, end);
	} else {
		free_scan_sampled(m, cc, &s, end, stride);
	}
	if (s.pfn > end)
		s.pfn = end;
	if (strict && s.pfn < end)
		s.isolated = 0;
	cc->total_free_scanned += s.scanned;
	stat_event(m, VM_COMPACT_ISOLATED, s.isolated);
	clock_charge(m, COST_SCAN_FREE, s.sampled);
	TRACE(m, ISOLATE_FREEPAGES, .start_pfn = *start, .end_pfn = s.pfn, .nr_scanned = s.scanned,
	      .nr_taken = s.isolated);
	*start = s.pfn;
	return s.isolated;
}

pfn_t scan_free_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	pfn_t pfn = start;

	while (pfn < end) {
		pfn_t from = pfn, stop = pb_end(pfn) < end ? pb_end(pfn) : end;
		uint32_t isolated;

		if (!compact_block_in_zone(m, cc->zone, pfn))
			break;
		isolated = scan_free_block(m, cc, &from, stop, 1, true);
		if (isolated == 0)
			break;
		pfn += isolated; /* not to `stop`: the last chunk may reach beyond it */
	}
	return pfn;
}

bool scan_free_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	int order = cc->order > 0 ? cc->order : PAGEBLOCK_ORDER;
	uint8_t state;

	/* The type first: it lies beside those of the next blocks, a page's state far from them. */
	if (!cc->ignore_block_suitable && !migratetype_is_movable_like(block_list_type(m, pfn)))
		return false;
	state = memmap_state(m, pfn);
	/* To break up what the run is to make would be no gain. */
	return PG_KIND(state) != PG_FREE || (int)PG_ORDER(state) < order;
}

/* ---- fast search -------------------------------------------------------------------------- */

/* A search of the free lists for a target in the upper part of the span. */
struct fast_search {
	pfn_t low_mark,
		min_mark; /* from low_mark on: taken at once; from min_mark on: a candidate */
	pfn_t highest;    /* start of the highest block seen */
	uint32_t limit;
	uint64_t scanned;
	uint64_t visited;
	uint32_t isolated;
	pfn_t page; /* what was taken, PFN_NONE: nothing */
};

/* Mirrors next_search_order(): downwards and around; -1 after a full circle. */
static int next_order(struct compact_control *cc, int order)
{
	order--;
	if (order < 0)
		order = cc->order - 1;
	if (order != cc->search_order)
		return order;
	cc->search_order--;
	if (cc->search_order < 0)
		cc->search_order = (int16_t)(cc->order - 1);
	return -1;
}

/* One list from its tail; sets s->page to the choice and leaves it on the list. Returns entries
 * examined. */
static uint32_t fast_search_list(struct model *m, struct compact_control *cc, struct fast_search *s,
				 int order)
{
	struct zone *z = cc->zone;
	const struct ring *r = buddy_list(z, (unsigned)order, MIGRATE_MOVABLE);
	uint32_t examined = 0, pos = r->tail, chosen = 0;
	pfn_t candidate = PFN_NONE;
	bool cut = false;

	for (uint32_t left = r->live; left && !cut; left--) {
		pfn_t pfn, block;

		pos = ring_prev(r, pos);
		pfn = ring_at(r, pos);
		block = pb_start(pfn) > z->start_pfn ? pb_start(pfn) : z->start_pfn;
		examined++;
		if (pfn >= s->highest)
			s->highest = block;
		if (pfn >= s->low_mark) {
			cc->fast_search_fail = 0;
			cc->search_order = (int16_t)order;
			s->page = pfn;
			break;
		}
		if (pfn >= s->min_mark && pfn > candidate) {
			candidate = pfn;
			chosen = pos;
			s->limit >>= 1;
		}
		cut = examined >= s->limit;
	}
	if (s->page == PFN_NONE && candidate != PFN_NONE) {
		s->page = candidate;
		pos = chosen;
		cut = true;
	}
	/* Mirrors move_freelist_head(): the next walk begins just before this entry. A list walked
	 * to its end in vain stays as it is. */
	if ((s->page != PFN_NONE || cut) && pos != r->head)
		buddy_rotate(m, z, (unsigned)order, MIGRATE_MOVABLE, pos);
	s->scanned += examined;
	s->visited += examined;
	return examined;
}

/* The walk over the orders of fast_isolate_freepages(). */
static void fast_search_lists(struct model *m, struct compact_control *cc, struct fast_search *s)
{
	if (cc->search_order > cc->order - 1)
		cc->search_order = (int16_t)(cc->order - 1);
	for (int order = cc->search_order; s->page == PFN_NONE && order >= 0;
	     order = next_order(cc, order)) {
		uint32_t examined;

		if (cc->zone->nr_chunks[order] == 0)
			continue;
		examined = fast_search_list(m, cc, s, order);
		if (s->page != PFN_NONE && scan_free_take(m, cc, s->page, (unsigned)order)) {
			s->scanned += (1u << order) - 1;
			s->isolated += 1u << order;
		} else if (s->page != PFN_NONE) {
			/* The zone is too low on memory: end the search. */
			s->page = PFN_NONE;
			order = cc->search_order + 1;
		}
		if (enough(cc))
			break;
		if (examined >= s->limit)
			s->limit = s->limit / 2 > 1 ? s->limit / 2 : 1;
	}
}

/* Mirrors fast_isolate_around(). */
static void fast_around(struct model *m, struct compact_control *cc, pfn_t pfn)
{
	struct zone *z = cc->zone;
	pfn_t start = pb_start(pfn) > z->start_pfn ? pb_start(pfn) : z->start_pfn;
	pfn_t end = pb_end(pfn) < z->end_pfn ? pb_end(pfn) : z->end_pfn;

	if (enough(cc))
		return;
	if (cc->direct && cc->mode == MIGRATE_ASYNC)
		return;
	if (!compact_block_in_zone(m, z, pfn))
		return;
	(void)scan_free_block(m, cc, &start, end, 1, false);
	if (start == end && !cc->no_set_skip_hint)
		memmap_skip_set(m, pfn);
}

/* Nothing was taken and the span is still whole: begin lower. The pfn to look around, or PFN_NONE.
 */
static pfn_t fast_start_lower(struct model *m, struct compact_control *cc,
			      const struct fast_search *s)
{
	if (s->highest >= s->min_mark) {
		cc->free_pfn = s->highest;
		return s->highest;
	}
	if (!cc->direct || s->min_mark >= m->map.end_pfn)
		return PFN_NONE;
	cc->free_pfn = s->min_mark;
	if (!compact_block_in_zone(m, cc->zone, s->min_mark) ||
	    !scan_free_suitable(m, cc, s->min_mark))
		return PFN_NONE;
	return s->min_mark;
}

/* The top quarter of the span is preferred, its top half will do. */
static void fast_marks(const struct compact_control *cc, struct fast_search *s)
{
	pfn_t distance = cc->free_pfn - cc->migrate_pfn;

	if (cc->free_pfn < cc->migrate_pfn) {
		/* The scanners have passed each other: the kernel's unsigned arithmetic wraps, and
		 * nothing lies above its marks. */
		s->low_mark = s->min_mark = pb_start(UINT32_MAX);
		return;
	}
	s->low_mark = pb_start(cc->free_pfn - distance / 4);
	s->min_mark = pb_start(cc->free_pfn - distance / 2);
}

void scan_free_fast(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;
	unsigned shift = cc->fast_search_fail < 63 ? cc->fast_search_fail : 63;
	struct fast_search s = {
		.limit = ((uint32_t)((uint64_t)COMPACT_CLUSTER_MAX >> shift) + 1) / 2,
	};
	bool scan_start = cc->free_pfn >= z->init_free;
	pfn_t around;

	if (cc->order <= 0)
		return;
	fast_marks(cc, &s);
	if (s.limit == 0)
		s.limit = 1;
	if (scan_start)
		s.limit = PAGEBLOCK_PAGES / 2;
	fast_search_lists(m, cc, &s);
	stat_event(m, VM_COMPACT_ISOLATED, s.isolated);
	clock_charge(m, COST_FAST_SEARCH, s.visited);
	TRACE(m, FAST_ISOLATE_FREEPAGES, .start_pfn = s.min_mark, .end_pfn = cc->free_pfn,
	      .nr_scanned = s.scanned, .nr_taken = s.isolated);
	around = s.page;
	if (s.page == PFN_NONE) {
		cc->fast_search_fail++;
		if (scan_start)
			around = fast_start_lower(m, cc, &s);
	}
	if (s.highest != PFN_NONE && s.highest >= z->cached_free)
		z->cached_free = s.highest - PAGEBLOCK_PAGES;
	cc->total_free_scanned += s.scanned;
	if (around != PFN_NONE)
		fast_around(m, cc, around);
}

/* ---- the linear scan ---------------------------------------------------------------------- */

/* The scan of one block and, if a policy wants it, its second look. */
static uint32_t linear_block(struct model *m, struct compact_control *cc, pfn_t block, pfn_t end,
			     uint32_t stride, pfn_t *start)
{
	uint32_t n = scan_free_block(m, cc, start, end, stride, false);
	pfn_t again;

	if (n == 0 && stride > 1 && *start == end && m->policy->free_resample &&
	    m->policy->free_resample(m, cc, block, end, stride, &again)) {
		*start = again;
		n = scan_free_block(m, cc, start, end, stride, false);
	}
	return n;
}

void scan_free_isolate(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;
	uint32_t stride = cc->mode == MIGRATE_ASYNC ? COMPACT_CLUSTER_MAX : 1;
	pfn_t start, block, low;

	scan_free_fast(m, cc);
	if (cc->nr_freepages)
		return;
	start = cc->free_pfn;
	low = pb_end(cc->migrate_pfn);
	for (block = pb_start(start); block >= low; block -= PAGEBLOCK_PAGES, start = block) {
		pfn_t end =
			block + PAGEBLOCK_PAGES < z->end_pfn ? block + PAGEBLOCK_PAGES : z->end_pfn;
		uint32_t n;

		/* Most blocks of a long way are marked or of a type that gives nothing. */
		if ((!cc->ignore_skip_hint && memmap_skip(m, block)) ||
		    (!cc->ignore_block_suitable && memmap_not_movable(m, block))) {
			uint32_t marked, next;

			next = memmap_prev_target(m, block_of(block).v, block_of(low).v - 1,
						  !cc->ignore_skip_hint, !cc->ignore_block_suitable,
						  &marked);
			clock_charge(m, COST_BLOCK_SKIPPED, marked);
			block = block_start((block_t){next + 1});
			continue;
		}
		if (!compact_block_in_zone(m, z, block) || !scan_free_suitable(m, cc, block))
			continue;
		clock_charge(m, COST_BLOCK_VISITED, 1);
		n = linear_block(m, cc, block, end, stride, &start);
		if (start == end && !cc->no_set_skip_hint) {
			memmap_skip_set(m, block);
			if (block - PAGEBLOCK_PAGES < z->cached_free)
				z->cached_free = block - PAGEBLOCK_PAGES;
		}
		if (enough(cc)) {
			if (start >= end)
				start = block - PAGEBLOCK_PAGES;
			break;
		}
		if (start < end)
			break;
		if (n)
			stride = 1;
		else
			stride =
				2 * stride < COMPACT_CLUSTER_MAX ? 2 * stride : COMPACT_CLUSTER_MAX;
	}
	/* Below the limit when the loop ran out: the scanners have met. */
	cc->free_pfn = start;
}
