/* SPDX-License-Identifier: MIT */
/* A snapshot in memory. */
#include "snapshot/snapshot.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define STATES_MOST 60000u

static const char *const kinds[SNAPSHOT_KINDS] = {
	"hole",   "reserved", "free",    "anon",    "file",    "shmem",
	"kernel", "slab",     "pgtable", "hugetlb", "balloon",
};

static const char *const flags[SNAPSHOT_FLAGS] = {
	"lru",         "active", "referenced", "dirty",  "writeback",
	"unevictable", "mapped", "shared",     "pinned",
};

static const char *const texts[SNAPSHOT_TEXTS] = {"zoneinfo", "pagetypeinfo", "buddyinfo",
						  "vmstat"};

const char snapshot_type_letters[] = "UMRHCI?-";
const char *const snapshot_zone_names[SNAPSHOT_ZONES] = {"DMA", "DMA32", "Normal", "Movable"};

const char *snapshot_kind_name(enum snapshot_kind kind)
{
	return kinds[kind];
}

const char *snapshot_flag_name(unsigned bit)
{
	return flags[bit];
}

const char *snapshot_text_name(enum snapshot_text text)
{
	return texts[text];
}

/* ---- arrays that grow ------------------------------------------------------------------------ */

/*
 * In mappings of their own that children do not get: a process that forks after it made room would
 * otherwise copy each page on writing it, in the middle of what the snapshot is to show.
 */
static void *array_new(uint64_t room, size_t size)
{
	void *at =
		mmap(NULL, room * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	madvise(at, room * size, MADV_DONTFORK);
	madvise(at, room * size, MADV_NOHUGEPAGE);
	return at;
}

/* The array with more room, where it is now; NULL without memory. */
static void *array_grow(void *array, uint64_t *room, size_t size)
{
	uint64_t more = *room ? *room * 2 : 4096;
	void *at = array ? mremap(array, *room * size, more * size, MREMAP_MAYMOVE)
			 : array_new(more, size);

	if (!at || at == MAP_FAILED)
		return NULL;
	*room = more;
	return at;
}

struct snapshot *snapshot_new(uint64_t pages)
{
	struct snapshot *s = calloc(1, sizeof(*s));

	if (!s || !pages)
		return s;
	s->room = pages;
	s->stretch_room = pages / 4 + 64;
	s->block_room = pages / SNAPSHOT_BLOCK + 64;
	s->block = array_new(s->block_room, sizeof(*s->block));
	s->run = array_new(s->room, sizeof(*s->run));
	s->stretch = array_new(s->stretch_room, sizeof(*s->stretch));
	if (s->run && s->stretch && s->block) {
		memset(s->block, 0xff, s->block_room * sizeof(*s->block));
		memset(s->run, 0xff, s->room * sizeof(*s->run));
		memset(s->stretch, 0xff, s->stretch_room * sizeof(*s->stretch));
		return s;
	}
	snapshot_free(s);
	return NULL;
}

void snapshot_free(struct snapshot *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->settings; i++) {
		free(s->setting[i].name);
		free(s->setting[i].value);
	}
	for (unsigned i = 0; i < s->memories; i++)
		free(s->memory[i].step);
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++)
		free(s->text[i]);
	free(s->release);
	free(s->version);
	free(s->machine);
	free(s->taken);
	free(s->scenario);
	free(s->step);
	free(s->setting);
	free(s->state);
	if (s->run)
		munmap(s->run, s->room * sizeof(*s->run));
	if (s->block)
		munmap(s->block, s->block_room * sizeof(*s->block));
	free(s->list);
	free(s->tuning);
	free(s->scan);
	if (s->stretch)
		munmap(s->stretch, s->stretch_room * sizeof(*s->stretch));
	free(s->memory);
	free(s);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool same(struct snapshot_state a, struct snapshot_state b)
{
	return a.kind == b.kind && a.order == b.order && a.flags == b.flags;
}

