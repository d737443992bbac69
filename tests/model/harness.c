/* SPDX-License-Identifier: MIT */
/* harness.c - see harness.h. */
#include "harness.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "model/buddy.h"
#include "model/layout.h"
#include "model/stats.h"
#include "model/trace.h"

/* ---- machines ----------------------------------------------------------------------------- */

struct model_config quiet_config(enum profile_id profile, uint64_t pages)
{
	struct model_config c;

	model_config_defaults(&c);
	c.profile = profile;
	c.nr_nodes = 1;
	c.node[0].mib = 0;
	c.node[0].cpus = 1;
	c.nr_zones = 1;
	c.zone[0] = (struct zone_config){
		.node = 0, .class = ZONE_NORMAL, .start_pfn = PAGEBLOCK_PAGES, .spanned = pages,
	};
	c.lru_batches = false;
	c.pcp = false;
	c.daemons = false;
	c.page_tables = false;
	c.thp.enabled = THP_ENABLED_NEVER;
	c.sysctl.compaction_proactiveness = 0;
	return c;
}

struct model *machine_make(const struct model_config *config)
{
	struct model *m;
	const char *why;
	int err = model_create(config, &m, &why);

	if (err)
		fail_msg("model_create: %s", why ? why : strerror(-err));
	return m;
}

void machine_end(struct model *m)
{
	char why[256];

	if (!validate(m, why, sizeof(why)))
		fail_msg("validate: %s", why);
	model_destroy(m);
}

struct model *machine_quiet(enum profile_id profile, uint64_t pages)
{
	struct model_config c = quiet_config(profile, pages);

	return machine_make(&c);
}

struct model_config two_nodes_config(enum profile_id profile, uint64_t pages)
{
	struct model_config c = quiet_config(profile, pages);

	c.nr_nodes = 2;
	c.node[1].cpus = 1;
	c.nr_zones = 2;
	c.zone[1] = c.zone[0];
	c.zone[1].node = 1;
	c.zone[1].start_pfn = c.zone[0].start_pfn + pages;
	return c;
}

struct model *machine_two_nodes(enum profile_id profile, uint64_t pages)
{
	struct model_config c = two_nodes_config(profile, pages);

	return machine_make(&c);
}

void bare_zone_z(struct model *m, struct zone *z, enum profile_id profile)
{
	memset(m, 0, sizeof(*m));
	memset(z, 0, sizeof(*z));
	model_config_defaults(&m->config);
	m->config.profile = profile;
	m->profile = profile_get(profile);
	m->sysctl = m->config.sysctl;
	m->policy = &policy_mainline;
	m->zone = z;
	m->nr_zones = 1;
	z->class = ZONE_NORMAL;
	z->name = "Normal";
	z->start_pfn = 1048576;
	z->end_pfn = 1048576 + 5394257;
	z->present = z->managed = 5394257;
	z->wmark[WMARK_MIN] = 14769;
	z->wmark[WMARK_LOW] = 20163;
	z->wmark[WMARK_HIGH] = 25557;
	z->wmark[WMARK_PROMO] = 30951;
}

void bare_zone_free(struct zone *z, enum migratetype type, ...)
{
	va_list ap;

	memset(z->nr_chunks, 0, sizeof(z->nr_chunks));
	memset(z->avail, 0, sizeof(z->avail));
	z->stat[VM_NR_FREE_PAGES] = 0;
	va_start(ap, type);
	for (int order = va_arg(ap, int); order >= 0; order = va_arg(ap, int)) {
		int chunks = va_arg(ap, int);

		z->nr_chunks[order] += (uint64_t)chunks;
		z->stat[VM_NR_FREE_PAGES] += (int64_t)chunks << order;
		if (chunks)
			z->avail[type] |= (uint16_t)(1u << order);
	}
	va_end(ap);
}

/* ---- layouts ------------------------------------------------------------------------------ */

void lay_begin(struct model *m)
{
	layout_begin(m);
}

void lay_end(struct model *m)
{
	layout_end(m);
}

void lay_type(struct model *m, pfn_t pfn, enum migratetype type)
{
	layout_block_type(m, pfn, type);
}

static const struct lay_letter {
	char letter;
	enum page_kind kind;
	uint8_t order;
	uint8_t flags;
} letters[] = {
	{ 'A', PG_ANON, 0, PGF_LRU },
	{ 'P', PG_ANON, 0, PGF_LRU | PGF_PINNED },
	{ 'L', PG_ANON, 0, PGF_LRU | PGF_UNEVICTABLE },
	{ 'C', PG_FILE, 0, PGF_LRU },
	{ 'D', PG_FILE, 0, PGF_LRU | PGF_DIRTY },
	{ 'W', PG_FILE, 0, PGF_LRU | PGF_WRITEBACK },
	{ 'R', PG_FILE, 0, PGF_LRU | PGF_PINNED },
	{ 'S', PG_SHMEM, 0, PGF_LRU },
	{ 'T', PG_ANON, 9, PGF_LRU },
	{ 'Q', PG_ANON, 2, PGF_LRU },
	{ 'K', PG_KERNEL, 0, 0 },
	{ 'k', PG_KERNEL, 2, 0 },
	{ 'G', PG_PGTABLE, 0, 0 },
	{ 'B', PG_SLAB, 0, 0 },
	{ 'M', PG_MOVABLE_OPS, 0, 0 },
	{ 'H', PG_HUGETLB, 9, 0 },
};

