/* SPDX-License-Identifier: MIT */
#ifndef SNAPSHOT_SNAPSHOT_H
#define SNAPSHOT_SNAPSHOT_H
/*
 * The physical layout of a real machine at one moment: what each page is, and what the kernel said
 * of its zones, free lists and settings. Taken from /proc, kept in a file (compactlab-snapshot(5)),
 * shown, and made a machine of the model (snapshot_model.h).
 *
 * Pages are runs in ascending order from page frame 0 without gaps. A run is so many equal folios:
 * page frames [start, start + count << order). No run crosses a 2 MiB block unless its folios are
 * larger than half of one, so a block is a whole number of runs.
 *
 * A snapshot owns all it points to; snapshot_free(). Functions return 0 or a negative errno.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SNAPSHOT_VERSION     1
#define SNAPSHOT_BLOCK_ORDER 9
#define SNAPSHOT_BLOCK       (1u << SNAPSHOT_BLOCK_ORDER)
#define SNAPSHOT_MAX_ORDER   10
#define SNAPSHOT_MAX_NODES   16
#define SNAPSHOT_MAX_PAGES   (1ull << 30) /* 4 TiB: what the model can hold */

enum snapshot_kind {
	SNAPSHOT_HOLE,     /* no page there */
	SNAPSHOT_RESERVED, /* kept by boot, or poisoned: never allocated */
	SNAPSHOT_FREE,     /* on a free list; always order 0 here, the lists' orders follow */
	SNAPSHOT_ANON,
	SNAPSHOT_FILE,
	SNAPSHOT_SHMEM,
	SNAPSHOT_KERNEL, /* has no flag at all: kernel memory, or free on a per-CPU list */
	SNAPSHOT_SLAB,
	SNAPSHOT_PGTABLE,
	SNAPSHOT_HUGETLB,
	SNAPSHOT_BALLOON, /* moved through callbacks of its driver */
	SNAPSHOT_KINDS
};

enum snapshot_flag {
	SNAPSHOT_LRU = 1,
	SNAPSHOT_ACTIVE = 2,
	SNAPSHOT_REFERENCED = 4,
	SNAPSHOT_DIRTY = 8,
	SNAPSHOT_WRITEBACK = 16,
	SNAPSHOT_UNEVICTABLE = 32,
	SNAPSHOT_MAPPED = 64,  /* in a page table */
	SNAPSHOT_SHARED = 128, /* in more than one */
	SNAPSHOT_PINNED = 256, /* by anybody, from inside; else by the run that took it */
	SNAPSHOT_FLAGS = 9
};

/* What a folio is. */
struct snapshot_state {
	uint8_t kind, order;
	uint16_t flags;
};

struct snapshot_run {
	uint16_t count; /* folios, 1 and more */
	uint16_t state; /* index into snapshot.state */
};

struct snapshot_node {
	bool there;
	unsigned cpus;
	unsigned distances;
	uint8_t distance[SNAPSHOT_MAX_NODES]; /* by node in the order of ids; none: unknown */
	uint32_t kswapd_failures;             /* its runs in a row that reclaimed nothing */
};

struct snapshot_setting {
	char *name, *value; /* "vm.swappiness", "thp.enabled" */
};

/*
 * What only the kernel's own memory shows (src/os/inside.h); all of it is there or nothing, but for
 * single lists. Zones are numbered DMA, DMA32, Normal, Movable, types as in the kernel: UNMOVABLE,
 * MOVABLE, RECLAIMABLE, HIGHATOMIC, CMA, ISOLATE.
 */
#define SNAPSHOT_ZONES     4
#define SNAPSHOT_NO_CPU    0xffffu
#define SNAPSHOT_TYPE_NONE 7u

/* A free list, or one of a CPU's, from the head to the tail: heads of chunks. */
struct snapshot_list {
	uint8_t node, zone, order, type;
	uint16_t cpu;          /* SNAPSHOT_NO_CPU: of the buddy allocator */
	uint32_t first, count; /* in snapshot.stretch, whose positions count from the head */
};

/* A CPU's lists of a zone, as their tuning stands. */
struct snapshot_tuning {
	uint8_t node, zone;
	uint16_t cpu;
	uint32_t high, free_count, alloc_factor;
};

/* Where compaction of a zone goes on, and its deferral. */
struct snapshot_scanners {
	uint8_t node, zone;
	uint64_t migrate[2], free, init_migrate, init_free; /* page frames */
	uint32_t considered;
	uint8_t shift, order_failed;
	bool flush; /* kswapd clears the skip bits before it sleeps */
};

/* Positions and frames of a step's memory that lie evenly: position + i * by, pfn + i * pfn_by. */
struct snapshot_stretch {
	uint32_t position, pfn, count;
	int32_t by, pfn_by;
};

