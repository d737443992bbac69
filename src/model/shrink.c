/* SPDX-License-Identifier: MIT */
/*
 * shrink.c - one reclaim pass over a node, in rounds of 32 folios; see reclaim.h.
 */
#include "model/reclaim.h"

#include "model/clock.h"
#include "model/compact.h"
#include "model/filemap.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/migrate.h"
#include "model/slab.h"
#include "model/thp.h"
#include "model/watermark.h"

#define DEACTIVATE_ANON 1u
#define DEACTIVATE_FILE 2u

/* ---- sizes -------------------------------------------------------------------------------- */

static bool shrink_may_swap(const struct model *m)
{
	return m->swap_used < m->swap_pages;
}

static int64_t node_stat(const struct node *n, enum vmstat_item item)
{
	return n->stat[item - VM_NODE_FIRST];
}

/* Pages of a list in the zones up to a class. Mirrors lruvec_lru_size(). */
static uint64_t shrink_lru_size(const struct model *m, const struct node *n, unsigned list,
				enum zone_class class)
{
	uint64_t pages = 0;

	for (unsigned k = 0; k <= class; k++) {
		if (n->zone[k].v != ZONE_NONE.v)
			pages += (uint64_t)m->zone[n->zone[k].v]
					 .stat[VM_NR_ZONE_INACTIVE_ANON + list];
	}
	return pages;
}

static uint64_t isqrt(uint64_t x)
{
	uint64_t root = 0;

	for (uint64_t bit = 1ull << 31; bit; bit >>= 1) {
		if ((root + bit) * (root + bit) <= x)
			root += bit;
	}
	return root;
}

/* Mirrors inactive_is_low(). */
static bool shrink_inactive_is_low(const struct node *n, unsigned inactive_list)
{
	uint64_t inactive = (uint64_t)node_stat(n, VM_NR_INACTIVE_ANON + inactive_list);
	uint64_t active = (uint64_t)node_stat(n, VM_NR_INACTIVE_ANON + inactive_list + 1);
	uint64_t gb = (inactive + active) >> (30 - PAGE_SHIFT);
	uint64_t ratio = gb ? isqrt(10 * gb) : 1;

	return inactive * ratio < active;
}

void shrink_snapshot_refaults(struct node *n)
{
	n->lru.refault_seen_anon = node_stat(n, VM_WORKINGSET_ACTIVATE_ANON);
	n->lru.refault_seen_file = node_stat(n, VM_WORKINGSET_ACTIVATE_FILE);
}

/* ---- what to scan ------------------------------------------------------------------------- */

/* Mirrors the first half of prepare_scan_control(). */
static uint8_t shrink_deactivation(const struct node *n, const struct scan_control *sc)
{
	uint8_t may = 0;

	if (sc->force_deactivate)
		return DEACTIVATE_ANON | DEACTIVATE_FILE;
	if (node_stat(n, VM_WORKINGSET_ACTIVATE_ANON) != n->lru.refault_seen_anon ||
	    shrink_inactive_is_low(n, LRU_INACTIVE_ANON))
		may |= DEACTIVATE_ANON;
	if (node_stat(n, VM_WORKINGSET_ACTIVATE_FILE) != n->lru.refault_seen_file ||
	    shrink_inactive_is_low(n, LRU_INACTIVE_FILE))
		may |= DEACTIVATE_FILE;
	return may;
}

/* Mirrors the second half: so little cache is left that anonymous memory must do. */
static bool shrink_file_is_tiny(const struct model *m, const struct node *n,
				const struct scan_control *sc)
{
	uint64_t free = 0, high = 0;
	uint64_t file =
		(uint64_t)(node_stat(n, VM_NR_ACTIVE_FILE) + node_stat(n, VM_NR_INACTIVE_FILE));
	uint64_t anon = (uint64_t)node_stat(n, VM_NR_INACTIVE_ANON);

	for (unsigned k = 0; k < NR_ZONE_CLASSES; k++) {
		const struct zone *z;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		free += (uint64_t)zone_free_pages(z);
		if (z->managed)
			high += zone_wmark(z, WMARK_HIGH);
	}
	return file + free <= high && !(sc->may_deactivate & DEACTIVATE_ANON) &&
	       anon >> sc->priority;
}

