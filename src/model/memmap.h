/* SPDX-License-Identifier: MIT */
/*
 * memmap.h - the page arrays and the only functions that store into state[], flag[] and the block
 * counts.
 *
 * A page changes its life by one of the transitions below, and every transition starts or ends at
 * "held":
 *
 *     free <-> held <-> pcp          buddy.c, pcp.c
 *              held <-> owned        owner.c (allocation results become owned; freeing makes them
 * held)
 *
 * They are inline because allocation and free run through them 20 million times a second.
 */
#ifndef COMPACTLAB_MODEL_MEMMAP_H
#define COMPACTLAB_MODEL_MEMMAP_H

#include <string.h>

#include "model/types.h"

/* Reserves and initialises the arrays for pfns below end_pfn. 0 or -ENOMEM. machine.c, set-up. */
int memmap_init(struct model *m, pfn_t end_pfn) MUST_USE;
/* Gives [start, end) to a zone; pages outside every zone stay holes. Set-up. */
void memmap_add_zone(struct model *m, struct zone *z);
/* Takes whole blocks [start, end) out of every zone again (the hole below 4 GiB). Set-up, after
 * add_zone. */
void memmap_hole_blocks(struct model *m, pfn_t start, pfn_t end);
/* Marks [start, end) PG_RESERVED or PG_HOLE. Set-up, before the range is freed to the buddy. */
void memmap_reserve(struct model *m, pfn_t start, pfn_t end, enum page_kind kind);
/* Recounts one block from its pages and compares (validate.c). */
bool memmap_block_is_valid(struct model *m, block_t b);

/* ---- reading ------------------------------------------------------------------------------ */

/* state[pfn], also right for blocks never touched (where heads are not marked). */
static inline uint8_t memmap_state(const struct model *m, pfn_t pfn)
{
	uint8_t s = m->map.state[pfn];

	if (s == 0 && (pfn & ((1u << MAX_PAGE_ORDER) - 1)) == 0 &&
	    !(m->map.block[block_of(pfn).v].bits & BLOCK_TOUCHED))
		return PG_STATE(PG_FREE, MAX_PAGE_ORDER);
	return s;
}

/* Head of the compound that pfn is in; pfn itself when it is a head or a single page. */
static inline pfn_t memmap_head(const struct model *m, pfn_t pfn)
{
	uint8_t s = m->map.state[pfn];

	return KINDS_TAIL >> PG_KIND(s) & 1 ? pfn & ~((1u << PG_ORDER(s)) - 1) : pfn;
}

static inline bool memmap_skip(const struct model *m, pfn_t pfn)
{
	uint32_t b = block_of(pfn).v;

	return m->map.skip[b / 64] >> (b % 64) & 1;
}

static inline void memmap_skip_set(struct model *m, pfn_t pfn)
{
	uint32_t b = block_of(pfn).v;

	m->map.skip[b / 64] |= 1ull << (b % 64);
}

static inline void memmap_skip_clear(struct model *m, pfn_t pfn)
{
	uint32_t b = block_of(pfn).v;

	m->map.skip[b / 64] &= ~(1ull << (b % 64));
}

/* Does one owned compound fill the block? Mirrors pageblock_skip_persistent(). */
static inline bool memmap_whole(const struct model *m, pfn_t pfn)
{
	uint32_t b = block_of(pfn).v;

	return m->map.whole[b / 64] >> (b % 64) & 1;
}

/* Is a block's list type one that the target scanner passes? Kept beside the types so that it can
 * pass 64 such blocks at a time. */
static inline bool memmap_not_movable(const struct model *m, pfn_t pfn)
{
	uint32_t b = block_of(pfn).v;

	return m->map.not_movable[b / 64] >> (b % 64) & 1;
}

/* For whoever stores a block's type or isolates it. */
static inline void memmap_type_changed(struct model *m, block_t b)
{
	uint64_t bit = 1ull << (b.v % 64);

	if (migratetype_is_movable_like(block_list_type(m, block_start(b))))
		m->map.not_movable[b.v / 64] &= ~bit;
	else
		m->map.not_movable[b.v / 64] |= bit;
}

/*
 * The target scanner's way down from `from`: the first block above `low` that is not marked to be
 * skipped (if use_skip) and not of a type to pass (if use_type), `low` if none. *marked: how many
 * of those passed were marked, which is what they cost.
 */
uint32_t memmap_prev_target(const struct model *m, uint32_t from, uint32_t low, bool use_skip,
			    bool use_type, uint32_t *marked);

/* ---- transitions -------------------------------------------------------------------------- */

/* A compound of a block's size or larger fills its blocks, or ceases to. */
static inline void memmap_set_whole(struct model *m, pfn_t head, unsigned order, bool whole)
{
	for (uint32_t b = block_of(head).v; b <= block_of(head + (1u << order) - 1).v; b++) {
		if (whole)
			m->map.whole[b / 64] |= 1ull << (b % 64);
		else
			m->map.whole[b / 64] &= ~(1ull << (b % 64));
	}
}

