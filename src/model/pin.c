/* SPDX-License-Identifier: MIT */
/*
 * pin.c - long-term pins; see pin.h.
 */
#include "model/pin.h"

#include <errno.h>

#include "model/arena.h"
#include "model/owner.h"

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

int pin_step(struct model *m, pin_id id, bool fault_in, uint64_t *cursor)
{
	NOT_YET(m, id, fault_in, cursor);
}

int pin_drop_step(struct model *m, pin_id id, uint64_t *cursor)
{
	NOT_YET(m, id, cursor);
}

uint32_t pin_refs(const struct model *m, slot_t slot)
{
	NOT_YET(m, slot);
}

void pin_forget_region(struct model *m, region_id region)
{
	NOT_YET(m, region);
}