/* Mirrors get_scan_count(). */
static void shrink_targets(const struct model *m, const struct node *n, struct scan_control *sc)
{
	uint64_t inactive_file = shrink_lru_size(m, n, LRU_INACTIVE_FILE, sc->class);
	uint64_t swappiness = m->sysctl.swappiness;
	uint64_t fraction[2] = {1, 1}, whole = 1;

	if (!sc->may_swap || !shrink_may_swap(m)) {
		fraction[0] = 0;
	} else if (sc->priority == 0 && swappiness) {
		/* both in full */
	} else if (shrink_file_is_tiny(m, n, sc)) {
		fraction[1] = 0;
	} else if (inactive_file >> sc->priority && !(sc->may_deactivate & DEACTIVATE_FILE)) {
		fraction[0] = 0;
	} else {
		uint64_t total = n->lru.cost_anon + n->lru.cost_file;
		uint64_t anon = total + n->lru.cost_anon, file = total + n->lru.cost_file;

		total = anon + file;
		fraction[0] = swappiness * (total + 1) / (anon + 1);
		fraction[1] = (200 - swappiness) * (total + 1) / (file + 1);
		whole = fraction[0] + fraction[1];
	}
	for (unsigned list = 0; list < LRU_UNEVICTABLE; list++) {
		uint64_t scan = shrink_lru_size(m, n, list, sc->class) >> sc->priority;

		sc->nr[list] = sc->targets[list] =
			scan * fraction[list >= LRU_INACTIVE_FILE] / whole;
	}
}

void shrink_begin(struct model *m, struct scan_control *sc, struct node *n)
{
	check(!sc->in_pass);
	sc->node = n;
	sc->in_pass = true;
	sc->pass_start_reclaimed = sc->nr_reclaimed;
	sc->nr_dirty_met = 0;
	sc->nr_file_taken = 0;
	sc->may_deactivate = shrink_deactivation(n, sc);
	shrink_targets(m, n, sc);
}

/* ---- folios ------------------------------------------------------------------------------- */

/* Takes up to `want` pages off the tail of a list. Mirrors isolate_lru_folios(); pages scanned. */
static uint64_t shrink_isolate(struct model *m, struct scan_control *sc, enum lru_list list,
			       uint64_t want, pfn_t *taken, unsigned *nr)
{
	struct node *n = sc->node;
	uint32_t live = n->lru.list[list].live;
	uint64_t scan = 0, total = 0;

	*nr = 0;
	while (scan < want && live--) {
		pfn_t head = lru_tail(m, n, list);
		unsigned order = PG_ORDER(m->map.state[head]);
		const struct zone *z = zone_of(m, head);

		total += 1u << order;
		if (z->class > sc->class) {
			stat_event(m, VM_PGSKIP(z->class), 1 << order);
			must(lru_isolate(m, head));
			lru_putback(m, head);
			continue;
		}
		scan += 1u << order;
		must(lru_isolate(m, head));
		taken[(*nr)++] = head;
	}
	return total;
}

/* Mirrors lru_note_cost(). */
static void shrink_note_cost(struct node *n, bool file, uint64_t io, uint64_t rotated)
{
	uint64_t size = 0;

	*(file ? &n->lru.cost_file : &n->lru.cost_anon) += io * SWAP_CLUSTER_MAX + rotated;
	for (unsigned list = 0; list < LRU_UNEVICTABLE; list++)
		size += (uint64_t)node_stat(n, VM_NR_INACTIVE_ANON + list);
	if (n->lru.cost_anon + n->lru.cost_file > size / 4) {
		n->lru.cost_anon /= 2;
		n->lru.cost_file /= 2;
	}
}

enum fate { FATE_KEEP, FATE_ACTIVATE, FATE_FREE };

/* Mirrors folio_check_references(). */
static enum fate shrink_references(struct model *m, pfn_t head, bool *clean_only)
{
	uint8_t flags = m->map.flag[head];

