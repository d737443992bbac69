/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_KLOG_LINE_H
#define PROCFS_KLOG_LINE_H
/*
 * The lines that a report is made of, one function each. `s` has no prefix any more.
 * True when the line was of that kind; what it says is put into the event.
 */
#include "procfs/klog.h"

/* "COMM: page allocation failure...", "... invoked oom-killer: ...", "... stalls for". */
bool klog_line_header(struct span s, struct klog_event *e);
/* "order:4", "order=4"; -1 when there is none. */
bool klog_line_order(struct span s, int *order);
/* The mask behind `key`, with the names in brackets where printed. */
bool klog_line_gfp(struct span s, const char *key, struct klog_event *e);
/* "CPU: 0 PID: 12 Comm: cat Tainted: G 5.10.2 #80" and the older "Pid: 12, comm: ..." */
bool klog_line_task(struct span s, struct klog_event *e);
/* "active_anon:87788 inactive_anon:69289 ..." */
bool klog_line_counts(struct span s, struct klog_event *e);
/* "1015296 pages RAM", "Free swap  = 8388268kB" */
bool klog_line_summary(struct span s, struct klog_event *e);
/* "oom-kill:constraint=...", "Memory cgroup out of memory", "Task in ... as a result of limit" */
bool klog_line_oom_detail(struct span s, struct klog_event *e);
/* "cache: NAME(12:hash), object size: ..." */
bool klog_line_slub_cache(struct span s, struct klog_event *e);
void klog_line_lockup(struct span s, struct klog_event *e);
/* One CMA line into `one`, to be added to an open event; `open` may be NULL. */
bool klog_line_cma(struct span s, const struct klog_event *open, struct klog_event *one);
void klog_line_cma_add(struct klog_event *e, const struct klog_event *one);
/* "HugeTLB: allocating 1024 of page size 2.00 MiB failed.  Only allocated 185 hugepages." */
bool klog_line_hugetlb(struct span s, struct klog_event *e);

bool klog_line_is_interrupt_function(const char *function);
/* Of compaction, reclaim, or the allocator's slow path. */
bool klog_line_is_memory_function(const char *function);
#endif
