/* SPDX-License-Identifier: MIT */
/*
 * vmstat.h - every counter of /proc/vmstat, once, in the kernel's output order.
 *
 * X(SYMBOL, "name", profiles), name as printed. Rows are in the order of profile C
 * (7.3), group after group: zone, NUMA, node, reclaim (node statistics in C), new node rows, global
 * gauges, events; the text ends with `nr_unstable 0`. Two differences of A and B, handled by
 * stats_vmstat_order(): rows whose mask lacks the profile are not printed, and VMSTAT_RECLAIM_ITEMS move
 * among the events (VMSTAT_RECLAIM_ANCHORS_AB says behind which). IN_CMA_ONLY rows print only with
 * CONFIG_CMA. The orders were compared with running kernels 6.12, 6.18 and 7.3; nr_unaccepted and the
 * rows of zswap depend on the build, too (Debian's 6.12 has none of the latter).
 *
 * Where a value lives: zone and NUMA rows in struct zone, node and reclaim rows in struct node, the rest
 * in struct model; all are int64_t. A reader sums. Counted when the kernel counts it; the modules say so.
 */
#ifndef COMPACTLAB_MODEL_VMSTAT_H
#define COMPACTLAB_MODEL_VMSTAT_H

#include "model/profile.h"

#define IN_CMA_ONLY (1u << 8)

/* clang-format off */
#define VMSTAT_ZONE_ITEMS(X) \
	X(NR_FREE_PAGES, "nr_free_pages", IN_ALL) \
	X(NR_FREE_PAGES_BLOCKS, "nr_free_pages_blocks", IN_BC) \
	X(NR_ZONE_INACTIVE_ANON, "nr_zone_inactive_anon", IN_ALL) \
	X(NR_ZONE_ACTIVE_ANON, "nr_zone_active_anon", IN_ALL) \
	X(NR_ZONE_INACTIVE_FILE, "nr_zone_inactive_file", IN_ALL) \
	X(NR_ZONE_ACTIVE_FILE, "nr_zone_active_file", IN_ALL) \
	X(NR_ZONE_UNEVICTABLE, "nr_zone_unevictable", IN_ALL) \
	X(NR_ZONE_WRITE_PENDING, "nr_zone_write_pending", IN_ALL) \
	X(NR_MLOCK, "nr_mlock", IN_ALL) \
	X(NR_BOUNCE, "nr_bounce", IN_A) \
	X(NR_ZSPAGES, "nr_zspages", IN_ALL) \
	X(NR_FREE_CMA, "nr_free_cma", IN_ALL) \
	X(NR_UNACCEPTED, "nr_unaccepted", IN_A | IN_C)

#define VMSTAT_NUMA_ITEMS(X) \
	X(NUMA_HIT, "numa_hit", IN_ALL) \
	X(NUMA_MISS, "numa_miss", IN_ALL) \
	X(NUMA_FOREIGN, "numa_foreign", IN_ALL) \
	X(NUMA_INTERLEAVE, "numa_interleave", IN_ALL) \
	X(NUMA_LOCAL, "numa_local", IN_ALL) \
	X(NUMA_OTHER, "numa_other", IN_ALL)