/* What a step of the scenario under way holds. */
struct snapshot_memory {
	char *step;
	uint64_t pages;        /* positions: [0, pages); where no stretch is, no page is */
	uint32_t first, count; /* in snapshot.stretch */
};

enum snapshot_text {
	SNAPSHOT_ZONEINFO,
	SNAPSHOT_PAGETYPEINFO,
	SNAPSHOT_BUDDYINFO,
	SNAPSHOT_VMSTAT,
	SNAPSHOT_TEXTS
};

struct snapshot {
	char *release, *version, *machine; /* of uname */
	char *taken;                       /* UTC, 2026-11-30T13:00:00Z */
	char *scenario, *step;             /* taken right before this step of it; else NULL */
	unsigned cpus;
	struct snapshot_node node[SNAPSHOT_MAX_NODES];
	unsigned settings;
	struct snapshot_setting *setting;
	char *text[SNAPSHOT_TEXTS]; /* files of /proc as they were; never NULL once complete */
	unsigned states;
	struct snapshot_state *state;
	uint64_t runs, room;
	struct snapshot_run *run;
	uint64_t pages; /* in runs so far */
	uint64_t stretches, stretch_room;
	struct snapshot_stretch *stretch;
	unsigned memories;
	struct snapshot_memory *memory;
	/* From inside; no blocks: unknown. */
	uint64_t blocks, block_room;
	uint8_t *block; /* type, and 8 with the skip bit */
	unsigned lists, tunings, scans;
	struct snapshot_list *list;
	struct snapshot_tuning *tuning;
	struct snapshot_scanners *scan;
};

/* ---- making one ---------------------------------------------------------------------------- */

/*
 * Empty. With `pages`, memory for that many is touched now, so that taking the snapshot later takes
 * next to none of what is to be seen.
 */
struct snapshot *snapshot_new(uint64_t pages);
void snapshot_free(struct snapshot *s);
/* More pages behind the last: so many folios of a state. -ENOMEM, -EINVAL, -EFBIG. */
int snapshot_add(struct snapshot *s, struct snapshot_state state, uint64_t count);
/* More settings, memories; texts are copied. */
int snapshot_setting_add(struct snapshot *s, const char *name, const char *value);
int snapshot_memory_add(struct snapshot *s, const char *step, uint64_t pages);
/* The memory added last holds this page; positions in ascending order. */
int snapshot_memory_page(struct snapshot *s, uint64_t position, uint64_t pfn);
int snapshot_stretch_add(struct snapshot *s, struct snapshot_stretch stretch);
/* A list, then its chunks from the head on; the last one as if it had not been. */
int snapshot_list_add(struct snapshot *s, struct snapshot_list list);
int snapshot_list_page(struct snapshot *s, uint64_t pfn);
void snapshot_list_drop(struct snapshot *s);
int snapshot_tuning_add(struct snapshot *s, struct snapshot_tuning tuning);
int snapshot_scanners_add(struct snapshot *s, struct snapshot_scanners scanners);
/* Of the next pageblock. */
int snapshot_block_add(struct snapshot *s, unsigned type, bool skip);
/* Forget all that is from inside. */
void snapshot_inside_drop(struct snapshot *s);
/* Does it say all that a snapshot must say, and nothing that cannot be? */
int snapshot_check(const struct snapshot *s, struct cl_error *err);

/* ---- the file -------------------------------------------------------------------------------- */

/* The file's bytes. The caller frees. */
int snapshot_pack(const struct snapshot *s, void **data, size_t *size, struct cl_error *err);
/* `name` is for messages. Nothing is returned unless everything is sound. -EINVAL, -ENOMEM. */
int snapshot_unpack(const void *data, size_t size, const char *name, struct snapshot **out,
		    struct cl_error *err);
/* The text inside; for tests and fuzzing. */
int snapshot_parse(const char *text, size_t length, const char *name, struct snapshot **out,
		   struct cl_error *err);
int snapshot_load(const char *path, struct snapshot **out, struct cl_error *err);

/* ---- looking at one -------------------------------------------------------------------------- */

/* Goes through the runs: zero-initialise, then false at the end. */
struct snapshot_cursor {
	uint64_t run, pfn, next_pfn;
};
bool snapshot_next(const struct snapshot *s, struct snapshot_cursor *c, uint64_t *count,
		   struct snapshot_state *state);

extern const char snapshot_type_letters[]; /* by type */
extern const char *const snapshot_zone_names[SNAPSHOT_ZONES];
const char *snapshot_kind_name(enum snapshot_kind kind);
const char *snapshot_flag_name(unsigned bit);
const char *snapshot_text_name(enum snapshot_text text);
const char *snapshot_setting_get(const struct snapshot *s, const char *name); /* NULL: none */
#endif
