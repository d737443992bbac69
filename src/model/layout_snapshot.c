/* SPDX-License-Identifier: MIT */
/*
 * layout_snapshot.c - a machine put into the state that a real one showed of itself; see layout.h.
 *
 * What is guessed, and how:
 *   - block types: /proc/pagetypeinfo says how many blocks of a zone have each type, not which. The
 *     blocks with the most pages that cannot move become UNMOVABLE and RECLAIMABLE, among them
 * those with the most slab pages RECLAIMABLE.
 *   - pins: /proc/vmstat says how many references are held. They are put on the anonymous base
 * pages in order of address, one each.
 *   - pages without any flag are kernel memory; those that stood on a per-CPU list are not told
 * apart.
 *   - a page on no list yet is put on its LRU list.
 * Skip bits, cached positions and deferral are fresh, lists are in order of address.
 */
#include "model/layout.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/memmap.h"
#include "model/watermark.h"

#define KPF(bit)          (1ull << (bit))
#define KPF_REFERENCED    KPF(2)
#define KPF_DIRTY         KPF(4)
#define KPF_LRU           KPF(5)
#define KPF_ACTIVE        KPF(6)
#define KPF_SLAB          KPF(7)
#define KPF_WRITEBACK     KPF(8)
#define KPF_BUDDY         KPF(10)
#define KPF_ANON          KPF(12)
#define KPF_SWAPBACKED    KPF(14)
#define KPF_COMPOUND_HEAD KPF(15)
#define KPF_COMPOUND_TAIL KPF(16)
#define KPF_HUGE          KPF(17)
#define KPF_UNEVICTABLE   KPF(18)
#define KPF_NOPAGE        KPF(20)
#define KPF_OFFLINE       KPF(23)
#define KPF_PGTABLE       KPF(26)
#define KPF_RESERVED      KPF(32)

/* ---- zoneinfo ----------------------------------------------------------------------------- */

struct zone_text {
	unsigned node;
	int class;
	uint64_t spanned, present, managed, start;
	unsigned cpus;
};

static const char *next_line(const char *p)
{
	p = strchr(p, '\n');
	return p ? p + 1 : NULL;
}

static int class_of(const char *name)
{
	static const char *const names[] = {"DMA", "DMA32", "Normal", "Movable"};

	for (int k = 0; k < 4; k++) {
		if (strcmp(names[k], name) == 0)
			return k;
	}
	return -1;
}

/* The next zone of the text with pages; *at moves behind it. 1, or 0 at the end. */
static int zone_text_next(const char **at, struct zone_text *z)
{
	bool inside = false;

	for (const char *p = *at; p; p = next_line(p)) {
		char name[32];
		unsigned long long v;
		unsigned n;

		if (sscanf(p, "Node %u, zone %31s", &n, name) == 2) {
			if (inside && z->present && z->class >= 0) {
				*at = p;
				return 1;
			}
			*z = (struct zone_text){.node = n, .class = class_of(name)};
			inside = true;
		} else if (sscanf(p, " spanned %llu", &v) == 1) {
			z->spanned = v;
		} else if (sscanf(p, " present %llu", &v) == 1) {
			z->present = v;
		} else if (sscanf(p, " managed %llu", &v) == 1) {
			z->managed = v;
		} else if (sscanf(p, " start_pfn: %llu", &v) == 1) {
			z->start = v;
		} else if (sscanf(p, " cpu: %u", &n) == 1 && n + 1 > z->cpus) {
			z->cpus = n + 1;
		}
	}
	*at = NULL;
	return inside && z->present && z->class >= 0;
}

int layout_config_from_zoneinfo(struct model_config *config, const char *zoneinfo)
{
	struct zone_text z = {0};
	unsigned cpus = 1;

	config->nr_zones = config->nr_nodes = 0;
	while (zoneinfo && zone_text_next(&zoneinfo, &z)) {
		if (z.node >= CONFIG_MAX_NODES || z.spanned < z.present || z.present < z.managed ||
		    config->nr_zones == CONFIG_MAX_NODES * 4)
			return -EINVAL;
		config->zone[config->nr_zones++] = (struct zone_config){
			.node = (uint8_t)z.node,
			.class = (enum zone_class)z.class,
			.start_pfn = z.start,
			.spanned = z.spanned,
		};
		if (z.node + 1 > config->nr_nodes)
			config->nr_nodes = z.node + 1;
		if (z.cpus > cpus)
			cpus = z.cpus;
	}
	/* The text does not say whose a CPU is: equal runs. */
	for (unsigned i = 0; i < config->nr_nodes; i++) {
		config->node[i] = (struct node_config){
			.cpus = (uint16_t)(cpus / config->nr_nodes + (i < cpus % config->nr_nodes)),
		};
	}
	return config->nr_zones ? 0 : -EINVAL;
}

