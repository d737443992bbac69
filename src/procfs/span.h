/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_SPAN_H
#define PROCFS_SPAN_H
/*
 * A piece of text that is not ours and does not end in a null byte, and the few ways
 * in which the parsers take things from its front. A function that returns false has
 * taken nothing.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
	const char *at;
	size_t length;
};

static inline struct span span_of(const char *text, size_t length)
{
	return (struct span){text, length};
}
struct span span_text(const char *text); /* of a null-terminated string */

/* The next line, without its newline and carriage return. False at the end. */
bool span_line(struct span *rest, struct span *line);
/* The next run of characters that are not blank. False when only blanks are left. */
bool span_word(struct span *rest, struct span *word);
static inline bool span_is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* Blanks (space, tab) off the front, or off both ends. */
static inline void span_blanks(struct span *s)
{
	while (s->length && span_is_blank(*s->at)) {
		s->at++;
		s->length--;
	}
}

void span_trim(struct span *s);

/* Here, so that the length of a literal is a constant: lines are compared with many. */
static inline bool span_is(struct span s, const char *text)
{
	size_t n = strlen(text);

	return s.length == n && !memcmp(s.at, text, n);
}

static inline bool span_starts(struct span s, const char *text)
{
	size_t n = strlen(text);

	return s.length >= n && !memcmp(s.at, text, n);
}

/* Take exactly this text off the front. */
static inline bool span_skip(struct span *s, const char *literal)
{
	size_t n = strlen(literal);

	if (!span_starts(*s, literal))
		return false;
	s->at += n;
	s->length -= n;
	return true;
}

/* Everything before the first `c`, which is taken too. */
bool span_until(struct span *s, char c, struct span *before);

/* A number off the front. False on overflow. Blanks are not skipped. */
bool span_u64(struct span *s, uint64_t *value);
bool span_i64(struct span *s, int64_t *value);
bool span_int(struct span *s, int *value);
bool span_hex(struct span *s, uint64_t *value); /* with or without 0x */
/* Decimal fraction such as "12.03": *value in the unit 1/scale, further digits dropped. */
bool span_fixed(struct span *s, uint64_t scale, uint64_t *value);

/* Where the first n characters of `needle`, at least one, begin in s, or NULL. */
const char *span_search(struct span s, const char *needle, size_t n);

/* Where `needle` begins in s, or NULL. */
static inline const char *span_find(struct span s, const char *needle)
{
	return span_search(s, needle, strlen(needle));
}

/* What follows the first `needle`, or false. */
static inline bool span_after(struct span s, const char *needle, struct span *rest)
{
	size_t n = strlen(needle);
	const char *at = span_search(s, needle, n);

	if (!at)
		return false;
	*rest = span_of(at + n, s.length - (size_t)(at - s.at) - n);
	return true;
}

char *span_copy(struct span s); /* malloc'ed string, or NULL without memory */
/* Into buf, cut to fit, always null-terminated; control characters become '?'. */
char *span_put(struct span s, char *buf, size_t size);
#endif
