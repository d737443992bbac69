/* SPDX-License-Identifier: MIT */
#include "procfs/procfs.h"
#include "procfs/zone_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "Node 0, zone   Normal      1      2 ..." */
static bool parse_line(struct span s, struct buddy_zone *z)
{
	struct span name;

	memset(z, 0, sizeof(*z));
	if (!zone_name_take(&s, &z->node, &name))
		return false;
	span_put(name, z->zone, sizeof(z->zone));
	while (z->orders < PROCFS_MAX_ORDERS) {
		span_blanks(&s);
		if (!s.length)
			break;
		if (!span_u64(&s, &z->free[z->orders]) ||
		    (s.length && *s.at != ' ' && *s.at != '\t'))
			return false;
		z->orders++;
	}
	span_blanks(&s);
	return !s.length && z->orders > 0;
}

int buddyinfo_parse(const char *text, size_t length, struct buddyinfo *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line;
	struct buddy_zone z, *more;
	int number = 0;

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		number++;
		span_trim(&line);
		if (!line.length)
			continue;
		if (!parse_line(line, &z)) {
			out->skipped++;
			continue;
		}
		z.line = number;
		more = reallocarray(out->zone, out->count + 1, sizeof(*more));
		if (!more) {
			buddyinfo_free(out);
			return -ENOMEM;
		}
		out->zone = more;
		out->zone[out->count++] = z;
	}
	if (out->count)
		return 0;
	buddyinfo_free(out);
	return cl_error_hint(err, cl_error(err, -EINVAL, "no line has the form of /proc/buddyinfo"),
			     "expected lines such as \"Node 0, zone Normal 12 3 0 ...\"");
}

void buddyinfo_free(struct buddyinfo *b)
{
	free(b->zone);
	memset(b, 0, sizeof(*b));
}

uint64_t buddy_zone_pages(const struct buddy_zone *z, unsigned order)
{
	uint64_t pages = 0;

	for (unsigned o = order; o < z->orders && o < PROCFS_MAX_ORDERS; o++)
		pages += z->free[o] << o;
	return pages;
}