#define VMSTAT_NODE_ITEMS(X) \
	X(NR_INACTIVE_ANON, "nr_inactive_anon", IN_ALL) \
	X(NR_ACTIVE_ANON, "nr_active_anon", IN_ALL) \
	X(NR_INACTIVE_FILE, "nr_inactive_file", IN_ALL) \
	X(NR_ACTIVE_FILE, "nr_active_file", IN_ALL) \
	X(NR_UNEVICTABLE, "nr_unevictable", IN_ALL) \
	X(NR_SLAB_RECLAIMABLE, "nr_slab_reclaimable", IN_ALL) \
	X(NR_SLAB_UNRECLAIMABLE, "nr_slab_unreclaimable", IN_ALL) \
	X(NR_ISOLATED_ANON, "nr_isolated_anon", IN_ALL) \
	X(NR_ISOLATED_FILE, "nr_isolated_file", IN_ALL) \
	X(WORKINGSET_NODES, "workingset_nodes", IN_ALL) \
	X(WORKINGSET_REFAULT_ANON, "workingset_refault_anon", IN_ALL) \
	X(WORKINGSET_REFAULT_FILE, "workingset_refault_file", IN_ALL) \
	X(WORKINGSET_ACTIVATE_ANON, "workingset_activate_anon", IN_ALL) \
	X(WORKINGSET_ACTIVATE_FILE, "workingset_activate_file", IN_ALL) \
	X(WORKINGSET_RESTORE_ANON, "workingset_restore_anon", IN_ALL) \
	X(WORKINGSET_RESTORE_FILE, "workingset_restore_file", IN_ALL) \
	X(WORKINGSET_NODERECLAIM, "workingset_nodereclaim", IN_ALL) \
	X(NR_ANON_PAGES, "nr_anon_pages", IN_ALL) \
	X(NR_MAPPED, "nr_mapped", IN_ALL) \
	X(NR_FILE_PAGES, "nr_file_pages", IN_ALL) \
	X(NR_DIRTY, "nr_dirty", IN_ALL) \
	X(NR_WRITEBACK, "nr_writeback", IN_ALL) \
	X(NR_WRITEBACK_TEMP, "nr_writeback_temp", IN_A) \
	X(NR_SHMEM, "nr_shmem", IN_ALL) \
	X(NR_SHMEM_HUGEPAGES, "nr_shmem_hugepages", IN_ALL) \
	X(NR_SHMEM_PMDMAPPED, "nr_shmem_pmdmapped", IN_ALL) \
	X(NR_FILE_HUGEPAGES, "nr_file_hugepages", IN_ALL) \
	X(NR_FILE_PMDMAPPED, "nr_file_pmdmapped", IN_ALL) \
	X(NR_ANON_TRANSPARENT_HUGEPAGES, "nr_anon_transparent_hugepages", IN_ALL) \
	X(NR_VMSCAN_WRITE, "nr_vmscan_write", IN_ALL) \
	X(NR_VMSCAN_IMMEDIATE_RECLAIM, "nr_vmscan_immediate_reclaim", IN_ALL) \
	X(NR_DIRTIED, "nr_dirtied", IN_ALL) \
	X(NR_WRITTEN, "nr_written", IN_ALL) \
	X(NR_THROTTLED_WRITTEN, "nr_throttled_written", IN_ALL) \
	X(NR_KERNEL_MISC_RECLAIMABLE, "nr_kernel_misc_reclaimable", IN_ALL) \
	X(NR_FOLL_PIN_ACQUIRED, "nr_foll_pin_acquired", IN_ALL) \
	X(NR_FOLL_PIN_RELEASED, "nr_foll_pin_released", IN_ALL) \
	X(NR_VMALLOC, "nr_vmalloc", IN_C) \
	X(NR_KERNEL_STACK, "nr_kernel_stack", IN_ALL) \
	X(NR_PAGE_TABLE_PAGES, "nr_page_table_pages", IN_ALL) \
	X(NR_SEC_PAGE_TABLE_PAGES, "nr_sec_page_table_pages", IN_ALL) \
	X(NR_IOMMU_PAGES, "nr_iommu_pages", IN_ALL) \
	X(NR_SWAPCACHED, "nr_swapcached", IN_ALL) \
	X(PGPROMOTE_SUCCESS, "pgpromote_success", IN_ALL) \
	X(PGPROMOTE_CANDIDATE, "pgpromote_candidate", IN_ALL) \
	X(PGPROMOTE_CANDIDATE_NRL, "pgpromote_candidate_nrl", IN_BC) \
	X(PGDEMOTE_KSWAPD, "pgdemote_kswapd", IN_ALL) \
	X(PGDEMOTE_DIRECT, "pgdemote_direct", IN_ALL) \
	X(PGDEMOTE_KHUGEPAGED, "pgdemote_khugepaged", IN_ALL) \
	X(PGDEMOTE_PROACTIVE, "pgdemote_proactive", IN_BC)