/* Adds n * pages to a count of each block the chunk is in (two for order 10). */
#define MEMMAP_COUNT(m, pfn, order, field, op)                                                     \
	do {                                                                                       \
		struct block *blk_ = &(m)->map.block[(pfn) >> PAGEBLOCK_ORDER];                    \
		if ((order) <= PAGEBLOCK_ORDER) {                                                  \
			blk_->field op(uint16_t)(1u << (order));                                   \
		} else {                                                                           \
			blk_[0].field op(uint16_t) PAGEBLOCK_PAGES;                                \
			blk_[1].field op(uint16_t) PAGEBLOCK_PAGES;                                \
		}                                                                                  \
	} while (0)

/* A free chunk's head comes to its block, or leaves. */
static inline void memmap_count_head(struct model *m, pfn_t pfn, int by)
{
	struct block *b = &m->map.block[pfn >> PAGEBLOCK_ORDER];

	b->nr_free_heads = (uint16_t)(b->nr_free_heads + by);
	if (pfn % BLOCK_GRID == 0)
		b->nr_grid_heads = (uint8_t)(b->nr_grid_heads + by);
}

/* held -> free. The caller (buddy.c) has put it on a list and stores word[pfn] itself. */
static inline void memmap_mark_free(struct model *m, pfn_t pfn, unsigned order)
{
	check(PG_KIND(m->map.state[pfn]) == PG_HELD);
	m->map.state[pfn] = PG_STATE(PG_FREE, order);
	memmap_count_head(m, pfn, +1);
	MEMMAP_COUNT(m, pfn, order, nr_taken, -=);
}

/* free -> held, same order. */
static inline void memmap_unmark_free(struct model *m, pfn_t pfn, unsigned order)
{
	check(m->map.state[pfn] == PG_STATE(PG_FREE, order));
	m->map.state[pfn] = PG_STATE(PG_HELD, order);
	memmap_count_head(m, pfn, -1);
	MEMMAP_COUNT(m, pfn, order, nr_taken, +=);
}

/* The head of a never-touched order-10 chunk gets its literal state; counts of free pages are
 * unchanged because a zero record already says "all free". buddy_materialise() alone calls this. */
static inline void memmap_touch_pristine(struct model *m, pfn_t head)
{
	struct block *b = &m->map.block[head >> PAGEBLOCK_ORDER];

	check(!((b[0].bits | b[1].bits) & BLOCK_TOUCHED));
	b[0].bits |= BLOCK_TOUCHED;
	b[1].bits |= BLOCK_TOUCHED;
	b[0].nr_free_heads = b[0].nr_grid_heads = 1;
	m->map.state[head] = PG_STATE(PG_FREE, MAX_PAGE_ORDER);
}

/* Boot: pages no allocator knows yet become a held chunk. A touched block counts only what is not
 * free, so the chunk is counted as taken until buddy_free() gives it out. buddy_boot_range() alone
 * calls this. */
static inline void memmap_boot_hold(struct model *m, pfn_t pfn, unsigned order)
{
	struct block *b = &m->map.block[pfn >> PAGEBLOCK_ORDER];

	check(m->map.state[pfn] == 0);
	b[0].bits |= BLOCK_TOUCHED;
	if (order > PAGEBLOCK_ORDER)
		b[1].bits |= BLOCK_TOUCHED;
	MEMMAP_COUNT(m, pfn, order, nr_taken, +=);
	m->map.state[pfn] = PG_STATE(PG_HELD, order);
}

/* held -> held of another order: a split (then also called for the upper half) or a merge. */
static inline void memmap_set_held(struct model *m, pfn_t pfn, unsigned order)
{
	check(PG_KIND(m->map.state[pfn]) == PG_HELD || m->map.state[pfn] == 0);
	m->map.state[pfn] = PG_STATE(PG_HELD, order);
}

/* A merge swallowed the upper half's head: it is the inside of a chunk now. */
static inline void memmap_set_body(struct model *m, pfn_t pfn)
{
	check(PG_KIND(m->map.state[pfn]) == PG_HELD);
	m->map.state[pfn] = 0;
}

static inline void memmap_mark_pcp(struct model *m, pfn_t pfn, unsigned order)
{
	check(m->map.state[pfn] == PG_STATE(PG_HELD, order));
	m->map.state[pfn] = PG_STATE(PG_PCP, order);
	MEMMAP_COUNT(m, pfn, order, nr_pcp, +=);
}

static inline void memmap_unmark_pcp(struct model *m, pfn_t pfn, unsigned order)
{
	check(m->map.state[pfn] == PG_STATE(PG_PCP, order));
	m->map.state[pfn] = PG_STATE(PG_HELD, order);
	MEMMAP_COUNT(m, pfn, order, nr_pcp, -=);
}

/* held -> no page at all, or one that boot keeps. For layouts. */
static inline void memmap_unuse(struct model *m, pfn_t pfn, enum page_kind kind)
{
	struct block *b = &m->map.block[pfn >> PAGEBLOCK_ORDER];

	check(m->map.state[pfn] == PG_STATE(PG_HELD, 0) &&
	      (kind == PG_HOLE || kind == PG_RESERVED));
	m->map.state[pfn] = PG_STATE(kind, 0);
	if (kind == PG_HOLE && (pfn == pb_start(pfn) || pfn + 1 == pb_end(pfn)))
		b->bits |= BLOCK_FOREIGN_END;
}

