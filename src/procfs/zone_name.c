/* SPDX-License-Identifier: MIT */
#include "procfs/zone_name.h"
#include "procfs/procfs.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool zone_name_take(struct span *s, int *node, struct span *zone)
{
	struct span t = *s;

	if (!span_skip(&t, "Node"))
		return false;
	span_blanks(&t);
	if (!span_int(&t, node) || *node < 0 || !span_skip(&t, ","))
		return false;
	span_blanks(&t);
	if (!span_skip(&t, "zone") || !span_word(&t, zone))
		return false;
	if (zone->length && zone->at[zone->length - 1] == ',')
		zone->length--;
	if (!zone->length || zone->length >= PROCFS_NAME)
		return false;
	*s = t;
	return true;
}

int zone_name_rows(const char *text, size_t length, size_t row_bytes,
		   bool (*take)(struct span line, int number, void *row),
		   struct zone_name_rows *out)
{
	struct span rest = span_of(text, length), line;
	int number = 0;

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		char *more, *row;

		number++;
		span_trim(&line);
		if (!line.length)
			continue;
		/* One more than there are, so that a row is read where it will stay. */
		more = reallocarray(out->row, out->count + 1, row_bytes);
		if (!more) {
			free(out->row);
			return -ENOMEM;
		}
		out->row = more;
		row = more + out->count * row_bytes;
		memset(row, 0, row_bytes);
		if (take(line, number, row))
			out->count++;
		else
			out->skipped++;
	}
	if (out->count)
		return 0;
	free(out->row);
	return -EINVAL;
}
