/* SPDX-License-Identifier: MIT */
/* ring.c - the rare operations of the ordered list: growing, squeezing, rotating, checking. */
#include "model/ring.h"

#include <stddef.h>

void ring_init(struct ring *r, uint32_t *cells, uint32_t max_cap)
{
	must(max_cap >= RING_MIN_CAP && (max_cap & (max_cap - 1)) == 0);
	*r = (struct ring){ .cell = cells, .cap = RING_MIN_CAP, .max_cap = max_cap };
}

/* Twice the cells: a position whose next higher bit is set now has its cell in the upper half. */
static void ring_double(struct ring *r)
{
	uint32_t old = r->cap;

	r->cap = old * 2;
	for (uint32_t p = r->head; p != r->tail; p++) {
		uint32_t from = p & (old - 1);

		if (p & old) {
			r->cell[from + old] = r->cell[from];
			r->cell[from] = 0;
		}
	}
}

static void ring_squeeze(struct ring *r, ring_moved_fn moved, void *ctx)
{
	uint32_t mask = r->cap - 1;
	uint32_t to = r->head;

	for (uint32_t p = r->head; p != r->tail; p++) {
		uint32_t value = r->cell[p & mask];

		if (value == 0)
			continue;
		if (p != to) {
			r->cell[to & mask] = value;
			r->cell[p & mask] = 0;
			moved(ctx, value, to);
		}
		to++;
	}
	r->tail = to;
}

void ring_make_room(struct ring *r, ring_moved_fn moved, void *ctx)
{
	/* Squeezing only when at least half are holes keeps the cost of a push constant on average. */
	if (r->live > r->cap / 2) {
		must(r->cap < r->max_cap);
		ring_double(r);
	} else {
		ring_squeeze(r, moved, ctx);
	}
}

uint32_t ring_insert(struct ring *r, uint32_t pos, uint32_t value, ring_moved_fn moved, void *ctx)
{
	uint32_t front_members = 0;
	uint32_t mask;

	check(value != 0 && r->live != 0);
	for (uint32_t p = r->head; p != pos; p = ring_next(r, p))
		front_members++;
	if (r->tail - r->head == r->cap) {
		ring_make_room(r, moved, ctx);
		pos = r->head;
		while (front_members--)
			pos = ring_next(r, pos);
	}
	mask = r->cap - 1;
	for (uint32_t p = r->head; p != pos; p++) {
		uint32_t member = r->cell[p & mask];

		r->cell[(p - 1) & mask] = member;
		if (member)
			moved(ctx, member, p - 1);
	}
	r->cell[(pos - 1) & mask] = value;
	r->head--;
	r->live++;
	return pos - 1;
}

bool ring_is_valid(const struct ring *r)
{
	uint32_t span = r->tail - r->head;
	uint32_t members = 0;

	if (r->cell == NULL || span > r->cap || r->cap > r->max_cap)
		return false;
	for (uint32_t i = 0; i < r->cap; i++) {
		uint32_t pos = r->head + i;
		bool inside = i < span;

		if (ring_at(r, pos) != 0) {
			if (!inside)
				return false;
			members++;
		}
	}
	if (members != r->live)
		return false;
	return span == 0 ? r->live == 0 : ring_at(r, r->head) != 0 && ring_at(r, r->tail - 1) != 0;
}
