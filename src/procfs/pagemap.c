/* SPDX-License-Identifier: MIT */
#include "procfs/procfs.h"

struct pagemap_entry pagemap_decode(uint64_t entry)
{
	struct pagemap_entry e = {
		.present = entry >> 63 & 1,
		.swapped = entry >> 62 & 1,
		.file_or_shared = entry >> 61 & 1,
		.guard = entry >> 58 & 1,
		.uffd_wp = entry >> 57 & 1,
		.exclusive = entry >> 56 & 1,
		.soft_dirty = entry >> 55 & 1,
	};
	uint64_t low = entry & ((1ULL << 55) - 1);

	if (e.present) {
		/* Without the capability the frame number reads as 0, which no page of a
		   process has. */
		e.pfn_known = low != 0;
		e.pfn = low;
	} else if (e.swapped) {
		e.swap_type = low & 31;
		e.swap_offset = low >> 5;
	}
	return e;
}
