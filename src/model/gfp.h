/* SPDX-License-Identifier: MIT */
/*
 * gfp.h - the vocabulary of a page request: gfp bits, allocator flags, migrate types, zones, orders.
 *
 * Only numbers live here, no structs, so that src/policy and the tests can include it alone. The bit
 * positions of gfp_t are the kernel's of the 6.12..7.3 range, because traces print them.
 */
#ifndef COMPACTLAB_MODEL_GFP_H
#define COMPACTLAB_MODEL_GFP_H

#include <stdbool.h>
#include <stdint.h>

/* ---- geometry (x86-64, 4 KiB pages) ------------------------------------------------------- */

#define PAGE_SHIFT 12
#define PAGE_SIZE_BYTES 4096u

#define PAGEBLOCK_ORDER 9
#define PAGEBLOCK_PAGES 512u
#define MAX_PAGE_ORDER 10
#define NR_PAGE_ORDERS 11
#define PMD_ORDER 9
#define PAGE_ALLOC_COSTLY_ORDER 3 /* "costly" is order > 3 */

#define SWAP_CLUSTER_MAX 32u
#define COMPACT_CLUSTER_MAX 32u
#define COMPACT_MAX_DEFER_SHIFT 6
#define MAX_RECLAIM_RETRIES 16
#define MAX_COMPACT_RETRIES 16
#define DEF_PRIORITY 12

/* ---- zones and migrate types -------------------------------------------------------------- */

/* ZONE_DEVICE never has pages here; it exists because "highest class" and `protection:` count it. */
enum zone_class { ZONE_DMA, ZONE_DMA32, ZONE_NORMAL, ZONE_MOVABLE, ZONE_DEVICE, NR_ZONE_CLASSES };

enum migratetype {
	MIGRATE_UNMOVABLE,
	MIGRATE_MOVABLE,
	MIGRATE_RECLAIMABLE,
	MIGRATE_HIGHATOMIC, /* == MIGRATE_PCPTYPES: values below it can merge and convert */
	MIGRATE_CMA,
	MIGRATE_ISOLATE,
	NR_MIGRATETYPES,
};
#define MIGRATE_PCPTYPES 3

static inline bool migratetype_is_mergeable(enum migratetype mt)
{
	return mt < MIGRATE_PCPTYPES;
}

/* "Movable-like": the only kinds of block compaction fills, and those it empties for movable requests. */
static inline bool migratetype_is_movable_like(enum migratetype mt)
{
	return mt == MIGRATE_MOVABLE || mt == MIGRATE_CMA;
}

/* ---- gfp ---------------------------------------------------------------------------------- */

typedef uint32_t gfp_t;

#define GFP_BIT(n) ((gfp_t)1u << (n))
#define __GFP_DMA GFP_BIT(0)
#define __GFP_HIGHMEM GFP_BIT(1)
#define __GFP_DMA32 GFP_BIT(2)
#define __GFP_MOVABLE GFP_BIT(3)
#define __GFP_RECLAIMABLE GFP_BIT(4)
#define __GFP_HIGH GFP_BIT(5)
#define __GFP_IO GFP_BIT(6)
#define __GFP_FS GFP_BIT(7)
#define __GFP_ZERO GFP_BIT(8)
#define __GFP_DIRECT_RECLAIM GFP_BIT(10)
#define __GFP_KSWAPD_RECLAIM GFP_BIT(11)
#define __GFP_WRITE GFP_BIT(12)
#define __GFP_NOWARN GFP_BIT(13)
#define __GFP_RETRY_MAYFAIL GFP_BIT(14)
#define __GFP_NOFAIL GFP_BIT(15)
#define __GFP_NORETRY GFP_BIT(16)
#define __GFP_MEMALLOC GFP_BIT(17)
#define __GFP_COMP GFP_BIT(18)
#define __GFP_NOMEMALLOC GFP_BIT(19)
#define __GFP_HARDWALL GFP_BIT(20)
#define __GFP_THISNODE GFP_BIT(21)

