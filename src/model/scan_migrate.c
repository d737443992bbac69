/* SPDX-License-Identifier: MIT */
/*
 * scan_migrate.c - the source scanner; see compact.h.
 */
#include "model/compact.h"

enum isolate_result scan_migrate_isolate(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

int scan_migrate_block(struct model *m, struct compact_control *cc, pfn_t low, pfn_t end)
{
	NOT_YET(m, cc, low, end);
}

int scan_migrate_range(struct model *m, struct compact_control *cc, pfn_t start, pfn_t end)
{
	NOT_YET(m, cc, start, end);
}

pfn_t scan_migrate_fast(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}

bool scan_migrate_suitable(struct model *m, const struct compact_control *cc, pfn_t pfn)
{
	NOT_YET(m, cc, pfn);
}

void scan_migrate_update_cached(struct compact_control *cc, pfn_t pfn)
{
	NOT_YET(cc, pfn);
}

void scan_migrate_putback(struct model *m, struct compact_control *cc)
{
	NOT_YET(m, cc);
}
