/* SPDX-License-Identifier: MIT */
/* Do the relations that a scenario states hold in the records? */
#include "result/columns.h"
#include "result/counter.h"
#include "result/figure.h"
#include "result/relation.h"
#include "util/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * What a relation is evaluated in. -ENODATA from here on means that a number is
 * missing, -ENOENT that a variant did not run; `reason` says which.
 */
struct scope {
	const struct columns *columns;
	const char *kernel; /* only columns of this one, or NULL */
	const char *all;    /* the variant that "all" stands for now */
	int repeat;         /* this one alone, or -1: the median of all */
	char reason[512];
};

static const char *variant_of(const struct scope *s, const struct node *n)
{
	return s->all && !strcmp(n->variant, "all") ? s->all : n->variant;
}

static bool column_in(const struct scope *s, const struct column *c)
{
	return !s->kernel || !strcmp(c->kernel, s->kernel);
}

static const struct column *column_find(const struct scope *s, const char *variant)
{
	for (unsigned i = 0; i < s->columns->count; i++) {
		const struct column *c = &s->columns->item[i];

		if (column_in(s, c) && !strcmp(c->label, variant))
			return c;
	}
	return NULL;
}

/* --- evaluation --- */

static int missing(struct scope *s, const struct node *n, const struct column *c, int r)
{
	const char *nearest = counter_is_known(n->name) ? NULL : counter_nearest(n->name);

	if (r == -ENOENT)
		snprintf(s->reason, sizeof(s->reason), "%s ran no step '%s'", c->label, n->step);
	else
		snprintf(s->reason, sizeof(s->reason), "%s.%s.%s was not measured%s%s%s", c->label,
			 n->step, n->name, nearest ? "; did you mean '" : "",
			 nearest ? nearest : "", nearest ? "'?" : "");
	return -ENODATA;
}

static int evaluate_measure(struct scope *s, const struct node *n, double *out)
{
	const struct column *c = column_find(s, variant_of(s, n));
	struct stat_summary summary;
	double *value;
	unsigned used = 0;
	int r = 0;

	if (!c) {
		snprintf(s->reason, sizeof(s->reason), "variant %s was not run", variant_of(s, n));
		return -ENOENT;
	}
	value = malloc(c->count * sizeof(*value));
	if (!value)
		return -ENOMEM;
	for (unsigned i = 0; i < c->count && !r; i++) {
		const json_t *step = record_step(c->record[i], n->step, strlen(n->step));

		if (s->repeat >= 0 && (unsigned)s->repeat != i)
			continue;
		r = step ? step_measure(c->record[i], step, n->name, &value[used++]) : -ENOENT;
	}
	if (!r && used) {
		stat_summarize(value, used, &summary);
		*out = summary.median;
	}
	free(value);
	return r || !used ? missing(s, n, c, r) : 0;
}

static int evaluate(struct scope *s, const struct node *n, double *out);

static int first_variant(const struct node *n, void *arg)
{
	*(const struct node **)arg = n;
	return 1;
}

/* min, max or median of the expression inside over the repeats of its variant. */
static int evaluate_function(struct scope *s, const struct node *n, double *out)
{
	const struct node *named = NULL;
	const struct column *c;
	struct stat_summary summary;
	struct scope inner = *s;
	double *value;
	int r = 0;

	if (!node_measures(n->left, first_variant, &named))
		return evaluate(s, n->left, out);
	c = column_find(s, variant_of(s, named));
	if (!c)
		return evaluate_measure(s, named, out); /* says why not */
	value = malloc(c->count * sizeof(*value));
	if (!value)
		return -ENOMEM;
	for (unsigned i = 0; i < c->count && !r; i++) {
		inner.repeat = (int)i;
		r = evaluate(&inner, n->left, &value[i]);
	}
	if (r) {
		memcpy(s->reason, inner.reason, sizeof(s->reason));
	} else {
		stat_summarize(value, c->count, &summary);
		*out = n->kind == NODE_MIN   ? summary.min
		       : n->kind == NODE_MAX ? summary.max
					     : summary.median;
	}
	free(value);
	return r;
}

static int evaluate_operator(struct scope *s, const struct node *n, double *out)
{
	double left, right;
	int r = evaluate(s, n->left, &left);

	if (!r)
		r = evaluate(s, n->right, &right);
	if (r)
		return r;
	switch (n->kind) {
	case NODE_ADD:
		*out = left + right;
		break;
	case NODE_SUBTRACT:
		*out = left - right;
		break;
	case NODE_MULTIPLY:
		*out = left * right;
		break;
	default:
		if (right == 0) {
			snprintf(s->reason, sizeof(s->reason), "division by 0 at column %d",
				 n->right->column);
			return -ENODATA;
		}
		*out = left / right;
	}
	return 0;
}

