/* SPDX-License-Identifier: MIT */
#ifndef OS_NUMA_H
#define OS_NUMA_H
/*
 * Nodes of the running machine: which exist, their CPUs and free memory, and the
 * memory-policy system calls (libnuma is not needed for these few).
 *
 * A kernel without NUMA has node 0 and nothing else.
 */
#include <compactlab/error.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum numa_mode {
	NUMA_DEFAULT = 0, /* no policy: local to the running CPU */
	NUMA_PREFERRED = 1,
	NUMA_BIND = 2,
	NUMA_INTERLEAVE = 3,
	NUMA_PREFERRED_MANY = 5,     /* 5.15 */
	NUMA_WEIGHTED_INTERLEAVE = 6 /* 6.9 */
};

/* Ids of the nodes that have memory, ascending; at most `room` are stored. */
unsigned numa_nodes(int *node, unsigned room);
bool numa_has(int node);

/*
 * One number of /proc/meminfo or of a node's file of that form, in bytes. -ENODATA when it has
 * none of that name.
 */
int numa_meminfo(const char *path, const char *name, uint64_t *bytes);

/* MemFree and MemTotal of a node, or of the machine with node < 0. */
int numa_free_bytes(int node, uint64_t *bytes);
int numa_total_bytes(int node, uint64_t *bytes);

/* What the node may come to have: more than its total where memory is handed over on demand. */
int numa_most_bytes(int node, uint64_t *bytes);

/* The CPUs of a node. -ENOENT when it has none. */
int numa_cpus(int node, cpu_set_t *cpus);

/* Bind a mapping to one node. 0 for node 0 of a kernel without NUMA. */
int numa_bind(void *at, size_t length, int node);
/* Policy of the calling thread; bit i of `mask` is node i. */
int numa_policy(enum numa_mode mode, uint64_t mask);

/*
 * The node each page lies on, by asking the kernel for the calling process's
 * mappings; a negative errno in node[i] where no page is mapped.
 */
int numa_where(void *const *page, int *node, unsigned count);
#endif
