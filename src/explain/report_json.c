/* SPDX-License-Identifier: MIT */
#include "config.h"
#include "explain/explanation.h"
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *unit_name(enum fact_unit unit)
{
	static const char *const names[] = {
		[UNIT_HIDDEN] = "flag", [UNIT_FLAG] = "flag",   [UNIT_COUNT] = "count",
		[UNIT_PAGES] = "pages", [UNIT_BYTES] = "bytes", [UNIT_RATIO] = "ratio",
		[UNIT_TIMES] = "times", [UNIT_NS] = "ns",       [UNIT_TEXT] = "text",
	};

	return names[unit];
}

/* Text from the input may hold bytes that are not UTF-8. */
static json_t *text(const char *s)
{
	json_t *j = json_string(s);
	char *clean;

	if (j)
		return j;
	clean = strdup(s);
	if (!clean)
		return json_null();
	for (char *c = clean; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(clean);
	free(clean);
	return j;
}

/* "file" and "line" of an object, null when it was derived from several lines. */
static void put_place(json_t *to, const struct cl_explanation *x, int file, int line)
{
	bool known = file >= 0 && (unsigned)file < x->evidence.files;
	const char *raw = known ? evidence_raw_find(&x->evidence, file, line) : NULL;

	json_object_set_new(to, "file", known ? text(x->evidence.file[file].name) : json_null());
	json_object_set_new(to, "line", known && line > 0 ? json_integer(line) : json_null());
	if (raw)
		json_object_set_new(to, "raw", text(raw));
}

static json_t *value(const struct fact *f, enum fact_unit unit)
{
	if (unit == UNIT_TEXT)
		return text(f->text);
	if (unit == UNIT_FLAG || unit == UNIT_HIDDEN)
		return json_boolean(f->number != 0);
	if (!isfinite(f->number))
		return json_null();
	if (f->number > -9e15 && f->number < 9e15 && f->number == (double)(json_int_t)f->number)
		return json_integer((json_int_t)f->number);
	return json_real(f->number);
}

static json_t *facts(const struct cl_explanation *x, const struct incident *i)
{
	json_t *list = json_array();
	char buf[200];

	for (unsigned k = 0; k < FACT_IDS; k++) {
		const struct fact *f = &i->facts.fact[k];
		json_t *o;

		if (!f->known || fact_definitions[k].unit == UNIT_HIDDEN)
			continue;
		o = json_object();
		json_object_set_new(o, "name", json_string(fact_definitions[k].name));
		json_object_set_new(o, "value", value(f, fact_definitions[k].unit));
		json_object_set_new(o, "unit", json_string(unit_name(fact_definitions[k].unit)));
		json_object_set_new(o, "text",
				    text(fact_print(&i->facts, (enum fact_id)k, buf, sizeof(buf))));
		json_object_set_new(o, "label", json_string(fact_definitions[k].label));
		put_place(o, x, f->file, f->line);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *points(const struct cl_explanation *x, const struct point *p, unsigned n)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < n; k++) {
		json_t *o = json_object();

		json_object_set_new(o, "rule", json_string(p[k].rule->id));
		json_object_set_new(o, "text", text(p[k].text));
		json_object_set_new(o, "weight", json_integer(p[k].rule->weight));
		json_object_set_new(o, "reference", json_string(p[k].rule->reference));
		put_place(o, x, p[k].file, p[k].line);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *remedies(const struct incident *i)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < i->remedies; k++) {
		const struct remedy *r = i->remedy[k].remedy;
		json_t *o = json_object();

		json_object_set_new(o, "id", json_string(r->id));
		json_object_set_new(o, "what", text(i->remedy[k].what));
		json_object_set_new(o, "effect", text(i->remedy[k].effect));
		json_object_set_new(o, "cost", json_string(r->cost));
		json_object_set_new(o, "check", text(i->remedy[k].check));
		json_object_set_new(o, "root", json_boolean(r->root));
		json_object_set_new(o, "reboot", json_boolean(r->reboot));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *order(int o)
{
	return o < 0 ? json_null() : json_integer(o);
}

static json_t *zones(const struct cl_explanation *x, const struct incident *i)
{
	json_t *list = json_array();

	for (unsigned k = 0; k < i->zones.count; k++) {
		const struct zone_view *z = &i->zones.zone[k];
		json_t *o = json_object();

		json_object_set_new(o, "node", json_integer(z->node));
		json_object_set_new(o, "zone", text(z->name));
		json_object_set_new(o, "eligible", json_boolean(z->eligible));
		json_object_set_new(o, "why", json_string(zone_why_text(z->why)));
		json_object_set_new(o, "free_kb", json_integer((json_int_t)z->free_kb));
		json_object_set_new(o, "min_kb",
				    z->has_marks ? json_integer((json_int_t)z->min_kb)
						 : json_null());
		json_object_set_new(o, "reserve_kb",
				    zone_reserve_known(z) ? json_integer((json_int_t)z->reserve_kb)
							  : json_null());
		json_object_set_new(o, "biggest_order", order(z->present_order));
		json_object_set_new(o, "biggest_usable_order", order(z->usable_order));
		json_object_set_new(o, "index",
				    z->has_index ? json_real(z->index / 1000.0) : json_null());
		json_object_set_new(o, "sum_kb",
				    z->has_blocks ? json_integer((json_int_t)z->sum_kb)
						  : json_null());
		json_object_set_new(o, "sum_matches",
				    z->has_total ? json_boolean(z->sum_kb == z->total_kb)
						 : json_null());
		put_place(o, x, z->file, z->list_line ? z->list_line : z->state_line);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *left_out(const struct cl_explanation *x)
{
	const struct evidence *e = &x->evidence;
	json_t *list = json_array();

	for (unsigned k = 0; k < e->left_outs; k++) {
		json_t *o = json_object();

		json_object_set_new(o, "text", text(e->left_out[k].text));
		put_place(o, x, e->left_out[k].file, e->left_out[k].line);
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *incident(const struct cl_explanation *x, const struct incident *i)
{
	json_t *o = json_object(), *evidence = json_object();

	json_object_set_new(o, "class", json_string(class_table[i->class].id));
	json_object_set_new(o, "name", json_string(class_table[i->class].name));
	json_object_set_new(o, "confidence", json_real((int)(i->confidence * 100 + 0.5) / 100.0));
	json_object_set_new(o, "runner_up",
			    i->runner_up < CLASSES ? json_string(class_table[i->runner_up].id)
						   : json_null());
	json_object_set_new(o, "summary", text(i->summary));
	json_object_set_new(o, "facts", facts(x, i));
	json_object_set_new(evidence, "for", points(x, i->pro, i->pros));
	json_object_set_new(evidence, "against", points(x, i->con, i->cons));
	json_object_set_new(o, "evidence", evidence);
	json_object_set_new(o, "zones", zones(x, i));
	json_object_set_new(o, "remedies", remedies(i));
	json_object_set_new(o, "left_out", left_out(x));
	return o;
}

static json_t *what_if(const struct what_if *w)
{
	json_t *o = json_object(), *list = json_array(), *assumed = json_array();

	if (w->missing[0]) {
		json_object_set_new(o, "missing", text(w->missing));
		json_decref(list);
		json_decref(assumed);
		return o;
	}
	json_object_set_new(o, "kernel", text(w->kernel));
	json_object_set_new(o, "request", text(w->request));
	json_object_set_new(o, "scale", json_integer(w->scale));
	for (unsigned k = 0; k < w->predictions; k++) {
		const struct prediction *p = &w->prediction[k];

		json_array_append_new(
			list,
			json_pack("{s:s, s:s, s:I, s:I, s:i, s:i, s:I, s:I, s:I, s:I, s:I}", "id",
				  p->id, "what", p->what, "free_blocks_before",
				  (json_int_t)p->before, "free_blocks_after", (json_int_t)p->after,
				  "asked", (int)p->asked, "served", (int)p->got, "remedy_ns",
				  (json_int_t)p->remedy_ns, "request_ns", (json_int_t)p->request_ns,
				  "longest_ns", (json_int_t)p->longest_ns, "pages_moved",
				  (json_int_t)p->moved, "pages_dropped", (json_int_t)p->dropped));
	}
	for (unsigned k = 0; k < w->assumptions; k++)
		json_array_append_new(assumed, text(w->assumption[k]));
	json_object_set_new(o, "predictions", list);
	json_object_set_new(o, "assumed", assumed);
	return o;
}

/*
 * The worst incident is the object itself, so that a reader who wants one answer finds
 * it in the same place always; "incidents" holds all of them when there are several.
 */
int report_json(FILE *to, const struct cl_explanation *x)
{
	json_t *top, *list;
	int r;

	if (!x->incidents)
		return -EINVAL;
	top = json_object();
	json_object_set_new(top, "schema", json_integer(EXPLAIN_SCHEMA));
	json_object_set_new(top, "kind", json_string("compactlab-explanation"));
	json_object_set_new(top, "version", json_string(CL_VERSION));
	{
		json_t *first = incident(x, x->incident[0]);

		json_object_update(top, first);
		json_decref(first);
	}
	if (x->incidents > 1) {
		list = json_array();
		for (unsigned k = 0; k < x->incidents; k++)
			json_array_append_new(list, incident(x, x->incident[k]));
		json_object_set_new(top, "incidents", list);
	}
	if (x->what_if.asked)
		json_object_set_new(top, "what_if", what_if(&x->what_if));
	r = json_dumpf(top, to, JSON_INDENT(2) | JSON_REAL_PRECISION(6));
	json_decref(top);
	if (r || fputc('\n', to) == EOF)
		return -EIO;
	return 0;
}
