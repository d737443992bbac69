/* SPDX-License-Identifier: MIT */
/* The table of a scenario's run, in the shape that users of mmtests know. */
#include "result/cells.h"
#include "result/figure.h"
#include "result/heading.h"
#include "result/measures.h"
#include "scenario/plan.h"
#include "util/util.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- published figures --- */

static const struct published *published_find(const struct cl_scenario *s, const char *variant,
					      const char *step, const char *measure)
{
	size_t length = strlen(step);

	for (unsigned i = 0; i < scenario_published(s); i++) {
		const struct published *p = scenario_published_get(s, i);

		if (!strcmp(p->variant, variant) && !strncmp(p->measure, step, length) &&
		    p->measure[length] == '.' && !strcmp(p->measure + length + 1, measure))
			return p;
	}
	return NULL;
}

static bool has_column(const struct columns *c, unsigned count, const char *variant)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(c->item[i].label, variant))
			return true;
	return false;
}

/* Published figures stand once, also where the variant ran on several kernels. */
static bool is_first_of(const struct columns *c, unsigned i)
{
	return !has_column(c, i, c->item[i].label);
}

static bool published_any(const struct cl_scenario *s, const char *variant, const char *step,
			  const struct measures *m)
{
	for (unsigned i = 0; i < m->count; i++)
		if (published_find(s, variant, step, m->name[i]))
			return true;
	return false;
}

/* "649, 1473": as the author gave them, one a run. */
static void published_text(const struct published *p, const char *measure, char *buf, size_t size)
{
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < p->count && used < size; i++) {
		char text[48];

		figure_print(measure, p->value[i], text, sizeof(text));
		used += (size_t)snprintf(buf + used, size - used, "%s%s", i ? ", " : "", text);
	}
}

/* --- one step --- */

struct table {
	const struct cl_scenario *scenario;
	const struct columns *columns;
	const struct cl_table_options *options;
	bool published; /* a published column was printed */
	bool marked;    /* a row has ranges that do not overlap */
};

/* Where things stand in the grid. */
struct places {
	unsigned *first;     /* a column: its first cell */
	unsigned *published; /* a column: its published cell, 0 for none */
	unsigned others;
	struct {
		const char *variant;
		unsigned cell;
	} * other; /* published, not run */
};

static void places_free(struct places *p)
{
	free(p->first);
	free(p->published);
	free(p->other);
}

static void put_published(struct grid *g, const struct table *t, unsigned row, unsigned cell,
			  const char *variant, const char *step, const char *measure)
{
	const struct published *p = published_find(t->scenario, variant, step, measure);
	char text[256];

	if (!p)
		return;
	published_text(p, measure, text, sizeof(text));
	grid_cell(g, row, cell, text);
}

static int fill_row(struct grid *g, struct table *t, const char *step, const char *measure,
		    const struct places *at)
{
	struct stat_summary base = {0}, s;
	double low = INFINITY, high = -INFINITY;
	char label[128];
	unsigned row;
	int r = 0;

	cells_label(measure, label, sizeof(label));
	row = grid_row(g, label);
	for (unsigned i = 0; i < t->columns->count && !r; i++) {
		const struct column *c = &t->columns->item[i];

		r = cells_measure(c, step, measure, &s);
		t->marked |= cells_put(g, row, at->first[i], measure, i ? &base : NULL, &s);
		if (!i)
			base = s;
		low = s.count && s.min < low ? s.min : low;
		high = s.count && s.max > high ? s.max : high;
		if (at->published[i])
			put_published(g, t, row, at->published[i], c->label, step, measure);
	}
	for (unsigned i = 0; i < t->columns->count && !r; i++)
		r = cells_bars(g, row, at->first[i], &t->columns->item[i], step, measure, low,
			       high);
	for (unsigned i = 0; i < at->others; i++)
		put_published(g, t, row, at->other[i].cell, at->other[i].variant, step, measure);
	return r;
}

/*
 * Columns in the order of the records; a variant that was not run, but whose figures were
 * published, comes behind as a column of these only.
 */
static int make_columns(struct grid *g, struct table *t, const char *step, const struct measures *m,
			struct places *at)
{
	unsigned count = t->columns->count, figures = scenario_published(t->scenario);

	at->first = calloc(count, sizeof(*at->first));
	at->published = calloc(count, sizeof(*at->published));
	at->other = calloc(figures + 1, sizeof(*at->other));
	if (!at->first || !at->published || !at->other)
		return -ENOMEM;
	for (unsigned i = 0; i < count; i++) {
		at->first[i] = cells_group(g, t->columns, i);
		if (is_first_of(t->columns, i) &&
		    published_any(t->scenario, t->columns->item[i].label, step, m))
			at->published[i] = grid_group(g, "published", NULL, "r", true);
		t->published |= at->published[i] != 0;
	}
	for (unsigned i = 0; i < figures; i++) {
		const char *variant = scenario_published_get(t->scenario, i)->variant;
		bool seen = has_column(t->columns, count, variant) ||
			    !published_any(t->scenario, variant, step, m);

		for (unsigned k = 0; k < at->others; k++)
			seen |= !strcmp(at->other[k].variant, variant);
		if (seen)
			continue;
		at->other[at->others].variant = variant;
		at->other[at->others++].cell = grid_group(g, variant, "published", "r", false);
		t->published = true;
	}
	return 0;
}

