/* SPDX-License-Identifier: MIT */
/*
 * filemap.c - page cache: folio orders, writes, reads, dirty accounting, flusher; see filemap.h.
 */
#include "model/filemap.h"

uint64_t filemap_write(struct model *m, region_id file, uint64_t index, uint64_t pages)
{
	NOT_YET(m, file, index, pages);
}

uint64_t filemap_read(struct model *m, region_id file, uint64_t index, uint64_t pages)
{
	NOT_YET(m, file, index, pages);
}

pfn_t filemap_alloc(struct model *m, const struct region *r, uint64_t index, uint64_t bytes, gfp_t
		    gfp, unsigned *order)
{
	NOT_YET(m, r, index, bytes, gfp, order);
}

void filemap_remove(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void filemap_set_dirty(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void filemap_clean(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

int flusher_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

void flusher_step(struct model *m)
{
	NOT_YET(m);
}

bool filemap_node_dirty_ok(const struct model *m, const struct node *n)
{
	NOT_YET(m, n);
}
