/* SPDX-License-Identifier: MIT */
/*
 * hash.c - the state hash; see model.h.
 *
 * Values only: no pointer, no padding, no position in a ring, and every number in a width that is
 * the same everywhere. What was never touched adds nothing.
 */
#include "model/model.h"

#include "model/buddy.h"
#include "model/memmap.h"
#include "model/owner.h"

struct hash {
	uint64_t h;
};

/* One multiply and two shifts a word, after the finaliser of splitmix64. */
static inline void mix(struct hash *s, uint64_t value)
{
	uint64_t x = s->h ^ value;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
	s->h = (x ^ x >> 27) * 0x94d049bb133111ebull + 0x9e3779b97f4a7c15ull;
}

static inline uint64_t load_le64(const uint8_t *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

/* ---- pages -------------------------------------------------------------------------------- */

static void hash_block(struct hash *s, const struct model *m, uint32_t id)
{
	const struct block *b = &m->map.block[id];
	const uint8_t *state = &m->map.state[id * PAGEBLOCK_PAGES];

	mix(s, (uint64_t)id << 32 | (uint64_t)b->type_x << 8 | b->bits);
	for (unsigned i = 0; i < PAGEBLOCK_PAGES; i += 8)
		mix(s, load_le64(state + i));
	if (b->nr_taken == 0)
		return;
	for (pfn_t p = id * PAGEBLOCK_PAGES; p < (id + 1) * PAGEBLOCK_PAGES; p++) {
		if (KINDS_OWNED >> PG_KIND(m->map.state[p]) & 1)
			mix(s, (uint64_t)owner_slot(m, p).v << 8 | m->map.flag[p]);
	}
}

static void hash_pages(struct hash *s, const struct model *m)
{
	for (uint32_t id = 0; id < m->map.nr_blocks; id++) {
		const struct block *b = &m->map.block[id];

		if (b->bits & BLOCK_TOUCHED)
			hash_block(s, m, id);
		else if (b->type_x || b->bits)
			mix(s, (uint64_t)id << 32 | (uint64_t)b->type_x << 8 | b->bits);
	}
	for (uint32_t i = 0; i < m->map.nr_blocks / 64 + 1; i++) {
		if (m->map.skip[i]) {
			mix(s, i);
			mix(s, m->map.skip[i]);
		}
	}
}

static void hash_ring(struct hash *s, const struct ring *r, const struct zone *z)
{
	mix(s, r->live);
	for (uint32_t p = r->head; p != r->tail; p = ring_next(r, p)) {
		uint32_t value = ring_at(r, p);

		if (z && value & RING_RUN) {
			mix(s, z->run[value & ~RING_RUN].lo);
			mix(s, z->run[value & ~RING_RUN].hi);
		} else {
			mix(s, value);
		}
	}
}

/* Chunks of a per-CPU list from its head; word[] is the XOR of the neighbours. */
static void hash_pcp_list(struct hash *s, const struct model *m, const struct pcp_list *l)
{
	pfn_t at = l->head, before = PFN_NONE;

	mix(s, l->nr);
	for (uint32_t n = l->nr; n; n--) {
		pfn_t next = m->map.word[at] ^ before;

		mix(s, at);
		before = at;
		at = next;
	}
}

/* ---- zones and nodes ---------------------------------------------------------------------- */

static void hash_pcp(struct hash *s, const struct model *m, const struct pcp *p)
{
	for (int i = 0; i < NR_PCP_LISTS; i++)
		hash_pcp_list(s, m, &p->list[i]);
	mix(s, (uint64_t)p->count << 32 | p->high);
	mix(s, (uint64_t)p->high_min << 32 | p->high_max);
	mix(s, (uint64_t)p->batch << 32 | p->free_count);
	mix(s, (uint64_t)p->alloc_factor << 24 | (uint64_t)p->prev_free_high_order << 16 |
		       (uint64_t)p->expire << 8 | p->remote_activity);
}

static void hash_zone(struct hash *s, const struct model *m, struct zone *z)
{
	mix(s, (uint64_t)z->start_pfn << 32 | z->end_pfn);
	mix(s, z->managed);
	for (int i = 0; i < NR_WMARK; i++)
		mix(s, z->wmark[i]);
	mix(s, z->boost);
	for (int i = 0; i < NR_ZONE_CLASSES; i++)
		mix(s, z->lowmem_reserve[i]);
	mix(s, (uint64_t)z->boosted_wake << 3 | (uint64_t)z->below_high << 2 |
		       (uint64_t)z->reclaim_active << 1 | z->blockskip_flush);
	for (unsigned order = 0; order < NR_PAGE_ORDERS; order++) {
		for (unsigned type = 0; type < NR_MIGRATETYPES; type++)
			hash_ring(s, buddy_list(z, order, (enum migratetype)type), z);
	}
	mix(s, z->nr_reserved_highatomic);
	for (uint32_t c = 0; z->pcp && c < m->nr_cpus; c++)
		hash_pcp(s, m, &z->pcp[c]);
	mix(s, (uint64_t)z->cached_migrate[0] << 32 | z->cached_migrate[1]);
	mix(s, (uint64_t)z->cached_free << 32 | z->init_migrate);
	mix(s, z->init_free);
	for (int i = 0; i < NR_DEFER_SETS; i++)
		mix(s, (uint64_t)z->defer[i].considered << 16 | (uint64_t)z->defer[i].shift << 8 |
			       (uint8_t)z->defer[i].order_failed);
	for (int i = 0; i < NR_VM_ZONE_ITEMS; i++)
		mix(s, (uint64_t)z->stat[i]);
}

static void hash_node(struct hash *s, const struct node *n)
{
	const struct kswapd *k = &n->kswapd;
	const struct kcompactd *d = &n->kcompactd;

	for (int list = 0; list < NR_LRU_LISTS; list++) {
		if (n->lru.ordered[list])
			hash_ring(s, &n->lru.list[list], NULL);
	}
	mix(s, n->lru.cost_anon);
	mix(s, n->lru.cost_file);
	mix(s,
	    (uint64_t)k->state << 40 | (uint64_t)k->phase << 32 | (uint64_t)k->pending_order << 24 |
		    (uint64_t)(uint8_t)k->pending_class << 16 | (uint64_t)k->order << 8 | k->class);
	mix(s, (uint64_t)k->alloc_order << 48 | (uint64_t)k->reclaim_order << 40 | k->failures);
	mix(s, k->boost_left);
	mix(s, (uint64_t)(uint8_t)k->sc.priority << 8 | k->sc.order);
	mix(s, k->sc.nr_reclaimed);
	mix(s, (uint64_t)d->state << 40 | (uint64_t)d->max_order << 32 | (uint64_t)d->class << 24 |
		       (uint64_t)d->round_order << 16 | (uint64_t)d->round_class << 8 |
		       (uint8_t)d->round_zone);
	mix(s, d->timeout_at);
	mix(s, (uint64_t)d->in_round << 8 | d->proactive_round);
	for (int i = 0; i < NR_VM_NODE_ITEMS; i++)
		mix(s, (uint64_t)n->stat[i]);
}

/* ---- the rest ----------------------------------------------------------------------------- */

static void hash_owners(struct hash *s, const struct model *m)
{
	for (uint32_t id = 1; id < m->own.nr_regions; id++) {
		const struct region *r = &m->own.region[id];
		uint64_t left = r->nr_pages;

		if (r->kind == REGION_FREE)
			continue;
		mix(s, (uint64_t)id << 32 | (uint64_t)r->kind << 16 | (uint64_t)r->advice << 8 |
			       r->mlocked);
		mix(s, (uint64_t)r->first_slot << 32 | r->nr_slots);
		mix(s, r->nr_pages);
		mix(s, r->nr_huge);
		mix(s, r->next_slot);
		/* Owned pages were hashed with their slots; swap marks are all that is left to say.
		 */
		for (uint32_t i = 0; m->swap_used && left && i < r->nr_slots; i++)
			mix(s, m->own.pfn[r->first_slot + i]);
	}
	for (uint32_t i = 1; i < m->pins.nr_sets; i++) {
		const struct pin_set *p = &m->pins.set[i];

		mix(s, (uint64_t)p->region.v << 32 | p->times);
		mix(s, (uint64_t)p->first_slot << 32 | p->nr_slots);
	}
}

static void hash_clock(struct hash *s, const struct model *m)
{
	const struct clock *c = &m->clock;

	mix(s, c->now);
	mix(s, c->psi_some_ns);
	mix(s, c->psi_full_ns);
	for (uint32_t i = 0; i < c->nr_actors; i++)
		mix(s, c->actor[i].time);
	for (uint32_t i = 0; i < m->nr_cpus; i++) {
		mix(s, m->cpu[i].busy_until);
		mix(s, m->cpu[i].owed_ns);
		for (unsigned k = 0; k < m->cpu[i].lru_add.nr; k++)
			mix(s, m->cpu[i].lru_add.folio[k]);
	}
	for (uint32_t t = 1; t < m->nr_tasks; t++) {
		mix(s, (uint64_t)m->task[t].alive << 32 | m->task[t].interleave_prev);
		mix(s, m->task[t].rss_pages);
	}
}

static void hash_settings(struct hash *s, const struct model *m)
{
	mix(s, m->sysctl.min_free_kbytes);
	mix(s, (uint64_t)m->sysctl.watermark_scale_factor << 32 | m->sysctl.watermark_boost_factor);
	mix(s, (uint64_t)m->sysctl.compaction_proactiveness << 32 | m->sysctl.extfrag_threshold);
	mix(s, (uint64_t)m->sysctl.defrag_mode << 8 | m->sysctl.compact_unevictable_allowed);
	mix(s,
	    (uint64_t)m->thp.enabled << 16 | (uint64_t)m->thp.defrag << 8 | m->thp.shmem_enabled);
	for (int i = 0; i <= PMD_ORDER; i++)
		mix(s, m->thp.size[i]);
	for (int i = 0; i < NR_RNG_STREAMS; i++) {
		for (int k = 0; k < 4; k++)
			mix(s, m->rng[i].s[k]);
	}
}

uint64_t model_state_hash(struct model *m)
{
	struct hash s = {0};

	mix(&s, m->config.profile);
	hash_settings(&s, m);
	hash_pages(&s, m);
	for (uint32_t i = 0; i < m->nr_zones; i++)
		hash_zone(&s, m, &m->zone[i]);
	for (unsigned i = 0; i < m->nr_nodes; i++)
		hash_node(&s, &m->node[i]);
	hash_owners(&s, m);
	hash_clock(&s, m);
	for (uint32_t i = 0; i < m->nr_slab_caches; i++)
		mix(&s, m->slab[i].live << 32 | m->slab[i].freeable);
	mix(&s, m->swap_used);
	mix(&s, m->huge_zero);
	for (int i = 0; i < NR_VM_GLOBAL_ITEMS; i++)
		mix(&s, (uint64_t)m->stat[i]);
	return s.h;
}
