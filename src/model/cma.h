/* SPDX-License-Identifier: MIT */
/*
 * cma.h - CMA areas and allocation of a contiguous range; hugetlb pages.
 */
#ifndef COMPACTLAB_MODEL_CMA_H
#define COMPACTLAB_MODEL_CMA_H

#include "model/types.h"

/* Set-up: areas of the configuration become CMA blocks. 0, -EINVAL. */
int cma_init(struct model *m) MUST_USE;
/* Mirrors cma_alloc(): `align_order` aligned; pages become owned by `owner` (REGION_CMA). 0, -ENOMEM, -EBUSY. */
int cma_alloc(struct model *m, unsigned area, uint32_t pages, unsigned align_order, region_id owner) MUST_USE;
void cma_release(struct model *m, unsigned area, pfn_t start, uint32_t pages);
/* Mirrors alloc_contig_range(): isolates the blocks, migrates, takes the free pages. Held order-0.. chunks.
 * 0, -EBUSY, -ENOMEM. */
int cma_alloc_range(struct model *m, pfn_t start, pfn_t end, enum migratetype type) MUST_USE;

/* Mirrors alloc_fresh_hugetlb_folio(): htlb_buddy_alloc_*. Attached to a REGION_HUGETLB. 0, -ENOMEM. */
int hugetlb_alloc(struct model *m, region_id pool, node_id nid) MUST_USE;
void hugetlb_free(struct model *m, pfn_t head);

#endif
