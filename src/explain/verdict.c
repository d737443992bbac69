/* SPDX-License-Identifier: MIT */
#include "explain/verdict.h"
#include <stdio.h>
#include <string.h>

static const char *class_text(unsigned class)
{
	return class_table[class].id;
}

/* ---- points ------------------------------------------------------------------------- */

/* Where a text was read: the first of the facts it names that has a line. */
static void locate(const char *text, const struct facts *f, enum fact_id fallback, int *file,
		   int *line)
{
	*file = -1;
	*line = 0;
	for (const char *at = text; (at = strchr(at, '{')) != NULL; at++) {
		const char *end = strchr(at, '}');
		enum fact_id id = end ? fact_find(at + 1, (size_t)(end - at - 1)) : FACT_IDS;

		if (id != FACT_IDS && f->fact[id].known && f->fact[id].file >= 0) {
			*file = f->fact[id].file;
			*line = f->fact[id].line;
			return;
		}
	}
	if (fallback != FACT_IDS && f->fact[fallback].known) {
		*file = f->fact[fallback].file;
		*line = f->fact[fallback].line;
	}
}

/* False when the sentence names a fact that is not known. */
static bool add_point(struct incident *i, const struct rule *r, enum fact_id first, bool pro)
{
	struct point *list = pro ? i->pro : i->con;
	unsigned *n = pro ? &i->pros : &i->cons;
	struct point *p;
	bool missing, bad;

	if (*n == POINTS_MOST)
		return true;
	p = &list[*n];
	p->rule = r;
	template_fill(r->text, &i->facts, p->text, sizeof(p->text), &missing, &bad);
	if (missing || bad)
		return false;
	locate(r->text, &i->facts, first, &p->file, &p->line);
	if (p->file < 0) {
		p->file = i->file;
		p->line = i->line;
	}
	++*n;
	return true;
}

static void score_all(struct incident *i)
{
	for (unsigned k = 0; k < rule_count; k++)
		if (condition_holds(rule_table[k].condition, &i->facts, NULL, NULL))
			i->score[rule_table[k].class] += rule_table[k].weight;
}

static void choose(struct incident *i)
{
	int best = POINTS_NEEDED - 1, second = 0;

	i->class = 0;
	i->runner_up = CLASSES;
	for (unsigned c = 1; c < CLASSES; c++) {
		if (i->score[c] > best) {
			best = i->score[c];
			i->class = c;
		}
	}
	for (unsigned c = 1; c < CLASSES; c++) {
		if (c != i->class && i->score[c] > second) {
			second = i->score[c];
			i->runner_up = c;
		}
	}
	if (i->class) {
		/* The distance to the next class, and whether much or little speaks at all. */
		i->confidence =
			0.5 + 0.5 * (best - second) / (best + 3.0) * (best < 8 ? best / 8.0 : 1.0);
	} else {
		/* How much was looked at, and how near the next class came. */
		i->confidence = 0.5 + 0.08 * i->score[0] - 0.06 * second;
	}
	/* Sums since boot are no rates; another report's lists are not of this instant. */
	if (i->class && fact_value(&i->facts, FACT_SINCE_BOOT, 0) != 0)
		i->confidence -= 0.1;
	if (fact_value(&i->facts, FACT_BORROWED, 0) != 0)
		i->confidence -= 0.05;
	if (i->confidence < 0.1)
		i->confidence = 0.1;
	if (i->confidence > 0.97)
		i->confidence = 0.97;
}

static void collect_points(struct incident *i)
{
	for (unsigned k = 0; k < rule_count; k++) {
		const struct rule *r = &rule_table[k];
		enum fact_id first;

		if (r->class != i->class && r->class != i->runner_up)
			continue;
		if (!condition_holds(r->condition, &i->facts, &first, NULL))
			continue;
		if (r->class == i->class)
			add_point(i, r, first, r->weight > 0);
		else if (r->weight > 0)
			add_point(i, r, first, false);
	}
	/* Of a healthy machine's signs, those that hold speak against a class too. */
	for (unsigned k = 0; k < rule_count && i->class; k++) {
		const struct rule *r = &rule_table[k];
		enum fact_id first;

		if (r->class == 0 && r->weight > 0 && !i->is_event &&
		    condition_holds(r->condition, &i->facts, &first, NULL))
			add_point(i, r, first, false);
	}
}

/* ---- sentence and remedies ---------------------------------------------------------- */

