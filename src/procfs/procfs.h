/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_PROCFS_H
#define PROCFS_PROCFS_H
/*
 * Parsers of what the kernel prints about memory, for text that is read from the
 * running machine. Nothing here opens a file.
 *
 * Every parser takes (text, length); the text need not end in a null byte and is
 * never trusted. The result is a struct that the caller provides (its contents on
 * entry are ignored) and releases with the matching _free(); after an error it is
 * empty and needs no release, although releasing it is harmless.
 *
 * Returns 0 or a negative errno:
 *   -EINVAL   no line of the text has this format; *err says what was expected
 *   -ENOMEM
 * A damaged line among sound ones is left out and counted in `skipped`, so that a
 * caller that must be strict can check that it is 0.
 *
 * Units are the kernel's: pages unless a name says kB or bytes.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* MAX_PAGE_ORDER is at most 15 (ia64 17 columns, arm64 with 64K pages 14); columns = orders + 1. */
#define PROCFS_MAX_ORDERS 17
#define PROCFS_MAX_ZONES  8 /* classes in a lowmem_reserve / protection list */
#define PROCFS_NAME       16

/* ---- names and numbers: vmstat, per-node counters, meminfo -------------------------- */

struct counter {
	char *name;
	uint64_t value;
	int line; /* 1-based line of the text */
};

/* Counters in the order of the text, each name once (the first wins). */
struct counters {
	unsigned count;
	struct counter *entry;
	unsigned *by_name; /* indices of entry, sorted by name */
	unsigned skipped;
};

/* The value by name: true and *value when it is there. */
bool counters_get(const struct counters *c, const char *name, uint64_t *value);
/* The value, or 0 when it is not there. */
uint64_t counters_value(const struct counters *c, const char *name);
void counters_free(struct counters *c);

/* /proc/vmstat: "name value" lines. */
int vmstat_parse(const char *text, size_t length, struct counters *out, struct cl_error *err);

struct vmstat_change {
	char *name;
	uint64_t before, after;
	int64_t delta; /* gauges fall too */
};

/* What changed between two snapshots, in the order of the second. */
struct vmstat_delta {
	unsigned count;
	struct vmstat_change *entry;
	unsigned only_before, only_after; /* names of one snapshot only, not in `entry` */
};

int vmstat_delta(const struct counters *before, const struct counters *after,
		 struct vmstat_delta *out);
/* The change of one counter; 0 when it did not change or is not there. */
int64_t vmstat_delta_of(const struct vmstat_delta *d, const char *name);
void vmstat_delta_free(struct vmstat_delta *d);

/*
 * /proc/meminfo, and /sys/devices/system/node/nodeN/meminfo (whose lines start with
 * "Node N "; *node receives N, -1 for the whole machine; node may be NULL). Values are
 * as printed: kB for lines that end in kB, plain counts for HugePages_*. The name of an
 * entry has no colon: "MemFree", "Active(anon)".
 */
int meminfo_parse(const char *text, size_t length, struct counters *out, int *node,
		  struct cl_error *err);

/* ---- buddyinfo ---------------------------------------------------------------------- */

struct buddy_zone {
	int node; /* 0 where the kernel prints no node */
	char zone[PROCFS_NAME];
	unsigned orders; /* columns: free[0 .. orders-1] */
	uint64_t free[PROCFS_MAX_ORDERS];
	int line;
};

struct buddyinfo {
	unsigned count;
	struct buddy_zone *zone; /* in the order of the text */
	unsigned skipped;
};

int buddyinfo_parse(const char *text, size_t length, struct buddyinfo *out, struct cl_error *err);
void buddyinfo_free(struct buddyinfo *b);
/* Pages in free blocks of at least `order`. */
uint64_t buddy_zone_pages(const struct buddy_zone *z, unsigned order);

/* ---- zoneinfo ----------------------------------------------------------------------- */

struct zone_pageset {
	int cpu;
	uint64_t count, high, batch;
	uint64_t high_min, high_max; /* 6.7 and later, else 0 */
};

