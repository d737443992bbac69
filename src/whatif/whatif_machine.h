/* SPDX-License-Identifier: MIT */
#ifndef WHATIF_WHATIF_MACHINE_H
#define WHATIF_WHATIF_MACHINE_H
/* The plan as a machine of the model. */
#include "model/model.h"
#include "whatif/whatif.h"

/* A new machine under that policy in the state of the plan. *why: static text. -errno. */
int whatif_machine(const struct whatif_state *s, const struct whatif_plan *p, const char *policy,
		   struct model **out, const char **why);
#endif