/* Managed pages are fewer than those present by what boot kept; the marks follow from them. */
static int snapshot_zones(struct model *m, const char *zoneinfo)
{
	struct zone_text t = {0};

	while (zoneinfo && zone_text_next(&zoneinfo, &t)) {
		zone_id id = t.node < m->nr_nodes ? m->node[t.node].zone[t.class] : ZONE_NONE;
		struct zone *z;

		if (id.v == ZONE_NONE.v)
			return -EINVAL;
		z = &m->zone[id.v];
		if (z->start_pfn != t.start || z->end_pfn - z->start_pfn != t.spanned)
			return -EINVAL;
		m->node[t.node].present -= z->present - t.present;
		z->present = t.present;
		z->managed = t.managed;
	}
	watermark_recalculate_min_free(m);
	watermark_setup(m);
	return 0;
}

/* ---- pages -------------------------------------------------------------------------------- */

static uint64_t snapshot_flags(const struct layout_snapshot *s, pfn_t pfn)
{
	return pfn < s->nr_pfns ? s->kpageflags[pfn] : KPF_NOPAGE;
}

static enum page_kind snapshot_kind(uint64_t f)
{
	if (f & KPF_HUGE)
		return PG_HUGETLB;
	if (f & KPF_SLAB)
		return PG_SLAB;
	if (f & KPF_PGTABLE)
		return PG_PGTABLE;
	if (f & KPF_OFFLINE)
		return PG_MOVABLE_OPS;
	if (f & KPF_ANON)
		return PG_ANON;
	if (f & KPF_SWAPBACKED)
		return PG_SHMEM;
	return f & KPF_LRU ? PG_FILE : PG_KERNEL;
}

/* Order of the compound whose head is at pfn: its tails follow. */
static unsigned snapshot_order(const struct layout_snapshot *s, pfn_t pfn)
{
	unsigned order = 0;

	if (!(snapshot_flags(s, pfn) & KPF_COMPOUND_HEAD))
		return 0;
	while (order < MAX_PAGE_ORDER && !(pfn & ((2u << order) - 1)) &&
	       snapshot_flags(s, pfn + (2u << order) - 1) & KPF_COMPOUND_TAIL &&
	       snapshot_flags(s, pfn + (1u << order)) & KPF_COMPOUND_TAIL)
		order++;
	return order;
}

static uint8_t snapshot_page_flags(uint64_t f, enum page_kind kind)
{
	uint8_t flags = PGF_LRU;

	if (!(KINDS_LRU >> kind & 1))
		return 0;
	flags |= f & KPF_ACTIVE ? PGF_ACTIVE : 0;
	flags |= f & KPF_REFERENCED ? PGF_REFERENCED : 0;
	if (f & KPF_UNEVICTABLE)
		flags = (flags | PGF_UNEVICTABLE) & (uint8_t)~PGF_ACTIVE;
	if (kind == PG_FILE) {
		flags |= f & KPF_DIRTY ? PGF_DIRTY : 0;
		flags |= f & KPF_WRITEBACK ? PGF_WRITEBACK : 0;
	}
	return flags;
}

struct load {
	struct model *m;
	const struct layout_snapshot *s;
	uint64_t pins_left, guessed;
};

/* One chunk, or one page that is none; its length. Negative errno. */
static int64_t load_chunk(struct load *l, pfn_t pfn)
{
	uint64_t f = snapshot_flags(l->s, pfn);
	enum page_kind kind = snapshot_kind(f);
	unsigned order = snapshot_order(l->s, pfn);
	uint8_t flags = snapshot_page_flags(f, kind);
	int err;

	if (f & (KPF_NOPAGE | KPF_RESERVED)) {
		err = layout_put_unused(l->m, pfn, f & KPF_NOPAGE ? PG_HOLE : PG_RESERVED);
		return err ? err : 1;
	}
	if (f & KPF_BUDDY)
		return 1;
	/* A folio larger than a block is kernel memory; none of the LRU kinds gets there. */
	if (order > PAGEBLOCK_ORDER && KINDS_LRU >> kind & 1)
		order = PAGEBLOCK_ORDER;
	if (kind == PG_ANON && order == 0 && l->pins_left) {
		flags |= PGF_PINNED;
		l->pins_left--;
		l->guessed++;
	}
	if ((kind == PG_KERNEL && f == 0) || (flags && !(f & KPF_LRU)))
		l->guessed++;
	err = layout_put(l->m, pfn, order, kind, flags, (region_id){0});
	return err ? err : 1ll << order;
}

