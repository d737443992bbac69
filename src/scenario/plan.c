/* SPDX-License-Identifier: MIT */
/* One (backend, variant) of a scenario, every value converted, every reference followed. */
#include "scenario/plan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/plan_rules.h"
#include "scenario/scenario.h"
#include "scenario/value.h"
#include "util/util.h"

#define HUGE_BYTES (2ull << 20)

static int no_memory(struct cl_error *err)
{
	return cl_error(err, -ENOMEM, "out of memory");
}

/* Convert what counts for this option, or its default, into `base`. */
static int resolve_option(const struct plan_context *c, const struct option *o, int step,
			  void *base)
{
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, step, "");
	const char *text = a ? a->value : o->fallback;
	struct cl_error why = {0};
	int r;

	if (!text)
		return 0;
	/* What --set says is taken as it stands. */
	r = value_convert(o, text, a && a->rank == RANK_SET ? 1 : c->s->scale, base, &why);
	if (!r)
		return 0;
	if (a)
		assignment_error(c->s, a, c->err, "%s: %s", a->key, why.what);
	else
		cl_error_at(c->err, r, c->s->file, 0, "the default of %s: %s", o->key, why.what);
	return why.hint[0] ? cl_error_hint(c->err, r, "%s", why.hint) : r;
}

static void put_last(const struct assignment **list, unsigned n, const char *name)
{
	for (unsigned i = 0; i + 1 < n; i++) {
		const struct assignment *a = list[i];

		if (strcmp(a->name, name) != 0)
			continue;
		list[i] = list[i + 1];
		list[i + 1] = a;
	}
}

/*
 * In the order in which the names first appear, but vm.min_free_kbytes last: writing thp.enabled
 * has the kernel raise it to what it recommends for huge pages. Of each the value with the highest
 * rank.
 */
static int resolve_settings(const struct plan_context *c, int step, struct settings *out)
{
	const struct assignment *best[SCENARIO_SETTINGS];
	unsigned n = 0;

	for (unsigned i = 0; i < c->s->assignments; i++) {
		const struct assignment *a = &c->s->assignment[i];
		unsigned k = 0;

		if (a->option->section != SECTION_SETTING || a->step != step ||
		    !assignment_applies(a, c->backend, c->variant))
			continue;
		while (k < n && strcmp(best[k]->name, a->name) != 0)
			k++;
		if (k == SCENARIO_SETTINGS)
			return assignment_error(c->s, a, c->err, "there are more than %d settings",
						SCENARIO_SETTINGS);
		if (k == n || a->rank >= best[k]->rank)
			best[k] = a;
		n += k == n;
	}
	out->item = calloc(n + 1, sizeof(*out->item));
	if (!out->item)
		return no_memory(c->err);
	put_last(best, n, "vm.min_free_kbytes");
	for (out->count = 0; out->count < n; out->count++) {
		const struct assignment *a = best[out->count];
		struct setting *s = &out->item[out->count];

		*s = (struct setting){.name = strdup(a->name),
				      .value = strdup(a->value),
				      .line = a->line};
		if (!s->name || !s->value) {
			free(s->name);
			free(s->value);
			return no_memory(c->err);
		}
	}
	return 0;
}

static bool is_skipped(const struct plan_context *c, int step)
{
	const struct option *o = option_find(SECTION_STEP, STEP_KINDS, "skip");
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, step, "");

	return a && !strcmp(a->value, "yes");
}

/* `of = STEP`: to the index in the plan. No step can name itself: no kind may name its own. */
static int resolve_reference(const struct plan_context *c, const struct option *o, int step,
			     struct step *out)
{
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, step, "");
	unsigned *index = (unsigned *)(void *)((char *)out + o->offset);
	int target;

	if (!a)
		return 0;
	target = scenario_step_find(c->s, a->value);
	if (target > step)
		assignment_error(c->s, a, c->err, "%s: step '%s' comes later, on line %d", a->key,
				 a->value, c->s->step[target].line);
	else if (c->index[target] < 0)
		assignment_error(c->s, a, c->err, "%s: step '%s' is skipped", a->key, a->value);
	else {
		*index = (unsigned)c->index[target];
		return 0;
	}
	if (target > step)
		return cl_error_hint(c->err, -EINVAL, "it must name an earlier step");
	return cl_error_hint(c->err, -EINVAL, "skip this step too");
}