struct zone_info {
	int node;
	char zone[PROCFS_NAME];
	int line;
	/* The four marks include the boost, as printed. */
	uint64_t free, boost, min, low, high, promo;
	uint64_t spanned, present, managed, cma;
	uint64_t reserved_highatomic, free_highatomic;   /* where printed */
	bool has_boost, has_promo, has_managed, has_cma; /* was it printed at all */
	unsigned protections;
	uint64_t protection[PROCFS_MAX_ZONES]; /* by class of the request */
	uint64_t start_pfn;
	bool node_unreclaimable;
	struct counters stats;      /* zone counters, nr_free_pages ... numa_other */
	struct counters node_stats; /* the "per-node stats" block printed with this zone; empty
				       for the other zones of the node */
	unsigned pagesets;
	struct zone_pageset *pageset;
};

struct zoneinfo {
	unsigned count;
	struct zone_info *zone;
	unsigned skipped;
};

int zoneinfo_parse(const char *text, size_t length, struct zoneinfo *out, struct cl_error *err);
void zoneinfo_free(struct zoneinfo *z);
/* The zone of that node and name, or NULL. */
const struct zone_info *zoneinfo_find(const struct zoneinfo *z, int node, const char *zone);
/* The per-node counters of a node, or NULL. */
const struct counters *zoneinfo_node(const struct zoneinfo *z, int node);

/* ---- kpageflags and pagemap --------------------------------------------------------- */

/* Bits of a 64-bit /proc/kpageflags entry. */
enum kpageflag {
	KPAGEFLAG_LOCKED = 0,
	KPAGEFLAG_ERROR = 1,
	KPAGEFLAG_REFERENCED = 2,
	KPAGEFLAG_UPTODATE = 3,
	KPAGEFLAG_DIRTY = 4,
	KPAGEFLAG_LRU = 5,
	KPAGEFLAG_ACTIVE = 6,
	KPAGEFLAG_SLAB = 7,
	KPAGEFLAG_WRITEBACK = 8,
	KPAGEFLAG_RECLAIM = 9,
	KPAGEFLAG_BUDDY = 10, /* every page of a free block, not only its first */
	KPAGEFLAG_MMAP = 11,
	KPAGEFLAG_ANON = 12,
	KPAGEFLAG_SWAPCACHE = 13,
	KPAGEFLAG_SWAPBACKED = 14,
	KPAGEFLAG_COMPOUND_HEAD = 15,
	KPAGEFLAG_COMPOUND_TAIL = 16,
	KPAGEFLAG_HUGE = 17,
	KPAGEFLAG_UNEVICTABLE = 18,
	KPAGEFLAG_HWPOISON = 19,
	KPAGEFLAG_NOPAGE = 20, /* no page frame here */
	KPAGEFLAG_KSM = 21,
	KPAGEFLAG_THP = 22, /* any large mapped folio, not only PMD size */
	KPAGEFLAG_OFFLINE = 23,
	KPAGEFLAG_ZERO_PAGE = 24,
	KPAGEFLAG_IDLE = 25,
	KPAGEFLAG_PGTABLE = 26,
	KPAGEFLAG_RESERVED = 32,
	KPAGEFLAG_MLOCKED = 33,
	KPAGEFLAG_OWNER_2 = 34,
	KPAGEFLAG_PRIVATE = 35,
	KPAGEFLAG_PRIVATE_2 = 36,
	KPAGEFLAG_OWNER_PRIVATE = 37,
	KPAGEFLAG_ARCH = 38,
	KPAGEFLAG_SOFTDIRTY = 40,
	KPAGEFLAG_ARCH_2 = 41,
	KPAGEFLAG_ARCH_3 = 42
};

static inline bool kpageflag_is(uint64_t flags, enum kpageflag bit)
{
	return (flags >> bit) & 1;
}

