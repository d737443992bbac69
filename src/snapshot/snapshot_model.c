/* SPDX-License-Identifier: MIT */
#include "snapshot/snapshot_model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "model/owner.h"
#include "model/pin.h"
#include "model/sysctl.h"

#define PAGE_BYTES 4096ull

/* ---- the configuration ----------------------------------------------------------------------- */

int snapshot_profile(const struct snapshot *s, enum profile_id *id, struct cl_error *err)
{
	char version[16];

	snprintf(version, sizeof(version), "%.*s", (int)strspn(s->release, "0123456789."),
		 s->release);
	for (char *dot = version; dot; dot = strrchr(version, '.')) {
		if (dot != version)
			*dot = '\0';
		if (profile_parse(version, id) == 0)
			return 0;
	}
	cl_error(err, -EOPNOTSUPP, "the snapshot is of kernel %s, which the model does not know",
		 s->release);
	return cl_error_hint(err, -EOPNOTSUPP, "name the nearest with --kernel: 6.12, 6.18 or 7.3");
}

static int configure(const struct snapshot *s, struct model_config *c, struct cl_error *err)
{
	unsigned column = 0;

	if (layout_config_from_zoneinfo(c, s->text[SNAPSHOT_ZONEINFO]))
		return cl_error(err, -EINVAL, "the snapshot's zones cannot be read");
	for (unsigned i = 0; i < CONFIG_MAX_NODES; i++)
		c->node[i].cpus = (uint16_t)s->node[i].cpus;
	/* Distances are in the order of the nodes that are there. */
	for (unsigned to = 0; to < CONFIG_MAX_NODES; to++) {
		if (!s->node[to].there)
			continue;
		for (unsigned from = 0; from < CONFIG_MAX_NODES; from++)
			if (s->node[from].there && column < s->node[from].distances)
				c->node[from].distance[to] = s->node[from].distance[column];
		column++;
	}
	return 0;
}

/* "thp.khugepaged/defrag" is a file of transparent_hugepage, "vm.swappiness" itself. */
static unsigned apply_settings(struct model *m, const struct snapshot *s)
{
	unsigned unknown = 0;

	for (unsigned i = 0; i < s->settings; i++) {
		const char *name = s->setting[i].name;
		char path[256];

		if (strncmp(name, "thp.", 4))
			snprintf(path, sizeof(path), "%s", name);
		else
			snprintf(path, sizeof(path), "transparent_hugepage/%s", name + 4);
		unknown += sysctl_write(m, path, s->setting[i].value) != 0;
	}
	return unknown;
}

/* ---- memory of steps ------------------------------------------------------------------------- */

struct feed {
	const struct snapshot *s;
	struct snapshot_cursor cursor;
	uint64_t left, pfn; /* of a run that is handed out chunk by chunk */
	struct snapshot_state state;
	slot_t *slot; /* by page frame: whose it is; NULL: there is no such memory */
};

/* What the memory's pages are: the first that is there tells. */
static struct snapshot_state memory_state(const struct snapshot *s, const struct snapshot_memory *h)
{
	struct snapshot_cursor c = {0};
	struct snapshot_state state;
	uint64_t count, pfn = h->count ? s->stretch[h->first].pfn : s->pages;

	while (snapshot_next(s, &c, &count, &state))
		if (pfn < c.next_pfn)
			return state;
	return (struct snapshot_state){.kind = SNAPSHOT_ANON};
}

static int memory_new(struct model *m, const struct snapshot *s, const struct snapshot_memory *h,
		      struct snapshot_held *held, slot_t *slot)
{
	struct snapshot_state state = memory_state(s, h);
	bool shared = state.kind == SNAPSHOT_SHMEM;
	/* The last huge page may reach beyond the pages that were asked for. */
	uint64_t bytes = (h->pages + SLOT_GROUP - 1) / SLOT_GROUP * SLOT_GROUP * PAGE_BYTES;
	int r = model_task(m, 0, &held->task);

