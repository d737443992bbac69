/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_PLAN_RULES_H
#define SCENARIO_PLAN_RULES_H
/* Rules between the keys of a plan, and between its steps. */
#include "scenario/scenario.h"

struct plan_context {
	const struct cl_scenario *s;
	int backend, variant; /* variant -1: none */
	struct cl_error *err;
	int index[SCENARIO_STEPS];       /* scenario step to plan step, -1: skipped */
	unsigned origin[SCENARIO_STEPS]; /* plan step to scenario step */
};

int plan_check_machine(const struct plan_context *c, const struct machine *m);

/* Step `i` of the plan, resolved as those before it. Clears what its other keys make void. */
int plan_check_step(const struct plan_context *c, struct plan *p, unsigned i);
#endif
