/* SPDX-License-Identifier: MIT */
/* The option table for people: text for the terminal, mdoc for the manual. */
#include <stdlib.h>
#include <string.h>
#include "scenario/option.h"
#include "util/util.h"

#define WIDTH      80
#define KEY_INDENT 2

/* Words of `text` from `column` on, broken before column WIDTH and indented by `indent`. */
static void print_wrapped(FILE *to, const char *text, unsigned indent, unsigned column)
{
	while (*text) {
		size_t length = strcspn(text, " ");

		if (column > indent && column + 1 + length > WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			fputc(' ', to);
			column++;
		}
		fprintf(to, "%.*s", (int)length, text);
		column += (unsigned)length;
		text += length + strspn(text + length, " ");
	}
	fputc('\n', to);
}

/* "a, b or c" from "a|b|c". */
static void print_words(FILE *to, const char *words)
{
	for (const char *p = words; *p;) {
		size_t length = strcspn(p, "|");
		const char *next = p + length;

		fprintf(to, "%.*s", (int)length, p);
		if (*next)
			fputs(strchr(next + 1, '|') ? ", " : " or ", to);
		p = *next ? next + 1 : next;
	}
}

static void print_kinds(FILE *to, unsigned kinds)
{
	const char *separator = "";

	for (unsigned k = 0; k < STEP_KINDS; k++)
		if (kinds & 1u << k) {
			fprintf(to, "%s%s", separator, step_kind_name(k));
			separator = " or ";
		}
}

static void print_limits(FILE *to, const struct option *o)
{
	char min[32], max[32], align[32];

	fprintf(to, ", %s to %s", option_limit(o, o->min, min, sizeof(min)),
		option_limit(o, o->max, max, sizeof(max)));
	if (o->align)
		fprintf(to, " in steps of %s", size_print(o->align, align, sizeof(align)));
}

/* What a value looks like, in one line: form, limits, default. NULL without memory. */
static char *describe(const struct option *o)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	if (o->type == OPT_ENUM || o->type == OPT_BOOL || (o->type == OPT_SETTING && o->words)) {
		print_words(to, o->words);
	} else if (o->type == OPT_STEP) {
		fputs("the name of an earlier step of kind ", to);
		print_kinds(to, o->kinds);
	} else if (o->type == OPT_SETTING && o->max) {
		fputs("a whole number", to);
	} else if (o->type == OPT_OVERRIDE) {
		fputs("as there", to);
	} else {
		fputs(option_type_help(o), to);
		if (o->words)
			fprintf(to, ", or %s", o->words);
	}
	if (o->unit)
		fprintf(to, " (%s)", o->unit);
	if (o->max && o->type != OPT_SHARE)
		print_limits(to, o);
	if (o->fallback)
		fprintf(to, "; default %s", o->fallback);
	else if (o->flags & OPTION_REQUIRED)
		fputs("; required", to);
	if (o->flags & OPTION_SCALES)
		fputs("; divided by --scale", to);
	fputc('.', to);
	return fclose(to) ? NULL : text;
}

/* One of these per group: called for its title and summary, then for each option. */
struct printer {
	FILE *to;
	void (*group)(const struct printer *p, const char *title, const char *summary);
	void (*option)(const struct printer *p, const struct option *o, const char *values);
	void (*group_end)(const struct printer *p);
	unsigned width; /* of the longest key in the group */
};

static bool in_group(const struct option *o, enum option_section section, enum step_kind kind)
{
	return o->section == section && (section != SECTION_STEP || o->kind == kind);
}

static void print_group(struct printer *p, enum option_section section, enum step_kind kind,
			const char *title, const char *summary)
{
	p->width = 0;
	for (unsigned i = 0; i < option_count; i++) {
		size_t length = strlen(option_table[i].key);

		if (in_group(&option_table[i], section, kind) && length > p->width)
			p->width = (unsigned)length;
	}
	p->group(p, title, summary);
	for (unsigned i = 0; i < option_count; i++)
		if (in_group(&option_table[i], section, kind)) {
			char *values = describe(&option_table[i]);

			p->option(p, &option_table[i], values ? values : "");
			free(values);
		}
	p->group_end(p);
}

