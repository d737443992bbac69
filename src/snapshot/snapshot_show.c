/* SPDX-License-Identifier: MIT */
/* What a snapshot says, for people and as JSON. */
#include <compactlab/snapshot.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include "procfs/paste.h"
#include "snapshot/snapshot.h"
#include "util/util.h"

/* What stands in a block of 2 MiB, by what is worst for making it free. */
enum block_use {
	BLOCK_FREE,
	BLOCK_MOVABLE, /* pages that can move, and free ones */
	BLOCK_PINNED,  /* a pinned page among them */
	BLOCK_KERNEL,  /* a page of the kernel, a page table, hugetlb */
	BLOCK_UNUSED,  /* nothing that is ever allocated */
	BLOCK_USES
};

static const char *const uses[BLOCK_USES] = {"free", "movable", "pinned", "kernel", "reserved"};

struct zone_sum {
	const struct zone_info *zone;
	uint64_t pages[SNAPSHOT_KINDS], pinned;
	uint64_t blocks[BLOCK_USES];
	enum block_use block; /* of the block under way */
	bool used;            /* it has a page that is no hole and not reserved */
};

struct summary {
	const struct snapshot *s;
	struct zoneinfo zoneinfo;
	struct buddyinfo buddy;
	struct pagetypeinfo types;
	unsigned zones;
	struct zone_sum *zone;
};

/* ---- sums ------------------------------------------------------------------------------------ */

static enum block_use use_of(struct snapshot_state s)
{
	switch (s.kind) {
	case SNAPSHOT_FREE:
		return BLOCK_FREE;
	case SNAPSHOT_ANON:
	case SNAPSHOT_FILE:
	case SNAPSHOT_SHMEM:
	case SNAPSHOT_BALLOON:
		return s.flags & SNAPSHOT_PINNED ? BLOCK_PINNED : BLOCK_MOVABLE;
	default:
		return BLOCK_KERNEL;
	}
}

static struct zone_sum *zone_at(struct summary *all, uint64_t pfn)
{
	for (unsigned i = 0; i < all->zones; i++) {
		const struct zone_info *z = all->zone[i].zone;

		if (pfn >= z->start_pfn && pfn < z->start_pfn + z->spanned)
			return &all->zone[i];
	}
	return NULL;
}

static void block_end(struct zone_sum *z)
{
	z->blocks[z->used ? z->block : BLOCK_UNUSED]++;
	z->block = BLOCK_FREE;
	z->used = false;
}

static void sum_pages(struct summary *all)
{
	struct snapshot_cursor c = {0};
	struct snapshot_state state;
	struct zone_sum *z = NULL;
	uint64_t count;

	while (snapshot_next(all->s, &c, &count, &state)) {
		/* ZONE_DMA starts at page frame 1, inside a block. */
		if (c.pfn % SNAPSHOT_BLOCK == 0) {
			if (z)
				block_end(z);
			z = zone_at(all, c.pfn ? c.pfn : 1);
		}
		if (!z)
			continue;
		z->pages[state.kind] += count << state.order;
		if (state.flags & SNAPSHOT_PINNED)
			z->pinned += count << state.order;
		if (state.kind <= SNAPSHOT_RESERVED)
			continue;
		z->used = true;
		if (use_of(state) > z->block)
			z->block = use_of(state);
		/* A folio of order 10 fills a second block. */
		for (uint64_t at = c.pfn + SNAPSHOT_BLOCK; at < c.next_pfn; at += SNAPSHOT_BLOCK) {
			z->blocks[use_of(state)]++;
		}
	}
	if (z)
		block_end(z);
}

static int summarise(struct summary *all, const struct snapshot *s, struct cl_error *err)
{
	const char *text = s->text[SNAPSHOT_ZONEINFO];
	int r = zoneinfo_parse(text, strlen(text), &all->zoneinfo, err);

	all->s = s;
	if (r)
		return r;
	/* Some kernels show neither to everybody; what is not there is not shown. */
	text = s->text[SNAPSHOT_BUDDYINFO];
	(void)!buddyinfo_parse(text, strlen(text), &all->buddy, NULL);
	text = s->text[SNAPSHOT_PAGETYPEINFO];
	(void)!pagetypeinfo_parse(text, strlen(text), &all->types, NULL);
	all->zone = calloc(all->zoneinfo.count + 1, sizeof(*all->zone));
	if (!all->zone)
		return cl_error(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < all->zoneinfo.count; i++)
		if (all->zoneinfo.zone[i].present)
			all->zone[all->zones++].zone = &all->zoneinfo.zone[i];
	sum_pages(all);
	return 0;
}

