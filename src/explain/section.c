/* SPDX-License-Identifier: MIT */
#include "explain/section.h"
#include "explain/keyword.h"
#include "procfs/zone_name.h"
#include <stdio.h>
#include <string.h>

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* ---- rows --------------------------------------------------------------------------- */

static const char *const vmstat_names[] = {
	"nr_",
	"numa_",
	"compact_",
	"pg",
	"thp_",
	"allocstall",
	"kswapd_",
	"htlb_",
	"cma_",
	"unevictable_",
	"balloon_",
	"workingset_",
	"slabs_scanned",
	"oom_kill",
	"drop_pagecache",
	"drop_slab",
	"pageoutrun",
	"pswp",
	"swap_ra",
	"zone_reclaim",
	"direct_map_level",
	"ksm_",
	"kcompactd_",
	"swpin",
	"swpout",
	"zswpin",
	"zswpout",
	"zswpwb",
	"vma_lock",
	"cow_ksm",
	"nr_free_pages",
	"kstack_",
};

static bool vmstat_name(struct span name)
{
	for (size_t i = 0; i < COUNT_OF(vmstat_names); i++)
		if (span_starts(name, vmstat_names[i]))
			break;
		else if (i + 1 == COUNT_OF(vmstat_names))
			return false;
	for (size_t i = 0; i < name.length; i++) {
		char c = name.at[i];

		if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'))
			return false;
	}
	return true;
}

/* "[+-<>]name[:] number [number]" */
static bool vmstat_row(struct span s, struct span *name, unsigned *numbers, bool *mark)
{
	struct span w;
	uint64_t v;

	span_trim(&s);
	*mark = s.length > 1 && strchr("+-<>", *s.at);
	if (*mark) {
		s.at++;
		s.length--;
	}
	if (!span_word(&s, name))
		return false;
	if (name->length && name->at[name->length - 1] == ':')
		name->length--;
	if (!vmstat_name(*name))
		return false;
	for (*numbers = 0; span_word(&s, &w);) {
		bool sign = strchr("+-(", *w.at) != NULL;

		if (span_is(w, "->") || span_is(w, "=>"))
			continue;
		if (sign) {
			w.at++;
			w.length--;
		}
		if (!span_u64(&w, &v) || (w.length && !span_is(w, ")")))
			return false;
		++*numbers;
	}
	return *numbers == 1 || *numbers == 2;
}

/* What follows "Node N, zone NAME". */
static bool node_zone(struct span s, struct span *rest)
{
	struct span zone;
	int node;

	span_trim(&s);
	*rest = s;
	return zone_name_take(rest, &node, &zone);
}

static unsigned words(struct span s)
{
	struct span w;
	unsigned n = 0;

	while (span_word(&s, &w))
		n++;
	return n;
}

static bool numbers_only(struct span s)
{
	for (size_t i = 0; i < s.length; i++)
		if (!strchr(" \t0123456789>", s.at[i]) || !s.at[i])
			return false;
	return true;
}

static bool meminfo_row(struct span s)
{
	struct span name, w;
	uint64_t v;

	span_trim(&s);
	if (span_skip(&s, "Node ")) {
		span_word(&s, &w);
		span_blanks(&s);
	}
	if (!s.length || *s.at < 'A' || *s.at > 'Z' || !span_until(&s, ':', &name) ||
	    name.length > 24 || span_find(name, " "))
		return false;
	if (s.length && *s.at != ' ' && *s.at != '\t')
		return false;
	span_blanks(&s);
	if (!span_u64(&s, &v))
		return false;
	span_trim(&s);
	return span_is(s, "kB") || (!s.length && span_starts(name, "HugePages_"));
}

/* A line below "Node 0, zone Normal" in zoneinfo. */
static bool zoneinfo_row(struct span s)
{
	static const char *const starts[] = {
		"per-node stats",
		"pages free",
		"pagesets",
		"protection:",
		"cpu:",
		"count:",
		"high:",
		"batch:",
		"high_min:",
		"high_max:",
		"vm stats threshold",
		"node_unreclaimable:",
		"all_unreclaimable:",
		"start_pfn:",
		"inactive_ratio:",
		"prev_priority:",
		"boost",
		"min",
		"low",
		"high",
		"promo",
		"scanned",
		"spanned",
		"present",
		"managed",
		"cma",
		"reserved_highatomic",
		"free_highatomic",
	};
	struct span name;
	unsigned numbers;
	bool mark;

	/* The counters are indented; vmstat's are not. */
	if (s.length && (*s.at == ' ' || *s.at == '\t') && vmstat_row(s, &name, &numbers, &mark))
		return numbers == 1;
	span_trim(&s);
	for (size_t i = 0; i < COUNT_OF(starts); i++)
		if (span_starts(s, starts[i]))
			return true;
	return false;
}