static int evaluate(struct scope *s, const struct node *n, double *out)
{
	int r;

	switch (n->kind) {
	case NODE_NUMBER:
		*out = n->number;
		return 0;
	case NODE_MEASURE:
		return evaluate_measure(s, n, out);
	case NODE_NEGATE:
		r = evaluate(s, n->left, out);
		*out = r ? 0 : -*out;
		return r;
	case NODE_MIN:
	case NODE_MAX:
	case NODE_MEDIAN:
		return evaluate_function(s, n, out);
	default:
		return evaluate_operator(s, n, out);
	}
}

/* --- what is said about it --- */

/* Is the value a time? Then it is printed as one. */
static bool node_is_time(const struct node *n)
{
	switch (n->kind) {
	case NODE_NUMBER:
		return false;
	case NODE_MEASURE:
		return figure_is_time(n->name);
	case NODE_DIVIDE:
		return node_is_time(n->left) && !node_is_time(n->right);
	case NODE_MULTIPLY:
		return node_is_time(n->left) != node_is_time(n->right);
	case NODE_ADD:
	case NODE_SUBTRACT:
		return node_is_time(n->left) || node_is_time(n->right);
	default:
		return node_is_time(n->left);
	}
}

/* The numbers a relation had on its two sides over the repeats. */
struct sides {
	double left_min, left_max, right_min, right_max;
};

static char *side_text(double min, double max, bool is_time, char *buf, size_t size)
{
	const char *measure = is_time ? "_ns" : "";

	if (min == max)
		return figure_print(measure, min, buf, size);
	return figure_range(measure, min, max, buf, size);
}

/* "9 < 64.9", or with `holds` false "80 is not < 64.9" */
static void sides_text(const struct relation *r, const struct sides *v, bool holds, char *buf,
		       size_t size)
{
	bool is_time = node_is_time(r->left) || node_is_time(r->right);
	char left[96], right[96];

	side_text(v->left_min, v->left_max, is_time, left, sizeof(left));
	side_text(v->right_min, v->right_max, is_time, right, sizeof(right));
	snprintf(buf, size, "%s %s%s %s", left, holds ? "" : "is not ", relation_sign(r->compare),
		 right);
}

static void sides_widen(struct sides *v, double left, double right, bool first)
{
	if (first || left < v->left_min)
		v->left_min = left;
	if (first || left > v->left_max)
		v->left_max = left;
	if (first || right < v->right_min)
		v->right_min = right;
	if (first || right > v->right_max)
		v->right_max = right;
}

struct outcome {
	enum cl_check_state state;
	char text[512]; /* numbers or reason */
};

static void outcome_missing(struct outcome *o, const struct scope *s, int r)
{
	o->state = r == -ENOENT ? CL_CHECK_NOT_RUN : CL_CHECK_UNKNOWN;
	snprintf(o->text, sizeof(o->text), "%s", r == -ENOMEM ? "no memory" : s->reason);
}

/* One variant: the relation must hold in every repeat. Stops at the first that fails. */
static void judge_repeats(struct scope *s, const struct relation *r, unsigned repeats,
			  struct outcome *o)
{
	struct sides all = {0};

	o->state = CL_CHECK_HOLDS;
	for (unsigned i = 0; i < repeats; i++) {
		double left, right;
		int e;

		s->repeat = (int)i;
		e = evaluate(s, r->left, &left);
		if (!e)
			e = evaluate(s, r->right, &right);
		if (e) {
			outcome_missing(o, s, e);
			return;
		}
		if (!relation_holds(r->compare, left, right)) {
			struct sides one = {left, left, right, right};
			size_t used;

			o->state = CL_CHECK_FAILS;
			sides_text(r, &one, false, o->text, sizeof(o->text));
			used = strlen(o->text);
			if (repeats > 1)
				snprintf(o->text + used, sizeof(o->text) - used,
					 " in repeat %u of %u", i + 1, repeats);
			return;
		}
		sides_widen(&all, left, right, i == 0);
	}
	sides_text(r, &all, true, o->text, sizeof(o->text));
}

/* Several variants: their medians are compared. */
static void judge_medians(struct scope *s, const struct relation *r, struct outcome *o)
{
	double left, right;
	int e;

	s->repeat = -1;
	e = evaluate(s, r->left, &left);
	if (!e)
		e = evaluate(s, r->right, &right);
	if (e) {
		outcome_missing(o, s, e);
		return;
	}
	o->state = relation_holds(r->compare, left, right) ? CL_CHECK_HOLDS : CL_CHECK_FAILS;
	sides_text(r, &(struct sides){left, left, right, right}, o->state == CL_CHECK_HOLDS,
		   o->text, sizeof(o->text));
}