static void summary_free(struct summary *all)
{
	zoneinfo_free(&all->zoneinfo);
	buddyinfo_free(&all->buddy);
	pagetypeinfo_free(&all->types);
	free(all->zone);
}

static const struct buddy_zone *buddy_of(const struct summary *all, const struct zone_info *z)
{
	for (unsigned i = 0; i < all->buddy.count; i++)
		if (all->buddy.zone[i].node == z->node && !strcmp(all->buddy.zone[i].zone, z->zone))
			return &all->buddy.zone[i];
	return NULL;
}

static const struct page_type_zone *types_of(const struct summary *all, const struct zone_info *z)
{
	for (unsigned i = 0; i < all->types.count; i++)
		if (all->types.zone[i].node == z->node && !strcmp(all->types.zone[i].zone, z->zone))
			return all->types.zone[i].has_blocks ? &all->types.zone[i] : NULL;
	return NULL;
}

/* ---- for people ------------------------------------------------------------------------------ */

static void show_machine(FILE *to, const struct snapshot *s)
{
	fprintf(to, "kernel   %s %s, %s\n", s->release, s->version, s->machine);
	fprintf(to, "taken    %s", s->taken);
	if (s->step)
		fprintf(to, ", right before step %s of %s", s->step, s->scenario);
	fprintf(to, "\nmachine  %u CPU%s\n", s->cpus, s->cpus == 1 ? "" : "s");
	fprintf(to, "from     /proc%s\n",
		s->blocks ? " and the kernel's memory: lists, pins and the state of compaction"
			  : "");
}

static char *mib(uint64_t pages, char buf[16])
{
	if (pages && pages < 26)
		snprintf(buf, 16, "%" PRIu64 "K", pages * 4);
	else if (pages < 2560 && pages % 256)
		snprintf(buf, 16, "%.1fM", (double)pages / 256);
	else
		snprintf(buf, 16, "%.0fM", (double)pages / 256);
	return pages ? buf : strcpy(buf, "-");
}

static void show_pages(FILE *to, const struct summary *all)
{
	char buf[16];

	fprintf(to, "\n%-16s", "memory");
	for (unsigned k = SNAPSHOT_RESERVED; k < SNAPSHOT_KINDS; k++)
		fprintf(to, "%10s", snapshot_kind_name(k));
	fprintf(to, "%10s\n", "pinned");
	for (unsigned i = 0; i < all->zones; i++) {
		const struct zone_sum *z = &all->zone[i];

		fprintf(to, "node %d %-9s", z->zone->node, z->zone->zone);
		for (unsigned k = SNAPSHOT_RESERVED; k < SNAPSHOT_KINDS; k++)
			fprintf(to, "%10s", mib(z->pages[k], buf));
		fprintf(to, "%10s\n", mib(z->pinned, buf));
	}
}

static void show_blocks(FILE *to, const struct summary *all)
{
	fprintf(to, "\n%-16s", "2 MiB blocks");
	for (unsigned k = 0; k < BLOCK_USES; k++)
		fprintf(to, "%10s", uses[k]);
	for (unsigned t = 0; t <= PAGE_TYPE_RECLAIMABLE; t++)
		fprintf(to, "%13s", page_type_name(t));
	fputc('\n', to);
	for (unsigned i = 0; i < all->zones; i++) {
		const struct zone_sum *z = &all->zone[i];
		const struct page_type_zone *types = types_of(all, z->zone);

		fprintf(to, "node %d %-9s", z->zone->node, z->zone->zone);
		for (unsigned k = 0; k < BLOCK_USES; k++)
			fprintf(to, "%10" PRIu64, z->blocks[k]);
		for (unsigned t = 0; types && t <= PAGE_TYPE_RECLAIMABLE; t++)
			fprintf(to, "%13" PRIu64, types->blocks[t]);
		fputc('\n', to);
	}
	fputs("\nA block counts as kernel when any page of it is kernel memory, as pinned when any "
	      "is known\nto be pinned, as movable when all that is not free can be moved.\n",
	      to);
}

