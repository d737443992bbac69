/* SPDX-License-Identifier: MIT */
#include "scenario/ini_text.h"
#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

/* What the line handed to libinih last is expected to lead to. */
enum expect { EXPECT_NOTHING, EXPECT_KEY, EXPECT_MORE };

struct reader {
	const char *next, *end, *file;
	struct ini_text *out;
	struct cl_error *err;
	enum expect expect;
	bool have_key; /* an indented line would continue a value */
	int line;
	int failed; /* errno, negative; reading stops */
};

static int fail(struct reader *r, int line, const char *what)
{
	r->failed = cl_error_at(r->err, -EINVAL, r->file, line, "%s", what);
	return r->failed;
}

static int no_memory(struct reader *r)
{
	r->failed = cl_error(r->err, -ENOMEM, "out of memory");
	return r->failed;
}

/* Room for one more, in steps of powers of two. */
static int grow(void **array, unsigned count, size_t size)
{
	void *more;

	if (count & (count - 1))
		return 0;
	more = realloc(*array, (count ? 2 * (size_t)count : 1) * size);
	if (!more)
		return -ENOMEM;
	*array = more;
	return 0;
}

/* Bytes that no text has, and bytes that are not UTF-8 (results are JSON). */
static int check_bytes(struct reader *r, const char *line, size_t length)
{
	json_t *string;

	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)line[i];

		if ((c < ' ' && c != '\t') || c == 0x7f) {
			r->failed = cl_error_at(r->err, -EINVAL, r->file, r->line,
						"byte 0x%02x is not text", c);
			return cl_error_hint(r->err, r->failed, "%s",
					     c == '\r' ? "lines end with a line feed"
						       : "scenario files are text in UTF-8");
		}
	}
	string = json_stringn(line, length);
	if (!string) {
		fail(r, r->line, "this line is not valid UTF-8");
		return cl_error_hint(r->err, r->failed, "scenario files are text in UTF-8");
	}
	json_decref(string);
	return 0;
}

static int add_section(struct reader *r, const char *text, size_t length)
{
	struct ini_text *t = r->out;
	struct ini_section *s;
	size_t type = 0, name;

	while (length && isspace((unsigned char)text[length - 1]))
		length--;
	while (length && isspace((unsigned char)*text))
		text++, length--;
	while (type < length && !isspace((unsigned char)text[type]))
		type++;
	for (name = type; name < length && isspace((unsigned char)text[name]);)
		name++;
	if (t->sections >= INI_TEXT_SECTIONS)
		return fail(r, r->line, "too many sections");
	if (grow((void **)&t->section, t->sections, sizeof(*t->section)))
		return no_memory(r);
	s = &t->section[t->sections];
	s->line = r->line;
	s->type = strndup(text, type);
	s->name = name < length ? strndup(text + name, length - name) : NULL;
	t->sections++;
	if (!s->type || (name < length && !s->name))
		return no_memory(r);
	return 0;
}

/* "[TYPE NAME]" with nothing but a comment behind it. */
static int check_header(struct reader *r, const char *line, size_t length)
{
	const char *close = memchr(line, ']', length);
	const char *p = close;

	if (!close) {
		fail(r, r->line, "the section header is not closed");
		return cl_error_hint(r->err, r->failed, "end it with ']'");
	}
	for (p = close + 1; p < line + length && isspace((unsigned char)*p);)
		p++;
	if (p < line + length && *p != ';' && *p != '#') {
		fail(r, r->line, "there is text behind the section header");
		return cl_error_hint(r->err, r->failed, "put it on a line of its own");
	}
	r->have_key = false;
	return add_section(r, line + 1, (size_t)(close - line - 1));
}

/* Refuse what libinih would take for something else; note what should come of the line. */
static int check_line(struct reader *r, const char *line, size_t length)
{
	size_t blank = 0;

	r->expect = EXPECT_NOTHING;
	if (r->line == 1 && length >= 3 && !memcmp(line, "\xef\xbb\xbf", 3))
		line += 3, length -= 3;
	while (length && isspace((unsigned char)line[length - 1]))
		length--;
	while (blank < length && isspace((unsigned char)line[blank]))
		blank++;
	if (blank == length || line[blank] == ';' || line[blank] == '#')
		return 0;
	if (r->have_key && blank) {
		if (line[blank] == '[' && line[length - 1] == ']') {
			fail(r, r->line, "the section header does not start in the first column");
			return cl_error_hint(r->err, r->failed,
					     "indented lines continue the value above");
		}
		r->expect = EXPECT_MORE;
		return 0;
	}
	if (line[blank] == '[')
		return check_header(r, line + blank, length - blank);
	r->expect = EXPECT_KEY;
	return 0;
}

