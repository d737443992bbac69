/* SPDX-License-Identifier: MIT */
/*
 * mempolicy.c - memory policies and the local-first attempt of order 9; see mempolicy.h.
 */
#include "model/mempolicy.h"

#include "model/alloc.h"

/* ---- nodes of a policy -------------------------------------------------------------------- */

/* Mirrors offset_il_node(): the n-th node of the mask, counted around. */
static unsigned policy_nth(nodemask_t nodes, uint64_t n)
{
	n %= (unsigned)__builtin_popcount(nodes);
	while (n--)
		nodes &= nodes - 1;
	return (unsigned)__builtin_ctz(nodes);
}

static unsigned policy_weight(const struct mempolicy *pol, unsigned node)
{
	return pol->weight[node] ? pol->weight[node] : 1;
}

/* Mirrors weighted_interleave_nid(). */
static unsigned policy_weighted_nth(const struct mempolicy *pol, uint64_t ilx)
{
	unsigned total = 0, node;
	uint64_t target;

	for (nodemask_t left = pol->nodes; left; left &= left - 1)
		total += policy_weight(pol, (unsigned)__builtin_ctz(left));
	target = ilx % total;
	for (nodemask_t left = pol->nodes;; left &= left - 1) {
		node = (unsigned)__builtin_ctz(left);
		if (target < policy_weight(pol, node))
			return node;
		target -= policy_weight(pol, node);
	}
}

/* Mirrors next_node_in(). */
static unsigned policy_next(nodemask_t nodes, unsigned after)
{
	nodemask_t above = nodes & ~((2u << after) - 1);

	return (unsigned)__builtin_ctz(above ? above : nodes);
}

/* Mirrors interleave_nodes() and weighted_interleave_nodes(): the task's own rotor. */
static unsigned policy_rotor(struct task *t, const struct mempolicy *pol)
{
	unsigned node = t->interleave_prev;

	if (pol->mode == MPOL_WEIGHTED_INTERLEAVE) {
		if (t->interleave_weight == 0 || !(pol->nodes >> node & 1)) {
			node = policy_next(pol->nodes, node);
			t->interleave_weight = (uint8_t)policy_weight(pol, node);
		}
		t->interleave_weight--;
	} else {
		node = policy_next(pol->nodes, node);
	}
	t->interleave_prev = (uint8_t)node;
	return node;
}

/* Mirrors policy_nodemask(): node to start at and mask (NODEMASK_NONE = none). */
static inline node_id policy_node(struct model *m, gfp_t gfp, const struct mempolicy *pol,
				  uint64_t ilx, nodemask_t *mask)
{
	unsigned nid = m->ctx.node.v;

	*mask = NODEMASK_NONE;
	if (pol->nodes == 0)
		return (node_id){(uint8_t)nid};
	switch (pol->mode) {
	case MPOL_DEFAULT:
	case MPOL_LOCAL:
		break;
	case MPOL_PREFERRED:
		nid = (unsigned)__builtin_ctz(pol->nodes);
		break;
	case MPOL_BIND:
		/* Mirrors apply_policy_zone(): requests for low zones only are not bound. */
		if (gfp_zone(gfp) >= ZONE_NORMAL)
			*mask = pol->nodes;
		if (pol->home.v != NODE_NONE.v)
			nid = pol->home.v;
		break;
	case MPOL_PREFERRED_MANY:
		*mask = pol->nodes;
		if (pol->home.v != NODE_NONE.v)
			nid = pol->home.v;
		break;
	case MPOL_INTERLEAVE:
		nid = ilx == ILX_NONE ? policy_rotor(&m->task[m->ctx.task.v], pol)
				      : policy_nth(pol->nodes, ilx);
		break;
	case MPOL_WEIGHTED_INTERLEAVE:
		nid = ilx == ILX_NONE ? policy_rotor(&m->task[m->ctx.task.v], pol)
				      : policy_weighted_nth(pol, ilx);
		break;
	}
	return (node_id){(uint8_t)nid};
}

/* ---- allocation --------------------------------------------------------------------------- */

static bool mempolicy_interleaves(const struct mempolicy *pol)
{
	return pol->mode == MPOL_INTERLEAVE || pol->mode == MPOL_WEIGHTED_INTERLEAVE;
}

pfn_t mempolicy_alloc(struct model *m, gfp_t gfp, unsigned order, const struct mempolicy *pol,
		      uint64_t ilx)
{
	nodemask_t mask;
	node_id nid;
	pfn_t page;

	if (!pol)
		pol = &m->task[m->ctx.task.v].policy;
	nid = policy_node(m, gfp, pol, ilx, &mask);
	if (pol->mode == MPOL_PREFERRED_MANY) {
		/* Mirrors alloc_pages_preferred_many(). */
		gfp_t first = (gfp | __GFP_NOWARN) & ~(__GFP_DIRECT_RECLAIM | __GFP_NOFAIL);

		page = alloc_pages(m, first, order, nid, mask);
		return page != PFN_NONE ? page : alloc_pages(m, gfp, order, nid, NODEMASK_NONE);
	}
	/* Nearly every fault. */
	if (order != PMD_ORDER && !mempolicy_interleaves(pol))
		return alloc_pages(m, gfp, order, nid, mask);
	if (order == PMD_ORDER && ilx != ILX_NONE && !mempolicy_interleaves(pol) &&
	    (mask == NODEMASK_NONE || mask >> nid.v & 1)) {
		page = alloc_pages(m, gfp | __GFP_THISNODE | __GFP_NORETRY, order, nid,
				   NODEMASK_NONE);
		if (page != PFN_NONE || !(gfp & __GFP_DIRECT_RECLAIM))
			return page;
	}
	page = alloc_pages(m, gfp, order, nid, mask);
	if (page != PFN_NONE && mempolicy_interleaves(pol) &&
	    (pol->mode == MPOL_INTERLEAVE || m->profile->interleave_hit_weighted)) {
		struct zone *z = zone_of(m, page);

		if (z->node.v == nid.v)
			stat_zone(z, VM_NUMA_INTERLEAVE, 1);
	}
	return page;
}

uint64_t mempolicy_ilx_shmem(const struct region *r, uint64_t index, unsigned order)
{
	return r->inode + (index >> order);
}
