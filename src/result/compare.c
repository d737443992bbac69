/* SPDX-License-Identifier: MIT */
/* Sets of records beside each other: one a file, or one a variant of a single file. */
#include "result/cells.h"
#include "result/figure.h"
#include "result/heading.h"
#include "result/measures.h"
#include "util/util.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Records that can stand in one table. */
struct section {
	const char *scenario;
	const char *variant; /* NULL: the columns are the variants */
	struct columns columns;
};

struct comparison {
	struct cl_results *results;
	unsigned files;
	char **label;     /* one a file */
	unsigned *behind; /* one a file: index behind its last record */
	unsigned count;
	struct section *section;
	bool marked; /* a row has ranges that do not overlap */
	unsigned agreeing, judged;
};

static void comparison_free(struct comparison *c)
{
	for (unsigned i = 0; i < c->count; i++)
		columns_free(&c->section[i].columns);
	for (unsigned i = 0; c->label && i < c->files; i++)
		free(c->label[i]);
	free(c->section);
	free(c->label);
	free(c->behind);
	cl_results_free(c->results);
}

/* --- sets --- */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The file's name without folder and .jsonl, or the path when two files share that name. */
static char *file_label(const char *const *paths, unsigned count, unsigned i)
{
	const char *name = base_name(paths[i]);
	size_t length = strlen(name);

	for (unsigned k = 0; k < count; k++)
		if (k != i && !strcmp(base_name(paths[k]), name))
			return strdup(paths[i]);
	if (length > 6 && !strcmp(name + length - 6, ".jsonl"))
		length -= 6;
	return strndup(name, length);
}

static struct section *section_for(struct comparison *c, const json_t *record)
{
	const char *scenario = record_text(record, "scenario");
	const char *variant = c->files > 1 ? record_text(record, "variant") : NULL;
	struct section *more;

	for (unsigned i = 0; i < c->count; i++) {
		struct section *s = &c->section[i];

		if (!strcmp(s->scenario, scenario) && (!variant || !strcmp(s->variant, variant)))
			return s;
	}
	more = realloc(c->section, (c->count + 1) * sizeof(*more));
	if (!more)
		return NULL;
	c->section = more;
	more[c->count] = (struct section){.scenario = scenario, .variant = variant};
	return &more[c->count++];
}

static int place(struct comparison *c, const json_t *record, const char *file)
{
	struct section *s = section_for(c, record);
	const char *label = c->files > 1 ? file : record_text(record, "variant");
	struct column *column = s ? columns_find(&s->columns, label, record_kernel(record)) : NULL;

	if (s && !column)
		column = columns_append(&s->columns, label, record_kernel(record));
	return column ? column_add(column, record) : -ENOMEM;
}

static int comparison_load(struct comparison *c, const char *const *paths, unsigned count,
			   struct cl_error *err)
{
	unsigned done = 0;
	int r = 0;

	c->files = count;
	c->results = results_new();
	c->label = calloc(count + 1, sizeof(*c->label));
	c->behind = calloc(count + 1, sizeof(*c->behind));
	if (!c->results || !c->label || !c->behind)
		return cl_error(err, -ENOMEM, "no memory for the records");
	for (unsigned i = 0; i < count && !r; i++) {
		c->label[i] = file_label(paths, count, i);
		r = c->label[i] ? results_load_file(c->results, paths[i], err)
				: cl_error(err, -ENOMEM, "no memory for the records");
		c->behind[i] = c->results->count;
	}
	for (unsigned i = 0; i < count && !r; i++)
		for (; done < c->behind[i] && !r; done++)
			if (place(c, c->results->record[done], c->label[i]))
				r = cl_error(err, -ENOMEM, "no memory for the comparison");
	return r;
}

/* --- rows, for people and for programs --- */

struct row_values {
	unsigned count;
	struct stat_summary *set;
};

/* Summaries of one measure in every column; the caller frees set. */
static int row_values(const struct columns *c, const char *step, const char *measure,
		      struct row_values *out)
{
	int r = 0;

