/* SPDX-License-Identifier: MIT */
/*
 * owner.c - regions, slots and the reverse mapping; see owner.h.
 */
#include "model/owner.h"

#include <errno.h>
#include <string.h>

#include "model/arena.h"
#include "model/memmap.h"

/* Slots a machine has beyond a multiple of its pages: files and ranges are mostly sparse. */
#define SLOT_MARGIN       (1u << 24)
#define SLOT_PAGES_FACTOR 10u
#define SLOT_LIMIT        (UINT32_MAX - 2 * SLOT_GROUP + 1)

int owner_init(struct model *m)
{
	struct owners *o = &m->own;
	uint64_t slots = m->config.max_slots;

	if (slots == 0)
		slots = (uint64_t)m->map.end_pfn * SLOT_PAGES_FACTOR + SLOT_MARGIN;
	if (slots > SLOT_LIMIT)
		slots = SLOT_LIMIT;
	o->nr_slots = (uint32_t)(slots & ~(uint64_t)(SLOT_GROUP - 1));
	o->max_regions = m->config.max_regions;
	o->pfn = arena_reserve(m->arena, (size_t)o->nr_slots * sizeof(*o->pfn));
	o->region_of_group = arena_reserve(m->arena, (size_t)(o->nr_slots / SLOT_GROUP) *
							     sizeof(*o->region_of_group));
	o->region = arena_reserve(m->arena, (size_t)(o->max_regions + 1) * sizeof(*o->region));
	if (!o->pfn || !o->region_of_group || !o->region)
		return -ENOMEM;
	o->group_hint = 1; /* slot 0 means none, so group 0 is never given out */
	o->nr_regions = 1; /* entry 0 is unused */
	return 0;
}

/* ---- regions ------------------------------------------------------------------------------ */

/* First run of `groups` free groups at or behind the hint; 0 = none. */
static uint32_t owner_find_groups(const struct owners *o, uint32_t groups)
{
	uint32_t total = o->nr_slots / SLOT_GROUP, run = 0;

	for (uint32_t g = o->group_hint; g < total; g++) {
		run = o->region_of_group[g] ? 0 : run + 1;
		if (run == groups)
			return g + 1 - groups;
	}
	return 0;
}

int owner_region_new(struct model *m, enum region_kind kind, uint64_t nr_slots, uint64_t addr,
		     region_id *id)
{
	struct owners *o = &m->own;
	uint32_t phase = (uint32_t)(addr >> PAGE_SHIFT) % SLOT_GROUP;
	uint64_t groups = (phase + nr_slots + SLOT_GROUP - 1) / SLOT_GROUP;
	uint32_t entry, first;

	*id = (region_id){0};
	if (nr_slots == 0 || kind == REGION_FREE || addr % PAGE_SIZE_BYTES)
		return -EINVAL;
	if (groups >= o->nr_slots / SLOT_GROUP)
		return -ENOSPC;
	for (entry = 1; entry < o->nr_regions; entry++) {
		if (o->region[entry].kind == REGION_FREE)
			break;
	}
	if (entry > o->max_regions)
		return -ENOSPC;
	first = owner_find_groups(o, (uint32_t)groups);
	if (first == 0)
		return -ENOSPC;
	for (uint32_t g = 0; g < groups; g++)
		o->region_of_group[first + g] = (uint16_t)entry;
	if (first == o->group_hint)
		o->group_hint = first + (uint32_t)groups;
	if (entry == o->nr_regions)
		o->nr_regions++;
	o->region[entry] = (struct region){
		.kind = kind,
		.first_slot = first * SLOT_GROUP + phase,
		.nr_slots = (uint32_t)nr_slots,
		.addr = addr,
		.pgoff = addr >> PAGE_SHIFT,
		.mapped = kind == REGION_ANON,
		.policy = {.home = NODE_NONE},
	};
	*id = (region_id){entry};
	return 0;
}

void owner_region_free(struct model *m, region_id id)
{
	struct owners *o = &m->own;
	struct region *r = owner_region(m, id);
	uint32_t first = r->first_slot / SLOT_GROUP;
	uint32_t groups = (r->first_slot % SLOT_GROUP + r->nr_slots + SLOT_GROUP - 1) / SLOT_GROUP;

	must(r->nr_pages == 0);
	if (m->swap_used) {
		for (uint32_t i = 0; i < r->nr_slots; i++)
			owner_forget_swap(m, (slot_t){r->first_slot + i});
	}
	for (uint32_t g = 0; g < groups; g++)
		o->region_of_group[first + g] = 0;
	if (first < o->group_hint)
		o->group_hint = first;
	*r = (struct region){.kind = REGION_FREE};
}

/* ---- slots -------------------------------------------------------------------------------- */

