/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_PLAN_H
#define SCENARIO_PLAN_H
/*
 * The typed form of a scenario.
 *
 * A `struct cl_scenario` keeps assignments as text. `plan_resolve()` lays them on
 * top of each other for one (backend, variant), converts every value by the
 * option table (option.h) and gives a `struct plan`: what one run does, complete
 * and valid, with nothing left to look up. A backend sees plans only.
 *
 * Ownership: a plan owns everything it points to; plan_free() releases it. It does
 * not refer to the scenario it came from. A plan is never changed after it is
 * made, so any number of threads may read it.
 *
 * Units: sizes in bytes, times in ns, shares in parts per million.
 */
#include <compactlab/error.h>
#include <compactlab/scenario.h>
#include <stdbool.h>
#include <stdint.h>

#define PLAN_MAX_NODES 16
#define PLAN_NODE_ANY  (-1)

/*
 * An amount of memory: so many bytes, or a share of the memory that is free when
 * the step starts (on the nodes the step concerns). `set` is false when the key
 * was left out and has no default.
 */
struct amount {
	uint64_t bytes;
	uint32_t ppm_of_free; /* when not 0, `bytes` is 0 */
	bool set;
};

struct node_list {
	unsigned count;
	int node[PLAN_MAX_NODES];
};

/* vm.*, thp.* or lru_gen.* = value: a file of the kernel, see setting_path(). */
struct setting {
	char *name; /* "vm.compaction_proactiveness", "thp.defrag" */
	char *value;
	int line;
};

struct settings {
	unsigned count;
	struct setting *item;
};

struct machine {
	unsigned nodes;
	uint64_t node_bytes[PLAN_MAX_NODES];
	unsigned cmas; /* nodes with a CMA area, from node 0 */
	uint64_t cma_bytes[PLAN_MAX_NODES];
	unsigned cpus;            /* whole machine, dealt to the nodes in equal runs */
	char *kernel;             /* guest: image name or path, or NULL */
	char *boot;               /* guest: extra kernel parameters, or NULL */
	char *snapshot;           /* model: file with the machine to start from, or NULL */
	uint64_t disk_bytes;      /* guest: size of the scratch disk, 0 for none */
	uint64_t timeout_ns;      /* guest: for the whole run */
	char *costs;              /* model: file with costs, or NULL for the built-in ones */
	unsigned slowdown;        /* model: factor of all costs */
	struct settings settings; /* applied before the first step */
};

enum step_kind {
	STEP_FILL,
	STEP_PUNCH,
	STEP_PIN,
	STEP_UNPIN,
	STEP_FAULT,
	STEP_RELEASE,
	STEP_FILES,
	STEP_WRITE,
	STEP_REQUEST,
	STEP_SET,
	STEP_COMPACT,
	STEP_DROP,
	STEP_SLEEP,
	STEP_READ,
	STEP_KINDS
};

enum fill_memory { FILL_ANON, FILL_SHMEM, FILL_FILE, FILL_MLOCKED };
enum fill_page { FILL_PAGE_BASE, FILL_PAGE_HUGE };

/* Fill memory with pages of one kind and keep them; the step's name is the handle. */
struct step_fill {
	enum fill_memory memory;
	enum fill_page pages;
	int node;            /* bound to it, or PLAN_NODE_ANY */
	struct amount size;  /* exactly one of size and leave is set */
	struct amount leave; /* fill until this much is free */
};

enum punch_action { PUNCH_FREE, PUNCH_KEEP };
/*
 * Which pages of the memory are selected:
 *   position   index in the mapping modulo `modulo` is `residue`
 *   pfn        physical frame number modulo `modulo` is `residue`
 *   pageblock  one page in each pageblock of the memory: the one whose pfn has the
 *              lowest offset >= residue in the block
 *   random     each page by itself with probability share_ppm, by `seed`
 */
enum punch_select { PUNCH_POSITION, PUNCH_PFN, PUNCH_PAGEBLOCK, PUNCH_RANDOM };
enum punch_order { PUNCH_ASCENDING, PUNCH_DESCENDING, PUNCH_SHUFFLED }; /* by pfn, or position */

/* Free the selected pages of a fill (or all but these), one page at a time. */
struct step_punch {
	unsigned of; /* index of the fill step */
	enum punch_action action;
	enum punch_select select;
	enum punch_order order;
	uint32_t modulo, residue;
	uint32_t share_ppm;
};

/* Long-term pin every present page of a fill or fault step (io_uring fixed buffers). */
struct step_pin {
	unsigned of;
};

/* Drop the pins of a pin step. The pages stay. */
struct step_unpin {
	unsigned of;     /* index of the pin step */
	unsigned during; /* index of the fault step it happens in the midst of; 0: none */
	uint32_t at_ppm; /* when so much of that is there */
};

enum fault_advice { ADVICE_NONE, ADVICE_HUGEPAGE, ADVICE_NOHUGEPAGE };
enum fault_policy {
	POLICY_LOCAL,
	POLICY_BIND,
	POLICY_PREFERRED,
	POLICY_INTERLEAVE,
	POLICY_WEIGHTED
};
enum fault_method {
	METHOD_TOUCH,
	METHOD_POPULATE_WRITE,
	METHOD_MAP_POPULATE, /* mmap() with MAP_POPULATE: before any advice can be given */
	METHOD_COLLAPSE,     /* base pages, then MADV_COLLAPSE */
	METHOD_COMPACTLAB,   /* cl_populate() */
	METHOD_PIN           /* long-term pins that fault in what is not there */
};