#define VMSTAT_RECLAIM_ITEMS(X) \
	X(PGSTEAL_KSWAPD, "pgsteal_kswapd", IN_ALL) \
	X(PGSTEAL_DIRECT, "pgsteal_direct", IN_ALL) \
	X(PGSTEAL_KHUGEPAGED, "pgsteal_khugepaged", IN_ALL) \
	X(PGSTEAL_PROACTIVE, "pgsteal_proactive", IN_BC) \
	X(PGSTEAL_ANON, "pgsteal_anon", IN_ALL) \
	X(PGSTEAL_FILE, "pgsteal_file", IN_ALL) \
	X(PGSCAN_KSWAPD, "pgscan_kswapd", IN_ALL) \
	X(PGSCAN_DIRECT, "pgscan_direct", IN_ALL) \
	X(PGSCAN_KHUGEPAGED, "pgscan_khugepaged", IN_ALL) \
	X(PGSCAN_PROACTIVE, "pgscan_proactive", IN_BC) \
	X(PGSCAN_ANON, "pgscan_anon", IN_ALL) \
	X(PGSCAN_FILE, "pgscan_file", IN_ALL) \
	X(PGROTATE_ANON, "pgrotate_anon", IN_C) \
	X(PGROTATE_FILE, "pgrotate_file", IN_C) \
	X(PGREFILL, "pgrefill", IN_ALL)

#define VMSTAT_NODE_NEW_ITEMS(X) \
	X(NR_HUGETLB, "nr_hugetlb", IN_BC) \
	X(NR_BALLOON_PAGES, "nr_balloon_pages", IN_BC) \
	X(NR_KERNEL_FILE_PAGES, "nr_kernel_file_pages", IN_BC) \
	X(NR_GPU_ACTIVE, "nr_gpu_active", IN_C) \
	X(NR_GPU_RECLAIM, "nr_gpu_reclaim", IN_C)

#define VMSTAT_GLOBAL_ITEMS(X) \
	X(NR_DIRTY_THRESHOLD, "nr_dirty_threshold", IN_ALL) \
	X(NR_DIRTY_BACKGROUND_THRESHOLD, "nr_dirty_background_threshold", IN_ALL) \
	X(NR_MEMMAP_PAGES, "nr_memmap_pages", IN_ALL) \
	X(NR_MEMMAP_BOOT_PAGES, "nr_memmap_boot_pages", IN_ALL)

