/* SPDX-License-Identifier: MIT */
/* The punch step on the model: the same choice and order as on a real machine (src/os/punch.c). */
#include "backend/model.h"
#include <errno.h>
#include <stdlib.h>
#include "model/memmap.h"
#include "model/owner.h"
#include "util/util.h"

/* A page of the memory: its position, and whether the selection chose it. */
struct chosen {
	uint32_t *position;
	uint8_t *yes;
	uint64_t count;
};

/* The same streams as on a real machine: one a step and purpose. */
static uint64_t stream(const struct plan *p, unsigned step, uint64_t purpose)
{
	uint64_t s = p->seed + (uint64_t)step * 2 + purpose;

	return random_next(&s);
}

/* Present pages by position. Random choices are drawn in this order. */
static void list_by_position(struct model_exec *x, const struct held *h, unsigned step,
			     const struct step_punch *s, struct chosen *c, uint8_t *drawn)
{
	struct region *r = owner_region(x->m, h->region[0]);
	uint64_t draws = stream(x->plan, step, 0);
	uint32_t rest = UINT32_MAX; /* i % modulo */

	for (uint64_t i = 0; i < h->pages; i++) {
		rest = rest + 1 < s->modulo ? rest + 1 : 0;
		if (owner_page(x->m, r, i) == PFN_NONE)
			continue;
		if (s->select == PUNCH_RANDOM)
			drawn[i] = random_below(&draws, 1000000) < s->share_ppm;
		c->yes[c->count] = rest == s->residue;
		c->position[c->count++] = (uint32_t)i;
	}
}

/* Present pages by frame number. */
static void list_by_pfn(struct model_exec *x, const struct held *h, const struct step_punch *s,
			struct chosen *c, const uint8_t *drawn)
{
	struct model *m = x->m;
	struct region *r = owner_region(m, h->region[0]);
	uint64_t block = UINT64_MAX;

	c->count = 0;
	for (pfn_t pfn = 0; pfn < m->map.end_pfn; pfn++) {
		pfn_t head;
		uint32_t slot;
		bool yes = false;

		if (m->map.block[block_of(pfn).v].nr_taken == 0) {
			pfn = pb_end(pfn) - 1;
			continue;
		}
		head = memmap_head(m, pfn);
		if (!(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1))
			continue;
		slot = owner_slot(m, head).v + (pfn - head);
		if (slot < r->first_slot || slot >= r->first_slot + h->pages ||
		    owner_page(m, r, slot - r->first_slot) != pfn)
			continue;
		if (s->select == PUNCH_PFN)
			yes = pfn % s->modulo == s->residue;
		else if (s->select == PUNCH_RANDOM)
			yes = drawn[slot - r->first_slot];
		else if (pfn / MODEL_HUGE_PAGES != block && pfn % MODEL_HUGE_PAGES >= s->residue)
			yes = true, block = pfn / MODEL_HUGE_PAGES;
		c->yes[c->count] = yes;
		c->position[c->count++] = slot - r->first_slot;
	}
}

static void swap_positions(uint32_t *a, uint32_t *b)
{
	uint32_t t = *a;

	*a = *b;
	*b = t;
}

/* Brings what is to be freed to the front, in the order it is to be freed; how many. */
static uint64_t arrange(struct model_exec *x, unsigned step, const struct step_punch *s,
			struct chosen *c)
{
	uint64_t draws = stream(x->plan, step, 1), freed = 0;

	for (uint64_t i = 0; i < c->count; i++)
		if ((c->yes[i] != 0) == (s->action == PUNCH_FREE))
			swap_positions(&c->position[freed++], &c->position[i]);
	if (s->order == PUNCH_DESCENDING)
		for (uint64_t i = 0; i < freed / 2; i++)
			swap_positions(&c->position[i], &c->position[freed - 1 - i]);
	if (s->order == PUNCH_SHUFFLED)
		for (uint64_t i = freed; i > 1; i--)
			swap_positions(&c->position[i - 1], &c->position[random_below(&draws, i)]);
	return freed;
}

