/* SPDX-License-Identifier: MIT */
/*
 * migrate.c - moving folios: batches, passes, failure classes; see migrate.h.
 */
#include "model/migrate.h"

struct migrate_result migrate_pages(struct model *m, pfn_t *list, uint32_t *nr, const struct
				    migrate_ops *ops, enum migrate_mode mode, enum migrate_reason
				    reason)
{
	NOT_YET(m, list, nr, ops, mode, reason);
}

pfn_t migrate_alloc_target(struct model *m, void *ctx, pfn_t src, unsigned order)
{
	NOT_YET(m, ctx, src, order);
}

void migrate_free_target(struct model *m, void *ctx, pfn_t dst, unsigned order)
{
	NOT_YET(m, ctx, dst, order);
}

bool migrate_has_extra_refs(const struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}
