/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include <string.h>

static bool symbol_ok(struct span s)
{
	if (!s.length || s.length >= 64)
		return false;
	for (size_t i = 0; i < s.length; i++) {
		char c = s.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		      c == '_' || c == '.'))
			return false;
	}
	return !(*s.at >= '0' && *s.at <= '9');
}

/* Drop ".isra.0", ".constprop.3", ".part.1". */
static void put_symbol(struct span s, char *buf, size_t size)
{
	const char *dot = s.length > 1 ? memchr(s.at + 1, '.', s.length - 1) : NULL;

	if (dot)
		s.length = (size_t)(dot - s.at);
	span_put(s, buf, size);
}

static bool take_percent(struct span *s, unsigned *centi)
{
	struct span t = *s;
	uint64_t v;

	span_blanks(&t);
	if (!span_fixed(&t, 100, &v) || v > 100 * 100 * 1000 || !span_skip(&t, "%"))
		return false;
	*centi = (unsigned)v;
	*s = t;
	return true;
}

bool perf_row_parse(struct span line, struct perf_row *out)
{
	struct span s = line, w, word[12];
	unsigned n = 0, second, mark = 12;

	memset(out, 0, sizeof(*out));
	span_blanks(&s);
	/* Call graphs put lines in front. */
	while (s.length && strchr("|-+", *s.at)) {
		out->graph |= *s.at != '+';
		s.at++;
		s.length--;
		span_blanks(&s);
	}
	if (!take_percent(&s, &out->centipercent) || !s.length)
		return false;
	if (s.length && !strchr(" \t-", *s.at))
		return false;
	while (s.length && *s.at == '-') { /* "--12.34%--symbol" */
		s.at++;
		s.length--;
	}
	take_percent(&s, &second); /* children and self: the first is the larger */
	while (n < 12 && span_word(&s, &w))
		word[n++] = w;
	for (unsigned i = 0; i + 1 < n; i++)
		if (span_is(word[i], "[k]") || span_is(word[i], "[.]"))
			mark = i;
	if (mark < 12) {
		if (!symbol_ok(word[mark + 1]))
			return false;
		out->kernel = span_is(word[mark], "[k]");
		put_symbol(word[mark + 1], out->symbol, sizeof(out->symbol));
		/* comm, object, [k], symbol; the comm may have been left out */
		if (mark >= 2)
			span_put(word[0], out->comm, sizeof(out->comm));
		return true;
	}
	if (n < 1 || !symbol_ok(word[n - 1]))
		return false;
	put_symbol(word[n - 1], out->symbol, sizeof(out->symbol));
	if (n >= 2 && word[0].length && *word[0].at != '[')
		span_put(word[0], out->comm, sizeof(out->comm));
	return true;
}

bool daemon_row_parse(struct span line, struct daemon_row *out)
{
	static const char *const names[] = {"kcompactd", "khugepaged", "kswapd"};
	struct span rest = line, w, last = {0};
	uint64_t v, best = 0;
	bool any = false, named = false;

	memset(out, 0, sizeof(*out));
	while (span_word(&rest, &w))
		last = w;
	if (span_skip(&last, "["))
		last.length -= last.length > 0;
	for (unsigned i = 0; i < 3; i++)
		named |= span_starts(last, names[i]);
	if (!named || last.length >= sizeof(out->name))
		return false;
	/* Of the numbers with a point, %CPU comes before %MEM and is not a time. */
	rest = line;
	while (span_word(&rest, &w)) {
		char number[16];
		struct span t;

		if (w.length >= sizeof(number))
			continue;
		span_put(w, number, sizeof(number));
		for (char *c = number; *c; c++) /* "99,9" of other locales */
			if (*c == ',')
				*c = '.';
		t = span_text(number);
		if (!span_find(t, ".") || !span_fixed(&t, 100, &v))
			continue;
		span_skip(&t, "%");
		if (t.length)
			continue;
		best = v;
		any = true;
		break;
	}
	if (!any || best > 100 * 100 * 100)
		return false;
	out->centipercent = (unsigned)best;
	span_put(last, out->name, sizeof(out->name));
	return true;
}

bool graph_row_parse(struct span line, struct graph_row *out)
{
	struct span s = line, before, name;
	const char *us;
	size_t n;

	us = span_find(line, " us ");
	if (!us || !span_until(&s, '|', &before) || before.at + before.length < us)
		return false;
	before.length = (size_t)(us - before.at);
	n = before.length;
	while (n &&
	       ((before.at[n - 1] >= '0' && before.at[n - 1] <= '9') || before.at[n - 1] == '.'))
		n--;
	before = span_of(before.at + n, before.length - n);
	if (!span_fixed(&before, 1000, &out->ns) || before.length)
		return false;
	out->function[0] = '\0';
	if (span_until(&s, '(', &name)) {
		span_trim(&name);
		if (symbol_ok(name))
			put_symbol(name, out->function, sizeof(out->function));
	}
	return true;
}

/* Value behind "key=" up to a blank. */
static bool value_of(struct span s, const char *key, struct span *value)
{
	return span_after(s, key, &s) && span_word(&s, value);
}

bool page_alloc_parse(struct span line, struct page_alloc_row *out)
{
	struct span s = line, v, flags;
	unsigned unknown;
	uint64_t mask;
	const char *event = span_find(line, "mm_page_alloc:");

	memset(out, 0, sizeof(*out));
	out->count = 1;
	if (!event) {
		span_blanks(&s);
		if (!span_u64(&s, &out->count) || !span_starts(s, " "))
			return false;
		span_blanks(&s);
		if (!span_starts(s, "order="))
			return false;
	} else {
		struct span head = span_of(line.at, (size_t)(event - line.at)), word;

		if (span_word(&head, &word)) {
			const char *dash = memrchr(word.at, '-', word.length);

			if (dash)
				word.length = (size_t)(dash - word.at);
			span_put(word, out->comm, sizeof(out->comm));
		}
	}
	if (!value_of(line, "order=", &v) || !span_int(&v, &out->order) || out->order < 0 ||
	    out->order > 64)
		return false;
	if (value_of(line, "gfp_flags=", &flags)) {
		if (span_find(flags, "GFP_"))
			out->gfp = gfp_from_names(flags, &unknown);
		else if (span_hex(&flags, &mask))
			out->gfp = gfp_from_mask(mask, 0);
	} else if (!event) {
		span_word(&s, &v); /* order=N */
		span_trim(&s);
		if (!span_find(s, "GFP_"))
			return false;
		/* Names of the reclaim bits are not always printed: GFP_IO|FS without
		   NOWAIT means that the writer took the mask apart by hand. */
		out->gfp = gfp_from_names(s, &unknown);
		if ((out->gfp & GFP_F_IO) && !span_find(s, "NOWAIT") && !span_find(s, "ATOMIC"))
			out->gfp |= GFP_F_DIRECT_RECLAIM;
	}
	if (value_of(line, "page=", &v))
		out->failed = span_is(v, "0000000000000000") || span_is(v, "(null)");
	return true;
}
