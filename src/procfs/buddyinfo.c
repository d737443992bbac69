/* SPDX-License-Identifier: MIT */
#include "procfs/procfs.h"
#include "procfs/zone_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "Node 0, zone   Normal      1      2 ..." */
static bool take_row(struct span s, int number, void *row)
{
	struct buddy_zone *z = row;
	struct span name;

	if (!zone_name_take(&s, &z->node, &name))
		return false;
	z->line = number;
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
	struct zone_name_rows rows;
	int r = zone_name_rows(text, length, sizeof(*out->zone), take_row, &rows);

	memset(out, 0, sizeof(*out));
	if (!r)
		*out = (struct buddyinfo){rows.count, rows.row, rows.skipped};
	if (r != -EINVAL)
		return r;
	return cl_error_hint(err, cl_error(err, r, "no line has the form of /proc/buddyinfo"),
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
