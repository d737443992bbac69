/* SPDX-License-Identifier: MIT */
#include "explain/evidence.h"
#include "explain/keyword.h"
#include "explain/requester.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void document_free(struct document *d)
{
	switch (d->kind) {
	case DOCUMENT_VMSTAT:
	case DOCUMENT_MEMINFO:
		counters_free(&d->counters);
		break;
	case DOCUMENT_CHANGES:
		vmstat_table_free(&d->changes);
		break;
	case DOCUMENT_BUDDY:
		buddyinfo_free(&d->buddy);
		break;
	case DOCUMENT_TYPES:
		pagetypeinfo_free(&d->types);
		break;
	case DOCUMENT_ZONES:
		zoneinfo_free(&d->zones);
		break;
	case DOCUMENT_EXTFRAG:
		extfrag_free(&d->extfrag);
		break;
	case DOCUMENT_SLAB:
		slabinfo_free(&d->slab);
		break;
	case DOCUMENT_SAR:
		sar_free(&d->sar);
		break;
	case DOCUMENT_KINDS:
		break;
	}
}

void evidence_free(struct evidence *e)
{
	for (unsigned i = 0; i < e->events; i++)
		klog_event_free(e->event[i].log);
	for (unsigned i = 0; i < e->documents; i++)
		document_free(&e->document[i]);
	keywords_free(e->keywords);
	for (unsigned i = 0; i < e->raws; i++)
		free(e->raw_line[i].text);
	free(e->raw_line);
	free(e->document);
	free(e->setting);
	free(e->file);
	memset(e, 0, sizeof(*e));
}

int evidence_source(struct evidence *e, const char *name)
{
	struct source *more = reallocarray(e->file, e->files + 1, sizeof(*more));
	size_t n = strlen(name);

	if (!more)
		return -ENOMEM;
	e->file = more;
	more += e->files;
	memset(more, 0, sizeof(*more));
	if (n >= PATH_MOST)
		name += n - PATH_MOST + 1;
	snprintf(more->name, sizeof(more->name), "%s", name);
	return (int)e->files++;
}

void evidence_left_out(struct evidence *e, int file, int line, const char *fmt, ...)
{
	struct left_out *l;
	va_list ap;

	if (e->left_outs == LEFT_OUT_MOST) {
		e->left_outs_lost++;
		return;
	}
	l = &e->left_out[e->left_outs++];
	l->file = file;
	l->line = line;
	va_start(ap, fmt);
	vsnprintf(l->text, sizeof(l->text), fmt, ap);
	va_end(ap);
}

#define RAW_LINES_MOST 1024

void evidence_raw(struct evidence *e, int file, int line, struct span text)
{
	struct raw_line *more;

	if (!e->raw || e->raws == RAW_LINES_MOST)
		return;
	more = reallocarray(e->raw_line, e->raws + 1, sizeof(*more));
	if (!more)
		return;
	e->raw_line = more;
	if (text.length > 500)
		text.length = 500;
	more[e->raws] = (struct raw_line){file, line, span_copy(text)};
	if (more[e->raws].text)
		e->raws++;
}

const char *evidence_raw_find(const struct evidence *e, int file, int line)
{
	for (unsigned i = 0; i < e->raws; i++)
		if (e->raw_line[i].file == file && e->raw_line[i].line == line)
			return e->raw_line[i].text;
	return NULL;
}

/* ---- reports ------------------------------------------------------------------------ */

/* The same request from the same place. */
static bool same(const struct event *x, const struct klog_event *b, const char *function)
{
	const struct klog_event *a = x->log;

	if (a->kind != b->kind || a->order != b->order || a->gfp != b->gfp ||
	    a->memcg != b->memcg || a->cache_cgroup != b->cache_cgroup)
		return false;
	switch (a->kind) {
	case KLOG_CMA:
		return a->ret == b->ret && a->final_failure == b->final_failure &&
		       a->wanted == b->wanted;
	case KLOG_HUGETLB:
		return a->wanted == b->wanted && a->page_kb == b->page_kb;
	case KLOG_SLUB:
		return true;
	default:
		if (!a->frames || !b->frames)
			return !strcmp(a->comm, b->comm) && !a->frames == !b->frames;
		return !strcmp(x->function, function);
	}
}

static unsigned lists(const struct klog_event *e)
{
	unsigned n = 0;

	for (unsigned i = 0; i < e->zones; i++)
		n += (e->zone[i].list_line > 0) + (e->zone[i].state_line > 0);
	return n;
}