	out->count = c->count;
	out->set = calloc(c->count + 1, sizeof(*out->set));
	if (!out->set)
		return -ENOMEM;
	for (unsigned i = 0; i < c->count && !r; i++)
		r = cells_measure(&c->item[i], step, measure, &out->set[i]);
	if (r)
		free(out->set);
	return r;
}

/* Call `row` for every measure of every step that was found. */
struct walk {
	const struct columns *columns;
	bool all;
	bool (*wanted)(const struct walk *w, const char *step, const char *measure);
	int (*begin)(struct walk *w, const char *step);
	int (*row)(struct walk *w, const char *step, const char *measure,
		   const struct row_values *v);
	int (*end)(struct walk *w);
	struct comparison *comparison;
	const struct cl_table_options *options;
	FILE *to;
	struct grid *grid;
	json_t *rows;
};

static int walk_step(struct walk *w, const char *step)
{
	struct measures m = {0};
	int r = measures_found(w->columns, step, w->all, &m);

	if (!r && m.count)
		r = w->begin(w, step);
	for (unsigned i = 0; i < m.count && !r; i++) {
		struct row_values v;

		if (w->wanted && !w->wanted(w, step, m.name[i]))
			continue;
		r = row_values(w->columns, step, m.name[i], &v);
		if (r)
			break;
		r = w->row(w, step, m.name[i], &v);
		free(v.set);
	}
	if (!r && m.count)
		r = w->end(w);
	measures_free(&m);
	return r;
}

static int walk(struct walk *w)
{
	unsigned count;
	const char **step = columns_steps(w->columns, &count);
	int r = step ? 0 : -ENOMEM;

	for (unsigned i = 0; i < count && !r; i++)
		r = walk_step(w, step[i]);
	free(step);
	return r;
}

/* --- text --- */

static int text_begin(struct walk *w, const char *step)
{
	w->grid = grid_new(step);
	for (unsigned i = 0; w->grid && i < w->columns->count; i++)
		cells_group(w->grid, w->columns, i);
	return w->grid ? 0 : -ENOMEM;
}

static int text_row(struct walk *w, const char *step, const char *measure,
		    const struct row_values *v)
{
	double low = INFINITY, high = -INFINITY;
	char label[128];
	unsigned row;
	int r = 0;

	cells_label(measure, label, sizeof(label));
	row = grid_row(w->grid, label);
	for (unsigned i = 0; i < v->count; i++) {
		low = v->set[i].count && v->set[i].min < low ? v->set[i].min : low;
		high = v->set[i].count && v->set[i].max > high ? v->set[i].max : high;
	}
	for (unsigned i = 0; i < v->count && !r; i++)
		r = cells_bars(w->grid, row, i * CELLS_A_COLUMN, &w->columns->item[i], step,
			       measure, low, high);
	for (unsigned i = 0; i < v->count; i++)
		w->comparison->marked |= cells_put(w->grid, row, i * CELLS_A_COLUMN, measure,
						   i ? &v->set[0] : NULL, &v->set[i]);
	return r;
}

static int text_end(struct walk *w)
{
	int r;

	fputc('\n', w->to);
	r = grid_print(w->to, w->grid, w->options->width, w->options->colour);
	grid_free(w->grid);
	w->grid = NULL;
	return r;
}

/* --- does the second file agree with the first? --- */

/* Steps that are the experiment, not its preparation; counters, not the times of different clocks.
 */
static bool agree_wanted(const struct walk *w, const char *step, const char *measure)
{
	static const char *const kinds[] = {"fault",   "files",   "write",
					    "request", "compact", "sleep"};
	const char *kind = columns_step_kind(w->columns, step);

	for (unsigned i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(kind, kinds[i]))
			return !figure_is_time(measure) && strcmp(measure, "bytes") != 0;
	return false;
}

static int agree_begin(struct walk *w, const char *step)
{
	w->grid = grid_new(step);
	if (!w->grid)
		return -ENOMEM;
	for (unsigned i = 0; i < w->columns->count; i++)
		grid_group(w->grid, w->columns->item[i].label, NULL, "rl", false);
	grid_group(w->grid, "ratio", NULL, "r", false);
	grid_group(w->grid, "", NULL, "l", false);
	return 0;
}

