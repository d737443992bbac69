/* SPDX-License-Identifier: MIT */
/*
 * sysctl.c - settings by name, with the kernel's parsing; see sysctl.h.
 */
#include "model/sysctl.h"

void sysctl_defaults(struct sysctls *s, struct thp_settings *t)
{
	*s = (struct sysctls){
		.watermark_scale_factor = 10,
		.watermark_boost_factor = 15000,
		.lowmem_reserve_ratio = { 256, 256, 32, 0 },
		.compaction_proactiveness = 20,
		.extfrag_threshold = 500,
		.compact_unevictable_allowed = true,
		.swappiness = 60,
		.dirty_ratio = 20,
		.dirty_background_ratio = 10,
		.vfs_cache_pressure = 100,
	};
	*t = (struct thp_settings){
		.enabled = THP_ENABLED_MADVISE,
		.defrag = THP_DEFRAG_MADVISE,
		.size = { [PMD_ORDER] = THP_SIZE_INHERIT },
		.use_zero_page = true,
		.khugepaged_defrag = true,
		.pages_to_scan = 4096,
		.scan_sleep_ms = 10000,
		.alloc_sleep_ms = 60000,
		.max_ptes_none = 511,
		.max_ptes_swap = 64,
		.max_ptes_shared = 256,
	};
}

int sysctl_write(struct model *m, const char *name, const char *value)
{
	NOT_YET(m, name, value);
}

int sysctl_read(const struct model *m, const char *name, char *buf, size_t size)
{
	NOT_YET(m, name, buf, size);
}
