/* SPDX-License-Identifier: MIT */
/*
 * thp_defrag_2016.h - what the kernels before and after the change of 2016 share.
 */
#ifndef COMPACTLAB_POLICY_THP_DEFRAG_2016_H
#define COMPACTLAB_POLICY_THP_DEFRAG_2016_H

#include "model/policy.h"

#define THP_DEFRAG_2016_THREAD                                                                     \
	"mm: thp: Set THP defrag by default to madvise and add a stall-free defrag option, "       \
	"linux-mm, February-March 2016"

/* Every huge page request of that time gave up after one round. */
#define THP_DEFRAG_2016_MASK (GFP_TRANSHUGE_LIGHT | __GFP_NORETRY)

gfp_t thp_defrag_2016_khugepaged_gfp(const struct model *m, bool is_khugepaged);

struct thp_defrag_2016_word {
	const char *word;
	enum thp_defrag value;
};

/*
 * As those kernels compared what was written: the first word that agrees in min(its length, bytes
 * written) characters. So "d" is defer, "defer+madvise" too, and nothing at all the first word.
 */
int thp_defrag_2016_parse(const struct thp_defrag_2016_word *words, size_t nr, const char *text,
			  size_t len, enum thp_defrag *out);

#endif
