/* SPDX-License-Identifier: MIT */
#include "procfs/procfs.h"
#include "procfs/span.h"
#include <errno.h>
#include <string.h>

#define EVENT_PREFIX "mm_compaction_"

static const struct {
	const char *name;
	enum compaction_event_kind kind;
} events[] = {
	{"begin", COMPACTION_BEGIN},
	{"end", COMPACTION_END},
	{"try_to_compact_pages", COMPACTION_TRY_TO_COMPACT_PAGES},
	{"finished", COMPACTION_FINISHED},
	{"suitable", COMPACTION_SUITABLE},
	{"deferred", COMPACTION_DEFERRED},
	{"defer_compaction", COMPACTION_DEFER_COMPACTION},
	{"defer_reset", COMPACTION_DEFER_RESET},
	{"isolate_migratepages", COMPACTION_ISOLATE_MIGRATEPAGES},
	{"isolate_freepages", COMPACTION_ISOLATE_FREEPAGES},
	{"fast_isolate_freepages", COMPACTION_FAST_ISOLATE_FREEPAGES},
	{"migratepages", COMPACTION_MIGRATEPAGES},
	{"kcompactd_sleep", COMPACTION_KCOMPACTD_SLEEP},
	{"kcompactd_wake", COMPACTION_KCOMPACTD_WAKE},
	{"wakeup_kcompactd", COMPACTION_WAKEUP_KCOMPACTD},
};
#define EVENTS (sizeof(events) / sizeof(events[0]))

/* "partial" and "not_suitable_page" are older names. */
static const struct {
	const char *name;
	enum compaction_status status;
} statuses[] = {
	{"not_suitable_zone", COMPACTION_STATUS_NOT_SUITABLE_ZONE},
	{"skipped", COMPACTION_STATUS_SKIPPED},
	{"deferred", COMPACTION_STATUS_DEFERRED},
	{"no_suitable_page", COMPACTION_STATUS_NO_SUITABLE_PAGE},
	{"not_suitable_page", COMPACTION_STATUS_NO_SUITABLE_PAGE},
	{"continue", COMPACTION_STATUS_CONTINUE},
	{"complete", COMPACTION_STATUS_COMPLETE},
	{"partial_skipped", COMPACTION_STATUS_PARTIAL_SKIPPED},
	{"contended", COMPACTION_STATUS_CONTENDED},
	{"success", COMPACTION_STATUS_SUCCESS},
	{"partial", COMPACTION_STATUS_SUCCESS},
};

const char *compaction_event_name(enum compaction_event_kind kind)
{
	for (size_t i = 0; i < EVENTS; i++)
		if (events[i].kind == kind)
			return events[i].name;
	return "?";
}

static void drop_last(struct span *s, size_t n)
{
	s->length -= n;
}

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

/* The last blank-separated word of s, taken off its end. */
static bool last_word(struct span *s, struct span *word)
{
	size_t n = 0;

	span_trim(s);
	while (n < s->length && s->at[s->length - 1 - n] != ' ' && s->at[s->length - 1 - n] != '\t')
		n++;
	if (!n)
		return false;
	*word = span_of(s->at + s->length - n, n);
	drop_last(s, n);
	span_trim(s);
	return true;
}

/* "123.456789:" or, with a counting trace clock, "123456:". */
static bool parse_time(struct span s, uint64_t *ns)
{
	if (!span_fixed(&s, 1000000000, ns))
		return false;
	span_skip(&s, ":");
	return !s.length;
}

/* "[003]" */
static bool parse_cpu(struct span s, int *cpu)
{
	return span_skip(&s, "[") && span_int(&s, cpu) && *cpu >= 0 && span_skip(&s, "]") &&
	       !s.length;
}

/* "comm-123", perf: "comm 123" or "comm 123/124", and an optional "( tgid)" behind it. */
static void parse_task(struct span s, struct compaction_event *e)
{
	size_t n = 0;

	span_trim(&s);
	if (s.length && s.at[s.length - 1] == ')') {
		const char *open = memrchr(s.at, '(', s.length);

		if (open && open > s.at)
			s.length = (size_t)(open - s.at);
		span_trim(&s);
	}
	while (n < s.length && (digit(s.at[s.length - 1 - n]) || s.at[s.length - 1 - n] == '/'))
		n++;
	if (n && n < s.length && strchr("- \t", s.at[s.length - 1 - n])) {
		struct span number = span_of(s.at + s.length - n, n);

		if (span_int(&number, &e->pid))
			drop_last(&s, n + 1);
	}
	span_trim(&s);
	span_put(s, e->comm, sizeof(e->comm));
}

