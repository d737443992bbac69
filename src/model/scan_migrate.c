/* SPDX-License-Identifier: MIT */
/*
 * scan_migrate.c - the source scanner; see compact.h.
 */
#include "model/compact.h"

#include <errno.h>

#include "model/buddy.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/trace.h"

#define FAST_START_NONE PFN_NONE

/* ---- one page ----------------------------------------------------------------------------- */

enum verdict {
	PAGE_FREE, /* jump over it, no failure */
	PAGE_FAIL,
	PAGE_JUMP_FAIL, /* a compound too large to move: jump over it, and a failure */
	PAGE_TAKE_LRU,
	PAGE_TAKE_OPS,
};

/* Mirrors skip_isolation_on_order(). */
static inline bool too_large(const struct compact_control *cc, unsigned order)
{
	return (cc->order >= 0 && (int)order >= cc->order) || order >= PAGEBLOCK_ORDER;
}

/* A folio on its LRU: may it be isolated? */
static inline bool lru_may_take(const struct model *m, const struct compact_control *cc,
				enum page_kind kind, uint8_t flags)
{
	if (!(flags & PGF_LRU))
		return false;
	/* Nobody but its page tables should hold an anonymous page. Files are found out when they
	 * move. */
	if (kind == PG_ANON && flags & PGF_PINNED)
		return false;
	if (kind != PG_ANON && !(cc->gfp & __GFP_FS))
		return false;
	if (flags & PGF_UNEVICTABLE && !m->sysctl.compact_unevictable_allowed && !cc->alloc_contig)
		return false;
	/* ISOLATE_ASYNC_MIGRATE, for every mode but full sync. */
	return !(flags & PGF_WRITEBACK) || cc->mode == MIGRATE_SYNC || cc->alloc_contig;
}

static inline enum verdict page_verdict(const struct model *m, const struct compact_control *cc,
					pfn_t pfn, uint8_t state)
{
	enum page_kind kind = PG_KIND(state);

	if (kind == PG_FREE)
		return PAGE_FREE;
	if (!(KINDS_OWNED >> kind & 1))
		return PAGE_FAIL;
	if (kind == PG_HUGETLB || (!cc->alloc_contig && too_large(cc, PG_ORDER(state))))
		return PAGE_JUMP_FAIL;
	if (KINDS_LRU >> kind & 1)
		return lru_may_take(m, cc, kind, m->map.flag[pfn]) ? PAGE_TAKE_LRU : PAGE_FAIL;
	return kind == PG_MOVABLE_OPS ? PAGE_TAKE_OPS : PAGE_FAIL;
}

/* ---- lists and marks ---------------------------------------------------------------------- */

void scan_migrate_putback(struct model *m, struct compact_control *cc)
{
	while (cc->nr_migrate) {
		pfn_t head = cc->migrate[--cc->nr_migrate];
		uint8_t state = m->map.state[head];

		if (PG_KIND(state) == PG_MOVABLE_OPS)
			continue;
		/* folio_putback_lru() goes through the CPU's batch. */
		lru_isolated_gone(m, head, PG_ORDER(state));
		lru_add(m, head);
	}
	cc->nr_migratepages = 0;
}

/* Mirrors isolation_suitable(). */
static inline bool skip_allows(const struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	return cc->ignore_skip_hint || !memmap_skip(m, pfn);
}

/* Mirrors test_and_set_skip(). */
static bool test_and_set_skip(struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	bool skip;

	if (cc->ignore_skip_hint)
		return false;
	skip = memmap_skip(m, pfn);
	if (!skip && !cc->no_set_skip_hint)
		memmap_skip_set(m, pfn);
	return skip;
}

void scan_migrate_update_cached(struct compact_control *cc, pfn_t pfn)
{
	struct zone *z = cc->zone;

	if (cc->no_set_skip_hint)
		return;
	/* For an aligned pfn, which is what a finished block gives, this is the end of the next
	 * block. */
	pfn = pb_end(pfn);
	if (pfn > z->cached_migrate[0])
		z->cached_migrate[0] = pfn;
	if (cc->mode != MIGRATE_ASYNC && pfn > z->cached_migrate[1])
		z->cached_migrate[1] = pfn;
}