	*clean_only = false;
	memmap_flag_clear(m, head, PGF_YOUNG | PGF_REFERENCED);
	if (flags & PGF_YOUNG) {
		memmap_flag_set(m, head, PGF_REFERENCED);
		return flags & PGF_REFERENCED ? FATE_ACTIVATE : FATE_KEEP;
	}
	*clean_only = flags & PGF_REFERENCED && PG_KIND(m->map.state[head]) == PG_FILE;
	return FATE_FREE;
}

static enum fate shrink_dirty(struct model *m, struct scan_control *sc, pfn_t head)
{
	int64_t pages = 1 << PG_ORDER(m->map.state[head]);

	if (m->profile->kswapd_writes_dirty && sc->is_kswapd && sc->node->dirty_flagged &&
	    sc->may_write) {
		stat_node(sc->node, VM_NR_VMSCAN_WRITE, pages);
		filemap_clean(m, head);
		return FATE_KEEP; /* freed on a later round, when the write is over */
	}
	stat_node(sc->node, VM_NR_VMSCAN_IMMEDIATE_RECLAIM, pages);
	return FATE_ACTIVATE;
}

/* One isolated folio of an inactive list. Mirrors the body of shrink_folio_list(). */
static enum fate shrink_judge(struct model *m, struct scan_control *sc, pfn_t head)
{
	bool file = PG_KIND(m->map.state[head]) == PG_FILE, clean_only;
	enum fate fate;

	if (m->map.flag[head] & PGF_UNEVICTABLE)
		return FATE_KEEP;
	if (m->map.flag[head] & PGF_DIRTY && file)
		sc->nr_dirty_met += 1u << PG_ORDER(m->map.state[head]);
	if (m->map.flag[head] & PGF_WRITEBACK)
		return FATE_ACTIVATE;
	fate = shrink_references(m, head, &clean_only);
	if (fate != FATE_FREE)
		return fate;
	if (migrate_has_extra_refs(m, head))
		return FATE_KEEP;
	if (!file) {
		if (!(sc->gfp & __GFP_IO) || !sc->may_swap)
			return FATE_KEEP;
		return shrink_may_swap(m) ? FATE_FREE : FATE_ACTIVATE;
	}
	if (m->map.flag[head] & PGF_DIRTY)
		return clean_only ? FATE_KEEP : shrink_dirty(m, sc, head);
	return FATE_FREE;
}

/* Mirrors reclaimer_offset(): in whose name pages are scanned and freed. */
static enum vmstat_item shrink_reclaimer(const struct model *m, const struct scan_control *sc)
{
	if (sc->is_kswapd)
		return VM_PGSCAN_KSWAPD;
	return clock_is_khugepaged(m) ? VM_PGSCAN_KHUGEPAGED : VM_PGSCAN_DIRECT;
}

static void shrink_put_active(struct model *m, pfn_t head)
{
	memmap_flag_set(m, head, PGF_ACTIVE);
	stat_event(m, VM_PGACTIVATE, 1 << PG_ORDER(m->map.state[head]));
	lru_putback(m, head);
}

/* Frees a folio, which goes to swap if it is anonymous: whole, or in pieces as far as there is
 * room. Pages freed. */
static uint64_t shrink_free(struct model *m, pfn_t head, bool file)
{
	unsigned order = PG_ORDER(m->map.state[head]);
	uint64_t freed = 0;

	if (file || m->swap_pages - m->swap_used >= 1u << order) {
		reclaim_free_folio(m, head);
		return 1ull << order;
	}
	if (order == PMD_ORDER)
		stat_event(m, VM_THP_SWPOUT_FALLBACK, 1);
	must(thp_split(m, head) == 0); /* a folio with extra references does not come here */
	for (uint32_t i = 0; i < 1u << order; i++) {
		/* Parts that nobody maps any more were freed by the split. */
		if (!(KINDS_LRU >> PG_KIND(m->map.state[head + i]) & 1))
			continue;
		if (shrink_may_swap(m)) {
			reclaim_free_folio(m, head + i);
			freed++;
		} else {
			shrink_put_active(m, head + i);
		}
	}
	return freed;
}