/* One 64-bit entry of /proc/PID/pagemap. */
struct pagemap_entry {
	bool present, swapped;
	bool file_or_shared;
	bool exclusive; /* mapped exactly once */
	bool soft_dirty;
	bool uffd_wp;
	bool guard;     /* guard region, 6.15 and later */
	bool pfn_known; /* present, and the reader may see frame numbers (CAP_SYS_ADMIN) */
	uint64_t pfn;   /* 0 unless pfn_known */
	unsigned swap_type;
	uint64_t swap_offset;
};

struct pagemap_entry pagemap_decode(uint64_t entry);

/* ---- pressure ----------------------------------------------------------------------- */

struct pressure_line {
	bool present;
	double avg10, avg60, avg300; /* percent */
	uint64_t total_us;
};

struct pressure {
	struct pressure_line some, full;
};

/* /proc/pressure/memory and its siblings. */
int pressure_parse(const char *text, size_t length, struct pressure *out, struct cl_error *err);

/* ---- compaction tracepoints --------------------------------------------------------- */

enum compaction_event_kind {
	COMPACTION_BEGIN,
	COMPACTION_END,
	COMPACTION_TRY_TO_COMPACT_PAGES,
	COMPACTION_FINISHED,
	COMPACTION_SUITABLE,
	COMPACTION_DEFERRED,         /* an attempt was suppressed */
	COMPACTION_DEFER_COMPACTION, /* the deferral grew */
	COMPACTION_DEFER_RESET,
	COMPACTION_ISOLATE_MIGRATEPAGES,
	COMPACTION_ISOLATE_FREEPAGES,
	COMPACTION_FAST_ISOLATE_FREEPAGES,
	COMPACTION_MIGRATEPAGES,
	COMPACTION_KCOMPACTD_SLEEP,
	COMPACTION_KCOMPACTD_WAKE,
	COMPACTION_WAKEUP_KCOMPACTD
};

/* Values of the kernel's enum compact_result, by the name the tracepoint prints. */
enum compaction_status {
	COMPACTION_STATUS_UNKNOWN = -1,
	COMPACTION_STATUS_NOT_SUITABLE_ZONE = 0,
	COMPACTION_STATUS_SKIPPED,
	COMPACTION_STATUS_DEFERRED,
	COMPACTION_STATUS_NO_SUITABLE_PAGE,
	COMPACTION_STATUS_CONTINUE,
	COMPACTION_STATUS_COMPLETE,
	COMPACTION_STATUS_PARTIAL_SKIPPED,
	COMPACTION_STATUS_CONTENDED,
	COMPACTION_STATUS_SUCCESS
};

/* A field that the event does not have is 0, -1 (node, order, sync, priority) or "". */
struct compaction_event {
	enum compaction_event_kind kind;
	char comm[64];    /* as printed, "<...>" when the kernel had forgotten it */
	int pid;          /* -1 when not printed */
	int cpu;          /* -1 when not printed */
	uint64_t time_ns; /* of the trace clock */

	int node;
	char zone[PROCFS_NAME]; /* also the class zone of the kcompactd events */
	int order;
	int sync;                      /* 1 sync, 0 async */
	int priority;                  /* 0 sync_full, 1 sync_light, 2 async */
	enum compaction_status status; /* end: status; finished, suitable: ret */
	char gfp[256];                 /* try_to_compact_pages: as printed, cut when longer */
	uint64_t zone_start, migrate_pfn, free_pfn, zone_end; /* begin, end */
	uint64_t range_start, range_end, scanned, taken;      /* isolate */
	uint64_t migrated, failed;                            /* migratepages */
	uint64_t considered, limit;                           /* deferral */
	int defer_shift;                                      /* log2 of limit, -1 without */
	int order_failed;
};

/*
 * One line as tracefs prints it (comm-pid [cpu] flags time: event: fields), or as
 * `perf script` and `trace-cmd report` do. The comm may contain spaces, dashes and
 * brackets. Returns 0; -ENOENT when the line is no compaction event (also comments and
 * blank lines); -EINVAL when it is one but damaged.
 */
int compaction_event_parse(const char *line, size_t length, struct compaction_event *out);
/* The event's name without the "mm_compaction_" in front: "begin". */
const char *compaction_event_name(enum compaction_event_kind kind);
#endif