bool owner_group_is_empty(const struct model *m, uint32_t first_slot)
{
	return owner_range_is_empty(m, first_slot & ~(SLOT_GROUP - 1), PMD_ORDER);
}

bool owner_range_is_empty(const struct model *m, uint32_t first_slot, unsigned order)
{
	uint32_t group = first_slot & ~(SLOT_GROUP - 1);

	if ((m->own.pfn[group] & (SLOT_HUGE | SLOT_SWAP)) == SLOT_HUGE)
		return false;
	for (uint32_t i = 0; i < 1u << order; i++) {
		if (m->own.pfn[first_slot + i])
			return false;
	}
	return true;
}

slot_t owner_slot(const struct model *m, pfn_t head)
{
	uint8_t state = m->map.state[head], flags = m->map.flag[head];
	uint32_t word = m->map.word[head];

	check(KINDS_OWNED >> PG_KIND(state) & 1);
	if ((KINDS_LRU >> PG_KIND(state) & 1) && (flags & PGF_LRU) && !(flags & PGF_UNEVICTABLE)) {
		const struct zone *z = &m->zone[m->map.zone_of_block[block_of(head).v]];
		const struct lru *lru = &m->node[z->node.v].lru;
		unsigned list =
			(PG_KIND(state) == PG_FILE ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON) +
			!!(flags & PGF_ACTIVE);

		if (lru->ordered[list])
			word = ring_at(&lru->list[list], word);
	}
	return (slot_t){word};
}

/* ---- gauges ------------------------------------------------------------------------------- */

static void owner_gauges_other(struct node *n, struct region *r, enum page_kind kind,
			       unsigned order, int64_t pages)
{
	int64_t sign = pages < 0 ? -1 : 1;

	switch (kind) {
	case PG_SHMEM:
		stat_node(n, VM_NR_SHMEM, pages);
		if (order == PMD_ORDER)
			stat_node(n, VM_NR_SHMEM_HUGEPAGES, sign);
		/* fallthrough */
	case PG_FILE:
		stat_node(n, VM_NR_FILE_PAGES, pages);
		if (kind == PG_FILE && order == PMD_ORDER)
			stat_node(n, VM_NR_FILE_HUGEPAGES, sign);
		if (r->mapped)
			stat_node(n, VM_NR_MAPPED, pages);
		break;
	case PG_PGTABLE:
		stat_node(n, VM_NR_PAGE_TABLE_PAGES, pages);
		break;
	case PG_SLAB:
		stat_node(n,
			  r->chunk_gfp & __GFP_RECLAIMABLE ? VM_NR_SLAB_RECLAIMABLE
							   : VM_NR_SLAB_UNRECLAIMABLE,
			  pages);
		break;
	case PG_HUGETLB:
		stat_node(n, VM_NR_HUGETLB, pages);
		break;
	default:
		break;
	}
}

static inline void owner_gauges(struct model *m, struct region *r, pfn_t head, enum page_kind kind,
				unsigned order, int64_t pages)
{
	struct node *n = &m->node[zone_of(m, head)->node.v];

	if (kind == PG_ANON)
		stat_node(n, VM_NR_ANON_PAGES, pages);
	else
		owner_gauges_other(n, r, kind, order, pages);
}

/* A PMD maps this folio, or ceases to. */
static void owner_gauges_pmd(struct model *m, pfn_t head, enum page_kind kind, int64_t by)
{
	struct node *n = &m->node[zone_of(m, head)->node.v];

	if (kind == PG_ANON)
		stat_node(n, VM_NR_ANON_TRANSPARENT_HUGEPAGES, by);
	else if (kind == PG_SHMEM)
		stat_node(n, VM_NR_SHMEM_PMDMAPPED, by);
	else if (kind == PG_FILE)
		stat_node(n, VM_NR_FILE_PMDMAPPED, by);
}

static inline void owner_count(struct model *m, struct region *r, int64_t pages)
{
	r->nr_pages += (uint64_t)pages;
	if (r->mapped)
		m->task[r->task.v].rss_pages += (uint64_t)pages;
}

/* ---- attaching, detaching, moving --------------------------------------------------------- */

/* Kernel users hold chunks, one slot each; the others one slot a base page. */
static inline uint32_t owner_slots_of(enum page_kind kind, unsigned order)
{
	return KINDS_LRU >> kind & 1 ? 1u << order : 1;
}

