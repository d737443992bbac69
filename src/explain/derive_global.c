/* SPDX-License-Identifier: MIT */
#include "explain/derive.h"
#include <stdlib.h>
#include <string.h>

static void profile_facts(struct facts *f, const struct evidence *e)
{
	static const enum fact_id facts[PROFILE_PARTS] = {
		[PROFILE_COMPACTION] = FACT_PERF_COMPACTION,
		[PROFILE_LOCK] = FACT_PERF_LOCK,
		[PROFILE_CLEAR] = FACT_PERF_CLEAR,
		[PROFILE_RECLAIM] = FACT_PERF_RECLAIM,
		[PROFILE_KCOMPACTD] = FACT_PERF_DAEMON,
		[PROFILE_KHUGEPAGED] = FACT_PERF_KHUGEPAGED,
	};
	static const enum fact_id seen[SEEN_PARTS] = {
		[SEEN_COMPACTION] = FACT_SEEN_COMPACTION, [SEEN_THP] = FACT_SEEN_THP,
		[SEEN_RECLAIM] = FACT_SEEN_RECLAIM,       [SEEN_LOCK] = FACT_SEEN_LOCK,
		[SEEN_CLEAR] = FACT_SEEN_CLEAR,           [SEEN_COPY] = FACT_SEEN_COPY,
		[SEEN_FOLIO] = FACT_SEEN_FOLIO,           [SEEN_DAEMON] = FACT_SEEN_DAEMON,
	};

	static const enum fact_id daemons[DAEMONS] = {
		[DAEMON_KCOMPACTD] = FACT_KCOMPACTD_CPU,
		[DAEMON_KHUGEPAGED] = FACT_KHUGEPAGED_CPU,
		[DAEMON_KSWAPD] = FACT_KSWAPD_CPU,
	};

	for (unsigned i = 0; i < PROFILE_PARTS; i++) {
		double share = e->profile[i].centipercent / 10000.0;

		if (e->profile[i].centipercent)
			fact_number(f, facts[i], share > 1 ? 1 : share, e->profile[i].file,
				    e->profile[i].line);
	}
	for (unsigned i = 0; i < SEEN_PARTS; i++)
		if (e->seen[i].count)
			fact_number(f, seen[i], e->seen[i].count, e->seen[i].file, e->seen[i].line);
	fact_text(f, FACT_PERF_TOP, e->profile_top, e->profile_first.file, e->profile_first.line);
	for (unsigned i = 0; i < DAEMONS; i++)
		if (e->daemon[i].centipercent)
			fact_number(f, daemons[i], e->daemon[i].centipercent / 10000.0,
				    e->daemon[i].file, e->daemon[i].line);
}

static void share(struct facts *f, enum fact_id id, unsigned part, unsigned of, int file, int line)
{
	if (of)
		fact_number(f, id, (double)part / of, file, line);
}

static void trace_facts(struct facts *f, const struct evidence *e)
{
	const struct trace_sums *t = &e->trace;
	unsigned wakes = 0, order = 0;

	if (e->graph_longest_ns)
		fact_number(f, FACT_LONGEST, (double)e->graph_longest_ns, e->graph_file,
			    e->graph_line);
	if (!t->events)
		return;
	fact_number(f, FACT_TRACE_EVENTS, t->events, t->file, t->line);
	fact_number(f, FACT_TRACE_DEFERRED, t->deferred, t->file, t->line);
	if (t->attempts)
		fact_number(f, FACT_TRACE_ATTEMPTS, t->attempts, t->file, t->line);
	share(f, FACT_TRACE_HUGE, t->attempts_huge, t->attempts, t->file, t->line);
	share(f, FACT_TRACE_ASYNC, t->attempts_async, t->attempts, t->file, t->line);
	if (t->ends)
		fact_number(f, FACT_TRACE_ENDS, t->ends, t->file, t->line);
	share(f, FACT_TRACE_SUCCESS, t->ends_success, t->ends, t->file, t->line);
	if (t->migrate_scans >= 10) {
		share(f, FACT_TRACE_EMPTY, t->migrate_empty, t->migrate_scans, t->file, t->line);
		fact_number(f, FACT_TRACE_REPEAT, t->repeat_most, t->file, t->line);
	}
	share(f, FACT_TRACE_DAEMON, t->daemon_events, t->events, t->file, t->line);
	for (unsigned o = 0; o < 16; o++) {
		wakes += t->wake_order[o];
		if (t->wake_order[o] > t->wake_order[order])
			order = o;
	}
	if (wakes) {
		fact_number(f, FACT_TRACE_WAKES, t->wakes, t->file, t->line);
		fact_number(f, FACT_TRACE_WAKE_ORDER, order, t->file, t->line);
	}
	if (t->longest_ns) {
		fact_number(f, FACT_LONGEST, (double)t->longest_ns, t->longest_file,
			    t->longest_line);
		if (t->longest_order >= 0 && t->attempts)
			fact_number(f, FACT_LONGEST_ORDER, t->longest_order, t->longest_file,
				    t->longest_line);
	}
}

