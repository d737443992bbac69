/* SPDX-License-Identifier: MIT */
/*
 * thp.h - anonymous faults (thp.c), splitting (thp_split.c), khugepaged and MADV_COLLAPSE
 * (thp_khugepaged.c).
 */
#ifndef COMPACTLAB_MODEL_THP_H
#define COMPACTLAB_MODEL_THP_H

#include "model/types.h"

/* ---- faults (thp.c) ----------------------------------------------------------------------- */

/* What one fault did. `order` is the folio's; mapped pages start at `index`. */
struct fault_result {
	pfn_t head; /* PFN_NONE and no zero page: nothing mapped (OOM kill of this task) */
	uint8_t order;
	bool zero_page; /* a read fault got a shared zero page of this order; nothing is recorded */
};

/*
 * Mirrors handle_mm_fault() on anonymous memory for the page `index` of a region: order 9 if
 * allowed and the PMD is empty, then mTHP orders, then a base page. Allocates page tables. The page
 * must not be present.
 */
struct fault_result thp_fault(struct model *m, const struct region *r, uint64_t index, bool write);
/* Orders a fault may use (bit o), from the sysfs settings, the advice and the task. */
uint32_t thp_fault_orders(const struct model *m, const struct region *r, uint64_t index);
/* Mirrors vma_thp_gfp_mask() for mainline; the hook is policy->thp_gfp. */
gfp_t thp_mainline_gfp(const struct model *m, bool advised);
/* Slots of the page-table region of an address range, and making the tables over a page of it. */
uint64_t thp_tables_wanted(const struct region *r);
bool thp_make_tables(struct model *m, const struct region *r, uint64_t index);
/* Which THP setting raises min_free_kbytes (profile); for watermark.c. */
bool thp_raises_min_free(const struct model *m);

/* ---- splitting (thp_split.c) -------------------------------------------------------------- */

/* Mirrors split_huge_page(): an isolated or LRU folio into base folios; 0, -EAGAIN (extra
 * references). */
int thp_split(struct model *m, pfn_t head) MUST_USE;
/* Part of a large folio is unmapped: PTE-maps it, frees what the region gave up when the folio is
 * split. Mirrors zap of part of a folio plus the deferred split. */
void thp_unmap_part(struct model *m, region_id region, uint64_t index, uint64_t nr);
/* Splits up to `max` partly unmapped folios of a node, freeing the unmapped parts; how many.
 * Mirrors deferred_split_scan(). */
uint64_t thp_split_deferred(struct model *m, struct node *n, uint64_t max);

/* ---- khugepaged (thp_khugepaged.c) -------------------------------------------------------- */

int khugepaged_init(struct model *m) MUST_USE;
void khugepaged_step(struct model *m);
void khugepaged_settings_changed(struct model *m);
/* Mirrors collapse_huge_page() on one group, also for MADV_COLLAPSE: 0, -ENOMEM, -EAGAIN, -EINVAL.
 */
int khugepaged_collapse(struct model *m, region_id region, uint64_t index,
			bool is_khugepaged) MUST_USE;

#endif