/*
 * The worker's own tables are memory, too, some 24 bytes a page: they lie in blocks that were free,
 * and when they go again their pages are the last on the CPU's lists.
 */
#define TABLE_BYTES 16u /* what is chosen, as long as the step takes */

int model_table(struct model_exec *x, struct held *h, uint64_t bytes, region_id *table,
		struct cl_error *err)
{
	struct op op = {.kind = OP_TOUCH, .write = true};
	int r = model_mmap(x->m, h->task[0], bytes, ADVISE_NOHUGEPAGE, table);

	if (r)
		return cl_error(err, r, "the model has no room for so much memory");
	op.region = *table;
	op.count = (bytes + MODEL_PAGE_BYTES - 1) / MODEL_PAGE_BYTES;
	return model_act(x, h, 0, &op, err);
}

static int punch_list(struct model_exec *x, unsigned i, const struct step_punch *s,
		      struct chosen *c, uint8_t *drawn, json_t *record, struct model_effect *e,
		      struct cl_error *err)
{
	struct held *h = &x->held[s->of];
	struct op op = {.kind = OP_RELEASE, .region = h->region[0], .pick = PICK_LIST};
	region_id entries, table;
	uint64_t freed;
	int64_t gone;
	int r = model_table(x, h, h->pages * MODEL_ENTRY_BYTES, &entries, err);

	if (!r)
		r = model_table(x, h, h->pages * TABLE_BYTES, &table, err);
	if (r)
		return r;
	model_munmap(x->m, entries);
	list_by_position(x, h, i, s, c, drawn);
	if (s->select != PUNCH_POSITION)
		list_by_pfn(x, h, s, c, drawn);
	freed = arrange(x, i, s, c);
	if (!freed) {
		cl_error(err, -EINVAL, "selects no page of %llu to free",
			 (unsigned long long)c->count);
		return cl_error_hint(err, -EINVAL,
				     "check residue, modulo and share, and the size of the fill");
	}
	op.count = h->pages;
	op.list = c->position;
	op.list_nr = freed;
	model_span_open(x, e);
	r = model_act(x, h, 0, &op, err);
	model_span_close(x, e);
	e->time_ns = op.end - op.start;
	model_munmap(x->m, table);
	model_detail(record, "freed_pages", freed);
	model_detail(record, "kept_pages", c->count - freed);
	if (!r && op.failed > freed / 10)
		r = cl_error(err, -EIO, "%llu of %llu freed pages are still there",
			     (unsigned long long)op.failed, (unsigned long long)freed);
	gone = e->after.value[VM_PGFREE] - e->before.value[VM_PGFREE];
	if (!r && gone < (int64_t)(freed - freed / 10))
		r = cl_error(err, -EIO, "%llu pages were freed but free memory grew by %lld",
			     (unsigned long long)freed, (long long)gone);
	if (r == -EIO)
		return cl_error_hint(err, -EIO,
				     "pinned pages and parts of huge pages stay: unpin first, or "
				     "fill with pages = base");
	return r;
}

int model_punch(struct model_exec *x, unsigned i, json_t *record, struct model_effect *e,
		struct cl_error *err)
{
	const struct step_punch *s = &x->plan->step[i].punch;
	struct step_punch whole = *s;
	uint64_t pages = x->held[s->of].pages + 1;
	uint8_t *drawn;
	struct chosen c = {.count = 0};
	int r = model_still_held(x, s->of, err);

	if (r)
		return r;
	if (!whole.modulo)
		whole.modulo = 1;
	c.position = malloc(pages * sizeof(*c.position));
	c.yes = malloc(pages);
	drawn = calloc(pages, 1);
	if (!c.position || !c.yes || !drawn)
		r = cl_error(err, -ENOMEM, "out of memory");
	else
		r = punch_list(x, i, &whole, &c, drawn, record, e, err);
	free(c.position);
	free(c.yes);
	free(drawn);
	return r;
}
