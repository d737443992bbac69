/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_SYS_H
#define POPULATE_POP_SYS_H
/*
 * System calls the library makes, raw: constants the C library's headers may lack,
 * negative errno, and no way back into a madvise() that somebody interposed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set of nodes: bit n of word n / 64. As many as the kernel can be built for. */
#define POP_NODE_WORDS 4
#define POP_NODES      (64 * POP_NODE_WORDS)
struct pop_nodemask {
	uint64_t word[POP_NODE_WORDS];
};

void pop_mask_set(struct pop_nodemask *m, unsigned node);
bool pop_mask_has(const struct pop_nodemask *m, unsigned node);
bool pop_mask_empty(const struct pop_nodemask *m);
unsigned pop_mask_count(const struct pop_nodemask *m);

enum pop_mpol { /* include/uapi/linux/mempolicy.h */
		POP_MPOL_DEFAULT,
		POP_MPOL_PREFERRED,
		POP_MPOL_BIND,
		POP_MPOL_INTERLEAVE,
		POP_MPOL_LOCAL,
		POP_MPOL_PREFERRED_MANY,
		POP_MPOL_WEIGHTED_INTERLEAVE,
};
struct pop_policy {
	int mode; /* enum pop_mpol and flag bits */
	struct pop_nodemask nodes;
};
#define POP_MPOL_MODE(mode) ((mode)&0xff)

/* The calling thread's policy. */
int pop_sys_set_policy(const struct pop_policy *p);
int pop_sys_get_policy(struct pop_policy *p);
/* The policy of the mapping at an address; POP_MPOL_DEFAULT: it has none of its own. */
int pop_sys_policy_at(const void *addr, struct pop_policy *p);

/* Node of each page, or a negative errno for each; no page is moved. */
int pop_sys_nodes_of(unsigned long count, void **pages, int *node);

/* Node of the CPU this thread runs on, -errno. */
int pop_sys_this_node(void);

/* 0 or -errno. */
int pop_sys_huge(void *addr, size_t length, bool huge); /* MADV_HUGEPAGE, MADV_NOHUGEPAGE */
int pop_sys_populate_write(void *addr, size_t length);
int pop_sys_collapse(void *addr, size_t length);
/* Is the advice known to this kernel and allowed here? Touches nothing. */
bool pop_sys_has_populate_write(void);
bool pop_sys_has_collapse(void);
/* PR_SET_THP_DISABLE in force for memory that asks for huge pages? */
bool pop_sys_thp_disabled(void);

/* Minor page faults this thread has taken. */
uint64_t pop_sys_faults(void);
uint64_t pop_sys_now_ns(void);

/* Categories of PAGEMAP_SCAN (Linux 6.7). */
#define POP_PAGE_PRESENT (1u << 3)
#define POP_PAGE_SWAPPED (1u << 4)
#define POP_PAGE_HUGE    (1u << 6)
struct pop_region {
	uint64_t start, end, categories;
};
/*
 * Regions of [start, end) that are present or swapped out, with what they are. `fd`
 * is /proc/self/pagemap. Fills at most `count` regions, sets *next to where the walk
 * ended. Number of regions or -errno.
 */
long pop_sys_scan(int fd, uint64_t start, uint64_t end, struct pop_region *r, size_t count,
		  uint64_t *next);

/* Open for reading; -errno. */
int pop_sys_open(const char *path);
/* The whole of a small kernel file, null-terminated. Length, or -errno. */
long pop_sys_read(const char *path, char *buf, size_t size);
/* The same again of one that stays open: from its beginning, as it is now. */
long pop_sys_reread(int fd, char *buf, size_t size);
/* The same for a file of any size; the caller frees. NULL when it cannot be read. */
char *pop_sys_read_all(const char *path);
#endif
