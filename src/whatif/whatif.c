/* SPDX-License-Identifier: MIT */
#include "whatif/whatif_state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int cl_explain_what_if(struct cl_explanation *x, struct cl_error *err)
{
	struct whatif_state *s;
	struct whatif_plan plan;
	struct what_if *w = &x->what_if;
	int r;

	if (!x->finished)
		return cl_error(err, -EINVAL, "what-if comes after cl_explain_finish()");
	s = malloc(sizeof(*s));
	if (!s)
		return cl_error(err, -ENOMEM, "no memory");
	memset(w, 0, sizeof(*w));
	w->asked = true;
	r = whatif_state(x, s, w);
	if (!r)
		r = whatif_plan_make(s, w, &plan);
	if (!r) {
		r = whatif_try_all(s, &plan, w, err);
		whatif_plan_free(&plan);
	} else if (r != -ENODATA) {
		cl_error(err, r, "no memory for a prediction");
	}
	free(s);
	return r == -ENODATA ? 0 : r;
}