/* The tails of an owned chunk of order 1 or more begin, and end, and what is counted of them. */
void memmap_make_compound(struct model *m, pfn_t head, unsigned order, enum page_kind tail);
void memmap_end_compound(struct model *m, pfn_t head, unsigned order);

/* One that boot kept -> held. */
static inline void memmap_unreserve(struct model *m, pfn_t pfn)
{
	check(m->map.state[pfn] == PG_STATE(PG_RESERVED, 0));
	m->map.state[pfn] = PG_STATE(PG_HELD, 0);
}

/* held -> owned: writes head and tails. Flags start at zero; `word` is the slot. owner.c only. */
static inline void memmap_own(struct model *m, pfn_t pfn, unsigned order, enum page_kind kind,
			      uint32_t word)
{
	check(m->map.state[pfn] == PG_STATE(PG_HELD, order));
	m->map.state[pfn] = PG_STATE(kind, order);
	m->map.flag[pfn] = 0;
	m->map.word[pfn] = word;
	if (order > 0)
		memmap_make_compound(m, pfn, order, KINDS_LRU >> kind & 1 ? PG_TAIL_LRU : PG_TAIL);
	if (kind == PG_MOVABLE_OPS)
		MEMMAP_COUNT(m, pfn, order, nr_movable_ops, +=);
}

/* owned -> held. No PGF_LRU and no PGF_PINNED may be left. owner.c only. */
static inline void memmap_disown(struct model *m, pfn_t pfn)
{
	uint8_t s = m->map.state[pfn];
	unsigned order = PG_ORDER(s);

	check(KINDS_OWNED >> PG_KIND(s) & 1);
	if (KINDS_LRU >> PG_KIND(s) & 1)
		check(!(m->map.flag[pfn] & (PGF_LRU | PGF_PINNED)));
	if (PG_KIND(s) == PG_MOVABLE_OPS)
		MEMMAP_COUNT(m, pfn, order, nr_movable_ops, -=);
	m->map.state[pfn] = PG_STATE(PG_HELD, order);
	m->map.flag[pfn] = 0;
	if (order > 0)
		memmap_end_compound(m, pfn, order);
}

#define PGF_COUNTED (PGF_LRU | PGF_PINNED)

/* Block counts that depend on LRU and PINNED together. Folios are never larger than a block. */
static inline void memmap_count_flags(struct model *m, pfn_t pfn, int sign)
{
	uint8_t s = m->map.state[pfn];
	uint8_t f = m->map.flag[pfn];
	struct block *b = &m->map.block[pfn >> PAGEBLOCK_ORDER];
	uint16_t pages = (uint16_t)(1u << PG_ORDER(s));

	if (!(f & PGF_LRU))
		return;
	if (sign < 0)
		pages = (uint16_t)-pages;
	b->nr_lru = (uint16_t)(b->nr_lru + pages);
	if (PG_KIND(s) == PG_ANON && f & PGF_PINNED)
		b->nr_pinned = (uint16_t)(b->nr_pinned + pages);
}

static inline void memmap_flag_set(struct model *m, pfn_t head, uint8_t bits)
{
	check(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1);
	if (bits & PGF_COUNTED)
		memmap_count_flags(m, head, -1);
	m->map.flag[head] |= bits;
	if (bits & PGF_COUNTED)
		memmap_count_flags(m, head, +1);
}

static inline void memmap_flag_clear(struct model *m, pfn_t head, uint8_t bits)
{
	check(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1);
	if (bits & PGF_COUNTED)
		memmap_count_flags(m, head, -1);
	m->map.flag[head] &= (uint8_t)~bits;
	if (bits & PGF_COUNTED)
		memmap_count_flags(m, head, +1);
}

/* memmap_flag_set() and _clear() of PGF_LRU alone, on a folio that lacks it, or has it. */
static inline void memmap_lru_on(struct model *m, pfn_t head)
{
	check(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1 && !(m->map.flag[head] & PGF_LRU));
	m->map.flag[head] |= PGF_LRU;
	memmap_count_flags(m, head, +1);
}

static inline void memmap_lru_off(struct model *m, pfn_t head)
{
	check(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1 && m->map.flag[head] & PGF_LRU);
	memmap_count_flags(m, head, -1);
	m->map.flag[head] &= (uint8_t)~PGF_LRU;
}

static inline bool memmap_has(const struct model *m, pfn_t head, uint8_t bits)
{
	return (m->map.flag[head] & bits) == bits;
}

/*
 * Owned folio of order k becomes 2^k base folios of the same kind, each with the old flags; word[]
 * of each is its own slot. The folio is off its LRU. Mirrors split_folio's effect on struct pages.
 */
void memmap_split_folio(struct model *m, pfn_t head, uint32_t first_slot);

#endif