static void alloc_facts(struct facts *f, const struct evidence *e)
{
	const struct alloc_sums *a = &e->alloc;
	unsigned order = 0;

	if (!a->line)
		return;
	for (unsigned o = 4; o < 32; o++)
		if (a->orders[o] > (order ? a->orders[order] : 0))
			order = o;
	if (order)
		fact_number(f, FACT_ALLOCS_ORDER, order, a->file, a->line);
	if (!a->may_block)
		return;
	fact_number(f, FACT_ALLOCS_HIGH, (double)a->may_block, a->file, a->line);
	fact_number(f, FACT_ALLOCS_THP, (double)a->thp / (double)a->may_block, a->file, a->line);
	fact_number(f, FACT_ALLOCS_OPTIONAL, (double)a->optional / (double)a->may_block, a->file,
		    a->line);
}

static void setting_facts(struct facts *f, const struct evidence *e)
{
	for (unsigned i = 0; i < e->settings; i++) {
		const struct setting_at *s = &e->setting[i];
		const char *name = s->setting.name, *value = s->setting.value;
		double number = strtod(value, NULL);

		if (!strcmp(name, "thp.enabled")) {
			fact_text(f, FACT_THP_ENABLED, value, s->file, s->line);
			fact_flag(f, FACT_THP_ALWAYS, !strcmp(value, "always"), s->file, s->line);
		} else if (!strcmp(name, "thp.defrag")) {
			fact_text(f, FACT_THP_DEFRAG, value, s->file, s->line);
			fact_flag(f, FACT_THP_STALLS,
				  strcmp(value, "never") && strcmp(value, "defer"), s->file,
				  s->line);
		} else if (!strcmp(name, "vm.compaction_proactiveness")) {
			fact_number(f, FACT_PROACTIVENESS, number, s->file, s->line);
		} else if (!strcmp(name, "vm.min_free_kbytes")) {
			fact_number(f, FACT_MIN_FREE, number * 1024, s->file, s->line);
		} else if (!strcmp(name, "vm.watermark_boost_factor")) {
			fact_number(f, FACT_BOOST_FACTOR, number, s->file, s->line);
		}
	}
}

static void sar_facts(struct facts *f, const struct evidence *e)
{
	for (unsigned i = 0; i < e->documents; i++) {
		const struct document *d = &e->document[i];

		if (d->kind != DOCUMENT_SAR)
			continue;
		for (unsigned k = 0; k < d->sar.count; k++) {
			const struct sar_row *r = &d->sar.row[k];

			if (fact_known(f, FACT_SAR_DIRECT) &&
			    r->scan_direct <= fact_value(f, FACT_SAR_DIRECT, 0))
				continue;
			fact_number(f, FACT_SAR_DIRECT, r->scan_direct, d->file, r->line + d->line);
			fact_number(f, FACT_SAR_KSWAPD, r->scan_kswapd, d->file, r->line + d->line);
		}
	}
}

void derive_pool(struct facts *f, const struct pool_request *p)
{
	fact_number(f, FACT_WANTED, (double)p->wanted, p->file, p->line);
	fact_number(f, FACT_GOT, (double)p->got, p->file, p->line);
	fact_number(f, FACT_GOT_RATIO, (double)p->got / (double)p->wanted, p->file, p->line);
	if (p->page_kb)
		fact_number(f, FACT_POOL_PAGE, (double)p->page_kb * 1024, p->file, p->line);
	fact_flag(f, FACT_IS_HUGETLB, true, p->file, p->line);
}

static void numastat_facts(struct facts *f, const struct evidence *e)
{
	if (!e->numa.line || fact_known(f, FACT_NUMA_FOREIGN))
		return;
	fact_number(f, FACT_NUMA_FOREIGN, e->numa.foreign, e->numa.file, e->numa.line);
	if (e->numa.hit + e->numa.foreign > 0)
		fact_number(f, FACT_NUMA_FOREIGN_SHARE,
			    e->numa.foreign / (e->numa.hit + e->numa.foreign), e->numa.file,
			    e->numa.line);
	fact_flag(f, FACT_SINCE_BOOT, true, e->numa.file, e->numa.line);
}

void derive_global(struct facts *f, const struct evidence *e)
{
	numastat_facts(f, e);
	if (e->kernel.line)
		fact_text(f, FACT_KERNEL, e->kernel.release, e->kernel.file, e->kernel.line);
	if (e->pressure.line)
		fact_number(f, FACT_PRESSURE, e->pressure.avg60 / 100, e->pressure.file,
			    e->pressure.line);
	profile_facts(f, e);
	trace_facts(f, e);
	alloc_facts(f, e);
	setting_facts(f, e);
	sar_facts(f, e);
	for (unsigned i = 0; i < e->files; i++)
		if (e->file[i].kernel_log)
			fact_flag(f, FACT_KERNEL_LOG, true, (int)i, 1);
}
