/* SPDX-License-Identifier: MIT */
/*
 * layout_inside.c - what only a kernel's own memory shows, put into a machine: the order of free
 * lists, per-CPU lists, types and skip bits of blocks, where compaction goes on; see layout.h.
 *
 * The kernel went on while it was looked at. A chunk of a list that is something else by now is
 * left out and counted.
 */
#include "model/layout.h"

#include "model/buddy.h"
#include "model/memmap.h"
#include "model/pcp.h"

static struct zone *inside_zone(struct model *m, unsigned node, enum zone_class class)
{
	zone_id id = node < m->nr_nodes && class < NR_ZONE_CLASSES ? m->node[node].zone[class]
								   : ZONE_NONE;

	return id.v == ZONE_NONE.v ? NULL : &m->zone[id.v];
}

/* Types that need more than a word to hold (reserves, CMA areas, isolation) count as MOVABLE. */
static enum migratetype inside_type(unsigned type)
{
	return type < MIGRATE_PCPTYPES ? (enum migratetype)type : MIGRATE_MOVABLE;
}

void layout_inside_blocks(struct model *m, const struct layout_inside *in)
{
	for (uint32_t b = 0; b < m->map.nr_blocks && b < in->nr_blocks; b++) {
		pfn_t start = block_start((block_t){b});
		pfn_t pfn = start ? start : 1;

		if (!zone_of(m, pfn) || (in->block[b] & LAYOUT_BLOCK_TYPE) == LAYOUT_BLOCK_NONE)
			continue;
		if (inside_type(in->block[b] & LAYOUT_BLOCK_TYPE) != block_type(m, pfn))
			layout_block_type(m, pfn, inside_type(in->block[b] & LAYOUT_BLOCK_TYPE));
		if (in->block[b] & LAYOUT_BLOCK_SKIP)
			memmap_skip_set(m, pfn);
	}
}

/* From the tail on, as each is put at the head. */
static void inside_cpu_list(struct model *m, const struct layout_list *l, uint64_t *changed)
{
	struct zone *z = inside_zone(m, l->node, l->class);

	for (uint32_t i = l->nr; z && i-- > 0;) {
		pfn_t pfn = l->pfn[i];

		if (l->cpu >= (int)m->nr_cpus || !pcp_order_ok(m, l->order) ||
		    zone_of(m, pfn) != z || layout_take(m, pfn, l->order))
			++*changed;
		else
			pcp_put(m, z, (cpu_id){(uint16_t)l->cpu}, pfn, l->order,
				inside_type(l->type));
	}
}

static void inside_free_list(struct model *m, const struct layout_list *l, uint64_t *changed)
{
	struct zone *z = inside_zone(m, l->node, l->class);

	for (uint32_t i = 0; z && i < l->nr; i++) {
		if (zone_of(m, l->pfn[i]) != z || layout_take(m, l->pfn[i], l->order))
			++*changed;
		else
			buddy_free(m, z, l->pfn[i], l->order, true);
	}
}

void layout_inside_lists(struct model *m, const struct layout_inside *in, uint64_t *changed)
{
	for (uint32_t i = 0; i < in->nr_lists; i++)
		(in->list[i].cpu < 0 ? inside_free_list : inside_cpu_list)(m, &in->list[i],
									   changed);
}

void layout_inside_state(struct model *m, const struct layout_inside *in)
{
	for (uint32_t n = 0; n < MAX_NODES; n++)
		m->node[n].kswapd.failures = in->kswapd_failures[n];
	for (uint32_t i = 0; i < in->nr_tunings; i++) {
		const struct layout_tuning *t = &in->tuning[i];
		struct zone *z = inside_zone(m, t->node, t->class);

		if (z && t->cpu < m->nr_cpus)
			pcp_tune(z, (cpu_id){t->cpu}, t->high, t->free_count, t->alloc_factor);
	}
	for (uint32_t i = 0; i < in->nr_scans; i++) {
		const struct layout_scan *s = &in->scan[i];
		struct zone *z = inside_zone(m, s->node, s->class);

		if (!z)
			continue;
		z->cached_migrate[0] = s->migrate[0];
		z->cached_migrate[1] = s->migrate[1];
		z->cached_free = s->free;
		z->init_migrate = s->init_migrate;
		z->init_free = s->init_free;
		z->blockskip_flush = s->flush;
		z->defer[DEFER_SHARED].considered = s->considered;
		z->defer[DEFER_SHARED].shift = s->shift;
		z->defer[DEFER_SHARED].order_failed = (int8_t)s->order_failed;
	}
}