static enum section node_row(struct span rest, enum section open)
{
	span_trim(&rest);
	if (!rest.length)
		return SECTION_ZONES;
	if (span_starts(rest, "type"))
		return SECTION_TYPES;
	if (span_find(rest, "."))
		return SECTION_EXTFRAG;
	if (!numbers_only(rest))
		return SECTION_NONE;
	/* A row of the table of blocks has one column a type, buddyinfo one an order. */
	if (open == SECTION_TYPES && words(rest) < 9)
		return SECTION_TYPES;
	return words(rest) >= 5 ? SECTION_BUDDY : SECTION_NONE;
}

enum section section_of(struct span line, enum section open, unsigned keywords)
{
	struct span rest, name;
	unsigned numbers;
	bool mark;

	if (node_zone(line, &rest))
		return node_row(rest, open);
	if (keywords & KEYWORD_TYPES)
		return SECTION_TYPES;
	if (open == SECTION_TYPES && span_find(line, "Number of mixed blocks"))
		return SECTION_TYPES;
	if (open == SECTION_ZONES && zoneinfo_row(line))
		return SECTION_ZONES;
	if (keywords & KEYWORD_SAR)
		return SECTION_SAR;
	if (open == SECTION_SAR && span_find(line, ".") && words(line) >= 8)
		return SECTION_SAR;
	if (keywords & KEYWORD_SLAB)
		return SECTION_SLAB;
	if (open == SECTION_SLAB && words(line) >= 8)
		return SECTION_SLAB;
	if (((keywords & KEYWORD_MEMINFO) || open == SECTION_MEMINFO) && meminfo_row(line))
		return SECTION_MEMINFO;
	if (((keywords & KEYWORD_VMSTAT) || open == SECTION_VMSTAT) &&
	    vmstat_row(line, &name, &numbers, &mark))
		return SECTION_VMSTAT;
	return SECTION_NONE;
}

void section_key(enum section s, struct span line, char *key, size_t size)
{
	struct span name, rest;
	unsigned numbers;
	bool mark;

	key[0] = '\0';
	span_trim(&line);
	switch (s) {
	case SECTION_VMSTAT:
		if (vmstat_row(line, &name, &numbers, &mark) && !mark)
			span_put(name, key, size);
		break;
	case SECTION_MEMINFO:
		if (span_until(&line, ':', &name))
			span_put(name, key, size);
		break;
	case SECTION_BUDDY:
	case SECTION_ZONES:
	case SECTION_EXTFRAG:
		if (node_zone(line, &rest))
			span_put(span_of(line.at, (size_t)(rest.at - line.at)), key, size);
		break;
	case SECTION_TYPES:
		/* A heading may come once for all nodes or once for each. */
		if (node_zone(line, &rest) && span_find(rest, "type "))
			span_put(span_of(line.at, line.length < 48 ? line.length : 48), key, size);
		break;
	default:
		break;
	}
}

void section_hint(struct section_hints *h, enum section s, struct span line)
{
	struct span name;
	unsigned numbers;
	bool mark;

	if (s != SECTION_VMSTAT || !vmstat_row(line, &name, &numbers, &mark))
		return;
	h->three |= numbers == 2;
	h->marks |= mark;
}

void section_heading(struct section_hints *h, struct span heading)
{
	double clock = section_clock(heading, false);

	h->changes |= span_find(heading, "delta") || span_find(heading, "Delta") ||
		      span_find(heading, "diff") || span_find(heading, "increase");
	if (clock >= 0)
		h->clock = clock;
}

static bool digits(struct span s, size_t at, size_t n)
{
	if (s.length < at + n)
		return false;
	for (size_t i = at; i < at + n; i++)
		if (s.at[i] < '0' || s.at[i] > '9')
			return false;
	return true;
}

static double clock_value(const char *h, const char *m, const char *s)
{
	int hours = (h[0] - '0') * 10 + h[1] - '0';
	int minutes = (m[0] - '0') * 10 + m[1] - '0';
	int seconds = (s[0] - '0') * 10 + s[1] - '0';

	if (hours > 23 || minutes > 59 || seconds > 60)
		return -1;
	return hours * 3600 + minutes * 60 + seconds;
}

double section_clock(struct span t, bool name)
{
	for (size_t i = 0; i < t.length; i++) {
		bool before = i && t.at[i - 1] >= '0' && t.at[i - 1] <= '9';

		if (before)
			continue;
		if (digits(t, i, 2) && t.length > i + 7 && t.at[i + 2] == ':' &&
		    digits(t, i + 3, 2) && t.at[i + 5] == ':' && digits(t, i + 6, 2))
			return clock_value(t.at + i, t.at + i + 3, t.at + i + 6);
		if (name && digits(t, i, 6) && !digits(t, i, 7))
			return clock_value(t.at + i, t.at + i + 2, t.at + i + 4);
	}
	return -1;
}

/* ---- complete tables ---------------------------------------------------------------- */

