/* SPDX-License-Identifier: MIT */
/*
 * compact_entry.c - who starts runs: try_to_compact_pages and compact_node; see compact.h.
 */
#include "model/compact.h"

enum compact_result compact_try_pages(struct model *m, unsigned order, alloc_flags_t flags, const
				      struct alloc_context *ac, enum compact_priority prio, pfn_t
				      *capture)
{
	NOT_YET(m, order, flags, ac, prio, capture);
}

void compact_node_begin(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}

bool compact_node_step(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}
