/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_VMA_H
#define POPULATE_POP_VMA_H
/* What kind of memory a range is. */
#include <stdint.h>

enum pop_memory {
	POP_ANON,    /* anonymous, private */
	POP_SHMEM,   /* memfd, tmpfs, SysV, shared anonymous */
	POP_HUGETLB, /* from the pool */
	POP_OTHER_FILE,
	POP_UNKNOWN, /* /proc/self/maps cannot be read */
	POP_HOLE,    /* not mapped all through */
	POP_READONLY,
};

/* What the text cannot tell. */
struct pop_vma_ask {
	/* Device of the kernel's own tmpfs, which memfd and SysV memory live on; have_dev: known.
	 */
	unsigned dev_major, dev_minor;
	int have_dev;
	/* File system of a path: 1 tmpfs, 2 hugetlbfs, 0 other. */
	int (*filesystem)(const char *path);
};

/*
 * Kind of [start, end) by the text of /proc/<pid>/maps. A range over several mappings
 * is what the least able of them is.
 */
enum pop_memory pop_vma_kind(const char *maps, uint64_t start, uint64_t end,
			     const struct pop_vma_ask *ask);
/* The same for this process. */
enum pop_memory pop_vma_kind_here(uint64_t start, uint64_t end);
#endif