static pfn_t lay_one(struct model *m, pfn_t pfn, char letter, unsigned order)
{
	if (letter == 'f')
		return pfn + 1;
	if (letter == 'F') {
		layout_put_free(m, pfn, order);
		return pfn + (1u << order);
	}
	if (letter == 'p') {
		layout_put_pcp(m, pfn, 0, MIGRATE_MOVABLE, (cpu_id){ 0 });
		return pfn + 1;
	}
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++) {
		const struct lay_letter *l = &letters[i];

		if (l->letter != letter)
			continue;
		assert_int_equal(layout_put(m, pfn, l->order, l->kind, l->flags, (region_id){ 0 }), 0);
		return pfn + (1u << l->order);
	}
	fail_msg("layout letter '%c'", letter);
	return pfn;
}

static pfn_t lay_sequence(struct model *m, pfn_t pfn, const char *p, const char *end)
{
	while (p < end) {
		unsigned count = 0, order = 0;
		const char *item;

		if (*p == ' ') {
			p++;
			continue;
		}
		while (p < end && isdigit((unsigned char)*p))
			count = count * 10 + (unsigned)(*p++ - '0');
		if (count == 0)
			count = 1;
		if (p == end)
			fail_msg("layout ends with a count");
		item = p;
		if (*p == '(') {
			int depth = 0;

			do {
				depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
				p++;
			} while (depth && p < end);
			while (count--)
				pfn = lay_sequence(m, pfn, item + 1, p - 1);
			continue;
		}
		p++;
		if (*item == 'F') {
			while (p < end && isdigit((unsigned char)*p))
				order = order * 10 + (unsigned)(*p++ - '0');
			if (p < end && *p == '.')
				p++;
		}
		while (count--)
			pfn = lay_one(m, pfn, *item, order);
	}
	return pfn;
}

void lay(struct model *m, pfn_t pfn, const char *pattern)
{
	(void)lay_sequence(m, pfn, pattern, pattern + strlen(pattern));
}

/* ---- looking ------------------------------------------------------------------------------ */

void assert_free_list(struct model *m, struct zone *z, unsigned order, enum migratetype type, ...)
{
	const struct ring *r = buddy_list(z, order, type);
	va_list ap;

	(void)m;
	va_start(ap, type);
	for (uint32_t p = r->head; p != r->tail; p = ring_next(r, p)) {
		pfn_t want = va_arg(ap, pfn_t);

		assert_int_equal(ring_at(r, p), want);
	}
	assert_int_equal(va_arg(ap, pfn_t), PFN_NONE);
	va_end(ap);
}

uint64_t count_free(const struct zone *z)
{
	return (uint64_t)zone_free_pages(z);
}

int64_t counter(const struct model *m, enum vmstat_item item)
{
	return stats_get(m, item);
}

struct compact_control *direct_cc(struct model *m, struct zone *z, int order, enum migrate_mode mode)
{
	struct compact_control *cc = &m->direct_cc;

	memset(cc, 0, sizeof(*cc));
	cc->zone = z;
	cc->gfp = GFP_HIGHUSER_MOVABLE;
	cc->order = order;
	cc->class = ZONE_MOVABLE;
	cc->alloc_flags = ALLOC_WMARK_MIN | ALLOC_CPUSET | ALLOC_CMA;
	cc->type = MIGRATE_MOVABLE;
	cc->mode = mode;
	cc->prio = mode == MIGRATE_ASYNC ? COMPACT_PRIO_ASYNC : COMPACT_PRIO_SYNC_LIGHT;
	cc->direct = true;
	cc->search_order = (int16_t)order;
	return cc;
}

/* ---- trace -------------------------------------------------------------------------------- */

static void record_event(void *ctx, const struct trace_event *ev)
{
	struct recorded *r = ctx;

	if (ev->id != r->id)
		return;
	if (r->nr < sizeof(r->ev) / sizeof(r->ev[0]))
		r->ev[r->nr] = *ev;
	r->nr++;
}

void record(struct model *m, struct recorded *r, enum trace_id id)
{
	memset(r, 0, sizeof(*r));
	r->id = id;
	model_trace(m, record_event, r);
}

void record_stop(struct model *m)
{
	model_trace(m, NULL, NULL);
}