static void show_free(FILE *to, const struct summary *all)
{
	fprintf(to, "\n%-16s", "free, order");
	for (unsigned order = 0; order <= SNAPSHOT_MAX_ORDER; order++)
		fprintf(to, "%8u", order);
	fputc('\n', to);
	for (unsigned i = 0; i < all->zones; i++) {
		const struct zone_info *z = all->zone[i].zone;
		const struct buddy_zone *b = buddy_of(all, z);

		fprintf(to, "node %d %-9s", z->node, z->zone);
		for (unsigned order = 0; b && order < b->orders; order++)
			fprintf(to, "%8" PRIu64, b->free[order]);
		fputc('\n', to);
	}
}

static void show_memories(FILE *to, const struct snapshot *s)
{
	for (unsigned i = 0; i < s->memories; i++) {
		const struct snapshot_memory *m = &s->memory[i];
		uint64_t present = 0;

		for (uint32_t k = m->first; k < m->first + m->count; k++)
			present += s->stretch[k].count;
		fprintf(to, "%sstep %s holds %" PRIu64 " of its %" PRIu64 " pages\n", i ? "" : "\n",
			m->step, present, m->pages);
	}
}

/* ---- as JSON --------------------------------------------------------------------------------- */

static json_t *zone_json(const struct summary *all, const struct zone_sum *z)
{
	const struct page_type_zone *types = types_of(all, z->zone);
	const struct buddy_zone *buddy = buddy_of(all, z->zone);
	json_t *pages = json_object(), *blocks = json_object(), *free_chunks = json_array(),
	       *type = json_object();

	for (unsigned k = 0; k < SNAPSHOT_KINDS; k++)
		json_object_set_new(pages, snapshot_kind_name(k),
				    json_integer((json_int_t)z->pages[k]));
	json_object_set_new(pages, "pinned", json_integer((json_int_t)z->pinned));
	for (unsigned k = 0; k < BLOCK_USES; k++)
		json_object_set_new(blocks, uses[k], json_integer((json_int_t)z->blocks[k]));
	for (unsigned t = 0; types && t < PAGE_TYPES; t++)
		json_object_set_new(type, page_type_name(t),
				    json_integer((json_int_t)types->blocks[t]));
	for (unsigned order = 0; buddy && order < buddy->orders; order++)
		json_array_append_new(free_chunks, json_integer((json_int_t)buddy->free[order]));
	return json_pack("{s:i, s:s, s:o, s:o, s:o, s:o}", "node", z->zone->node, "zone",
			 z->zone->zone, "pages", pages, "blocks", blocks, "types", type, "free",
			 free_chunks);
}

static int show_json(FILE *to, const struct summary *all)
{
	const struct snapshot *s = all->s;
	json_t *zones = json_array(), *settings = json_object(), *whole;
	int r;

	for (unsigned i = 0; i < all->zones; i++)
		json_array_append_new(zones, zone_json(all, &all->zone[i]));
	for (unsigned i = 0; i < s->settings; i++)
		json_object_set_new(settings, s->setting[i].name, json_string(s->setting[i].value));
	whole = json_pack("{s:{s:s, s:s}, s:s, s:s, s:s?, s:s?, s:I, s:o, s:o}", "kernel",
			  "release", s->release, "version", s->version, "machine", s->machine,
			  "taken", s->taken, "scenario", s->scenario, "step", s->step, "cpus",
			  (json_int_t)s->cpus, "zones", zones, "settings", settings);
	r = whole && json_dumpf(whole, to, JSON_INDENT(1)) == 0 ? 0 : -ENOMEM;
	fputc('\n', to);
	json_decref(whole);
	return r;
}

/* ---- all of it ------------------------------------------------------------------------------- */

int cl_snapshot_show(FILE *to, const char *path, bool json, struct cl_error *err)
{
	struct summary all = {0};
	struct snapshot *s;
	int r = snapshot_load(path, &s, err);

	if (r)
		return r;
	r = summarise(&all, s, err);
	if (!r && json && show_json(to, &all))
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r && !json) {
		show_machine(to, s);
		show_pages(to, &all);
		show_blocks(to, &all);
		show_free(to, &all);
		show_memories(to, s);
	}
	summary_free(&all);
	snapshot_free(s);
	return r;
}
