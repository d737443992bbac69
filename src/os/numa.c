/* SPDX-License-Identifier: MIT */
#include "os/numa.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "procfs/procfs.h"
#include "scenario/plan.h"
#include "util/util.h"

#define NODE_DIR "/sys/devices/system/node"

/* "0-1,4" as set bits, through a callback; stops at the first thing that is no list. */
static void list_each(const char *text, void (*each)(void *arg, unsigned n), void *arg)
{
	while (isdigit((unsigned char)*text)) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < 65536; first++)
			each(arg, (unsigned)first);
		text = *end == ',' ? end + 1 : end;
	}
}

struct node_sink {
	int *node;
	unsigned count, room;
};

static void node_add(void *arg, unsigned n)
{
	struct node_sink *s = arg;

	/* Numbers may have gaps; tables are by number. */
	if (n < PLAN_MAX_NODES && s->count < s->room)
		s->node[s->count++] = (int)n;
}

unsigned numa_nodes(int *node, unsigned room)
{
	struct node_sink s = {.node = node, .room = room};
	char *text;

	if (file_read(NODE_DIR "/has_memory", &text, NULL) == 0) {
		list_each(text, node_add, &s);
		free(text);
	}
	if (!s.count)
		node_add(&s, 0);
	return s.count;
}

bool numa_has(int node)
{
	int all[PLAN_MAX_NODES];
	unsigned count = numa_nodes(all, PLAN_MAX_NODES);

	for (unsigned i = 0; i < count; i++)
		if (all[i] == node)
			return true;
	return false;
}

int numa_meminfo(const char *path, const char *name, uint64_t *bytes)
{
	struct counters c;
	size_t length;
	char *text;
	int r = file_read(path, &text, &length);

	if (r)
		return r;
	r = meminfo_parse(text, length, &c, NULL, NULL);
	free(text);
	if (r)
		return r;
	if (counters_get(&c, name, bytes))
		*bytes *= 1024;
	else
		r = -ENODATA;
	counters_free(&c);
	return r;
}

static int node_counter(int node, const char *name, uint64_t *bytes)
{
	char path[64];
	int r;

	snprintf(path, sizeof(path), NODE_DIR "/node%d/meminfo", node);
	r = numa_meminfo(path, name, bytes);
	return r == -ENOENT && node == 0 ? numa_meminfo("/proc/meminfo", name, bytes) : r;
}

/*
 * The machine is the sum of its nodes: /proc/meminfo of some virtual machines also counts memory
 * that the host has not handed over yet.
 */
static int counter_sum(int node, const char *name, uint64_t *bytes)
{
	int id[PLAN_MAX_NODES], r = 0;
	unsigned count = numa_nodes(id, PLAN_MAX_NODES);
	uint64_t one;

	if (node >= 0)
		return node_counter(node, name, bytes);
	*bytes = 0;
	for (unsigned i = 0; i < count && !r; i++) {
		r = node_counter(id[i], name, &one);
		*bytes += r ? 0 : one;
	}
	return r;
}

int numa_free_bytes(int node, uint64_t *bytes)
{
	return counter_sum(node, "MemFree", bytes);
}

int numa_total_bytes(int node, uint64_t *bytes)
{
	return counter_sum(node, "MemTotal", bytes);
}

int numa_most_bytes(int node, uint64_t *bytes)
{
	uint64_t machine;
	int id[PLAN_MAX_NODES], r = numa_total_bytes(node, bytes);

	if (r || (node >= 0 && numa_nodes(id, PLAN_MAX_NODES) > 1))
		return r;
	if (numa_meminfo("/proc/meminfo", "MemTotal", &machine) == 0 && machine > *bytes)
		*bytes = machine;
	return 0;
}

static void cpu_add(void *arg, unsigned n)
{
	if (n < CPU_SETSIZE)
		CPU_SET(n, (cpu_set_t *)arg);
}

int numa_cpus(int node, cpu_set_t *cpus)
{
	char path[64], *text;
	int r;

	CPU_ZERO(cpus);
	snprintf(path, sizeof(path), NODE_DIR "/node%d/cpulist", node);
	r = file_read(path, &text, NULL);
	if (r == -ENOENT && node == 0)
		return sched_getaffinity(0, sizeof(*cpus), cpus) < 0 ? -errno : 0;
	if (r)
		return r;
	list_each(text, cpu_add, cpus);
	free(text);
	return CPU_COUNT(cpus) ? 0 : -ENOENT;
}

/* The kernel looks at maxnode - 1 bits. */
#define MASK_BITS (8 * sizeof(uint64_t) + 1)

int numa_bind(void *at, size_t length, int node)
{
	uint64_t mask = 1ull << node;

	if (syscall(SYS_mbind, at, length, NUMA_BIND, &mask, MASK_BITS, 0) == 0)
		return 0;
	return errno == ENOSYS && node == 0 ? 0 : -errno;
}

int numa_policy(enum numa_mode mode, uint64_t mask)
{
	long r = mode == NUMA_DEFAULT ? syscall(SYS_set_mempolicy, NUMA_DEFAULT, NULL, 0)
				      : syscall(SYS_set_mempolicy, mode, &mask, MASK_BITS);

	if (r == 0)
		return 0;
	return errno == ENOSYS && (mode == NUMA_DEFAULT || mask == 1) ? 0 : -errno;
}

int numa_where(void *const *page, int *node, unsigned count)
{
	if (syscall(SYS_move_pages, 0, (unsigned long)count, page, NULL, node, 0) >= 0)
		return 0;
	if (errno != ENOSYS)
		return -errno;
	memset(node, 0, count * sizeof(*node));
	return 0;
}
