/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include <string.h>

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '/' ||
	       c == '.' || c == '-';
}

/* A value is one or more words; of a choice, the one in brackets. */
static bool put_value(struct span s, struct setting_line *out)
{
	struct span before, inner;

	span_trim(&s);
	if (!s.length || s.length >= 200)
		return false;
	inner = s;
	if (span_until(&inner, '[', &before) && span_until(&inner, ']', &before))
		s = before;
	if (s.length >= sizeof(out->value))
		return false;
	span_put(s, out->value, sizeof(out->value));
	return true;
}

static bool put_name(struct span s, const char *prefix, struct setting_line *out)
{
	size_t n = strlen(prefix);

	if (!s.length || n + s.length >= sizeof(out->name))
		return false;
	for (size_t i = 0; i < s.length; i++)
		if (!name_char(s.at[i]))
			return false;
	memcpy(out->name, prefix, n);
	span_put(s, out->name + n, sizeof(out->name) - n);
	return true;
}

/* What stands between a name and its value: " = ", ":", " : ", or blanks. */
static bool split(struct span s, struct span *name, struct span *value)
{
	size_t n = 0;

	while (n < s.length && name_char(s.at[n]))
		n++;
	*name = span_of(s.at, n);
	s.at += n;
	s.length -= n;
	span_blanks(&s);
	if (span_skip(&s, "=") || span_skip(&s, ":"))
		span_blanks(&s);
	*value = s;
	return n > 0;
}

static bool word_is(struct span w, const char *text)
{
	if (span_skip(&w, "["))
		w.length -= w.length > 0;
	return span_is(w, text);
}

/* "always defer defer+madvise [madvise] never" with nothing else on the line. */
static bool bare_choice(struct span s, struct setting_line *out)
{
	static const char *const words[] = {"always", "defer", "defer+madvise", "madvise", "never"};
	bool defrag = false;
	unsigned n = 0;
	struct span rest = s, w;

	if (!span_find(s, "["))
		return false;
	while (span_word(&rest, &w)) {
		unsigned i = 0;

		while (i < 5 && !word_is(w, words[i]))
			i++;
		if (i == 5)
			return false;
		defrag |= i == 1 || i == 2;
		n++;
	}
	if (n < 2)
		return false;
	strcpy(out->name, defrag ? "thp.defrag" : "thp.enabled");
	return put_value(s, out);
}

bool setting_parse(struct span line, struct setting_line *out)
{
	struct span rest, name, value;

	span_trim(&line);
	if (line.length > 300)
		return false;
	if (bare_choice(line, out))
		return true;
	if (span_after(line, "transparent_hugepage/", &rest)) {
		if (!split(rest, &name, &value))
			return false;
		return put_name(name, "thp.", out) && put_value(value, out);
	}
	if (span_after(line, "/proc/sys/vm/", &rest)) {
		/* "echo 1 > /proc/sys/vm/..." has no value behind the name. */
		if (!split(rest, &name, &value))
			return false;
		return put_name(name, "vm.", out) && put_value(value, out);
	}
	rest = line;
	span_skip(&rest, "sysctl ");
	span_skip(&rest, "-w ");
	if (span_skip(&rest, "vm.")) {
		if (!split(rest, &name, &value))
			return false;
		return put_name(name, "vm.", out) && put_value(value, out);
	}
	return false;
}