/* Within so many percent of the first median, or in the first range. */
static bool agrees(const struct stat_summary *a, const struct stat_summary *b, unsigned percent)
{
	double off = b->median - a->median, size = a->median < 0 ? -a->median : a->median;

	return (off < 0 ? -off : off) * 100 <= size * percent ||
	       (b->median >= a->min && b->median <= a->max);
}

static int agree_row(struct walk *w, const char *step, const char *measure,
		     const struct row_values *v)
{
	const struct stat_summary *a = &v->set[0], *b = &v->set[1];
	unsigned row = grid_row(w->grid, measure);
	char text[96];

	(void)step;
	for (unsigned i = 0; i < 2; i++) {
		const struct stat_summary *s = &v->set[i];

		if (!s->count) {
			grid_cell(w->grid, row, i * 2, "-");
			continue;
		}
		grid_cell(w->grid, row, i * 2,
			  figure_print(measure, s->median, text, sizeof(text)));
		if (s->count > 1)
			grid_cell(w->grid, row, i * 2 + 1,
				  figure_range(measure, s->min, s->max, text, sizeof(text)));
	}
	if (!a->count || !b->count)
		return 0;
	if (a->median != 0) {
		snprintf(text, sizeof(text), "%.2f", b->median / a->median);
		grid_cell(w->grid, row, 4, text);
	}
	w->comparison->judged++;
	if (agrees(a, b, w->options->within_percent))
		w->comparison->agreeing++;
	else
		grid_cell(w->grid, row, 5, "outside");
	return 0;
}

static int agree_end(struct walk *w)
{
	int r = 0;

	if (grid_rows(w->grid)) {
		fputc('\n', w->to);
		r = grid_print(w->to, w->grid, w->options->width, w->options->colour);
	}
	grid_free(w->grid);
	w->grid = NULL;
	return r;
}

static bool same_text(const struct columns *c, const char *field)
{
	const char *first = record_text(c->item[0].record[0], field);

	for (unsigned i = 0; i < c->count; i++)
		for (unsigned k = 0; k < c->item[i].count; k++)
			if (strcmp(record_text(c->item[i].record[k], field), first) != 0)
				return false;
	return true;
}

static int section_text(FILE *to, struct comparison *c, const struct section *s,
			const struct cl_table_options *options)
{
	struct walk w = {
		.columns = &s->columns,
		.all = options->all_counters,
		.begin = text_begin,
		.row = text_row,
		.end = text_end,
		.comparison = c,
		.options = options,
		.to = to,
	};
	int r;

	if (options->within_percent) {
		w.wanted = agree_wanted;
		w.begin = agree_begin;
		w.row = agree_row;
		w.end = agree_end;
	}

	fprintf(to, "%s%s%s\n", s->scenario, s->variant ? ", variant " : "",
		s->variant ? s->variant : "");
	r = heading_print(to, &s->columns);
	if (!r)
		r = walk(&w);
	grid_free(w.grid);
	if (!same_text(&s->columns, "scenario_sha256"))
		fprintf(to, "\nnote: the records are of different versions of the scenario file\n");
	return r;
}

static int comparison_text(FILE *to, struct comparison *c, const struct cl_table_options *options)
{
	int r = 0;

	for (unsigned i = 0; i < c->count && !r; i++) {
		if (i)
			fputc('\n', to);
		r = section_text(to, c, &c->section[i], options);
	}
	if (c->marked || options->within_percent || heading_has_notes(c->results))
		fputc('\n', to);
	if (options->within_percent)
		fprintf(to,
			"%u of %u measures of the second file are inside: within %u %% of the "
			"first one's median, or in its range\n",
			c->agreeing, c->judged, options->within_percent);
	if (c->marked)
		fprintf(to, CELLS_MARK_LEGEND);
	return r ? r : heading_notes(to, c->results);
}

/* --- JSON --- */

static json_t *number(double value)
{
	json_int_t whole = (json_int_t)value;

	return (double)whole == value ? json_integer(whole) : json_real(value);
}

