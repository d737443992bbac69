/* SPDX-License-Identifier: MIT */
/* Steps that pin memory on the model, and let it go. */
#include "backend/model.h"
#include <errno.h>
#include "model/owner.h"
#include "model/slab.h"
#include "util/util.h"

/* As in src/os/pin.c. */
#define BUFFER_PAGES 240u /* of one buffer: its table is one page of kernel memory */
#define RING_BUFFERS 512u
#define RUN_PAGES    32u
#define RUN_BYTES    16u /* of a buffer in the list */
#define PLACE_BYTES  4u  /* of a page in the list of places */

int model_still_held(struct model_exec *x, unsigned of, struct cl_error *err)
{
	if (x->held[of].alive)
		return 0;
	return cl_error(err, -EINVAL, "the memory of step %s was released before",
			x->plan->step[of].name);
}

/* ---- what the worker needs for it --------------------------------------------------------- */

/* Runs of pages that follow each other, each a buffer to be registered. */
static uint64_t count_runs(struct model_exec *x, const struct held *h, uint64_t *present)
{
	struct region *r = owner_region(x->m, h->region[0]);
	uint64_t runs = 0, length = 0;

	*present = 0;
	for (uint64_t i = 0; i < h->pages; i++) {
		if (owner_page(x->m, r, i) == PFN_NONE) {
			length = 0;
			continue;
		}
		runs += length % BUFFER_PAGES == 0;
		length++;
		(*present)++;
	}
	return runs;
}

/* A look at the page table, and a list of the runs. */
static int collect(struct model_exec *x, struct held *h, uint64_t runs, region_id *list,
		   struct cl_error *err)
{
	region_id entries;
	int r = model_table(x, h, h->pages * MODEL_ENTRY_BYTES, &entries, err);

	if (!r)
		r = model_table(x, h, runs * RUN_BYTES, list, err);
	if (!r)
		model_munmap(x->m, entries);
	return r;
}

static bool can_squeeze(const struct model_exec *x, unsigned of, const struct held *h)
{
	const struct step *s = &x->plan->step[of];

	return s->kind == STEP_FILL && s->fill.pages == FILL_PAGE_BASE &&
	       (h->kind == FILL_ANON || h->kind == FILL_MLOCKED);
}

/*
 * As src/os/pin.c and squeeze.c: where holes make too many runs, pages are moved together in the
 * address space first, and the worker keeps a list of where they were.
 */
static int prepare(struct model_exec *x, unsigned of, struct held *h, region_id *list,
		   struct cl_error *err)
{
	uint64_t present, runs = count_runs(x, h, &present);
	region_id entries, places;
	int r = collect(x, h, runs, list, err);

	if (r || runs <= RING_BUFFERS || present / runs >= RUN_PAGES || !can_squeeze(x, of, h))
		return r;
	/* Written first: it gets what the first look gave back. */
	if (!h->squeezed)
		r = model_table(x, h, h->pages * PLACE_BYTES, &places, err);
	if (!r)
		r = model_table(x, h, h->pages * MODEL_ENTRY_BYTES, &entries, err);
	if (r)
		return r;
	h->squeezed = true;
	/* A call for each run, and its page leaves one place for another. */
	model_sleep(x->m, runs * x->m->cost.ns[COST_MADVISE_CALL] +
				  present * x->m->cost.ns[COST_UNMAP_PAGE]);
	model_munmap(x->m, entries);
	model_munmap(x->m, *list);
	return collect(x, h, present / BUFFER_PAGES + 1, list, err);
}

/* ---- the steps ------------------------------------------------------------------------------ */

int model_pin_step(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		   struct cl_error *err)
{
	unsigned of = x->plan->step[i].pin.of;
	struct held *h = &x->held[of];
	struct op op = {.kind = OP_PIN}, tables = {.kind = OP_SLAB, .cache = x->pin_cache};
	region_id list;
	uint64_t present;
	ns_t start;
	int r = model_still_held(x, of, err);

	if (!r)
		r = prepare(x, of, h, &list, err);
	if (r)
		return r;
	(void)count_runs(x, h, &present);
	op.region = h->region[0];
	op.count = h->pages;
	tables.count = present / BUFFER_PAGES + 1;
	model_span_open(x, e);
	start = model_now(x->m);
	r = model_act(x, h, 0, &tables, err);
	if (!r)
		r = model_act(x, h, 0, &op, err);
	e->time_ns = model_now(x->m) - start;
	model_span_close(x, e);
	x->pin[i] = op.pin;
	x->pinned[i] = present;
	model_detail(record, "pinned_pages", present);
	if (!r &&
	    e->after.value[VM_NR_FOLL_PIN_ACQUIRED] - e->before.value[VM_NR_FOLL_PIN_ACQUIRED] <
		    (int64_t)present)
		r = cl_error(err, -EIO, "%llu pages should be pinned and are not",
			     (unsigned long long)present);
	return r;
}

int model_unpin_step(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		     struct cl_error *err)
{
	unsigned pin = x->plan->step[i].unpin.of, of = x->plan->step[pin].pin.of;
	struct op op = {.kind = OP_UNPIN, .pin = x->pin[pin]};
	int r = model_still_held(x, of, err);

	if (r)
		return r;
	op.region = x->held[of].region[0];
	model_span_open(x, e);
	r = model_act(x, &x->held[of], 0, &op, err);
	(void)slab_free_oldest(x->m, x->pin_cache, x->pinned[pin] / BUFFER_PAGES + 1);
	model_span_close(x, e);
	e->time_ns = op.end - op.start;
	x->pin[pin] = (pin_id){0};
	model_detail(record, "pinned_pages", x->pinned[pin]);
	return r;
}