void evidence_event(struct evidence *e, int file, struct klog_event *log)
{
	struct requester who;

	requester_find(log, &who);
	for (unsigned i = 0; i < e->events; i++) {
		struct event *old = &e->event[i];

		if (old->file != file || !same(old, log, who.function))
			continue;
		/* Keep the one that says more; of equals, the first. */
		if (lists(log) > lists(old->log) ||
		    (!old->log->memory_state && log->memory_state)) {
			log->repeats = old->log->repeats + 1;
			klog_event_free(old->log);
			old->log = log;
			return;
		}
		old->log->repeats++;
		klog_event_free(log);
		return;
	}
	if (e->events == EVENTS_MOST) {
		e->events_lost++;
		klog_event_free(log);
		return;
	}
	e->event[e->events] = (struct event){.log = log, .file = file};
	memcpy(e->event[e->events++].function, who.function, sizeof(who.function));
}

/* ---- documents and settings --------------------------------------------------------- */

bool evidence_has_room(struct evidence *e, enum document_kind kind, int file, int line)
{
	if (e->documents_of[kind] < DOCUMENTS_MOST)
		return true;
	if (e->documents_of[kind]++ == DOCUMENTS_MOST)
		evidence_left_out(e, file, line, "from here on: more tables of this kind than %d",
				  DOCUMENTS_MOST);
	return false;
}

struct document *evidence_document(struct evidence *e, enum document_kind kind, int file, int line)
{
	struct document *more;

	if (!evidence_has_room(e, kind, file, line))
		return NULL;
	e->documents_of[kind]++;
	more = reallocarray(e->document, e->documents + 1, sizeof(*more));
	if (!more)
		return NULL;
	e->document = more;
	more += e->documents++;
	memset(more, 0, sizeof(*more));
	more->kind = kind;
	more->file = file;
	more->line = line;
	more->sample = -1;
	more->clock = -1;
	return more;
}

void evidence_setting(struct evidence *e, int file, int line, const struct setting_line *s)
{
	struct setting_at *more;

	if (e->settings >= 4096)
		return;
	more = reallocarray(e->setting, e->settings + 1, sizeof(*more));
	if (!more)
		return;
	e->setting = more;
	e->setting[e->settings++] = (struct setting_at){*s, file, line};
}

/* ---- stacks and profiles ------------------------------------------------------------ */

bool evidence_stack(struct evidence *e, int file, int line, const char *function)
{
	unsigned parts = function_parts(function);

	for (unsigned i = 0; i < SEEN_PARTS; i++) {
		if (!(parts >> i & 1))
			continue;
		if (!e->seen[i].count++) {
			e->seen[i].file = file;
			e->seen[i].line = line;
		}
	}
	return parts != 0;
}

static void add_share(struct share *s, unsigned centipercent, int file, int line)
{
	s->centipercent += centipercent;
	if (centipercent > s->most) {
		s->most = centipercent;
		s->file = file;
		s->line = line;
	}
}

bool evidence_perf(struct evidence *e, int file, int line, struct span text)
{
	unsigned parts;
	struct perf_row r;

	if (!perf_row_parse(text, &r))
		return false;
	parts = function_parts(r.symbol);
	if (r.graph)
		return evidence_stack(e, file, line, r.symbol);
	if (r.centipercent > e->profile_first.centipercent && r.kernel) {
		e->profile_first = (struct share){r.centipercent, r.centipercent, file, line};
		memcpy(e->profile_top, r.symbol, sizeof(e->profile_top));
	}
	if (parts & 1u << SEEN_COMPACTION)
		add_share(&e->profile[PROFILE_COMPACTION], r.centipercent, file, line);
	if (parts & 1u << SEEN_LOCK)
		add_share(&e->profile[PROFILE_LOCK], r.centipercent, file, line);
	if (parts & (1u << SEEN_CLEAR | 1u << SEEN_COPY))
		add_share(&e->profile[PROFILE_CLEAR], r.centipercent, file, line);
	if (parts & 1u << SEEN_RECLAIM)
		add_share(&e->profile[PROFILE_RECLAIM], r.centipercent, file, line);
	if (!strncmp(r.comm, "kcompactd", 9) || !strncmp(r.symbol, "kcompactd", 9))
		add_share(&e->profile[PROFILE_KCOMPACTD], r.centipercent, file, line);
	if (!strncmp(r.comm, "khugepaged", 10))
		add_share(&e->profile[PROFILE_KHUGEPAGED], r.centipercent, file, line);
	evidence_stack(e, file, line, r.symbol);
	return parts || r.kernel;
}

/* ---- traces ------------------------------------------------------------------------- */