/* Mirrors too_many_isolated() of compaction. */
static bool too_many_isolated(const struct model *m, const struct compact_control *cc)
{
	const int64_t *stat = m->node[cc->zone->node.v].stat;
	int64_t isolated = stat[VM_NR_ISOLATED_FILE - VM_NODE_FIRST] +
			   stat[VM_NR_ISOLATED_ANON - VM_NODE_FIRST];
	int64_t inactive, active;

	if (isolated == 0)
		return false;
	inactive = stat[VM_NR_INACTIVE_FILE - VM_NODE_FIRST] +
		   stat[VM_NR_INACTIVE_ANON - VM_NODE_FIRST];
	active = stat[VM_NR_ACTIVE_FILE - VM_NODE_FIRST] + stat[VM_NR_ACTIVE_ANON - VM_NODE_FIRST];
	/* Whoever may not enter a file system may take more, or the two could wait for each other.
	 */
	if (cc->gfp & __GFP_FS) {
		inactive >>= 3;
		active >>= 3;
	}
	return isolated > (inactive + active) / 2;
}

/* ---- one block ---------------------------------------------------------------------------- */

/* State of a scan of one block. */
struct block_scan {
	pfn_t low, end;
	pfn_t owned; /* a pfn of the block once this call may mark it, else PFN_NONE */
	bool skip_updated;
	uint32_t isolated; /* base pages */
	uint32_t taken;    /* folios */
	uint32_t visited;  /* page structs looked at: what the scan costs */
	uint64_t scanned;  /* as the kernel counts */
};

/* Takes the folio at s->low. False: the block was marked by somebody else, stop. */
static bool block_take(struct model *m, struct compact_control *cc, struct block_scan *s,
		       uint8_t state, enum verdict v)
{
	uint32_t pages = 1u << PG_ORDER(state);

	if (v == PAGE_TAKE_LRU) {
		if (!s->skip_updated && s->owned) {
			s->skip_updated = true;
			if (test_and_set_skip(m, cc, s->owned) && !cc->finish_block)
				return false;
		}
		if (!lru_isolate(m, s->low))
			check_failed(__FILE__, __LINE__, "a folio with PGF_LRU can be isolated");
	}
	must(cc->nr_migrate < MIGRATE_LIST_MAX);
	cc->migrate[cc->nr_migrate++] = s->low;
	cc->nr_migratepages += pages;
	s->isolated += pages;
	s->taken++;
	s->scanned += pages - 1;
	s->low += pages - 1;
	return true;
}

/* Kinds of which any page fails, or is free, by itself; and those of which a base page does. */
#define KINDS_DEAD                                                                                 \
	(KIND_BIT(PG_BODY) | KIND_BIT(PG_PCP) | KIND_BIT(PG_HELD) | KINDS_TAIL |                   \
	 KIND_BIT(PG_RESERVED) | KIND_BIT(PG_HOLE))
#define KINDS_DEAD_BASE                                                                            \
	(KIND_BIT(PG_FREE) | KIND_BIT(PG_KERNEL) | KIND_BIT(PG_PGTABLE) | KIND_BIT(PG_SLAB))

/* Pages from pfn on that give nothing and lead nowhere: the inner loop of a sync scan. */
static uint32_t dead_run(const struct model *m, pfn_t pfn, pfn_t end)
{
	const uint8_t *state = m->map.state;
	pfn_t start = pfn;

	if (!(m->map.block[block_of(start - 1).v].bits & BLOCK_TOUCHED))
		return 0;
	for (; pfn < end; pfn++) {
		unsigned kind = state[pfn] >> 4;

		if (KINDS_DEAD >> kind & 1)
			continue;
		if (PG_ORDER(state[pfn]) == 0 && KINDS_DEAD_BASE >> kind & 1)
			continue;
		if (state[pfn] != PG_STATE(PG_ANON, 0) || !(m->map.flag[pfn] & PGF_PINNED))
			break;
	}
	return pfn - start;
}

/* Mirrors skip_on_failure: a group of the order that is wanted is left at the first page that
 * fails. */
static inline bool gives_up(const struct compact_control *cc)
{
	return cc->direct && cc->mode == MIGRATE_ASYNC;
}

