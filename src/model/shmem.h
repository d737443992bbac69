/* SPDX-License-Identifier: MIT */
/*
 * shmem.h - tmpfs and shared memory: folios with a mapping that live on the anonymous lists.
 */
#ifndef COMPACTLAB_MODEL_SHMEM_H
#define COMPACTLAB_MODEL_SHMEM_H

#include "model/types.h"

/* Faults or writes page `index`; base pages now present from there on (1, or the folio). 0 = killed.
 * Mirrors shmem_get_folio_gfp() and shmem_alloc_and_add_folio(). */
uint64_t shmem_get_page(struct model *m, region_id file, uint64_t index, bool fault);
/* Creates the next file of a REGION_SHMEM_SET: its inode and dentry (slab.h), then its pages. One atom.
 * False: no more files or no memory. */
bool shmem_create_file(struct model *m, region_id set, uint32_t number);
/* Removes one folio and frees it (unlink, hole punch). */
void shmem_remove(struct model *m, pfn_t head);
/* Orders allowed by huge=, shmem_enabled and the per-size files (bit o). */
uint32_t shmem_orders(const struct model *m, const struct region *r, uint64_t index);

#endif
