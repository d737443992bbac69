/* SPDX-License-Identifier: MIT */
#include "whatif/whatif_state.h"
#include "snapshot/snapshot.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int from_sums(struct whatif_state *s, struct what_if *w, struct cl_error *err)
{
	struct whatif_plan plan;
	int r = whatif_plan_make(s, w, &plan);

	if (r)
		return cl_error(err, r, "no memory for a prediction");
	r = whatif_try_all(s, &plan, w, err);
	whatif_plan_free(&plan);
	return r;
}

static int from_snapshot(const char *path, struct whatif_state *s, struct what_if *w,
			 struct cl_error *err)
{
	int r = snapshot_load(path, &s->snapshot, err);

	if (r)
		return r;
	snprintf(w->kernel, sizeof(w->kernel), "%.63s", s->snapshot->release);
	whatif_assume(w,
		      "pages are where the snapshot of %s shows them; what it does not show is "
		      "fresh or guessed, see compactlab-snapshot(5)",
		      s->snapshot->taken);
	whatif_assume(w, "which slabs can be freed is not in a snapshot: drop_caches=2 frees none "
			 "here, and 3 no more than 1, where a real kernel frees some");
	r = whatif_try_all(s, NULL, w, err);
	snapshot_free(s->snapshot);
	return r;
}

int cl_explain_what_if(struct cl_explanation *x, struct cl_error *err)
{
	struct whatif_state *s;
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
	if (!r && x->snapshot)
		r = from_snapshot(x->snapshot, s, w, err);
	else if (!r)
		r = from_sums(s, w, err);
	free(s);
	return r == -ENODATA ? 0 : r;
}
