/* SPDX-License-Identifier: MIT */
/*
 * alloc_slow_ab.c - the slow path of 6.12 and 6.18; see alloc.h.
 */
#include "model/alloc.h"

pfn_t alloc_slow_ab(struct model *m, struct alloc_context *ac)
{
	NOT_YET(m, ac);
}
