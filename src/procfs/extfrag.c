/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include "procfs/zone_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* "-1.000", "0.981" */
static bool take_index(struct span *s, int *milli)
{
	struct span t = *s;
	bool negative;
	uint64_t v;

	span_blanks(&t);
	negative = span_skip(&t, "-");
	if (!span_fixed(&t, 1000, &v) || v > 1000)
		return false;
	*milli = negative ? -(int)v : (int)v;
	*s = t;
	return true;
}

static bool take_row(struct span s, int number, void *row)
{
	struct extfrag_zone *z = row;
	struct span name;
	bool fraction = span_find(s, ".") != NULL;

	if (!fraction || !zone_name_take(&s, &z->node, &name))
		return false;
	z->line = number;
	span_put(name, z->zone, sizeof(z->zone));
	while (z->orders < PROCFS_MAX_ORDERS && take_index(&s, &z->index[z->orders]))
		z->orders++;
	span_blanks(&s);
	return z->orders && !s.length;
}

int extfrag_parse(const char *text, size_t length, struct extfrag *out, struct cl_error *err)
{
	struct zone_name_rows rows;
	int r = zone_name_rows(text, length, sizeof(*out->zone), take_row, &rows);

	memset(out, 0, sizeof(*out));
	if (!r)
		*out = (struct extfrag){rows.count, rows.row, rows.skipped};
	if (r != -EINVAL)
		return r;
	return cl_error(err, r, "no line has the form of extfrag_index");
}

void extfrag_free(struct extfrag *e)
{
	free(e->zone);
	memset(e, 0, sizeof(*e));
}

/* The formula of fragmentation_index() in mm/vmstat.c, in wider integers. */
int fragmentation_index(const uint64_t *blocks, unsigned orders, unsigned order)
{
	uint64_t pages = 0, total = 0, suitable = 0, part;

	for (unsigned o = 0; o < orders; o++) {
		uint64_t b = blocks[o] > 1ULL << 40 ? 1ULL << 40 : blocks[o];

		total += b;
		pages += b << o;
		if (o >= order)
			suitable += b;
	}
	if (!total || order >= 32)
		return 0;
	if (suitable)
		return -1000;
	part = (1000 + pages * 1000 / (1ULL << order)) / total;
	return part >= 1000 ? 0 : 1000 - (int)part;
}
