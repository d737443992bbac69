/* SPDX-License-Identifier: MIT */
/*
 * lru.h - the five lists of a node and the CPUs' LRU-add batches.
 *
 * PGF_LRU is set exactly while a folio is counted on a list. All gauges nr_{in,}active_{anon,file},
 * nr_unevictable and their nr_zone_* twins change here and nowhere else.
 */
#ifndef COMPACTLAB_MODEL_LRU_H
#define COMPACTLAB_MODEL_LRU_H

#include "model/types.h"

int lru_init(struct model *m) MUST_USE;
/* Mirrors folio_lru_list(): the list an owned folio belongs to by its flags and kind. */
static inline enum lru_list lru_list_of(const struct model *m, pfn_t head)
{
	uint8_t flags = m->map.flag[head];
	/* Shared memory is backed by swap, so it lives with the anonymous pages. */
	unsigned base =
		PG_KIND(m->map.state[head]) == PG_FILE ? LRU_INACTIVE_FILE : LRU_INACTIVE_ANON;

	if (flags & PGF_UNEVICTABLE)
		return LRU_UNEVICTABLE;
	return (enum lru_list)(base + !!(flags & PGF_ACTIVE));
}

/* Mirrors folio_add_lru(): into the CPU's batch, flushed when full or when the folio is large. */
void lru_add(struct model *m, pfn_t head);
/* Mirrors lru_add_drain() / lru_add_drain_all(). */
void lru_drain_local(struct model *m);
void lru_drain_all(struct model *m);
/* Takes a folio off its list (or out of a batch): isolation and freeing. False: not on a list and not in a
 * batch of this CPU (row "LRU bit already taken"). Does not count nr_isolated_*. */
bool lru_del(struct model *m, pfn_t head) MUST_USE;
/* lru_del() and nr_isolated_* up; mirrors folio_isolate_lru() of compaction and reclaim. */
bool lru_isolate(struct model *m, pfn_t head) MUST_USE;
/* Head of its list again, nr_isolated_* down. Mirrors folio_putback_lru(). */
void lru_putback(struct model *m, pfn_t head);
/* nr_isolated_* down without putting back: the folio will be freed or was replaced. Called while `head` is
 * still owned, before owner_detach() or owner_move(). */
void lru_isolated_gone(struct model *m, pfn_t head, unsigned order);
/* Like lru_del(), for a folio that is about to be freed: also out of another CPU's batch. */
void lru_forget(struct model *m, pfn_t head);

/* Mirrors folio_mark_accessed() and folio_activate(). */
void lru_mark_accessed(struct model *m, pfn_t head);
void lru_activate(struct model *m, pfn_t head);
/* Mirrors mlock_folio() / munlock_folio(): to and from the unevictable list, counters included. */
void lru_mlock(struct model *m, pfn_t head);
void lru_munlock(struct model *m, pfn_t head);

/* Oldest folio of an ordered list (its tail), PFN_NONE when empty. For reclaim. */
pfn_t lru_tail(struct model *m, struct node *n, enum lru_list list);
bool lru_node_is_valid(struct model *m, struct node *n);

#endif
