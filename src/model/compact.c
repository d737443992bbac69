/* SPDX-License-Identifier: MIT */
/*
 * compact.c - one compaction run of one zone: begin, step, end, finish test, capture; see compact.h.
 */
#include "model/compact.h"

enum compact_result compact_zone_begin(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

bool compact_zone_step(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

enum compact_result compact_zone_end(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

enum compact_result compact_zone(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

enum compact_result compact_finished(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

uint32_t compact_score_zone(const struct model *m, const struct zone *z)
{
	NOT_YET(m, z);
}

uint32_t compact_score_node(const struct model *m, const struct node *n)
{
	NOT_YET(m, n);
}

uint32_t compact_score_mark(const struct model *m, bool low)
{
	NOT_YET(m, low);
}

bool compact_capture(struct model *m, struct zone *z, pfn_t pfn, unsigned order, enum migratetype
		     type)
{
	NOT_YET(m, z, pfn, order, type);
}
