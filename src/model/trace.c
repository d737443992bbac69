/* SPDX-License-Identifier: MIT */
/*
 * trace.c - events and their text form; see trace.h.
 *
 * Field order, names and separators are those of the kernel's event formats (they are user-visible
 * interface); `print` of each event is one line below.
 */
#include "model/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Process ids of a trace are made up: daemons first, then tasks. */
#define PID_DAEMON 20u
#define PID_TASK   1000u

/* Where the kernel's array of struct page starts; a pfn's address in traces follows from it. */
#define VMEMMAP_BASE      0xffffea0000000000ull
#define STRUCT_PAGE_BYTES 64u

const char trace_header[] = "# tracer: nop\n"
			    "#\n"
			    "#                                _-----=> irqs-off/BH-disabled\n"
			    "#                               / _----=> need-resched\n"
			    "#                              | / _---=> hardirq/softirq\n"
			    "#                              || / _--=> preempt-depth\n"
			    "#                              ||| / _-=> migrate-disable\n"
			    "#                              |||| /     delay\n"
			    "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
			    "#              | |         |   |||||     |         |\n";

const char *trace_event_name(enum trace_id id)
{
	static const char *const names[NR_TRACE_EVENTS] = {
#define X(sym, system, event) [TRACE_##sym] = event,
		TRACE_EVENTS(X)
#undef X
	};

	return names[id];
}

/* ---- who ---------------------------------------------------------------------------------- */

static void trace_comm(const struct model *m, char *comm, size_t size)
{
	const struct actor *a = &m->clock.actor[m->clock.current.v];

	if (!(m->ctx.flags & CTX_KTHREAD)) {
		snprintf(comm, size, "task-%u", m->ctx.task.v);
		return;
	}
	switch (a->kind) {
	case ACTOR_KSWAPD:
		snprintf(comm, size, "kswapd%u", a->index);
		break;
	case ACTOR_KCOMPACTD:
		snprintf(comm, size, "kcompactd%u", a->index);
		break;
	case ACTOR_KHUGEPAGED:
		snprintf(comm, size, "khugepaged");
		break;
	default:
		snprintf(comm, size, "kworker/%u:0", m->ctx.cpu.v);
	}
}

void trace_emit(struct model *m, struct trace_event *ev)
{
	char comm[16];

	trace_comm(m, comm, sizeof(comm));
	ev->time = m->clock.now;
	ev->cpu = m->ctx.cpu;
	ev->comm = comm;
	ev->profile = m->profile;
	ev->pid = m->ctx.flags & CTX_KTHREAD ? PID_DAEMON + m->clock.current.v
					     : PID_TASK + m->ctx.task.v;
	m->trace.fn(m->trace.ctx, ev);
	ev->comm = NULL;
}

/* ---- text --------------------------------------------------------------------------------- */

struct text {
	char *buf;
	size_t size, len;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->len, t->size - t->len, format, ap);
	va_end(ap);
	if (n > 0)
		t->len += (size_t)n < t->size - t->len ? (size_t)n : t->size - t->len - 1;
}

/* __print_symbolic(): an unknown value is printed in hex. */
static void put_symbol(struct text *t, const char *const *names, unsigned nr, unsigned value)
{
	if (value < nr && names[value])
		put(t, "%s", names[value]);
	else
		put(t, "0x%x", value);
}

static const char *zone_name(unsigned idx)
{
	static const char *const names[] = {"DMA", "DMA32", "Normal", "Movable"};

	return idx < sizeof(names) / sizeof(names[0]) ? names[idx] : "0x4";
}

static void put_result(struct text *t, int result)
{
	static const char *const names[] = {
		[COMPACT_NOT_SUITABLE_ZONE] = "not_suitable_zone",
		[COMPACT_SKIPPED] = "skipped",
		[COMPACT_DEFERRED] = "deferred",
		[COMPACT_NO_SUITABLE_PAGE] = "no_suitable_page",
		[COMPACT_CONTINUE] = "continue",
		[COMPACT_COMPLETE] = "complete",
		[COMPACT_PARTIAL_SKIPPED] = "partial_skipped",
		[COMPACT_CONTENDED] = "contended",
		[COMPACT_SUCCESS] = "success",
	};

	put_symbol(t, names, sizeof(names) / sizeof(names[0]), (unsigned)result);
}

