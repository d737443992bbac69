/* SPDX-License-Identifier: MIT */
/*
 * pin.c - long-term pins; see pin.h.
 */
#include "model/pin.h"

int pin_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

int pin_set_new(struct model *m, region_id region, uint64_t index, uint64_t nr, uint32_t step,
		uint32_t times, pin_id *id)
{
	NOT_YET(m, region, index, nr, step, times, id);
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
