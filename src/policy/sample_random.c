/* SPDX-License-Identifier: MIT */
/*
 * sample_random.c - an empty block is sampled once more, from a random offset.
 *
 * A sampling pass sees only every stride-th page, so free pages that all lie between its samples
 * are never found. The aligned pass stays: a free chunk as large as the stride is visible at its
 * head only.
 */
#include "model/policy.h"

static bool resample(struct model *m, struct compact_control *cc, pfn_t block_start,
		     pfn_t block_end, uint32_t stride, pfn_t *pfn)
{
	(void)cc;
	*pfn = block_start + 1 + (pfn_t)rng_below(&m->rng[RNG_POLICY], stride - 1);
	return *pfn < block_end;
}

const struct policy policy_sample_random = {
	.name = "sample-random",
	.summary = "the free scanner samples an empty block once more from a random offset",
	.thread =
		"mm/compaction: sample empty pageblocks again from a random offset, linux-mm, 2026",
	.free_resample = resample,
};