/* __print_flags() with the kernel's table: names of several bits first. */
static void put_gfp(struct text *t, gfp_t gfp)
{
	static const struct {
		gfp_t bits;
		const char *name;
	} table[] = {
		{GFP_TRANSHUGE, "GFP_TRANSHUGE"},
		{GFP_TRANSHUGE_LIGHT, "GFP_TRANSHUGE_LIGHT"},
		{GFP_HIGHUSER_MOVABLE, "GFP_HIGHUSER_MOVABLE"},
		{GFP_USER | __GFP_HIGHMEM, "GFP_HIGHUSER"},
		{GFP_USER, "GFP_USER"},
		{GFP_KERNEL, "GFP_KERNEL"},
		{GFP_NOFS, "GFP_NOFS"},
		{GFP_ATOMIC, "GFP_ATOMIC"},
		{GFP_NOIO, "GFP_NOIO"},
		{GFP_NOWAIT, "GFP_NOWAIT"},
		{__GFP_DMA, "GFP_DMA"},
		{__GFP_DMA32, "GFP_DMA32"},
		{__GFP_HIGHMEM, "__GFP_HIGHMEM"},
		{__GFP_MOVABLE, "__GFP_MOVABLE"},
		{__GFP_RECLAIMABLE, "__GFP_RECLAIMABLE"},
		{__GFP_HIGH, "__GFP_HIGH"},
		{__GFP_IO, "__GFP_IO"},
		{__GFP_FS, "__GFP_FS"},
		{__GFP_ZERO, "__GFP_ZERO"},
		{__GFP_DIRECT_RECLAIM, "__GFP_DIRECT_RECLAIM"},
		{__GFP_KSWAPD_RECLAIM, "__GFP_KSWAPD_RECLAIM"},
		{__GFP_WRITE, "__GFP_WRITE"},
		{__GFP_NOWARN, "__GFP_NOWARN"},
		{__GFP_RETRY_MAYFAIL, "__GFP_RETRY_MAYFAIL"},
		{__GFP_NOFAIL, "__GFP_NOFAIL"},
		{__GFP_NORETRY, "__GFP_NORETRY"},
		{__GFP_MEMALLOC, "__GFP_MEMALLOC"},
		{__GFP_COMP, "__GFP_COMP"},
		{__GFP_NOMEMALLOC, "__GFP_NOMEMALLOC"},
		{__GFP_HARDWALL, "__GFP_HARDWALL"},
		{__GFP_THISNODE, "__GFP_THISNODE"},
	};
	const char *separator = "";

	if (gfp == 0)
		put(t, "none");
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if ((gfp & table[i].bits) != table[i].bits)
			continue;
		put(t, "%s%s", separator, table[i].name);
		separator = "|";
		gfp &= ~table[i].bits;
	}
	if (gfp)
		put(t, "%s0x%x", separator, gfp);
}

static void put_page(struct text *t, pfn_t pfn)
{
	if (pfn == PFN_NONE)
		put(t, "page=0000000000000000 pfn=0x0");
	else
		put(t, "page=%016" PRIx64 " pfn=0x%x",
		    (uint64_t)(VMEMMAP_BASE + (uint64_t)pfn * STRUCT_PAGE_BYTES), pfn);
}

static void put_migration(struct text *t, const struct trace_event *ev)
{
	static const char *const modes[] = {"MIGRATE_ASYNC", "MIGRATE_SYNC_LIGHT", "MIGRATE_SYNC"};
	static const char *const reasons[] = {
		"compaction",      "memory_failure", "memory_hotplug", "syscall_or_cpuset",
		"mempolicy_mbind", "numa_misplaced", "contig_range",   "longterm_pin",
		"demotion",        "damon",
	};

	put(t, "mode=");
	put_symbol(t, modes, sizeof(modes) / sizeof(modes[0]), (unsigned)ev->mode);
	put(t, " reason=");
	put_symbol(t, reasons, sizeof(reasons) / sizeof(reasons[0]), (unsigned)ev->reason);
}