	held->step = h->step;
	held->pages = h->pages;
	held->pinned = state.flags & SNAPSHOT_PINNED;
	if (!r && shared)
		r = model_shmem(m, held->task, bytes, false, &held->region);
	else if (!r)
		r = model_mmap(m, held->task, bytes, ADVISE_NONE, &held->region);
	for (uint32_t i = h->first; !r && i < h->first + h->count; i++) {
		const struct snapshot_stretch *t = &s->stretch[i];

		for (int64_t k = 0; k < t->count; k++)
			slot[t->pfn + k * t->pfn_by].v = owner_region(m, held->region)->first_slot +
							 (uint32_t)(t->position + k * t->by);
		held->present += t->count;
	}
	return r;
}

static int memories_new(struct snapshot_machine *machine, struct feed *feed)
{
	const struct snapshot *s = feed->s;

	if (!s->memories)
		return 0;
	feed->slot = calloc(s->pages, sizeof(*feed->slot));
	machine->held = calloc(s->memories, sizeof(*machine->held));
	if (!feed->slot || !machine->held)
		return -ENOMEM;
	for (unsigned i = 0; i < s->memories; i++) {
		int r = memory_new(machine->m, s, &s->memory[i], &machine->held[i], feed->slot);

		if (r)
			return r;
		machine->helds++;
	}
	return 0;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static uint8_t page_flags(struct snapshot_state s, enum page_kind kind)
{
	uint8_t flags = 0;

	if (!(KINDS_LRU >> kind & 1))
		return 0;
	/* One on no list yet waits in a batch of a CPU, or is under way: it is put on its list. */
	flags |= PGF_LRU;
	flags |= s.flags & SNAPSHOT_ACTIVE ? PGF_ACTIVE : 0;
	flags |= s.flags & SNAPSHOT_REFERENCED ? PGF_REFERENCED : 0;
	flags |= s.flags & SNAPSHOT_PINNED ? PGF_PINNED : 0;
	if (kind == PG_FILE) {
		flags |= s.flags & SNAPSHOT_DIRTY ? PGF_DIRTY : 0;
		flags |= s.flags & SNAPSHOT_WRITEBACK ? PGF_WRITEBACK : 0;
	}
	if (s.flags & SNAPSHOT_UNEVICTABLE)
		flags = (uint8_t)((flags | PGF_UNEVICTABLE) & ~PGF_ACTIVE);
	return flags;
}

static void feed_rewind(void *arg)
{
	struct feed *f = arg;

	memset(&f->cursor, 0, sizeof(f->cursor));
	f->left = 0;
}

static bool feed_next(void *arg, struct layout_run *run)
{
	static const enum page_kind kinds[SNAPSHOT_KINDS] = {
		[SNAPSHOT_HOLE] = PG_HOLE,           [SNAPSHOT_RESERVED] = PG_RESERVED,
		[SNAPSHOT_FREE] = PG_FREE,           [SNAPSHOT_ANON] = PG_ANON,
		[SNAPSHOT_FILE] = PG_FILE,           [SNAPSHOT_SHMEM] = PG_SHMEM,
		[SNAPSHOT_KERNEL] = PG_KERNEL,       [SNAPSHOT_SLAB] = PG_SLAB,
		[SNAPSHOT_PGTABLE] = PG_PGTABLE,     [SNAPSHOT_HUGETLB] = PG_HUGETLB,
		[SNAPSHOT_BALLOON] = PG_MOVABLE_OPS,
	};
	struct feed *f = arg;

	if (!f->left) {
		if (!snapshot_next(f->s, &f->cursor, &f->left, &f->state))
			return false;
		f->pfn = f->cursor.pfn;
	}
	*run = (struct layout_run){.pfn = (pfn_t)f->pfn,
				   .count = (uint32_t)f->left,
				   .order = f->state.order,
				   .kind = kinds[f->state.kind]};
	run->flags = page_flags(f->state, run->kind);
	if (f->slot && KINDS_LRU >> run->kind & 1) {
		run->count = 1;
		run->slot = f->slot[f->pfn];
		/* Pins of such memory are made by whoever knows them: see the slots' owner. */
		if (run->slot.v)
			run->flags &= (uint8_t)~PGF_PINNED;
		if (run->order > PMD_ORDER || run->slot.v & ((1u << run->order) - 1))
			run->slot = SLOT_NONE;
	}
	f->left -= run->count;
	f->pfn += (uint64_t)run->count << run->order;
	return true;
}

/* ---- from inside ----------------------------------------------------------------------------- */

/* The arrays of a layout_inside; all of them NULL when the snapshot has none of it. */
struct inside_arrays {
	struct layout_list *list;
	struct layout_tuning *tuning;
	struct layout_scan *scan;
	uint32_t *pfn;
};

static void inside_free(struct inside_arrays *a)
{
	free(a->list);
	free(a->tuning);
	free(a->scan);
	free(a->pfn);
}

static uint64_t chunks_on(const struct snapshot *s, const struct snapshot_list *l)
{
	uint64_t sum = 0;

	for (uint32_t i = l->first; i < l->first + l->count; i++)
		sum += s->stretch[i].count;
	return sum;
}

static void unroll_list(const struct snapshot *s, const struct snapshot_list *l, uint32_t *pfn)
{
	for (uint32_t i = l->first; i < l->first + l->count; i++)
		for (int64_t k = 0; k < s->stretch[i].count; k++)
			*pfn++ = (uint32_t)(s->stretch[i].pfn + k * s->stretch[i].pfn_by);
}

static void unroll_lists(const struct snapshot *s, struct inside_arrays *a)
{
	uint64_t at = 0;

	for (unsigned i = 0; i < s->lists; i++) {
		const struct snapshot_list *l = &s->list[i];

		a->list[i] = (struct layout_list){
			.node = l->node,
			.class = (enum zone_class)l->zone,
			.order = l->order,
			.type = l->type,
			.cpu = l->cpu == SNAPSHOT_NO_CPU ? -1 : l->cpu,
			.nr = (uint32_t)chunks_on(s, l),
			.pfn = a->pfn + at,
		};
		unroll_list(s, l, a->pfn + at);
		at += a->list[i].nr;
	}
}

static void copy_state(const struct snapshot *s, struct inside_arrays *a)
{
	for (unsigned i = 0; i < s->tunings; i++) {
		const struct snapshot_tuning *t = &s->tuning[i];

		a->tuning[i] = (struct layout_tuning){t->node,       (enum zone_class)t->zone,
						      t->cpu,        t->high,
						      t->free_count, t->alloc_factor};
	}
	for (unsigned i = 0; i < s->scans; i++) {
		const struct snapshot_scanners *c = &s->scan[i];

		a->scan[i] = (struct layout_scan){
			.node = c->node,
			.class = (enum zone_class)c->zone,
			.migrate = {(pfn_t)c->migrate[0], (pfn_t)c->migrate[1]},
			.free = (pfn_t)c->free,
			.init_migrate = (pfn_t)c->init_migrate,
			.init_free = (pfn_t)c->init_free,
			.considered = c->considered,
			.shift = c->shift,
			.order_failed = c->order_failed,
			.flush = c->flush,
		};
	}
}

static int inside_make(const struct snapshot *s, struct inside_arrays *a, struct layout_inside *out)
{
	uint64_t chunks = 0;

	for (unsigned i = 0; i < s->lists; i++)
		chunks += chunks_on(s, &s->list[i]);
	/* More than there are pages: some stand on two lists, which no machine has. */
	if (chunks > s->pages)
		return -EINVAL;
	a->list = calloc(s->lists + 1, sizeof(*a->list));
	a->tuning = calloc(s->tunings + 1, sizeof(*a->tuning));
	a->scan = calloc(s->scans + 1, sizeof(*a->scan));
	a->pfn = calloc(chunks + 1, sizeof(*a->pfn));
	if (!a->list || !a->tuning || !a->scan || !a->pfn)
		return -ENOMEM;
	unroll_lists(s, a);
	copy_state(s, a);
	*out = (struct layout_inside){
		.nr_blocks = (uint32_t)s->blocks,
		.nr_lists = s->lists,
		.nr_tunings = s->tunings,
		.nr_scans = s->scans,
		.block = s->block,
		.list = a->list,
		.tuning = a->tuning,
		.scan = a->scan,
	};
	for (unsigned i = 0; i < SNAPSHOT_MAX_NODES && i < MAX_NODES; i++)
		out->kswapd_failures[i] = s->node[i].kswapd_failures;
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

void snapshot_machine_free(struct snapshot_machine *machine)
{
	model_destroy(machine->m);
	free(machine->held);
	memset(machine, 0, sizeof(*machine));
}

/* One reference for each page that is there. */
static int pin_memory(struct model *m, struct snapshot_held *held)
{
	uint64_t cursor = 0;
	int r = pin_set_new(m, held->region, 0, held->pages, 1, 1, &held->pin);

	if (r)
		return r;
	do {
		r = pin_step(m, held->pin, false, &cursor);
	} while (r > 0);
	return r;
}

static uint64_t pinned_pages(const struct snapshot *s)
{
	struct snapshot_cursor c = {0};
	struct snapshot_state state;
	uint64_t count, sum = 0;

	while (snapshot_next(s, &c, &count, &state))
		sum += state.flags & SNAPSHOT_PINNED ? count << state.order : 0;
	return sum;
}

static int fill(const struct snapshot *s, struct snapshot_machine *machine, struct cl_error *err)
{
	struct feed feed = {.s = s};
	struct inside_arrays arrays = {0};
	struct layout_inside inside;
	struct layout_snapshot layout = {
		.next = feed_next,
		.rewind = feed_rewind,
		.arg = &feed,
		.known_pins = pinned_pages(s),
		.zoneinfo = s->text[SNAPSHOT_ZONEINFO],
		.pagetypeinfo = s->text[SNAPSHOT_PAGETYPEINFO],
		.vmstat = s->text[SNAPSHOT_VMSTAT],
	};
	int r;

	machine->unknown_settings = apply_settings(machine->m, s);
	machine->inside = s->blocks != 0;
	/* The snapshot has all pins then. */
	if (machine->inside)
		layout.vmstat = NULL;
	r = memories_new(machine, &feed);
	if (!r && machine->inside) {
		r = inside_make(s, &arrays, &inside);
		layout.inside = &inside;
	}
	if (!r)
		r = layout_load(machine->m, &layout, &machine->guess);
	free(feed.slot);
	inside_free(&arrays);
	for (unsigned i = 0; !r && i < machine->helds; i++)
		if (machine->held[i].pinned)
			r = pin_memory(machine->m, &machine->held[i]);
	if (r == -EINVAL)
		return cl_error(err, r, "the snapshot's pages do not fit its zones");
	return r ? cl_error(err, r, "the model has no room for the snapshot: %s", strerror(-r)) : 0;
}

int snapshot_machine_new(const struct snapshot *s, struct model_config *config,
			 struct snapshot_machine *out, struct cl_error *err)
{
	const char *why;
	int r = configure(s, config, err);

	memset(out, 0, sizeof(*out));
	if (r)
		return r;
	r = model_create(config, &out->m, &why);
	if (r) {
		out->m = NULL;
		return cl_error(err, r, "the machine cannot be made: %s", why);
	}
	r = fill(s, out, err);
	if (r)
		snapshot_machine_free(out);
	return r;
}
