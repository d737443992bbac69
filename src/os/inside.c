/* SPDX-License-Identifier: MIT */
#include "os/inside.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "os/btf.h"
#include "os/kcore.h"

#define PAGE_BYTES     4096u
#define SECTION_SHIFT  15u /* log2 of the pages of a memory section on x86-64: 128 MiB */
#define SECTION_BLOCKS (1u << (SECTION_SHIFT - SNAPSHOT_BLOCK_ORDER))
#define ORDERS         (SNAPSHOT_MAX_ORDER + 1u)
#define WALKS          4u /* of a list that changes under the walk */

/* Places in structures, all in bytes. */
struct places {
	uint64_t page, page_list, page_references, folio_pins;
	uint64_t pgdat_zones, pgdat_failures;
	uint64_t zone, zone_free_area, zone_present, zone_pageset, zone_managed;
	uint64_t zone_migrate, zone_free, zone_init_migrate, zone_init_free;
	uint64_t zone_considered, zone_shift, zone_order_failed, zone_flush;
	uint64_t area, area_list;
	uint64_t pcp_lists, pcp_high, pcp_free_count, pcp_alloc_factor;
	uint64_t section, section_usage, usage_flags;
};

struct inside {
	struct kcore kcore;
	struct places at;
	uint64_t node_data, mem_section, per_cpu; /* addresses of these variables */
	uint64_t vmemmap;
	uint64_t zones[SNAPSHOT_ZONES]; /* index in a node of DMA, DMA32, Normal, Movable */
	uint64_t types, percpu_types, block_bits, skip_bit;
	uint64_t pcp_types;
	unsigned pcp_lists;
};

/* ---- where everything is --------------------------------------------------------------------- */

static int find_places(const struct btf *b, struct places *p)
{
	const struct {
		const char *structure, *member;
		uint64_t *to;
	} list[] = {
		{"page", "buddy_list", &p->page_list},
		{"page", "_refcount", &p->page_references},
		{"folio", "_pincount", &p->folio_pins},
		{"pglist_data", "node_zones", &p->pgdat_zones},
		{"pglist_data", "kswapd_failures", &p->pgdat_failures},
		{"zone", "free_area", &p->zone_free_area},
		{"zone", "present_pages", &p->zone_present},
		{"zone", "per_cpu_pageset", &p->zone_pageset},
		{"zone", "compact_cached_migrate_pfn", &p->zone_migrate},
		{"zone", "compact_cached_free_pfn", &p->zone_free},
		{"zone", "compact_init_migrate_pfn", &p->zone_init_migrate},
		{"zone", "compact_init_free_pfn", &p->zone_init_free},
		{"zone", "compact_considered", &p->zone_considered},
		{"zone", "compact_defer_shift", &p->zone_shift},
		{"zone", "compact_order_failed", &p->zone_order_failed},
		{"zone", "compact_blockskip_flush", &p->zone_flush},
		{"free_area", "free_list", &p->area_list},
		{"per_cpu_pages", "lists", &p->pcp_lists},
		{"per_cpu_pages", "high", &p->pcp_high},
		{"per_cpu_pages", "free_count", &p->pcp_free_count},
		{"per_cpu_pages", "alloc_factor", &p->pcp_alloc_factor},
		{"mem_section", "usage", &p->section_usage},
		{"mem_section_usage", "pageblock_flags", &p->usage_flags},
	};
	int r = 0;

	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && !r; i++)
		r = btf_offset(b, list[i].structure, list[i].member, list[i].to);
	r = r ? r : btf_size(b, "page", &p->page);
	r = r ? r : btf_size(b, "zone", &p->zone);
	r = r ? r : btf_size(b, "free_area", &p->area);
	return r ? r : btf_size(b, "mem_section", &p->section);
}

