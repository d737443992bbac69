/* SPDX-License-Identifier: MIT */
#include "procfs/counters.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool parse_line(struct span line, struct span *name, uint64_t *value)
{
	if (!span_word(&line, name))
		return false;
	if (name->length && name->at[name->length - 1] == ':')
		name->length--;
	if (!counters_name_ok(*name))
		return false;
	span_blanks(&line);
	if (!span_u64(&line, value))
		return false;
	span_trim(&line);
	return !line.length;
}

int vmstat_parse(const char *text, size_t length, struct counters *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line, name;
	uint64_t value;
	int number = 0, r = 0;

	memset(out, 0, sizeof(*out));
	while (!r && span_line(&rest, &line)) {
		number++;
		span_trim(&line);
		if (!line.length)
			continue;
		if (!parse_line(line, &name, &value)) {
			out->skipped++;
			continue;
		}
		r = counters_add(out, name, value, number);
		if (r == -EINVAL) {
			out->skipped++;
			r = 0;
		}
	}
	if (!r && out->count)
		return counters_index(out);
	counters_free(out);
	if (r)
		return r;
	return cl_error_hint(err, cl_error(err, -EINVAL, "no line has the form of /proc/vmstat"),
			     "expected lines such as \"compact_stall 42\"");
}

void vmstat_delta_free(struct vmstat_delta *d)
{
	for (unsigned i = 0; i < d->count; i++)
		free(d->entry[i].name);
	free(d->entry);
	memset(d, 0, sizeof(*d));
}

int vmstat_delta(const struct counters *before, const struct counters *after,
		 struct vmstat_delta *out)
{
	unsigned both = 0;

	memset(out, 0, sizeof(*out));
	out->entry = calloc(after->count ? after->count : 1, sizeof(*out->entry));
	if (!out->entry)
		return -ENOMEM;
	for (unsigned i = 0; i < after->count; i++) {
		const struct counter *e = &after->entry[i];
		struct vmstat_change *change = &out->entry[out->count];
		uint64_t old;

		if (!counters_get(before, e->name, &old)) {
			out->only_after++;
			continue;
		}
		both++;
		if (old == e->value)
			continue;
		change->name = strdup(e->name);
		if (!change->name) {
			vmstat_delta_free(out);
			return -ENOMEM;
		}
		change->before = old;
		change->after = e->value;
		change->delta = (int64_t)(e->value - old);
		out->count++;
	}
	out->only_before = before->count - both;
	return 0;
}

int64_t vmstat_delta_of(const struct vmstat_delta *d, const char *name)
{
	for (unsigned i = 0; i < d->count; i++)
		if (!strcmp(d->entry[i].name, name))
			return d->entry[i].delta;
	return 0;
}