void owner_attach(struct model *m, pfn_t head, unsigned order, enum page_kind kind, slot_t slot,
		  bool huge)
{
	struct owners *o = &m->own;
	struct region *r = &o->region[owner_region_of_slot(m, slot).v];
	uint32_t n = owner_slots_of(kind, order);

	check(r->kind != REGION_FREE && slot.v >= r->first_slot &&
	      slot.v + n <= r->first_slot + r->nr_slots);
	check(!huge || (order == PMD_ORDER && slot.v % SLOT_GROUP == 0));
	memmap_own(m, head, order, kind, slot.v);
	if (n == 1) {
		check(o->pfn[slot.v] == 0);
		o->pfn[slot.v] = head;
	} else if (huge) {
		check(o->pfn[slot.v] == 0);
		o->pfn[slot.v] = SLOT_HUGE | head;
		r->nr_huge++;
		/* Page-cache files are not mapped here: large there is the folio, not a PMD. */
		if (r->mapped)
			owner_gauges_pmd(m, head, kind, 1);
	} else {
		for (uint32_t i = 0; i < n; i++) {
			check(o->pfn[slot.v + i] == 0);
			o->pfn[slot.v + i] = head + i;
		}
	}
	owner_count(m, r, 1 << order);
	owner_gauges(m, r, head, kind, order, 1 << order);
}

/* Empties the folio's slots that still point to it, or writes `mark` + i there; base pages found.
 */
static uint32_t owner_empty_slots(struct model *m, struct region *r, pfn_t head,
				  enum page_kind kind, unsigned order, uint32_t slot, uint32_t mark)
{
	struct owners *o = &m->own;
	uint32_t n = owner_slots_of(kind, order), found = 0;

	if (o->pfn[slot] == (SLOT_HUGE | head)) {
		if (r->mapped)
			owner_gauges_pmd(m, head, kind, -1);
		r->nr_huge--;
		o->pfn[slot] = 0;
		for (uint32_t i = 0; mark && i < n; i++)
			o->pfn[slot + i] = mark + i;
		return n;
	}
	if (n == 1) {
		if (o->pfn[slot] != head)
			return 0;
		o->pfn[slot] = mark;
		return 1u << order;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (o->pfn[slot + i] != head + i)
			continue; /* this part was unmapped, the folio not yet split */
		o->pfn[slot + i] = mark ? mark + i : 0;
		found++;
	}
	return found;
}

/* Base pages that were mapped. */
static uint32_t owner_take_out(struct model *m, pfn_t head, uint32_t mark)
{
	uint8_t state = m->map.state[head];
	enum page_kind kind = PG_KIND(state);
	unsigned order = PG_ORDER(state);
	uint32_t slot = m->map.word[head];
	struct region *r = &m->own.region[owner_region_of_slot(m, (slot_t){slot}).v];
	uint32_t found;

	check(!(KINDS_LRU >> kind & 1) || !(m->map.flag[head] & PGF_LRU));
	found = owner_empty_slots(m, r, head, kind, order, slot, mark);
	owner_count(m, r, -(int64_t)found);
	/* Unmapped parts of an anonymous folio left the gauges when they were unmapped. */
	if (kind == PG_ANON && found != 1u << order)
		m->nr_deferred_splits--;
	owner_gauges(m, r, head, kind, order, kind == PG_ANON ? -(int64_t)found : -(1 << order));
	memmap_disown(m, head);
	return found;
}

void owner_detach(struct model *m, pfn_t head)
{
	(void)owner_take_out(m, head, 0);
}

void owner_detach_to_swap(struct model *m, pfn_t head, uint32_t swap_entry)
{
	m->swap_used += owner_take_out(m, head, SLOT_SWAP | swap_entry);
}

void owner_forget_swap(struct model *m, slot_t slot)
{
	if (m->own.pfn[slot.v] & SLOT_SWAP) {
		m->own.pfn[slot.v] = 0;
		m->swap_used--;
	}
}

/* What the dirty and mlock code counted by zone. Mirrors the end of __folio_migrate_mapping(). */
static void owner_move_zone_gauges(struct model *m, pfn_t src, pfn_t dst, enum page_kind kind,
				   uint8_t flags, int64_t pages)
{
	struct zone *from = zone_of(m, src), *to = zone_of(m, dst);

	if (KINDS_LRU >> kind & 1 && flags & PGF_UNEVICTABLE) {
		stat_zone(from, VM_NR_MLOCK, -pages);
		stat_zone(to, VM_NR_MLOCK, pages);
	}
	if (kind != PG_FILE || !(flags & PGF_DIRTY))
		return;
	stat_node(&m->node[from->node.v], VM_NR_DIRTY, -pages);
	stat_zone(from, VM_NR_ZONE_WRITE_PENDING, -pages);
	stat_node(&m->node[to->node.v], VM_NR_DIRTY, pages);
	stat_zone(to, VM_NR_ZONE_WRITE_PENDING, pages);
}