static void print_all(struct printer *p)
{
	static const struct {
		enum option_section section;
		const char *title;
	} groups[] = {
		{SECTION_EXPERIMENT, "[experiment]"}, {SECTION_MACHINE, "[machine]"},
		{SECTION_SETTING, "Settings"},        {SECTION_VARIANT, "[variant NAME]"},
		{SECTION_STEP, "[step NAME]"},        {SECTION_PUBLISHED, "[published VARIANT]"},
		{SECTION_CHECK, "[check]"},           {SECTION_ON, "[on BACKEND]"},
	};

	for (unsigned i = 0; i < sizeof(groups) / sizeof(groups[0]); i++) {
		enum option_section section = groups[i].section;

		print_group(p, section, STEP_KINDS, groups[i].title, option_section_help(section));
		for (unsigned k = 0; section == SECTION_STEP && k < STEP_KINDS; k++) {
			char title[64];

			snprintf(title, sizeof(title), "[step NAME] kind = %s", step_kind_name(k));
			print_group(p, section, k, title, option_kind_help(k));
		}
	}
}

static void text_group(const struct printer *p, const char *title, const char *summary)
{
	fprintf(p->to, "%s\n%*s", title, KEY_INDENT, "");
	print_wrapped(p->to, summary, KEY_INDENT, KEY_INDENT);
}

static void text_option(const struct printer *p, const struct option *o, const char *values)
{
	/* Long keys get a line of their own rather than push all text to the right. */
	unsigned indent = KEY_INDENT + 2 + (p->width > 24 ? 6 : p->width);

	fprintf(p->to, "%*s%s", KEY_INDENT, "", o->key);
	if (KEY_INDENT + strlen(o->key) + 2 > indent)
		fprintf(p->to, "\n%*s", (int)indent, "");
	else
		fprintf(p->to, "%*s", (int)(indent - KEY_INDENT - strlen(o->key)), "");
	print_wrapped(p->to, o->help, indent, indent);
	fprintf(p->to, "%*sValue: ", (int)indent, "");
	print_wrapped(p->to, values, indent + 7, indent + 7);
	if (o->mirrors) {
		fprintf(p->to, "%*sLinux: ", (int)indent, "");
		print_wrapped(p->to, o->mirrors, indent + 7, indent + 7);
	}
}

static void text_end(const struct printer *p)
{
	fputc('\n', p->to);
}

/*
 * mdoc(7) text: a line for each sentence, none longer than WIDTH, none that starts like
 * a macro.
 */
static void man_text(FILE *to, const char *text, size_t column)
{
	while (*text) {
		size_t length = strcspn(text, " ");
		bool sentence = text[length] && text[length - 1] == '.';

		if (column && column + 1 + length > WIDTH) {
			fputc('\n', to);
			column = 0;
		} else if (column) {
			fputc(' ', to);
			column++;
		}
		if (!column && (*text == '.' || *text == '\''))
			fputs("\\&", to);
		fprintf(to, "%.*s%s", (int)length, text, sentence ? "\n" : "");
		column = sentence ? 0 : column + length;
		text += length + strspn(text + length, " ");
	}
	fputc('\n', to);
}

static void man_group(const struct printer *p, const char *title, const char *summary)
{
	/* The escape keeps a bracket at the end from being taken for punctuation. */
	fprintf(p->to, ".Ss %s\\&\n", title);
	man_text(p->to, summary, 0);
	fputs(".Bl -tag -width Ds\n", p->to);
}

static void man_option(const struct printer *p, const struct option *o, const char *values)
{
	fprintf(p->to, ".It Cm %s\n", o->key);
	man_text(p->to, o->help, 0);
	fputs(".br\nValue:", p->to);
	man_text(p->to, values, 6);
	if (o->mirrors) {
		fputs(".br\nLinux:", p->to);
		man_text(p->to, o->mirrors, 6);
	}
}

static void man_end(const struct printer *p)
{
	fputs(".El\n", p->to);
}

void cl_option_print(FILE *to, enum cl_option_format format)
{
	struct printer text = {.to = to,
			       .group = text_group,
			       .option = text_option,
			       .group_end = text_end};
	struct printer man = {.to = to,
			      .group = man_group,
			      .option = man_option,
			      .group_end = man_end};

	print_all(format == CL_OPTIONS_MAN ? &man : &text);
}
