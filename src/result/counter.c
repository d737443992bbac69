/* SPDX-License-Identifier: MIT */
/*
 * The measures there are: ours, then the counters of /proc/vmstat of kernels 6.1 to 7.4.
 * The counters that matter to contiguous memory stand first and are explained.
 */
#include "result/counter.h"
#include "util/util.h"
#include <ctype.h>
#include <string.h>

static const struct cl_counter counters[] = {
	{"time_ns", "time of the step's own operation, without its verification", true},
	{"compaction_ns", "time tasks spent in direct or requested compaction; needs tracing",
	 true},
	{"compaction_daemon_ns", "time kcompactd spent compacting; needs tracing", true},
	{"kswapd_ns", "CPU time of the kswapd threads of all nodes", true},
	{"defer_shift",
	 "largest deferral seen: compaction is tried once in 2^N times; -1 for none; needs tracing",
	 true},
	{"runs", "how often a repeated fault step ran; its other measures are of the last time",
	 true},
	{"huge", "2 MiB pages the step's memory got, on all nodes", true},
	{"base", "4 KiB pages the step's memory got, on all nodes", true},
	{"huge_nodeN", "2 MiB pages on node N, such as huge_node0", true},
	{"base_nodeN", "4 KiB pages on node N", true},
	{"huge_remote", "2 MiB pages on other nodes than the one whose CPUs touched them", true},
	{"bytes", "memory the step filled or faulted", true},
	{"freed_pages", "4 KiB pages a punch step freed", true},
	{"kept_pages", "4 KiB pages a punch step left in place", true},
	{"pinned_pages", "4 KiB pages a pin step holds", true},
	{"files", "files a files or write step made", true},
	{"requests", "chunks a request step asked for", true},
	{"failed", "of them those that the kernel refused", true},
	{"refused", "1 when the kernel refused what a set step tried", true},
	{"writes", "write calls of a write step", true},
	{"writes_per_s", "write calls of all threads in a second", true},
	{"base_faults", "faults that gave a base page, where the step measures each", true},
	{"base_mean_ns", "mean time of such a fault within the run", true},
	{"base_p50_ns", "half of such faults took no longer", true},
	{"base_p99_ns", "99 of 100 such faults took no longer", true},
	{"base_max_ns", "the longest of them", true},
	{"huge_faults", "faults that gave a huge page, where the step measures each", true},
	{"huge_mean_ns", "mean time of such a fault within the run", true},
	{"huge_p50_ns", "half of such faults took no longer", true},
	{"huge_p99_ns", "99 of 100 such faults took no longer", true},
	{"huge_max_ns", "the longest of them", true},
	{"range_faults", "ranges of 2 MiB touched, where the step measures each fault", true},
	{"range_mean_ns", "mean time from a range's first touch to its last", true},
	{"range_p50_ns", "half of the ranges took no longer", true},
	{"range_p99_ns", "99 of 100 ranges took no longer", true},
	{"range_max_ns", "the longest of them", true},
	{"compact_stall", "direct compactions: an allocating task compacted memory itself", false},
	{"compact_fail", "direct compactions that did not give the page", false},
	{"compact_success", "direct compactions that gave the page", false},
	{"compact_migrate_scanned", "pages looked at by the scanner that searches pages to move",
	 false},
	{"compact_free_scanned",
	 "pages looked at by the scanner that searches free pages to move to", false},
	{"compact_isolated", "pages taken off their lists by both scanners", false},
	{"compact_daemon_wake", "rounds of work of kcompactd", false},
	{"compact_daemon_migrate_scanned", "kcompactd's share of compact_migrate_scanned", false},
	{"compact_daemon_free_scanned", "kcompactd's share of compact_free_scanned", false},
	{"pgmigrate_success", "4 KiB pages moved", false},
	{"pgmigrate_fail", "4 KiB pages that could not be moved", false},
	{"thp_fault_alloc", "page faults that got a huge page", false},
	{"thp_fault_fallback", "page faults that wanted a huge page and got base pages", false},
	{"thp_collapse_alloc", "huge pages khugepaged or MADV_COLLAPSE allocated", false},
	{"thp_collapse_alloc_failed", "huge pages khugepaged or MADV_COLLAPSE could not allocate",
	 false},
	{"thp_split_page", "huge pages split into base pages", false},
	{"allocstall_normal", "direct reclaims for a request that may use zone Normal", false},
	{"allocstall_movable", "direct reclaims for a request that may use zone Movable", false},
	{"allocstall_dma32", "direct reclaims for a request limited to zone DMA32", false},
	{"pgscan_direct", "pages looked at by direct reclaim", false},
	{"pgsteal_direct", "pages freed by direct reclaim", false},
	{"pgscan_kswapd", "pages looked at by kswapd", false},
	{"pgsteal_kswapd", "pages freed by kswapd", false},
	{"pageoutrun", "rounds of kswapd", false},
	{"pgfault", "page faults", false},
	{"pgmajfault", "page faults that waited for a disk", false},
	{"pgfree", "4 KiB pages freed", false},
	{"pgalloc_normal", "4 KiB pages allocated from zone Normal", false},
	{"pgalloc_dma32", "4 KiB pages allocated from zone DMA32", false},
	{"pgalloc_movable", "4 KiB pages allocated from zone Movable", false},
	{"numa_hit", "allocations on the node asked for", false},
	{"numa_miss", "allocations on a node that was not asked for", false},
	{"numa_foreign", "allocations asked of this node and made on another", false},
	{"numa_local", "allocations on the node of the CPU", false},
	{"numa_other", "allocations on another node than the CPU's", false},
	{"numa_interleave", "interleaved allocations on the node whose turn it was", false},
	{"nr_free_pages", "free 4 KiB pages (a level, not an event: its change)", false},
	{"nr_free_pages_blocks", "free pages in whole free pageblocks (level)", false},
	{"nr_anon_transparent_hugepages", "anonymous huge pages (level)", false},
	{"nr_foll_pin_acquired", "pages pinned by get_user_pages", false},
	{"nr_foll_pin_released", "pins dropped", false},
	{"nr_mlock", "pages locked in memory (level)", false},
	{"cma_alloc_success", "pages allocated from CMA areas", false},
	{"cma_alloc_fail", "pages CMA areas could not give", false},
	{"htlb_buddy_alloc_success", "hugetlb pages got from the page allocator", false},
	{"htlb_buddy_alloc_fail", "hugetlb pages the page allocator could not give", false},
	{"oom_kill", "tasks killed for want of memory", false},
	{"drop_pagecache", "writes to drop_caches that dropped the page cache", false},
	{"drop_slab", "writes to drop_caches that dropped slab", false},
	{"nr_zone_inactive_anon", "", false},
	{"nr_zone_active_anon", "", false},
	{"nr_zone_inactive_file", "", false},
	{"nr_zone_active_file", "", false},
	{"nr_zone_unevictable", "", false},
	{"nr_zone_write_pending", "", false},
	{"nr_zspages", "", false},
	{"nr_free_cma", "", false},
	{"nr_inactive_anon", "", false},
	{"nr_active_anon", "", false},
	{"nr_inactive_file", "", false},
	{"nr_active_file", "", false},
	{"nr_unevictable", "", false},
	{"nr_slab_reclaimable", "", false},
	{"nr_slab_unreclaimable", "", false},
	{"nr_isolated_anon", "", false},
	{"nr_isolated_file", "", false},
	{"workingset_nodes", "", false},
	{"workingset_refault_anon", "", false},
	{"workingset_refault_file", "", false},
	{"workingset_activate_anon", "", false},
	{"workingset_activate_file", "", false},
	{"workingset_restore_anon", "", false},
	{"workingset_restore_file", "", false},
	{"workingset_nodereclaim", "", false},
	{"nr_anon_pages", "", false},
	{"nr_mapped", "", false},
	{"nr_file_pages", "", false},
	{"nr_dirty", "", false},
	{"nr_writeback", "", false},
	{"nr_shmem", "", false},
	{"nr_shmem_hugepages", "", false},
	{"nr_shmem_pmdmapped", "", false},
	{"nr_file_hugepages", "", false},
	{"nr_file_pmdmapped", "", false},
	{"nr_vmscan_write", "", false},
	{"nr_vmscan_immediate_reclaim", "", false},
	{"nr_dirtied", "", false},
	{"nr_written", "", false},
	{"nr_throttled_written", "", false},
	{"nr_kernel_misc_reclaimable", "", false},
	{"nr_kernel_stack", "", false},
	{"nr_page_table_pages", "", false},
	{"nr_sec_page_table_pages", "", false},
	{"nr_iommu_pages", "", false},
	{"nr_swapcached", "", false},
	{"pgpromote_success", "", false},
	{"pgpromote_candidate", "", false},
	{"pgpromote_candidate_nrl", "", false},
	{"pgdemote_kswapd", "", false},
	{"pgdemote_direct", "", false},
	{"pgdemote_khugepaged", "", false},
	{"pgdemote_proactive", "", false},
	{"nr_hugetlb", "", false},
	{"nr_balloon_pages", "", false},
	{"nr_kernel_file_pages", "", false},
	{"nr_dirty_threshold", "", false},
	{"nr_dirty_background_threshold", "", false},
	{"nr_memmap_pages", "", false},
	{"nr_memmap_boot_pages", "", false},
	{"pgpgin", "", false},
	{"pgpgout", "", false},
	{"pswpin", "", false},
	{"pswpout", "", false},
	{"pgalloc_dma", "", false},
	{"pgalloc_device", "", false},
	{"allocstall_dma", "", false},
	{"allocstall_device", "", false},
	{"pgskip_dma", "", false},
	{"pgskip_dma32", "", false},
	{"pgskip_normal", "", false},
	{"pgskip_movable", "", false},
	{"pgskip_device", "", false},
	{"pgactivate", "", false},
	{"pgdeactivate", "", false},
	{"pglazyfree", "", false},
	{"pglazyfreed", "", false},
	{"pgrefill", "", false},
	{"pgreuse", "", false},
	{"pgsteal_khugepaged", "", false},
	{"pgsteal_proactive", "", false},
	{"pgscan_khugepaged", "", false},
	{"pgscan_proactive", "", false},
	{"pgscan_direct_throttle", "", false},
	{"pgscan_anon", "", false},
	{"pgscan_file", "", false},
	{"pgsteal_anon", "", false},
	{"pgsteal_file", "", false},
	{"zone_reclaim_success", "", false},
	{"zone_reclaim_failed", "", false},
	{"pginodesteal", "", false},
	{"slabs_scanned", "", false},
	{"kswapd_inodesteal", "", false},
	{"kswapd_low_wmark_hit_quickly", "", false},
	{"kswapd_high_wmark_hit_quickly", "", false},
	{"pgrotated", "", false},
	{"numa_pte_updates", "", false},
	{"numa_huge_pte_updates", "", false},
	{"numa_hint_faults", "", false},
	{"numa_hint_faults_local", "", false},
	{"numa_pages_migrated", "", false},
	{"thp_migration_success", "", false},
	{"thp_migration_fail", "", false},
	{"thp_migration_split", "", false},
	{"unevictable_pgs_culled", "", false},
	{"unevictable_pgs_scanned", "", false},
	{"unevictable_pgs_rescued", "", false},
	{"unevictable_pgs_mlocked", "", false},
	{"unevictable_pgs_munlocked", "", false},
	{"unevictable_pgs_cleared", "", false},
	{"unevictable_pgs_stranded", "", false},
	{"thp_fault_fallback_charge", "", false},
	{"thp_file_alloc", "", false},
	{"thp_file_fallback", "", false},
	{"thp_file_fallback_charge", "", false},
	{"thp_file_mapped", "", false},
	{"thp_split_page_failed", "", false},
	{"thp_deferred_split_page", "", false},
	{"thp_underused_split_page", "", false},
	{"thp_split_pmd", "", false},
	{"thp_scan_exceed_none_pte", "", false},
	{"thp_scan_exceed_swap_pte", "", false},
	{"thp_scan_exceed_share_pte", "", false},
	{"thp_split_pud", "", false},
	{"thp_zero_page_alloc", "", false},
	{"thp_zero_page_alloc_failed", "", false},
	{"thp_swpout", "", false},
	{"thp_swpout_fallback", "", false},
	{"balloon_inflate", "", false},
	{"balloon_deflate", "", false},
	{"balloon_migrate", "", false},
	{"swap_ra", "", false},
	{"swap_ra_hit", "", false},
	{"swpin_zero", "", false},
	{"swpout_zero", "", false},
	{"ksm_swpin_copy", "", false},
	{"cow_ksm", "", false},
	{"zswpin", "", false},
	{"zswpout", "", false},
	{"zswpwb", "", false},
	{"direct_map_level2_splits", "", false},
	{"direct_map_level3_splits", "", false},
	{"direct_map_level2_collapses", "", false},
	{"direct_map_level3_collapses", "", false},
	{"nr_unstable", "", false},
	{"nr_bounce", "", false},
	{"nr_writeback_temp", "", false},
	{"nr_vmalloc", "", false},
	{"nr_gpu_active", "", false},
	{"nr_gpu_reclaim", "", false},
	{"nrswpin", "", false},
	{"nrswpout", "", false},
	{"pgrotate_anon", "", false},
	{"pgrotate_file", "", false},
	{"thp_swpin", "", false},
	{"swpin", "", false},
	{"swpout", "", false},
	{"vma_lock_success", "", false},
	{"vma_lock_abort", "", false},
	{"vma_lock_retry", "", false},
	{"vma_lock_miss", "", false},
};

