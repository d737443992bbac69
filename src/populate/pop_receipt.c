/* SPDX-License-Identifier: MIT */
#include "pop_receipt.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *because;
} limits[] = {
	[CL_POPULATE_LIMIT_NONE] = {"none", ""},
	[CL_POPULATE_LIMIT_FRAGMENTED] = {"fragmented", "memory is fragmented"},
	[CL_POPULATE_LIMIT_THP_OFF] = {"thp-off", "transparent huge pages are off"},
	[CL_POPULATE_LIMIT_DEADLINE] = {"deadline", "the deadline was near"},
	[CL_POPULATE_LIMIT_CANCELLED] = {"cancelled", "it was cancelled"},
	[CL_POPULATE_LIMIT_ROOM] = {"room", "there is too little memory left"},
	[CL_POPULATE_LIMIT_PRESENT] = {"present", "pages were there before"},
	[CL_POPULATE_LIMIT_SMALL] = {"small", "the range holds no whole huge page"},
	[CL_POPULATE_LIMIT_CONTRACT] = {"contract", "the wanted coverage is out of reach"},
	[CL_POPULATE_LIMIT_ERROR] = {"error", "the kernel refused"},
	[CL_POPULATE_LIMIT_POOL] = {"pool", "the hugetlb pool is too small"},
};

static const struct {
	uint32_t bit;
	const char *name;
} missing[] = {
	{CL_POPULATE_NO_POPULATE_WRITE, "populate-write"},
	{CL_POPULATE_NO_BUDDYINFO, "buddyinfo"},
	{CL_POPULATE_NO_ZONEINFO, "zoneinfo"},
	{CL_POPULATE_NO_MEMPOLICY, "mempolicy"},
	{CL_POPULATE_NO_AFFINITY, "affinity"},
	{CL_POPULATE_NO_THREADS, "threads"},
	{CL_POPULATE_NO_SCAN, "pagemap-scan"},
	{CL_POPULATE_NO_NODES, "nodes"},
	{CL_POPULATE_NO_VMSTAT, "vmstat"},
	{CL_POPULATE_NO_COLLAPSE, "collapse"},
	{CL_POPULATE_NO_SMALLER, "smaller-folios"},
	{CL_POPULATE_NO_MAPS, "maps"},
	{CL_POPULATE_NO_SYSFS, "sysfs"},
	{CL_POPULATE_OWN_POLICY, "own-policy"},
	{CL_POPULATE_NO_SPLIT, "split"},
};

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

const char *cl_populate_limit_name(uint32_t limit)
{
	return limit < COUNT(limits) ? limits[limit].name : "unknown";
}

const char *cl_populate_missing_name(uint32_t bit)
{
	for (unsigned i = 0; i < COUNT(missing); i++)
		if (missing[i].bit == bit)
			return missing[i].name;
	return "unknown";
}

/* ---- one sentence --------------------------------------------------------------- */

void pop_receipt_text(struct cl_populate_receipt *r)
{
	double mib = 1.0 / (1 << 20);
	char why[128] = "";

	if (r->limit && r->limit < COUNT(limits))
		snprintf(why, sizeof(why), "; not all huge because %s", limits[r->limit].because);
	if (r->result && r->limit < COUNT(limits))
		snprintf(why, sizeof(why), "; stopped with errno %d because %s", -r->result,
			 limits[r->limit].because);
	snprintf(r->text, sizeof(r->text),
		 "%.0f of %.0f MiB filled in %.3f s, %.0f MiB in huge pages, "
		 "%" PRIu64 " of %" PRIu64 " tries failed, %" PRIu64 " blocks deferred%s",
		 (double)r->done_bytes * mib, (double)r->bytes * mib, (double)r->total_ns / 1e9,
		 (double)r->huge_bytes * mib, r->failed_tries, r->tries, r->deferred_blocks, why);
}

/* ---- JSON ----------------------------------------------------------------------- */

struct out {
	char *buf;
	size_t size, length; /* of the whole text, also where it does not fit */
};

__attribute__((format(printf, 2, 3))) static void put(struct out *o, const char *fmt, ...)
{
	size_t room = o->length < o->size ? o->size - o->length : 0;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(room ? o->buf + o->length : NULL, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		o->length += (size_t)n;
}

static void put_number(struct out *o, const char *name, int64_t value)
{
	if (value < 0)
		put(o, ",\"%s\":null", name);
	else
		put(o, ",\"%s\":%" PRId64, name, value);
}

/* The receipt may come from anywhere: escape what JSON does not allow as it is. */
static void put_text(struct out *o, const char *text, size_t max)
{
	put(o, "\"");
	for (size_t i = 0; i < max && text[i]; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == '"' || c == '\\')
			put(o, "\\%c", c);
		else if (c < 32 || c > 126)
			put(o, "\\u%04x", c);
		else
			put(o, "%c", c);
	}
	put(o, "\"");
}

static void put_nodes(struct out *o, const struct cl_populate_receipt *r)
{
	uint32_t count =
		r->node_count < CL_POPULATE_MAX_NODES ? r->node_count : CL_POPULATE_MAX_NODES;

	if (!count) {
		put(o, ",\"pages\":null");
		return;
	}
	put(o, ",\"pages\":{");
	for (uint32_t i = 0; i < count; i++)
		put(o,
		    "%s\"node%d\":{\"huge_bytes\":%" PRIu64 ",\"base_bytes\":%" PRIu64
		    ",\"base_sampled\":%s}",
		    i ? "," : "", r->nodes[i].node, r->nodes[i].huge_bytes, r->nodes[i].base_bytes,
		    r->nodes[i].base_sampled ? "true" : "false");
	put(o, "}");
}

int cl_populate_receipt_json(const struct cl_populate_receipt *r, char *buf, size_t size)
{
	struct out o = {.buf = buf, .size = size};
	const char *comma = "";

	if (!r || (!buf && size) || r->size < sizeof(*r))
		return -EINVAL;
	if (size)
		buf[0] = 0;
	put(&o, "{\"schema\":\"compactlab-populate-1\",\"result\":%d,\"limit\":\"%s\"", r->result,
	    cl_populate_limit_name(r->limit));
	put(&o, ",\"missing\":[");
	for (unsigned i = 0; i < COUNT(missing); i++)
		if (r->missing & missing[i].bit) {
			put(&o, "%s\"%s\"", comma, missing[i].name);
			comma = ",";
		}
	put(&o, "]");
#define NUMBER(field) put_number(&o, #field, (int64_t)r->field)
	NUMBER(block_bytes);
	NUMBER(bytes);
	NUMBER(done_bytes);
	NUMBER(already_bytes);
	NUMBER(huge_bytes);
	NUMBER(base_bytes);
	put_nodes(&o, r);
	NUMBER(chunks);
	NUMBER(tries);
	NUMBER(failed_tries);
	NUMBER(failed_blocks);
	NUMBER(deferred_blocks);
	NUMBER(recoveries);
	NUMBER(max_shift);
	NUMBER(threads);
	NUMBER(collapse_tries);
	NUMBER(collapsed_blocks);
	NUMBER(faults);
	NUMBER(compact_stall);
	NUMBER(compact_fail);
	NUMBER(total_ns);
	NUMBER(setup_ns);
	NUMBER(huge_ns);
	NUMBER(remote_ns);
	NUMBER(failed_ns);
	NUMBER(base_ns);
	NUMBER(wait_ns);
	NUMBER(collapse_ns);
	NUMBER(survey_ns);
#undef NUMBER
	put(&o, ",\"text\":");
	put_text(&o, r->text, sizeof(r->text));
	put(&o, "}");
	return (int)o.length;
}
