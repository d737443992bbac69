/* SPDX-License-Identifier: MIT */
/* buddy_reference.c - see buddy_reference.h. */
#include "buddy_reference.h"

#include <stdlib.h>
#include <string.h>

static unsigned block_index(const struct ref_zone *z, uint32_t pfn)
{
	return pfn / PAGEBLOCK_PAGES - z->start / PAGEBLOCK_PAGES;
}

enum migratetype ref_type(const struct ref_zone *z, uint32_t pfn)
{
	unsigned b = block_index(z, pfn);

	return z->isolated[b] ? MIGRATE_ISOLATE : z->type[b];
}

/* ---- lists -------------------------------------------------------------------------------- */

static void add(struct ref_zone *z, uint32_t pfn, unsigned order, enum migratetype type, bool tail)
{
	struct ref_list *l = &z->list[order][type];

	if (tail) {
		l->pfn[l->nr++] = pfn;
		return;
	}
	memmove(&l->pfn[1], &l->pfn[0], l->nr++ * sizeof(l->pfn[0]));
	l->pfn[0] = pfn;
}

static bool find(const struct ref_list *l, uint32_t pfn, uint32_t *at)
{
	for (*at = 0; *at < l->nr; ++*at) {
		if (l->pfn[*at] == pfn)
			return true;
	}
	return false;
}

static void del(struct ref_zone *z, uint32_t pfn, unsigned order, enum migratetype type)
{
	struct ref_list *l = &z->list[order][type];
	uint32_t at;

	if (!find(l, pfn, &at))
		abort();
	memmove(&l->pfn[at], &l->pfn[at + 1], (--l->nr - at) * sizeof(l->pfn[0]));
}

int ref_order(const struct ref_zone *z, uint32_t pfn)
{
	uint32_t at;

	if (pfn < z->start || pfn >= z->end)
		return -1;
	for (int order = 0; order < NR_PAGE_ORDERS; order++) {
		if (find(&z->list[order][ref_type(z, pfn)], pfn, &at))
			return order;
	}
	return -1;
}

uint64_t ref_free_pages(const struct ref_zone *z)
{
	uint64_t pages = 0;

	for (int order = 0; order < NR_PAGE_ORDERS; order++) {
		for (int type = 0; type < MIGRATE_ISOLATE; type++)
			pages += (uint64_t)z->list[order][type].nr << order;
	}
	return pages;
}

/* ---- taking ------------------------------------------------------------------------------- */

static uint32_t split(struct ref_zone *z, uint32_t pfn, unsigned high, unsigned low,
		      enum migratetype type)
{
	for (unsigned k = high; k-- > low;)
		add(z, pfn + (1u << k), k, type, false);
	return pfn;
}

uint32_t ref_take(struct ref_zone *z, unsigned order, enum migratetype type)
{
	for (unsigned o = order; o < NR_PAGE_ORDERS; o++) {
		if (z->list[o][type].nr) {
			uint32_t pfn = z->list[o][type].pfn[0];

			del(z, pfn, o, type);
			return split(z, pfn, o, order, type);
		}
	}
	return 0;
}

void ref_take_chunk(struct ref_zone *z, uint32_t pfn, unsigned order)
{
	del(z, pfn, order, ref_type(z, pfn));
}

static int fallback(const struct ref_zone *z, unsigned order, enum migratetype type)
{
	static const enum migratetype table[3][2] = {{2, 1}, {2, 0}, {0, 1}};

	for (int i = 0; i < 2; i++) {
		if (z->list[order][table[type][i]].nr)
			return (int)table[type][i];
	}
	return -1;
}

static uint32_t free_in_block(const struct ref_zone *z, uint32_t pfn)
{
	uint32_t start = pfn / PAGEBLOCK_PAGES * PAGEBLOCK_PAGES, pages = 0;

	for (uint32_t p = start; p < start + PAGEBLOCK_PAGES;) {
		int order = ref_order(z, p);

		pages += order < 0 ? 0 : 1u << order;
		p += order < 0 ? 1 : 1u << order;
	}
	return pages;
}

static uint32_t claim(struct ref_zone *z, unsigned order, enum migratetype type, bool nofragment)
{
	unsigned lowest = nofragment && order < 9 ? 9 : order;

	for (int o = 10; o >= (int)lowest; o--) {
		int from;
		uint32_t pfn, f, compatible;

		if (o < 4 && type == MIGRATE_MOVABLE)
			break;
		from = fallback(z, (unsigned)o, type);
		if (from < 0)
			continue;
		pfn = z->list[o][from].pfn[0];
		if (o >= 9) {
			del(z, pfn, (unsigned)o, (enum migratetype)from);
			for (int b = 0; b < 1 << (o - 9); b++)
				z->type[block_index(z, pfn) + (unsigned)b] = type;
			return split(z, pfn, (unsigned)o, order, type);
		}
		if (pfn / 512 * 512 < z->start || pfn / 512 * 512 + 512 > z->end)
			continue;
		f = free_in_block(z, pfn);
		compatible = type != MIGRATE_MOVABLE && from == MIGRATE_MOVABLE ? 512 - f : 0;
		if (f + compatible < 256)
			continue;
		(void)ref_retype(z, pfn, type);
		return ref_take(z, order, type);
	}
	return 0;
}

