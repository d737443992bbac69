/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_EVIDENCE_H
#define EXPLAIN_EVIDENCE_H
/*
 * What was found in the input, before anything is concluded from it.
 *
 * Everything is bounded: a log of any size adds at most EVENTS_MOST reports (the same
 * request from the same place counts once, with a number), tables are documents of at
 * most SECTION_BYTES, profiles and traces are added up as they pass.
 */
#include <compactlab/error.h>
#include "procfs/klog.h"
#include "procfs/paste.h"
#include "procfs/procfs.h"

#define EVENTS_MOST    256
#define DOCUMENTS_MOST 96 /* of each kind */
#define SECTION_BYTES  (512 * 1024)
#define LEFT_OUT_MOST  64
#define POOLS_MOST     16
#define PATH_MOST      160

struct source {
	char name[PATH_MOST]; /* as shown: below the directory that was given */
	unsigned found;       /* lines that were evidence */
	unsigned lines;
	bool kernel_log;
};

struct event {
	struct klog_event *log;
	int file;
	char function[64]; /* who asked */
};

enum document_kind {
	DOCUMENT_VMSTAT,
	DOCUMENT_CHANGES, /* a difference of vmstat */
	DOCUMENT_BUDDY,
	DOCUMENT_TYPES, /* pagetypeinfo */
	DOCUMENT_ZONES,
	DOCUMENT_MEMINFO,
	DOCUMENT_EXTFRAG,
	DOCUMENT_SLAB,
	DOCUMENT_SAR,
	DOCUMENT_KINDS
};

struct document {
	enum document_kind kind;
	int file;
	int line;     /* added to the lines inside */
	int sample;   /* which state of which machine, see sample.c */
	double clock; /* seconds of a day from the name or a heading; < 0: not known */
	union {
		struct counters counters; /* vmstat, meminfo */
		struct vmstat_table changes;
		struct buddyinfo buddy;
		struct pagetypeinfo types;
		struct zoneinfo zones;
		struct extfrag extfrag;
		struct slabinfo slab;
		struct sar_paging sar;
	};
};

struct setting_at {
	struct setting_line setting;
	int file, line;
};

/* One part of a profile: how much, and the line with most of it. */
struct share {
	unsigned centipercent;
	unsigned most;
	int file, line;
};

enum profile_part {
	PROFILE_COMPACTION,
	PROFILE_LOCK,
	PROFILE_CLEAR,
	PROFILE_RECLAIM,
	PROFILE_KCOMPACTD,
	PROFILE_KHUGEPAGED,
	PROFILE_PARTS
};

enum daemon { DAEMON_KCOMPACTD, DAEMON_KHUGEPAGED, DAEMON_KSWAPD, DAEMONS };

/* Functions seen in stacks outside of reports, by what they mean. */
enum seen_part {
	SEEN_COMPACTION,
	SEEN_THP,
	SEEN_RECLAIM,
	SEEN_LOCK,
	SEEN_CLEAR,
	SEEN_COPY,
	SEEN_FOLIO,
	SEEN_DAEMON,
	SEEN_PARTS
};

struct seen {
	unsigned count;
	int file, line;
};

struct trace_sums {
	unsigned events, attempts, attempts_huge, attempts_async;
	unsigned ends, ends_success, deferred, daemon_events, wakes;
	unsigned migrate_scans, migrate_empty, repeat, repeat_most;
	uint64_t last_range;
	unsigned wake_order[16];
	uint64_t scanned, taken, migrated, failed;
	/* begin of the compaction that runs on each CPU, for its duration */
	uint64_t begin_ns[64];
	int begin_pid[64];
	uint64_t longest_ns;
	int longest_order;
	int file, line, longest_file, longest_line;
	int last_order;
};

struct alloc_sums {
	uint64_t may_block, thp, optional, orders[32];
	int file, line;
};

struct pool_request {
	uint64_t wanted, got;
	uint64_t page_kb;
	bool has_got;
	int file, line;
};

struct left_out {
	int file, line;
	char text[160];
};

/* With --raw: a line as it stood in the input. */
struct raw_line {
	int file, line;
	char *text;
};

struct evidence {
	bool raw;
	struct keywords *keywords; /* made for the first file, for all of them */
	unsigned raws;
	struct raw_line *raw_line;
	unsigned files;
	struct source *file;
	unsigned events;
	struct event event[EVENTS_MOST];
	unsigned events_lost;
	unsigned documents, documents_of[DOCUMENT_KINDS];
	struct document *document;
	unsigned settings;
	struct setting_at *setting;
	struct share profile[PROFILE_PARTS];
	char profile_top[64];
	struct share profile_first;
	struct share daemon[DAEMONS];
	struct seen seen[SEEN_PARTS];
	struct trace_sums trace;
	struct alloc_sums alloc;
	uint64_t graph_longest_ns;
	int graph_file, graph_line;
	struct {
		double hit, foreign;
		int file, line;
	} numa; /* sums over the nodes */
	struct {
		double avg60; /* percent of time some task waited for memory */
		int file, line;
	} pressure;
	struct {
		char release[64]; /* of /proc/version or the first line of a log */
		uint32_t version;
		int file, line;
	} kernel;
	unsigned pools;
	struct pool_request pool[POOLS_MOST];
	unsigned left_outs;
	struct left_out left_out[LEFT_OUT_MOST];
	unsigned left_outs_lost;
};

void evidence_free(struct evidence *e);
/* The index of a new source, or a negative errno. */
int evidence_source(struct evidence *e, const char *name);
/* Takes over the log event; merges it with one like it. */
void evidence_event(struct evidence *e, int file, struct klog_event *log);
/* Is there room for another one? If not, that is noted once. */
bool evidence_has_room(struct evidence *e, enum document_kind kind, int file, int line);
/* A cleared document of that kind, or NULL when there is no room. */
struct document *evidence_document(struct evidence *e, enum document_kind kind, int file, int line);
void evidence_setting(struct evidence *e, int file, int line, const struct setting_line *s);
void evidence_left_out(struct evidence *e, int file, int line, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
/* Keep the line when --raw was given. */
void evidence_raw(struct evidence *e, int file, int line, struct span text);
const char *evidence_raw_find(const struct evidence *e, int file, int line);
/* Lines of a profile, a trace, a stack; true when they were of that kind. */
bool evidence_perf(struct evidence *e, int file, int line, struct span text);
bool evidence_trace(struct evidence *e, int file, int line, struct span text);
bool evidence_stack(struct evidence *e, int file, int line, const char *function);
void evidence_daemon(struct evidence *e, int file, int line, const struct daemon_row *d);
/* The line behind "cat .../nr_hugepages". */
bool evidence_pool_number(struct evidence *e, int file, int line, struct span text);
/* A row of numastat: one column a node. */
bool evidence_numastat(struct evidence *e, int file, int line, struct span text);
bool evidence_pool(struct evidence *e, int file, int line, struct span text);
bool evidence_found(const struct evidence *e);

/* ---- reading (input.c, sorter.c) ---------------------------------------------------- */

struct sorter;
/* Sorts the lines of one file into the evidence. */
struct sorter *sorter_new(struct evidence *e, int file);
/* Bytes in any portions. -EINVAL once the text turns out to be binary. */
int sorter_bytes(struct sorter *s, const char *bytes, size_t length);
void sorter_end(struct sorter *s);
void sorter_free(struct sorter *s);

/* A path, "-" or a tar archive. */
int input_path(struct evidence *e, const char *path, struct cl_error *err);
int input_text(struct evidence *e, const char *text, size_t length, const char *name,
	       struct cl_error *err);
#endif