static void put_compaction(struct text *t, const struct trace_event *ev)
{
	switch (ev->id) {
	case TRACE_TRY_TO_COMPACT_PAGES:
		put(t, "order=%d gfp_mask=", ev->order);
		put_gfp(t, ev->gfp);
		put(t, " priority=%d", ev->prio);
		break;
	case TRACE_COMPACT_BEGIN:
	case TRACE_COMPACT_END:
		put(t, "zone_start=0x%x migrate_pfn=0x%x free_pfn=0x%x zone_end=0x%x, mode=%s",
		    ev->zone_start, ev->migrate_pfn, ev->free_pfn, ev->zone_end,
		    ev->sync ? "sync" : "async");
		if (ev->id == TRACE_COMPACT_END) {
			put(t, " status=");
			put_result(t, ev->status);
		}
		break;
	case TRACE_COMPACT_FINISHED:
	case TRACE_COMPACT_SUITABLE:
		put(t, "node=%d zone=%-8s order=%d ret=", ev->nid, zone_name(ev->idx), ev->order);
		put_result(t, ev->ret);
		break;
	case TRACE_DEFERRED:
	case TRACE_DEFER_COMPACTION:
	case TRACE_DEFER_RESET:
		put(t, "node=%d zone=%-8s order=%d order_failed=%d consider=%u limit=%lu", ev->nid,
		    zone_name(ev->idx), ev->order, ev->order_failed, ev->considered,
		    1ul << ev->defer_shift);
		if (ev->defer_set)
			put(t, " sync=%d", ev->defer_set == 1 + DEFER_SYNC);
		break;
	case TRACE_ISOLATE_MIGRATEPAGES:
	case TRACE_ISOLATE_FREEPAGES:
	case TRACE_FAST_ISOLATE_FREEPAGES:
		put(t, "range=(0x%x ~ 0x%x) nr_scanned=%" PRIu64 " nr_taken=%" PRIu64,
		    ev->start_pfn, ev->end_pfn, ev->nr_scanned, ev->nr_taken);
		break;
	case TRACE_COMPACT_MIGRATEPAGES:
		put(t, "nr_migrated=%" PRIu64 " nr_failed=%" PRIu64, ev->nr_migrated,
		    ev->nr_failed);
		break;
	case TRACE_KCOMPACTD_SLEEP:
		put(t, "nid=%d", ev->nid);
		break;
	default: /* kcompactd_wake, wakeup_kcompactd */
		put(t, "nid=%d order=%d classzone_idx=%-8s", ev->nid, ev->order,
		    zone_name(ev->highest_zoneidx));
	}
}

static void put_retry(struct text *t, const struct trace_event *ev)
{
	static const char *const prios[] = {"COMPACT_PRIO_SYNC_FULL", "COMPACT_PRIO_SYNC_LIGHT",
					    "COMPACT_PRIO_ASYNC"};
	const char *feedback = ev->status == COMPACT_SUCCESS    ? "progress"
			       : ev->status == COMPACT_COMPLETE ? "failed"
								: "withdrawn";

	if (ev->id == TRACE_RECLAIM_RETRY_ZONE) {
		put(t,
		    "node=%d zone=%-8s order=%d reclaimable=%" PRIu64 " available=%" PRIu64
		    " min_wmark=%" PRIu64 " no_progress_loops=%d wmark_check=%d",
		    ev->nid, zone_name(ev->idx), ev->order, ev->reclaimable, ev->available,
		    ev->min_wmark, ev->no_progress_loops, ev->wmark_check);
		return;
	}
	put(t, "order=%d priority=", ev->order);
	put_symbol(t, prios, sizeof(prios) / sizeof(prios[0]), (unsigned)ev->prio);
	put(t, " compaction_result=%s retries=%d max_retries=%d should_retry=%d", feedback,
	    ev->retries, ev->max_retries, ev->ret);
}

/* Nobody is in a memory cgroup, or reclaims in an interrupt, whose mark would follow the blank. */
static void put_reclaimer(struct text *t, const struct trace_event *ev)
{
	if (ev->profile && ev->profile->trace_says_who)
		put(t, " pid=%u memcg_id=0 ", ev->pid);
}