/*
 * What stands before the event's name, from its end: time, flags where there are any,
 * CPU, task. Searching from the end is what lets a comm hold blanks and brackets.
 */
static bool parse_head(struct span head, struct compaction_event *e)
{
	struct span word;

	span_trim(&head);
	if (!last_word(&head, &word) || !parse_time(word, &e->time_ns))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		struct span before = head;

		if (!last_word(&before, &word))
			break;
		if (parse_cpu(word, &e->cpu)) {
			head = before;
			break;
		}
		if (!i && word.length > 8) /* not the flags */
			break;
		if (!i && span_find(before, "[")) {
			struct span further = before;

			if (last_word(&further, &word) && parse_cpu(word, &e->cpu)) {
				head = further;
				break;
			}
		}
		break;
	}
	parse_task(head, e);
	return true;
}

/* Value of "key=": up to a comma or blank. The key must stand at a word's beginning. */
static bool value_of(struct span fields, const char *key, struct span *value)
{
	size_t n = strlen(key);

	for (size_t i = 0; i + n < fields.length; i++) {
		size_t end;

		if (memcmp(fields.at + i, key, n) || fields.at[i + n] != '=' ||
		    (i && !strchr(" ,\t(", fields.at[i - 1])))
			continue;
		for (end = i + n + 1; end < fields.length; end++)
			if (strchr(" ,\t)", fields.at[end]))
				break;
		*value = span_of(fields.at + i + n + 1, end - i - n - 1);
		return value->length > 0;
	}
	return false;
}

/* Addresses are printed with 0x since 4.0, decimal without before. */
static bool number_of(struct span fields, const char *key, uint64_t *out)
{
	struct span v;

	if (!value_of(fields, key, &v))
		return false;
	if (span_starts(v, "0x"))
		return span_hex(&v, out) && !v.length;
	return span_u64(&v, out) && !v.length;
}

static bool int_of(struct span fields, const char *key, int *out)
{
	struct span v;

	return value_of(fields, key, &v) && span_int(&v, out) && !v.length;
}

static enum compaction_status status_of(struct span fields, const char *key)
{
	struct span v;

	if (!value_of(fields, key, &v))
		return COMPACTION_STATUS_UNKNOWN;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++)
		if (span_is(v, statuses[i].name))
			return statuses[i].status;
	return COMPACTION_STATUS_UNKNOWN;
}

static void sync_of(struct span fields, int *sync)
{
	struct span v;

	if (!value_of(fields, "mode", &v) && !value_of(fields, "sync", &v))
		return;
	if (span_is(v, "sync") || span_is(v, "1") || span_is(v, "true"))
		*sync = 1;
	else if (span_is(v, "async") || span_is(v, "0") || span_is(v, "false"))
		*sync = 0;
}

static void zone_of(struct span fields, const char *key, struct compaction_event *e)
{
	struct span v;

	if (value_of(fields, key, &v))
		span_put(v, e->zone, sizeof(e->zone));
}

static bool parse_zone_range(struct span f, struct compaction_event *e)
{
	sync_of(f, &e->sync);
	e->status = status_of(f, "status");
	return number_of(f, "zone_start", &e->zone_start) &&
	       (number_of(f, "migrate_pfn", &e->migrate_pfn) ||
		number_of(f, "migrate_start", &e->migrate_pfn)) &&
	       (number_of(f, "free_pfn", &e->free_pfn) ||
		number_of(f, "free_start", &e->free_pfn)) &&
	       number_of(f, "zone_end", &e->zone_end);
}

static bool parse_deferral(struct span f, struct compaction_event *e)
{
	zone_of(f, "zone", e);
	sync_of(f, &e->sync);
	if (!int_of(f, "node", &e->node) || !int_of(f, "order", &e->order))
		return false;
	if (!int_of(f, "order_failed", &e->order_failed) ||
	    !(number_of(f, "consider", &e->considered) ||
	      number_of(f, "considered", &e->considered)))
		return false;
	if (number_of(f, "limit", &e->limit) && e->limit)
		e->defer_shift = 63 - __builtin_clzll(e->limit);
	else if (int_of(f, "defer_shift", &e->defer_shift) && e->defer_shift >= 0 &&
		 e->defer_shift < 64)
		e->limit = 1ULL << e->defer_shift;
	else
		return false;
	return true;
}