static void summarize(struct incident *i)
{
	const struct class_definition *c = &class_table[i->class];
	bool missing, bad;

	for (size_t k = 0; k < sizeof(c->sentence) / sizeof(c->sentence[0]); k++) {
		const struct class_sentence *s = &c->sentence[k];

		if (!s->text)
			break;
		if (s->condition && !condition_holds(s->condition, &i->facts, NULL, NULL))
			continue;
		template_fill(s->text, &i->facts, i->summary, sizeof(i->summary), &missing, &bad);
		if (!missing && !bad)
			return;
	}
	snprintf(i->summary, sizeof(i->summary), "%s: %s.", c->id, c->name);
}

static bool offered(const struct incident *i, const char *id)
{
	for (unsigned k = 0; k < i->remedies; k++)
		if (!strcmp(i->remedy[k].remedy->id, id))
			return true;
	return false;
}

static void offer(struct incident *i)
{
	for (unsigned k = 0; k < remedy_count && i->remedies < REMEDIES_MOST; k++) {
		const struct remedy *r = &remedy_table[k];
		struct offered *o = &i->remedy[i->remedies];
		bool missing_what, missing_effect, missing_check, bad;

		if (r->class != i->class || offered(i, r->id))
			continue;
		if (r->condition && !condition_holds(r->condition, &i->facts, NULL, NULL))
			continue;
		template_fill(r->what, &i->facts, o->what, sizeof(o->what), &missing_what, &bad);
		template_fill(r->effect, &i->facts, o->effect, sizeof(o->effect), &missing_effect,
			      &bad);
		template_fill(r->check, &i->facts, o->check, sizeof(o->check), &missing_check,
			      &bad);
		if (missing_what || missing_effect || missing_check)
			continue;
		o->remedy = r;
		i->remedies++;
	}
}

void verdict_judge(struct incident *i)
{
	score_all(i);
	choose(i);
	collect_points(i);
	summarize(i);
	offer(i);
	i->badness = class_table[i->class].severity + 10 * i->confidence +
		     15 * fact_value(&i->facts, FACT_IS_OOM, 0);
	if (i->class == 10 && fact_value(&i->facts, FACT_FINAL_FAILURE, 0) == 0)
		i->badness -= 40; /* busy ranges alone are harmless */
	if (i->class == 11)
		i->badness -= 8 * fact_value(&i->facts, FACT_GOT_RATIO, 0);
}

/* ---- the tables themselves ---------------------------------------------------------- */

struct checker {
	void (*fault)(void *arg, const char *text);
	void *arg;
	unsigned faults;
};

static void fault(struct checker *c, const char *id, const char *text)
{
	char line[256];

	c->faults++;
	snprintf(line, sizeof(line), "%s: %.180s", id, text);
	if (c->fault)
		c->fault(c->arg, line);
}

static void check_condition(struct checker *c, const char *id, const char *text)
{
	static const struct facts none;
	bool bad = false;

	if (!text)
		return;
	condition_holds(text, &none, NULL, &bad);
	if (bad)
		fault(c, id, text);
}

static void check_template(struct checker *c, const char *id, const char *text)
{
	static const struct facts none;
	char buf[2048];
	bool missing, bad;

	template_fill(text, &none, buf, sizeof(buf), &missing, &bad);
	if (bad)
		fault(c, id, text);
}

unsigned verdict_check_tables(void (*report)(void *arg, const char *text), void *arg)
{
	struct checker c = {report, arg, 0};

	for (unsigned k = 0; k < rule_count; k++) {
		check_condition(&c, rule_table[k].id, rule_table[k].condition);
		check_template(&c, rule_table[k].id, rule_table[k].text);
		if (rule_table[k].class >= CLASSES)
			fault(&c, rule_table[k].id, "no such class");
		for (unsigned j = 0; j < k; j++)
			if (!strcmp(rule_table[j].id, rule_table[k].id))
				fault(&c, rule_table[k].id, "twice");
	}
	for (unsigned k = 0; k < remedy_count; k++) {
		check_condition(&c, remedy_table[k].id, remedy_table[k].condition);
		check_template(&c, remedy_table[k].id, remedy_table[k].what);
		check_template(&c, remedy_table[k].id, remedy_table[k].effect);
		check_template(&c, remedy_table[k].id, remedy_table[k].check);
		if (remedy_table[k].class >= CLASSES)
			fault(&c, remedy_table[k].id, "no such class");
	}
	for (unsigned k = 0; k < CLASSES; k++)
		for (unsigned s = 0; s < 12 && class_table[k].sentence[s].text; s++) {
			check_condition(&c, class_text(k), class_table[k].sentence[s].condition);
			check_template(&c, class_text(k), class_table[k].sentence[s].text);
		}
	return c.faults;
}