/* After libinih has seen a line: did it find what should be there? */
static int check_found(struct reader *r)
{
	if (r->expect == EXPECT_NOTHING)
		return 0;
	fail(r, r->line, "this line is neither a [section] nor KEY = VALUE");
	return cl_error_hint(r->err, r->failed, "comments start with ';' or '#'");
}

/* As fgets(3), for ini_parse_stream(). */
static char *next_line(char *buf, int size, void *arg)
{
	struct reader *r = arg;
	const char *newline, *after;
	size_t length;

	if (r->failed || check_found(r) || r->next == r->end)
		return NULL;
	newline = memchr(r->next, '\n', (size_t)(r->end - r->next));
	after = newline ? newline + 1 : r->end;
	length = (size_t)((newline ? newline : r->end) - r->next);
	if (length && r->next[length - 1] == '\r')
		length--;
	r->line++;
	if (check_bytes(r, r->next, length))
		return NULL;
	if (length > INI_TEXT_LINE || length + 2 > (size_t)size) {
		r->failed =
			cl_error_at(r->err, -EINVAL, r->file, r->line,
				    "the line has %zu bytes, more than %d", length, INI_TEXT_LINE);
		cl_error_hint(r->err, r->failed, "continue it on the next line, indented");
		return NULL;
	}
	if (check_line(r, r->next, length))
		return NULL;
	memcpy(buf, r->next, length);
	buf[length] = '\n';
	buf[length + 1] = '\0';
	r->next = after;
	return buf;
}

static int add_key(struct reader *r, const char *key, const char *value)
{
	struct ini_text *t = r->out;
	struct ini_key *k;

	if (!t->sections) {
		fail(r, r->line, "a key stands before the first [section]");
		return r->failed;
	}
	if (!*key) {
		fail(r, r->line, "there is no key before '='");
		return r->failed;
	}
	if (t->keys >= INI_TEXT_KEYS)
		return fail(r, r->line, "too many keys");
	if (grow((void **)&t->key, t->keys, sizeof(*t->key)))
		return no_memory(r);
	k = &t->key[t->keys];
	*k = (struct ini_key){.section = t->sections - 1, .line = r->line};
	k->key = strdup(key);
	k->value = strdup(value);
	t->keys++;
	return k->key && k->value ? 0 : no_memory(r);
}

static int continue_key(struct reader *r, const char *value)
{
	struct ini_key *k = &r->out->key[r->out->keys - 1];
	char *joined = format("%s%s%s", k->value, *k->value ? " " : "", value);

	if (!joined)
		return no_memory(r);
	free(k->value);
	k->value = joined;
	if (!k->continued)
		k->continued = r->line;
	return 0;
}

/* The section libinih passes is cut at 49 bytes; ours comes from check_header(). */
static int on_key(void *arg, const char *section, const char *key, const char *value)
{
	struct reader *r = arg;
	bool more = r->expect == EXPECT_MORE;

	(void)section;
	r->expect = EXPECT_NOTHING;
	if (more)
		return !continue_key(r, value);
	r->have_key = true;
	return !add_key(r, key, value);
}

int ini_text_read(const char *text, size_t length, const char *file, struct ini_text *out,
		  struct cl_error *err)
{
	struct reader r = {
		.next = text, .end = text + length, .file = file, .out = out, .err = err};

	memset(out, 0, sizeof(*out));
	/* Its own result repeats what the checks have found. */
	ini_parse_stream(next_line, &r, on_key, &r);
	if (!r.failed)
		check_found(&r);
	if (r.failed)
		ini_text_free(out);
	return r.failed;
}

void ini_text_free(struct ini_text *t)
{
	for (unsigned i = 0; i < t->sections; i++) {
		free(t->section[i].type);
		free(t->section[i].name);
	}
	for (unsigned i = 0; i < t->keys; i++) {
		free(t->key[i].key);
		free(t->key[i].value);
	}
	free(t->section);
	free(t->key);
	memset(t, 0, sizeof(*t));
}
