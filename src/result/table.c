/* SPDX-License-Identifier: MIT */
/* The table of a scenario's run, in the shape that users of mmtests know. */
#include "result/cells.h"
#include "result/figure.h"
#include "result/heading.h"
#include "result/measures.h"
#include "scenario/plan.h"
#include "util/util.h"
#include <errno.h>
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

static int fill_row(struct grid *g, struct table *t, const char *step, const char *measure,
		    const unsigned *first, const unsigned *published)
{
	struct stat_summary base = {0}, s;
	char label[128], text[256];
	unsigned row;
	int r = 0;

	cells_label(measure, label, sizeof(label));
	row = grid_row(g, label);
	for (unsigned i = 0; i < t->columns->count && !r; i++) {
		const struct column *c = &t->columns->item[i];
		const struct published *p = published_find(t->scenario, c->label, step, measure);

		r = cells_measure(c, step, measure, &s);
		t->marked |= cells_put(g, row, first[i], measure, i ? &base : NULL, &s);
		if (!i)
			base = s;
		if (p && published[i]) {
			published_text(p, measure, text, sizeof(text));
			grid_cell(g, row, published[i], text);
		}
	}
	return r;
}

static int step_table(FILE *to, struct table *t, const char *step, const struct measures *m)
{
	unsigned count = t->columns->count;
	unsigned *first = calloc(count, sizeof(*first)), *published = calloc(count, sizeof(*first));
	struct grid *g = grid_new(step);
	int r = first && published && g ? 0 : -ENOMEM;

	for (unsigned i = 0; i < count && !r; i++) {
		first[i] = cells_group(g, t->columns, i);
		if (published_any(t->scenario, t->columns->item[i].label, step, m)) {
			published[i] = grid_group(g, "published", NULL, "r", true);
			t->published = true;
		}
	}
	for (unsigned i = 0; i < m->count && !r; i++)
		r = fill_row(g, t, step, m->name[i], first, published);
	if (!r) {
		fputc('\n', to);
		r = grid_print(to, g, t->options->width, t->options->colour);
	}
	grid_free(g);
	free(first);
	free(published);
	return r;
}

/* Steps worth a table when the scenario does not say: those that measure something. */
static bool is_shown_kind(const char *kind)
{
	static const char *const kinds[] = {"fault", "write", "files", "compact"};

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