/* Mirrors shrink_inactive_list(). Pages freed. */
static uint64_t shrink_inactive(struct model *m, struct scan_control *sc, enum lru_list list,
				uint64_t want)
{
	struct node *n = sc->node;
	bool file = list >= LRU_INACTIVE_FILE;
	enum vmstat_item reclaimer = shrink_reclaimer(m, sc);
	pfn_t taken[SWAP_CLUSTER_MAX];
	unsigned nr;
	uint64_t scanned, freed = 0, pages_taken = 0, swapped = 0;

	lru_drain_local(m);
	scanned = shrink_isolate(m, sc, list, want, taken, &nr);
	stat_node(n, reclaimer, (int64_t)scanned);
	stat_node(n, file ? VM_PGSCAN_FILE : VM_PGSCAN_ANON, (int64_t)scanned);
	clock_charge(m, COST_RECLAIM_SCAN, nr);
	for (unsigned i = 0; i < nr; i++) {
		pfn_t head = taken[i];
		uint64_t pages = 1ull << PG_ORDER(m->map.state[head]);

		pages_taken += pages;
		switch (shrink_judge(m, sc, head)) {
		case FATE_FREE:
			pages = shrink_free(m, head, file);
			swapped += file ? 0 : pages;
			freed += pages;
			break;
		case FATE_ACTIVATE:
			shrink_put_active(m, head);
			break;
		case FATE_KEEP:
			lru_putback(m, head);
			break;
		}
	}
	sc->nr_file_taken += file ? pages_taken : 0;
	sc->nr_scanned += scanned;
	stat_node(n, (enum vmstat_item)(reclaimer - VM_PGSCAN_KSWAPD + VM_PGSTEAL_KSWAPD),
		  (int64_t)freed);
	stat_node(n, file ? VM_PGSTEAL_FILE : VM_PGSTEAL_ANON, (int64_t)freed);
	if (nr)
		shrink_note_cost(n, file, swapped, scanned - freed);
	return freed;
}

/* Mirrors shrink_active_list(). */
static void shrink_active(struct model *m, struct scan_control *sc, enum lru_list list,
			  uint64_t want)
{
	pfn_t taken[SWAP_CLUSTER_MAX];
	unsigned nr;
	uint64_t scanned;

	lru_drain_local(m);
	scanned = shrink_isolate(m, sc, list, want, taken, &nr);
	stat_node(sc->node, VM_PGREFILL, (int64_t)scanned);
	clock_charge(m, COST_RECLAIM_SCAN, nr);
	for (unsigned i = 0; i < nr; i++) {
		int64_t pages = 1 << PG_ORDER(m->map.state[taken[i]]);

		if (!(m->map.flag[taken[i]] & PGF_UNEVICTABLE)) {
			memmap_flag_clear(m, taken[i], PGF_ACTIVE | PGF_YOUNG);
			stat_event(m, VM_PGDEACTIVATE, pages);
		}
		lru_putback(m, taken[i]);
	}
	if (nr)
		shrink_note_cost(sc->node, list >= LRU_INACTIVE_FILE, 0, 0);
}

/* ---- rounds ------------------------------------------------------------------------------- */

static void shrink_list(struct model *m, struct scan_control *sc, enum lru_list list, uint64_t want)
{
	bool file = list >= LRU_INACTIVE_FILE;

	if (list != LRU_ACTIVE_ANON && list != LRU_ACTIVE_FILE)
		sc->nr_reclaimed += shrink_inactive(m, sc, list, want);
	else if (sc->may_deactivate & (file ? DEACTIVATE_FILE : DEACTIVATE_ANON))
		shrink_active(m, sc, list, want);
	else
		sc->skipped_deactivate = true;
}

/* Enough was freed: the smaller remainder is dropped, the other cut to the same share. */
static bool shrink_adjust(struct scan_control *sc)
{
	uint64_t file = sc->nr[LRU_INACTIVE_FILE] + sc->nr[LRU_ACTIVE_FILE];
	uint64_t anon = sc->nr[LRU_INACTIVE_ANON] + sc->nr[LRU_ACTIVE_ANON];
	unsigned drop = file > anon ? LRU_INACTIVE_ANON : LRU_INACTIVE_FILE;
	unsigned keep = file > anon ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;
	uint64_t percent;

	if (file == 0 || anon == 0)
		return false;
	percent =
		(file > anon ? anon : file) * 100 / (sc->targets[drop] + sc->targets[drop + 1] + 1);
	sc->nr[drop] = sc->nr[drop + 1] = 0;
	for (unsigned list = keep; list <= keep + 1; list++) {
		uint64_t scanned = sc->targets[list] - sc->nr[list];
		uint64_t left = sc->targets[list] * (100 - percent) / 100;

		sc->nr[list] = left > scanned ? left - scanned : 0;
	}
	return true;
}