void owner_move(struct model *m, pfn_t src, pfn_t dst)
{
	struct owners *o = &m->own;
	uint8_t state = m->map.state[src];
	uint8_t flags = m->map.flag[src];
	enum page_kind kind = PG_KIND(state);
	unsigned order = PG_ORDER(state);
	uint32_t slot = m->map.word[src];
	uint32_t n = owner_slots_of(kind, order);
	struct region *r = &o->region[owner_region_of_slot(m, (slot_t){slot}).v];
	bool huge = o->pfn[slot] == (SLOT_HUGE | src);
	bool other_node = zone_of(m, src)->node.v != zone_of(m, dst)->node.v;
	int64_t present = 1 << order;

	check(!(KINDS_LRU >> kind & 1) || !(flags & (PGF_LRU | PGF_PINNED)));
	if (huge) {
		o->pfn[slot] = SLOT_HUGE | dst;
	} else {
		for (uint32_t i = 0; i < n; i++) {
			if (o->pfn[slot + i] == src + i)
				o->pfn[slot + i] = dst + i;
			else
				present--;
		}
	}
	if (other_node) {
		owner_gauges(m, r, src, kind, order, -present);
		owner_gauges(m, r, dst, kind, order, present);
		if (huge && r->mapped) {
			owner_gauges_pmd(m, src, kind, -1);
			owner_gauges_pmd(m, dst, kind, 1);
		}
	}
	if (zone_of(m, src) != zone_of(m, dst))
		owner_move_zone_gauges(m, src, dst, kind, flags, 1 << order);
	memmap_disown(m, src);
	memmap_own(m, dst, order, kind, slot);
	if (KINDS_LRU >> kind & 1 && flags)
		memmap_flag_set(m, dst, flags);
}

void owner_unmap_slot(struct model *m, slot_t slot)
{
	pfn_t pfn = m->own.pfn[slot.v];
	struct region *r = &m->own.region[owner_region_of_slot(m, slot).v];
	pfn_t head = memmap_head(m, pfn);

	check(pfn && !(pfn & (SLOT_HUGE | SLOT_SWAP)) && PG_KIND(m->map.state[head]) == PG_ANON);
	m->own.pfn[slot.v] = 0;
	owner_count(m, r, -1);
	owner_gauges(m, r, head, PG_ANON, PG_ORDER(m->map.state[head]), -1);
}

void owner_split_pmd(struct model *m, uint32_t first_slot)
{
	struct owners *o = &m->own;
	uint32_t value = o->pfn[first_slot];
	pfn_t head = value & SLOT_PFN_MASK;
	struct region *r = &o->region[owner_region_of_slot(m, (slot_t){first_slot}).v];

	check((value & (SLOT_HUGE | SLOT_SWAP)) == SLOT_HUGE && first_slot % SLOT_GROUP == 0);
	for (uint32_t i = 0; i < SLOT_GROUP; i++)
		o->pfn[first_slot + i] = head + i;
	r->nr_huge--;
	if (r->mapped)
		owner_gauges_pmd(m, head, PG_KIND(m->map.state[head]), -1);
}

slot_t owner_next_slot(struct model *m, struct region *r)
{
	for (uint32_t tried = 0; tried < r->nr_slots; tried++) {
		uint32_t slot = r->first_slot + r->next_slot;

		r->next_slot = r->next_slot + 1 == r->nr_slots ? 0 : r->next_slot + 1;
		if (m->own.pfn[slot] == 0)
			return (slot_t){slot};
	}
	return SLOT_NONE;
}

bool owner_region_is_valid(struct model *m, region_id id)
{
	const struct owners *o = &m->own;
	const struct region *r = &o->region[id.v];
	uint64_t pages = 0, huge = 0;

	for (uint32_t i = 0; i < r->nr_slots; i++) {
		uint32_t slot = r->first_slot + i;
		uint32_t value = o->pfn[slot];
		pfn_t pfn = slot_page(value), head;
		uint8_t state;

		if (o->region_of_group[slot / SLOT_GROUP] != id.v)
			return false;
		if (pfn == PFN_NONE)
			continue;
		if (pfn >= m->map.end_pfn)
			return false;
		head = memmap_head(m, pfn);
		state = m->map.state[head];
		if (!(KINDS_OWNED >> PG_KIND(state) & 1))
			return false;
		if (value & SLOT_HUGE) {
			if (head != pfn || PG_ORDER(state) != PMD_ORDER || slot % SLOT_GROUP ||
			    owner_slot(m, head).v != slot)
				return false;
			huge++;
			pages += SLOT_GROUP;
		} else {
			if (owner_slot(m, head).v + (pfn - head) != slot)
				return false;
			pages += KINDS_LRU >> PG_KIND(state) & 1 ? 1 : 1ull << PG_ORDER(state);
		}
	}
	return pages == r->nr_pages && huge == r->nr_huge;
}
