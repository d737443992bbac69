/* SPDX-License-Identifier: MIT */
/*
 * trace.h - the kernel's tracepoints, as a callback; absent in normal runs.
 *
 * A module calls TRACE(m, EVENT, .field = value, ...): one test of a mask when nobody listens. The
 * sink gets the event with time, CPU and task filled in; trace_format() writes the line as the
 * kernel's trace file has it, so that scripts made for the kernel read it.
 */
#ifndef COMPACTLAB_MODEL_TRACE_H
#define COMPACTLAB_MODEL_TRACE_H

#include "model/types.h"

/* X(symbol, "system", "event") */
#define TRACE_EVENTS(X)                                                                            \
	X(TRY_TO_COMPACT_PAGES, "compaction", "mm_compaction_try_to_compact_pages")                \
	X(COMPACT_BEGIN, "compaction", "mm_compaction_begin")                                      \
	X(COMPACT_END, "compaction", "mm_compaction_end")                                          \
	X(COMPACT_FINISHED, "compaction", "mm_compaction_finished")                                \
	X(COMPACT_SUITABLE, "compaction", "mm_compaction_suitable")                                \
	X(DEFERRED, "compaction", "mm_compaction_deferred")                                        \
	X(DEFER_COMPACTION, "compaction", "mm_compaction_defer_compaction")                        \
	X(DEFER_RESET, "compaction", "mm_compaction_defer_reset")                                  \
	X(ISOLATE_MIGRATEPAGES, "compaction", "mm_compaction_isolate_migratepages")                \
	X(ISOLATE_FREEPAGES, "compaction", "mm_compaction_isolate_freepages")                      \
	X(FAST_ISOLATE_FREEPAGES, "compaction", "mm_compaction_fast_isolate_freepages")            \
	X(COMPACT_MIGRATEPAGES, "compaction", "mm_compaction_migratepages")                        \
	X(KCOMPACTD_SLEEP, "compaction", "mm_compaction_kcompactd_sleep")                          \
	X(KCOMPACTD_WAKE, "compaction", "mm_compaction_kcompactd_wake")                            \
	X(WAKEUP_KCOMPACTD, "compaction", "mm_compaction_wakeup_kcompactd")                        \
	X(COMPACT_RETRY, "oom", "compact_retry")                                                   \
	X(RECLAIM_RETRY_ZONE, "oom", "reclaim_retry_zone")                                         \
	X(DIRECT_RECLAIM_BEGIN, "vmscan", "mm_vmscan_direct_reclaim_begin")                        \
	X(DIRECT_RECLAIM_END, "vmscan", "mm_vmscan_direct_reclaim_end")                            \
	X(KSWAPD_WAKE, "vmscan", "mm_vmscan_kswapd_wake")                                          \
	X(KSWAPD_SLEEP, "vmscan", "mm_vmscan_kswapd_sleep")                                        \
	X(WAKEUP_KSWAPD, "vmscan", "mm_vmscan_wakeup_kswapd")                                      \
	X(PAGE_ALLOC, "kmem", "mm_page_alloc")                                                     \
	X(PAGE_ALLOC_EXTFRAG, "kmem", "mm_page_alloc_extfrag")                                     \
	X(PAGE_ALLOC_ZONE_LOCKED, "kmem", "mm_page_alloc_zone_locked")                             \
	X(PAGE_FREE, "kmem", "mm_page_free")                                                       \
	X(PAGE_PCPU_DRAIN, "kmem", "mm_page_pcpu_drain")                                           \
	X(MIGRATE_PAGES_START, "migrate", "mm_migrate_pages_start")                                \
	X(MIGRATE_PAGES, "migrate", "mm_migrate_pages")                                            \
	X(COLLAPSE_HUGE_PAGE, "huge_memory", "mm_collapse_huge_page")

enum trace_id {
#define X(sym, system, event) TRACE_##sym,
	TRACE_EVENTS(X)
#undef X
		NR_TRACE_EVENTS
};

/*
 * One event. Fields are shared by name between events; which an event uses is in trace.c's
 * formatter, and unused ones are zero. Names are the kernel's field names where it has one.
 */
struct trace_event {
	enum trace_id id;
	/* filled by trace_emit() */
	ns_t time;
	cpu_id cpu;
	const char *comm;
	uint32_t pid;
	const struct profile *profile; /* NULL: what all kernels print */
	/* where */
	uint8_t nid;
	uint8_t idx; /* zone class */
	pfn_t pfn;   /* PFN_NONE prints as a failed allocation */
	pfn_t start_pfn, end_pfn;
	pfn_t zone_start, migrate_pfn, free_pfn, zone_end;
	/* what */
	int order;
	gfp_t gfp;
	int prio;
	bool sync;
	int status, ret; /* enum compact_result */
	uint32_t considered, defer_shift;
	int order_failed;
	int defer_set; /* 1 + enum defer_set for policies that print a set, 0 = not printed */
	uint64_t nr_scanned, nr_taken;
	uint64_t nr_migrated, nr_failed;
	uint32_t highest_zoneidx;
	uint64_t nr_reclaimed, reclaimable, available, min_wmark;
	int retries, max_retries, no_progress_loops;
	bool wmark_check;
	int migratetype, fallback_order, fallback_migratetype;
	bool change_ownership, percpu_refill;
	int mode, reason;
	uint32_t thp_succeeded, thp_failed, thp_split, large_folio_split;
	int isolated;
};

/* The events of the group "compaction", as a mask for model_trace_only(). */
#define TRACE_COMPACTION ((2u << TRACE_WAKEUP_KCOMPACTD) - 1)

void trace_emit(struct model *m, struct trace_event *ev);
/* One line without newline, as in the kernel's trace file; bytes written. */
size_t trace_format(const struct trace_event *ev, char *buf, size_t size);
const char *trace_event_name(enum trace_id id);
/* The comment lines at the top of the kernel's trace file. */
extern const char trace_header[];
/* A sink for model_trace(): writes each event's line to a stream, which is `file`. */
void trace_print(void *file, const struct trace_event *ev);

#define TRACE(m, event, ...)                                                                       \
	do {                                                                                       \
		if (__builtin_expect((m)->trace.mask >> TRACE_##event & 1, 0)) {                   \
			struct trace_event ev_ = {.id = TRACE_##event, __VA_ARGS__};               \
			trace_emit(m, &ev_);                                                       \
		}                                                                                  \
	} while (0)

#endif
