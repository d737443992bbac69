/* SPDX-License-Identifier: MIT */
/*
 * pcp.h - per-CPU lists. The only module that knows their sizing rules.
 *
 * With config.pcp false pcp_order_ok() is false for every order and nothing reaches a list.
 */
#ifndef COMPACTLAB_MODEL_PCP_H
#define COMPACTLAB_MODEL_PCP_H

#include "model/types.h"

int pcp_init(struct model *m) MUST_USE;
/* Mirrors pcp_allowed_order(): 0..3 and 9. */
static inline bool pcp_order_ok(const struct model *m, unsigned order)
{
	return m->config.pcp && (order <= PAGE_ALLOC_COSTLY_ORDER || order == PMD_ORDER);
}
/* Mirrors zone_batchsize() and zone_highsize()/zone_set_pageset_high_and_batch(): after marks
 * changed. */
void pcp_resize_zone(struct model *m, struct zone *z);

/* Mirrors rmqueue_pcplist(): from the current CPU's list, refilled by fallback_bulk(). Held or
 * PFN_NONE. */
pfn_t pcp_alloc(struct model *m, struct zone *z, unsigned order, enum migratetype type,
		alloc_flags_t flags);
/* Mirrors free_unref_page(): a held chunk of an allowed order; may flush; isolated blocks bypass.
 */
void pcp_free(struct model *m, struct zone *z, pfn_t pfn, unsigned order);

/* A held chunk onto a list's head, without flush or tuning: layouts. type < MIGRATE_PCPTYPES. */
void pcp_put(struct model *m, struct zone *z, cpu_id cpu, pfn_t pfn, unsigned order,
	     enum migratetype type);

/* A CPU's tuning of a zone as it is in a real machine: layouts. */
static inline void pcp_tune(struct zone *z, cpu_id cpu, uint32_t high, uint32_t free_count,
			    uint32_t alloc_factor)
{
	z->pcp[cpu.v].high = high;
	z->pcp[cpu.v].free_count = free_count;
	z->pcp[cpu.v].alloc_factor = (uint8_t)alloc_factor;
}

/* Mirrors drain_local_pages(zone): current CPU's set of the zone. */
void pcp_drain_local(struct model *m, struct zone *z);
/* Mirrors drain_all_pages(zone): all CPUs; z NULL = all zones. Charges COST_DRAIN_ALL for each CPU.
 */
void pcp_drain_all(struct model *m, struct zone *z);
/* Mirrors decay_pcp_high() and the remote expiry of refresh_cpu_vm_stats(): once a second, from the
 * tick. */
void pcp_tick(struct model *m);

static inline struct pcp *pcp_of(struct zone *z, cpu_id cpu)
{
	return &z->pcp[cpu.v];
}

/* Pages on all sets of a zone (text files, tests). */
uint64_t pcp_zone_pages(const struct model *m, const struct zone *z);
bool pcp_zone_is_valid(struct model *m, struct zone *z);

#endif
