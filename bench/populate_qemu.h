/* SPDX-License-Identifier: MIT */
#ifndef BENCH_POPULATE_QEMU_H
#define BENCH_POPULATE_QEMU_H
/* What QEMU's own code takes to fill a guest's memory before the guest starts. */
#include <stdint.h>

struct qemu_result {
	uint64_t ns;     /* until QEMU answers on its monitor */
	uint64_t cpu_ns; /* of all its threads until then */
	uint64_t huge;   /* bytes in huge pages */
};

/*
 * Start QEMU with a memory backend of `size` bytes and prealloc=on, its guest stopped, and
 * end it when it answers. With `preload`, a path, that library is preloaded. 0 or -errno;
 * -ENOENT without QEMU.
 */
int qemu_prealloc(uint64_t size, const char *preload, struct qemu_result *result);
#endif
