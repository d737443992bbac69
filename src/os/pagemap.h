/* SPDX-License-Identifier: MIT */
#ifndef OS_PAGEMAP_H
#define OS_PAGEMAP_H
/* Which frames lie behind the calling process's addresses: node, base or huge. */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdint.h>
#include "scenario/plan.h"

/* base in 4 KiB pages, huge in 2 MiB pages; each page counted once. */
struct node_pages {
	uint64_t base, huge;
};

/* Raw /proc/self/pagemap entries of `pages` pages at `at`. */
int pagemap_read(const void *at, uint64_t pages, uint64_t *entry, struct cl_error *err);

/*
 * Count present pages by node. A 2 MiB aligned range is a huge page when its 512
 * frames are consecutive, aligned and one compound page; needs root.
 */
int pagemap_count(char *at, uint64_t pages, struct node_pages out[PLAN_MAX_NODES],
		  uint64_t *present, struct cl_error *err);

/* The flags of a frame, /proc/kpageflags, and how often it is mapped, /proc/kpagecount. */
int pagemap_frame(uint64_t pfn, uint64_t *flags, uint64_t *mapped);

/* Bytes in huge pages by the kernel's own account of [at, at + bytes): smaps AnonHugePages. */
int pagemap_smaps_huge(const char *at, uint64_t bytes, uint64_t *huge_bytes);
/* The same on given text of /proc/PID/smaps. */
int pagemap_smaps_sum(const char *text, uint64_t from, uint64_t to, const char *field,
		      uint64_t *bytes);
#endif
