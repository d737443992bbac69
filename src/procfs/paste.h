/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_PASTE_H
#define PROCFS_PASTE_H
/*
 * Parsers of what people paste besides the files of procfs.h: page types, fragmentation
 * indices, slab caches, settings, profiles, statistics, differences of vmstat. The
 * conventions are those of procfs.h.
 */
#include "procfs/gfp.h"
#include "procfs/procfs.h"
#include "procfs/span.h"

/* ---- pagetypeinfo ------------------------------------------------------------------- */

enum page_type {
	PAGE_TYPE_UNMOVABLE,
	PAGE_TYPE_MOVABLE,
	PAGE_TYPE_RECLAIMABLE,
	PAGE_TYPE_RESERVE, /* before 4.4 */
	PAGE_TYPE_HIGHATOMIC,
	PAGE_TYPE_CMA,
	PAGE_TYPE_ISOLATE,
	PAGE_TYPES
};

struct page_type_zone {
	int node;
	char zone[PROCFS_NAME];
	int line; /* of its first row */
	unsigned orders;
	uint64_t free[PAGE_TYPES][PROCFS_MAX_ORDERS];
	bool capped; /* a ">100000" is among them: counts are floors */
	bool has_blocks;
	int blocks_line;
	uint64_t blocks[PAGE_TYPES]; /* pageblocks of each type */
};

struct pagetypeinfo {
	unsigned block_order; /* 0: not printed */
	unsigned count;
	struct page_type_zone *zone;
	unsigned skipped;
};

int pagetypeinfo_parse(const char *text, size_t length, struct pagetypeinfo *out,
		       struct cl_error *err);
void pagetypeinfo_free(struct pagetypeinfo *p);
const char *page_type_name(enum page_type type);

/* ---- extfrag_index and unusable_index ------------------------------------------------ */

struct extfrag_zone {
	int node;
	char zone[PROCFS_NAME];
	int line;
	unsigned orders;
	int index[PROCFS_MAX_ORDERS]; /* thousandths; -1000: a block is there */
};

struct extfrag {
	unsigned count;
	struct extfrag_zone *zone;
	unsigned skipped;
};

int extfrag_parse(const char *text, size_t length, struct extfrag *out, struct cl_error *err);
void extfrag_free(struct extfrag *e);

/*
 * The kernel's fragmentation index in thousandths from a row of free blocks: near 0 the
 * request fails for lack of memory, near 1000 because of fragmentation; -1000 when a
 * block of that order is there.
 */
int fragmentation_index(const uint64_t *free, unsigned orders, unsigned order);

/* ---- slab caches -------------------------------------------------------------------- */

struct slabinfo_cache {
	char *name;
	uint64_t bytes; /* objects times object size */
	int line;
};

struct slabinfo {
	unsigned count;
	struct slabinfo_cache *cache; /* largest first */
	unsigned skipped;
};

/* /proc/slabinfo (2.x) or the table of slabtop. */
int slabinfo_parse(const char *text, size_t length, struct slabinfo *out, struct cl_error *err);
void slabinfo_free(struct slabinfo *s);

/* ---- settings ----------------------------------------------------------------------- */

struct setting_line {
	char name[64];  /* "vm.min_free_kbytes", "thp.defrag", "thp.khugepaged/defrag" */
	char value[64]; /* the chosen word where one is in brackets */
};

/*
 * One line of `sysctl -a`, of `grep . /proc/sys/vm/...`, of an /etc/sysctl.conf, or a
 * transparent_hugepage file with or without its path. A choice such as
 * "always defer [madvise] never" without a path is "thp.defrag" when the words are
 * those of defrag, else "thp.enabled".
 */
bool setting_parse(struct span line, struct setting_line *out);

/* ---- profiles ----------------------------------------------------------------------- */

struct perf_row {
	unsigned centipercent; /* 12.34% is 1234 */
	char comm[32];         /* "" where the table has none */
	char symbol[64];
	bool kernel;
	bool graph; /* of a call graph: its share is part of another row's */
};

/* A row of `perf report` or `perf top`: "12.34%  comm  [kernel.kallsyms]  [k] symbol". */
bool perf_row_parse(struct span line, struct perf_row *out);

/* A row of top or ps for a kernel daemon (kcompactd0, khugepaged, kswapd0) with its %CPU. */
struct daemon_row {
	char name[32];
	unsigned centipercent;
};
bool daemon_row_parse(struct span line, struct daemon_row *out);

/* A line of the function_graph tracer with a duration: "@ 184008.2 us |  compact_zone();" */
struct graph_row {
	uint64_t ns;
	char function[64];
};
bool graph_row_parse(struct span line, struct graph_row *out);

/* ---- allocations as traced ---------------------------------------------------------- */

struct page_alloc_row {
	uint64_t count; /* 1 for an event, the number in front of a histogram row */
	int order;
	uint32_t gfp;
	bool failed; /* page=0 */
	char comm[32];
};

/* A kmem:mm_page_alloc event, or a row "67621 order=9 GFP_TRANSHUGE|__GFP_THISNODE". */
bool page_alloc_parse(struct span line, struct page_alloc_row *out);

/* ---- sar -B ------------------------------------------------------------------------- */

struct sar_row {
	double scan_kswapd, scan_direct, steal; /* pages a second */
	int line;
};

struct sar_paging {
	unsigned count;
	struct sar_row *row;
	unsigned skipped;
};

int sar_parse(const char *text, size_t length, struct sar_paging *out, struct cl_error *err);
void sar_free(struct sar_paging *s);

/* ---- differences of vmstat ---------------------------------------------------------- */

/*
 * Tables of three columns: "name before after", or "name value change". Which of the two
 * is decided by the numbers, or by a comment that says "delta" or "diff". Also the output
 * of diff(1) on two snapshots, and tables of two columns under such a comment.
 */
struct vmstat_table {
	struct vmstat_delta delta;
	bool before_after; /* false: only the change is known */
	unsigned seconds;  /* from the comment ("over_10s"), 0: not known */
	unsigned skipped;
};

int vmstat_table_parse(const char *text, size_t length, bool changes_only, struct vmstat_table *out,
		       struct cl_error *err);
void vmstat_table_free(struct vmstat_table *t);
#endif