bool shrink_step(struct model *m, struct scan_control *sc)
{
	bool finish_all = !sc->is_kswapd && sc->priority == DEF_PRIORITY;

	check(sc->in_pass);
	if (!(sc->nr[LRU_INACTIVE_ANON] || sc->nr[LRU_ACTIVE_FILE] || sc->nr[LRU_INACTIVE_FILE]))
		return false;
	clock_charge(m, COST_SHRINK_ROUND, 1);
	for (unsigned list = 0; list < LRU_UNEVICTABLE; list++) {
		uint64_t want = sc->nr[list] < SWAP_CLUSTER_MAX ? sc->nr[list] : SWAP_CLUSTER_MAX;

		if (want == 0)
			continue;
		sc->nr[list] -= want;
		shrink_list(m, sc, (enum lru_list)list, want);
	}
	if (sc->nr_reclaimed - sc->pass_start_reclaimed < sc->nr_to_reclaim || finish_all)
		return true;
	return shrink_adjust(sc);
}

/* Mirrors should_continue_reclaim(). */
static bool shrink_should_continue(struct model *m, struct scan_control *sc, uint64_t freed)
{
	struct node *n = sc->node;
	uint64_t inactive;

	if (!(sc->gfp & __GFP_IO) || sc->order == 0 ||
	    (sc->order <= PAGE_ALLOC_COSTLY_ORDER && sc->priority >= DEF_PRIORITY - 2))
		return false;
	if (freed == 0)
		return false;
	for (unsigned k = 0; k <= sc->class; k++) {
		struct zone *z;
		uint64_t min;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		min = zone_wmark(z, WMARK_MIN);
		if (z->managed == 0)
			continue;
		if (watermark_ok(z, sc->order, min, sc->class, 0, zone_free_pages(z)) ||
		    compact_suitable(m, z, sc->order, min, sc->class))
			return false;
	}
	inactive = (uint64_t)node_stat(n, VM_NR_INACTIVE_FILE);
	if (shrink_may_swap(m))
		inactive += (uint64_t)node_stat(n, VM_NR_INACTIVE_ANON);
	return inactive > compact_gap(m, sc->order);
}

/* Mirrors the deferred-split shrinker, whose objects cost two seeks. */
static void shrink_deferred_splits(struct model *m, struct scan_control *sc)
{
	uint64_t delta = 4 * (m->nr_deferred_splits >> sc->priority) / 2;

	if (delta)
		(void)thp_split_deferred(m, sc->node, delta);
}

bool shrink_end(struct model *m, struct scan_control *sc)
{
	struct node *n = sc->node;
	uint64_t freed;

	check(sc->in_pass);
	sc->in_pass = false;
	/* The anonymous lists age even when nothing of them was scanned. */
	if (m->swap_pages && shrink_inactive_is_low(n, LRU_INACTIVE_ANON))
		shrink_active(m, sc, LRU_ACTIVE_ANON, SWAP_CLUSTER_MAX);
	shrink_deferred_splits(m, sc);
	sc->slab_reclaimed = slab_shrink(m, sc, n);
	sc->nr_reclaimed += sc->slab_reclaimed;
	freed = sc->nr_reclaimed - sc->pass_start_reclaimed;
	if (sc->is_kswapd && sc->nr_dirty_met && sc->nr_dirty_met == sc->nr_file_taken)
		n->dirty_flagged = true;
	if (freed)
		kswapd_progress(m, n, sc->order, sc->class);
	return shrink_should_continue(m, sc, freed);
}

void shrink_node(struct model *m, struct scan_control *sc, struct node *n)
{
	do {
		shrink_begin(m, sc, n);
		while (shrink_step(m, sc))
			clock_point(m);
	} while (shrink_end(m, sc));
	clock_point(m);
}
