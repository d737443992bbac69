/* SPDX-License-Identifier: MIT */
#ifndef OS_KCORE_H
#define OS_KCORE_H
/* The running kernel's memory by its own addresses: /proc/kcore, and names from /proc/kallsyms. */
#include <stddef.h>
#include <stdint.h>

#define KCORE_SEGMENTS 128

struct kcore {
	int fd;
	unsigned segments;
	struct {
		uint64_t from, to, offset;
	} segment[KCORE_SEGMENTS];
};

/* -EPERM, -ENOENT: not shown here. */
int kcore_open(struct kcore *k);
void kcore_close(struct kcore *k);
/* -EFAULT: no memory there. */
int kcore_read(const struct kcore *k, uint64_t address, void *to, size_t size);
/* Addresses of names; all of them must be there: -ENOENT; -EPERM when they are hidden. */
int kcore_symbols(const char *const *name, uint64_t *address, unsigned count);
#endif
