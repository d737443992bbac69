/* SPDX-License-Identifier: MIT */
/* From sections and keys to assignments: names are looked up, values checked for form. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/scenario.h"
#include "scenario/value.h"
#include "util/util.h"

/* Where something was written, while it is being looked at. */
struct place {
	const struct cl_scenario *s;
	const char *origin; /* "--set ..." or NULL */
	int line, continued;
	struct cl_error *err;
};

static const char *const section_types[] = {"experiment", "machine", "variant", "step",
					    "published",  "check",   "on"};
static const char *const reserved[] = {"experiment", "machine", "variant", "step",
				       "published",  "check",   "on",      "vm",
				       "thp",        "lru_gen", "all"};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

__attribute__((format(printf, 2, 3))) static int wrong(const struct place *p, const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cl_error_at(p->err, -EINVAL, p->origin ? p->origin : p->s->file,
			   p->origin ? 0 : p->line, "%s", text);
}

static int no_memory(struct cl_error *err)
{
	return cl_error(err, -ENOMEM, "out of memory");
}

int assignment_error(const struct cl_scenario *s, const struct assignment *a, struct cl_error *err,
		     const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return cl_error_at(err, -EINVAL, a->origin ? a->origin : s->file, a->origin ? 0 : a->line,
			   "%s", text);
}

/* "did you mean 'x'?" or else the list of what there is. */
static int suggest(const struct place *p, const struct suggestion *s, const char *else_hint)
{
	if (s->best)
		return cl_error_hint(p->err, -EINVAL, "did you mean '%s'?", s->best);
	return cl_error_hint(p->err, -EINVAL, "%s", else_hint);
}

static void list_add(char *list, size_t size, const char *word)
{
	size_t used = strlen(list);

	snprintf(list + used, size - used, "%s%s", used ? ", " : "", word);
}

/* The keys of a section (or of a kind of step) that may be written as they stand. */
static int unknown_key(const struct place *p, const char *where, enum option_section section,
		       enum step_kind kind, const char *key, bool dotted)
{
	struct suggestion best = {.word = key};
	char keys[400] = "", hint[480];

	for (unsigned i = 0; i < option_count; i++) {
		const struct option *o = &option_table[i];

		if (o->section != section ||
		    (section == SECTION_STEP && o->kind != kind && o->kind != STEP_KINDS) ||
		    (dotted && (o->flags & OPTION_FIXED)))
			continue;
		list_add(keys, sizeof(keys), o->key);
		if (islower((unsigned char)*o->key) && o->type != OPT_OVERRIDE)
			suggestion_consider(&best, o->key);
	}
	if (section == SECTION_VARIANT)
		suggestion_consider(&best, "kernel");
	if (section == SECTION_MACHINE) {
		list_add(keys, sizeof(keys), "vm.NAME, thp.NAME, lru_gen.NAME");
		for (unsigned i = 0; i < option_count; i++)
			if (option_table[i].section == SECTION_SETTING)
				suggestion_consider(&best, option_table[i].key);
	}
	wrong(p, "%s has no key '%s'", where, key);
	snprintf(hint, sizeof(hint), "its keys are %s", keys);
	return suggest(p, &best, hint);
}

static int check_name(const struct place *p, const char *what, const char *name, bool variant)
{
	const char *also = variant ? "-_.+" : "-_";

	if (strlen(name) > SCENARIO_NAME)
		return wrong(p, "the name of a %s has more than %d bytes", what, SCENARIO_NAME);
	for (const char *c = name; *c; c++) {
		bool fits = variant ? isalnum((unsigned char)*c)
				    : islower((unsigned char)*c) ||
					      (c > name && isdigit((unsigned char)*c));

		if (fits || (c > name && strchr(also, *c)))
			continue;
		wrong(p, "'%s' is not a name for a %s", name, what);
		if (variant)
			return cl_error_hint(p->err, -EINVAL,
					     "use letters, digits, '-', '_', '.' and '+', and "
					     "start with a letter or digit");
		return cl_error_hint(p->err, -EINVAL,
				     "use small letters, digits, '-' and '_', and start with a "
				     "letter");
	}
	for (unsigned i = 0; i < COUNT(reserved); i++)
		if (!strcmp(name, reserved[i]) && (!variant || !strcmp(name, "all"))) {
			wrong(p, "'%s' cannot name a %s", name, what);
			return cl_error_hint(p->err, -EINVAL, "it has a meaning of its own");
		}
	return 0;
}

