/* SPDX-License-Identifier: MIT */
#include "backend/costs.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sha256.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "scenario/option.h"
#include "util/util.h"

#define MAGIC       "compactlab-costs"
#define VERSION     1
#define LINE_LENGTH 256
#define HINT        "a line is NAME = NANOSECONDS, such as zero_page = 390"

_Static_assert(COSTS_HASH_SIZE == SHA256_DIGEST_STRING_LENGTH, "room for the hash");

struct reader {
	const char *file;
	int line;
	struct cost_table *table;
	bool seen[NR_COSTS];
	struct cl_error *err;
};

static char *trim(char *text)
{
	char *end = text + strlen(text);

	while (end > text && isspace((unsigned char)end[-1]))
		*--end = '\0';
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

static int read_head(const struct reader *r, const char *line)
{
	size_t magic = strlen(MAGIC);
	char *end;
	long version;

	if (strncmp(line, MAGIC, magic) != 0 || line[magic] != ' ') {
		cl_error_at(r->err, -EINVAL, r->file, r->line, "this is no file of costs");
		return cl_error_hint(r->err, -EINVAL, "its first line is " MAGIC " %d", VERSION);
	}
	version = strtol(line + magic, &end, 10);
	if (*end == '\0' && version == VERSION)
		return 0;
	cl_error_at(r->err, -EINVAL, r->file, r->line, "costs of version%s, which is not known",
		    line + magic);
	return cl_error_hint(r->err, -EINVAL, "this program reads version %d", VERSION);
}

static int unknown(const struct reader *r, const char *name)
{
	struct suggestion s = {.word = name};

	for (int i = 0; i < NR_COSTS; i++)
		suggestion_consider(&s, cost_rows[i].name);
	cl_error_at(r->err, -EINVAL, r->file, r->line, "there is no cost '%s'", name);
	if (s.best)
		return cl_error_hint(r->err, -EINVAL, "did you mean '%s'?", s.best);
	return cl_error_hint(r->err, -EINVAL, "see src/model/cost.h");
}

static int read_number(const struct reader *r, const char *name, const char *text, uint64_t *ns)
{
	char *end;

	errno = 0;
	*ns = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno)
		return 0;
	cl_error_at(r->err, -EINVAL, r->file, r->line, "%s: '%s' is not a whole number", name,
		    text);
	return cl_error_hint(r->err, -EINVAL, HINT);
}

static int read_row(struct reader *r, char *line)
{
	char *equals = strchr(line, '='), *name;
	uint64_t ns;
	int id = 0, e;

	if (!equals) {
		cl_error_at(r->err, -EINVAL, r->file, r->line, "no '=' in '%s'", line);
		return cl_error_hint(r->err, -EINVAL, HINT);
	}
	*equals = '\0';
	name = trim(line);
	while (id < NR_COSTS && strcmp(cost_rows[id].name, name) != 0)
		id++;
	if (id == NR_COSTS)
		return unknown(r, name);
	if (r->seen[id])
		return cl_error_at(r->err, -EINVAL, r->file, r->line, "%s is given twice", name);
	r->seen[id] = true;
	e = read_number(r, name, trim(equals + 1), &ns);
	if (!e && cost_set(r->table, name, ns))
		e = cl_error_at(r->err, -EINVAL, r->file, r->line,
				"%s: %" PRIu64 " ns is more than a second", name, ns);
	return e;
}

static int read_line(struct reader *r, const char *text, size_t length)
{
	char line[LINE_LENGTH], *comment, *rest;

	r->line++;
	if (length >= sizeof(line))
		return cl_error_at(r->err, -EINVAL, r->file, r->line,
				   "the line is longer than %d bytes", LINE_LENGTH - 1);
	memcpy(line, text, length);
	line[length] = '\0';
	if (strlen(line) != length)
		return cl_error_at(r->err, -EINVAL, r->file, r->line, "a null byte in the line");
	comment = strchr(line, '#');
	if (comment)
		*comment = '\0';
	rest = trim(line);
	if (r->line == 1)
		return read_head(r, rest);
	return *rest ? read_row(r, rest) : 0;
}

int costs_parse(const char *text, size_t length, const char *name, struct cost_table *t,
		struct cl_error *err)
{
	struct reader r = {.file = name, .table = t, .err = err};
	const char *end = text + length;
	int e = 0;

	do {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t n = (size_t)((newline ? newline : end) - text);

		e = read_line(&r, text, n);
		text = newline ? newline + 1 : end;
	} while (!e && text < end);
	return e;
}

int costs_load(const char *path, struct cost_table *t, char hash[COSTS_HASH_SIZE],
	       struct cl_error *err)
{
	size_t length;
	char *text;
	int r = file_read(path, &text, &length);

	if (r)
		return cl_error_at(err, r == -ENOMEM ? r : -EINVAL, path, 0,
				   "cannot read the costs: %s", strerror(-r));
	r = costs_parse(text, length, path, t, err);
	SHA256Data((const uint8_t *)text, length, hash);
	free(text);
	return r;
}

void costs_print_head(FILE *to)
{
	fprintf(to, MAGIC " %d\n", VERSION);
}

void costs_print_row(FILE *to, enum cost_id id, uint64_t ns, const char *remark)
{
	const struct cost_row *row = &cost_rows[id];

	fprintf(to, "%-16s = %-8" PRIu64 " # ns, %s%s%s\n", row->name, ns, row->unit,
		remark ? "; " : "", remark ? remark : "");
}
