/* SPDX-License-Identifier: MIT */
/*
 * scan_free.c - the target scanner and its chunks in hand; see compact.h.
 */
#include "model/compact.h"

void scan_free_isolate(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

uint32_t scan_free_block(struct model *m, struct compact_control *cc, pfn_t *start, pfn_t end,
			 uint32_t stride, bool strict)
{
	NOT_YET(m, cc, start, end, stride, strict);
}

pfn_t scan_free_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	NOT_YET(m, cc, start, end);
}

void scan_free_fast(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

bool scan_free_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	NOT_YET(m, cc, pfn);
}

bool scan_free_take(struct model *m, struct compact_control *cc, pfn_t head, unsigned order)
{
	NOT_YET(m, cc, head, order);
}

pfn_t scan_free_target(struct model *m, struct compact_control *cc, unsigned order)
{
	NOT_YET(m, cc, order);
}

void scan_free_target_back(struct model *m, struct compact_control *cc, pfn_t pfn, unsigned order)
{
	NOT_YET(m, cc, pfn, order);
}

pfn_t scan_free_release(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}
