/* SPDX-License-Identifier: MIT */
#include "result/heading.h"
#include "util/util.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Text that grows; NULL once an allocation failed. */
static void append(char **text, const char *separator, const char *more)
{
	char *joined = *text ? format("%s%s%s", *text, **text ? separator : "", more) : NULL;

	free(*text);
	*text = joined;
}

static char *backend_line(const struct column *c)
{
	const json_t *record = c->record[0];
	bool simulated = json_is_true(json_object_get(record, "simulated"));

	return format("%s%s", record_text(record, "backend"), simulated ? ", simulated times" : "");
}

static char *kernel_line(const struct column *c)
{
	const json_t *kernel = json_object_get(c->record[0], "kernel");

	return format("%s %s", record_text(kernel, "release"), record_text(kernel, "version"));
}

/* "nodes 768M 768M" */
static char *nodes_text(const json_t *evidence)
{
	json_t *nodes = json_object_get(evidence, "nodes"), *node;
	char *text = strdup("");
	size_t i;

	json_array_foreach(nodes, i, node) {
		long long bytes = json_integer_value(json_object_get(node, "bytes"));
		char size[32];

		snprintf(size, sizeof(size), "%lldM", bytes >> 20);
		append(&text, " ", size);
	}
	return text;
}

/* "virtual (QEMU, tcg), 4 CPUs, 2 nodes: 768M 768M, THP always, defrag madvise" */
static char *machine_line(const struct column *c)
{
	const json_t *e = json_object_get(c->record[0], "evidence");
	const json_t *thp = json_object_get(e, "thp"), *cpus = json_object_get(e, "cpus");
	const char *hypervisor = record_text(e, "hypervisor");
	const char *accelerator = record_text(e, "accelerator");
	size_t nodes = json_array_size(json_object_get(e, "nodes"));
	char *text = strdup(record_text(e, "machine")), *part = nodes_text(e);

	if (*hypervisor || *accelerator) {
		append(&text, " ", "(");
		append(&text, "", hypervisor);
		if (strcmp(hypervisor, accelerator) != 0)
			append(&text, *hypervisor && *accelerator ? ", " : "", accelerator);
		append(&text, "", ")");
	}
	if (json_is_integer(cpus)) {
		char number[40];

		snprintf(number, sizeof(number), "%lld CPUs", json_integer_value(cpus));
		append(&text, ", ", number);
	}
	if (part && nodes) {
		char number[40];

		snprintf(number, sizeof(number), "%zu node%s: ", nodes, nodes == 1 ? "" : "s");
		append(&text, ", ", number);
		append(&text, "", part);
	}
	free(part);
	if (*record_text(thp, "enabled")) {
		append(&text, ", THP ", record_text(thp, "enabled"));
		append(&text, ", defrag ", record_text(thp, "defrag"));
	}
	return text;
}

/* Said where the column's label does not. */
static char *policy_line(const struct column *c)
{
	const char *policy = record_text(c->record[0], "policy");

	if (!*policy || !strcmp(policy, "mainline") || !strcmp(policy, c->label))
		return strdup("");
	return format("%s in %s", policy, c->label);
}

/* "3 (seeds 42..44)", "1 (seed 42)", "2 (seeds 7 42)" */
static char *repeats_line(const struct column *c)
{
	char *seeds = strdup("");
	bool run = true;
	json_int_t first = 0, seed = 0;

	for (unsigned i = 0; i < c->count; i++) {
		char number[32];

		seed = json_integer_value(json_object_get(c->record[i], "seed"));
		if (!i)
			first = seed;
		run &= seed == first + i;
		snprintf(number, sizeof(number), "%" JSON_INTEGER_FORMAT, seed);
		append(&seeds, " ", number);
	}
	if (run && c->count > 1) {
		free(seeds);
		seeds = format("%" JSON_INTEGER_FORMAT "..%" JSON_INTEGER_FORMAT, first, seed);
	}
	if (!seeds)
		return NULL;
	append(&seeds, "", ")");
	if (seeds) {
		char *line = format("%u (seed%s %s", c->count, c->count == 1 ? "" : "s", seeds);

		free(seeds);
		seeds = line;
	}
	return seeds;
}

static const struct {
	const char *name;
	char *(*line)(const struct column *c);
} lines[] = {
	{"backend", backend_line}, {"kernel", kernel_line},   {"machine", machine_line},
	{"policy", policy_line},   {"repeats", repeats_line},
};

/* What all columns say once; what differs, a line each with the columns' labels. */
static int print_distinct(FILE *to, const struct columns *c, const char *name, char **text)
{
	bool differ = false;

	for (unsigned i = 1; i < c->count; i++)
		differ |= strcmp(text[i], text[0]) != 0;
	for (unsigned i = 0; i < c->count; i++) {
		bool seen = false;

		for (unsigned k = 0; k < i; k++)
			seen |= !strcmp(text[k], text[i]);
		if (seen || !*text[i])
			continue;
		fprintf(to, "%-8s  %s", name, text[i]);
		if (differ && strcmp(name, "policy") != 0 && strcmp(name, "kernel") != 0) {
			fprintf(to, "  [");
			for (unsigned k = i, n = 0; k < c->count; k++)
				if (!strcmp(text[k], text[i]))
					fprintf(to, "%s%s", n++ ? ", " : "", c->item[k].label);
			fprintf(to, "]");
		}
		fputc('\n', to);
	}
	return 0;
}

int heading_print(FILE *to, const struct columns *c)
{
	char **text = calloc(c->count + 1, sizeof(*text));
	int r = text ? 0 : -ENOMEM;

	for (unsigned l = 0; !r && l < sizeof(lines) / sizeof(lines[0]); l++) {
		for (unsigned i = 0; i < c->count; i++) {
			text[i] = lines[l].line(&c->item[i]);
			if (!text[i])
				r = -ENOMEM;
		}
		if (!r)
			r = print_distinct(to, c, lines[l].name, text);
		for (unsigned i = 0; i < c->count; i++)
			free(text[i]);
	}
	free(text);
	return r;
}

static bool noted_before(const struct cl_results *r, unsigned record, size_t note, const char *text)
{
	for (unsigned i = 0; i <= record; i++) {
		json_t *notes = json_object_get(r->record[i], "notes"), *n;
		size_t k;

		json_array_foreach(notes, k, n) {
			if (i == record && k == note)
				return false;
			if (json_is_string(n) && !strcmp(json_string_value(n), text))
				return true;
		}
	}
	return false;
}

bool heading_has_notes(const struct cl_results *r)
{
	bool any = r->notes > 0;

	for (unsigned i = 0; i < r->count; i++)
		any |= json_array_size(json_object_get(r->record[i], "notes")) > 0;
	return any;
}

int heading_notes(FILE *to, const struct cl_results *r)
{
	for (unsigned i = 0; i < r->notes; i++)
		fprintf(to, "note: %s\n", r->note[i]);
	for (unsigned i = 0; i < r->count; i++) {
		json_t *notes = json_object_get(r->record[i], "notes"), *n;
		size_t k;

		json_array_foreach(notes, k, n) {
			if (json_is_string(n) && !noted_before(r, i, k, json_string_value(n)))
				fprintf(to, "note: %s\n", json_string_value(n));
		}
	}
	return 0;
}
