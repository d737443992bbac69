/* SPDX-License-Identifier: MIT */
/*
 * ring.h - an ordered list of 32-bit values: insert at both ends, remove anywhere, walk, rotate.
 *
 * The kernel threads its lists through struct page, two pointers a page. At 9-10 bytes a page we cannot.
 * A ring costs 4 bytes a *member* instead: the values stand side by side in list order, removal leaves a
 * zero, and the member remembers its position in the one word it has (memmap.word[]). Walking a list is
 * then a linear read, which is what the fast searches of compaction want.
 *
 * Positions are running 32-bit numbers, not indices: cell = pos & (cap - 1). Doubling the capacity
 * therefore moves cells but changes no position. Only a squeeze (many holes) and a rotation change
 * positions; they report each changed member to `moved`, which stores it where the member keeps it.
 * Where exactly a member stands is never compared, hashed or printed; the order is.
 *
 * Owner: buddy.c (free lists, value = pfn or a run entry) and lru.c (ordered LRU lists, value = slot).
 * Memory: reserved once, `max_cap` cells of lazily touched memory, at least twice the members there can
 * ever be, so that no operation fails and none allocates.
 */
#ifndef COMPACTLAB_MODEL_RING_H
#define COMPACTLAB_MODEL_RING_H

#include <stdbool.h>
#include <stdint.h>

#include "model/check.h"

#define RING_MIN_CAP 256u

struct ring {
	uint32_t *cell;    /* 0 = hole; values are never 0 */
	uint32_t cap;      /* cells in use, a power of two */
	uint32_t max_cap;  /* cells reserved, a power of two */
	uint32_t head;     /* position of the first member; == tail when empty */
	uint32_t tail;     /* one past the position of the last member */
	uint32_t live;     /* members */
};

/* Called for each member whose position changed. */
typedef void (*ring_moved_fn)(void *ctx, uint32_t value, uint32_t pos);

/* cells must be zero. max_cap: power of two >= RING_MIN_CAP, >= 2 * the most members ever. */
void ring_init(struct ring *r, uint32_t *cells, uint32_t max_cap);
/* Makes room for one more member at either end; the slow half of both pushes. */
void ring_make_room(struct ring *r, ring_moved_fn moved, void *ctx);
/* Before the member at pos; moves all that stand in front of it. Returns the new member's position. */
uint32_t ring_insert(struct ring *r, uint32_t pos, uint32_t value, ring_moved_fn moved, void *ctx);
/* No hole at either end, live equals the members, everything outside [head, tail) is zero. */
bool ring_is_valid(const struct ring *r);

static inline uint32_t ring_at(const struct ring *r, uint32_t pos)
{
	return r->cell[pos & (r->cap - 1)];
}

static inline bool ring_is_empty(const struct ring *r)
{
	return r->live == 0;
}

/* Positions for walking: for (p = r->head; p != r->tail; p = ring_next(r, p)). */
static inline uint32_t ring_next(const struct ring *r, uint32_t pos)
{
	do
		pos++;
	while (pos != r->tail && ring_at(r, pos) == 0);
	return pos;
}

/* From the tail: for (n = live, p = r->tail; n--; ) { p = ring_prev(r, p); ... } */
static inline uint32_t ring_prev(const struct ring *r, uint32_t pos)
{
	do
		pos--;
	while (ring_at(r, pos) == 0);
	return pos;
}

/* Both return the position, which the caller stores with the member. */
static inline uint32_t ring_push_head(struct ring *r, uint32_t value, ring_moved_fn moved, void *ctx)
{
	check(value != 0);
	if (r->tail - r->head == r->cap)
		ring_make_room(r, moved, ctx);
	r->head--;
	r->cell[r->head & (r->cap - 1)] = value;
	r->live++;
	return r->head;
}

static inline uint32_t ring_push_tail(struct ring *r, uint32_t value, ring_moved_fn moved, void *ctx)
{
	check(value != 0);
	if (r->tail - r->head == r->cap)
		ring_make_room(r, moved, ctx);
	r->cell[r->tail & (r->cap - 1)] = value;
	r->live++;
	return r->tail++;
}

static inline void ring_remove(struct ring *r, uint32_t pos)
{
	uint32_t mask = r->cap - 1;

	check(pos - r->head < r->tail - r->head && r->cell[pos & mask] != 0);
	r->cell[pos & mask] = 0;
	r->live--;
	if (r->live == 0) {
		r->head = r->tail = pos;
		return;
	}
	while (r->cell[r->head & mask] == 0)
		r->head++;
	while (r->cell[(r->tail - 1) & mask] == 0)
		r->tail--;
}

/*
 * Cyclic rotation after which the member at pos is the first; the shorter side is moved. Inline, so
 * that `moved` is: each fast search of compaction rotates a list.
 */
static inline void ring_rotate_to(struct ring *r, uint32_t pos, ring_moved_fn moved, void *ctx)
{
	uint32_t mask = r->cap - 1;
	uint32_t value;

	/* A member leaves one end before it enters at the other, so there is always room for it. */
	if (pos - r->head <= r->tail - pos) {
		while (r->head != pos) {
			value = r->cell[r->head & mask];
			r->cell[r->head++ & mask] = 0;
			if (value == 0)
				continue;
			r->cell[r->tail & mask] = value;
			moved(ctx, value, r->tail++);
		}
		return;
	}
	while (r->tail != pos) {
		value = r->cell[--r->tail & mask];
		r->cell[r->tail & mask] = 0;
		if (value == 0)
			continue;
		r->cell[--r->head & mask] = value;
		moved(ctx, value, r->head);
	}
	/* Before `pos` there may have been holes. */
	while (r->cell[(r->tail - 1) & mask] == 0)
		r->tail--;
}

#endif
