/* SPDX-License-Identifier: MIT */
/*
 * compact_suit.c - whether to compact at all: pre-check, suitability, fragmentation index; see compact.h.
 */
#include "model/compact.h"

enum compact_result compact_precheck(struct model *m, struct zone *z, int order, enum zone_class
				     class, alloc_flags_t flags, bool async, bool kcompactd)
{
	NOT_YET(m, z, order, class, flags, async, kcompactd);
}

bool compact_suitable(struct model *m, struct zone *z, int order, uint64_t base, enum zone_class
		      class)
{
	NOT_YET(m, z, order, base, class);
}

int compact_fragmentation_index(const struct zone *z, unsigned order)
{
	uint64_t pages = 0, chunks = 0, suitable = 0;

	for (unsigned o = 0; o < NR_PAGE_ORDERS; o++) {
		chunks += z->nr_chunks[o];
		pages += z->nr_chunks[o] << o;
		if (o >= order)
			suitable += z->nr_chunks[o];
	}
	if (chunks == 0)
		return 0;
	if (suitable > 0)
		return -1000;
	/* Near 0: lack of memory; near 1000: fragmentation. */
	return 1000 - (int)((1000 + (pages * 1000 >> order)) / chunks);
}

bool compact_zonelist_suitable(struct model *m, const struct alloc_context *ac, int order)
{
	NOT_YET(m, ac, order);
}
