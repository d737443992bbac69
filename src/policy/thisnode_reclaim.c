/* SPDX-License-Identifier: MIT */
/*
 * thisnode_reclaim.c - the kernel before: a huge page's try on its own node goes on to reclaim.
 *
 * The kernels modelled here end such a request after one compaction. That of January 2025, which
 * the change behind migratable-check was written for, ended it only when compaction was skipped or
 * deferred; otherwise it reclaimed and compacted once more before another node was asked.
 */
#include "model/policy.h"

static bool gives_up(struct model *m)
{
	(void)m;
	return false;
}

const struct policy policy_thisnode_reclaim = {
	.name = "thisnode-reclaim",
	.summary = "a huge page's local try reclaims and compacts once more, as in January 2025",
	.thread = "mm: compaction: skip memory compaction when there are not enough migratable "
		  "pages, linux-mm, January 2025",
	.thisnode_gives_up = gives_up,
};
