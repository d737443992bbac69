/* SPDX-License-Identifier: MIT */
#include "explain/rule.h"

#define ROOT true
#define NO   false

/* Best first in each class. Columns: what to do, predicted effect, cost, how to check it. */
const struct remedy remedy_table[] = {
	/* ---- C0 ---- */
	{0, "look-again", "isolate_blocks > 0", "Read /proc/pagetypeinfo again in a few minutes",
	 "Isolate pageblocks of a running operation are gone by then; what stays has leaked",
	 "none", "Isolate column of /proc/pagetypeinfo", ROOT, NO},

	/* ---- C1 ---- */
	{1, "fix-requester", "has(known_fix)", "Make the requester ask for less: {known_fix}",
	 "the order-{order} request goes away, and with it the failure",
	 "a change outside the kernel, or a newer kernel",
	 "no further page allocation failure in the kernel log", NO, NO},
	{1, "compact-before", NULL,
	 "Just before the operation: echo 1 > /proc/sys/vm/compact_memory (where the file cache is "
	 "large, echo 3 > /proc/sys/vm/drop_caches first), and again when it failed",
	 "blocks of {bytes} are made of {eligible_free} free, as far as movable pages are in the "
	 "way; "
	 "they do not last",
	 "seconds of one CPU; after drop_caches, reading files again",
	 "columns from order {order} on in /proc/buddyinfo; compact_success", ROOT, NO},
	{1, "compact-before", "!has(eligible_free)",
	 "Just before the operation: echo 1 > /proc/sys/vm/compact_memory (where the file cache is "
	 "large, echo 3 > /proc/sys/vm/drop_caches first), and again when it failed",
	 "blocks of order {order} are made of free memory, as far as movable pages are in the way",
	 "seconds of one CPU; after drop_caches, reading files again",
	 "columns from order {order} on in /proc/buddyinfo; compact_success", ROOT, NO},
	{1, "keep-open", "has(module)", "Load {module} and open the device early, and keep it open",
	 "the block is got while memory is whole", "the memory stays taken",
	 "no failure after boot", ROOT, NO},
	{1, "min-free", NULL,
	 "Raise vm.min_free_kbytes (twice to four times the value; 1 to 3 % of memory on small "
	 "machines)",
	 "kswapd and kcompactd start earlier, so that more blocks are free on average",
	 "that much memory is never used", "free in /proc/zoneinfo; fewer failures", ROOT, NO},
	{1, "proactive", NULL, "vm.compaction_proactiveness=20 to 40 (kernel 5.9 and later)",
	 "kcompactd keeps blocks of 2 MiB ready", "CPU time of kcompactd in the background",
	 "compact_daemon_wake, compact_daemon_migrate_scanned", ROOT, NO},
	{1, "upgrade", "!has(known_fix)",
	 "Look whether a newer kernel allocates this with kvmalloc (many such places were changed)",
	 "the request falls back to single pages", "a kernel upgrade",
	 "{function} no longer in the log", ROOT, true},

	/* ---- C2 ---- */
	{2, "thp-defrag-defer", "!(thp_stalls == 0)",
	 "echo defer+madvise > /sys/kernel/mm/transparent_hugepage/defrag (or defer, when programs "
	 "that ask for huge pages must not wait either)",
	 "faults no longer compact: the stalls end at once; huge pages come later, from khugepaged",
	 "fewer huge pages right after start",
	 "compact_stall stands still; thp_fault_fallback rises", ROOT, NO},
	{2, "thp-enabled-madvise", NULL,
	 "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
	 "only programs that ask for huge pages pay for them", "programs that do not ask lose them",
	 "thp_fault_alloc", ROOT, NO},
	{2, "thp-process", NULL,
	 "For one program: prctl(PR_SET_THP_DISABLE), MIMALLOC_ALLOW_THP=0, jemalloc thp:never",
	 "this program no longer waits", "this program has no huge pages",
	 "AnonHugePages in its smaps", NO, NO},
	{2, "prefault", NULL, "Populate large buffers at start, before memory ages",
	 "the wait is paid once and early", "a longer start", "thp_fault_alloc at start only", NO,
	 NO},
	{2, "compact-before", NULL,
	 "echo 1 > /proc/sys/vm/compact_memory before the buffers are filled",
	 "makes blocks of free memory, where nothing unmovable is in them", "seconds of one CPU",
	 "compact_success, order 9 and 10 in /proc/buddyinfo", ROOT, NO},

	/* ---- C3 ---- */
	{3, "thp-defrag-defer", "allocs_thp > 0.5 || thp_faults > 0 || thp_stalls",
	 "echo defer > /sys/kernel/mm/transparent_hugepage/defrag",
	 "huge page faults stop feeding the loop of compaction and reclaim: the page cache is left "
	 "alone",
	 "fewer huge pages", "compact_stall and pgscan_direct stand still", ROOT, NO},
	{3, "shrink-slab", NULL,
	 "vm.vfs_cache_pressure=200, and echo 2 > /proc/sys/vm/drop_caches once, when (and only "
	 "when) the ratio is bad",
	 "frees dentries and inodes ({slab_reclaimable} of reclaimable slab), and whole pageblocks "
	 "with them; drop_caches=1 does not",
	 "files are looked up again: slower for minutes on a file server",
	 "Slab in /proc/meminfo; compact_success after echo 1 > compact_memory", ROOT, NO},
	{3, "shrink-slab", "!has(slab_reclaimable)",
	 "vm.vfs_cache_pressure=200, and echo 2 > /proc/sys/vm/drop_caches once, when (and only "
	 "when) the ratio is bad",
	 "frees dentries and inodes, and the reclaimable pageblocks with them; drop_caches=1 does "
	 "not",
	 "files are looked up again: slower for minutes on a file server",
	 "Slab in /proc/meminfo; Movable share of the blocks in /proc/pagetypeinfo", ROOT, NO},
	{3, "cap-cache", NULL,
	 "Find the largest cache (slabtop -s c) and cap it: zfs_arc_max for ARC, the file system's "
	 "or "
	 "driver's own limit",
	 "what is never allocated does not spread", "a smaller cache",
	 "SUnreclaim in /proc/meminfo", ROOT, NO},
	{3, "thp-defrag-defer", "!(allocs_thp > 0.5 || thp_faults > 0 || thp_stalls)",
	 "echo defer > /sys/kernel/mm/transparent_hugepage/defrag",
	 "huge page faults no longer compact in vain", "fewer huge pages", "compact_stall", ROOT,
	 NO},
	{3, "upgrade", NULL, "A newer kernel (4.13 and 5.x keep types apart better)",
	 "fewer movable blocks are lost", "a kernel upgrade", "Movable share after the same uptime",
	 ROOT, true},
	{3, "reboot", NULL, "Reboot", "all blocks are movable again; the clock starts anew",
	 "an outage", "Movable share of the blocks in /proc/pagetypeinfo", ROOT, true},

	/* ---- C4 ---- */
	{4, "min-free", "!(order >= 2 && above_high)",
	 "Raise vm.min_free_kbytes (64 to 256 MB on a server; now {min_free})",
	 "the reserve lasts longer than a burst", "that much memory is never used",
	 "no further failure; free in /proc/zoneinfo", ROOT, NO},
	{4, "min-free", "!(order >= 2 && above_high) && !has(min_free)",
	 "Raise vm.min_free_kbytes (64 to 256 MB on a server, 1 to 3 % of a small machine)",
	 "the reserve lasts longer than a burst", "that much memory is never used",
	 "no further failure; free in /proc/zoneinfo", ROOT, NO},
	{4, "smaller-requests", "order >= 2 && above_high",
	 "Make the requester ask for less: smaller MTU or receive buffers",
	 "single pages are always to be had", "some throughput", "no further failure", ROOT, NO},
	{4, "watermark-scale", NULL, "vm.watermark_scale_factor=50 to 200 (4.6 and later)",
	 "kswapd starts earlier and keeps more free", "memory that the page cache cannot use",
	 "pgscan_kswapd rises, failures end", ROOT, NO},
	{4, "min-free", "order >= 2 && above_high", "Raise vm.min_free_kbytes",
	 "more free memory holds more blocks", "that much memory is never used",
	 "no further failure", ROOT, NO},
	{4, "dirty", "dirty > 0", "Lower vm.dirty_ratio and vm.dirty_background_ratio",
	 "less is dirty at a time ({dirty} now), so reclaim finds clean pages",
	 "writers are held back sooner", "nr_dirty", ROOT, NO},
	{4, "ignore", NULL, "Leave it, when it is rare: drivers try again",
	 "a lost packet or a later retry", "none", "rate of the message", NO, NO},

	/* ---- C5 ---- */
	{5, "upgrade", "!has(kernel) || is_oom",
	 "A kernel of 4.9 or later, with CONFIG_VMAP_STACK (this one: {kernel})",
	 "compaction is retried before anybody is killed, and stacks need no contiguous block",
	 "a kernel upgrade", "no OOM kill at order 1 to 3", ROOT, true},
	{5, "upgrade", "(!has(kernel) || is_oom) && !has(kernel)",
	 "A kernel of 4.9 or later, with CONFIG_VMAP_STACK",
	 "compaction is retried before anybody is killed, and stacks need no contiguous block",
	 "a kernel upgrade", "no OOM kill at order 1 to 3", ROOT, true},
	{5, "drop-caches", NULL,
	 "echo 3 > /proc/sys/vm/drop_caches, then echo 1 > /proc/sys/vm/compact_memory",
	 "gives back file cache, of which blocks are made", "files are read again",
	 "/proc/buddyinfo from order {order} on", ROOT, NO},
	{5, "swap", NULL, "Swap or zram", "anonymous pages can leave blocks too", "some I/O or CPU",
	 "pswpout", ROOT, NO},
	{5, "min-free", NULL, "Raise vm.min_free_kbytes", "blocks of low orders survive",
	 "that much memory is never used", "/proc/buddyinfo from order {order} on", ROOT, NO},

	/* ---- C6 ---- */
	{6, "thp-off", NULL,
	 "echo never (or madvise) > /sys/kernel/mm/transparent_hugepage/enabled, and stop "
	 "khugepaged: "
	 "echo 0 > .../khugepaged/defrag",
	 "nobody starts such a compaction any more", "no huge pages",
	 "compact_migrate_scanned (older: compact_blocks_moved) stands still", ROOT, NO},
	{6, "upgrade", NULL, "A newer kernel: scanning without progress is a bug",
	 "the scanner ends", "a kernel upgrade", "pages scanned for each isolated: 24 to 60", ROOT,
	 true},
	{6, "compact-memory", NULL, "echo 1 > /proc/sys/vm/compact_memory",
	 "forgets which blocks to skip and goes through the whole zone", "seconds of one CPU",
	 "compact_isolated rises", ROOT, NO},
	{6, "drop-caches", NULL, "echo 3 > /proc/sys/vm/drop_caches",
	 "makes free pages where the scanner looks", "files are read again",
	 "compact_isolated rises", ROOT, NO},

	/* ---- C7 ---- */
	{7, "thp-defrag-defer", NULL, "echo defer > /sys/kernel/mm/transparent_hugepage/defrag",
	 "tasks no longer compact side by side", "fewer huge pages right after start",
	 "_raw_spin_lock in perf; compact_stall", ROOT, NO},
	{7, "upgrade", NULL,
	 "A newer kernel (compaction takes its locks for shorter and for fewer pages)",
	 "less waiting", "a kernel upgrade", "_raw_spin_lock in perf", ROOT, true},

	/* ---- C8 ---- */
	{8, "pin-hugetlb", "!(cma_share > 0.5)",
	 "Put what is pinned into hugetlb pages, or pin before the node ages",
	 "pins no longer lie scattered over pageblocks", "memory set aside for them",
	 "compact_success; nr_foll_pin_acquired less nr_foll_pin_released", ROOT, NO},
	{8, "other-node", "!(cma_share > 0.5) && !(nodes == 1)",
	 "MPOL_INTERLEAVE or an explicit bind to a node that has blocks",
	 "faults are served where blocks are", "remote memory", "numa_miss; thp_fault_alloc", NO,
	 NO},
	{8, "smaller-cma", "cma_share > 0.5", "A smaller CMA area (cma= at boot)",
	 "{free_cma} become usable by everybody", "less for the devices that use it",
	 "CmaFree against MemFree", ROOT, true},
	{8, "thp-defrag-defer", NULL, "echo defer > /sys/kernel/mm/transparent_hugepage/defrag",
	 "faults no longer compact in vain", "fewer huge pages", "compact_stall stands still", ROOT,
	 NO},

	/* ---- C9 ---- */
	{9, "ignore", "early && dma_zone && order >= 5",
	 "Leave it, when nothing fails later: it is a DMA pool that is made at boot",
	 "the pool is smaller", "none", "later messages about DMA", NO, NO},
	{9, "dma-mask", "dma_zone || zones == 0",
	 "Fix the driver or the device tree: a wider DMA mask, or an IOMMU or swiotlb in between",
	 "the request may use the {free} that are free", "a driver or firmware change",
	 "no GFP_DMA or GFP_DMA32 in the message", ROOT, true},
	{9, "dma-mask", "(dma_zone || zones == 0) && !has(free)",
	 "Fix the driver or the device tree: a wider DMA mask, or an IOMMU or swiotlb in between",
	 "the request may use all free memory", "a driver or firmware change",
	 "no GFP_DMA or GFP_DMA32 in the message", ROOT, true},
	{9, "64-bit", "!dma_zone && zones > 0",
	 "A 64-bit kernel, or less in low memory (fewer mappings, smaller caches)",
	 "all memory is within reach of the kernel", "a new installation",
	 "Normal zone in /proc/zoneinfo", ROOT, true},
	{9, "lowmem-reserve", "zones > 0 && eligible_zones > 0",
	 "Lower the numbers of vm.lowmem_reserve_ratio (more is kept for such requests)",
	 "others use less of the low zone", "less memory for everybody else",
	 "protection in /proc/zoneinfo", ROOT, NO},

	/* ---- C10 ---- */
	{10, "ignore", "!final_failure", "Leave it: the next range was taken", "none is needed",
	 "none", "no cma_alloc failure follows", NO, NO},
	{10, "find-pins", "cma_ret + 16 == 0",
	 "Find what is pinned in the area (page_owner, page_ref tracepoints) and free it or keep "
	 "it "
	 "out",
	 "the run of {wanted} pages can be emptied", "a search", "ret: 0; cma_alloc_fail", ROOT,
	 NO},
	{10, "larger-cma", NULL, "A larger area: cma=SIZE at boot, or its node in the device tree",
	 "more and longer runs", "the memory serves movable pages only meanwhile",
	 "CmaFree; number of available pages", ROOT, true},
	{10, "allocate-early", NULL, "Allocate early and keep the buffers; cache fewer of them",
	 "the area is whole then", "memory held", "number of available pages", NO, NO},
	{10, "find-pins", "!(cma_ret + 16 == 0) && !(cma_ret + 12 == 0)",
	 "Find what is pinned in the area (page_owner, page_ref tracepoints)",
	 "ranges can be emptied", "a search", "no PFNs busy", ROOT, NO},

	/* ---- C11 ---- */
	{11, "retry", "got_ratio > 0.85",
	 "echo 3 > /proc/sys/vm/drop_caches; echo 1 > /proc/sys/vm/compact_memory; write the "
	 "number "
	 "again, a few times",
	 "most of the missing pages can be made", "files are read again", "nr_hugepages read back",
	 ROOT, NO},
	{11, "boot-reserve", NULL,
	 "Reserve at boot: hugepages=N (hugepagesz=SIZE), or write nr_hugepages first thing",
	 "all {wanted} are got while memory is whole", "that memory is set aside",
	 "nr_hugepages read back", ROOT, true},
	{11, "boot-reserve", "!has(wanted)",
	 "Reserve at boot: hugepages=N (hugepagesz=SIZE), or write nr_hugepages first thing",
	 "all are got while memory is whole", "that memory is set aside", "nr_hugepages read back",
	 ROOT, true},
	{11, "retry", "!(got_ratio > 0.85)",
	 "echo 3 > /proc/sys/vm/drop_caches; echo 1 > /proc/sys/vm/compact_memory; write the "
	 "number "
	 "again, a few times",
	 "some more each time", "files are read again",
	 "nr_hugepages read back; htlb_buddy_alloc_fail", ROOT, NO},
	{11, "movable-zone", NULL,
	 "kernelcore= or movable_node at boot; hugetlb_cma=SIZE for 1 GiB pages",
	 "a zone in which every block can be emptied", "the kernel itself cannot use it",
	 "Movable zone in /proc/zoneinfo", ROOT, true},
	{11, "overcommit", NULL, "nr_overcommit_hugepages instead of a fixed pool",
	 "pages are made when needed", "they may not be there then", "HugePages_Surp", ROOT, NO},

	/* ---- C12 ---- */
	{12, "boost-off", "boost > 0", "vm.watermark_boost_factor=0",
	 "kswapd stops reclaiming for order", "types mix more over weeks",
	 "boost in /proc/zoneinfo; pgscan_kswapd", ROOT, NO},
	{12, "find-requester", NULL,
	 "Find who asks: trace kmem:mm_page_alloc with order>3 and a stack trace for 10 s; then "
	 "make "
	 "it ask for less (read size, ring size)",
	 "without the question the daemon sleeps", "a few minutes", "compact_daemon_wake", ROOT,
	 NO},
	{12, "proactive-off", NULL, "vm.compaction_proactiveness=0",
	 "kcompactd works only when it is asked", "fewer blocks ready",
	 "compact_daemon_migrate_scanned", ROOT, NO},

	/* ---- C13 ---- */
	{13, "upgrade", NULL, "A newer kernel: there is nothing to tune",
	 "reserves are given back under pressure", "a kernel upgrade",
	 "HighAtomic and Isolate in /proc/pagetypeinfo", ROOT, true},
	{13, "look-again", NULL, "Read /proc/pagetypeinfo again after some minutes",
	 "Isolate of a running operation is gone by then", "none", "Isolate column", ROOT, NO},

	/* ---- C14 ---- */
	{14, "cgroup-limit", "memcg",
	 "Raise the limit of the cgroup (memory.max), or find its leak",
	 "the group may use more; nothing else on the machine matters", "memory of others",
	 "memory.events", ROOT, NO},
	{14, "upgrade", "cache_cgroup",
	 "A newer kernel, or cgroup.memory=nokmem at boot; reboot to clear what has leaked",
	 "kernel memory is no longer charged in this way", "a reboot",
	 "no SLUB message with (id:name)", ROOT, true},
	{14, "cgroup-limit", "cache_cgroup", "Raise the cgroup's limit",
	 "the next object can be charged", "memory of others", "memory.kmem.failcnt, memory.events",
	 ROOT, NO},
	{14, "find-user", "!memcg && !cache_cgroup",
	 "Find what uses the memory: the process list of the OOM report, slabtop, /proc/meminfo",
	 "less is used, or the leak is found", "a search", "MemAvailable", ROOT, NO},
	{14, "writeback", "!memcg && !cache_cgroup && dirty > 0",
	 "Lower vm.dirty_ratio; check the disk and the file system", "reclaim finds clean pages",
	 "writers are held back sooner", "nr_dirty, nr_writeback", ROOT, NO},

	/* ---- C15 ---- */
	{15, "interleave", NULL,
	 "numactl --interleave or --preferred-many instead of one node; vm.zone_reclaim_mode=0",
	 "requests are served where blocks are", "remote memory", "numa_foreign, numa_miss", NO,
	 NO},
	{15, "compact-node", NULL, "echo 1 > /sys/devices/system/node/nodeN/compact for that node",
	 "makes blocks on it, where nothing unmovable is in them", "seconds of one CPU",
	 "its rows in /proc/buddyinfo", ROOT, NO},

	/* ---- C16 ---- */
	{16, "smaller-requests", NULL,
	 "Make the optional requests smaller: folio size limits, skb order, MTU, ABD chunk size",
	 "what is asked for is there", "some throughput",
	 "pgscan_direct, compact_stall stand still", ROOT, NO},
	{16, "defrag-mode", NULL, "vm.defrag_mode=1 (6.15 and later)",
	 "kswapd and kcompactd keep whole blocks, so that fewer requests stall",
	 "more background work", "compact_stall; pgscan_kswapd takes over from pgscan_direct", ROOT,
	 NO},
	{16, "noretry-patch", NULL,
	 "A kernel in which costly __GFP_NORETRY requests never reclaim or compact directly",
	 "they take the smaller way at once", "a kernel change", "pgscan_direct", ROOT, true},
};

const unsigned remedy_count = sizeof(remedy_table) / sizeof(remedy_table[0]);
