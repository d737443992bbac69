/* SPDX-License-Identifier: MIT */
/*
 * lru.c - LRU lists of a node and LRU-add batches of a CPU; see lru.h.
 */
#include "model/lru.h"

int lru_init(struct model *m)
{
	NOT_YET(m);
}

enum lru_list lru_list_of(const struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_add(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_drain_local(struct model *m)
{
	NOT_YET(m);
}

void lru_drain_all(struct model *m)
{
	NOT_YET(m);
}

bool lru_del(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

bool lru_isolate(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_putback(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_isolated_gone(struct model *m, pfn_t head, unsigned order)
{
	NOT_YET(m, head, order);
}

void lru_mark_accessed(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_activate(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_deactivate(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_mlock(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

void lru_munlock(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

pfn_t lru_tail(struct model *m, struct node *n, enum lru_list list)
{
	NOT_YET(m, n, list);
}

void lru_order_anon(struct model *m)
{
	NOT_YET(m);
}

bool lru_node_is_valid(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}
