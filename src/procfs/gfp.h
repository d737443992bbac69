/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_GFP_H
#define PROCFS_GFP_H
/*
 * What an allocation asked for, decoded from the mask or the names a kernel printed.
 *
 * The bits of gfp_mask moved five times. A mask is decoded by the kernel's version; when
 * that is not known, by the first layout in which the mask makes sense. Kernels since 4.6
 * print the names too, and then these are what counts.
 */
#include "procfs/span.h"
#include <stdbool.h>
#include <stdint.h>

/* Our own numbering, the same for every version. */
enum gfp_flag {
	GFP_F_DMA = 1u << 0,
	GFP_F_HIGHMEM = 1u << 1,
	GFP_F_DMA32 = 1u << 2,
	GFP_F_MOVABLE = 1u << 3,
	GFP_F_RECLAIMABLE = 1u << 4,
	GFP_F_HIGH = 1u << 5, /* may use part of the reserve */
	GFP_F_IO = 1u << 6,
	GFP_F_FS = 1u << 7,
	GFP_F_ZERO = 1u << 8,
	GFP_F_ATOMIC = 1u << 9,
	GFP_F_DIRECT_RECLAIM = 1u << 10, /* may sleep: __GFP_WAIT before 4.4 */
	GFP_F_KSWAPD_RECLAIM = 1u << 11,
	GFP_F_WRITE = 1u << 12,
	GFP_F_NOWARN = 1u << 13,
	GFP_F_RETRY_MAYFAIL = 1u << 14, /* __GFP_REPEAT before 4.13 */
	GFP_F_NOFAIL = 1u << 15,
	GFP_F_NORETRY = 1u << 16,
	GFP_F_MEMALLOC = 1u << 17,
	GFP_F_COMP = 1u << 18,
	GFP_F_NOMEMALLOC = 1u << 19,
	GFP_F_HARDWALL = 1u << 20,
	GFP_F_THISNODE = 1u << 21,
	GFP_F_ACCOUNT = 1u << 22,
	GFP_F_COLD = 1u << 23,
	GFP_F_NOTRACK = 1u << 24,
	GFP_F_OTHER_NODE = 1u << 25,
	GFP_F_NO_KSWAPD = 1u << 26
};

/* major, minor, patch in one comparable number; 0: not known. */
#define KERNEL_VERSION_CODE(a, b, c) ((uint32_t)(a) << 24 | (uint32_t)(b) << 12 | (uint32_t)(c))

/* "5.10.2", "2.6.38-10-server", "7.2.0-rc1". False when it is no version. */
bool kernel_version_parse(struct span text, uint32_t *code);

/* Flags of a number as printed by that version (0: guess from the number). */
uint32_t gfp_from_mask(uint64_t mask, uint32_t version);
/* Flags of "GFP_KERNEL|__GFP_COMP". Names that are not known are counted. */
uint32_t gfp_from_names(struct span names, unsigned *unknown);
/* "GFP_KERNEL|__GFP_COMP", the shortest way to say it. Returns buf. */
char *gfp_print(uint32_t flags, char *buf, size_t size);

/* May not sleep: nothing is reclaimed or compacted on behalf of it. */
static inline bool gfp_is_atomic(uint32_t flags)
{
	return !(flags & GFP_F_DIRECT_RECLAIM);
}
#endif
