/* SPDX-License-Identifier: MIT */
/*
 * pin.c - long-term pins; see pin.h.
 */
#include "model/pin.h"

#include <errno.h>

#include "model/arena.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/owner.h"
#include "model/shmem.h"
#include "model/thp.h"

/* Pages a batch: one atom. */
#define PIN_BATCH 64u

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

int pin_init(struct model *m)
{
	struct pins *p = &m->pins;

	p->max_sets = m->config.max_pin_sets + 1;
	p->nr_sets = 1; /* entry 0 is unused */
	p->set = arena_reserve(m->arena, p->max_sets * sizeof(*p->set));
	p->extra_cap = 16;
	while (p->extra_cap < 2 * (uint64_t)m->config.max_multi_pins)
		p->extra_cap *= 2;
	p->extra = arena_reserve(m->arena, (size_t)p->extra_cap * sizeof(*p->extra));
	return p->set && p->extra ? 0 : -ENOMEM;
}

int pin_set_new(struct model *m, region_id region, uint64_t index, uint64_t nr, uint32_t step,
		uint32_t times, pin_id *id)
{
	struct pins *p = &m->pins;
	const struct region *r = owner_region(m, region);
	uint32_t entry = 1;

	*id = (pin_id){0};
	if (step == 0 || times == 0 || index + nr > r->nr_slots)
		return -EINVAL;
	while (entry < p->nr_sets && p->set[entry].times)
		entry++;
	if (entry == p->max_sets)
		return -ENOSPC;
	if (entry == p->nr_sets)
		p->nr_sets++;
	p->set[entry] = (struct pin_set){
		.region = region,
		.first_slot = r->first_slot + (uint32_t)index,
		.nr_slots = (uint32_t)nr,
		.step = step,
		.times = times,
	};
	*id = (pin_id){entry};
	return 0;
}

/* ---- references beyond the first ---------------------------------------------------------- */

static uint32_t pin_hash(const struct pins *p, pfn_t head)
{
	return (head * 2654435761u) & (p->extra_cap - 1);
}

static uint32_t pin_find(const struct pins *p, pfn_t head)
{
	uint32_t i = pin_hash(p, head);

	while (p->extra[i].head && p->extra[i].head != head)
		i = (i + 1) & (p->extra_cap - 1);
	return i;
}

/* Closes the gap so that every entry is still found from where it hashes to. */
static void pin_extra_remove(struct pins *p, uint32_t gap)
{
	uint32_t mask = p->extra_cap - 1, i = gap;

	p->extra_used--;
	for (;;) {
		uint32_t home;

		i = (i + 1) & mask;
		if (p->extra[i].head == 0)
			break;
		home = pin_hash(p, p->extra[i].head);
		if (((i - home) & mask) >= ((i - gap) & mask)) {
			p->extra[gap] = p->extra[i];
			gap = i;
		}
	}
	p->extra[gap] = (struct pin_extra){0};
}

/* References on a folio. Large folios are counted as a whole. */
static uint32_t pin_folio_refs(const struct model *m, pfn_t head)
{
	const struct pin_extra *e;

	if (!(m->map.flag[head] & PGF_PINNED))
		return 0;
	e = &m->pins.extra[pin_find(&m->pins, head)];
	return e->head ? e->refs : 1;
}

static int pin_set_refs(struct model *m, pfn_t head, uint32_t refs)
{
	struct pins *p = &m->pins;
	uint32_t i;

	/* A first reference: a folio that is not pinned has no entry to look for. */
	if (refs == 1 && !(m->map.flag[head] & PGF_PINNED)) {
		memmap_flag_set(m, head, PGF_PINNED);
		return 0;
	}
	i = pin_find(p, head);
	if (refs >= 2 && p->extra[i].head == 0) {
		if (p->extra_used == m->config.max_multi_pins)
			return -ENOSPC;
		p->extra_used++;
	} else if (refs < 2 && p->extra[i].head) {
		pin_extra_remove(p, i);
	}
	if (refs >= 2)
		p->extra[i] = (struct pin_extra){head, refs};
	if (refs)
		memmap_flag_set(m, head, PGF_PINNED);
	else
		memmap_flag_clear(m, head, PGF_PINNED);
	return 0;
}

uint32_t pin_refs(const struct model *m, slot_t slot)
{
	region_id id = owner_region_of_slot(m, slot);
	const struct region *r = &m->own.region[id.v];
	pfn_t pfn = owner_page(m, r, slot.v - r->first_slot), head;

	if (pfn == PFN_NONE)
		return 0;
	head = memmap_head(m, pfn);
	return pin_folio_refs(m, head);
}

/*
 * Pages of a set from `cursor` on, at most `most`, that one huge page holds as a whole: what is
 * done to one of them can be done to all at once. 1 in other memory.
 */
static uint32_t pin_same_huge(const struct model *m, const struct pin_set *set, uint64_t cursor,
			      uint32_t most)
{
	uint32_t in_group = (uint32_t)(set->first_slot + cursor) % SLOT_GROUP;
	uint64_t pages = SLOT_GROUP - in_group;

	if (!(m->own.pfn[set->first_slot + cursor - in_group] & SLOT_HUGE))
		return 1;
	if (pages > set->nr_slots - cursor)
		pages = set->nr_slots - cursor;
	pages = (pages + set->step - 1) / set->step;
	return min_u32((uint32_t)pages, most);
}

/* ---- pinning ------------------------------------------------------------------------------ */

/* Mirrors folio_is_longterm_pinnable(). */
static bool pin_may_stay(struct model *m, pfn_t head)
{
	enum migratetype type = block_list_type(m, head);

	return type != MIGRATE_CMA && type != MIGRATE_ISOLATE &&
	       zone_of(m, head)->class != ZONE_MOVABLE;
}

