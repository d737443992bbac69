/* SPDX-License-Identifier: MIT */
#include "explain/rule.h"

#define WHO "{process} in {function}"

/* The first sentence whose condition holds and whose facts are all known is taken. */
const struct class_definition class_table[CLASSES] = {
	{"C0",
	 "healthy",
	 0,
	 {{"isolate_blocks > 0", "Nothing is wrong; {isolate_blocks} pageblocks on the Isolate "
				 "list are worth a second look, "
				 "but no alarm."},
	  {"huge_share > 0.2 && has(free)",
	   "Nothing is wrong: {huge_share} of the {free} free are in blocks of 2 MiB and more."},
	  {"successes > 0 && fail_ratio < 0.5",
	   "Nothing is wrong: {successes} of {stalls} direct compactions succeeded."},
	  {"(seen_clear > 0 || seen_copy > 0) && !(seen_compaction > 0)",
	   "No trouble with contiguous memory is seen: the time goes into clearing or copying huge "
	   "pages."},
	  {"!(movable_share > 0) && !(has_delta) && !(huge_share > 0)",
	   "The evidence shows no trouble with contiguous memory, as far as it goes."},
	  {NULL, "The evidence shows no trouble with contiguous memory."}}},
	{"C1",
	 "costly-order request without fallback",
	 80,
	 {{"usable_order >= order", WHO
	   " asked for {bytes} in one piece (order {order}) and was refused with {eligible_free} "
	   "free; the free lists show a block of {usable_bytes}, which came later or on another "
	   "node."},
	  {"usable_order < order && has(function) && usable_order >= 0", WHO
	   " asked for {bytes} in one piece (order {order}) and has no smaller way: of "
	   "{eligible_free} free, the biggest usable block is {usable_bytes} (in {zone} and the "
	   "other zones it may use)."},
	  {"usable_order < order && usable_order >= 0",
	   "{process} asked for {bytes} in one piece (order {order}) and has no smaller way: of "
	   "{eligible_free} free, the biggest usable block is {usable_bytes}."},
	  {"usable_order < order", "{process} asked for {bytes} in one piece (order {order}), and "
				   "of {eligible_free} free no "
				   "block is usable for it."},
	  {"atomic && has(function)", WHO
	   " asked for {bytes} in one piece (order {order}) where it may not wait, so nothing was "
	   "compacted for it."},
	  {"has(function)", WHO " asked for {bytes} in one piece (order {order}) and was refused."},
	  {"has(process)",
	   "{process} asked for {bytes} in one piece (order {order}) and was refused."},
	  {"has(order)", "A request of order {order} was refused."},
	  {NULL, "A request was refused; the report breaks off before it says how large."}}},
	{"C2",
	 "huge page fault pays for direct compaction",
	 65,
	 {{"longest > 1000000 && stalls > 0",
	   "A huge page fault waited {longest} inside one compaction; {fails} of {stalls} direct "
	   "compactions ended without a block."},
	  {"longest > 1000000", "A huge page fault waited {longest} inside one compaction."},
	  {"has_delta && stalls > 0 && thp_faults > 0",
	   "Huge page faults compact memory themselves: {stalls} stalls, {fail_ratio} of them for "
	   "nothing."},
	  {"stalls > 0 && fail_ratio > 0", "Huge page faults compact memory themselves: {stalls} "
					   "stalls since boot, {fail_ratio} of "
					   "them for nothing."},
	  {"perf_compaction > 0",
	   "Huge page faults compact memory themselves: {perf_compaction} of the CPU time."},
	  {NULL, "Huge page faults compact memory themselves and make their tasks wait."}}},
	{"C3",
	 "unmovable or slab pollution",
	 75,
	 {{"movable_share < 0.85",
	   "Only {movable_share} of the pageblocks of {movable_zone} are movable: unmovable and "
	   "slab "
	   "pages lie in the others, so compaction cannot empty them whatever is free."},
	  {"has_delta && fail_ratio > 0.5 && scan_direct > 0",
	   "Direct compaction fails {fail_ratio} of the time and direct reclaim throws out cache "
	   "({scan_direct} pages scanned, kswapd {scan_kswapd}): unmovable pages, most likely "
	   "slab, "
	   "are spread over the blocks."},
	  {"is_request && has(slab_unreclaimable)",
	   "{slab_unreclaimable} of unreclaimable slab ({slab_share} of memory) lie in the way of "
	   "order {order}."},
	  {NULL, "Unmovable pages are spread over the blocks, so compaction cannot empty them."}}},
	{"C4",
	 "atomic or reserve exhaustion",
	 55,
	 {{"is_failure && below_min && has(order)",
	   "Not fragmentation: {process} asked for {bytes} (order {order}) without being allowed "
	   "to "
	   "wait and found the reserve empty ({zone}: {zone_free} free, min watermark "
	   "{zone_min})."},
	  {"is_failure && atomic && has(eligible_free)",
	   "Not a matter of compaction: {process} asked for {bytes} (order {order}) without being "
	   "allowed to wait, and at that instant there was none among {eligible_free} free."},
	  {"is_failure && has(process)",
	   "Not a matter of compaction: {process} asked for {bytes} (order {order}) without being "
	   "allowed to wait, and at that instant the reserve had none."},
	  {"is_slub",
	   "Not a matter of compaction: the slab cache {cache} needed a page without being "
	   "allowed to wait, and the reserve had none."},
	  {NULL, "Zones are below their min watermarks: the reserve is used up."}}},
	{"C5",
	 "low-order failure with plenty of cache",
	 85,
	 {{"is_oom && usable_order < order && has(file_cache) && usable_order >= 0",
	   "The kernel killed a process for want of {bytes} in one piece (order {order}) while "
	   "{eligible_free} were free and {file_cache} were file cache: the biggest usable block "
	   "was "
	   "{usable_bytes}."},
	  {"is_oom && has(file_cache)",
	   "The kernel killed a process for want of {bytes} in one piece (order {order}) while "
	   "{file_cache} were file cache."},
	  {"is_oom",
	   "The kernel killed a process for want of {bytes} in one piece (order {order})."},
	  {"is_stall", "{process} waited {stall_time} for {bytes} in one piece (order {order})."},
	  {"usable_order < order && usable_order >= 0",
	   "{process} was refused {bytes} in one piece (order {order}): of {eligible_free} free "
	   "the "
	   "biggest usable block is {usable_bytes}."},
	  {"has(process)", "{process} was refused {bytes} in one piece (order {order})."},
	  {NULL, "A request of order {order} was refused."}}},
	{"C6",
	 "compaction makes no progress",
	 90,
	 {{"is_lockup && has(stuck_time)", "{process} was stuck for {stuck_time} inside compaction "
					   "({function}): the scanner makes no "
					   "progress."},
	  {"is_lockup",
	   "A CPU was stuck inside compaction ({function}): the scanner makes no progress."},
	  {"has_delta && pages_moved == 0",
	   "Compaction went through {blocks_moved} pageblocks and moved not one page: the scanner "
	   "runs without progress."},
	  {"has_delta && has(blocks_moved)",
	   "Compaction went through {blocks_moved} pageblocks and moved {pages_moved} pages: the "
	   "scanner runs without progress."},
	  {"has_delta && scanned_per_isolated > 1000",
	   "Compaction looked at {scanned_per_isolated} pages for each one it could take: the "
	   "scanner "
	   "runs without progress."},
	  {"free_per_migrate > 300", "The free scanner looks at {free_per_migrate} pages for each "
				     "one of the migrate scanner's "
				     "and finds no target."},
	  {NULL, "Compaction scans over and over and takes nothing."}}},
	{"C7",
	 "lock contention while compacting",
	 66,
	 {{"perf_lock > 0",
	   "{perf_lock} of the CPU time waits for the locks that compaction takes."},
	  {NULL, "Tasks wait for the locks that compaction takes."}}},
	{"C8",
	 "pinned or CMA-only free memory",
	 70,
	 {{"is_request && cma_share > 0.5 && has(eligible_cma)",
	   "{process} asked for order {order}: {eligible_cma} of the {eligible_free} free within "
	   "its reach are CMA, which only movable requests may use."},
	  {"is_request && cma_share > 0.5",
	   "{process} asked for order {order}: {free_cma} of the {free} free are CMA, which only "
	   "movable requests may use."},
	  {"pinned > 0 && stalls > 0 && fail_ratio > 0.5",
	   "{pinned} are pinned for long and stand in the way: {fail_ratio} of {stalls} direct "
	   "compactions failed."},
	  {"pinned > 0 && !(cma_share > 0.5)",
	   "{pinned} are pinned for long and cannot be moved by compaction."},
	  {"cma_share > 0.5",
	   "{free_cma} of the {free} free are CMA, which only movable requests may use."},
	  {NULL, "Free memory is there, but pinned pages or CMA stand in the way."}}},
	{"C9",
	 "wrong or empty zone",
	 72,
	 {{"zones == 0", "No zone is within reach: {process} asked for {bytes} with {gfp}, and "
			 "this machine has no "
			 "such memory, whatever is free ({free})."},
	  {"eligible_zones == 0", "No zone is within reach: {process} asked for {bytes} with "
				  "{gfp}, and this machine has no "
				  "such memory."},
	  {"has(eligible_free) && has(process) && other_free < 1048576",
	   "{process} may use low memory only ({gfp}), and of that {eligible_free} are free."},
	  {"has(eligible_free) && has(process)", "{process} may use low memory only ({gfp}): "
						 "{eligible_free} are free there, {other_free} "
						 "out of reach."},
	  {"has(gfp)", "The request may use low memory only ({gfp}) and found none."},
	  {NULL, "The zones that the request may use are empty while others are free."}}},
	{"C10",
	 "CMA allocation failed",
	 50,
	 {{"cma_ret + 12 == 0 && has(cma_run)",
	   "CMA: {wanted} pages wanted, but the biggest free run of the area has {cma_run} of "
	   "{cma_pages}: the area itself is used up or cut into pieces by its users."},
	  {"cma_ret + 12 == 0",
	   "CMA: {wanted} pages wanted, and the area has no free run of that length."},
	  {"cma_ret + 16 == 0 && has(cma_run)", "CMA: a run of {cma_run} pages is free and "
						"{wanted} are wanted, but a page in it could not "
						"be moved away: something is pinned there."},
	  {"cma_ret + 16 == 0",
	   "CMA: {wanted} pages wanted, but pages in the area could not be moved away."},
	  {"final_failure && busy_ranges > 0", "CMA: all {busy_ranges} ranges that were tried held "
					       "pages that could not be moved away, and "
					       "the driver gave up."},
	  {"busy_ranges > 0", "CMA: {busy_ranges} busy ranges were passed over without a failure "
			      "in the end: harmless."},
	  {NULL, "CMA: an allocation failed."}}},
	{"C11",
	 "hugetlb pool stops short",
	 60,
	 {{"got < wanted",
	   "{wanted} huge pages were wanted and {got} were got ({got_ratio}): no more whole blocks "
	   "could be made."},
	  {NULL, "The pool of huge pages could not be filled: {htlb_fails} attempts failed."}}},
	{"C12",
	 "background daemon busy for nothing",
	 40,
	 {{"kcompactd_cpu > 0.2", "kcompactd takes {kcompactd_cpu} of a CPU: somebody keeps asking "
				  "for blocks that it cannot "
				  "make."},
	  {"perf_daemon > 0.1",
	   "kcompactd takes {perf_daemon} of the samples: somebody keeps asking for blocks that it "
	   "cannot make."},
	  {"boost > 0",
	   "Watermarks are boosted by {boost} although free is {free_over_high} times the high "
	   "watermark: kswapd reclaims for order, not for need."},
	  {"daemon_share > 0.7",
	   "kcompactd did {daemon_share} of all scanning ({daemon_scanned} pages)."},
	  {"trace_daemon > 0.7", "{trace_daemon} of the compaction events are kcompactd's."},
	  {NULL, "kcompactd or kswapd is busy although memory is free."}}},
	{"C13",
	 "memory parked in reserves",
	 42,
	 {{"is_request && highatomic_blocks > 0", "{process} asked for {bytes} (order {order}): "
						  "{highatomic_blocks} such blocks are free, but "
						  "set aside as HighAtomic or Isolate."},
	  {"parked_blocks > 0", "{parked_blocks} pageblocks with {parked_free} free are set aside "
				"as HighAtomic or Isolate."},
	  {NULL, "Free memory is set aside as HighAtomic or Isolate."}}},
	{"C14",
	 "looks like fragmentation and is not",
	 68,
	 {{"memcg", "Not fragmentation: {process} reached the limit of its memory cgroup."},
	  {"is_slub && cache_cgroup", "Not fragmentation: the slab cache {cache} belongs to a "
				      "memory cgroup, whose kernel memory "
				      "accounting refuses."},
	  {"is_oom && order == 0 && has(free)", "Not fragmentation: the kernel killed for a single "
						"page with {free} free: memory is used up "
						"or could not be reclaimed."},
	  {"is_oom", "Not fragmentation: the kernel ran out of memory that it could reclaim."},
	  {"unaccounted_share > 0.4", "Not fragmentation: {unaccounted} ({unaccounted_share} of "
				      "memory) are held by something that "
				      "/proc/meminfo does not account for."},
	  {"is_slub", "Not fragmentation: the slab cache {cache} could not get a slab."},
	  {"is_vmalloc", "Not fragmentation: vmalloc ran out of address space or of single pages."},
	  {"is_state && slab_share > 0.5",
	   "Not fragmentation: unreclaimable slab is {slab_share} of memory."},
	  {NULL, "Not fragmentation: a single page could not be reclaimed in time."}}},
	{"C15",
	 "one node is short of blocks",
	 45,
	 {{"is_oom && policy_bound", "{process} is bound to some nodes, and these are used up."},
	  {"node_imbalance > 10", "Node {poor_node} has {node_imbalance} times fewer blocks of 2 "
				  "MiB than the best node: what "
				  "is bound to it cannot have them."},
	  {"numa_foreign_share > 0.05", "{numa_foreign_share} of the allocations could not be had "
					"on the node they were meant for."},
	  {NULL, "One node cannot give what is asked of it while others can."}}},
	{"C16",
	 "optional requests drive reclaim and compaction",
	 62,
	 {{"has_delta && scan_direct > 0",
	   "Requests that could be smaller make tasks reclaim and compact: direct reclaim scanned "
	   "{scan_direct} pages while kswapd scanned {scan_kswapd}."},
	  {"allocs_optional > 0", "{allocs_optional} of the traced requests that may block could "
				  "be smaller (__GFP_NORETRY), "
				  "yet compact first."},
	  {"sar_direct > 0", "Direct reclaim scans {sar_direct} pages a second while kswapd scans "
			     "{sar_kswapd}: requests "
			     "are too big, not memory too small."},
	  {NULL, "Requests that could be smaller make tasks reclaim and compact."}}},
};