static int find_numbers(const struct btf *b, struct inside *in)
{
	static const char *const zones[SNAPSHOT_ZONES] = {"ZONE_DMA", "ZONE_DMA32", "ZONE_NORMAL",
							  "ZONE_MOVABLE"};
	uint64_t bits;
	int r = btf_enum(b, "MIGRATE_TYPES", &in->types);

	for (unsigned i = 0; i < SNAPSHOT_ZONES; i++)
		if (btf_enum(b, zones[i], &in->zones[i]))
			in->zones[i] = UINT64_MAX;
	if (!r)
		r = btf_enum(b, "MIGRATE_PCPTYPES", &in->pcp_types);
	/* The names of 6.17 and later, then those before. */
	if (!r && btf_enum(b, "__NR_PAGEBLOCK_BITS", &bits))
		r = btf_enum(b, "NR_PAGEBLOCK_BITS", &bits);
	if (!r && btf_enum(b, "PB_compact_skip", &in->skip_bit))
		r = btf_enum(b, "PB_migrate_skip", &in->skip_bit);
	for (in->block_bits = 1; !r && in->block_bits < bits;)
		in->block_bits *= 2;
	/* Three base types for orders 0 to 3, and huge pages movable and not. */
	in->pcp_lists = (unsigned)(in->pcp_types * 4 + 2);
	if (!r && (in->block_bits > 8 || in->pcp_types != 3 || in->types < 4 || in->types > 6))
		r = -EOPNOTSUPP;
	return r;
}

int inside_open(struct inside **out)
{
	static const char *const names[] = {"node_data", "mem_section", "__per_cpu_offset",
					    "vmemmap_base"};
	struct inside *in = calloc(1, sizeof(*in));
	uint64_t address[4];
	struct btf b;
	int r;

	*out = NULL;
	if (!in)
		return -ENOMEM;
	in->kcore.fd = -1;
	r = btf_load(&b, "/sys/kernel/btf/vmlinux");
	if (!r) {
		r = find_places(&b, &in->at);
		if (!r)
			r = find_numbers(&b, in);
		btf_free(&b);
	}
	if (!r)
		r = kcore_open(&in->kcore);
	if (!r)
		r = kcore_symbols(names, address, 4);
	if (!r)
		r = kcore_read(&in->kcore, address[3], &in->vmemmap, sizeof(in->vmemmap));
	if (!r) {
		in->node_data = address[0];
		in->mem_section = address[1];
		in->per_cpu = address[2];
		*out = in;
		return 0;
	}
	inside_close(in);
	return r;
}