static void trace_duration(struct trace_sums *t, const struct compaction_event *c, int file,
			   int line)
{
	unsigned cpu = (unsigned)c->cpu;

	if (c->cpu < 0 || cpu >= 64)
		return;
	if (c->kind == COMPACTION_BEGIN) {
		t->begin_ns[cpu] = c->time_ns;
		t->begin_pid[cpu] = c->pid;
	} else if (t->begin_ns[cpu] && t->begin_pid[cpu] == c->pid &&
		   c->time_ns > t->begin_ns[cpu]) {
		uint64_t ns = c->time_ns - t->begin_ns[cpu];

		if (ns > t->longest_ns && strncmp(c->comm, "kcompactd", 9)) {
			t->longest_ns = ns;
			t->longest_order = t->last_order;
			t->longest_file = file;
			t->longest_line = line;
		}
		t->begin_ns[cpu] = 0;
	}
}

static void trace_migrate_scan(struct trace_sums *t, const struct compaction_event *c)
{
	t->migrate_scans++;
	t->scanned += c->scanned;
	t->taken += c->taken;
	t->migrate_empty += c->taken == 0;
	t->repeat = c->range_start && c->range_start == t->last_range ? t->repeat + 1 : 0;
	if (t->repeat > t->repeat_most)
		t->repeat_most = t->repeat;
	t->last_range = c->range_start;
}

static bool trace_event(struct evidence *e, int file, int line, const struct compaction_event *c)
{
	struct trace_sums *t = &e->trace;

	if (!t->events++) {
		t->file = file;
		t->line = line;
	}
	t->daemon_events += !strncmp(c->comm, "kcompactd", 9);
	switch (c->kind) {
	case COMPACTION_TRY_TO_COMPACT_PAGES:
		t->attempts++;
		t->attempts_huge += c->order >= 9;
		t->attempts_async += c->priority == 2;
		t->last_order = c->order;
		break;
	case COMPACTION_BEGIN:
		trace_duration(t, c, file, line);
		break;
	case COMPACTION_END:
		trace_duration(t, c, file, line);
		t->ends++;
		t->ends_success += c->status == COMPACTION_STATUS_SUCCESS;
		break;
	case COMPACTION_DEFERRED:
		t->deferred++;
		break;
	case COMPACTION_ISOLATE_MIGRATEPAGES:
		trace_migrate_scan(t, c);
		break;
	case COMPACTION_MIGRATEPAGES:
		t->migrated += c->migrated;
		t->failed += c->failed;
		break;
	case COMPACTION_WAKEUP_KCOMPACTD:
	case COMPACTION_KCOMPACTD_WAKE:
		t->wakes++;
		if (c->order >= 0 && c->order < 16)
			t->wake_order[c->order]++;
		break;
	default:
		break;
	}
	return true;
}

static bool alloc_row(struct evidence *e, int file, int line, const struct page_alloc_row *a)
{
	struct alloc_sums *s = &e->alloc;

	if (!s->line) {
		s->file = file;
		s->line = line;
	}
	if (a->order < 32)
		s->orders[a->order] += a->count;
	if (a->order < 2 || !(a->gfp & GFP_F_DIRECT_RECLAIM))
		return true;
	s->may_block += a->count;
	if (a->order >= 9 && (a->gfp & GFP_F_MOVABLE))
		s->thp += a->count;
	else if (a->gfp & GFP_F_NORETRY)
		s->optional += a->count;
	return true;
}

bool evidence_trace(struct evidence *e, int file, int line, struct span text)
{
	struct compaction_event c;
	struct page_alloc_row a;
	int r = compaction_event_parse(text.at, text.length, &c);

	if (!r)
		return trace_event(e, file, line, &c);
	if (r == -EINVAL) {
		evidence_left_out(e, file, line, "a compaction event that is damaged");
		return true;
	}
	if (page_alloc_parse(text, &a))
		return alloc_row(e, file, line, &a);
	return false;
}

bool evidence_numastat(struct evidence *e, int file, int line, struct span text)
{
	double sum = 0;
	struct span name, w;
	uint64_t v;

	if (!span_word(&text, &name) ||
	    !(span_is(name, "numa_hit") || span_is(name, "numa_foreign") ||
	      span_is(name, "numa_miss") || span_is(name, "interleave_hit") ||
	      span_is(name, "local_node") || span_is(name, "other_node")))
		return false;
	while (span_word(&text, &w)) {
		if (!span_u64(&w, &v))
			return false;
		sum += (double)v;
	}
	if (span_is(name, "numa_hit"))
		e->numa.hit = sum;
	if (span_is(name, "numa_foreign")) {
		e->numa.foreign = sum;
		e->numa.file = file;
		e->numa.line = line;
	}
	return true;
}

/* ---- the pool of huge pages --------------------------------------------------------- */

static bool first_number(struct span s, uint64_t *v)
{
	while (s.length) {
		if (span_u64(&s, v))
			return true;
		s.at++;
		s.length--;
	}
	return false;
}

