/* SPDX-License-Identifier: MIT */
/* arena.c - lazily touched memory for one machine; see arena.h. */
#include "model/arena.h"

#include <stdlib.h>
#include <sys/mman.h>

/* A machine reserves a few large ranges and some thousand small ring areas; the latter are carved. */
#define ARENA_MAPS 1024
#define ARENA_CHUNK ((size_t)64 << 20)
#define OS_PAGE ((size_t)4096)

struct arena {
	size_t nr;
	char *carve;
	size_t carve_left;
	struct { void *base; size_t bytes; } map[ARENA_MAPS];
};

struct arena *arena_new(void)
{
	return calloc(1, sizeof(struct arena));
}

static void *arena_map(struct arena *a, size_t bytes)
{
	void *p;

	if (a->nr == ARENA_MAPS)
		return NULL;
	p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
#ifdef MADV_NOHUGEPAGE
	/* Huge pages of the host would make the lazy arrays resident all at once. */
	(void)madvise(p, bytes, MADV_NOHUGEPAGE);
#endif
	a->map[a->nr].base = p;
	a->map[a->nr].bytes = bytes;
	a->nr++;
	return p;
}

void *arena_reserve(struct arena *a, size_t bytes)
{
	void *p;

	bytes = (bytes + OS_PAGE - 1) & ~(OS_PAGE - 1);
	if (bytes >= ARENA_CHUNK / 4) {
		p = arena_map(a, bytes);
	} else {
		if (bytes > a->carve_left) {
			a->carve = arena_map(a, ARENA_CHUNK);
			a->carve_left = a->carve ? ARENA_CHUNK : 0;
		}
		p = a->carve;
		if (p) {
			a->carve += bytes;
			a->carve_left -= bytes;
		}
	}
	return p;
}

uint64_t arena_resident_in(const void *range, size_t bytes)
{
	size_t left = (bytes + OS_PAGE - 1) / OS_PAGE;
	char *p = (char *)(uintptr_t)range;
	unsigned char vec[4096];
	uint64_t pages = 0;

	while (left) {
		size_t n = left < sizeof(vec) ? left : sizeof(vec);

		if (mincore(p, n * OS_PAGE, vec) != 0)
			break;
		for (size_t k = 0; k < n; k++)
			pages += vec[k] & 1;
		p += n * OS_PAGE;
		left -= n;
	}
	return pages * OS_PAGE;
}

uint64_t arena_resident(const struct arena *a)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < a->nr; i++)
		bytes += arena_resident_in(a->map[i].base, a->map[i].bytes);
	return bytes;
}

void arena_free(struct arena *a)
{
	if (!a)
		return;
	for (size_t i = 0; i < a->nr; i++)
		munmap(a->map[i].base, a->map[i].bytes);
	free(a);
}