/* Map anonymous memory and fault it in; the memory is kept until released. */
struct step_fault {
	struct amount size; /* rounded up to 2 MiB */
	enum fault_advice advice;
	enum fault_policy policy;
	enum fault_method method;
	struct node_list nodes;           /* of bind, preferred, interleave, weighted */
	uint32_t weights[PLAN_MAX_NODES]; /* of weighted, one a node in `nodes` */
	int cpu_node;                     /* threads run on this node's CPUs, each on one, or ANY */
	unsigned threads;
	unsigned latency;           /* 1: measure each fault */
	unsigned io_threads;        /* of the step's own, that write files meanwhile */
	struct amount io_size;      /* by all of them */
	uint64_t io_chunk_bytes;    /* of one call */
	uint64_t io_pause_ns;       /* after each call */
	unsigned repeat;            /* times; memory of all but the last is released between */
	unsigned until_defer_shift; /* 0 off; else repeat (at most `repeat` times) until the
				       compaction deferral of some zone reached this shift */
};

struct step_release {
	unsigned of; /* index of a fill, fault or request step */
};

/* Create `count` files of `size` on a private tmpfs. */
struct step_files {
	uint64_t count;
	uint64_t size_bytes;
	unsigned threads;
};

/* Buffered writes to files on the scratch filesystem. */
struct step_write {
	struct amount size; /* in total */
	uint64_t chunk_bytes;
	uint64_t think_ns; /* after each call */
	unsigned threads;  /* one file each */
};

/* The kernel allocates `count` unmovable chunks of 2^order pages and keeps them until released. */
struct step_request {
	unsigned order;
	uint64_t count;
	int cpu_node; /* the asking thread runs on this node's CPUs, or ANY */
};

struct step_set {
	struct settings settings;
	char *try_text;        /* as written, or NULL */
	struct settings tried; /* what it says: one setting that may be refused, or none */
};

struct step_compact {
	int node; /* or PLAN_NODE_ANY for all */
};

enum drop_what { DROP_PAGECACHE = 1, DROP_SLAB = 2, DROP_ALL = 3 };
struct step_drop {
	enum drop_what what;
};

struct step_sleep {
	uint64_t time_ns;
};

/* Keep the text of a kernel file in the record. */
struct step_read {
	char *file;
};

struct step {
	char *name;
	enum step_kind kind;
	int line;          /* of the [step NAME] header */
	unsigned snapshot; /* take one right before it */
	union {
		struct step_fill fill;
		struct step_punch punch;
		struct step_pin pin;
		struct step_unpin unpin;
		struct step_fault fault;
		struct step_release release;
		struct step_files files;
		struct step_write write;
		struct step_request request;
		struct step_set set;
		struct step_compact compact;
		struct step_drop drop;
		struct step_sleep sleep;
		struct step_read read;
	};
};

struct plan {
	char *scenario;  /* name */
	char *file;      /* path as given, for messages */
	char sha256[65]; /* of the scenario file */
	char *backend;
	char *variant;
	char *policy;    /* "mainline" when not set */
	uint64_t seed;   /* of this repeat: base seed + repeat */
	unsigned repeat; /* 0-based */
	struct machine machine;
	unsigned steps; /* without those that say skip = yes */
	struct step *step;
};

/* What a scenario asks for before variants: used to lay out the runs. */
struct experiment {
	char *title;
	char *about; /* one paragraph, may be NULL */
	char *cite;  /* thread, by subject and year, may be NULL */
	uint64_t seed;
	unsigned repeat;
	unsigned shows; /* measures the table shows, such as "populate.compact_stall" */
	char **show;
};

/* The [experiment] section as seen from `backend`. Free with experiment_free(). */
int experiment_resolve(const struct cl_scenario *s, const char *backend, struct experiment *out,
		       struct cl_error *err);
void experiment_free(struct experiment *e);

/* Names of the variants in file order; a file without any has one, "mainline". */
unsigned scenario_variants(const struct cl_scenario *s);
const char *scenario_variant(const struct cl_scenario *s, unsigned i);

/* Build the plan of one run. -EINVAL with file and line when a value is wrong. */
int plan_resolve(const struct cl_scenario *s, const char *backend, const char *variant,
		 unsigned repeat, uint64_t seed, struct plan **out, struct cl_error *err);
void plan_free(struct plan *p);

/*
 * Name the step in an error that running it gave: "step NAME: ..." at the step's line, unless the
 * error knows a better place. Returns `code`. `err` may be NULL.
 */
int plan_step_error(const struct plan *p, const struct step *s, int code, struct cl_error *err);

/* The kind's name as written in scenario files, such as "fill". */
const char *step_kind_name(enum step_kind kind);

/* Published figures: [published VARIANT] STEP.MEASURE = number, number, ... */
struct published {
	const char *variant;
	const char *measure; /* "populate.compact_stall" */
	unsigned count;
	double value[8];
};
unsigned scenario_published(const struct cl_scenario *s);
const struct published *scenario_published_get(const struct cl_scenario *s, unsigned i);

/*
 * Checks as text, for one backend: `[on BACKEND] check.NAME = off` removes one and
 * any other value replaces the relation. `*file` and `*line` say where it was written.
 * The caller frees *out; the strings in it belong to the scenario.
 */
struct check_line {
	const char *name;
	const char *relation;
	const char *file;
	int line;
};
int scenario_checks(const struct cl_scenario *s, const char *backend, struct check_line **out,
		    unsigned *count, struct cl_error *err);

/*
 * What a run in another process needs to make the same plan: the file's text plus
 * the --set and --scale rank, as a file that cl_scenario_parse() reads back.
 */
char *scenario_serialize(const struct cl_scenario *s, unsigned long *length);
#endif