/* The walk of isolate_migratepages_block(), page by page. */
static void block_walk(struct model *m, struct compact_control *cc, struct block_scan *s)
{
	const bool give_up = gives_up(cc);
	const pfn_t mask = cc->order > 0 ? (1u << cc->order) - 1 : 0;
	pfn_t group_end = (s->low | mask) + 1;

	for (; s->low < s->end; s->low++) {
		uint8_t state;
		enum verdict v;

		if (give_up && s->low >= group_end) {
			if (s->isolated)
				break;
			group_end = (s->low | mask) + 1;
		}
		s->scanned++;
		s->visited++;
		if (!s->owned && (s->low == pb_start(s->low) || s->low == cc->zone->start_pfn)) {
			if (!skip_allows(m, cc, s->low)) {
				s->low = s->end;
				return;
			}
			s->owned = s->low;
		}
		state = memmap_state(m, s->low);
		v = page_verdict(m, cc, s->low, state);
		if (v >= PAGE_TAKE_LRU) {
			if (!block_take(m, cc, s, state, v)) {
				s->low = s->end;
				return;
			}
			if (cc->nr_migratepages >= COMPACT_CLUSTER_MAX && !cc->finish_block &&
			    !cc->contended) {
				s->low++;
				break;
			}
			continue;
		}
		if (v != PAGE_FAIL) {
			s->low += (1u << PG_ORDER(state)) - 1;
			s->scanned += (1u << PG_ORDER(state)) - 1;
			if (v == PAGE_FREE)
				continue;
		}
		if (!give_up) {
			uint32_t n = dead_run(m, s->low + 1, s->end);

			s->low += n;
			s->scanned += n;
			s->visited += n;
			continue;
		}
		/* The group cannot become one chunk any more: what was taken from it goes back. */
		if (s->isolated) {
			scan_migrate_putback(m, cc);
			s->isolated = 0;
		}
		if (s->low < group_end) {
			s->low = group_end - 1;
			group_end += mask + 1;
		}
	}
	/* A chunk of two blocks leads beyond the end. */
	if (s->low > s->end)
		s->low = s->end;
}

/*
 * A whole block of which every page is free, pinned or nothing to move: the walk would find out
 * page by page.
 */
static inline bool block_is_barren(const struct model *m, struct block_scan *s)
{
	const struct block *b = &m->map.block[block_of(s->low).v];

	if (b->nr_lru != b->nr_pinned || b->nr_movable_ops || b->nr_compound || b->nr_taken == 0)
		return false;
	s->scanned = PAGEBLOCK_PAGES;
	s->visited = (uint32_t)b->nr_taken + b->nr_free_heads;
	return true;
}

/* The first page of a block ends the visit of a run that gives up at the first failure. */
static inline bool block_fails_at_once(const struct model *m, const struct compact_control *cc,
				       pfn_t low)
{
	return cc->order >= (int)PAGEBLOCK_ORDER &&
	       page_verdict(m, cc, low, memmap_state(m, low)) == PAGE_FAIL;
}

/* What a visit of [low, s->end) leaves behind. Inline: much of it is constant where nothing was
 * taken. */
static inline void block_done(struct model *m, struct compact_control *cc, pfn_t low,
			      const struct block_scan *s)
{
	if (s->low == s->end && (s->isolated == 0 || cc->finish_block)) {
		if (s->owned && !s->skip_updated && !cc->no_set_skip_hint)
			memmap_skip_set(m, s->owned);
		scan_migrate_update_cached(cc, s->low);
	}
	cc->migrate_pfn = s->low;
	cc->total_migrate_scanned += s->scanned;
	stat_event(m, VM_COMPACT_ISOLATED, s->isolated);
	clock_charge(m, COST_BLOCK_VISITED, 1);
	clock_charge(m, COST_SCAN_MIGRATE, s->visited);
	clock_charge(m, COST_ISOLATE_SOURCE, s->taken);
	TRACE(m, ISOLATE_MIGRATEPAGES, .start_pfn = low, .end_pfn = s->low,
	      .nr_scanned = s->scanned, .nr_taken = s->isolated);
}

int scan_migrate_block(struct model *m, struct compact_control *cc, pfn_t low, pfn_t end)
{
	struct block_scan s;
	bool whole = end - low == PAGEBLOCK_PAGES && skip_allows(m, cc, low);

	cc->migrate_pfn = low;
	/* Everybody else's isolated pages are back on their lists whenever this code runs, so
	 * waiting (which sync compaction does) could not help: what is isolated is our own. */
	if (too_many_isolated(m, cc))
		return -EAGAIN;
	if (whole && gives_up(cc) && block_fails_at_once(m, cc, low)) {
		block_done(m, cc, low,
			   &(struct block_scan){.low = end,
						.end = end,
						.owned = low,
						.visited = 1,
						.scanned = 1});
		return 0;
	}
	s = (struct block_scan){.low = low, .end = end};
	if (whole && !gives_up(cc) && block_is_barren(m, &s)) {
		s.owned = low;
		s.low = end;
	} else {
		block_walk(m, cc, &s);
	}
	block_done(m, cc, low, &s);
	return 0;
}