#define GFP_KERNEL (__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM | __GFP_IO | __GFP_FS)
#define GFP_NOFS (GFP_KERNEL & ~__GFP_FS)
#define GFP_NOIO (GFP_KERNEL & ~(__GFP_FS | __GFP_IO))
#define GFP_NOWAIT (__GFP_KSWAPD_RECLAIM | __GFP_NOWARN)
#define GFP_ATOMIC (__GFP_HIGH | __GFP_KSWAPD_RECLAIM)
#define GFP_USER (GFP_KERNEL | __GFP_HARDWALL)
#define GFP_HIGHUSER_MOVABLE (GFP_USER | __GFP_HIGHMEM | __GFP_MOVABLE)
#define GFP_TRANSHUGE_LIGHT                                                                        \
	((GFP_HIGHUSER_MOVABLE | __GFP_COMP | __GFP_NOMEMALLOC | __GFP_NOWARN) &                   \
	 ~(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM))
#define GFP_TRANSHUGE (GFP_TRANSHUGE_LIGHT | __GFP_DIRECT_RECLAIM)

/* Mirrors gfp_zone(): the highest zone class a request may use. */
static inline enum zone_class gfp_zone(gfp_t gfp)
{
	if ((gfp & (__GFP_HIGHMEM | __GFP_MOVABLE)) == (__GFP_HIGHMEM | __GFP_MOVABLE))
		return ZONE_MOVABLE;
	if (gfp & __GFP_DMA32)
		return ZONE_DMA32;
	if (gfp & __GFP_DMA)
		return ZONE_DMA;
	return ZONE_NORMAL;
}

/* Mirrors gfp_migratetype() on a machine with grouping by mobility. */
static inline enum migratetype gfp_migratetype(gfp_t gfp)
{
	if (gfp & __GFP_MOVABLE)
		return MIGRATE_MOVABLE;
	return gfp & __GFP_RECLAIMABLE ? MIGRATE_RECLAIMABLE : MIGRATE_UNMOVABLE;
}

/* ---- allocator flags (alloc_flags) -------------------------------------------------------- */

typedef uint32_t alloc_flags_t;

#define ALLOC_WMARK_MIN 0x0u
#define ALLOC_WMARK_LOW 0x1u
#define ALLOC_WMARK_HIGH 0x2u
#define ALLOC_WMARK_MASK 0x3u
#define ALLOC_NO_WATERMARKS 0x4u
#define ALLOC_OOM 0x8u
#define ALLOC_NON_BLOCK 0x10u
#define ALLOC_MIN_RESERVE 0x20u
#define ALLOC_CPUSET 0x40u
#define ALLOC_CMA 0x80u
#define ALLOC_NOFRAGMENT 0x100u
#define ALLOC_HIGHATOMIC 0x200u
#define ALLOC_KSWAPD 0x800u

/* Those that may eat the highatomic reserve, and so are not charged for it by the watermark test. */
#define ALLOC_RESERVES (ALLOC_NON_BLOCK | ALLOC_MIN_RESERVE | ALLOC_HIGHATOMIC | ALLOC_OOM)

/* ---- compaction vocabulary ---------------------------------------------------------------- */

/* Traces print these values, and results of several zones are combined with max(): the order counts. */
enum compact_result {
	COMPACT_NOT_SUITABLE_ZONE,
	COMPACT_SKIPPED,
	COMPACT_DEFERRED,
	COMPACT_NO_SUITABLE_PAGE,
	COMPACT_CONTINUE,
	COMPACT_COMPLETE,
	COMPACT_PARTIAL_SKIPPED,
	COMPACT_CONTENDED,
	COMPACT_SUCCESS,
};

enum compact_priority {
	COMPACT_PRIO_SYNC_FULL,
	COMPACT_PRIO_SYNC_LIGHT,
	COMPACT_PRIO_ASYNC,
};

enum migrate_mode { MIGRATE_ASYNC, MIGRATE_SYNC_LIGHT, MIGRATE_SYNC };

enum migrate_reason {
	MR_COMPACTION,
	MR_MEMORY_FAILURE,
	MR_MEMORY_HOTPLUG,
	MR_SYSCALL,
	MR_MEMPOLICY_MBIND,
	MR_NUMA_MISPLACED,
	MR_CONTIG_RANGE,
	MR_LONGTERM_PIN,
	MR_DEMOTION,
	MR_DAMON,
};

#endif