static json_t *set_json(const struct stat_summary *base, const struct stat_summary *s)
{
	json_t *set;

	if (!s->count)
		return json_null();
	set = json_object();
	json_object_set_new(set, "count", json_integer(s->count));
	json_object_set_new(set, "median", number(s->median));
	json_object_set_new(set, "range",
			    s->count > 1 ? json_pack("[oo]", number(s->min), number(s->max))
					 : json_null());
	if (base && base->count) {
		double from = base->median, size = from < 0 ? -from : from;

		json_object_set_new(set, "change_percent",
				    size > 0 ? json_real((s->median - from) / size * 100)
					     : json_null());
		json_object_set_new(set, "apart", json_boolean(stat_apart(base, s)));
	}
	return set;
}

static int json_begin(struct walk *w, const char *step)
{
	(void)w;
	(void)step;
	return 0;
}

static int json_end(struct walk *w)
{
	(void)w;
	return 0;
}

static int json_row(struct walk *w, const char *step, const char *measure,
		    const struct row_values *v)
{
	json_t *sets = json_array();

	for (unsigned i = 0; i < v->count; i++)
		json_array_append_new(sets, set_json(i ? &v->set[0] : NULL, &v->set[i]));
	return json_array_append_new(w->rows, json_pack("{s:s, s:s, s:o}", "step", step, "measure",
							measure, "sets", sets))
		       ? -ENOMEM
		       : 0;
}

static json_t *section_sets(const struct section *s)
{
	json_t *sets = json_array();

	for (unsigned i = 0; i < s->columns.count; i++) {
		const struct column *c = &s->columns.item[i];

		json_array_append_new(sets,
				      json_pack("{s:s, s:s, s:s, s:i}", "label", c->label,
						"backend", record_text(c->record[0], "backend"),
						"kernel", c->kernel, "count", (int)c->count));
	}
	return sets;
}

static int section_json(struct comparison *c, const struct section *s, bool all, json_t *sections)
{
	struct walk w = {
		.columns = &s->columns,
		.all = all,
		.begin = json_begin,
		.row = json_row,
		.end = json_end,
		.comparison = c,
		.rows = json_array(),
	};
	int r = walk(&w);
	json_t *section =
		json_pack("{s:s, s:s?, s:b, s:o, s:o}", "scenario", s->scenario, "variant",
			  s->variant, "same_scenario", same_text(&s->columns, "scenario_sha256"),
			  "sets", section_sets(s), "rows", w.rows);

	if (!section || json_array_append_new(sections, section))
		return -ENOMEM;
	return r;
}

static int comparison_json(FILE *to, struct comparison *c, bool all)
{
	json_t *sections = json_array(), *whole;
	int r = sections ? 0 : -ENOMEM;

	for (unsigned i = 0; i < c->count && !r; i++)
		r = section_json(c, &c->section[i], all, sections);
	whole = json_pack("{s:i, s:o}", "schema", RECORD_SCHEMA, "sections", sections);
	if (!r && (!whole || json_dumpf(whole, to, JSON_INDENT(2) | JSON_REAL_PRECISION(6))))
		r = -ENOMEM;
	fputc('\n', to);
	json_decref(whole);
	return r;
}

/* A judgement is of one file about another, on one kernel and the model, say. */
static int two_columns(const struct comparison *c, struct cl_error *err)
{
	for (unsigned i = 0; i < c->count; i++) {
		const struct section *s = &c->section[i];

		if (c->files != 2 || s->columns.count != 2 ||
		    !strcmp(s->columns.item[0].label, s->columns.item[1].label))
			return cl_error(
				err, -EINVAL,
				"--within needs two files with records of the same variants "
				"of the same scenarios, on one kernel each");
	}
	return 0;
}

int cl_results_compare(FILE *to, const char *const *paths, unsigned count, bool json,
		       const struct cl_table_options *options, struct cl_error *err)
{
	static const struct cl_table_options plain;
	struct comparison c = {0};
	int r = comparison_load(&c, paths, count, err);

	if (!options)
		options = &plain;
	if (!r && options->within_percent)
		r = two_columns(&c, err);
	if (!r) {
		r = json ? comparison_json(to, &c, options->all_counters)
			 : comparison_text(to, &c, options);
		if (r)
			cl_error(err, r, "no memory for the comparison");
	}
	comparison_free(&c);
	return r;
}