#define VMSTAT_EVENT_ITEMS(X) \
	X(PGPGIN, "pgpgin", IN_ALL) \
	X(PGPGOUT, "pgpgout", IN_ALL) \
	X(PSWPIN, "pswpin", IN_ALL) \
	X(PSWPOUT, "pswpout", IN_ALL) \
	X(PGALLOC_DMA, "pgalloc_dma", IN_ALL) \
	X(PGALLOC_DMA32, "pgalloc_dma32", IN_ALL) \
	X(PGALLOC_NORMAL, "pgalloc_normal", IN_ALL) \
	X(PGALLOC_MOVABLE, "pgalloc_movable", IN_ALL) \
	X(PGALLOC_DEVICE, "pgalloc_device", IN_ALL) \
	X(ALLOCSTALL_DMA, "allocstall_dma", IN_ALL) \
	X(ALLOCSTALL_DMA32, "allocstall_dma32", IN_ALL) \
	X(ALLOCSTALL_NORMAL, "allocstall_normal", IN_ALL) \
	X(ALLOCSTALL_MOVABLE, "allocstall_movable", IN_ALL) \
	X(ALLOCSTALL_DEVICE, "allocstall_device", IN_ALL) \
	X(PGSKIP_DMA, "pgskip_dma", IN_ALL) \
	X(PGSKIP_DMA32, "pgskip_dma32", IN_ALL) \
	X(PGSKIP_NORMAL, "pgskip_normal", IN_ALL) \
	X(PGSKIP_MOVABLE, "pgskip_movable", IN_ALL) \
	X(PGSKIP_DEVICE, "pgskip_device", IN_ALL) \
	X(PGFREE, "pgfree", IN_ALL) \
	X(PGACTIVATE, "pgactivate", IN_ALL) \
	X(PGDEACTIVATE, "pgdeactivate", IN_ALL) \
	X(PGLAZYFREE, "pglazyfree", IN_ALL) \
	X(PGFAULT, "pgfault", IN_ALL) \
	X(PGMAJFAULT, "pgmajfault", IN_ALL) \
	X(PGLAZYFREED, "pglazyfreed", IN_ALL) \
	X(PGREUSE, "pgreuse", IN_ALL) \
	X(PGSCAN_DIRECT_THROTTLE, "pgscan_direct_throttle", IN_ALL) \
	X(ZONE_RECLAIM_SUCCESS, "zone_reclaim_success", IN_ALL) \
	X(ZONE_RECLAIM_FAILED, "zone_reclaim_failed", IN_ALL) \
	X(PGINODESTEAL, "pginodesteal", IN_ALL) \
	X(SLABS_SCANNED, "slabs_scanned", IN_ALL) \
	X(KSWAPD_INODESTEAL, "kswapd_inodesteal", IN_ALL) \
	X(KSWAPD_LOW_WMARK_HIT_QUICKLY, "kswapd_low_wmark_hit_quickly", IN_ALL) \
	X(KSWAPD_HIGH_WMARK_HIT_QUICKLY, "kswapd_high_wmark_hit_quickly", IN_ALL) \
	X(PAGEOUTRUN, "pageoutrun", IN_ALL) \
	X(PGROTATED, "pgrotated", IN_ALL) \
	X(DROP_PAGECACHE, "drop_pagecache", IN_ALL) \
	X(DROP_SLAB, "drop_slab", IN_ALL) \
	X(OOM_KILL, "oom_kill", IN_ALL) \
	X(NUMA_PTE_UPDATES, "numa_pte_updates", IN_ALL) \
	X(NUMA_HUGE_PTE_UPDATES, "numa_huge_pte_updates", IN_ALL) \
	X(NUMA_HINT_FAULTS, "numa_hint_faults", IN_ALL) \
	X(NUMA_HINT_FAULTS_LOCAL, "numa_hint_faults_local", IN_ALL) \
	X(NUMA_PAGES_MIGRATED, "numa_pages_migrated", IN_ALL) \
	X(PGMIGRATE_SUCCESS, "pgmigrate_success", IN_ALL) \
	X(PGMIGRATE_FAIL, "pgmigrate_fail", IN_ALL) \
	X(THP_MIGRATION_SUCCESS, "thp_migration_success", IN_ALL) \
	X(THP_MIGRATION_FAIL, "thp_migration_fail", IN_ALL) \
	X(THP_MIGRATION_SPLIT, "thp_migration_split", IN_ALL) \
	X(COMPACT_MIGRATE_SCANNED, "compact_migrate_scanned", IN_ALL) \
	X(COMPACT_FREE_SCANNED, "compact_free_scanned", IN_ALL) \
	X(COMPACT_ISOLATED, "compact_isolated", IN_ALL) \
	X(COMPACT_STALL, "compact_stall", IN_ALL) \
	X(COMPACT_FAIL, "compact_fail", IN_ALL) \
	X(COMPACT_SUCCESS, "compact_success", IN_ALL) \
	X(COMPACT_DAEMON_WAKE, "compact_daemon_wake", IN_ALL) \
	X(COMPACT_DAEMON_MIGRATE_SCANNED, "compact_daemon_migrate_scanned", IN_ALL) \
	X(COMPACT_DAEMON_FREE_SCANNED, "compact_daemon_free_scanned", IN_ALL) \
	X(HTLB_BUDDY_ALLOC_SUCCESS, "htlb_buddy_alloc_success", IN_ALL) \
	X(HTLB_BUDDY_ALLOC_FAIL, "htlb_buddy_alloc_fail", IN_ALL) \
	X(CMA_ALLOC_SUCCESS, "cma_alloc_success", IN_ALL | IN_CMA_ONLY) \
	X(CMA_ALLOC_FAIL, "cma_alloc_fail", IN_ALL | IN_CMA_ONLY) \
	X(UNEVICTABLE_PGS_CULLED, "unevictable_pgs_culled", IN_ALL) \
	X(UNEVICTABLE_PGS_SCANNED, "unevictable_pgs_scanned", IN_ALL) \
	X(UNEVICTABLE_PGS_RESCUED, "unevictable_pgs_rescued", IN_ALL) \
	X(UNEVICTABLE_PGS_MLOCKED, "unevictable_pgs_mlocked", IN_ALL) \
	X(UNEVICTABLE_PGS_MUNLOCKED, "unevictable_pgs_munlocked", IN_ALL) \
	X(UNEVICTABLE_PGS_CLEARED, "unevictable_pgs_cleared", IN_ALL) \
	X(UNEVICTABLE_PGS_STRANDED, "unevictable_pgs_stranded", IN_ALL) \
	X(THP_FAULT_ALLOC, "thp_fault_alloc", IN_ALL) \
	X(THP_FAULT_FALLBACK, "thp_fault_fallback", IN_ALL) \
	X(THP_FAULT_FALLBACK_CHARGE, "thp_fault_fallback_charge", IN_ALL) \
	X(THP_COLLAPSE_ALLOC, "thp_collapse_alloc", IN_ALL) \
	X(THP_COLLAPSE_ALLOC_FAILED, "thp_collapse_alloc_failed", IN_ALL) \
	X(THP_FILE_ALLOC, "thp_file_alloc", IN_ALL) \
	X(THP_FILE_FALLBACK, "thp_file_fallback", IN_ALL) \
	X(THP_FILE_FALLBACK_CHARGE, "thp_file_fallback_charge", IN_ALL) \
	X(THP_FILE_MAPPED, "thp_file_mapped", IN_ALL) \
	X(THP_SPLIT_PAGE, "thp_split_page", IN_ALL) \
	X(THP_SPLIT_PAGE_FAILED, "thp_split_page_failed", IN_ALL) \
	X(THP_DEFERRED_SPLIT_PAGE, "thp_deferred_split_page", IN_ALL) \
	X(THP_UNDERUSED_SPLIT_PAGE, "thp_underused_split_page", IN_ALL) \
	X(THP_SPLIT_PMD, "thp_split_pmd", IN_ALL) \
	X(THP_SCAN_EXCEED_NONE_PTE, "thp_scan_exceed_none_pte", IN_ALL) \
	X(THP_SCAN_EXCEED_SWAP_PTE, "thp_scan_exceed_swap_pte", IN_ALL) \
	X(THP_SCAN_EXCEED_SHARE_PTE, "thp_scan_exceed_share_pte", IN_ALL) \
	X(THP_SPLIT_PUD, "thp_split_pud", IN_ALL) \
	X(THP_ZERO_PAGE_ALLOC, "thp_zero_page_alloc", IN_ALL) \
	X(THP_ZERO_PAGE_ALLOC_FAILED, "thp_zero_page_alloc_failed", IN_ALL) \
	X(THP_SWPOUT, "thp_swpout", IN_ALL) \
	X(THP_SWPOUT_FALLBACK, "thp_swpout_fallback", IN_ALL) \
	X(BALLOON_INFLATE, "balloon_inflate", IN_ALL) \
	X(BALLOON_DEFLATE, "balloon_deflate", IN_ALL) \
	X(BALLOON_MIGRATE, "balloon_migrate", IN_ALL) \
	X(SWAP_RA, "swap_ra", IN_ALL) \
	X(SWAP_RA_HIT, "swap_ra_hit", IN_ALL) \
	X(SWPIN_ZERO, "swpin_zero", IN_ALL) \
	X(SWPOUT_ZERO, "swpout_zero", IN_ALL) \
	X(KSM_SWPIN_COPY, "ksm_swpin_copy", IN_ALL) \
	X(COW_KSM, "cow_ksm", IN_ALL) \
	X(ZSWPIN, "zswpin", IN_BC) \
	X(ZSWPOUT, "zswpout", IN_BC) \
	X(ZSWPWB, "zswpwb", IN_BC) \
	X(DIRECT_MAP_LEVEL2_SPLITS, "direct_map_level2_splits", IN_ALL) \
	X(DIRECT_MAP_LEVEL3_SPLITS, "direct_map_level3_splits", IN_ALL) \
	X(DIRECT_MAP_LEVEL2_COLLAPSES, "direct_map_level2_collapses", IN_BC) \
	X(DIRECT_MAP_LEVEL3_COLLAPSES, "direct_map_level3_collapses", IN_BC) \
	X(NRSWPIN, "nrswpin", IN_C) \
	X(NRSWPOUT, "nrswpout", IN_C)