/* The state's number, given to it when it is new. */
static int number(struct snapshot *s, struct snapshot_state state)
{
	struct snapshot_state *more;

	/* Newest first: neighbours are often alike. */
	if (s->runs && same(s->state[s->run[s->runs - 1].state], state))
		return s->run[s->runs - 1].state;
	for (unsigned i = 0; i < s->states; i++)
		if (same(s->state[i], state))
			return (int)i;
	if (s->states == STATES_MOST)
		return -EFBIG;
	if (s->states % 64 == 0) {
		more = realloc(s->state, (s->states + 64) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		s->state = more;
	}
	s->state[s->states] = state;
	return (int)s->states++;
}

static int run_append(struct snapshot *s, unsigned state, uint64_t count)
{
	if (s->runs == s->room) {
		struct snapshot_run *more = array_grow(s->run, &s->room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->run = more;
	}
	s->run[s->runs++] =
		(struct snapshot_run){.count = (uint16_t)count, .state = (uint16_t)state};
	return 0;
}

int snapshot_add(struct snapshot *s, struct snapshot_state state, uint64_t count)
{
	uint64_t size = 1ull << state.order;
	int id;

	if (state.kind >= SNAPSHOT_KINDS || state.order > SNAPSHOT_MAX_ORDER || s->pages % size ||
	    (state.kind <= SNAPSHOT_FREE && state.order))
		return -EINVAL;
	if (count > (SNAPSHOT_MAX_PAGES - s->pages) / size)
		return -EFBIG;
	id = number(s, state);
	if (id < 0)
		return id;
	while (count) {
		uint64_t left = (SNAPSHOT_BLOCK - s->pages % SNAPSHOT_BLOCK) / size;
		uint64_t take = left == 0 ? 1 : left < count ? left : count;
		struct snapshot_run *last = s->runs ? &s->run[s->runs - 1] : NULL;
		int r = 0;

		if (last && last->state == id && s->pages % SNAPSHOT_BLOCK)
			last->count = (uint16_t)(last->count + take);
		else
			r = run_append(s, (unsigned)id, take);
		if (r)
			return r;
		s->pages += take * size;
		count -= take;
	}
	return 0;
}

bool snapshot_next(const struct snapshot *s, struct snapshot_cursor *c, uint64_t *count,
		   struct snapshot_state *state)
{
	const struct snapshot_run *run = &s->run[c->run];

	if (c->run == s->runs)
		return false;
	c->run++;
	*count = run->count;
	*state = s->state[run->state];
	c->pfn = c->next_pfn;
	c->next_pfn += *count << state->order;
	return true;
}

/* ---- settings and memories ------------------------------------------------------------------- */

int snapshot_setting_add(struct snapshot *s, const char *name, const char *value)
{
	struct snapshot_setting *more = realloc(s->setting, (s->settings + 1) * sizeof(*more));
	struct snapshot_setting one = {.name = strdup(name), .value = strdup(value)};

	if (more)
		s->setting = more;
	if (!more || !one.name || !one.value) {
		free(one.name);
		free(one.value);
		return -ENOMEM;
	}
	s->setting[s->settings++] = one;
	return 0;
}

const char *snapshot_setting_get(const struct snapshot *s, const char *name)
{
	for (unsigned i = 0; i < s->settings; i++)
		if (!strcmp(s->setting[i].name, name))
			return s->setting[i].value;
	return NULL;
}

int snapshot_memory_add(struct snapshot *s, const char *step, uint64_t pages)
{
	struct snapshot_memory *more = realloc(s->memory, (s->memories + 1) * sizeof(*more));
	char *name = strdup(step);

	if (more)
		s->memory = more;
	if (!more || !name) {
		free(name);
		return -ENOMEM;
	}
	s->memory[s->memories++] = (struct snapshot_memory){.step = name,
							    .pages = pages,
							    .first = (uint32_t)s->stretches};
	return 0;
}

/* The array with room for one more, by 64 of them; NULL without memory. */
static void *table_grow(void *table, unsigned count, size_t size)
{
	return count % 64 ? table : realloc(table, (count + 64) * size);
}

int snapshot_stretch_add(struct snapshot *s, struct snapshot_stretch stretch)
{
	if (s->stretches == s->stretch_room) {
		struct snapshot_stretch *more =
			array_grow(s->stretch, &s->stretch_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->stretch = more;
	}
	if (s->stretches == UINT32_MAX)
		return -EFBIG;
	s->stretch[s->stretches++] = stretch;
	return 0;
}

/* One more of the stretches from `first` on, *count of them; in the last one where it fits. */
static int stretch_page(struct snapshot *s, uint32_t *count, uint64_t position, uint64_t pfn)
{
	struct snapshot_stretch *t = *count ? &s->stretch[s->stretches - 1] : NULL;
	int r;

	if (t && t->count == 1) {
		t->by = (int32_t)(position - t->position);
		t->pfn_by = (int32_t)(pfn - t->pfn);
	}
	if (t && (int64_t)position == t->position + (int64_t)t->count * t->by &&
	    (int64_t)pfn == t->pfn + (int64_t)t->count * t->pfn_by) {
		t->count++;
		return 0;
	}
	r = snapshot_stretch_add(s, (struct snapshot_stretch){.position = (uint32_t)position,
							      .pfn = (uint32_t)pfn,
							      .count = 1});
	*count += !r;
	return r;
}

int snapshot_memory_page(struct snapshot *s, uint64_t position, uint64_t pfn)
{
	return stretch_page(s, &s->memory[s->memories - 1].count, position, pfn);
}

/* ---- from inside ----------------------------------------------------------------------------- */

int snapshot_list_add(struct snapshot *s, struct snapshot_list list)
{
	struct snapshot_list *more = table_grow(s->list, s->lists, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->list = more;
	list.first = (uint32_t)s->stretches;
	list.count = 0;
	s->list[s->lists++] = list;
	return 0;
}

int snapshot_list_page(struct snapshot *s, uint64_t pfn)
{
	struct snapshot_list *l = &s->list[s->lists - 1];
	const struct snapshot_stretch *last = l->count ? &s->stretch[s->stretches - 1] : NULL;

	return stretch_page(s, &l->count, last ? last->position + last->count : 0, pfn);
}

void snapshot_list_drop(struct snapshot *s)
{
	s->stretches = s->list[--s->lists].first;
}

int snapshot_tuning_add(struct snapshot *s, struct snapshot_tuning tuning)
{
	struct snapshot_tuning *more = table_grow(s->tuning, s->tunings, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->tuning = more;
	s->tuning[s->tunings++] = tuning;
	return 0;
}

int snapshot_scanners_add(struct snapshot *s, struct snapshot_scanners scanners)
{
	struct snapshot_scanners *more = table_grow(s->scan, s->scans, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->scan = more;
	s->scan[s->scans++] = scanners;
	return 0;
}

int snapshot_block_add(struct snapshot *s, unsigned type, bool skip)
{
	if (s->blocks == s->block_room) {
		uint8_t *more = array_grow(s->block, &s->block_room, sizeof(*more));

		if (!more)
			return -ENOMEM;
		s->block = more;
	}
	s->block[s->blocks++] = (uint8_t)((type & 7) | (skip ? 8 : 0));
	return 0;
}

void snapshot_inside_drop(struct snapshot *s)
{
	s->blocks = 0;
	s->lists = s->tunings = s->scans = 0;
}

/* ---- is it sound ----------------------------------------------------------------------------- */

static int check_memory(const struct snapshot *s, const struct snapshot_memory *m,
			struct cl_error *err)
{
	for (uint32_t i = m->first; i < m->first + m->count; i++) {
		const struct snapshot_stretch *t = &s->stretch[i];
		int64_t last = (int64_t)t->count - 1;
		int64_t position = t->position + last * t->by, pfn = t->pfn + last * t->pfn_by;

		if (!t->count || position < 0 || pfn < 0 || (uint64_t)position >= m->pages ||
		    t->position >= m->pages || (uint64_t)pfn >= s->pages || t->pfn >= s->pages)
			return cl_error(err, -EINVAL,
					"the memory of step %s has pages where there are none",
					m->step);
	}
	return 0;
}

static int check_list(const struct snapshot *s, const struct snapshot_list *l, struct cl_error *err)
{
	uint64_t size = 1ull << l->order;

	for (uint32_t i = l->first; i < l->first + l->count; i++) {
		const struct snapshot_stretch *t = &s->stretch[i];
		int64_t last = t->pfn + ((int64_t)t->count - 1) * t->pfn_by;

		if (!t->count || last < 0 || (uint64_t)last + size > s->pages ||
		    t->pfn + size > s->pages || t->pfn % size || t->pfn_by % (int64_t)size)
			return cl_error(err, -EINVAL, "a free list has pages where there are none");
	}
	return 0;
}

int snapshot_check(const struct snapshot *s, struct cl_error *err)
{
	int r = 0;

	if (!s->release || !s->version || !s->machine || !s->taken || !s->cpus)
		return cl_error(err, -EINVAL, "it does not say of which machine it is");
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++)
		if (!s->text[i])
			return cl_error(err, -EINVAL, "the text of /proc/%s is missing", texts[i]);
	if (!s->pages)
		return cl_error(err, -EINVAL, "there are no pages in it");
	for (unsigned i = 0; i < s->memories && !r; i++)
		r = check_memory(s, &s->memory[i], err);
	for (unsigned i = 0; i < s->lists && !r; i++)
		r = check_list(s, &s->list[i], err);
	if (!r && s->blocks && s->blocks != s->pages / SNAPSHOT_BLOCK)
		r = cl_error(err, -EINVAL, "it has not a type for each block");
	if (!r && !s->blocks && (s->lists || s->tunings || s->scans))
		r = cl_error(err, -EINVAL, "it has lists but no types of blocks");
	return r;
}
