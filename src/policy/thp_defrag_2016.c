/* SPDX-License-Identifier: MIT */
/*
 * thp_defrag_2016.c - the old default: every fault may stall for a huge page.
 *
 * The kernel that the change of 2016 starts from: defrag=always unless set otherwise, no defer
 * modes, and high orders of slabs still wake kswapd.
 */
#include "policy/thp_defrag_2016.h"

#include <errno.h>
#include <string.h>

#include "model/slab.h"

gfp_t thp_defrag_2016_khugepaged_gfp(const struct model *m, bool is_khugepaged)
{
	bool direct = !is_khugepaged || m->thp.khugepaged_defrag;

	return THP_DEFRAG_2016_MASK | (direct ? __GFP_DIRECT_RECLAIM : 0);
}

int thp_defrag_2016_parse(const struct thp_defrag_2016_word *words, size_t nr, const char *text,
			  size_t len, enum thp_defrag *out)
{
	for (size_t i = 0; i < nr; i++) {
		size_t compared = strlen(words[i].word);

		if (compared > len)
			compared = len;
		if (memcmp(words[i].word, text, compared) == 0) {
			*out = words[i].value;
			return 0;
		}
	}
	return -EINVAL;
}

static gfp_t fault_gfp(const struct model *m, bool advised)
{
	bool direct = m->thp.defrag == THP_DEFRAG_ALWAYS ||
		      (m->thp.defrag == THP_DEFRAG_MADVISE && advised);

	return THP_DEFRAG_2016_MASK | (direct ? __GFP_DIRECT_RECLAIM : 0);
}

static gfp_t slab_gfp(gfp_t gfp, unsigned order, unsigned min_order)
{
	return slab_mainline_gfp(gfp, order, min_order) | (gfp & __GFP_KSWAPD_RECLAIM);
}

static void defaults(struct model_config *config)
{
	config->thp.defrag = THP_DEFRAG_ALWAYS;
}

static int parse_defrag(const char *text, size_t len, enum thp_defrag *out)
{
	static const struct thp_defrag_2016_word words[] = {
		{"always", THP_DEFRAG_ALWAYS},
		{"madvise", THP_DEFRAG_MADVISE},
		{"never", THP_DEFRAG_NEVER},
	};

	return thp_defrag_2016_parse(words, 3, text, len, out);
}

const struct policy policy_thp_defrag_2016 = {
	.name = "thp-defrag-2016",
	.summary = "the old THP default: every fault may stall, one round without retry",
	.thread = THP_DEFRAG_2016_THREAD,
	.thp_gfp = fault_gfp,
	.khugepaged_gfp = thp_defrag_2016_khugepaged_gfp,
	.slab_gfp = slab_gfp,
	.defaults = defaults,
	.parse_defrag = parse_defrag,
};