/* Does "STEP.MEASURE" name a step of this file and something that can be a measure? */
static int check_measure(const struct place *p, const char *subject, const char *measure)
{
	const char *dot = strchr(measure, '.');
	char step[SCENARIO_NAME + 1];
	struct suggestion best = {.word = step};

	if (!dot || dot == measure || !dot[1] || strlen(dot + 1) > SCENARIO_NAME ||
	    strspn(dot + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_") !=
		    strlen(dot + 1)) {
		wrong(p, "%s: '%s' is not a measure", subject, measure);
		return cl_error_hint(p->err, -EINVAL,
				     "write STEP.MEASURE, such as populate.compact_stall");
	}
	snprintf(step, sizeof(step), "%.*s", (int)(dot - measure), measure);
	if ((size_t)(dot - measure) <= SCENARIO_NAME && scenario_step_find(p->s, step) >= 0)
		return 0;
	wrong(p, "%s: there is no step '%.*s'", subject, (int)(dot - measure), measure);
	for (unsigned i = 0; i < p->s->steps; i++)
		suggestion_consider(&best, p->s->step[i].name);
	return suggest(p, &best, "a measure starts with the name of a step");
}

static int check_measures(const struct place *p, const char *subject, const char *text)
{
	char item[192];
	int r;

	while ((r = value_item(&text, item, sizeof(item))) > 0) {
		r = check_measure(p, subject, item);
		if (r)
			return r;
	}
	return r;
}

/* `of = STEP`: it exists and is of an allowed kind; whether it comes earlier plan.c sees. */
static int check_step(const struct place *p, const char *subject, const struct option *o,
		      const char *text)
{
	int i = scenario_step_find(p->s, text);
	struct suggestion best = {.word = text};
	char kinds[128] = "";

	for (unsigned k = 0; k < STEP_KINDS; k++)
		if (o->kinds & 1u << k) {
			if (*kinds)
				strcat(kinds, " or ");
			strcat(kinds, step_kind_name(k));
		}
	if (i >= 0 && o->kinds & 1u << p->s->step[i].kind)
		return 0;
	if (i >= 0) {
		wrong(p, "%s: step '%s' is of kind %s", subject, text,
		      step_kind_name(p->s->step[i].kind));
		return cl_error_hint(p->err, -EINVAL, "it must name a step of kind %s", kinds);
	}
	wrong(p, "%s: there is no step '%s'", subject, text);
	for (unsigned k = 0; k < p->s->steps; k++)
		suggestion_consider(&best, p->s->step[k].name);
	return suggest(p, &best, "it must name an earlier step");
}

/* Files that act when they are written to hold no value that could be put back. */
static int check_setting(const struct place *p, const char *name, const struct option *o)
{
	static const struct {
		const char *name, *hint;
	} actions[] = {
		{"vm.compact_memory", "use a step with kind = compact"},
		{"vm.drop_caches", "use a step with kind = drop"},
		{"vm.stat_refresh", "statistics are refreshed for every step"},
	};
	struct suggestion best = {.word = name};

	for (unsigned i = 0; i < COUNT(actions); i++)
		if (!strcmp(name, actions[i].name)) {
			wrong(p, "%s is not a setting but an action", name);
			return cl_error_hint(p->err, -EINVAL, "%s", actions[i].hint);
		}
	if (strcmp(strchr(o->key, '.'), ".NAME"))
		return 0;
	/* Kernels have more settings than the table, but a near miss is a slip. */
	for (unsigned i = 0; i < option_count; i++)
		if (option_table[i].section == SECTION_SETTING &&
		    strcmp(strchr(option_table[i].key, '.'), ".NAME"))
			suggestion_consider(&best, option_table[i].key);
	if (!best.best)
		return 0;
	wrong(p, "there is no setting '%s'", name);
	return suggest(p, &best, "");
}

/* The form of a value; what and where are prefixed to the converter's message. */
static int check_value(const struct place *p, const struct option *o, const char *subject,
		       const char *value)
{
	struct cl_error why = {0};
	int r;

	if (p->continued && !value_continues(o->type)) {
		struct place more = *p;

		more.line = p->continued;
		wrong(&more, "this indented line continues the value of %s", subject);
		return cl_error_hint(p->err, -EINVAL, "remove the indent");
	}
	r = value_convert(o, value, 1, NULL, &why);
	if (r) {
		wrong(p, "%s: %s", subject, why.what);
		if (why.hint[0])
			cl_error_hint(p->err, r, "%s", why.hint);
		return r;
	}
	if (o->type == OPT_STEP)
		return check_step(p, subject, o, value);
	if (o->type == OPT_MEASURES)
		return check_measures(p, subject, value);
	return 0;
}

static int add(struct cl_scenario *s, const struct place *p, enum rank rank, int scope,
	       const struct option *o, int step, const char *key, const char *name,
	       const char *value)
{
	struct assignment *a;
	int r = check_value(p, o, key, value);

	if (r)
		return r;
	for (unsigned i = 0; rank != RANK_SET && i < s->assignments; i++) {
		a = &s->assignment[i];
		if (a->rank == rank && a->scope == scope && a->option == o && a->step == step &&
		    !strcmp(a->name, name)) {
			wrong(p, "%s was already given on line %d", key, a->line);
			return cl_error_hint(p->err, -EINVAL, "remove one of them");
		}
	}
	if (!(s->assignments & (s->assignments - 1))) {
		a = realloc(s->assignment, (s->assignments ? 2 * s->assignments : 1) * sizeof(*a));
		if (!a)
			return no_memory(p->err);
		s->assignment = a;
	}
	a = &s->assignment[s->assignments++];
	*a = (struct assignment){.rank = rank,
				 .scope = scope,
				 .option = o,
				 .step = step,
				 .key = strdup(key),
				 .value = strdup(value),
				 .line = p->origin ? 0 : p->line,
				 .continued = p->continued,
				 .origin = p->origin ? strdup(p->origin) : NULL};
	if (!a->key || !a->value || (p->origin && !a->origin))
		return no_memory(p->err);
	/* The name is the tail of the key: settings and checks are written "...NAME". */
	a->name = a->key + strlen(key) - strlen(name);
	return 0;
}

/* A key of step `i`, also in an override. */
static int add_step_key(struct cl_scenario *s, const struct place *p, enum rank rank, int scope,
			int i, const char *key, const char *value)
{
	const struct scenario_step *step = &s->step[i];
	bool setting = step->kind == STEP_SET && option_is_setting(key);
	const struct option *o =
		option_find(setting ? SECTION_SETTING : SECTION_STEP, step->kind, key);
	char where[96], dotted[256];
	int r;

	snprintf(where, sizeof(where), "step '%s' (%s)", step->name, step_kind_name(step->kind));
	if (!o)
		return unknown_key(p, where, SECTION_STEP, step->kind, key, rank != RANK_FILE);
	if (rank != RANK_FILE && (o->flags & OPTION_FIXED)) {
		wrong(p, "%s.%s cannot be overridden", step->name, key);
		return cl_error_hint(p->err, -EINVAL, "write two steps and skip one of them");
	}
	r = setting ? check_setting(p, key, o) : 0;
	if (r)
		return r;
	snprintf(dotted, sizeof(dotted), "%s.%s", step->name, key);
	return add(s, p, rank, scope, o, i, dotted, setting ? key : "", value);
}

static int add_machine_key(struct cl_scenario *s, const struct place *p, enum rank rank, int scope,
			   const char *key, const char *value)
{
	bool setting = option_is_setting(key);
	const struct option *o = option_find(setting ? SECTION_SETTING : SECTION_MACHINE, 0, key);
	char dotted[256];
	int r;

	if (!o)
		return unknown_key(p, "[machine]", SECTION_MACHINE, 0, key, rank != RANK_FILE);
	r = setting ? check_setting(p, key, o) : 0;
	if (r)
		return r;
	snprintf(dotted, sizeof(dotted), "%s%s", setting ? "" : "machine.", key);
	return add(s, p, rank, scope, o, -1, dotted, setting ? key : "", value);
}

static int add_experiment_key(struct cl_scenario *s, const struct place *p, enum rank rank,
			      int scope, const char *key, const char *value)
{
	const struct option *o = option_find(SECTION_EXPERIMENT, 0, key);
	char dotted[256];

	if (!o)
		return unknown_key(p, "[experiment]", SECTION_EXPERIMENT, 0, key,
				   rank != RANK_FILE);
	if (rank == RANK_VARIANT) {
		wrong(p, "experiment.%s is the same for all variants", key);
		return cl_error_hint(p->err, -EINVAL, "set it in [experiment] or [on BACKEND]");
	}
	if (rank != RANK_FILE && (o->flags & OPTION_FIXED))
		return wrong(p, "experiment.%s cannot be overridden", key);
	snprintf(dotted, sizeof(dotted), "experiment.%s", key);
	return add(s, p, rank, scope, o, -1, dotted, "", value);
}

/* `key` without "check.". Overrides must name a check of the file. */
static int add_check(struct cl_scenario *s, const struct place *p, enum rank rank, int scope,
		     const char *key, const char *value)
{
	const struct option *o = option_find(SECTION_CHECK, 0, "NAME");
	struct suggestion best = {.word = key};
	bool known = rank == RANK_FILE;
	char dotted[256];
	int r;

	if (rank == RANK_VARIANT) {
		wrong(p, "checks are the same for all variants");
		return cl_error_hint(p->err, -EINVAL, "put it in [check] or [on BACKEND]");
	}
	for (unsigned i = 0; i < s->assignments && !known; i++)
		if (s->assignment[i].option == o && s->assignment[i].rank == RANK_FILE) {
			known = !strcmp(s->assignment[i].name, key);
			suggestion_consider(&best, s->assignment[i].name);
		}
	if (!known) {
		wrong(p, "there is no check '%s'", key);
		return suggest(p, &best, "checks are named in [check]");
	}
	if (rank == RANK_FILE) {
		r = check_name(p, "check", key, true);
		if (r)
			return r;
		if (s->checks++ == SCENARIO_CHECKS)
			return wrong(p, "there are more than %d checks", SCENARIO_CHECKS);
	}
	snprintf(dotted, sizeof(dotted), "check.%s", key);
	return add(s, p, rank, scope, o, -1, dotted, key, value);
}

/* "SECTION.KEY" of an override; `where` is the place that holds it. */
static int add_dotted(struct cl_scenario *s, const struct place *p, enum rank rank, int scope,
		      const char *where, const char *key, const char *value)
{
	const char *dot = strchr(key, '.');
	char head[SCENARIO_NAME + 16];
	struct suggestion best = {.word = head};
	int i;

	if (strlen(key) > 2 * SCENARIO_NAME)
		return wrong(p, "the key has more than %d bytes", 2 * SCENARIO_NAME);
	if (option_is_setting(key))
		return add_machine_key(s, p, rank, scope, key, value);
	if (!dot && rank == RANK_VARIANT)
		return unknown_key(p, where, SECTION_VARIANT, 0, key, false);
	if (!dot) {
		wrong(p, "%s has no key '%s'", where, key);
		if (option_find(SECTION_MACHINE, 0, key))
			return cl_error_hint(p->err, -EINVAL, "did you mean 'machine.%s'?", key);
		if (option_find(SECTION_EXPERIMENT, 0, key))
			return cl_error_hint(p->err, -EINVAL, "did you mean 'experiment.%s'?", key);
		return cl_error_hint(p->err, -EINVAL,
				     "write machine.KEY, STEP.KEY, experiment.KEY, check.NAME, "
				     "vm.NAME, thp.NAME or lru_gen.NAME");
	}
	snprintf(head, sizeof(head), "%.*s", (int)(dot - key), key);
	if (!strcmp(head, "machine"))
		return add_machine_key(s, p, rank, scope, dot + 1, value);
	if (!strcmp(head, "experiment"))
		return add_experiment_key(s, p, rank, scope, dot + 1, value);
	if (!strcmp(head, "check"))
		return add_check(s, p, rank, scope, dot + 1, value);
	i = scenario_step_find(s, head);
	if (i >= 0)
		return add_step_key(s, p, rank, scope, i, dot + 1, value);
	if (!strcmp(head, "vm") || !strcmp(head, "thp") || !strcmp(head, "lru_gen"))
		return wrong(p, "'%s' is not the name of a setting", key);
	wrong(p, "there is no section or step '%.*s'", (int)(dot - key), key);
	for (unsigned k = 0; k < s->steps; k++)
		suggestion_consider(&best, s->step[k].name);
	suggestion_consider(&best, "machine");
	suggestion_consider(&best, "experiment");
	suggestion_consider(&best, "check");
	suggestion_consider(&best, "thp");
	suggestion_consider(&best, "lru_gen");
	return suggest(p, &best, "the first part is machine, experiment, check or a step's name");
}

int assign_set(struct cl_scenario *s, const char *key, const char *value, struct cl_error *err)
{
	char *origin = format("--set %s=%s", key, value);
	struct place p = {.s = s, .origin = origin, .err = err};
	int r;

	if (!origin)
		return no_memory(err);
	if (s->sets == SCENARIO_SETS)
		r = wrong(&p, "there are more than %d overrides", SCENARIO_SETS);
	else
		r = add_dotted(s, &p, RANK_SET, -1, "--set", key, value);
	if (!r)
		s->sets++;
	free(origin);
	return r;
}

static int add_published(struct cl_scenario *s, const struct place *p, const char *variant,
			 const char *key, const char *value)
{
	struct scenario_published *list, new = {.line = p->line};
	struct cl_error why = {0};
	char where[SCENARIO_NAME + 16];
	int r;

	snprintf(where, sizeof(where), "[published %s]", variant);
	r = check_measure(p, where, key);
	if (r)
		return r;
	for (unsigned i = 0; i < s->published; i++)
		if (!strcmp(s->figures[i].figures.variant, variant) &&
		    !strcmp(s->figures[i].figures.measure, key)) {
			wrong(p, "%s was already given on line %d", key, s->figures[i].line);
			return cl_error_hint(p->err, -EINVAL, "remove one of them");
		}
	r = value_numbers(value, new.figures.value, SCENARIO_VALUES, &new.figures.count, &why);
	if (r)
		return wrong(p, "%s: %s", key, why.what);
	if (s->published == SCENARIO_PUBLISHED)
		return wrong(p, "there are more than %d published figures", SCENARIO_PUBLISHED);
	list = realloc(s->figures, (s->published + 1) * sizeof(*list));
	if (!list)
		return no_memory(p->err);
	s->figures = list;
	new.figures.variant = strdup(variant);
	new.figures.measure = strdup(key);
	list[s->published++] = new;
	return new.figures.variant &&new.figures.measure ? 0 : no_memory(p->err);
}

static int add_step(struct cl_scenario *s, const struct ini_text *t, unsigned section,
		    struct cl_error *err)
{
	const struct ini_section *sec = &t->section[section];
	const struct option *o = option_find(SECTION_STEP, STEP_KINDS, "kind");
	struct place p = {.s = s, .line = sec->line, .err = err};
	const struct ini_key *first = NULL, *kind = NULL;
	int r = check_name(&p, "step", sec->name, false), word;
	char subject[SCENARIO_NAME + 8];

	if (r)
		return r;
	if (s->steps == SCENARIO_STEPS)
		return wrong(&p, "there are more than %d steps", SCENARIO_STEPS);
	for (unsigned i = t->keys; i-- > 0;)
		if (t->key[i].section == section) {
			first = &t->key[i];
			if (!strcmp(first->key, "kind"))
				kind = first;
		}
	if (!kind) {
		wrong(&p, "step '%s' does not say its kind", sec->name);
		return cl_error_hint(err, -EINVAL,
				     "start with kind = fill, or another of "
				     "`compactlab list steps`");
	}
	p.line = kind->line;
	p.continued = kind->continued;
	if (kind != first) {
		wrong(&p, "kind is not the first key of step '%s'", sec->name);
		return cl_error_hint(err, -EINVAL, "the other keys depend on it");
	}
	snprintf(subject, sizeof(subject), "%s.kind", sec->name);
	r = check_value(&p, o, subject, kind->value);
	if (r)
		return r;
	word = option_word(o->words, kind->value);
	s->step[s->steps] = (struct scenario_step){.name = strdup(sec->name),
						   .kind = (enum step_kind)word,
						   .line = sec->line};
	return s->step[s->steps++].name ? 0 : no_memory(err);
}

static int add_variant(struct cl_scenario *s, const struct ini_section *sec, struct cl_error *err)
{
	struct place p = {.s = s, .line = sec->line, .err = err};
	int r = check_name(&p, "variant", sec->name, true);

	if (r)
		return r;
	if (s->variants == SCENARIO_VARIANTS)
		return wrong(&p, "there are more than %d variants", SCENARIO_VARIANTS);
	s->variant[s->variants] =
		(struct scenario_variant){.name = strdup(sec->name), .line = sec->line};
	return s->variant[s->variants++].name ? 0 : no_memory(err);
}

static int section_type(const struct place *p, const struct ini_section *sec)
{
	struct suggestion best = {.word = sec->type};
	char list[160] = "";

	for (unsigned i = 0; i < COUNT(section_types); i++) {
		if (!strcmp(sec->type, section_types[i]))
			return (int)i;
		suggestion_consider(&best, section_types[i]);
		list_add(list, sizeof(list), section_types[i]);
	}
	wrong(p, "there is no section [%s]", sec->type);
	if (best.best)
		return cl_error_hint(p->err, -EINVAL, "did you mean [%s]?", best.best);
	return cl_error_hint(p->err, -EINVAL, "sections are %s", list);
}

/* A known type, with a name exactly where one belongs. */
static int check_section(const struct place *p, const struct ini_section *sec)
{
	int type = section_type(p, sec);
	bool named;

	if (type < 0)
		return type;
	named = strcmp(sec->type, "experiment") && strcmp(sec->type, "machine") &&
		strcmp(sec->type, "check");
	if (!named && sec->name) {
		wrong(p, "[%s] takes no name", sec->type);
		return cl_error_hint(p->err, -EINVAL, "write [%s]", sec->type);
	}
	if (named && !sec->name) {
		wrong(p, "[%s] needs a name", sec->type);
		return cl_error_hint(p->err, -EINVAL, "write [%s %s]", sec->type,
				     !strcmp(sec->type, "on") ? "guest" : "NAME");
	}
	if (!strcmp(sec->type, "on") && scenario_backend_find(sec->name) < 0) {
		struct suggestion best = {.word = sec->name};
		char names[64], list[96];

		wrong(p, "there is no backend '%s'", sec->name);
		for (unsigned i = 0; i < BACKENDS; i++)
			suggestion_consider(&best, scenario_backends[i]);
		snprintf(list, sizeof(list), "backends are %s",
			 words_print(scenario_backends, BACKENDS, names, sizeof(names)));
		return suggest(p, &best, list);
	}
	return !strcmp(sec->type, "published") ? check_name(p, "variant", sec->name, true) : 0;
}

static bool same_section(const struct ini_section *a, const struct ini_section *b)
{
	return !strcmp(a->type, b->type) &&
	       (!a->name || !b->name ? a->name == b->name : !strcmp(a->name, b->name));
}

int assign_sections(struct cl_scenario *s, const struct ini_text *t, struct cl_error *err)
{
	for (unsigned i = 0; i < t->sections; i++) {
		const struct ini_section *sec = &t->section[i];
		struct place p = {.s = s, .line = sec->line, .err = err};
		int r;

		if (s->shipped && !strcmp(sec->type, "serialized") && i + 1 == t->sections)
			continue; /* scenario.c reads it */
		r = check_section(&p, sec);
		for (unsigned j = 0; !r && j < i; j++)
			if (same_section(sec, &t->section[j])) {
				r = wrong(&p, "[%s%s%s] already starts on line %d", sec->type,
					  sec->name ? " " : "", sec->name ? sec->name : "",
					  t->section[j].line);
				cl_error_hint(err, r, "put both together, or rename one");
			}
		if (!r && !strcmp(sec->type, "step"))
			r = add_step(s, t, i, err);
		else if (!r && !strcmp(sec->type, "variant"))
			r = add_variant(s, sec, err);
		if (r)
			return r;
	}
	return 0;
}

static int add_variant_key(struct cl_scenario *s, const struct place *p, int variant,
			   const char *key, const char *value)
{
	char where[SCENARIO_NAME + 16];

	snprintf(where, sizeof(where), "[variant %s]", s->variant[variant].name);
	if (!strcmp(key, "policy"))
		return add(s, p, RANK_VARIANT, variant, option_find(SECTION_VARIANT, 0, key), -1,
			   "policy", "", value);
	if (!strcmp(key, "kernel"))
		return add_machine_key(s, p, RANK_VARIANT, variant, key, value);
	return add_dotted(s, p, RANK_VARIANT, variant, where, key, value);
}

static int add_key(struct cl_scenario *s, const struct ini_section *sec, const struct ini_key *k,
		   struct cl_error *err)
{
	struct place p = {.s = s, .line = k->line, .continued = k->continued, .err = err};
	char where[32];

	if (strlen(k->key) > 2 * SCENARIO_NAME)
		return wrong(&p, "the key has more than %d bytes", 2 * SCENARIO_NAME);
	if (!strcmp(sec->type, "experiment"))
		return add_experiment_key(s, &p, RANK_FILE, -1, k->key, k->value);
	if (!strcmp(sec->type, "machine"))
		return add_machine_key(s, &p, RANK_FILE, -1, k->key, k->value);
	if (!strcmp(sec->type, "variant"))
		return add_variant_key(s, &p, scenario_variant_find(s, sec->name), k->key,
				       k->value);
	if (!strcmp(sec->type, "step"))
		return add_step_key(s, &p, RANK_FILE, -1, scenario_step_find(s, sec->name), k->key,
				    k->value);
	if (!strcmp(sec->type, "published"))
		return add_published(s, &p, sec->name, k->key, k->value);
	if (!strcmp(sec->type, "check"))
		return add_check(s, &p, RANK_FILE, -1, k->key, k->value);
	snprintf(where, sizeof(where), "[on %s]", sec->name);
	return add_dotted(s, &p, RANK_ON, scenario_backend_find(sec->name), where, k->key,
			  k->value);
}

/* [check] first, because overrides of checks may stand above it. */
int assign_keys(struct cl_scenario *s, const struct ini_text *t, struct cl_error *err)
{
	unsigned own = 0;

	for (unsigned pass = 0; pass < 2; pass++)
		for (unsigned i = 0; i < t->keys; i++) {
			const struct ini_section *sec = &t->section[t->key[i].section];
			bool check = !strcmp(sec->type, "check");
			int r;

			if (check == (pass == 1) || !strcmp(sec->type, "serialized"))
				continue;
			if (own++ == SCENARIO_KEYS)
				return cl_error_at(err, -EINVAL, s->file, t->key[i].line,
						   "there are more than %d keys", SCENARIO_KEYS);
			r = add_key(s, sec, &t->key[i], err);
			if (r)
				return r;
		}
	return 0;
}

bool assignment_applies(const struct assignment *a, int backend, int variant)
{
	return (a->rank != RANK_ON || a->scope == backend) &&
	       (a->rank != RANK_VARIANT || a->scope == variant);
}

int assign_twin(struct cl_scenario *s, int of, const char *policy, struct cl_error *err)
{
	static const char origin[] = "--policy-file";
	struct place p = {.s = s, .origin = origin, .err = err};
	unsigned before = s->assignments;
	int twin = (int)s->variants, r;
	char name[2 * SCENARIO_NAME];

	if (s->variants == SCENARIO_VARIANTS)
		return wrong(&p, "there is no room for more than %d variants", SCENARIO_VARIANTS);
	snprintf(name, sizeof(name), "%s+%s", s->variant[of].name, policy);
	r = check_name(&p, "variant", name, true);
	if (r)
		return r;
	s->variant[twin].name = strdup(name);
	if (!s->variant[twin].name)
		return no_memory(err);
	s->variants++;
	for (unsigned i = 0; i < before && !r; i++) {
		struct assignment a = s->assignment[i];

		p.origin = a.origin;
		p.line = a.line;
		if (a.rank == RANK_VARIANT && a.scope == of && a.option->section != SECTION_VARIANT)
			r = add(s, &p, a.rank, twin, a.option, a.step, a.key, a.name, a.value);
	}
	p.origin = origin;
	return r ? r
		 : add(s, &p, RANK_VARIANT, twin, option_find(SECTION_VARIANT, 0, "policy"), -1,
		       "policy", "", policy);
}

const struct assignment *assigned(const struct cl_scenario *s, int backend, int variant,
				  const struct option *o, int step, const char *name)
{
	const struct assignment *best = NULL;

	for (unsigned i = 0; i < s->assignments; i++) {
		const struct assignment *a = &s->assignment[i];

		if (a->option == o && a->step == step && (!best || a->rank >= best->rank) &&
		    assignment_applies(a, backend, variant) && !strcmp(a->name, name))
			best = a;
	}
	return best;
}
