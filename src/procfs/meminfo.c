/* SPDX-License-Identifier: MIT */
#include "procfs/counters.h"
#include <errno.h>
#include <string.h>

/* "[Node N] Name:   value [kB]" */
static bool parse_line(struct span line, int *node, struct span *name, uint64_t *value)
{
	struct span s = line, rest;

	if (span_skip(&s, "Node ")) {
		span_blanks(&s);
		if (!span_int(&s, node) || *node < 0)
			return false;
		span_blanks(&s);
	} else {
		*node = -1;
	}
	if (!span_until(&s, ':', name) || !name->length || span_find(*name, " "))
		return false;
	rest = s;
	span_blanks(&rest);
	if (!span_u64(&rest, value))
		return false;
	span_trim(&rest);
	return !rest.length || span_is(rest, "kB") || span_is(rest, "KB");
}

int meminfo_parse(const char *text, size_t length, struct counters *out, int *node,
		  struct cl_error *err)
{
	struct span rest = span_of(text, length), line, name;
	int number = 0, r = 0, first = -1, here;
	uint64_t value;

	memset(out, 0, sizeof(*out));
	while (!r && span_line(&rest, &line)) {
		number++;
		span_trim(&line);
		if (!line.length)
			continue;
		if (!parse_line(line, &here, &name, &value) || (out->count && here != first)) {
			out->skipped++;
			continue;
		}
		first = here;
		r = counters_add(out, name, value, number);
		if (r == -EINVAL) {
			out->skipped++;
			r = 0;
		}
	}
	if (node)
		*node = first;
	if (!r && out->count)
		return counters_index(out);
	counters_free(out);
	if (r)
		return r;
	return cl_error_hint(err, cl_error(err, -EINVAL, "no line has the form of /proc/meminfo"),
			     "expected lines such as \"MemFree: 1024 kB\"");
}