/* A median between two groups of runs is a value that none of them has: say so. */
static int print_groups(FILE *to, const struct column *c, bool with_kernel, const char *step,
			const char *measure)
{
	double *value = malloc((c->count + 1) * sizeof(*value));
	int n = value ? column_values(c, step, measure, value) : -ENOMEM;
	char label[128], low[96], high[96];
	unsigned lower = 0;

	if (n > 0) {
		qsort(value, (unsigned)n, sizeof(*value), stat_order);
		lower = stat_lower_group(value, (unsigned)n);
	}
	if (lower) {
		cells_label(measure, label, sizeof(label));
		figure_range(measure, value[0], value[lower - 1], low, sizeof(low));
		figure_range(measure, value[lower], value[n - 1], high, sizeof(high));
		fprintf(to, "two groups: %s of %s%s%s: %u runs %s, %u runs %s\n", label, c->label,
			with_kernel ? " on " : "", with_kernel ? c->kernel : "", lower, low,
			(unsigned)n - lower, high);
	}
	free(value);
	return n == -ENOMEM ? n : 0;
}

static int step_table(FILE *to, struct table *t, const char *step, const struct measures *m)
{
	struct places at = {0};
	struct grid *g = grid_new(step);
	int r = g ? make_columns(g, t, step, m, &at) : -ENOMEM;

	for (unsigned i = 0; i < m->count && !r; i++)
		r = fill_row(g, t, step, m->name[i], &at);
	if (!r) {
		fputc('\n', to);
		r = grid_print(to, g, t->options->width, t->options->colour);
	}
	for (unsigned i = 0; i < m->count; i++)
		for (unsigned k = 0; k < t->columns->count && !r; k++)
			r = print_groups(to, &t->columns->item[k], t->columns->several_kernels,
					 step, m->name[i]);
	places_free(&at);
	grid_free(g);
	return r;
}

/* Steps worth a table when the scenario does not say: those that measure something. */
static bool is_shown_kind(const char *kind)
{
	static const char *const kinds[] = {"fault", "write", "files", "request", "compact"};

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return true;
	return false;
}

static int print_steps(FILE *to, struct table *t, const struct experiment *e)
{
	unsigned steps;
	const char **step = columns_steps(t->columns, &steps);
	bool all = t->options->all_counters;
	int r = step ? 0 : -ENOMEM;

	for (unsigned i = 0; i < steps && !r; i++) {
		struct measures m = {0};

		r = measures_listed(e->show, e->shows, step[i], &m);
		if (!r &&
		    (all || (!e->shows && is_shown_kind(columns_step_kind(t->columns, step[i])))))
			r = measures_found(t->columns, step[i], all, &m);
		if (!r && m.count)
			r = step_table(to, t, step[i], &m);
		measures_free(&m);
	}
	free(step);
	return r;
}

static int print_table(FILE *to, struct table *t, const struct experiment *e,
		       const struct cl_results *r)
{
	const char *title = cl_scenario_title(t->scenario);
	int e1;

	fprintf(to, "%s%s%s\n", cl_scenario_name(t->scenario), title && *title ? ": " : "",
		title ? title : "");
	e1 = heading_print(to, t->columns);
	if (!e1)
		e1 = print_steps(to, t, e);
	if (t->marked || t->published || heading_has_notes(r))
		fputc('\n', to);
	if (t->marked)
		fprintf(to, CELLS_MARK_LEGEND);
	if (t->published)
		fprintf(to, "published: the author's figures, on the author's machine\n");
	return e1 ? e1 : heading_notes(to, r);
}

int cl_results_table(FILE *to, const struct cl_results *r, const struct cl_scenario *s,
		     const struct cl_table_options *options, struct cl_error *err)
{
	static const struct cl_table_options plain;
	struct experiment experiment;
	struct columns columns;
	int e;

	if (!r->count)
		return heading_notes(to, r);
	e = experiment_resolve(s, record_text(r->record[0], "backend"), &experiment, err);
	if (e)
		return e;
	e = columns_group(r, &columns);
	if (!e) {
		struct table t = {s, &columns, options ? options : &plain, false, false};

		e = print_table(to, &t, &experiment, r);
		columns_free(&columns);
	}
	experiment_free(&experiment);
	return e ? cl_error(err, e, "no memory for the table") : 0;
}
