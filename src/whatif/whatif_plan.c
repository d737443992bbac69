/* SPDX-License-Identifier: MIT */
/*
 * whatif_plan.c - one kind for every page, from counts.
 *
 * Tables say how many blocks of each type there are and how many free blocks of each order, not
 * where. What is assumed:
 *   - free blocks of a type lie in that type's pageblocks at random places, and no two of them are
 *     buddies, since these would have merged;
 *   - pages of the kernel keep to unmovable and reclaimable pageblocks as far as there is room; the
 *     rest lies in movable ones, up to a quarter of a block in each;
 *   - everything else is anonymous and file pages in runs of 64 pages of a kind.
 * Free memory of HighAtomic and Isolate pageblocks is at nobody's disposal and counts as taken.
 */
#include "whatif/whatif.h"
#include "util/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK      PAGEBLOCK_PAGES
#define RUN        64
#define SPILL_MOST (BLOCK / 4)
/* Random places tried for a free block before the first one that fits is searched. */
#define TRIES 32

/* A zone while it is filled. Blocks are numbers within the zone. */
struct builder {
	const struct whatif_zone *z;
	uint8_t *kind; /* of the zone's first page */
	uint8_t *type;
	uint32_t blocks;
	uint32_t *order; /* blocks that are not whole, grouped by type */
	uint32_t first[NR_MIGRATETYPES + 1];
	uint64_t seed, misplaced;
};

#define UNSET  0xff /* type: not given yet */
#define IN_USE 0xff /* kind: some use, to be chosen */

static void shuffle(uint32_t *list, uint32_t n, uint64_t *seed)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = (uint32_t)random_below(seed, i), t = list[i - 1];

		list[i - 1] = list[k];
		list[k] = t;
	}
}

static bool set_aside(unsigned type)
{
	return type == MIGRATE_HIGHATOMIC || type == MIGRATE_ISOLATE;
}

/* ---- whole blocks -------------------------------------------------------------------------- */

static void whole(struct builder *b, uint32_t block, unsigned type, uint8_t head, uint8_t body)
{
	b->type[block] = (uint8_t)type;
	memset(b->kind + (uint64_t)block * BLOCK, body, BLOCK);
	b->kind[(uint64_t)block * BLOCK] = head;
}

/* The model has its CMA area at the end of the zone. */
static void place_cma(struct builder *b)
{
	uint64_t n = b->z->blocks[MIGRATE_CMA];

	for (uint32_t block = (uint32_t)(b->z->managed / BLOCK); block && n; n--)
		b->type[--block] = MIGRATE_CMA;
}

/* Pairs of blocks for free blocks of order 10. */
static void place_pairs(struct builder *b, uint32_t *pairs, uint32_t n)
{
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
		uint64_t want = type == MIGRATE_CMA ? 0 : b->z->chunks[type][MAX_PAGE_ORDER];
		uint8_t kind = set_aside(type) ? WHATIF_KERNEL : WHATIF_FREE;

		for (uint32_t i = 0; i < n && want; i++) {
			uint32_t block = pairs[i] * 2;

			if (b->type[block] != UNSET || b->type[block + 1] != UNSET)
				continue;
			whole(b, block, type, kind, kind);
			whole(b, block + 1, type, kind, kind);
			want--;
		}
		b->misplaced += want << MAX_PAGE_ORDER;
	}
}

/* Single blocks, the first of every pair before the second of any: buddies would merge. */
static void place_singles(struct builder *b, const uint32_t *singles, uint32_t n)
{
	uint64_t thp = b->z->pages[WHATIF_THP] / BLOCK, pool = b->z->pages[WHATIF_HUGETLB] / BLOCK;
	uint32_t at = 0;

	for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
		uint64_t want = type == MIGRATE_CMA ? 0 : b->z->chunks[type][PAGEBLOCK_ORDER];
		uint8_t kind = set_aside(type) ? WHATIF_KERNEL : WHATIF_FREE;

		for (; want && at < n; at++) {
			if (b->type[singles[at]] != UNSET)
				continue;
			whole(b, singles[at], type, kind, kind);
			want--;
		}
		b->misplaced += want << PAGEBLOCK_ORDER;
	}
	for (; thp + pool && at < n; at++) {
		if (b->type[singles[at]] != UNSET)
			continue;
		whole(b, singles[at], MIGRATE_MOVABLE, thp ? WHATIF_THP : WHATIF_HUGETLB,
		      WHATIF_BODY);
		*(thp ? &thp : &pool) -= 1;
	}
}