/* "requested 4096 hugepages but only 3738 could be allocated" and the like. */
static bool pool_sentence(struct span s, uint64_t *wanted, uint64_t *got)
{
	static const char *const shorts[] = {"only", "got ", "allocated ", "but ", "instead"};
	struct span head = s, tail;

	if (!span_find(s, "huge"))
		return false;
	for (size_t i = 0; i < sizeof(shorts) / sizeof(shorts[0]); i++) {
		if (!span_after(s, shorts[i], &tail))
			continue;
		head.length = (size_t)(tail.at - s.at);
		if (first_number(head, wanted) && first_number(tail, got) && *got < *wanted &&
		    *wanted < 100000000)
			return true;
	}
	return false;
}

/* "echo 1024 > /proc/sys/vm/nr_hugepages", "sysctl -w vm.nr_hugepages=1024" */
static bool pool_request(struct span s, uint64_t *wanted)
{
	struct span rest;

	if (span_find(s, "ommand line:") && span_after(s, " hugepages=", &rest))
		return span_u64(&rest, wanted);
	if (!span_find(s, "nr_hugepages"))
		return false;
	if (span_after(s, "echo ", &rest)) {
		span_blanks(&rest);
		return (span_find(rest, ">") || span_find(rest, "tee ")) && span_u64(&rest, wanted);
	}
	if (span_find(s, "sysctl") && span_after(s, "nr_hugepages=", &rest))
		return span_u64(&rest, wanted);
	return false;
}

/* "/sys/.../hugepages-2048kB/nr_hugepages:185", "vm.nr_hugepages = 185", "HugePages_Total: 185" */
static bool pool_answer(struct span s, uint64_t *got, uint64_t *page_kb)
{
	struct span rest, size;
	bool found =
		span_after(s, "nr_hugepages", &rest) || span_after(s, "HugePages_Total", &rest);

	if (!found)
		return false;
	span_blanks(&rest);
	if (!span_skip(&rest, ":") && !span_skip(&rest, "="))
		return false;
	span_blanks(&rest);
	if (!span_u64(&rest, got))
		return false;
	*page_kb = 0;
	if (span_after(s, "hugepages-", &size))
		span_u64(&size, page_kb);
	return true;
}

/* The request that an answer belongs to: of the same file, or one without an answer yet. */
static struct pool_request *open_pool(struct evidence *e, int file)
{
	struct pool_request *p = e->pools ? &e->pool[e->pools - 1] : NULL;

	return p && (p->file == file || !p->has_got) ? p : NULL;
}

static void add_pool(struct evidence *e, const struct pool_request *p)
{
	struct pool_request *last = open_pool(e, p->file);

	/* Writing the same number again is trying again. */
	if (last && !last->has_got && last->wanted == p->wanted)
		*last = *p;
	else if (e->pools < POOLS_MOST)
		e->pool[e->pools++] = *p;
}

bool evidence_pool_number(struct evidence *e, int file, int line, struct span text)
{
	struct pool_request *p = open_pool(e, file);
	uint64_t got;

	span_trim(&text);
	if (!p || p->has_got || !span_u64(&text, &got) || text.length)
		return false;
	p->got = got;
	p->has_got = true;
	p->line = line;
	p->file = file;
	return true;
}

bool evidence_pool(struct evidence *e, int file, int line, struct span text)
{
	struct pool_request *p;
	uint64_t wanted, got, page_kb;

	if (text.length > 300)
		return false;
	if (pool_sentence(text, &wanted, &got)) {
		add_pool(e, &(struct pool_request){wanted, got, 0, true, file, line});
		return true;
	}
	if (pool_request(text, &wanted)) {
		if (wanted)
			add_pool(e, &(struct pool_request){wanted, 0, 0, false, file, line});
		return true;
	}
	p = open_pool(e, file);
	if (!pool_answer(text, &got, &page_kb) || !p)
		return false;
	/* sysctl -w repeats what it was told, not what came of it. */
	if (got == p->wanted && span_find(text, "vm.nr_hugepages ="))
		return true;
	/* Several sizes are listed: the pool that was written to is the default one, which is
	   the fullest of them. */
	if (!p->has_got || got > p->got) {
		p->got = got;
		p->page_kb = page_kb;
		p->line = line;
		p->has_got = true;
	}
	return true;
}

void evidence_daemon(struct evidence *e, int file, int line, const struct daemon_row *d)
{
	static const char *const names[DAEMONS] = {"kcompactd", "khugepaged", "kswapd"};

	for (unsigned i = 0; i < DAEMONS; i++)
		if (!strncmp(d->name, names[i], strlen(names[i])) &&
		    d->centipercent > e->daemon[i].centipercent)
			e->daemon[i] = (struct share){d->centipercent, d->centipercent, file, line};
}

bool evidence_found(const struct evidence *e)
{
	for (unsigned i = 0; i < e->files; i++)
		if (e->file[i].found || e->file[i].kernel_log)
			return true;
	return false;
}
