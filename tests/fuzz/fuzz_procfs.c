/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as a file of /proc. The first byte chooses the parser, so that one corpus
 * serves all; the text is a copy of just its size, so that a read past its end is seen.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "procfs/paste.h"
#include "procfs/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(int condition)
{
	if (!condition)
		abort();
}

static void counters(const char *text, size_t n)
{
	struct counters a, b;
	struct vmstat_delta d;
	uint64_t v;

	if (vmstat_parse(text, n, &a, NULL))
		return;
	for (unsigned i = 0; i < a.count; i++)
		must(counters_get(&a, a.entry[i].name, &v) && v == a.entry[i].value);
	if (!vmstat_parse(text, n / 2, &b, NULL)) {
		must(vmstat_delta(&b, &a, &d) == 0);
		vmstat_delta_free(&d);
		counters_free(&b);
	}
	counters_free(&a);
}

static void buddyinfo(const char *text, size_t n)
{
	struct buddyinfo b;

	if (buddyinfo_parse(text, n, &b, NULL))
		return;
	for (unsigned i = 0; i < b.count; i++) {
		must(b.zone[i].orders <= PROCFS_MAX_ORDERS);
		buddy_zone_pages(&b.zone[i], 3);
		for (unsigned o = 0; o < 12; o++)
			fragmentation_index(b.zone[i].free, b.zone[i].orders, o);
	}
	buddyinfo_free(&b);
}

static void zoneinfo(const char *text, size_t n)
{
	struct zoneinfo z;

	if (zoneinfo_parse(text, n, &z, NULL))
		return;
	for (unsigned i = 0; i < z.count; i++)
		must(zoneinfo_find(&z, z.zone[i].node, z.zone[i].zone) != NULL);
	zoneinfo_free(&z);
}

static void meminfo(const char *text, size_t n)
{
	struct counters c;
	int node;

	if (!meminfo_parse(text, n, &c, &node, NULL))
		counters_free(&c);
}

static void types(const char *text, size_t n)
{
	struct pagetypeinfo p;

	if (!pagetypeinfo_parse(text, n, &p, NULL))
		pagetypeinfo_free(&p);
}

static void tables(const char *text, size_t n)
{
	struct vmstat_table t;
	struct extfrag e;
	struct slabinfo s;
	struct sar_paging p;
	struct pressure pressure;

	if (!vmstat_table_parse(text, n, n % 2, &t, NULL))
		vmstat_table_free(&t);
	if (!extfrag_parse(text, n, &e, NULL))
		extfrag_free(&e);
	if (!slabinfo_parse(text, n, &s, NULL))
		slabinfo_free(&s);
	if (!sar_parse(text, n, &p, NULL))
		sar_free(&p);
	pressure_parse(text, n, &pressure, NULL);
}

static void lines(const char *text, size_t n)
{
	struct span rest = span_of(text, n), line;

	while (span_line(&rest, &line)) {
		struct compaction_event event;
		struct page_alloc_row alloc;
		struct setting_line setting;
		struct daemon_row daemon;
		struct graph_row graph;
		struct perf_row perf;

		compaction_event_parse(line.at, line.length, &event);
		must(strlen(event.comm) < sizeof(event.comm));
		page_alloc_parse(line, &alloc);
		setting_parse(line, &setting);
		daemon_row_parse(line, &daemon);
		graph_row_parse(line, &graph);
		perf_row_parse(line, &perf);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const parsers[])(const char *, size_t) = {counters, buddyinfo, zoneinfo,
								meminfo,  types,     tables,
								lines};
	char *copy;

	if (size < 2)
		return 0;
	copy = malloc(size - 1);
	must(copy != NULL);
	memcpy(copy, data + 1, size - 1);
	parsers[data[0] % (sizeof(parsers) / sizeof(parsers[0]))](copy, size - 1);
	free(copy);
	return 0;
}