struct only_variant {
	const struct scope *scope;
	const char *name;
};

static int is_another_variant(const struct node *n, void *arg)
{
	struct only_variant *o = arg;
	const char *variant = variant_of(o->scope, n);

	if (!o->name)
		o->name = variant;
	return strcmp(o->name, variant) != 0;
}

static void judge(struct scope *s, const struct relation *r, struct outcome *o)
{
	struct only_variant only = {s, NULL};
	const struct column *c;

	if (relation_measures(r, is_another_variant, &only)) {
		judge_medians(s, r, o);
		return;
	}
	c = column_find(s, only.name);
	judge_repeats(s, r, c ? c->count : 1, o);
}

/* --- all checks --- */

struct checking {
	FILE *to;
	const struct columns *columns;
	bool per_kernel; /* some variant ran on more than one kernel */
	struct cl_check_summary *sum;
};

static void report(const struct checking *k, const struct check_line *line, const struct scope *s,
		   const struct outcome *o)
{
	static const char *const names[] = {
		[CL_CHECK_HOLDS] = "HOLDS",
		[CL_CHECK_FAILS] = "FAILS",
		[CL_CHECK_UNKNOWN] = "UNKNOWN",
		[CL_CHECK_NOT_RUN] = "NOT RUN",
	};
	unsigned *counts[] = {
		[CL_CHECK_HOLDS] = &k->sum->holds,
		[CL_CHECK_FAILS] = &k->sum->fails,
		[CL_CHECK_UNKNOWN] = &k->sum->unknown,
		[CL_CHECK_NOT_RUN] = &k->sum->not_run,
	};

	++*counts[o->state];
	if (!k->to)
		return;
	fprintf(k->to, "%-7s  %s", names[o->state], line->name);
	if (s->all)
		fprintf(k->to, " [%s]", s->all);
	if (s->kernel)
		fprintf(k->to, " [%s]", s->kernel);
	fprintf(k->to, ": %s (%s)\n", line->relation, o->text);
}

static int names_all(const struct node *n, void *arg)
{
	(void)arg;
	return !strcmp(n->variant, "all");
}

/* One check on one kernel; "all" is judged for each variant by itself. */
static void check_on(const struct checking *k, const struct check_line *line,
		     const struct relation *r, const char *kernel)
{
	struct outcome o;
	struct scope s = {.columns = k->columns, .kernel = kernel};

	if (!relation_measures(r, names_all, NULL)) {
		judge(&s, r, &o);
		report(k, line, &s, &o);
		return;
	}
	for (unsigned i = 0; i < k->columns->count; i++) {
		if (!column_in(&s, &k->columns->item[i]))
			continue;
		s.all = k->columns->item[i].label;
		judge(&s, r, &o);
		report(k, line, &s, &o);
	}
}

static bool kernel_seen(const struct columns *c, unsigned i)
{
	for (unsigned k = 0; k < i; k++)
		if (!strcmp(c->item[k].kernel, c->item[i].kernel))
			return true;
	return false;
}

static int check_line(const struct checking *k, const struct check_line *line, struct cl_error *err)
{
	struct relation *relation;
	int r = relation_parse_check(line, &relation, err);

	if (r)
		return r;
	if (!k->per_kernel)
		check_on(k, line, relation, NULL);
	for (unsigned i = 0; k->per_kernel && i < k->columns->count; i++)
		if (!kernel_seen(k->columns, i))
			check_on(k, line, relation, k->columns->item[i].kernel);
	relation_free(relation);
	return 0;
}

/* Variants that each have their own kernel may be compared; a variant on two may not. */
static bool on_several_kernels(const struct columns *c)
{
	for (unsigned i = 0; i < c->count; i++)
		for (unsigned k = 0; k < i; k++)
			if (!strcmp(c->item[i].label, c->item[k].label))
				return true;
	return false;
}

int cl_results_check(FILE *to, const struct cl_results *r, const struct cl_scenario *s,
		     struct cl_check_summary *sum, struct cl_error *err)
{
	struct check_line *line = NULL;
	struct columns columns;
	unsigned count = 0;
	int e;

	memset(sum, 0, sizeof(*sum));
	if (!r->count)
		return 0;
	if (columns_group(r, &columns))
		return cl_error(err, -ENOMEM, "no memory for the checks");
	e = scenario_checks(s, record_text(r->record[0], "backend"), &line, &count, err);
	if (!e) {
		struct checking k = {to, &columns, on_several_kernels(&columns), sum};

		for (unsigned i = 0; i < count && !e; i++)
			e = check_line(&k, &line[i], err);
	}
	free(line);
	columns_free(&columns);
	return e;
}
