/* SPDX-License-Identifier: MIT */
/*
 * profile.c - the three tables. A row that is equal in all kernels does not belong here.
 */
#include "model/profile.h"

#include <errno.h>
#include <string.h>

static const struct profile profiles[NR_PROFILES] = {
	[PROFILE_A] = {
		.id = PROFILE_A,
		.name = "6.12",
		.release = "6.12 (model)",
		.compact_gap_cap_pages = 0,
		.defer_counts = DEFERRED_IS_A_STALL,
		.compact_first_in_loop = false,
		.suitable_base = SUITABLE_LOW_IF_COSTLY,
		.compaction_ready_base_high = false,
		.costly_async_precheck_without_cma = false,
		.has_defrag_mode = false,
		.proactive_marks_relative = false,
		.direct_may_source_cma = true,
		.async_block_order_scans_movable = false,
		.walk_skips_awake_kswapd = false,
		.nonblock_drops_nofragment = false,
		.promote_to_block_order = false,
		.boosted_run_may_fail = true,
		.highatomic_growth = HIGHATOMIC_AFTER_SUCCESS,
		.isolate_is_a_bit = false,
		.capture_order = CAPTURE_COMPACTION_ORDER,
		.iomap_write_nofs = true,
		.zoneinfo_highatomic = false,
		.reclaim_counters_are_node_stats = false,
		.pcp_flush = PCP_FLUSH_ONE_BULK,
		.free_high_adds_half_high_min = false,
		.kswapd_reset = KSWAPD_RESET_ON_PROGRESS,
		.kswapd_reset_by_pcp_flush = false,
		.empty_zone_reclaimable_is_free = true,
		.kswapd_writes_dirty = true,
		.min_free_thp = MIN_FREE_THP_PMD,
		.built_with_cma = false,
		.zoneinfo_pcp_limits = false,
		.trace_says_who = false,
		.trace_collapse_order = false,
		.readahead_order_from_marker = true,
		.khugepaged_mthp = false,
		.interleave_hit_weighted = false,
	},
	[PROFILE_B] = {
		.id = PROFILE_B,
		.name = "6.18",
		.release = "6.18 (model)",
		.compact_gap_cap_pages = 0,
		.defer_counts = DEFERRED_IS_A_STALL,
		.compact_first_in_loop = false,
		.suitable_base = SUITABLE_CALLER_MARK,
		.compaction_ready_base_high = true,
		.costly_async_precheck_without_cma = true,
		.has_defrag_mode = true,
		.proactive_marks_relative = true,
		.direct_may_source_cma = true,
		.async_block_order_scans_movable = false,
		.walk_skips_awake_kswapd = true,
		.nonblock_drops_nofragment = false,
		.promote_to_block_order = false,
		.boosted_run_may_fail = true,
		.highatomic_growth = HIGHATOMIC_AFTER_SUCCESS,
		.isolate_is_a_bit = true,
		.capture_order = CAPTURE_COMPACTION_ORDER,
		.iomap_write_nofs = true,
		.zoneinfo_highatomic = false,
		.reclaim_counters_are_node_stats = false,
		.pcp_flush = PCP_FLUSH_ONE_BULK,
		.free_high_adds_half_high_min = true,
		.kswapd_reset = KSWAPD_RESET_ON_PROGRESS,
		.kswapd_reset_by_pcp_flush = true,
		.empty_zone_reclaimable_is_free = false,
		.kswapd_writes_dirty = true,
		.min_free_thp = MIN_FREE_THP_PMD,
		.built_with_cma = false,
		.zoneinfo_pcp_limits = true,
		.trace_says_who = false,
		.trace_collapse_order = false,
		.readahead_order_from_marker = false,
		.khugepaged_mthp = false,
		.interleave_hit_weighted = true,
	},
	[PROFILE_C] = {
		.id = PROFILE_C,
		.name = "7.3",
		.release = "7.3 (model)",
		.compact_gap_cap_pages = 32,
		.defer_counts = DEFERRED_IS_SKIPPED,
		.compact_first_in_loop = true,
		.suitable_base = SUITABLE_CALLER_MARK,
		.compaction_ready_base_high = true,
		.costly_async_precheck_without_cma = true,
		.has_defrag_mode = true,
		.proactive_marks_relative = true,
		.direct_may_source_cma = false,
		.async_block_order_scans_movable = true,
		.walk_skips_awake_kswapd = true,
		.nonblock_drops_nofragment = true,
		.promote_to_block_order = true,
		.boosted_run_may_fail = false,
		.highatomic_growth = HIGHATOMIC_FROM_BUDDY_AT_MIN,
		.isolate_is_a_bit = true,
		.capture_order = CAPTURE_REQUEST_ORDER,
		.iomap_write_nofs = false,
		.zoneinfo_highatomic = true,
		.reclaim_counters_are_node_stats = true,
		.pcp_flush = PCP_FLUSH_BATCHES,
		.free_high_adds_half_high_min = true,
		.kswapd_reset = KSWAPD_RESET_WHEN_BALANCED,
		.kswapd_reset_by_pcp_flush = true,
		.empty_zone_reclaimable_is_free = false,
		.kswapd_writes_dirty = false,
		.min_free_thp = MIN_FREE_THP_ANY,
		.built_with_cma = true,
		.zoneinfo_pcp_limits = true,
		.trace_says_who = true,
		.trace_collapse_order = true,
		.readahead_order_from_marker = false,
		.khugepaged_mthp = true,
		.interleave_hit_weighted = true,
	},
};

const struct profile *profile_get(enum profile_id id)
{
	return &profiles[id];
}

int profile_parse(const char *text, enum profile_id *id)
{
	static const char letters[] = "ABC";

	for (int i = 0; i < NR_PROFILES; i++) {
		bool letter = text[0] == letters[i] && text[1] == '\0';

		if (letter || strcmp(text, profiles[i].name) == 0) {
			*id = (enum profile_id)i;
			return 0;
		}
	}
	return -EINVAL;
}