#define VMSTAT_ALL(X) \
	VMSTAT_ZONE_ITEMS(X) \
	VMSTAT_NUMA_ITEMS(X) \
	VMSTAT_NODE_ITEMS(X) \
	VMSTAT_RECLAIM_ITEMS(X) \
	VMSTAT_NODE_NEW_ITEMS(X) \
	VMSTAT_GLOBAL_ITEMS(X) \
	VMSTAT_EVENT_ITEMS(X)
/* clang-format on */

/* A and B print the reclaim rows among the events: X(ROW, ROW IT FOLLOWS), in printing order. */
#define VMSTAT_RECLAIM_ANCHORS_AB(X)                                                               \
	X(PGREFILL, PGLAZYFREED)                                                                   \
	X(PGSTEAL_KSWAPD, PGREUSE)                                                                 \
	X(PGSTEAL_DIRECT, PGREUSE)                                                                 \
	X(PGSTEAL_KHUGEPAGED, PGREUSE)                                                             \
	X(PGSTEAL_PROACTIVE, PGREUSE)                                                              \
	X(PGSCAN_KSWAPD, PGREUSE)                                                                  \
	X(PGSCAN_DIRECT, PGREUSE)                                                                  \
	X(PGSCAN_KHUGEPAGED, PGREUSE)                                                              \
	X(PGSCAN_PROACTIVE, PGREUSE)                                                               \
	X(PGSCAN_ANON, PGSCAN_DIRECT_THROTTLE)                                                     \
	X(PGSCAN_FILE, PGSCAN_DIRECT_THROTTLE)                                                     \
	X(PGSTEAL_ANON, PGSCAN_DIRECT_THROTTLE)                                                    \
	X(PGSTEAL_FILE, PGSCAN_DIRECT_THROTTLE)

