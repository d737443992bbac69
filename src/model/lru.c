/* SPDX-License-Identifier: MIT */
/*
 * lru.c - LRU lists of a node and LRU-add batches of a CPU; see lru.h.
 */
#include "model/lru.h"

#include <errno.h>
#include <string.h>

#include "model/arena.h"
#include "model/memmap.h"
#include "model/owner.h"

/* ---- set-up ------------------------------------------------------------------------------- */

static int lru_make_ring(struct model *m, struct node *n, enum lru_list list)
{
	uint32_t cap = RING_MIN_CAP;
	uint32_t *cells;

	while (cap < 2 * n->present)
		cap *= 2;
	cells = arena_reserve(m->arena, (size_t)cap * sizeof(*cells));
	if (!cells)
		return -ENOMEM;
	ring_init(&n->lru.list[list], cells, cap);
	n->lru.ordered[list] = true;
	return 0;
}

int lru_init(struct model *m)
{
	m->swap_pages = m->config.swap_mib * 256;
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		struct node *n = &m->node[i];
		int err;

		if (n->present == 0)
			continue;
		for (int list = m->swap_pages ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
		     list <= LRU_ACTIVE_FILE; list++) {
			err = lru_make_ring(m, n, (enum lru_list)list);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- one folio on or off a list ----------------------------------------------------------- */

static void lru_moved(void *ctx, uint32_t slot, uint32_t pos)
{
	struct model *m = ctx;

	m->map.word[m->own.pfn[slot] & SLOT_PFN_MASK] = pos;
}

static inline void lru_gauges(struct zone *z, struct node *n, enum lru_list list, int64_t pages)
{
	stat_zone(z, (enum vmstat_item)(VM_NR_ZONE_INACTIVE_ANON + list), pages);
	stat_node(n, (enum vmstat_item)(VM_NR_INACTIVE_ANON + list), pages);
}

static inline unsigned lru_order(const struct model *m, pfn_t head)
{
	return PG_ORDER(m->map.state[head]);
}

/* Mirrors lruvec_add_folio(). */
static void lru_link(struct model *m, pfn_t head)
{
	struct zone *z = zone_of(m, head);
	struct node *n = &m->node[z->node.v];
	enum lru_list list = lru_list_of(m, head);

	if (n->lru.ordered[list]) {
		struct ring *r = &n->lru.list[list];

		m->map.word[head] = ring_push_head(r, m->map.word[head], lru_moved, m);
	}
	lru_gauges(z, n, list, 1 << lru_order(m, head));
	memmap_lru_on(m, head);
}

static void lru_unlink(struct model *m, pfn_t head)
{
	struct zone *z = zone_of(m, head);
	struct node *n = &m->node[z->node.v];
	enum lru_list list = lru_list_of(m, head);

	if (n->lru.ordered[list]) {
		struct ring *r = &n->lru.list[list];
		uint32_t pos = m->map.word[head];

		m->map.word[head] = ring_at(r, pos);
		ring_remove(r, pos);
	}
	memmap_lru_off(m, head);
	lru_gauges(z, n, list, -(1 << lru_order(m, head)));
}

/* ---- adding ------------------------------------------------------------------------------- */

static void lru_flush(struct model *m, struct lru_batch *b)
{
	for (unsigned i = 0; i < b->nr; i++)
		lru_link(m, b->folio[i]);
	b->nr = 0;
}

void lru_add(struct model *m, pfn_t head)
{
	struct lru_batch *b;

	if (!m->config.lru_batches) {
		lru_link(m, head);
		return;
	}
	b = &m->cpu[m->ctx.cpu.v].lru_add;
	b->folio[b->nr++] = head;
	if (b->nr == LRU_BATCH || lru_order(m, head) > 0)
		lru_flush(m, b);
}

void lru_drain_local(struct model *m)
{
	lru_flush(m, &m->cpu[m->ctx.cpu.v].lru_add);
}

void lru_drain_all(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_cpus; i++)
		lru_flush(m, &m->cpu[i].lru_add);
}

static bool lru_batch_remove(struct lru_batch *b, pfn_t head)
{
	for (unsigned i = 0; i < b->nr; i++) {
		if (b->folio[i] != head)
			continue;
		memmove(&b->folio[i], &b->folio[i + 1], (b->nr - i - 1u) * sizeof(b->folio[0]));
		b->nr--;
		return true;
	}
	return false;
}

bool lru_del(struct model *m, pfn_t head)
{
	if (m->map.flag[head] & PGF_LRU) {
		lru_unlink(m, head);
		return true;
	}
	return lru_batch_remove(&m->cpu[m->ctx.cpu.v].lru_add, head);
}

void lru_forget(struct model *m, pfn_t head)
{
	bool found = m->map.flag[head] & PGF_LRU;

	if (found)
		lru_unlink(m, head);
	for (uint32_t i = 0; !found && i < m->nr_cpus; i++)
		found = lru_batch_remove(&m->cpu[i].lru_add, head);
	/* Mirrors the clean-up of an mlocked page that is freed. */
	if (m->map.flag[head] & PGF_UNEVICTABLE) {
		int64_t pages = 1 << lru_order(m, head);

		stat_zone(zone_of(m, head), VM_NR_MLOCK, -pages);
		stat_event(m, VM_UNEVICTABLE_PGS_CLEARED, pages);
	}
}

/* ---- isolation ---------------------------------------------------------------------------- */

static void lru_isolated(struct model *m, pfn_t head, unsigned order, int sign)
{
	struct node *n = &m->node[zone_of(m, head)->node.v];
	bool file = PG_KIND(m->map.state[head]) == PG_FILE;

	check(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1);
	stat_node(n, file ? VM_NR_ISOLATED_FILE : VM_NR_ISOLATED_ANON, sign * (1 << order));
}

bool lru_isolate(struct model *m, pfn_t head)
{
	if (!(m->map.flag[head] & PGF_LRU))
		return false;
	lru_unlink(m, head);
	lru_isolated(m, head, lru_order(m, head), 1);
	return true;
}

void lru_putback(struct model *m, pfn_t head)
{
	lru_isolated(m, head, lru_order(m, head), -1);
	lru_link(m, head);
}

void lru_isolated_gone(struct model *m, pfn_t head, unsigned order)
{
	lru_isolated(m, head, order, -1);
}

/* ---- moving between lists ----------------------------------------------------------------- */

/* Takes the folio off its list, changes flags, and puts it at the head of the list it then belongs
 * to. A folio that is isolated or in a batch gets there later. */
static void lru_change(struct model *m, pfn_t head, uint8_t set, uint8_t clear)
{
	bool on = m->map.flag[head] & PGF_LRU;

	if (on)
		lru_unlink(m, head);
	memmap_flag_clear(m, head, clear);
	memmap_flag_set(m, head, set);
	if (on)
		lru_link(m, head);
}

void lru_mark_accessed(struct model *m, pfn_t head)
{
	uint8_t flags = m->map.flag[head];

	if (!(flags & PGF_REFERENCED)) {
		memmap_flag_set(m, head, PGF_REFERENCED);
	} else if (!(flags & (PGF_UNEVICTABLE | PGF_ACTIVE))) {
		lru_activate(m, head);
		memmap_flag_clear(m, head, PGF_REFERENCED);
	}
}

void lru_activate(struct model *m, pfn_t head)
{
	if (m->map.flag[head] & (PGF_ACTIVE | PGF_UNEVICTABLE))
		return;
	/* Counted for folios on a list only, as the kernel's batches do. */
	if (m->map.flag[head] & PGF_LRU)
		stat_event(m, VM_PGACTIVATE, 1 << lru_order(m, head));
	lru_change(m, head, PGF_ACTIVE, 0);
}

void lru_mlock(struct model *m, pfn_t head)
{
	int64_t pages = 1 << lru_order(m, head);
	bool on = m->map.flag[head] & PGF_LRU;

	if (m->map.flag[head] & PGF_UNEVICTABLE)
		return;
	lru_change(m, head, PGF_UNEVICTABLE, PGF_ACTIVE);
	stat_zone(zone_of(m, head), VM_NR_MLOCK, pages);
	stat_event(m, VM_UNEVICTABLE_PGS_MLOCKED, pages);
	if (on)
		stat_event(m, VM_UNEVICTABLE_PGS_CULLED, pages);
}

void lru_munlock(struct model *m, pfn_t head)
{
	int64_t pages = 1 << lru_order(m, head);

	if (!(m->map.flag[head] & PGF_UNEVICTABLE))
		return;
	if (m->map.flag[head] & PGF_LRU)
		stat_event(m, VM_UNEVICTABLE_PGS_RESCUED, pages);
	lru_change(m, head, 0, PGF_UNEVICTABLE);
	stat_zone(zone_of(m, head), VM_NR_MLOCK, -pages);
	stat_event(m, VM_UNEVICTABLE_PGS_MUNLOCKED, pages);
}

/* ---- looking ------------------------------------------------------------------------------ */

pfn_t lru_tail(struct model *m, struct node *n, enum lru_list list)
{
	const struct ring *r = &n->lru.list[list];

	check(n->lru.ordered[list]);
	if (ring_is_empty(r))
		return PFN_NONE;
	return m->own.pfn[ring_at(r, r->tail - 1)] & SLOT_PFN_MASK;
}

static bool lru_ring_is_valid(const struct model *m, const struct node *n, enum lru_list list)
{
	const struct ring *r = &n->lru.list[list];
	int64_t pages = 0;

	if (!ring_is_valid(r))
		return false;
	for (uint32_t p = r->head; p != r->tail; p = ring_next(r, p)) {
		pfn_t head = m->own.pfn[ring_at(r, p)] & SLOT_PFN_MASK;

		if (!(KINDS_LRU >> PG_KIND(m->map.state[head]) & 1) ||
		    !(m->map.flag[head] & PGF_LRU) || lru_list_of(m, head) != list ||
		    m->map.word[head] != p)
			return false;
		pages += 1 << lru_order(m, head);
	}
	return pages == n->stat[VM_NR_INACTIVE_ANON + list - VM_NODE_FIRST];
}

bool lru_node_is_valid(struct model *m, struct node *n)
{
	int64_t zones[NR_LRU_LISTS] = {0};

	for (int k = 0; k < NR_ZONE_CLASSES; k++) {
		const struct zone *z;
		int64_t found[NR_LRU_LISTS] = {0};

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		for (uint32_t b = block_of(z->start_pfn).v; b <= block_of(z->end_pfn - 1).v; b++) {
			if (m->map.block[b].nr_lru == 0)
				continue;
			for (pfn_t p = b * PAGEBLOCK_PAGES; p < (b + 1) * PAGEBLOCK_PAGES; p++) {
				if ((KINDS_LRU >> PG_KIND(m->map.state[p]) & 1) &&
				    m->map.flag[p] & PGF_LRU)
					found[lru_list_of(m, p)] += 1 << lru_order(m, p);
			}
		}
		for (int list = 0; list < NR_LRU_LISTS; list++) {
			if (found[list] != z->stat[VM_NR_ZONE_INACTIVE_ANON + list])
				return false;
			zones[list] += found[list];
		}
	}
	for (int list = 0; list < NR_LRU_LISTS; list++) {
		if (zones[list] != n->stat[VM_NR_INACTIVE_ANON + list - VM_NODE_FIRST])
			return false;
		if (n->lru.ordered[list] && !lru_ring_is_valid(m, n, (enum lru_list)list))
			return false;
	}
	return true;
}