static void put_vmscan(struct text *t, const struct trace_event *ev)
{
	switch (ev->id) {
	case TRACE_DIRECT_RECLAIM_BEGIN:
		put(t, "order=%d gfp_flags=", ev->order);
		put_gfp(t, ev->gfp);
		put_reclaimer(t, ev);
		break;
	case TRACE_DIRECT_RECLAIM_END:
		put(t, "nr_reclaimed=%" PRIu64, ev->nr_reclaimed);
		put_reclaimer(t, ev);
		break;
	case TRACE_KSWAPD_WAKE:
		put(t, "nid=%d order=%d", ev->nid, ev->order);
		break;
	case TRACE_KSWAPD_SLEEP:
		put(t, "nid=%d", ev->nid);
		break;
	default: /* wakeup_kswapd */
		put(t, "nid=%d order=%d gfp_flags=", ev->nid, ev->order);
		put_gfp(t, ev->gfp);
	}
}

static void put_kmem(struct text *t, const struct trace_event *ev)
{
	put_page(t, ev->pfn);
	switch (ev->id) {
	case TRACE_PAGE_ALLOC:
		put(t, " order=%d migratetype=%d gfp_flags=", ev->order, ev->migratetype);
		put_gfp(t, ev->gfp);
		break;
	case TRACE_PAGE_ALLOC_EXTFRAG:
		put(t,
		    " alloc_order=%d fallback_order=%d pageblock_order=%d alloc_migratetype=%d "
		    "fallback_migratetype=%d fragmenting=%d change_ownership=%d",
		    ev->order, ev->fallback_order, PAGEBLOCK_ORDER, ev->migratetype,
		    ev->fallback_migratetype, ev->fallback_order < PAGEBLOCK_ORDER,
		    ev->change_ownership);
		break;
	case TRACE_PAGE_ALLOC_ZONE_LOCKED:
		put(t, " order=%d migratetype=%d percpu_refill=%d", ev->order, ev->migratetype,
		    ev->percpu_refill);
		break;
	case TRACE_PAGE_PCPU_DRAIN:
		put(t, " order=%d migratetype=%d", ev->order, ev->migratetype);
		break;
	default: /* mm_page_free */
		put(t, " order=%d", ev->order);
	}
}

size_t trace_format(const struct trace_event *ev, char *buf, size_t size)
{
	struct text t = {buf, size, 0};

	put(&t,
	    "%16s-%-7u [%03u] ..... %5" PRIu64 ".%06" PRIu64 ": %s: ", ev->comm ? ev->comm : "?",
	    ev->pid, ev->cpu.v, ev->time / 1000000000, ev->time / 1000 % 1000000,
	    trace_event_name(ev->id));
	if (ev->id <= TRACE_WAKEUP_KCOMPACTD) {
		put_compaction(&t, ev);
	} else if (ev->id <= TRACE_RECLAIM_RETRY_ZONE) {
		put_retry(&t, ev);
	} else if (ev->id <= TRACE_WAKEUP_KSWAPD) {
		put_vmscan(&t, ev);
	} else if (ev->id <= TRACE_PAGE_PCPU_DRAIN) {
		put_kmem(&t, ev);
	} else if (ev->id == TRACE_COLLAPSE_HUGE_PAGE) {
		put(&t, "mm=0000000000000000, isolated=%d, status=%s", ev->isolated,
		    ev->status == 1 ? "succeeded" : "failed");
		if (ev->profile && ev->profile->trace_collapse_order)
			put(&t, ", order=%d", ev->order);
	} else {
		if (ev->id == TRACE_MIGRATE_PAGES)
			put(&t,
			    "nr_succeeded=%" PRIu64 " nr_failed=%" PRIu64
			    " nr_thp_succeeded=%u nr_thp_failed=%u nr_thp_split=%u nr_split=%u ",
			    ev->nr_migrated, ev->nr_failed, ev->thp_succeeded, ev->thp_failed,
			    ev->thp_split, ev->large_folio_split);
		put_migration(&t, ev);
	}
	return t.len;
}

void trace_print(void *file, const struct trace_event *ev)
{
	char line[512];

	trace_format(ev, line, sizeof(line));
	fprintf(file, "%s\n", line);
}
