/* SPDX-License-Identifier: MIT */
#include "procfs/counters.h"
#include "procfs/zone_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Which part of a zone the lines belong to. */
enum part { PART_NONE, PART_NODE_STATS, PART_ZONE, PART_PAGESETS };

struct reader {
	struct zoneinfo *out;
	enum part part;
	int line;
};

/* The single-number lines of a zone: "min 8473", "start_pfn: 4096". */
struct field {
	const char *name;
	size_t value; /* offset of a uint64_t */
	size_t has;   /* offset of a bool, or 0 */
};

#define FIELD(text, member)                                                                        \
	{                                                                                          \
		text, offsetof(struct zone_info, member), 0                                        \
	}
#define FIELD_IF(text, member)                                                                     \
	{                                                                                          \
		text, offsetof(struct zone_info, member), offsetof(struct zone_info, has_##member) \
	}

static const struct field fields[] = {
	FIELD_IF("boost", boost),
	FIELD("min", min),
	FIELD("low", low),
	FIELD("high", high),
	FIELD_IF("promo", promo),
	FIELD("spanned", spanned),
	FIELD("present", present),
	FIELD_IF("managed", managed),
	FIELD_IF("cma", cma),
	FIELD("start_pfn:", start_pfn),
	FIELD("reserved_highatomic:", reserved_highatomic),
	FIELD("reserved_highatomic", reserved_highatomic),
	FIELD("free_highatomic:", free_highatomic),
	FIELD("free_highatomic", free_highatomic),
};

static struct zone_info *current(struct reader *r)
{
	return r->out->count ? &r->out->zone[r->out->count - 1] : NULL;
}

/* "Node 0, zone   Normal" */
static bool parse_header(struct span s, int *node, struct span *zone)
{
	if (!zone_name_take(&s, node, zone))
		return false;
	span_blanks(&s);
	return !s.length;
}

static int add_zone(struct reader *r, int node, struct span name)
{
	struct zone_info *z = reallocarray(r->out->zone, r->out->count + 1, sizeof(*r->out->zone));

	if (!z)
		return -ENOMEM;
	r->out->zone = z;
	z += r->out->count++;
	memset(z, 0, sizeof(*z));
	z->node = node;
	z->line = r->line;
	span_put(name, z->zone, sizeof(z->zone));
	r->part = PART_ZONE;
	return 0;
}

/* "(0, 3019, 4811, 4811)" */
static bool parse_protection(struct span s, struct zone_info *z)
{
	uint64_t v[PROCFS_MAX_ZONES];
	unsigned n = 0;

	span_blanks(&s);
	if (!span_skip(&s, "("))
		return false;
	do {
		span_blanks(&s);
		if (n == PROCFS_MAX_ZONES || !span_u64(&s, &v[n]))
			return false;
		n++;
	} while (span_skip(&s, ","));
	if (!span_skip(&s, ")"))
		return false;
	memcpy(z->protection, v, sizeof(v[0]) * n);
	z->protections = n;
	return true;
}

static bool parse_number(struct span s, uint64_t *value)
{
	span_blanks(&s);
	if (!span_u64(&s, value))
		return false;
	span_blanks(&s);
	return !s.length;
}

static int add_pageset(struct zone_info *z, struct span s)
{
	struct zone_pageset *p;
	int cpu;

	span_blanks(&s);
	if (!span_int(&s, &cpu) || cpu < 0)
		return -EINVAL;
	p = reallocarray(z->pageset, z->pagesets + 1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	z->pageset = p;
	z->pageset[z->pagesets++] = (struct zone_pageset){.cpu = cpu};
	return 0;
}

static int pageset_line(struct zone_info *z, struct span name, struct span rest)
{
	struct zone_pageset *p;
	uint64_t value;

	if (span_is(name, "cpu:"))
		return add_pageset(z, rest);
	if (!z->pagesets)
		return -EINVAL;
	if (span_is(name, "vm")) /* "vm stats threshold: 24" */
		return 0;
	if (!parse_number(rest, &value))
		return -EINVAL;
	p = &z->pageset[z->pagesets - 1];
	if (span_is(name, "count:"))
		p->count = value;
	else if (span_is(name, "high:"))
		p->high = value;
	else if (span_is(name, "batch:"))
		p->batch = value;
	else if (span_is(name, "high_min:"))
		p->high_min = value;
	else if (span_is(name, "high_max:"))
		p->high_max = value;
	else
		return -ENOENT;
	return 0;
}

static int zone_field(struct zone_info *z, struct span name, struct span rest)
{
	uint64_t value;

	if (span_is(name, "protection:"))
		return parse_protection(rest, z) ? 0 : -EINVAL;
	if (span_is(name, "pages")) { /* "pages free     1360836" */
		span_blanks(&rest);
		return span_skip(&rest, "free") && parse_number(rest, &z->free) ? 0 : -EINVAL;
	}
	if (!parse_number(rest, &value))
		return -EINVAL;
	if (span_is(name, "node_unreclaimable:") || span_is(name, "all_unreclaimable:")) {
		z->node_unreclaimable = value != 0;
		return 0;
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		if (!span_is(name, fields[i].name))
			continue;
		*(uint64_t *)((char *)z + fields[i].value) = value;
		if (fields[i].has)
			*(bool *)((char *)z + fields[i].has) = true;
		return 0;
	}
	return -ENOENT;
}

static bool ends_in_colon(struct span s)
{
	return s.length && s.at[s.length - 1] == ':';
}

/* 0, -EINVAL for a line that is damaged, -ENOMEM. */
static int zone_line(struct reader *r, struct span line)
{
	struct zone_info *z = current(r);
	struct span name, rest = line;
	uint64_t value;
	int code;

	if (!span_word(&rest, &name))
		return 0;
	if (span_is(line, "per-node stats")) {
		r->part = PART_NODE_STATS;
		return 0;
	}
	if (span_is(line, "pagesets")) {
		r->part = PART_PAGESETS;
		return 0;
	}
	if (span_is(name, "pages"))
		r->part = PART_ZONE;
	if (r->part == PART_PAGESETS) {
		code = pageset_line(z, name, rest);
		if (code != -ENOENT)
			return code;
	}
	if (r->part != PART_NODE_STATS) {
		code = zone_field(z, name, rest);
		if (code != -ENOENT)
			return code;
	}
	if (!parse_number(rest, &value))
		return -EINVAL;
	if (ends_in_colon(name)) /* a field newer or older than this program */
		return 0;
	if (!counters_name_ok(name))
		return -EINVAL;
	return counters_add(r->part == PART_NODE_STATS ? &z->node_stats : &z->stats, name, value,
			    r->line);
}

static int read_line(struct reader *r, struct span line)
{
	struct span name;
	int node, code;

	span_trim(&line);
	if (!line.length)
		return 0;
	if (parse_header(line, &node, &name))
		return add_zone(r, node, name);
	code = current(r) ? zone_line(r, line) : -EINVAL;
	if (code == -EINVAL) {
		r->out->skipped++;
		code = 0;
	}
	return code;
}

static int index_all(struct zoneinfo *z)
{
	for (unsigned i = 0; i < z->count; i++)
		if (counters_index(&z->zone[i].stats) || counters_index(&z->zone[i].node_stats))
			return -ENOMEM;
	return 0;
}

int zoneinfo_parse(const char *text, size_t length, struct zoneinfo *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line;
	struct reader r = {.out = out};
	int code = 0;

	memset(out, 0, sizeof(*out));
	while (!code && span_line(&rest, &line)) {
		r.line++;
		code = read_line(&r, line);
	}
	if (!code)
		code = index_all(out);
	if (!code && out->count)
		return 0;
	zoneinfo_free(out);
	if (code)
		return code;
	return cl_error_hint(err, cl_error(err, -EINVAL, "no line has the form of /proc/zoneinfo"),
			     "expected \"Node 0, zone Normal\" and indented lines below it");
}

void zoneinfo_free(struct zoneinfo *z)
{
	for (unsigned i = 0; i < z->count; i++) {
		counters_free(&z->zone[i].stats);
		counters_free(&z->zone[i].node_stats);
		free(z->zone[i].pageset);
	}
	free(z->zone);
	memset(z, 0, sizeof(*z));
}

const struct zone_info *zoneinfo_find(const struct zoneinfo *z, int node, const char *zone)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->zone[i].node == node && !strcmp(z->zone[i].zone, zone))
			return &z->zone[i];
	return NULL;
}

const struct counters *zoneinfo_node(const struct zoneinfo *z, int node)
{
	for (unsigned i = 0; i < z->count; i++)
		if (z->zone[i].node == node && z->zone[i].node_stats.count)
			return &z->zone[i].node_stats;
	return NULL;
}
