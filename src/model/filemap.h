/* SPDX-License-Identifier: MIT */
/*
 * filemap.h - the page cache of ordinary files: buffered writes, reads with readahead, writeback.
 *
 * One call is one atom: one folio written or one readahead window read.
 */
#ifndef COMPACTLAB_MODEL_FILEMAP_H
#define COMPACTLAB_MODEL_FILEMAP_H

#include "model/types.h"

/* Writes up to `pages` at `index`; base pages written by this atom. Mirrors iomap's buffered write over
 * __filemap_get_folio(). 0 on -ENOMEM (the task was killed). */
uint64_t filemap_write(struct model *m, region_id file, uint64_t index, uint64_t pages);
/* Reads one page: cached (mark accessed) or a readahead window. Mirrors filemap_read(), page_cache_ra_order(). */
uint64_t filemap_read(struct model *m, region_id file, uint64_t index, uint64_t pages);
/* Mirrors filemap_alloc_folio() in descending orders; the gfp is the mapping's plus fgp flags. */
pfn_t filemap_alloc(struct model *m, const struct region *r, uint64_t index, uint64_t bytes, gfp_t gfp,
		    unsigned *order);
/* Removes one folio from the cache and frees it (truncate, hole punch). Clean or dirty. */
void filemap_remove(struct model *m, pfn_t head);

/* Dirty accounting: thresholds and the flusher's step (writes back the oldest dirty folios). */
void filemap_set_dirty(struct model *m, pfn_t head);
void filemap_clean(struct model *m, pfn_t head);
int flusher_init(struct model *m) MUST_USE;
void flusher_step(struct model *m);

#endif
