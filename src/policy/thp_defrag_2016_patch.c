/* SPDX-License-Identifier: MIT */
/*
 * thp_defrag_2016_patch.c - the change of 2016 as posted: defrag=madvise by default, and `defer`.
 *
 * What came of it later is mainline: NORETRY only where nobody asked for huge pages, the mode
 * defer+madvise, and words compared as a whole. Here "d" is read as defer, so is "defer+madvise",
 * and `defer` written to `enabled` counts as always, until a follow-up refused it.
 */
#include "policy/thp_defrag_2016.h"

#include <errno.h>
#include <string.h>

static gfp_t fault_gfp(const struct model *m, bool advised)
{
	gfp_t gfp = THP_DEFRAG_2016_MASK;

	if (m->thp.defrag == THP_DEFRAG_MADVISE && advised)
		gfp |= __GFP_DIRECT_RECLAIM;
	else if (m->thp.defrag == THP_DEFRAG_DEFER)
		gfp |= __GFP_KSWAPD_RECLAIM;
	else if (m->thp.defrag == THP_DEFRAG_ALWAYS)
		gfp |= __GFP_DIRECT_RECLAIM;
	return gfp;
}

static void defaults(struct model_config *config)
{
	config->thp.defrag = THP_DEFRAG_MADVISE;
}

static int parse_defrag(const char *text, size_t len, enum thp_defrag *out)
{
	static const struct thp_defrag_2016_word words[] = {
		{"always", THP_DEFRAG_ALWAYS},
		{"defer", THP_DEFRAG_DEFER},
		{"madvise", THP_DEFRAG_MADVISE},
		{"never", THP_DEFRAG_NEVER},
	};

	return thp_defrag_2016_parse(words, 4, text, len, out);
}

static int parse_enabled(const char *text, size_t len, enum thp_enabled *out)
{
	if (len < strlen("defer") || memcmp(text, "defer", strlen("defer")))
		return -EINVAL;
	*out = THP_ENABLED_ALWAYS;
	return 0;
}

const struct policy policy_thp_defrag_2016_patch = {
	.name = "thp-defrag-2016-patch",
	.summary = "the change of 2016: defrag=madvise by default, and defer, which never stalls",
	.thread = THP_DEFRAG_2016_THREAD,
	.thp_gfp = fault_gfp,
	.khugepaged_gfp = thp_defrag_2016_khugepaged_gfp,
	.defaults = defaults,
	.parse_defrag = parse_defrag,
	.parse_enabled = parse_enabled,
};