static void parse_vmstat(struct evidence *e, const struct section_hints *h, const char *text,
			 size_t length, int file, int line)
{
	struct document *d;

	if (h->three || h->marks || h->changes) {
		struct vmstat_table t;

		if (vmstat_table_parse(text, length, h->changes, &t, NULL))
			return;
		d = evidence_document(e, DOCUMENT_CHANGES, file, line - 1);
		if (d)
			d->changes = t;
		else
			vmstat_table_free(&t);
		return;
	}
	{
		struct counters c;

		if (vmstat_parse(text, length, &c, NULL))
			return;
		d = evidence_document(e, DOCUMENT_VMSTAT, file, line - 1);
		if (d) {
			d->counters = c;
			d->clock = h->clock;
		} else {
			counters_free(&c);
		}
	}
}

/* Parse with one of the functions that share a shape; the document owns the result. */
#define PARSE(kind, member, parse, release)                                                        \
	do {                                                                                       \
		if (parse) {                                                                       \
			evidence_left_out(e, file, line, "a table that is damaged throughout");    \
			return;                                                                    \
		}                                                                                  \
		d = evidence_document(e, kind, file, line - 1);                                    \
		if (d)                                                                             \
			d->member = member;                                                        \
		else                                                                               \
			release(&member);                                                          \
	} while (0)

void section_parse(struct evidence *e, enum section s, const struct section_hints *h,
		   const char *text, size_t length, int file, int line)
{
	static const enum document_kind kinds[] = {
		[SECTION_VMSTAT] = DOCUMENT_VMSTAT,   [SECTION_BUDDY] = DOCUMENT_BUDDY,
		[SECTION_TYPES] = DOCUMENT_TYPES,     [SECTION_ZONES] = DOCUMENT_ZONES,
		[SECTION_MEMINFO] = DOCUMENT_MEMINFO, [SECTION_EXTFRAG] = DOCUMENT_EXTFRAG,
		[SECTION_SLAB] = DOCUMENT_SLAB,       [SECTION_SAR] = DOCUMENT_SAR,
	};
	struct document *d;
	struct counters counters;
	struct buddyinfo buddy;
	struct pagetypeinfo types;
	struct zoneinfo zones;
	struct extfrag extfrag;
	struct slabinfo slab;
	struct sar_paging sar;
	unsigned skipped = 0;

	if (!length || s == SECTION_NONE || !evidence_has_room(e, kinds[s], file, line))
		return;
	switch (s) {
	case SECTION_VMSTAT:
		parse_vmstat(e, h, text, length, file, line);
		return;
	case SECTION_BUDDY:
		PARSE(DOCUMENT_BUDDY, buddy, buddyinfo_parse(text, length, &buddy, NULL),
		      buddyinfo_free);
		skipped = buddy.skipped;
		break;
	case SECTION_TYPES:
		PARSE(DOCUMENT_TYPES, types, pagetypeinfo_parse(text, length, &types, NULL),
		      pagetypeinfo_free);
		skipped = types.skipped;
		break;
	case SECTION_ZONES:
		PARSE(DOCUMENT_ZONES, zones, zoneinfo_parse(text, length, &zones, NULL),
		      zoneinfo_free);
		skipped = zones.skipped;
		break;
	case SECTION_MEMINFO:
		/* Two lines of it in a longer text are no table, but one is enough here. */
		PARSE(DOCUMENT_MEMINFO, counters,
		      meminfo_parse(text, length, &counters, NULL, NULL), counters_free);
		break;
	case SECTION_EXTFRAG:
		PARSE(DOCUMENT_EXTFRAG, extfrag, extfrag_parse(text, length, &extfrag, NULL),
		      extfrag_free);
		break;
	case SECTION_SLAB:
		PARSE(DOCUMENT_SLAB, slab, slabinfo_parse(text, length, &slab, NULL),
		      slabinfo_free);
		break;
	case SECTION_SAR:
		PARSE(DOCUMENT_SAR, sar, sar_parse(text, length, &sar, NULL), sar_free);
		break;
	case SECTION_NONE:
		return;
	}
	if (skipped)
		evidence_left_out(e, file, line, "%u damaged line%s of the table that begins here",
				  skipped, skipped > 1 ? "s" : "");
}

bool stack_words(struct evidence *e, int file, int line, struct span text)
{
	char word[64];
	size_t n = 0;
	bool any = false;

	/* A flame graph's line is "a;b;c 12": cut at everything that is not of a name. Prose
	   that names a function is no stack: such a line has few names and many words. */
	if (!span_find(text, ";") && words(text) > 3)
		return false;
	for (size_t i = 0; i <= text.length; i++) {
		char c = i < text.length ? text.at[i] : ' ';

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
		    c == '_') {
			if (n + 1 < sizeof(word))
				word[n++] = c;
			continue;
		}
		word[n] = '\0';
		if (n)
			any |= evidence_stack(e, file, line, word);
		n = 0;
	}
	return any;
}