#define COUNTERS (sizeof(counters) / sizeof(counters[0]))

const struct cl_counter *cl_counter_get(unsigned i)
{
	return i < COUNTERS ? &counters[i] : NULL;
}

static const struct cl_counter *find(const char *name)
{
	for (unsigned i = 0; i < COUNTERS; i++)
		if (!strcmp(counters[i].name, name))
			return &counters[i];
	return NULL;
}

bool counter_is_vmstat(const char *name)
{
	const struct cl_counter *c = find(name);

	return c && !c->ours;
}

/* "huge_node12" is what the table calls "huge_nodeN". */
static bool is_node_measure(const char *name)
{
	if (strncmp(name, "huge_node", 9) && strncmp(name, "base_node", 9))
		return false;
	for (name += 9; isdigit((unsigned char)*name) && isdigit((unsigned char)name[1]); name++)
		;
	return isdigit((unsigned char)*name) && !name[1];
}

bool counter_is_known(const char *name)
{
	return find(name) || is_node_measure(name);
}

const char *counter_nearest(const char *name)
{
	const char *nearest = NULL;
	unsigned best = strlen(name) < 8 ? 2 : 3; /* more slips make another word */

	for (unsigned i = 0; i < COUNTERS; i++) {
		unsigned d = edit_distance(name, counters[i].name);

		if (d < best) {
			best = d;
			nearest = counters[i].name;
		}
	}
	return nearest;
}
