/* SPDX-License-Identifier: MIT */
/*
 * alloc_slow.c - the slow path of 7.3; see alloc.h.
 */
#include "model/alloc.h"

pfn_t alloc_slow(struct model *m, struct alloc_context *ac)
{
	NOT_YET(m, ac);
}