int scan_migrate_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	int err = 0;

	for (pfn_t pfn = start; pfn < end; pfn = pb_end(pfn)) {
		pfn_t stop = pb_end(pfn) < end ? pb_end(pfn) : end;

		if (!compact_block_in_zone(m, cc->zone, pfn))
			continue;
		err = scan_migrate_block(m, cc, pfn, stop);
		if (err || cc->nr_migratepages >= COMPACT_CLUSTER_MAX)
			break;
	}
	return err;
}

/* ---- choosing a block --------------------------------------------------------------------- */

bool scan_migrate_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	enum migratetype type = block_list_type(m, pfn);

	if (memmap_whole(m, pfn))
		return false;
	if (!cc->direct)
		return true;
	if (!m->profile->direct_may_source_cma && type == MIGRATE_CMA &&
	    !(cc->alloc_flags & ALLOC_CMA))
		return false;
	if (cc->mode != MIGRATE_ASYNC)
		return true;
	if (cc->type == MIGRATE_MOVABLE ||
	    (m->profile->async_block_order_scans_movable && cc->order >= PAGEBLOCK_ORDER))
		return migratetype_is_movable_like(type);
	return type == cc->type;
}

/* Mirrors freelist_scan_limit(). */
static uint32_t search_limit(const struct compact_control *cc)
{
	unsigned shift = cc->fast_search_fail < 63 ? cc->fast_search_fail : 63;

	return (uint32_t)((uint64_t)COMPACT_CLUSTER_MAX >> shift) + 1;
}

/* May a block out of turn be chosen at all? The guards of fast_find_migrateblock(). */
static bool fast_allowed(const struct model *m, const struct compact_control *cc)
{
	pfn_t pfn = cc->migrate_pfn;

	if (cc->ignore_skip_hint || cc->finish_block)
		return false;
	/* In the middle of a block: the rest of a batch. */
	if (pfn != cc->zone->start_pfn && pfn != pb_start(pfn))
		return false;
	if (cc->order <= PAGE_ALLOC_COSTLY_ORDER)
		return false;
	if (cc->direct && cc->type != MIGRATE_MOVABLE &&
	    !(m->profile->async_block_order_scans_movable && cc->order >= PAGEBLOCK_ORDER))
		return false;
	return true;
}

/* Mirrors move_freelist_tail(): the entry becomes the last one, those before it go behind in order.
 */
static void rotate_behind(struct model *m, struct zone *z, unsigned order, uint32_t pos)
{
	const struct ring *r = buddy_list(z, order, MIGRATE_MOVABLE);
	uint32_t next = ring_next(r, pos);

	if (next != r->tail)
		buddy_rotate(m, z, order, MIGRATE_MOVABLE, next);
}

/* One free list from its head: a chunk below `bound` in a block not marked, PFN_NONE if there is
 * none. */
static pfn_t fast_search_list(struct model *m, struct zone *z, unsigned order, pfn_t bound,
			      uint32_t limit, uint32_t *scanned)
{
	const struct ring *r = buddy_list(z, order, MIGRATE_MOVABLE);

	for (uint32_t pos = r->head; pos != r->tail; pos = ring_next(r, pos)) {
		pfn_t pfn = ring_at(r, pos);

		if ((*scanned)++ >= limit) {
			rotate_behind(m, z, order, pos);
			break;
		}
		if (pfn < bound && !memmap_skip(m, pfn)) {
			rotate_behind(m, z, order, pos);
			return pfn;
		}
	}
	return PFN_NONE;
}