/* Types of the blocks that are left, so that each type has its number; the rest is movable. */
static void place_types(struct builder *b, const uint32_t *singles, uint32_t n)
{
	uint64_t left[NR_MIGRATETYPES];

	memcpy(left, b->z->blocks, sizeof(left));
	for (uint32_t i = 0; i < b->blocks; i++)
		if (b->type[i] != UNSET && left[b->type[i]])
			left[b->type[i]]--;
	for (uint32_t i = n; i-- > 0;) {
		unsigned type = MIGRATE_UNMOVABLE;

		if (b->type[singles[i]] != UNSET)
			continue;
		while (type < NR_MIGRATETYPES && (type == MIGRATE_MOVABLE || !left[type]))
			type++;
		if (type == NR_MIGRATETYPES)
			type = MIGRATE_MOVABLE;
		else
			left[type]--;
		b->type[singles[i]] = (uint8_t)type;
	}
}

static int place_blocks(struct builder *b)
{
	uint32_t whole_blocks = (uint32_t)(b->z->managed / BLOCK), n = whole_blocks / 2;
	uint32_t *pairs = malloc((n + 1) * sizeof(*pairs));
	uint32_t *singles = malloc(((size_t)b->blocks + 1) * sizeof(*singles));
	uint32_t second = n, all = 0;

	if (!pairs || !singles) {
		free(pairs);
		free(singles);
		return -ENOMEM;
	}
	memset(b->type, UNSET, b->blocks);
	place_cma(b);
	for (uint32_t i = 0; i < n; i++)
		pairs[i] = i;
	shuffle(pairs, n, &b->seed);
	place_pairs(b, pairs, n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t odd = (uint32_t)random_below(&b->seed, 2);

		singles[all++] = pairs[i] * 2 + odd;
		singles[second++] = pairs[i] * 2 + !odd;
	}
	if (whole_blocks % 2)
		singles[second++] = whole_blocks - 1;
	place_singles(b, singles, second);
	/* The last block may be cut short: it is never whole. */
	if (whole_blocks < b->blocks)
		singles[second++] = whole_blocks;
	shuffle(singles, second, &b->seed);
	place_types(b, singles, second);
	free(pairs);
	free(singles);
	return 0;
}

/* Blocks with room for small pieces, by type. */
static int group_blocks(struct builder *b)
{
	uint32_t n = 0;

	b->order = malloc(((size_t)b->blocks + 1) * sizeof(*b->order));
	if (!b->order)
		return -ENOMEM;
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++) {
		b->first[type] = n;
		for (uint32_t i = 0; i < b->blocks; i++)
			if (b->type[i] == type && b->kind[(uint64_t)i * BLOCK] == IN_USE)
				b->order[n++] = i;
		shuffle(b->order + b->first[type], n - b->first[type], &b->seed);
	}
	b->first[NR_MIGRATETYPES] = n;
	return 0;
}

/* ---- free pieces below a block ------------------------------------------------------------- */

/* No page of it is free, and its buddy is not a free block of the same size. */
static bool fits(const struct builder *b, uint64_t at, unsigned order)
{
	uint64_t n = 1u << order, buddy = at ^ n;
	bool all = true;

	if (at + n > b->z->managed)
		return false;
	for (uint64_t i = at; i < at + n; i++)
		if (b->kind[i] != IN_USE)
			return false;
	for (uint64_t i = buddy; i < buddy + n && all; i++)
		all = i < b->z->managed && b->kind[i] == WHATIF_FREE;
	return !all;
}