#define X(sym, name, mask) VM_##sym,
/* One numbering over all groups; the bounds below say which array holds a row. */
enum vmstat_item { VMSTAT_ALL(X) NR_VMSTAT };
#undef X

#define VM_NODE_FIRST VM_NR_INACTIVE_ANON
#define VM_GLOBAL_FIRST VM_NR_DIRTY_THRESHOLD
#define VM_EVENT_FIRST VM_PGPGIN
#define NR_VM_ZONE_ITEMS VM_NODE_FIRST                       /* zone and NUMA rows */
#define NR_VM_NODE_ITEMS (VM_GLOBAL_FIRST - VM_NODE_FIRST)
#define NR_VM_GLOBAL_ITEMS (NR_VMSTAT - VM_GLOBAL_FIRST)     /* global gauges and events */

/* Families indexed by zone class or by type: base + index. */
#define VM_PGALLOC(zone_class) (VM_PGALLOC_DMA + (zone_class))
#define VM_ALLOCSTALL(zone_class) (VM_ALLOCSTALL_DMA + (zone_class))
#define VM_PGSKIP(zone_class) (VM_PGSKIP_DMA + (zone_class))

struct vmstat_row {
	const char *name; /* as printed */
	uint32_t mask;    /* IN_* */
};
extern const struct vmstat_row vmstat_rows[NR_VMSTAT];

#endif