void inside_close(struct inside *in)
{
	if (!in)
		return;
	if (in->kcore.fd >= 0)
		kcore_close(&in->kcore);
	free(in);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int word_at(const struct inside *in, uint64_t address, uint64_t *value)
{
	return kcore_read(&in->kcore, address, value, sizeof(*value));
}

static int int_at(const struct inside *in, uint64_t address, int32_t *value)
{
	return kcore_read(&in->kcore, address, value, sizeof(*value));
}

/* The pages of a list, from its head on. -ESTALE: it has changed meanwhile, and nothing is kept. */
static int walk_list(const struct inside *in, struct snapshot *s, uint64_t head,
		     struct snapshot_list list)
{
	uint64_t next, left = s->pages;
	int r = word_at(in, head, &next);

	if (r || next == head)
		return r;
	r = snapshot_list_add(s, list);
	while (!r && next != head) {
		uint64_t page = next - in->at.page_list - in->vmemmap;

		if (!left-- || next < in->vmemmap || page % in->at.page ||
		    page / in->at.page >= s->pages)
			r = -ESTALE;
		if (!r)
			r = snapshot_list_page(s, page / in->at.page);
		if (!r)
			r = word_at(in, next, &next);
	}
	if (r == -ESTALE || r == -EFAULT) {
		snapshot_list_drop(s);
		return -ESTALE;
	}
	return r;
}

/*
 * A CPU's list may be tens of thousands of pages long, and any fault on that CPU changes it. A list
 * that never holds still is left out.
 */
static int take_list(const struct inside *in, struct snapshot *s, uint64_t head,
		     struct snapshot_list list)
{
	int r = -ESTALE;

	for (unsigned i = 0; i < WALKS && r == -ESTALE; i++)
		r = walk_list(in, s, head, list);
	return r == -ESTALE ? 0 : r;
}

static int take_free_lists(const struct inside *in, struct snapshot *s, uint64_t zone,
			   struct snapshot_list list)
{
	int r = 0;

	list.cpu = SNAPSHOT_NO_CPU;
	for (unsigned order = 0; order < ORDERS && !r; order++) {
		for (unsigned type = 0; type < in->types && !r; type++) {
			uint64_t head = zone + in->at.zone_free_area + order * in->at.area +
					in->at.area_list + type * 16;

			list.order = (uint8_t)order;
			list.type = (uint8_t)type;
			r = take_list(in, s, head, list);
		}
	}
	return r;
}

static int take_cpu(const struct inside *in, struct snapshot *s, uint64_t pcp,
		    struct snapshot_list list)
{
	struct snapshot_tuning t = {.node = list.node, .zone = list.zone, .cpu = list.cpu};
	int32_t high = 0;
	int16_t free_count = 0;
	uint8_t factor = 0;
	int r = int_at(in, pcp + in->at.pcp_high, &high);

	if (!r)
		r = kcore_read(&in->kcore, pcp + in->at.pcp_free_count, &free_count,
			       sizeof(free_count));
	if (!r)
		r = kcore_read(&in->kcore, pcp + in->at.pcp_alloc_factor, &factor, sizeof(factor));
	t.high = high > 0 ? (uint32_t)high : 0;
	t.free_count = free_count > 0 ? (uint32_t)free_count : 0;
	t.alloc_factor = factor;
	if (!r)
		r = snapshot_tuning_add(s, t);
	for (unsigned i = 0; i < in->pcp_lists && !r; i++) {
		bool huge = i >= in->pcp_types * 4;

		list.order = huge ? 9 : (uint8_t)(i / in->pcp_types);
		list.type = huge ? (i == in->pcp_types * 4 ? 0 : 1) : (uint8_t)(i % in->pcp_types);
		r = take_list(in, s, pcp + in->at.pcp_lists + i * 16, list);
	}
	return r;
}

static int take_cpu_lists(const struct inside *in, struct snapshot *s, uint64_t zone,
			  struct snapshot_list list)
{
	uint64_t pageset, offset;
	int r = word_at(in, zone + in->at.zone_pageset, &pageset);

	for (unsigned cpu = 0; cpu < s->cpus && !r; cpu++) {
		list.cpu = (uint16_t)cpu;
		r = word_at(in, in->per_cpu + cpu * sizeof(offset), &offset);
		if (!r)
			r = take_cpu(in, s, pageset + offset, list);
	}
	return r;
}

static int take_scanners(const struct inside *in, struct snapshot *s, uint64_t zone,
			 struct snapshot_list list)
{
	struct snapshot_scanners c = {.node = list.node, .zone = list.zone};
	int32_t considered, shift, failed, flush;
	int r = word_at(in, zone + in->at.zone_migrate, &c.migrate[0]);

	r = r ? r : word_at(in, zone + in->at.zone_migrate + 8, &c.migrate[1]);
	r = r ? r : word_at(in, zone + in->at.zone_free, &c.free);
	r = r ? r : word_at(in, zone + in->at.zone_init_migrate, &c.init_migrate);
	r = r ? r : word_at(in, zone + in->at.zone_init_free, &c.init_free);
	r = r ? r : int_at(in, zone + in->at.zone_considered, &considered);
	r = r ? r : int_at(in, zone + in->at.zone_shift, &shift);
	r = r ? r : int_at(in, zone + in->at.zone_order_failed, &failed);
	/* Of which the first byte is the flag. */
	r = r ? r : int_at(in, zone + in->at.zone_flush, &flush);
	if (r)
		return r;
	if (considered < 0 || shift < 0 || shift > 6 || failed < 0 || failed > 32 ||
	    c.migrate[0] > s->pages || c.migrate[1] > s->pages || c.free > s->pages ||
	    c.init_migrate > s->pages || c.init_free > s->pages)
		return -EINVAL;
	c.considered = (uint32_t)considered;
	c.shift = (uint8_t)shift;
	c.order_failed = (uint8_t)failed;
	c.flush = flush & 0xff;
	return snapshot_scanners_add(s, c);
}

static int take_zone(const struct inside *in, struct snapshot *s, uint64_t zone,
		     struct snapshot_list list)
{
	uint64_t present;
	int r = word_at(in, zone + in->at.zone_present, &present);

	if (r || !present)
		return r;
	r = take_cpu_lists(in, s, zone, list);
	if (!r)
		r = take_free_lists(in, s, zone, list);
	return r ? r : take_scanners(in, s, zone, list);
}

/* ---- pageblocks ------------------------------------------------------------------------------ */

/* Types and skip bits of the blocks of one section. */
static int take_section(const struct inside *in, struct snapshot *s, uint64_t section,
			unsigned blocks)
{
	uint64_t per_root = PAGE_BYTES / in->at.section, roots, root = 0, usage = 0;
	uint8_t bits[SECTION_BLOCKS];
	int r = word_at(in, in->mem_section, &roots);

	if (!r)
		r = word_at(in, roots + section / per_root * 8, &root);
	if (!r && root)
		r = word_at(in, root + section % per_root * in->at.section + in->at.section_usage,
			    &usage);
	memset(bits, 0, sizeof(bits));
	if (!r && usage)
		r = kcore_read(&in->kcore, usage + in->at.usage_flags, bits,
			       SECTION_BLOCKS * in->block_bits / 8);
	for (unsigned i = 0; i < blocks && !r; i++) {
		unsigned at = (unsigned)(i * in->block_bits);
		unsigned v = (unsigned)(bits[at / 8] >> at % 8) & ((1u << in->block_bits) - 1);
		unsigned type = usage ? v & 7 : SNAPSHOT_TYPE_NONE;

		r = snapshot_block_add(s, type, v >> in->skip_bit & 1);
	}
	return r;
}

/* ---- pins ------------------------------------------------------------------------------------ */

/* Pages read in one go, and how large the kernel's account of one may be. */
#define PINS_BATCH 64u
#define PAGE_MOST  128u

/* A pin counts as so many references where there is no count of pins. */
#define PIN_BIAS 1024

int inside_pins(const struct inside *in, uint64_t pfn, unsigned count, const uint64_t *mapped,
		const bool *large, bool *pinned)
{
	uint8_t pages[(PINS_BATCH + 1) * PAGE_MOST];
	int r = in->at.page <= PAGE_MOST && in->at.folio_pins < 2 * in->at.page ? 0 : -EOPNOTSUPP;

	for (unsigned at = 0; at < count && !r; at += PINS_BATCH) {
		unsigned n = count - at < PINS_BATCH ? count - at : PINS_BATCH;
		uint64_t from = in->vmemmap + (pfn + at) * in->at.page;

		/* The account of pages that are not there may be missing, a block at a time. */
		if (kcore_read(&in->kcore, from, pages, n * in->at.page)) {
			memset(pinned + at, 0, n * sizeof(*pinned));
			continue;
		}
		for (unsigned i = 0; i < n; i++) {
			int32_t references, pins = 0;

			memcpy(&references, pages + i * in->at.page + in->at.page_references, 4);
			/* Large folios begin at even pages; what is read of others is not used. */
			if (i + 1 < n)
				memcpy(&pins, pages + i * in->at.page + in->at.folio_pins, 4);
			if (large[at + i])
				pinned[at + i] = pins > 0;
			else
				pinned[at + i] = references - (int64_t)mapped[at + i] >= PIN_BIAS;
		}
	}
	return r;
}

int inside_take(const struct inside *in, struct snapshot *s)
{
	uint64_t blocks = s->pages / SNAPSHOT_BLOCK;
	int r = 0;

	for (unsigned node = 0; node < SNAPSHOT_MAX_NODES && !r; node++) {
		uint64_t pgdat;
		int32_t failures = 0;

		if (!s->node[node].there)
			continue;
		r = word_at(in, in->node_data + node * 8, &pgdat);
		r = r ? r : int_at(in, pgdat + in->at.pgdat_failures, &failures);
		s->node[node].kswapd_failures = failures > 0 ? (uint32_t)failures : 0;
		for (unsigned z = 0; z < SNAPSHOT_ZONES && !r; z++) {
			struct snapshot_list list = {.node = (uint8_t)node, .zone = (uint8_t)z};

			if (in->zones[z] != UINT64_MAX)
				r = take_zone(in, s,
					      pgdat + in->at.pgdat_zones +
						      in->zones[z] * in->at.zone,
					      list);
		}
	}
	for (uint64_t at = 0; at < blocks && !r; at += SECTION_BLOCKS)
		r = take_section(in, s, at / SECTION_BLOCKS,
				 (unsigned)(blocks - at < SECTION_BLOCKS ? blocks - at
									 : SECTION_BLOCKS));
	if (r)
		snapshot_inside_drop(s);
	return r;
}