static bool search(const struct builder *b, unsigned type, unsigned order, uint64_t *at)
{
	for (uint32_t i = b->first[type]; i < b->first[type + 1]; i++) {
		*at = (uint64_t)b->order[i] * BLOCK;
		for (unsigned k = 0; k < BLOCK >> order; k++, *at += 1u << order)
			if (fits(b, *at, order))
				return true;
	}
	return false;
}

static bool place_piece(struct builder *b, unsigned type, unsigned order)
{
	uint32_t n = b->first[type + 1] - b->first[type];
	uint64_t at = 0;
	bool found = false;

	for (unsigned try = 0; n && try < TRIES && !found; try++) {
		/* One draw after the other: within an expression the compiler chooses the order. */
		uint64_t block = b->order[b->first[type] + random_below(&b->seed, n)];

		at = block * BLOCK + (random_below(&b->seed, BLOCK >> order) << order);
		found = fits(b, at, order);
	}
	if (!found && !search(b, type, order, &at))
		return false;
	memset(b->kind + at, set_aside(type) ? WHATIF_KERNEL : WHATIF_FREE, 1u << order);
	return true;
}

static void place_pieces(struct builder *b)
{
	for (unsigned type = 0; type < NR_MIGRATETYPES; type++)
		for (unsigned order = PAGEBLOCK_ORDER; order-- > 0;)
			for (uint64_t n = b->z->chunks[type][order]; n; n--)
				if (!place_piece(b, type, order)) {
					/* None of this order fits any more. */
					b->misplaced += n << order;
					break;
				}
}

/* CMA blocks were set first; their large free blocks are laid into them here. */
static void place_cma_free(struct builder *b)
{
	uint64_t n = b->z->chunks[MIGRATE_CMA][PAGEBLOCK_ORDER] +
		     2 * b->z->chunks[MIGRATE_CMA][MAX_PAGE_ORDER];

	for (uint32_t i = 0; i < b->blocks && n; i++)
		if (b->type[i] == MIGRATE_CMA) {
			whole(b, i, MIGRATE_CMA, WHATIF_FREE, WHATIF_FREE);
			n--;
		}
	b->misplaced += n << PAGEBLOCK_ORDER;
}

/* ---- what is not free ---------------------------------------------------------------------- */

/* Up to `most` pages a block of that type become `kind`; what is left of *n. */
static void fill_type(struct builder *b, unsigned type, uint8_t kind, uint64_t *n, unsigned most)
{
	for (uint32_t i = b->first[type]; i < b->first[type + 1] && *n; i++) {
		uint64_t at = (uint64_t)b->order[i] * BLOCK, end = at + BLOCK;
		unsigned put = 0;

		for (; at < end && at < b->z->managed && put < most && *n; at++)
			if (b->kind[at] == IN_USE) {
				b->kind[at] = kind;
				put++;
				--*n;
			}
	}
}

static void fill_kernel(struct builder *b)
{
	static const struct {
		uint8_t kind;
		uint8_t home, other;
	} kinds[] = {
		{WHATIF_SLAB_RECLAIMABLE, MIGRATE_RECLAIMABLE, MIGRATE_UNMOVABLE},
		{WHATIF_SLAB, MIGRATE_UNMOVABLE, MIGRATE_RECLAIMABLE},
		{WHATIF_PAGE_TABLE, MIGRATE_UNMOVABLE, MIGRATE_RECLAIMABLE},
		{WHATIF_KERNEL, MIGRATE_UNMOVABLE, MIGRATE_RECLAIMABLE},
	};
	uint64_t left[4];

	for (unsigned i = 0; i < 4; i++) {
		left[i] = b->z->pages[kinds[i].kind];
		fill_type(b, kinds[i].home, kinds[i].kind, &left[i], BLOCK);
	}
	for (unsigned i = 0; i < 4; i++)
		fill_type(b, kinds[i].other, kinds[i].kind, &left[i], BLOCK);
	for (unsigned i = 0; i < 4; i++) {
		fill_type(b, MIGRATE_HIGHATOMIC, kinds[i].kind, &left[i], BLOCK);
		fill_type(b, MIGRATE_MOVABLE, kinds[i].kind, &left[i], SPILL_MOST);
		fill_type(b, MIGRATE_MOVABLE, kinds[i].kind, &left[i], BLOCK);
	}
}