/* Mirrors migrate_longterm_unpinnable_folios() for one folio: to ordinary memory of the same node.
 */
static int pin_move_away(struct model *m, pfn_t head)
{
	struct migrate_target_control mtc = {
		.nid = zone_of(m, head)->node,
		.gfp = GFP_USER | __GFP_NOWARN,
	};
	struct migrate_ops ops = {migrate_alloc_target, migrate_free_target, &mtc};
	pfn_t list[PAGEBLOCK_PAGES] = {head}; /* a large folio may come back in pieces */
	uint32_t nr = 1;
	bool all;

	lru_drain_all(m);
	if (!lru_isolate(m, head))
		return -EAGAIN;
	(void)migrate_pages(m, list, &nr, &ops, MIGRATE_SYNC, MR_LONGTERM_PIN);
	all = nr == 0;
	while (nr)
		lru_putback(m, list[--nr]);
	return all ? 0 : -ENOMEM;
}

/* Present and allowed to stay: its folio in *head. 0, -ENOENT (a hole that stays one), -ENOMEM. */
static int pin_make_ready(struct model *m, region_id region, const struct region *r, uint64_t index,
			  bool fault_in, pfn_t *head)
{
	pfn_t pfn = owner_page(m, r, index);

	if (pfn == PFN_NONE) {
		if (!fault_in)
			return -ENOENT;
		if (r->kind == REGION_ANON)
			(void)thp_fault(m, r, index, true);
		else
			(void)!shmem_get_page(m, region, index, true);
		pfn = owner_page(m, r, index);
		if (pfn == PFN_NONE)
			return -ENOMEM;
	}
	*head = memmap_head(m, pfn);
	for (int tries = 0; !pin_may_stay(m, *head); tries++) {
		if (tries == 2 || pin_move_away(m, *head))
			return -ENOMEM;
		*head = memmap_head(m, owner_page(m, r, index));
	}
	return 0;
}

int pin_step(struct model *m, pin_id id, bool fault_in, uint64_t *cursor)
{
	const struct pin_set *set = &m->pins.set[id.v];
	struct region *r = owner_region(m, set->region);
	uint32_t first = set->first_slot - r->first_slot;
	uint32_t flags = m->ctx.flags;
	int err = 0;

	check(id.v && set->times);
	m->ctx.flags |= CTX_LONGTERM;
	for (uint32_t n = 0, pages; n < PIN_BATCH && *cursor < set->nr_slots && !err;
	     n += pages, *cursor += (uint64_t)pages * set->step) {
		uint64_t index = first + *cursor;
		uint32_t refs;
		pfn_t head;

		pages = 1;
		err = pin_make_ready(m, set->region, r, index, fault_in, &head);
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		if (err)
			break;
		refs = pin_folio_refs(m, head);
		/* More references on a folio that has several cannot fail. */
		if (refs >= 2)
			pages = pin_same_huge(m, set, *cursor, PIN_BATCH - n);
		err = pin_set_refs(m, head, refs + pages * set->times);
		if (err)
			break;
		stat_node(&m->node[zone_of(m, head)->node.v], VM_NR_FOLL_PIN_ACQUIRED,
			  (int64_t)pages * set->times);
		clock_charge(m, COST_PIN_PAGE, pages);
	}
	m->ctx.flags = flags;
	if (err)
		return err;
	return *cursor < set->nr_slots;
}

int pin_drop_step(struct model *m, pin_id id, uint64_t *cursor)
{
	struct pin_set *set = &m->pins.set[id.v];
	struct region *r = owner_region(m, set->region);
	uint32_t first = set->first_slot - r->first_slot;

	check(id.v && set->times);
	for (uint32_t n = 0, pages; n < PIN_BATCH && *cursor < set->nr_slots;
	     n += pages, *cursor += (uint64_t)pages * set->step) {
		pfn_t pfn = owner_page(m, r, first + *cursor), head;
		uint32_t refs;

		pages = 1;
		if (pfn == PFN_NONE)
			continue;
		head = memmap_head(m, pfn);
		refs = pin_folio_refs(m, head);
		if (refs == 0)
			continue; /* a hole when the set was pinned */
		/* As long as one reference is left. */
		if (refs > 2 * set->times)
			pages = pin_same_huge(m, set, *cursor,
					      min_u32(PIN_BATCH - n, (refs - 1) / set->times));
		must(pin_set_refs(m, head,
				  refs > pages * set->times ? refs - pages * set->times : 0) == 0);
		stat_node(&m->node[zone_of(m, head)->node.v], VM_NR_FOLL_PIN_RELEASED,
			  (int64_t)pages * set->times);
		clock_charge(m, COST_PIN_PAGE, pages);
	}
	if (*cursor < set->nr_slots)
		return 1;
	*set = (struct pin_set){.times = 0};
	return 0;
}

void pin_forget_region(struct model *m, region_id region)
{
	ns_t now = m->clock.now;

	for (uint32_t i = 1; i < m->pins.nr_sets; i++) {
		uint64_t cursor = 0;

		if (m->pins.set[i].times == 0 || m->pins.set[i].region.v != region.v)
			continue;
		while (pin_drop_step(m, (pin_id){i}, &cursor))
			;
	}
	m->clock.now = now;
}

bool pin_is_valid(const struct model *m)
{
	const struct pins *p = &m->pins;
	uint32_t used = 0;

	for (uint32_t i = 0; i < p->extra_cap; i++) {
		const struct pin_extra *e = &p->extra[i];

		if (e->head == 0)
			continue;
		used++;
		if (e->refs < 2 || pin_find(p, e->head) != i ||
		    pin_folio_refs(m, e->head) != e->refs)
			return false;
	}
	return used == p->extra_used;
}