pfn_t scan_migrate_fast(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;
	uint32_t limit = search_limit(cc), scanned = 0;
	pfn_t distance, bound, found = PFN_NONE;

	if (!fast_allowed(m, cc))
		return cc->migrate_pfn;
	/* The first half of the span at first, then the first eighth, so that targets rarely become
	 * sources. */
	distance = (cc->free_pfn - cc->migrate_pfn) >> 1;
	if (cc->migrate_pfn != z->start_pfn)
		distance >>= 2;
	bound = pb_start(cc->migrate_pfn + distance);
	for (int order = cc->order - 1;
	     order >= PAGE_ALLOC_COSTLY_ORDER && found == PFN_NONE && scanned < limit; order--)
		found = fast_search_list(m, z, (unsigned)order, bound, limit, &scanned);
	cc->total_migrate_scanned += scanned;
	clock_charge(m, COST_FAST_SEARCH, scanned);
	if (found == PFN_NONE) {
		/* Mirrors reinit_migrate_pfn(): go on, once, from the lowest hit there was. */
		cc->fast_search_fail++;
		if (cc->fast_start_pfn != FAST_START_NONE && !cc->fast_start_disabled) {
			cc->migrate_pfn = cc->fast_start_pfn;
			cc->fast_start_disabled = true;
		}
		return cc->migrate_pfn;
	}
	if (!cc->fast_start_disabled &&
	    (cc->fast_start_pfn == FAST_START_NONE || found < cc->fast_start_pfn))
		cc->fast_start_pfn = found;
	cc->fast_search_fail = 0;
	found = pb_start(found);
	return found < z->start_pfn ? z->start_pfn : found;
}

/* ---- the turn of the loop ----------------------------------------------------------------- */

/*
 * Passes the blocks from `from` on in which no scan can begin, a word of both bitmaps at a time:
 * those that are marked, and those that one compound fills, which only cost a look. The first other
 * block, `to` if there is none.
 */
static uint32_t pass_blocks(struct model *m, struct compact_control *cc, uint32_t from, uint32_t to)
{
	uint32_t at = from, whole = 0, last_whole = 0;
	uint64_t stop = 0;

	while (at < to && !stop) {
		uint32_t base = at & ~63u, end = base + 64;
		uint64_t here = ~0ull << (at % 64);
		uint64_t skip = cc->ignore_skip_hint ? 0 : m->map.skip[at / 64];
		uint64_t look = m->map.whole[at / 64] & ~skip;

		if (at == base && end <= to && skip == ~0ull) {
			at = end;
			continue;
		}
		stop = ~(skip | look) & here;
		if (stop)
			end = base + (uint32_t)__builtin_ctzll(stop);
		if (end > to)
			end = to;
		look &= here & (end == base + 64 ? ~0ull : (1ull << (end - base)) - 1);
		if (look) {
			whole += (uint32_t)(look == ~0ull ? 64 : __builtin_popcountll(look));
			last_whole = base + 63 - (uint32_t)__builtin_clzll(look);
		}
		at = end;
	}
	clock_charge(m, COST_BLOCK_SKIPPED, at - from - whole);
	clock_charge(m, COST_BLOCK_VISITED, whole);
	if (whole)
		scan_migrate_update_cached(cc, block_start((block_t){last_whole + 1}));
	return at;
}

enum isolate_result scan_migrate_isolate(struct model *m, struct compact_control *cc)
{
	struct zone *z = cc->zone;
	pfn_t low = scan_migrate_fast(m, cc);
	pfn_t block_end = pb_end(low);
	bool chosen = low != cc->migrate_pfn && cc->fast_search_fail == 0;

	/* Whole blocks until one is worth a scan, up to the block of the free scanner. */
	for (; block_end <= cc->free_pfn;
	     chosen = false, cc->migrate_pfn = low = block_end, block_end += PAGEBLOCK_PAGES) {
		pfn_t start = pb_start(low) < z->start_pfn ? z->start_pfn : pb_start(low);

		if (!compact_block_in_zone(m, z, low))
			continue;
		if (low == start && !chosen) {
			uint32_t at = block_of(low).v;
			uint32_t next = pass_blocks(m, cc, at, block_of(cc->free_pfn).v);

			if (next > at) {
				block_end = block_start((block_t){next});
				continue;
			}
		}
		if (!scan_migrate_suitable(m, cc, start)) {
			clock_charge(m, COST_BLOCK_VISITED, 1);
			scan_migrate_update_cached(cc, block_end);
			continue;
		}
		if (scan_migrate_block(m, cc, low, block_end))
			return ISOLATE_ABORT;
		break;
	}
	return cc->nr_migratepages ? ISOLATE_SUCCESS : ISOLATE_NONE;
}
