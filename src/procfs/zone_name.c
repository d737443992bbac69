/* SPDX-License-Identifier: MIT */
#include "procfs/zone_name.h"
#include "procfs/procfs.h"

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
