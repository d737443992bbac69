/* SPDX-License-Identifier: MIT */
/*
 * owner.h - regions, slots and the reverse mapping: who holds which page, both ways.
 *
 * Not a kernel module but what stands for page tables, page caches and whoever else keeps a pfn.
 * Allocation hands out held chunks; owner_attach() gives them to a slot; owner_detach() takes them
 * back so that they can be freed; owner_move() is what migration does.
 */
#ifndef COMPACTLAB_MODEL_OWNER_H
#define COMPACTLAB_MODEL_OWNER_H

#include "model/types.h"

int owner_init(struct model *m) MUST_USE;

/* ---- regions ------------------------------------------------------------------------------ */

/*
 * A new empty region of nr_slots slots. addr gives the phase inside 2 MiB (0 for files and kernel
 * users). *id is set; 0, -ENOSPC (max_regions or slots used up: message for the user), -EINVAL.
 */
int owner_region_new(struct model *m, enum region_kind kind, uint64_t nr_slots, uint64_t addr,
		     region_id *id) MUST_USE;
/* The region must hold no page. Its slots read zero again and can be reused. */
void owner_region_free(struct model *m, region_id id);
static inline struct region *owner_region(struct model *m, region_id id)
{
	check(id.v != 0 && id.v < m->own.nr_regions && m->own.region[id.v].kind != REGION_FREE);
	return &m->own.region[id.v];
}

static inline region_id owner_region_of_slot(const struct model *m, slot_t slot)
{
	check(slot.v >= SLOT_GROUP && slot.v < m->own.nr_slots);
	return (region_id){m->own.region_of_group[slot.v / SLOT_GROUP]};
}

/* ---- slots -------------------------------------------------------------------------------- */

/* What a slot says about the page it holds: nothing for a swap mark. */
static inline pfn_t slot_page(uint32_t value)
{
	return value & SLOT_SWAP ? PFN_NONE : value & SLOT_PFN_MASK;
}

/* Base page `index` of a region: its pfn (also inside a SLOT_HUGE group), or PFN_NONE. */
static inline pfn_t owner_page(const struct model *m, const struct region *r, uint64_t index)
{
	uint32_t slot = r->first_slot + (uint32_t)index;
	uint32_t value = m->own.pfn[slot];
	uint32_t group;

	check(index < r->nr_slots);
	if (value)
		return slot_page(value);
	group = slot & ~(SLOT_GROUP - 1);
	if (group == slot || group < r->first_slot)
		return PFN_NONE;
	value = m->own.pfn[group];
	if ((value & (SLOT_HUGE | SLOT_SWAP)) != SLOT_HUGE)
		return PFN_NONE;
	return (value & SLOT_PFN_MASK) + (slot - group);
}

/* True when none of the 512 slots of the group holds anything (an empty PMD). */
bool owner_group_is_empty(const struct model *m, uint32_t first_slot);
/* True when the 2^order slots from `first_slot` are empty (the PTE range of an mTHP). */
bool owner_range_is_empty(const struct model *m, uint32_t first_slot, unsigned order);
/* The slot an owned head stands in (through the LRU ring where it is on an ordered list). */
slot_t owner_slot(const struct model *m, pfn_t head);

/*
 * held -> owned: head of order `order` into `slot` and the following; SLOT_HUGE when order is 9 and
 * `huge`. Counts region.nr_pages and the owner's gauges (nr_anon_pages, nr_file_pages, nr_shmem,
 * nr_mapped, nr_page_table_pages, thp gauges). Not on an LRU yet: lru_add() follows for KINDS_LRU.
 */
void owner_attach(struct model *m, pfn_t head, unsigned order, enum page_kind kind, slot_t slot,
		  bool huge);
/* owned -> held: empties the slots, takes the gauges back. Must be off the LRU and unpinned. */
void owner_detach(struct model *m, pfn_t head);
/* owned -> held, but slots get SLOT_SWAP marks and count as swapped. */
void owner_detach_to_swap(struct model *m, pfn_t head, uint32_t swap_entry);
/* A swap mark in this slot, if there is one, is dropped. */
void owner_forget_swap(struct model *m, slot_t slot);
/*
 * Migration: the owner's slots now point to dst (held, same order), which becomes owned with src's
 * kind and flags except PGF_LRU; src becomes held. Gauges move between nodes. Mirrors
 * folio_migrate_mapping.
 */
void owner_move(struct model *m, pfn_t src, pfn_t dst);
/* One page of a large anonymous folio that PTEs map is unmapped; the folio stays whole. */
void owner_unmap_slot(struct model *m, slot_t slot);
/* A SLOT_HUGE group becomes 512 ordinary slots (the folio stays large). Mirrors __split_huge_pmd.
 */
void owner_split_pmd(struct model *m, uint32_t first_slot);
/* Kernel users: the next empty chunk slot of the region, SLOT_NONE when it is full. */
slot_t owner_next_slot(struct model *m, struct region *r);

/* Region, slot and page agree both ways (validate.c, one region). */
bool owner_region_is_valid(struct model *m, region_id id);

#endif
