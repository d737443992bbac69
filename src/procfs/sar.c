/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct columns {
	int kswapd, direct, steal; /* counted from the end of the line, -1: not there */
	unsigned total;
};

static int column_from_end(struct span line, const char *name)
{
	struct span w;
	int n = 0, at = -1;

	while (span_word(&line, &w)) {
		if (span_is(w, name))
			at = n;
		n++;
	}
	return at < 0 ? -1 : n - 1 - at;
}

static unsigned words(struct span line)
{
	struct span w;
	unsigned n = 0;

	while (span_word(&line, &w))
		n++;
	return n;
}

static bool number_from_end(struct span line, unsigned total, int from_end, double *out)
{
	struct span w = {0};
	uint64_t v;
	unsigned n = 0;

	while (n < total - (unsigned)from_end && span_word(&line, &w))
		n++;
	if (!span_fixed(&w, 100, &v) || w.length)
		return false;
	*out = (double)v / 100;
	return true;
}

int sar_parse(const char *text, size_t length, struct sar_paging *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line;
	struct columns c = {-1, -1, -1, 0};
	int number = 0;

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		struct sar_row row = {0}, *more;
		unsigned n;

		number++;
		if (span_find(line, "pgscand/s")) {
			c.kswapd = column_from_end(line, "pgscank/s");
			c.direct = column_from_end(line, "pgscand/s");
			c.steal = column_from_end(line, "pgsteal/s");
			c.total = words(line);
			continue;
		}
		n = words(line);
		if (c.direct < 0 || c.kswapd < 0 || c.steal < 0 || !n)
			continue;
		/* A row may have one more word than the heading (AM, PM), or one less. */
		if (n + 1 < c.total || n > c.total + 1 || n <= (unsigned)c.kswapd ||
		    n <= (unsigned)c.direct || n <= (unsigned)c.steal ||
		    !number_from_end(line, n, c.kswapd, &row.scan_kswapd) ||
		    !number_from_end(line, n, c.direct, &row.scan_direct) ||
		    !number_from_end(line, n, c.steal, &row.steal)) {
			out->skipped++;
			continue;
		}
		row.line = number;
		more = reallocarray(out->row, out->count + 1, sizeof(*more));
		if (!more) {
			sar_free(out);
			return -ENOMEM;
		}
		out->row = more;
		out->row[out->count++] = row;
	}
	if (out->count)
		return 0;
	sar_free(out);
	return cl_error(err, -EINVAL, "no table of sar -B with its heading");
}

void sar_free(struct sar_paging *s)
{
	free(s->row);
	memset(s, 0, sizeof(*s));
}