static void fill_rest(struct builder *b)
{
	static const uint8_t kinds[] = {
		WHATIF_ANON,        WHATIF_ANON_ACTIVE, WHATIF_ANON_PINNED, WHATIF_FILE,
		WHATIF_FILE_ACTIVE, WHATIF_FILE_DIRTY,  WHATIF_SHMEM,       WHATIF_UNEVICTABLE,
	};
	enum { KINDS = sizeof(kinds) };
	uint64_t left[KINDS], sum = 0;
	uint8_t kind = WHATIF_FILE;
	unsigned run = 0, k = 0;

	for (unsigned i = 0; i < KINDS; i++)
		sum += left[i] = b->z->pages[kinds[i]];
	for (uint64_t at = 0; at < b->z->managed; at++) {
		if (b->kind[at] != IN_USE)
			continue;
		if (!run && sum) {
			uint64_t draw = random_below(&b->seed, sum);

			for (k = 0; draw >= left[k]; k++)
				draw -= left[k];
			kind = kinds[k];
			run = left[k] < RUN ? (unsigned)left[k] : RUN;
			left[k] -= run;
			sum -= run;
		}
		if (run)
			run--;
		else
			kind = WHATIF_FILE; /* more taken than is accounted for */
		b->kind[at] = kind;
	}
}

static int plan_zone(const struct whatif_zone *z, uint8_t *kind, uint8_t *type, uint64_t seed,
		     uint64_t *misplaced)
{
	struct builder b = {
		.z = z,
		.kind = kind,
		.type = type,
		.blocks = (uint32_t)((z->managed + BLOCK - 1) / BLOCK),
		.seed = seed,
	};
	int r;

	memset(kind, IN_USE, z->managed);
	r = place_blocks(&b);
	if (!r) {
		place_cma_free(&b);
		r = group_blocks(&b);
	}
	if (!r) {
		place_pieces(&b);
		fill_kernel(&b);
		fill_rest(&b);
	}
	free(b.order);
	*misplaced += b.misplaced;
	return r;
}

/* ---- all zones ----------------------------------------------------------------------------- */

int whatif_plan_make(struct whatif_state *s, struct what_if *w, struct whatif_plan *out)
{
	uint64_t pages = 0;
	int r = 0;

	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < s->zones; i++) {
		s->zone[i].first = pages;
		pages += (s->zone[i].managed + BLOCK - 1) / BLOCK * BLOCK;
	}
	out->pages = pages;
	out->kind = calloc(pages + 1, 1);
	out->type = calloc(pages / BLOCK + 1, 1);
	if (!out->kind || !out->type)
		r = -ENOMEM;
	for (unsigned i = 0; i < s->zones && !r; i++)
		r = plan_zone(&s->zone[i], out->kind + s->zone[i].first,
			      out->type + s->zone[i].first / BLOCK, i + 1, &out->misplaced);
	if (r) {
		whatif_plan_free(out);
		return r;
	}
	whatif_assume(w,
		      "where pages lie is not in the tables: free blocks are put at random into "
		      "pageblocks of their type, the kernel's pages into unmovable and "
		      "reclaimable ones while there is room, others in runs of %d",
		      RUN);
	if (out->misplaced)
		whatif_assume(w, "%llu free pages did not fit: the tables are of different moments",
			      (unsigned long long)(out->misplaced * s->scale));
	return 0;
}

void whatif_plan_free(struct whatif_plan *p)
{
	free(p->kind);
	free(p->type);
	memset(p, 0, sizeof(*p));
}
