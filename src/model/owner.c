/* SPDX-License-Identifier: MIT */
/*
 * owner.c - regions, slots and the reverse mapping; see owner.h.
 */
#include "model/owner.h"

int owner_init(struct model *m)
{
	NOT_YET(m);
}

int owner_region_new(struct model *m, enum region_kind kind, uint64_t nr_slots, uint64_t addr,
		     region_id *id)
{
	NOT_YET(m, kind, nr_slots, addr, id);
}

void owner_region_free(struct model *m, region_id id)
{
	NOT_YET(m, id);
}

struct region *owner_region(struct model *m, region_id id)
{
	NOT_YET(m, id);
}

region_id owner_region_of_slot(const struct model *m, slot_t slot)
{
	NOT_YET(m, slot);
}

pfn_t owner_page(const struct model *m, const struct region *r, uint64_t index)
{
	NOT_YET(m, r, index);
}

bool owner_group_is_empty(const struct model *m, uint32_t first_slot)
{
	NOT_YET(m, first_slot);
}

bool owner_range_is_empty(const struct model *m, uint32_t first_slot, unsigned order)
{
	NOT_YET(m, first_slot, order);
}

slot_t owner_slot(const struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void owner_attach(struct model *m, pfn_t head, unsigned order, enum page_kind kind, slot_t slot,
		  bool huge)
{
	NOT_YET(m, head, order, kind, slot, huge);
}

void owner_detach(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void owner_detach_to_swap(struct model *m, pfn_t head, uint32_t swap_entry)
{
	NOT_YET(m, head, swap_entry);
}

void owner_move(struct model *m, pfn_t src, pfn_t dst)
{
	NOT_YET(m, src, dst);
}

void owner_split_pmd(struct model *m, uint32_t first_slot)
{
	NOT_YET(m, first_slot);
}

slot_t owner_next_slot(struct model *m, struct region *r)
{
	NOT_YET(m, r);
}

bool owner_region_is_valid(struct model *m, region_id id)
{
	NOT_YET(m, id);
}
