/* SPDX-License-Identifier: MIT */
#include "procfs/counters.h"
#include "procfs/paste.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No kernel has that many counters; looking one up is linear. */
#define ROWS_MOST 2048

struct row {
	struct span name;
	uint64_t a, b;
	int64_t signed_b;
	bool has_b;
};

/* "+compact_stall 5" is a line of diff, "compact_fail 124806 108" a row of a table. */
static bool parse_row(struct span s, char *mark, struct row *r)
{
	*mark = ' ';
	span_trim(&s);
	if (s.length > 1 && strchr("<>+-", *s.at)) {
		*mark = *s.at == '<' ? '-' : *s.at == '>' ? '+' : *s.at;
		s.at++;
		s.length--;
	}
	if (!span_word(&s, &r->name))
		return false;
	if (r->name.length && r->name.at[r->name.length - 1] == ':')
		r->name.length--;
	if (!counters_name_ok(r->name))
		return false;
	span_blanks(&s);
	if (!span_u64(&s, &r->a)) {
		int64_t v;

		if (!span_skip(&s, "+") && *mark == ' ' && span_i64(&s, &v)) {
			r->a = (uint64_t)v; /* a gauge that fell, in a table of changes */
		} else if (!span_u64(&s, &r->a)) {
			return false;
		}
	}
	span_blanks(&s);
	span_skip(&s, "->");
	span_skip(&s, "=>");
	span_blanks(&s);
	span_skip(&s, "(");
	span_skip(&s, "+");
	r->has_b = span_i64(&s, &r->signed_b);
	if (!r->has_b && s.length)
		return false;
	r->b = (uint64_t)r->signed_b;
	span_skip(&s, ")");
	span_blanks(&s);
	return !s.length;
}

static int add(struct vmstat_delta *d, struct span name, uint64_t before, uint64_t after)
{
	struct vmstat_change *more = reallocarray(d->entry, d->count + 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	d->entry = more;
	more += d->count;
	*more = (struct vmstat_change){span_copy(name), before, after, (int64_t)(after - before)};
	if (!more->name)
		return -ENOMEM;
	d->count++;
	return 0;
}

static struct vmstat_change *find(struct vmstat_delta *d, struct span name)
{
	for (unsigned i = 0; i < d->count; i++)
		if (span_is(name, d->entry[i].name))
			return &d->entry[i];
	return NULL;
}

/* "delta_over_10s", "diff over 10 s", "after 30 seconds" */
static unsigned seconds_of(struct span s)
{
	for (size_t i = 0; i < s.length; i++) {
		struct span t = span_of(s.at + i, s.length - i);
		uint64_t n;

		if (i && s.at[i - 1] >= '0' && s.at[i - 1] <= '9')
			continue;
		if (!span_u64(&t, &n) || n == 0 || n > 1000000)
			continue;
		span_skip(&t, " ");
		if (span_starts(t, "s") && (t.length == 1 || !strchr("tnrdwy", t.at[1])))
			return (unsigned)n;
	}
	return 0;
}

static bool says_delta(struct span s)
{
	return span_find(s, "delta") || span_find(s, "Delta") || span_find(s, "diff") ||
	       span_find(s, "change");
}

int vmstat_table_parse(const char *text, size_t length, bool changes_only, struct vmstat_table *out,
		       struct cl_error *err)
{
	struct span rest = span_of(text, length), line;
	bool diff = false, third = false, grows = true, below = true;
	struct vmstat_delta old = {0};
	struct row r;
	char mark;
	int code = 0;

	memset(out, 0, sizeof(*out));
	while (!code && span_line(&rest, &line)) {
		span_trim(&line);
		if (!line.length)
			continue;
		if (*line.at == '#' || !parse_row(line, &mark, &r)) {
			changes_only |= says_delta(line);
			if (!out->seconds && says_delta(line))
				out->seconds = seconds_of(line);
			out->skipped += *line.at != '#';
			continue;
		}
		if (out->delta.count >= ROWS_MOST || (mark == ' ' && find(&out->delta, r.name)))
			continue;
		if (mark != ' ') {
			struct vmstat_change *before = find(&old, r.name);

			diff = true;
			if (mark == '-')
				code = old.count < ROWS_MOST ? add(&old, r.name, r.a, r.a) : 0;
			else
				code = add(&out->delta, r.name, before ? before->after : r.a, r.a);
		} else if (r.has_b) {
			third = true;
			grows &= r.signed_b >= 0 && r.b >= r.a;
			below &= r.signed_b <= 0 || r.b <= r.a;
			code = add(&out->delta, r.name, r.a, r.b);
		} else {
			code = add(&out->delta, r.name, 0, r.a);
		}
	}
	vmstat_delta_free(&old);
	if (!code && out->delta.count && third && !diff) {
		/* Either the third column is never below the second, or it is a change. */
		out->before_after = grows && !(below && changes_only) && !changes_only;
		for (unsigned i = 0; i < out->delta.count && !out->before_after; i++) {
			struct vmstat_change *c = &out->delta.entry[i];
			int64_t change = (int64_t)c->after;

			*c = (struct vmstat_change){c->name, c->before - (uint64_t)change,
						    c->before, change};
		}
		return 0;
	}
	if (!code && out->delta.count && (diff || changes_only)) {
		out->before_after = diff;
		return 0;
	}
	vmstat_table_free(out);
	return code ? code : cl_error(err, -EINVAL, "no table of vmstat changes");
}

void vmstat_table_free(struct vmstat_table *t)
{
	vmstat_delta_free(&t->delta);
}