static uint32_t steal(struct ref_zone *z, unsigned order, enum migratetype type)
{
	for (unsigned o = order; o < NR_PAGE_ORDERS; o++) {
		int from = fallback(z, o, type);

		if (from >= 0) {
			uint32_t pfn = z->list[o][from].pfn[0];

			del(z, pfn, o, (enum migratetype)from);
			return split(z, pfn, o, order, (enum migratetype)from);
		}
	}
	return 0;
}

uint32_t ref_take_any(struct ref_zone *z, unsigned order, enum migratetype type, bool nofragment,
		      int *mode)
{
	uint32_t pfn = 0;

	if (*mode == 0)
		pfn = ref_take(z, order, type);
	if (!pfn && *mode == 0)
		pfn = claim(z, order, type, nofragment);
	if (!pfn && !nofragment) {
		pfn = steal(z, order, type);
		*mode = pfn ? 1 : *mode;
	}
	return pfn;
}

/* ---- freeing ------------------------------------------------------------------------------ */

static void free_one(struct ref_zone *z, uint32_t pfn, unsigned order, bool to_tail)
{
	enum migratetype type = ref_type(z, pfn);
	uint32_t parent;

	for (; order < 10; order++) {
		uint32_t buddy = pfn ^ (1u << order);
		enum migratetype buddy_type;

		if (ref_order(z, buddy) != (int)order)
			break;
		buddy_type = ref_type(z, buddy);
		if (buddy_type != type && (type > 2 || buddy_type > 2))
			break;
		del(z, buddy, order, buddy_type);
		if (buddy_type != type)
			z->type[block_index(z, buddy)] = type;
		pfn = pfn < buddy ? pfn : buddy;
	}
	parent = pfn & ~(1u << order);
	if (order <= 8 && ref_order(z, parent ^ (2u << order)) == (int)order + 1)
		to_tail = true;
	add(z, pfn, order, type, to_tail);
}

void ref_free(struct ref_zone *z, uint32_t pfn, unsigned order, bool to_tail)
{
	if (order == 10) {
		free_one(z, pfn, 9, to_tail);
		free_one(z, pfn + 512, 9, to_tail);
	} else {
		free_one(z, pfn, order, to_tail);
	}
}

void ref_boot(struct ref_zone *z, uint32_t start, uint32_t end)
{
	memset(z, 0, sizeof(*z));
	z->start = start;
	z->end = end;
	for (unsigned b = 0; b < REF_MAX_BLOCKS; b++)
		z->type[b] = MIGRATE_MOVABLE;
	for (uint32_t pfn = start; pfn < end;) {
		unsigned order = 10;

		while (pfn % (1u << order) || pfn + (1u << order) > end)
			order--;
		ref_free(z, pfn, order, true);
		pfn += 1u << order;
	}
}

/* ---- blocks ------------------------------------------------------------------------------- */

static void split_order_10(struct ref_zone *z, uint32_t pfn)
{
	uint32_t head = pfn / 1024 * 1024;
	enum migratetype type;

	if (ref_order(z, head) != 10)
		return;
	type = ref_type(z, head);
	del(z, head, 10, type);
	add(z, head, 9, type, false);
	add(z, head + 512, 9, type, false);
}

static uint32_t move(struct ref_zone *z, uint32_t pfn, enum migratetype from, enum migratetype to)
{
	uint32_t start = pfn / 512 * 512, pages = 0, at;

	for (uint32_t p = start; p < start + 512; p++) {
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
			if (!find(&z->list[order][from], p, &at))
				continue;
			del(z, p, order, from);
			add(z, p, order, to, true);
			pages += 1u << order;
			break;
		}
	}
	return pages;
}

uint32_t ref_retype(struct ref_zone *z, uint32_t pfn, enum migratetype type)
{
	enum migratetype from = ref_type(z, pfn);

	if (from == type)
		return 0;
	split_order_10(z, pfn);
	z->type[block_index(z, pfn)] = type;
	return from == ref_type(z, pfn) ? 0 : move(z, pfn, from, type);
}

void ref_isolate(struct ref_zone *z, uint32_t pfn)
{
	enum migratetype from = ref_type(z, pfn);

	split_order_10(z, pfn);
	z->isolated[block_index(z, pfn)] = true;
	(void)move(z, pfn, from, MIGRATE_ISOLATE);
}

void ref_unisolate(struct ref_zone *z, uint32_t pfn)
{
	uint32_t start = pfn / 512 * 512;
	bool whole = ref_order(z, start) == 9;

	split_order_10(z, pfn);
	if (whole)
		del(z, start, 9, MIGRATE_ISOLATE);
	z->isolated[block_index(z, pfn)] = false;
	if (whole)
		free_one(z, start, 9, true);
	else
		(void)move(z, pfn, MIGRATE_ISOLATE, ref_type(z, pfn));
}
