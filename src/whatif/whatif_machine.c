/* SPDX-License-Identifier: MIT */
#include "whatif/whatif_machine.h"
#include "model/layout.h"
#include "model/slab.h"
#include "model/sysctl.h"
#include "snapshot/snapshot_model.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Zones begin where no free block of theirs could merge with one of their neighbours. */
#define ZONE_ALIGN (1u << MAX_PAGE_ORDER)
#define MIB_PAGES  256u

static uint64_t zone_start(const struct whatif_state *s, unsigned zone)
{
	uint64_t at = ZONE_ALIGN;

	for (unsigned i = 0; i < zone; i++)
		at += (s->zone[i].managed + ZONE_ALIGN - 1) / ZONE_ALIGN * ZONE_ALIGN;
	return at;
}

static void make_config(const struct whatif_state *s, const char *policy, struct model_config *c)
{
	model_config_defaults(c);
	(void)!profile_parse(s->kernel, &c->profile);
	snprintf(c->policy, sizeof(c->policy), "%s", policy);
	c->nr_nodes = s->nodes;
	c->nr_zones = s->zones;
	c->swap_mib = s->swap_mib;
	c->max_multi_pins = 1u << 16;
	for (unsigned i = 0; i < s->nodes; i++)
		c->node[i] = (struct node_config){.cpus = (uint16_t)(s->cpus[i] ? s->cpus[i] : 1)};
	for (unsigned i = 0; i < s->zones; i++) {
		const struct whatif_zone *z = &s->zone[i];

		c->zone[i] = (struct zone_config){
			.node = (uint8_t)z->node,
			.class = z->class,
			.start_pfn = zone_start(s, i),
			.spanned = z->managed,
		};
		if (z->blocks[MIGRATE_CMA])
			c->cma[c->nr_cma++] = (struct cma_config){
				.node = (uint8_t)z->node,
				.mib = z->blocks[MIGRATE_CMA] * PAGEBLOCK_PAGES / MIB_PAGES,
			};
	}
}

/* ---- pages --------------------------------------------------------------------------------- */

static int put(struct model *m, pfn_t pfn, enum whatif_kind kind)
{
	static const struct {
		uint8_t kind, flags, order;
	} as[WHATIF_KINDS] = {
		[WHATIF_THP] = {PG_ANON, PGF_LRU, PMD_ORDER},
		[WHATIF_HUGETLB] = {PG_HUGETLB, 0, PMD_ORDER},
		[WHATIF_ANON] = {PG_ANON, PGF_LRU, 0},
		[WHATIF_ANON_ACTIVE] = {PG_ANON, PGF_LRU | PGF_ACTIVE, 0},
		[WHATIF_ANON_PINNED] = {PG_ANON, PGF_LRU | PGF_PINNED, 0},
		[WHATIF_FILE] = {PG_FILE, PGF_LRU, 0},
		[WHATIF_FILE_ACTIVE] = {PG_FILE, PGF_LRU | PGF_ACTIVE, 0},
		[WHATIF_FILE_DIRTY] = {PG_FILE, PGF_LRU | PGF_DIRTY, 0},
		[WHATIF_SHMEM] = {PG_SHMEM, PGF_LRU | PGF_ACTIVE, 0},
		[WHATIF_UNEVICTABLE] = {PG_ANON, PGF_LRU | PGF_UNEVICTABLE, 0},
		[WHATIF_SLAB] = {PG_SLAB, 0, 0},
		[WHATIF_PAGE_TABLE] = {PG_PGTABLE, 0, 0},
		[WHATIF_KERNEL] = {PG_KERNEL, 0, 0},
	};

	if (kind == WHATIF_FREE || kind == WHATIF_BODY)
		return 0;
	if (kind == WHATIF_SLAB_RECLAIMABLE)
		return layout_put_slab(m, pfn, 0, SLAB_DENTRY);
	return layout_put(m, pfn, as[kind].order, (enum page_kind)as[kind].kind, as[kind].flags,
			  (region_id){0});
}

static int put_zone(struct model *m, const struct whatif_zone *z, const struct whatif_plan *p,
		    pfn_t start)
{
	int r = 0;

	/* Block types first: an LRU page goes where its block's counts are. CMA stands since boot.
	 */
	for (uint64_t at = 0; at < z->managed; at += PAGEBLOCK_PAGES) {
		unsigned type = p->type[(z->first + at) / PAGEBLOCK_PAGES];

		if (type == MIGRATE_UNMOVABLE || type == MIGRATE_RECLAIMABLE)
			layout_block_type(m, start + (pfn_t)at, (enum migratetype)type);
	}
	for (uint64_t at = 0; at < z->managed && !r; at++)
		r = put(m, start + (pfn_t)at, (enum whatif_kind)p->kind[z->first + at]);
	return r;
}

/* ---- settings ------------------------------------------------------------------------------ */

static int set_number(struct model *m, const char *name, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	return model_set(m, name, text);
}

static int set_all(struct model *m, const struct whatif_state *s)
{
	int r = model_set(m, "transparent_hugepage/enabled", s->thp_enabled);

	if (!r)
		r = model_set(m, "transparent_hugepage/defrag", s->thp_defrag);
	if (!r && s->watermark_scale)
		r = set_number(m, "vm.watermark_scale_factor", s->watermark_scale);
	/* After those: khugepaged raises it. */
	if (!r && s->min_free_kb)
		r = set_number(m, "vm.min_free_kbytes", s->min_free_kb);
	return r;
}

static int machine_from_snapshot(const struct whatif_state *s, struct model_config *config,
				 struct model **out, const char **why)
{
	struct snapshot_machine machine;
	int r = snapshot_machine_new(s->snapshot, config, &machine, NULL);

	*why = "the snapshot cannot be made a machine";
	if (r)
		return r;
	free(machine.held); /* nobody asks whose the memory is */
	*out = machine.m;
	return 0;
}

int whatif_machine(const struct whatif_state *s, const struct whatif_plan *p, const char *policy,
		   struct model **out, const char **why)
{
	struct model_config config;
	struct model *m;
	int r;

	make_config(s, policy, &config);
	r = policy_defaults(&config);
	if (r) {
		*why = "the policy cannot be set up";
		return r;
	}
	if (s->snapshot) {
		config.nr_cma = 0;
		return machine_from_snapshot(s, &config, out, why);
	}
	r = model_create(&config, &m, why);
	if (r)
		return r;
	*why = "the state does not fit into the model";
	layout_begin(m);
	for (unsigned i = 0; i < s->zones && !r; i++)
		r = put_zone(m, &s->zone[i], p, (pfn_t)zone_start(s, i));
	layout_end(m);
	if (!r)
		r = set_all(m, s);
	if (r) {
		model_destroy(m);
		return r;
	}
	*out = m;
	return 0;
}
