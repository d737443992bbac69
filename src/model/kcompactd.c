/* SPDX-License-Identifier: MIT */
/*
 * kcompactd.c - background and proactive compaction; see kcompactd.h.
 */
#include "model/kcompactd.h"

int kcompactd_init(struct model *m)
{
	(void)m; /* nothing to set up yet */
	return 0;
}

void kcompactd_wake(struct model *m, struct node *n, unsigned order, enum zone_class class)
{
	NOT_YET(m, n, order, class);
}

void kcompactd_step(struct model *m, struct node *n)
{
	NOT_YET(m, n);
}

void kcompactd_proactiveness_changed(struct model *m)
{
	NOT_YET(m);
}
