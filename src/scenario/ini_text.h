/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_INI_TEXT_H
#define SCENARIO_INI_TEXT_H
/*
 * The text of a scenario as sections and keys, nothing interpreted.
 *
 * libinih splits the lines. What it would swallow is refused here with the line:
 * cut long lines, headers behind blanks, text behind a header, keys without value,
 * keys before any section, and bytes that are not text.
 */
#include <compactlab/error.h>
#include <stddef.h>

/* Bytes of one line. Below the buffer of every libinih build we know (200 with line end). */
#define INI_TEXT_LINE     190
#define INI_TEXT_SECTIONS 1024
#define INI_TEXT_KEYS     5120

struct ini_section {
	char *type; /* "variant" of [variant NAME] */
	char *name; /* "NAME", or NULL */
	int line;
};

struct ini_key {
	unsigned section; /* index */
	char *key;
	char *value; /* continuation lines joined by one blank */
	int line;
	int continued; /* first continuation line, or 0 */
};

struct ini_text {
	unsigned sections, keys;
	struct ini_section *section;
	struct ini_key *key;
};

/* `file` names the text in messages. On failure *out holds nothing. */
int ini_text_read(const char *text, size_t length, const char *file, struct ini_text *out,
		  struct cl_error *err);
void ini_text_free(struct ini_text *t);
#endif