/* "thp.enabled=defer" into a name and a value. Words are not looked up: to see them refused is the
 * point. */
static int resolve_try(const struct plan_context *c, int i, struct step_set *set)
{
	const struct option *o = option_find(SECTION_STEP, STEP_SET, "try");
	const struct assignment *a = assigned(c->s, c->backend, c->variant, o, i, "");
	const char *value = set->try_text ? strchr(set->try_text, '=') : NULL;
	struct setting *s;

	if (!set->try_text)
		return 0;
	set->tried.item = s = calloc(1, sizeof(*s));
	if (!s)
		return no_memory(c->err);
	set->tried.count = 1;
	s->line = a->line;
	s->name = strndup(set->try_text, value ? (size_t)(value - set->try_text) : 0);
	s->value = strdup(value ? value + 1 : "");
	if (!s->name || !s->value)
		return no_memory(c->err);
	if (*s->value && option_is_setting(s->name))
		return 0;
	assignment_error(c->s, a, c->err, "'%s' is not a setting and a value", set->try_text);
	return cl_error_hint(c->err, -EINVAL, "write it as thp.enabled=always");
}

static int resolve_step(const struct plan_context *c, int i, struct step *out)
{
	const struct scenario_step *from = &c->s->step[i];
	int r = 0;

	out->kind = from->kind;
	out->line = from->line;
	out->name = strdup(from->name);
	if (!out->name)
		return no_memory(c->err);
	if (out->kind == STEP_SET)
		r = resolve_settings(c, i, &out->set.settings);
	for (unsigned k = 0; !r && k < option_count; k++) {
		const struct option *o = &option_table[k];

		if (o->section != SECTION_STEP || o->type == OPT_OVERRIDE ||
		    (o->kind == STEP_KINDS ? !o->offset || o->flags & OPTION_FIXED
					   : o->kind != from->kind))
			continue;
		if ((o->flags & OPTION_REQUIRED) &&
		    !assigned(c->s, c->backend, c->variant, o, i, "")) {
			cl_error_at(c->err, -EINVAL, c->s->file, from->line,
				    "step '%s' (%s) needs '%s'", from->name,
				    step_kind_name(from->kind), o->key);
			return cl_error_hint(c->err, -EINVAL, "%s", option_type_help(o));
		}
		r = o->type == OPT_STEP ? resolve_reference(c, o, i, out)
					: resolve_option(c, o, i, out);
	}
	if (!r && out->kind == STEP_SET)
		r = resolve_try(c, i, &out->set);
	if (!r && out->kind == STEP_FAULT && out->fault.size.bytes)
		out->fault.size.bytes =
			(out->fault.size.bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	return r;
}

static int resolve_section(const struct plan_context *c, enum option_section section, void *base)
{
	for (unsigned k = 0; k < option_count; k++) {
		const struct option *o = &option_table[k];
		int r;

		if (o->section != section || o->type == OPT_OVERRIDE)
			continue;
		r = resolve_option(c, o, -1, base);
		if (r)
			return r;
	}
	return 0;
}

static int plan_fill(struct plan_context *c, struct plan *p)
{
	const struct cl_scenario *s = c->s;
	int r;

	p->scenario = strdup(s->name);
	p->file = strdup(s->file);
	p->backend = strdup(scenario_backends[c->backend]);
	p->variant = strdup(s->variant[c->variant].name);
	p->step = calloc(s->steps, sizeof(*p->step));
	if (!p->scenario || !p->file || !p->backend || !p->variant || !p->step)
		return no_memory(c->err);
	memcpy(p->sha256, s->sha256, sizeof(p->sha256));
	r = resolve_section(c, SECTION_VARIANT, p);
	if (!r)
		r = resolve_section(c, SECTION_MACHINE, &p->machine);
	if (!r)
		r = resolve_settings(c, -1, &p->machine.settings);
	if (!r)
		r = plan_check_machine(c, &p->machine);
	for (unsigned i = 0; !r && i < s->steps; i++) {
		c->index[i] = -1;
		if (is_skipped(c, (int)i))
			continue;
		c->origin[p->steps] = i;
		r = resolve_step(c, (int)i, &p->step[p->steps++]);
		if (r)
			break;
		r = plan_check_step(c, p, p->steps - 1);
		c->index[i] = (int)p->steps - 1;
	}
	if (!r && !p->steps) {
		cl_error_at(c->err, -EINVAL, s->file, 0, "every step is skipped");
		r = -EINVAL;
	}
	return r;
}

int plan_resolve(const struct cl_scenario *s, const char *backend, const char *variant,
		 unsigned repeat, uint64_t seed, struct plan **out, struct cl_error *err)
{
	struct plan_context c = {.s = s, .err = err};
	struct plan *p;
	int r;

	*out = NULL;
	c.backend = scenario_backend_find(backend);
	c.variant = scenario_variant_find(s, variant);
	if (c.backend < 0)
		return cl_error_at(err, -EINVAL, s->file, 0, "there is no backend '%s'", backend);
	if (c.variant < 0) {
		struct suggestion best = {.word = variant};

		cl_error_at(err, -EINVAL, s->file, 0, "there is no variant '%s'", variant);
		for (unsigned i = 0; i < s->variants; i++)
			suggestion_consider(&best, s->variant[i].name);
		if (best.best)
			cl_error_hint(err, -EINVAL, "did you mean '%s'?", best.best);
		return -EINVAL;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return no_memory(err);
	p->seed = seed + repeat;
	p->repeat = repeat;
	r = plan_fill(&c, p);
	if (r) {
		plan_free(p);
		return r;
	}
	*out = p;
	return 0;
}

static void settings_free(struct settings *s)
{
	for (unsigned i = 0; i < s->count; i++) {
		free(s->item[i].name);
		free(s->item[i].value);
	}
	free(s->item);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->steps; i++) {
		struct step *s = &p->step[i];

		free(s->name);
		if (s->kind == STEP_SET) {
			settings_free(&s->set.settings);
			settings_free(&s->set.tried);
			free(s->set.try_text);
		}
		if (s->kind == STEP_READ)
			free(s->read.file);
	}
	free(p->step);
	settings_free(&p->machine.settings);
	free(p->machine.kernel);
	free(p->machine.boot);
	free(p->machine.snapshot);
	free(p->machine.costs);
	free(p->scenario);
	free(p->file);
	free(p->backend);
	free(p->variant);
	free(p->policy);
	free(p);
}

int experiment_resolve(const struct cl_scenario *s, const char *backend, struct experiment *out,
		       struct cl_error *err)
{
	struct plan_context c = {.s = s, .err = err, .variant = -1};
	int r;

	memset(out, 0, sizeof(*out));
	c.backend = scenario_backend_find(backend);
	if (c.backend < 0)
		return cl_error_at(err, -EINVAL, s->file, 0, "there is no backend '%s'", backend);
	r = resolve_section(&c, SECTION_EXPERIMENT, out);
	if (!r && !out->title) {
		out->title = strdup(s->name);
		if (!out->title)
			r = no_memory(err);
	}
	if (r)
		experiment_free(out);
	return r;
}

void experiment_free(struct experiment *e)
{
	for (unsigned i = 0; i < e->shows; i++)
		free(e->show[i]);
	free(e->show);
	free(e->title);
	free(e->about);
	free(e->cite);
	memset(e, 0, sizeof(*e));
}

int plan_step_error(const struct plan *p, const struct step *s, int code, struct cl_error *err)
{
	struct cl_error was;

	if (!err)
		return code;
	was = *err;
	cl_error_at(err, code, was.line ? was.file : p->file, was.line ? was.line : s->line,
		    "step %s: %.900s", s->name, was.what);
	memcpy(err->hint, was.hint, sizeof(was.hint));
	return code;
}
