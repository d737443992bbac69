/* SPDX-License-Identifier: MIT */
#include "procfs/span.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static void drop(struct span *s, size_t n)
{
	s->at += n;
	s->length -= n;
}

struct span span_text(const char *text)
{
	return span_of(text, strlen(text));
}

bool span_line(struct span *rest, struct span *line)
{
	const char *end;
	size_t n;

	if (!rest->length)
		return false;
	end = memchr(rest->at, '\n', rest->length);
	n = end ? (size_t)(end - rest->at) : rest->length;
	*line = span_of(rest->at, n);
	drop(rest, end ? n + 1 : n);
	while (line->length && line->at[line->length - 1] == '\r')
		line->length--;
	return true;
}

void span_trim(struct span *s)
{
	span_blanks(s);
	while (s->length && span_is_blank(s->at[s->length - 1]))
		s->length--;
}

bool span_word(struct span *rest, struct span *word)
{
	const char *at = rest->at, *end = at + rest->length, *start;

	while (at < end && span_is_blank(*at))
		at++;
	for (start = at; at < end && !span_is_blank(*at);)
		at++;
	if (at == start)
		return false;
	*word = span_of(start, (size_t)(at - start));
	*rest = span_of(at, (size_t)(end - at));
	return true;
}

bool span_until(struct span *s, char c, struct span *before)
{
	const char *at = s->length ? memchr(s->at, c, s->length) : NULL;

	if (!at)
		return false;
	*before = span_of(s->at, (size_t)(at - s->at));
	drop(s, before->length + 1);
	return true;
}

bool span_u64(struct span *s, uint64_t *value)
{
	uint64_t v = 0;
	size_t n = 0;

	for (; n < s->length && s->at[n] >= '0' && s->at[n] <= '9'; n++)
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(s->at[n] - '0'), &v))
			return false;
	if (!n)
		return false;
	*value = v;
	drop(s, n);
	return true;
}

bool span_i64(struct span *s, int64_t *value)
{
	struct span t = *s;
	bool negative = span_skip(&t, "-");
	uint64_t v;

	if (!span_u64(&t, &v) || v > INT64_MAX)
		return false;
	*value = negative ? -(int64_t)v : (int64_t)v;
	*s = t;
	return true;
}

bool span_int(struct span *s, int *value)
{
	struct span t = *s;
	int64_t v;

	if (!span_i64(&t, &v) || v < INT_MIN || v > INT_MAX)
		return false;
	*value = (int)v;
	*s = t;
	return true;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

bool span_hex(struct span *s, uint64_t *value)
{
	struct span t = *s;
	uint64_t v = 0;
	size_t n = 0;

	if (!span_skip(&t, "0x"))
		span_skip(&t, "0X");
	for (; n < t.length && hex_digit(t.at[n]) >= 0; n++) {
		if (v >> 60)
			return false;
		v = v << 4 | (uint64_t)hex_digit(t.at[n]);
	}
	if (!n)
		return false;
	*value = v;
	drop(&t, n);
	*s = t;
	return true;
}

bool span_fixed(struct span *s, uint64_t scale, uint64_t *value)
{
	struct span t = *s;
	uint64_t whole, unit = scale, v;

	if (!span_u64(&t, &whole) || __builtin_mul_overflow(whole, scale, &v))
		return false;
	if (t.length > 1 && t.at[0] == '.' && hex_digit(t.at[1]) >= 0 && hex_digit(t.at[1]) <= 9) {
		drop(&t, 1);
		while (t.length && *t.at >= '0' && *t.at <= '9') {
			unit /= 10;
			if (__builtin_add_overflow(v, unit * (uint64_t)(*t.at - '0'), &v))
				return false;
			drop(&t, 1);
		}
	}
	*value = v;
	*s = t;
	return true;
}

/*
 * memmem() fills a table of 256 bytes at each call, which costs more than to look at a line:
 * most searches are for a word that the line does not have.
 */
const char *span_search(struct span s, const char *needle, size_t n)
{
	const char *at = s.at, *end = s.at + s.length;

	while ((size_t)(end - at) >= n) {
		at = memchr(at, *needle, (size_t)(end - at) - n + 1);
		if (!at)
			return NULL;
		if (!memcmp(at, needle, n))
			return at;
		at++;
	}
	return NULL;
}

char *span_copy(struct span s)
{
	char *text = malloc(s.length + 1);

	if (!text)
		return NULL;
	if (s.length)
		memcpy(text, s.at, s.length);
	text[s.length] = '\0';
	return text;
}

char *span_put(struct span s, char *buf, size_t size)
{
	size_t n = s.length < size - 1 ? s.length : size - 1;

	for (size_t i = 0; i < n; i++)
		buf[i] = (unsigned char)s.at[i] < ' ' || s.at[i] == 0x7f ? '?' : s.at[i];
	buf[n] = '\0';
	return buf;
}