static int load_pages(struct load *l)
{
	for (uint32_t i = 0; i < l->m->nr_zones; i++) {
		const struct zone *z = &l->m->zone[i];

		for (pfn_t pfn = z->start_pfn; pfn < z->end_pfn;) {
			int64_t n = load_chunk(l, pfn);

			if (n < 0)
				return (int)n;
			pfn += (pfn_t)n;
		}
	}
	return 0;
}

/* ---- block types -------------------------------------------------------------------------- */

/* "Node 0, zone Normal 12 3000 7 0 0 0" behind "Number of blocks type": U, M, R ... of a zone. */
static void snapshot_block_counts(const char *text, const struct zone *z, uint64_t *unmovable,
				  uint64_t *reclaimable)
{
	const char *p = text ? strstr(text, "Number of blocks type") : NULL;

	*unmovable = *reclaimable = 0;
	for (p = p ? next_line(p) : NULL; p; p = next_line(p)) {
		unsigned node;
		char name[32];
		unsigned long long u, mv, r;

		if (sscanf(p, "Node %u, zone %31s %llu %llu %llu", &node, name, &u, &mv, &r) == 5 &&
		    node == z->node.v && strcmp(name, z->name) == 0) {
			*unmovable = u;
			*reclaimable = r;
		}
	}
}

/* Pages of a block that cannot move, those of slabs counted again in *slab. */
static unsigned snapshot_unmovable(const struct layout_snapshot *s, pfn_t start, unsigned *slab)
{
	unsigned n = 0;

	*slab = 0;
	for (pfn_t pfn = start; pfn < start + PAGEBLOCK_PAGES; pfn++) {
		uint64_t f = snapshot_flags(s, pfn);

		if (f & (KPF_BUDDY | KPF_NOPAGE | KPF_LRU | KPF_ANON | KPF_OFFLINE))
			continue;
		n++;
		*slab += (f & KPF_SLAB) != 0;
	}
	return n;
}

/*
 * Gives `type` to the `want` blocks of a zone with the highest score that are MOVABLE yet. Scores
 * are 1..512, so one histogram finds the threshold.
 */
static uint64_t load_block_type(struct load *l, const struct zone *z, uint64_t want,
				enum migratetype type)
{
	uint32_t first = block_of(z->start_pfn).v, last = block_of(z->end_pfn - 1).v;
	uint64_t histogram[PAGEBLOCK_PAGES + 1] = {0}, above = 0, done = 0;
	unsigned threshold = PAGEBLOCK_PAGES;

	for (int pass = 0; pass < 2; pass++) {
		for (uint32_t b = first; b <= last; b++) {
			pfn_t start = block_start((block_t){b});
			unsigned slab, score = snapshot_unmovable(l->s, start, &slab);

			if (type == MIGRATE_RECLAIMABLE)
				score = slab;
			if (score == 0 || block_type(l->m, start) != MIGRATE_MOVABLE)
				continue;
			if (pass == 0) {
				histogram[score]++;
			} else if (score > threshold || (score == threshold && above < want)) {
				above += score == threshold;
				if (done++ < want)
					layout_block_type(l->m, start, type);
			}
		}
		if (pass == 0) {
			while (threshold > 1 && above + histogram[threshold] < want)
				above += histogram[threshold--];
		}
	}
	return done < want ? done : want;
}

static void load_types(struct load *l)
{
	for (uint32_t i = 0; i < l->m->nr_zones; i++) {
		const struct zone *z = &l->m->zone[i];
		uint64_t unmovable, reclaimable;

		snapshot_block_counts(l->s->pagetypeinfo, z, &unmovable, &reclaimable);
		l->guessed += load_block_type(l, z, reclaimable, MIGRATE_RECLAIMABLE);
		l->guessed += load_block_type(l, z, unmovable, MIGRATE_UNMOVABLE);
	}
}

/* ---- all of it ---------------------------------------------------------------------------- */

static uint64_t snapshot_counter(const char *vmstat, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = vmstat; p; p = next_line(p)) {
		if (strncmp(p, name, len) == 0 && p[len] == ' ')
			return strtoull(p + len + 1, NULL, 10);
	}
	return 0;
}

int layout_load(struct model *m, const struct layout_snapshot *snap, uint64_t *guessed)
{
	struct load l = {.m = m, .s = snap};
	uint64_t acquired = snapshot_counter(snap->vmstat, "nr_foll_pin_acquired");
	uint64_t released = snapshot_counter(snap->vmstat, "nr_foll_pin_released");
	int err;

	*guessed = 0;
	if (!snap->kpageflags)
		return -EINVAL;
	l.pins_left = acquired > released ? acquired - released : 0;
	layout_begin(m);
	load_types(&l);
	err = load_pages(&l);
	layout_end(m);
	if (!err && snap->zoneinfo)
		err = snapshot_zones(m, snap->zoneinfo);
	*guessed = l.guessed;
	return err;
}
