/* SPDX-License-Identifier: MIT */
/* Are a scenario's checks written well? Asked before anything runs. */
#include "result/counter.h"
#include "result/relation.h"
#include "scenario/option.h"
#include "scenario/plan.h"
#include <compactlab/result.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct validation {
	const struct cl_scenario *scenario;
	const char *backend;
	const struct check_line *line;
	struct cl_error *err;
};

static int wrong(const struct validation *v, const char *thing, const char *name, int column,
		 const char *suggestion)
{
	cl_error_at(v->err, -EINVAL, v->line->file, v->line->line,
		    "check '%s': there is no %s '%s' (column %d)", v->line->name, thing, name,
		    column);
	return suggestion ? cl_error_hint(v->err, -EINVAL, "did you mean '%s'?", suggestion)
			  : -EINVAL;
}

/* Does the variant's plan have the step? 1, 0 or -errno. */
static int plan_has_step(const struct validation *v, const char *variant, const char *step,
			 char *nearest, size_t size)
{
	struct suggestion s = {.word = step};
	struct plan *plan;
	int r = plan_resolve(v->scenario, v->backend, variant, 0, 0, &plan, v->err);

	if (r)
		return r;
	for (unsigned i = 0; i < plan->steps && !r; i++) {
		r = !strcmp(plan->step[i].name, step);
		suggestion_consider(&s, plan->step[i].name);
	}
	if (!r && s.best)
		snprintf(nearest, size, "%s", s.best);
	plan_free(plan);
	return r;
}

/* "all" needs the step in one variant at least; a variant by name needs it itself. */
static int validate_step(const struct validation *v, const struct node *n)
{
	char nearest[128] = "";
	int r = 0;

	for (unsigned i = 0; i < scenario_variants(v->scenario) && !r; i++) {
		const char *variant = scenario_variant(v->scenario, i);

		if (!strcmp(n->variant, "all") || !strcmp(n->variant, variant))
			r = plan_has_step(v, variant, n->step, nearest, sizeof(nearest));
	}
	if (r < 0)
		return r;
	return r ? 0 : wrong(v, "step", n->step, n->column, *nearest ? nearest : NULL);
}

static int validate_variant(const struct validation *v, const struct node *n)
{
	struct suggestion s = {.word = n->variant};

	if (!strcmp(n->variant, "all"))
		return 0;
	for (unsigned i = 0; i < scenario_variants(v->scenario); i++) {
		const char *variant = scenario_variant(v->scenario, i);

		if (!strcmp(variant, n->variant))
			return 0;
		suggestion_consider(&s, variant);
	}
	return wrong(v, "variant", n->variant, n->column, s.best);
}

/*
 * A name nobody knows may be a counter of a kernel to come, so only one that looks like
 * a slip of the pen is refused.
 */
static int validate_name(const struct validation *v, const struct node *n)
{
	const char *nearest;

	if (counter_is_known(n->name))
		return 0;
	nearest = counter_nearest(n->name);
	return nearest ? wrong(v, "measure", n->name, n->column, nearest) : 0;
}

static int validate_measure(const struct node *n, void *arg)
{
	const struct validation *v = arg;
	int r = validate_variant(v, n);

	if (!r)
		r = validate_step(v, n);
	return r ? r : validate_name(v, n);
}

static int validate_line(struct validation *v)
{
	struct relation *relation;
	int r = relation_parse_check(v->line, &relation, v->err);

	if (r)
		return r;
	r = relation_measures(relation, validate_measure, v);
	relation_free(relation);
	return r;
}

int cl_check_validate(const struct cl_scenario *s, const char *backend, struct cl_error *err)
{
	struct check_line *line = NULL;
	unsigned count = 0;
	int r = scenario_checks(s, backend, &line, &count, err);

	for (unsigned i = 0; i < count && !r; i++) {
		struct validation v = {s, backend, &line[i], err};

		r = validate_line(&v);
	}
	free(line);
	return r;
}
