/* SPDX-License-Identifier: MIT */
/*
 * kswapd.c - background reclaim; see reclaim.h.
 */
#include "model/reclaim.h"

int kswapd_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

void kswapd_wake(struct model *m, struct zone *z, gfp_t gfp, unsigned order, enum zone_class class)
{
	NOT_YET(m, z, gfp, order, class);
}

void kswapd_step(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}

bool kswapd_balanced(const struct model *m, const struct node *n, unsigned order, enum zone_class
		     class)
{
	NOT_YET(m, n, order, class);
}

bool kswapd_is_awake(const struct node *n)
{
	NOT_YET(n);
}

bool kswapd_is_hopeless(const struct node *n)
{
	NOT_YET(n);
}

void kswapd_progress(struct model *m, struct node *n, unsigned order, enum zone_class class)
{
	NOT_YET(m, n, order, class);
}

void kswapd_pcp_flushed(struct model *m, struct zone *z)
{
	NOT_YET(m, z);
}
