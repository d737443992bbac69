/* SPDX-License-Identifier: MIT */
/*
 * zonelist.c - the order in which zones are tried; see zonelist.h.
 */
#include "model/zonelist.h"

/* The kernel's limit in distribution configurations: it scales distances against loads. */
#define KERNEL_MAX_NUMNODES 1024u

static bool node_has_memory(const struct node *n)
{
	return n->online && n->present != 0;
}

/* Mirrors find_next_best_node(): -1 when all nodes are used. */
static int next_best_node(const struct model *m, unsigned self, nodemask_t used,
			  const uint32_t *load)
{
	uint64_t best_value = UINT64_MAX;
	int best = -1;

	if (!(used >> self & 1) && node_has_memory(&m->node[self]))
		return (int)self;
	for (unsigned n = 0; n < MAX_NODES; n++) {
		uint64_t value;

		if (used >> n & 1 || !node_has_memory(&m->node[n]))
			continue;
		value = m->node[self].distance[n];
		value += n < self ? 1 : 0;
		value += m->node[n].nr_cpus ? 1 : 0;
		value = value * KERNEL_MAX_NUMNODES + load[n];
		if (value < best_value) {
			best_value = value;
			best = (int)n;
		}
	}
	return best;
}

static void append_node(struct model *m, struct zonelist *zl, const struct node *n)
{
	for (int class = ZONE_MOVABLE; class >= 0; class --) {
		if (n->zone[class].v == ZONE_NONE.v || zone_get(m, n->zone[class])->managed == 0)
			continue;
		zl->ref[zl->nr++] = (struct zoneref){
			.zone = n->zone[class],
			.node = n->id,
			.class = (uint8_t) class,
		};
	}
}

void zonelist_build(struct model *m)
{
	uint64_t types = model_has_cma(m) ? NR_MIGRATETYPES : NR_MIGRATETYPES - 1;
	uint32_t load[MAX_NODES] = {0};
	uint64_t pages = 0;

	for (unsigned self = 0; self < MAX_NODES; self++) {
		struct node *n = &m->node[self];
		nodemask_t used = 0;
		unsigned previous = self;
		int next;

		if (!n->online)
			continue;
		n->zonelist[ZONELIST_FALLBACK].nr = 0;
		n->zonelist[ZONELIST_NOFALLBACK].nr = 0;
		while ((next = next_best_node(m, self, used, load)) >= 0) {
			/* Round robin between nodes at the same distance. */
			if (n->distance[next] != n->distance[previous])
				load[next]++;
			append_node(m, &n->zonelist[ZONELIST_FALLBACK], &m->node[next]);
			used |= 1u << next;
			previous = (unsigned)next;
		}
		append_node(m, &n->zonelist[ZONELIST_NOFALLBACK], n);
	}
	for (uint32_t i = 0; i < m->nr_zones; i++)
		pages += m->zone[i].managed;
	m->grouping_disabled = pages < types * PAGEBLOCK_PAGES;
}