/* "range=(0x1000 ~ 0x1200) nr_scanned=512 nr_taken=0" */
static bool parse_isolate(struct span f, struct compaction_event *e)
{
	struct span range;

	if (span_after(f, "range=(", &range)) {
		if (!span_hex(&range, &e->range_start) || !span_skip(&range, " ~ ") ||
		    !span_hex(&range, &e->range_end) || !span_skip(&range, ")"))
			return false;
	}
	return number_of(f, "nr_scanned", &e->scanned) && number_of(f, "nr_taken", &e->taken);
}

static bool parse_attempt(struct span f, struct compaction_event *e)
{
	struct span v;

	if (value_of(f, "gfp_mask", &v))
		span_put(v, e->gfp, sizeof(e->gfp));
	int_of(f, "priority", &e->priority);
	return int_of(f, "order", &e->order);
}

static bool parse_fields(struct span f, struct compaction_event *e)
{
	switch (e->kind) {
	case COMPACTION_BEGIN:
	case COMPACTION_END:
		return parse_zone_range(f, e);
	case COMPACTION_TRY_TO_COMPACT_PAGES:
		return parse_attempt(f, e);
	case COMPACTION_FINISHED:
	case COMPACTION_SUITABLE:
		zone_of(f, "zone", e);
		e->status = status_of(f, "ret");
		return int_of(f, "node", &e->node) && int_of(f, "order", &e->order);
	case COMPACTION_DEFERRED:
	case COMPACTION_DEFER_COMPACTION:
	case COMPACTION_DEFER_RESET:
		return parse_deferral(f, e);
	case COMPACTION_ISOLATE_MIGRATEPAGES:
	case COMPACTION_ISOLATE_FREEPAGES:
	case COMPACTION_FAST_ISOLATE_FREEPAGES:
		return parse_isolate(f, e);
	case COMPACTION_MIGRATEPAGES:
		return number_of(f, "nr_migrated", &e->migrated) &&
		       number_of(f, "nr_failed", &e->failed);
	case COMPACTION_KCOMPACTD_SLEEP:
		return int_of(f, "nid", &e->node);
	case COMPACTION_KCOMPACTD_WAKE:
	case COMPACTION_WAKEUP_KCOMPACTD:
		zone_of(f, "classzone_idx", e);
		return int_of(f, "nid", &e->node) && int_of(f, "order", &e->order);
	}
	return false;
}

/* Find ": mm_compaction_NAME: " and split the line there. */
static bool split(struct span line, struct span *head, struct span *fields,
		  enum compaction_event_kind *kind)
{
	struct span rest = line, name;

	while (span_after(rest, EVENT_PREFIX, &rest)) {
		const char *before = rest.at - strlen(EVENT_PREFIX);

		if (before == line.at || !strchr(": \t", before[-1]))
			continue;
		*fields = rest;
		if (!span_until(fields, ':', &name))
			return false;
		*head = span_of(line.at, (size_t)(before - line.at));
		for (size_t i = 0; i < EVENTS; i++) {
			if (span_is(name, events[i].name)) {
				*kind = events[i].kind;
				return true;
			}
		}
	}
	return false;
}

int compaction_event_parse(const char *text, size_t length, struct compaction_event *out)
{
	struct span line = span_of(text, length), head, fields;

	memset(out, 0, sizeof(*out));
	out->pid = out->cpu = out->node = out->order = out->sync = out->priority = -1;
	out->defer_shift = out->order_failed = -1;
	out->status = COMPACTION_STATUS_UNKNOWN;
	span_trim(&line);
	while (line.length && strchr("\r\n", line.at[line.length - 1]))
		line.length--;
	if (!line.length || *line.at == '#' || !split(line, &head, &fields, &out->kind))
		return -ENOENT;
	/* perf puts the group in front of the name. */
	span_trim(&head);
	if (head.length >= 11 && !memcmp(head.at + head.length - 11, "compaction:", 11))
		head.length -= 11;
	if (!parse_head(head, out) || !parse_fields(fields, out))
		return -EINVAL;
	return 0;
}
