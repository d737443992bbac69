/* SPDX-License-Identifier: MIT */
#include "backend/guest_wire.h"
#include "util/util.h"
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WIRE_LONGEST (64u << 20) /* a record is some 100 KiB; beyond this it is noise */

static const char *const wire_words[WIRE_KINDS] = {"hello", "step", "record", "error", "end"};

int wire_send(int fd, enum wire_kind kind, const char *text)
{
	char *line;
	int r;

	if (strchr(text, '\n'))
		return -EINVAL;
	line = format("%s %zu %s\n", wire_words[kind], strlen(text), text);
	if (!line)
		return -ENOMEM;
	r = write_all(fd, line, strlen(line));
	free(line);
	return r;
}

int wire_send_error(int fd, int code, const struct cl_error *err)
{
	json_t *object = json_pack("{s:i, s:s, s:i, s:s, s:s}", "code", code, "file", err->file,
				   "line", err->line, "what", err->what, "hint", err->hint);
	char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	int r;

	/* Text cut in the middle of a character is not UTF-8, which JSON must be. */
	if (text)
		r = wire_send(fd, WIRE_ERROR, text);
	else
		r = wire_send(fd, WIRE_ERROR, "{\"code\": -5, \"what\": \"a step failed\"}");
	free(text);
	json_decref(object);
	return r;
}

long wire_read(struct wire *w, int fd)
{
	ssize_t n;

	/* Make room by dropping what was handed out, then by growing. */
	if (w->at) {
		memmove(w->text, w->text + w->at, w->used - w->at);
		w->used -= w->at;
		w->at = 0;
	}
	if (w->room - w->used < 4096) {
		size_t room = w->room ? w->room * 2 : 65536;
		char *more = room <= WIRE_LONGEST ? realloc(w->text, room) : NULL;

		if (!more)
			return -ENOMEM;
		w->text = more;
		w->room = room;
	}
	do {
		n = read(fd, w->text + w->used, w->room - w->used);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	w->used += (size_t)n;
	return n;
}

static bool parse_line(char *line, size_t length, struct wire_message *m)
{
	for (int kind = 0; kind < WIRE_KINDS; kind++) {
		size_t n = strlen(wire_words[kind]);
		char *end;
		unsigned long bytes;

		if (length < n + 2 || strncmp(line, wire_words[kind], n) || line[n] != ' ')
			continue;
		bytes = strtoul(line + n + 1, &end, 10);
		if (*end != ' ' || (size_t)(line + length - end - 1) != bytes)
			return false;
		m->kind = (enum wire_kind)kind;
		m->text = end + 1;
		return true;
	}
	return false;
}

bool wire_next(struct wire *w, struct wire_message *m)
{
	while (w->at < w->used) {
		char *line = w->text + w->at;
		char *end = memchr(line, '\n', w->used - w->at);

		if (!end)
			return false;
		*end = '\0';
		w->at = (size_t)(end + 1 - w->text);
		if (parse_line(line, (size_t)(end - line), m))
			return true;
		w->damaged++;
	}
	return false;
}

void wire_free(struct wire *w)
{
	free(w->text);
	memset(w, 0, sizeof(*w));
}

int wire_error(const char *text, struct cl_error *err)
{
	const char *file = "", *what = "the guest gave no reason", *hint = "";
	int code = -EIO, line = 0;
	json_t *object = json_loads(text, 0, NULL);

	if (object)
		json_unpack(object, "{s?i, s?s, s?i, s?s, s?s}", "code", &code, "file", &file,
			    "line", &line, "what", &what, "hint", &hint);
	if (code >= 0)
		code = -EIO;
	cl_error_at(err, code, file, line, "%s", what);
	if (hint[0])
		cl_error_hint(err, code, "%s", hint);
	json_decref(object);
	return code;
}
