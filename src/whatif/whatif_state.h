/* SPDX-License-Identifier: MIT */
#ifndef WHATIF_WHATIF_STATE_H
#define WHATIF_WHATIF_STATE_H
/* The state and the request that the evidence shows. */
#include "explain/explanation.h"
#include "whatif/whatif.h"

/* 0, or -ENODATA with the reason in w->missing. */
int whatif_state(struct cl_explanation *x, struct whatif_state *s, struct what_if *w);
#endif
