/* SPDX-License-Identifier: MIT */
/*
 * types.h - what the userspace kernel is made of. Read this file first; the map of the modules, who calls
 * whom, is at the end of model.h.
 *
 * The model is one process, one thread, one `struct model` for each simulated machine, no globals. All
 * memory is reserved when the machine is made (arena.c) and nothing is allocated while it runs. Most of
 * it is never touched: a reserved page reads as zero, so *zero must mean "never touched"* in every
 * large array below. That is why an empty 1 TiB machine is ready at once.
 *
 * The budget, for each simulated 4 KiB page:
 *
 *     memmap.state[pfn]   1   what the page is, and the order: all the scanners usually read
 *     memmap.flag[pfn]    1   LRU, active, dirty, pinned ...: read when state[] says "a folio"
 *     memmap.word[pfn]    4   where this page's one list entry or owner entry is
 *     owners.pfn[slot]    4   the owner's way to the page (a page table, a page cache, a hand)
 *     blocks, groups     1/27 (16 + 1 bytes and three bits for a pageblock of 512 pages, 2 for 512 slots)
 *
 * 10.04 bytes: 2.51 GiB for a full 1 TiB. Free chunks have a ring cell (4 bytes a *chunk*) and no owner
 * entry; a page whose owner entry exists while the page was punched out of it pays both, so a machine
 * with every second base page freed needs 2 to 4 bytes more. Order is kept for file LRU lists (and for
 * anonymous ones once there is swap): 4 bytes more for each folio on such a list. Page structs have no
 * pointers, so the whole machine is a function of its inputs, and state_hash reads it in one sweep.
 *
 * Bare numbers and wrapped ones: a pfn is the one bare number (pfn_t, arithmetic everywhere). Block
 * indices, slots, zones, nodes, CPUs, tasks, regions and pins are one-member structs, so that passing
 * one for another does not compile.
 */
#ifndef COMPACTLAB_MODEL_TYPES_H
#define COMPACTLAB_MODEL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/check.h"
#include "model/config.h"
#include "model/cost.h"
#include "model/gfp.h"
#include "model/profile.h"
#include "model/ring.h"
#include "model/rng.h"
#include "model/vmstat.h"

/* ==== ids ================================================================================== */

typedef uint32_t pfn_t;
#define PFN_NONE 0u         /* pfn 0 is no page on any machine: the first zone starts at 1 */
#define MAX_PFN (1u << 30)  /* 4 TiB; the two bits above are free for marks in slots and rings */

typedef struct { uint32_t v; } block_t;    /* pfn >> PAGEBLOCK_ORDER */
typedef struct { uint32_t v; } slot_t;     /* index into owners.pfn[]; 0 = none */
typedef struct { uint8_t v; } zone_id;     /* index into model.zone[] */
typedef struct { uint8_t v; } node_id;     /* the kernel's node number */
typedef struct { uint16_t v; } cpu_id;
typedef struct { uint32_t v; } region_id;  /* index into owners.region[]; 0 = none */
typedef struct { uint16_t v; } task_id;    /* index into model.task[]; 0 = the kernel itself */
typedef struct { uint32_t v; } pin_id;     /* index into pins.set[]; 0 = none */
typedef struct { uint16_t v; } actor_id;   /* index into clock.actor[] */

#define ZONE_NONE ((zone_id){ 0xff })
#define NODE_NONE ((node_id){ 0xff })
#define SLOT_NONE ((slot_t){ 0 })

typedef uint32_t nodemask_t; /* bit n = node n; NODEMASK_NONE = "no mask given" */
#define NODEMASK_NONE 0u

#define MAX_NODES 16
#define MAX_ZONES (MAX_NODES * 4)
#define NR_DEFER_SETS 2 /* index: enum defer_set */

typedef uint64_t ns_t; /* simulated nanoseconds since the machine was made */

struct model;

static inline block_t block_of(pfn_t pfn)
{
	return (block_t){ pfn >> PAGEBLOCK_ORDER };
}

static inline pfn_t block_start(block_t b)
{
	return b.v << PAGEBLOCK_ORDER;
}

/* Round down to a block start, and the kernel's "end of the block of pfn" (aligned: the next block's). */
static inline pfn_t pb_start(pfn_t pfn)
{
	return pfn & ~(PAGEBLOCK_PAGES - 1);
}

static inline pfn_t pb_end(pfn_t pfn)
{
	return (pfn + PAGEBLOCK_PAGES) & ~(PAGEBLOCK_PAGES - 1);
}

/* ==== page state =========================================================================== */

/*
 * state[pfn]: kind in the high nibble, order in the low one.
 *
 * Owner: memmap.c, through the transitions in memmap.h; nobody else stores here. Readers: everybody.
 *
 * The state describes the page in its present role. A chunk or folio is described by its head; the pages
 * behind it are PG_BODY (free, pcp, held) or tails (owned). A page has exactly one of these lives:
 *
 *   life      where the entry is                              word[head]
 *   free      zone.free[order][type], a ring                  ring position
 *   pcp       one of a CPU's lists, chained through word[]     XOR of the neighbours' pfns
 *   held      in a function's hands (compaction targets,       next pfn of a held_list, or anything
 *             a page just allocated, alloc_contig, capture)
 *   owned     owners.pfn[slot] points to it                    slot, or the position in an ordered
 *                                                              LRU ring whose cell holds the slot
 *
 * PG_BODY is zero on purpose: a never-touched page is the inside of a free chunk. The *head* of a chunk
 * that was never touched is not marked either; its block lacks BLOCK_TOUCHED and its zone has a
 * pristine run over it (struct zone). Use memmap_state(), which answers for both, unless the block is
 * known to be touched.
 */
enum page_kind {
	PG_BODY = 0x0,        /* inside a free, pcp or held chunk; order nibble 0 */
	PG_FREE = 0x1,        /* head of a chunk on a buddy list */
	PG_PCP = 0x2,         /* head of a chunk on a pcp list: order 0..3 or 9 */
	PG_HELD = 0x3,        /* head of a chunk on no list */
	PG_TAIL = 0x4,        /* tail of a compound that is not on an LRU; order nibble = the compound's */
	PG_TAIL_LRU = 0x5,    /* tail of a large LRU-able folio; order nibble = the folio's */
	PG_ANON = 0x6,        /* anonymous folio head */
	PG_FILE = 0x7,        /* page-cache folio head */
	PG_SHMEM = 0x8,       /* shmem/tmpfs folio head: has a mapping, lives on the anon lists */
	PG_KERNEL = 0x9,      /* unmovable kernel memory (also vmalloc, the huge zero page) */
	PG_PGTABLE = 0xa,
	PG_SLAB = 0xb,        /* flag[head] counts live objects, see slab.h */
	PG_HUGETLB = 0xc,
	PG_MOVABLE_OPS = 0xd, /* balloon, zsmalloc: not on an LRU, moved through callbacks */
	PG_RESERVED = 0xe,    /* boot memory: present, not managed, never freed */
	PG_HOLE = 0xf,        /* no page at this pfn */
};

#define PG_STATE(kind, order) ((uint8_t)((kind) << 4 | (order)))
#define PG_KIND(state) ((enum page_kind)((state) >> 4))
#define PG_ORDER(state) ((unsigned)((state) & 0xf))

/* One bit a kind, to test for several at once: KINDS_LRU >> PG_KIND(s) & 1. */
#define KIND_BIT(kind) (1u << (kind))
#define KINDS_LRU (KIND_BIT(PG_ANON) | KIND_BIT(PG_FILE) | KIND_BIT(PG_SHMEM))
#define KINDS_TAIL (KIND_BIT(PG_TAIL) | KIND_BIT(PG_TAIL_LRU))
#define KINDS_OWNED                                                                                \
	(KINDS_LRU | KIND_BIT(PG_KERNEL) | KIND_BIT(PG_PGTABLE) | KIND_BIT(PG_SLAB) |              \
	 KIND_BIT(PG_HUGETLB) | KIND_BIT(PG_MOVABLE_OPS))

/*
 * flag[head], meaningful for KINDS_LRU (for PG_SLAB it is a count, for other kinds zero).
 *
 * Owner: memmap.c (memmap_flag_set/clear keep the block counts). LRU-related bits are changed by lru.c
 * only, PGF_PINNED by pin.c only, PGF_DIRTY and PGF_WRITEBACK by filemap.c, reclaim.c and shmem.c.
 */
#define PGF_LRU 0x01u         /* on its LRU list; clear while isolated or in a CPU's LRU-add batch */
#define PGF_ACTIVE 0x02u
#define PGF_UNEVICTABLE 0x04u /* mlocked */
#define PGF_DIRTY 0x08u
#define PGF_WRITEBACK 0x10u
#define PGF_REFERENCED 0x20u
#define PGF_PINNED 0x40u      /* extra references: one or more pin sets cover it; counts in pin.c */
#define PGF_YOUNG 0x80u       /* a page table entry was used since reclaim last looked */

/*
 * A pageblock. 16 bytes; zero = pristine: MOVABLE, no skip bit, all 512 pages free.
 *
 * Owner: memmap.c keeps every count, inside the transitions. `type_x` and BLOCK_ISOLATE are written by
 * buddy.c only (block retyping moves the free chunks in the same step). The skip bits live in a bitmap of
 * their own, and so does what says that a huge page fills the block or that its type is no target, because
 * runs over thousands of such blocks are frequent and cost two loads for 64 blocks.
 *
 * The counts exist so that claims, scans and resets can answer without reading pages:
 *   F of a claim = 512 - nr_taken, M of a claim = nr_lru + nr_movable_ops;
 *   a block without free heads yields the free scanner nothing: ceil(512/stride) samples when
 *   nr_compound is 0, no page read; a block with nr_lru == nr_pinned and no movable-ops pages yields the
 *   migrate scanner nothing.
 * "Scanned" is still counted exactly as the kernel, walking page by page, would count it.
 */
struct block {
	uint8_t type_x : 3;      /* enum migratetype ^ MIGRATE_MOVABLE, so that zero is MOVABLE */
	uint8_t bits : 5;        /* BLOCK_* */
	uint8_t nr_grid_heads;   /* of nr_free_heads those on the grid of the reset's samples */
	uint16_t nr_taken;       /* pages not in the buddy: 512 - free pages (order 10 counts in both) */
	uint16_t nr_lru;         /* pages of folios with PGF_LRU */
	uint16_t nr_pinned;      /* pages of anon folios with PGF_LRU and PGF_PINNED */
	uint16_t nr_movable_ops;
	uint16_t nr_compound;    /* pages in owned compounds of order >= 1 (heads and tails) */
	uint16_t nr_free_heads;  /* free chunks whose head is in this block */
	uint16_t nr_pcp;         /* pages on pcp lists */
};

/* The reset of the skip bits looks at every 8th page of a block. */
#define BLOCK_GRID (1u << PAGE_ALLOC_COSTLY_ORDER)

#define BLOCK_TOUCHED 0x01u    /* the state[] bytes of this block are literal */
#define BLOCK_ISOLATE 0x02u    /* isolated for alloc_contig; free pages are on the ISOLATE lists */
#define BLOCK_FOREIGN_END 0x04u/* first or last pfn is a hole or of another zone: scanners pass it */

/*
 * The page arrays of one machine.
 *
 * Size: see the top. All arrays cover [0, end_pfn). zone_of_block is filled at set-up (1 byte a block);
 * zone boundaries are block aligned except that ZONE_DMA starts at pfn 1.
 */
struct memmap {
	pfn_t end_pfn;          /* first pfn beyond the last zone, block aligned */
	uint32_t nr_blocks;
	uint8_t *state;
	uint8_t *flag;
	uint32_t *word;
	struct block *block;
	uint64_t *skip;         /* one bit a block: PB_compact_skip / PB_migrate_skip */
	uint64_t *whole;        /* one bit a block: one owned compound fills it, or more than it */
	uint64_t *not_movable;  /* one bit a block: its list type is no target of compaction */
	uint8_t *zone_of_block; /* zone_id.v, 0xff = no memory */
};

/* ==== owners =============================================================================== */

/*
 * Who holds a page. One region = one address range of a task, one file (or a set of equal small files),
 * one kernel user, one page-table level of a task. A region owns a range of *slots*, one for each base
 * page it can hold; pfn[slot] says where the page is. The page knows its slot (word[head], or through
 * the LRU ring), the slot's region is region_of_group[slot >> 9]: that is the reverse mapping. Migration
 * rewrites pfn[slot] and word[], and the owner finds its page at the same slot.
 *
 * pfn[slot] values:
 *   0                        nothing there
 *   pfn                      this base page (subpage i of a PTE-mapped large folio: head + i)
 *   SLOT_HUGE | head pfn     first slot of a group of 512 held by one order-9 folio as a whole (PMD);
 *                            the other 511 slots stay 0
 *   SLOT_SWAP | n            swapped out
 * Regions start at a multiple of 512 plus the phase of their address, so slot & 511 is the index in the
 * PMD range and a group never belongs to two regions. Kernel users (slab, kernel, page tables, hugetlb)
 * use one slot a *chunk*, in order of allocation; their chunks are never moved or found by address.
 *
 * Owner: owner.c. Everything that makes a page owned or moves it goes through owner_*().
 */
#define SLOT_SWAP (1u << 31)
#define SLOT_HUGE (1u << 30)
#define SLOT_PFN_MASK (MAX_PFN - 1)
#define SLOT_GROUP 512u

enum region_kind {
	REGION_FREE,
	REGION_ANON,        /* private anonymous memory of a task */
	REGION_SHMEM,       /* one shmem/tmpfs file; may be mapped by a task */
	REGION_SHMEM_SET,   /* many tmpfs files of `file_pages` pages each */
	REGION_FILE,        /* one page-cache file */
	REGION_KERNEL,      /* kernel-like requests: chunks of one order held by a task or by boot */
	REGION_PGTABLE,
	REGION_SLAB,
	REGION_HUGETLB,
	REGION_MOVABLE_OPS,
	REGION_CMA,         /* pages handed out by cma_alloc */
};

enum advice { ADVISE_NONE, ADVISE_HUGEPAGE, ADVISE_NOHUGEPAGE };

/* Memory policy of a task or of a region (vma, shmem file). `weight` is used by weighted interleave. */
enum mpol_mode {
	MPOL_DEFAULT,
	MPOL_LOCAL,
	MPOL_PREFERRED,
	MPOL_PREFERRED_MANY,
	MPOL_BIND,
	MPOL_INTERLEAVE,
	MPOL_WEIGHTED_INTERLEAVE,
};

struct mempolicy {
	enum mpol_mode mode;
	nodemask_t nodes;
	node_id home;              /* NODE_NONE = the CPU's node */
	uint8_t weight[MAX_NODES]; /* 0 counts as 1 */
};

/* 128 bytes, config.max_regions of them. Owner: owner.c for the range, the kind's module for the rest. */
struct region {
	enum region_kind kind;
	task_id task;             /* whose address range; files have the creating task */
	uint32_t first_slot;
	uint32_t nr_slots;        /* base pages (or chunks, for kernel users) it can hold */
	uint64_t addr;            /* first byte's virtual address, page aligned; files: 0 */
	uint64_t pgoff;           /* vm_pgoff of the first page, for interleave indices */
	uint64_t inode;           /* shmem: the inode number the policy step uses */
	uint64_t nr_pages;        /* base pages held now */
	uint64_t nr_huge;         /* groups held as one order-9 folio */
	uint32_t next_slot;       /* kernel users: where the next chunk goes; files: end of file in pages */
	uint32_t pgtable;         /* anon/mapped: region_id.v of the page tables, 0 = not accounted */
	enum advice advice;
	bool mlocked;
	bool mapped;              /* has page table entries (anon: always) */
	bool has_policy;
	struct mempolicy policy;
	/* files */
	uint8_t min_order, max_order; /* folio orders of the mapping; max 0 = base pages only */
	bool mapping_nofs;            /* mapping mask without __GFP_FS (XFS-like) */
	bool huge_allowed;            /* tmpfs huge= or shmem_enabled */
	uint32_t file_pages;          /* REGION_SHMEM_SET: pages a file */
	uint32_t ra_index, ra_size;   /* readahead window */
	uint8_t ra_order;
	/* kernel users */
	gfp_t chunk_gfp;
	/* the flusher, on files */
	bool flusher_clean;       /* it went through all of the file and met nothing dirty */
	uint32_t scan_group;      /* the page it looks at next */
};

struct owners {
	uint32_t nr_slots;         /* reserved slots; slots below SLOT_GROUP are never given out */
	uint32_t *pfn;
	uint16_t *region_of_group; /* region_id.v, 0 = free group */
	uint32_t group_hint;       /* first group that may be free */
	uint32_t nr_regions;
	uint32_t max_regions;
	struct region *region;     /* [0] unused */
};

/* ==== pins ================================================================================= */

/*
 * A pin set is one call's pins: a stretch of a region by slot, every `step`-th page, `times` references
 * each. PGF_PINNED on a folio says "at least one reference"; the rare folios with more have their count
 * in `extra`, an open-addressing table by head pfn (config.max_multi_pins entries).
 * Slots, not pfns: a pinned page does not move, but a set outlives the unpinning of a part of it.
 *
 * Owner: pin.c.
 */
struct pin_set {
	region_id region;
	uint32_t first_slot, nr_slots, step;
	uint32_t times;      /* references a page; 0 = free entry */
};

struct pins {
	uint32_t nr_sets, max_sets;
	struct pin_set *set; /* [0] unused */
	uint32_t extra_cap, extra_used;
	struct pin_extra { pfn_t head; uint32_t refs; } *extra; /* folios with 2 or more references */
};

/* ==== per-CPU lists ======================================================================== */

/* 14 lists: 3 * order + type for orders 0..3, 12 = order 9 not movable, 13 = order 9 movable. */
#define NR_PCP_LISTS 14
#define PCP_LIST_THP_OTHER 12
#define PCP_LIST_THP_MOVABLE 13

/*
 * One list, a deque of chunks of one order: word[head] of a chunk is the XOR of its two neighbours'
 * pfns (0 beyond an end), so both ends can be popped and pushed with one word a page. Removal from the
 * middle is impossible and never needed: drains take from an end.
 */
struct pcp_list {
	pfn_t head, tail;
	uint32_t nr; /* chunks */
};

/*
 * The set of one CPU for one zone, 196 bytes. Owner: pcp.c. Counts are pages. A page here is in no free
 * counter and in no free list. high_min, high_max and batch are recomputed with the watermarks.
 */
struct pcp {
	struct pcp_list list[NR_PCP_LISTS];
	uint32_t count;
	uint32_t high, high_min, high_max;
	uint32_t batch;
	uint32_t free_count;
	uint8_t alloc_factor;
	bool prev_free_high_order; /* the previous free into this set was of order 1..3 */
	uint8_t expire;            /* seconds until a remote zone's set is drained */
	bool remote_activity;      /* this CPU changed the zone's counters since the last tick */
};

/* ==== zones and nodes ====================================================================== */

enum wmark { WMARK_MIN, WMARK_LOW, WMARK_HIGH, WMARK_PROMO, NR_WMARK };

/*
 * Deferral state of one set. Mainline uses DEFER_SHARED alone. A policy may use two sets. Owner: defer.c
 * and a policy's hooks.
 */
enum defer_set { DEFER_ASYNC, DEFER_SYNC, DEFER_SHARED = DEFER_SYNC };

struct deferral {
	uint32_t considered;
	uint8_t shift;
	int8_t order_failed;
};

/*
 * Chunks of order 10 that boot handed out and nobody touched: [lo, hi), both multiples of 1024. A run is
 * one cell (RING_RUN | index) in the order-10 MOVABLE ring and stands there for its chunks in ascending
 * order, so ordering is exact: pop from the head takes `lo`; whatever is inserted later goes before or
 * behind the cell. Taking a chunk from the middle splits the run. Only buddy.c looks inside; it turns a
 * chunk into an ordinary free chunk ("materialises" it) before anyone else works on it.
 */
#define RING_RUN (1u << 31)
#define MAX_PRISTINE_RUNS 64

struct pristine_run {
	pfn_t lo, hi;
	uint32_t pos; /* ring position of its cell */
};

/*
 * A zone, about 3.4 KiB. Owners by group, in the comments. Only zones with present pages exist in
 * model.zone[]; classes without pages appear in texts only.
 */
struct zone {
	/* set at creation */
	zone_id id;
	node_id node;
	enum zone_class class;
	const char *name;      /* "DMA32" */
	pfn_t start_pfn;       /* zone_start: need not be block aligned (DMA: 1) */
	pfn_t end_pfn;         /* zone_end: one past the last spanned pfn */
	pfn_t boot_end;        /* above lies what boot reserved at the zone's end */
	uint64_t present, managed;
	uint64_t cma_pages;

	/* watermark.c */
	uint64_t wmark[NR_WMARK]; /* without boost; zone_wmark() adds it */
	uint64_t boost;
	uint64_t lowmem_reserve[NR_ZONE_CLASSES];
	bool boosted_wake;     /* ZONE_BOOSTED_WATERMARK: kswapd is to be woken at the end of rmqueue */
	bool below_high;       /* ZONE_BELOW_HIGH */
	bool reclaim_active;   /* ZONE_RECLAIM_ACTIVE: kswapd balances this zone */

	/* buddy.c */
	struct ring free[NR_PAGE_ORDERS][NR_MIGRATETYPES];
	uint64_t nr_run_chunks;            /* chunks inside pristine runs: 0 or more, all order 10 MOVABLE */
	uint16_t avail[NR_MIGRATETYPES];   /* bit o: free[o][type] is not empty */
	uint64_t nr_chunks[NR_PAGE_ORDERS];/* chunks of an order, all types (buddyinfo) */
	struct pristine_run run[MAX_PRISTINE_RUNS];
	uint8_t nr_runs;
	uint64_t nr_reserved_highatomic;
	uint64_t nr_free_highatomic;
	uint32_t nr_isolated_blocks;
	uint32_t nr_blocks_of[NR_MIGRATETYPES]; /* block counts by type (pagetypeinfo) */

	/* pcp.c: one set a CPU of the machine */
	struct pcp *pcp;

	/* compact.c, scan_migrate.c, scan_free.c */
	pfn_t cached_migrate[2]; /* [0] async, [1] sync */
	pfn_t cached_free;
	pfn_t init_migrate, init_free;
	bool blockskip_flush;
	/* defer.c and policies */
	struct deferral defer[NR_DEFER_SETS];

	/* counters: zone gauges and numa_*, indexed by enum vmstat_item below NR_VM_ZONE_ITEMS */
	int64_t stat[NR_VM_ZONE_ITEMS];
};

struct zoneref {
	zone_id zone;
	node_id node;
	uint8_t class; /* enum zone_class */
};

/* Node-major, highest class first; unpopulated zones left out. Owner: zonelist.c, at set-up only. */
struct zonelist {
	uint8_t nr;
	struct zoneref ref[MAX_ZONES];
};

enum zonelist_kind { ZONELIST_FALLBACK, ZONELIST_NOFALLBACK, NR_ZONELISTS };

/* The five lists of a node, the kernel's numbering: active = inactive + 1. */
enum lru_list {
	LRU_INACTIVE_ANON,
	LRU_ACTIVE_ANON,
	LRU_INACTIVE_FILE,
	LRU_ACTIVE_FILE,
	LRU_UNEVICTABLE,
	NR_LRU_LISTS
};

/*
 * LRU state of a node. A list that reclaim can scan is ordered: a ring of slots, newest at the head.
 * Anonymous lists are ordered only when the machine has swap, the unevictable list never: nothing asks
 * for their order, the counts in node.stat say all there is to know. Owner: lru.c.
 */
struct lru {
	struct ring list[NR_LRU_LISTS]; /* cell = slot of the folio's first page */
	bool ordered[NR_LRU_LISTS];
	uint64_t cost_anon, cost_file;      /* reclaim cost that balances anon against file */
	int64_t refault_seen_anon, refault_seen_file;
};

#define LRU_BATCH 31

/* LRU-add batch of a CPU (folio_batch): new base folios wait here, not on an LRU. Owner: lru.c. */
struct lru_batch {
	uint8_t nr;
	pfn_t folio[LRU_BATCH];
};

enum daemon_state { DAEMON_SLEEPING, DAEMON_NAPPING, DAEMON_RUNNING };

/* ==== compaction =========================================================================== */

/* Chunks in hand, chained through word[head]: first in first out, split halves first. */
struct held_list {
	pfn_t head, tail;
	uint32_t nr; /* chunks */
};

/* The longest source list: the rest of one block, whole folios, plus what the first batch held. */
#define MIGRATE_LIST_MAX 1024u

/*
 * Where the page that compaction was started for is handed over before it reaches a free list.
 * One exists while a task compacts directly. buddy.c looks at model.capture when it merges, and only
 * pages freed by that task count: daemons run with model.capture set aside.
 */
struct capture {
	zone_id zone;        /* the zone being compacted */
	uint8_t order;       /* per profile: of the run or of the request */
	enum migratetype type;
	bool armed;
	pfn_t page;          /* head of the captured chunk (PG_HELD), PFN_NONE until then */
};

/*
 * One compaction of one zone: struct compact_control. 4.3 KiB, embedded in whoever compacts: one
 * for the direct compactor and explicit compaction (model.direct_cc), one for khugepaged, which
 * compacts directly, too, in the middle of a task's run at times, one for each kcompactd, one for
 * alloc_contig. The upper part is filled by the caller, the lower part belongs to compact.c,
 * scan_migrate.c and scan_free.c. compact_zone_begin() zeroes the counters, not the carried-over
 * searches: kcompactd uses one structure for a whole round (whole_zone, fast_search_fail and
 * search_order carry over there).
 */
struct compact_control {
	/* request */
	struct zone *zone;
	gfp_t gfp;
	int order;                 /* -1: explicit or proactive, everything */
	enum zone_class class;     /* highest class of the requester */
	alloc_flags_t alloc_flags;
	enum migratetype type;     /* from gfp; finish test and source choice */
	enum migrate_mode mode;
	enum compact_priority prio;/* direct runs only; the deferral hooks get it */
	bool direct;               /* direct_compaction */
	bool proactive;
	bool kcompactd;            /* precheck under defrag_mode looks at whole free blocks */
	bool whole_zone;
	bool ignore_skip_hint;
	bool no_set_skip_hint;     /* alloc_contig */
	bool ignore_block_suitable;
	bool alloc_contig;
	struct capture *capture;   /* NULL: nobody waits for a page */

	/* scanners */
	pfn_t migrate_pfn, free_pfn;
	pfn_t fast_start_pfn;      /* lowest hit of the fast source search; 0 none yet */
	bool fast_start_disabled;
	uint16_t fast_search_fail;
	int16_t search_order;
	bool finish_block;         /* finish_pageblock */
	bool contended;
	bool mirror;               /* update_cached: async position is copied to sync */
	pfn_t last_migrated;
	bool running;              /* between begin and end */
	bool turned;               /* a turn of the loop is done */

	/* lists */
	uint32_t nr_migrate;       /* entries of migrate[], used as a stack */
	uint64_t nr_migratepages;  /* base pages on it that still need a target */
	uint64_t nr_freepages;     /* base pages in freepages[] */
	pfn_t migrate[MIGRATE_LIST_MAX];
	struct held_list freepages[NR_PAGE_ORDERS];

	/* counters of this run, added to the machine's at its end */
	uint64_t total_migrate_scanned, total_free_scanned;
	enum compact_result result;
};

/*
 * kcompactd of one node: a step machine (clock.h). A round takes the zones in order; a step is one turn
 * of compact_zone's loop. Owner: kcompactd.c; requests are written by kcompactd_wake().
 */
struct kcompactd {
	enum daemon_state state;
	actor_id actor;
	uint8_t max_order;         /* requested, 0 = none */
	enum zone_class class;     /* requested */
	uint8_t round_order;       /* of the round that runs */
	enum zone_class round_class;
	int8_t round_zone;         /* class index of the zone in work, -1 before the first */
	bool proactive_round;
	bool proactive_trigger;    /* compaction_proactiveness was written */
	uint32_t proactive_score_before;
	ns_t timeout_at;           /* 500 ms timer; UINT64_MAX = none */
	bool in_round;             /* the thread is at work: false = asleep, or just woken */
	struct compact_control cc;
};

/* ==== reclaim ============================================================================== */

/*
 * One pass of reclaim over a node, and what it belongs to: scan_control. Resumable: shrink_begin()
 * computes the targets, each shrink_step() takes up to 32 folios of each list, shrink_end() runs
 * the slab shrinkers and asks should_continue_reclaim(). Owner: reclaim.c. One in model.direct_sc,
 * one in model.khugepaged_sc, one in each kswapd.
 */
struct scan_control {
	/* request */
	gfp_t gfp;
	uint8_t order;
	enum zone_class class;
	int8_t priority;
	uint64_t nr_to_reclaim;
	bool may_write, may_swap;
	bool is_kswapd;
	bool force_deactivate;
	bool skipped_deactivate;
	bool compaction_ready;
	/* totals over passes */
	uint64_t nr_scanned, nr_reclaimed;
	uint64_t slab_reclaimed;
	/* the pass in work */
	struct node *node;
	uint64_t nr[NR_LRU_LISTS - 1]; /* left to scan, by enum lru_list */
	uint64_t pass_start_reclaimed;
	uint8_t may_deactivate;        /* 1 anon, 2 file */
	bool in_pass;
	uint64_t targets[NR_LRU_LISTS - 1];
	uint64_t nr_dirty_met, nr_file_taken;
};

/*
 * kswapd of one node: a step machine; a step is one shrink_step() or one decision of balance_pgdat().
 * Owner: reclaim.c; requests are written by reclaim_wake_kswapd().
 */
enum kswapd_phase { KSWAPD_IDLE, KSWAPD_START, KSWAPD_PASS, KSWAPD_SHRINK, KSWAPD_TRY_SLEEP, KSWAPD_NAP };

struct kswapd {
	enum daemon_state state;
	enum kswapd_phase phase;
	actor_id actor;
	uint8_t pending_order;        /* kswapd_order: survives calls that did not wake */
	int8_t pending_class;         /* -1 = none */
	uint8_t order;                /* of the run; falls to 0 when enough was freed */
	uint8_t alloc_order;          /* order the run was started for */
	enum zone_class class;
	uint8_t reclaim_order;        /* order the last run reached */
	uint32_t failures;            /* kswapd_failures; >= 16: the node is hopeless */
	uint64_t boost_at_start[4];   /* by zone class */
	uint64_t boost_left, reclaimed_before;
	bool boosted_run;
	bool raise_priority;
	ns_t nap_until;
	struct scan_control sc;
};

#define KSWAPD_HOPELESS 16u

/*
 * A NUMA node. Owners by group. The pfn range may have holes; zones say what is there.
 */
struct node {
	node_id id;
	bool online;
	pfn_t start_pfn, end_pfn;
	uint64_t present;
	zone_id zone[NR_ZONE_CLASSES];       /* by class, ZONE_NONE if unpopulated */
	uint16_t first_cpu, nr_cpus;         /* nr_cpus 0: a memory-only node */
	uint8_t distance[MAX_NODES];         /* SLIT; 10 = self */
	struct zonelist zonelist[NR_ZONELISTS];
	struct lru lru;
	struct kswapd kswapd;
	struct kcompactd kcompactd;
	uint8_t explicit_class;              /* compact_entry.c: next class of compact_node_step() */
	bool dirty_flagged;                  /* PGDAT_DIRTY: profile A,B kswapd may write */
	int64_t stat[NR_VM_NODE_ITEMS];      /* enum vmstat_item - VM_NODE_FIRST */
};

/* ==== allocation =========================================================================== */

/* How an allocation uses the machine: the request, and what the slow path learns about it. */
struct alloc_context {
	gfp_t gfp;
	uint8_t order;
	enum migratetype type;
	enum zone_class class;          /* highest_zoneidx */
	const struct zonelist *zonelist;
	nodemask_t nodemask;            /* NODEMASK_NONE = all */
	int8_t preferred;               /* index into zonelist, -1 = no zone */
	bool spread_dirty;              /* __GFP_WRITE, fast path only */
};

/* ==== time ================================================================================= */

/*
 * How several tasks and daemons share one thread of execution.
 *
 * Everything that can run is an *actor* with a time of its own: tasks, kswapd and kcompactd of each node,
 * khugepaged, the flusher, the one-second tick. The clock always runs the actor whose time is lowest (ties:
 * lowest actor id). Running means calling the actor's step function once; the costs charged meanwhile
 * advance its time. Steps are coarse and complete:
 *
 *   task       one *atom* of its operation: one fault, one folio of a write, one page freed, one pin batch
 *   kswapd     one round of 32 folios a list, or one decision
 *   kcompactd  one turn of compact_zone's loop (one batch of up to 32 pages, usually)
 *   others     one unit of their work
 *
 * An atom runs to completion: a task inside direct compaction is not put aside for another *task*. But
 * daemons need no stack of their own (they keep their state in structs kswapd and kcompactd), so inside
 * a long atom they are run where they are: clock_point(), called by the slow path between its stages and
 * by compact_zone and direct reclaim after each batch, runs every daemon whose time lies behind the
 * running task's, step by step, nested on the task's stack, never deeper. clock_wait() likewise lets a
 * throttled task sleep inside an atom. So a direct compactor meets the kernel threads' progress at
 * the granularity of a batch, two tasks meet at the granularity of an allocation, and there is no
 * coroutine, no context switch, nothing a sanitizer or a debugger has to be told about. What is lost:
 * two tasks compacting one zone at the same time see each other's complete runs, never half of one. That is
 * within what lock hand-over decides on a real machine, and it is the same on every run.
 *
 * CPUs: a task is bound to one; tasks of one CPU queue behind cpu.busy_until. Daemons are given a CPU's
 * time as if one were idle. Where all CPUs of a node run tasks (clock_set_contention()) a daemon
 * and a task take turns, each for a slice that ends with a timer tick. A slice may end in the middle
 * of a block that kcompactd empties: clock_preempt(), called for each folio that it moves, then runs
 * the tasks nested on the daemon's stack for as long as it has had the CPU. They find what it has
 * freed so far on their CPU's lists. Only tasks that allocate are run so, as nobody may let go of a
 * folio that the daemon holds. When the last of them is done the daemon's run goes on to its end
 * before anything else happens; who wants to know what had happened until then is called (cut_short).
 */
enum actor_kind {
	ACTOR_NONE,
	ACTOR_TASK,
	ACTOR_KSWAPD,
	ACTOR_KCOMPACTD,
	ACTOR_KHUGEPAGED,
	ACTOR_FLUSHER,
	ACTOR_TICK, /* once a second: pcp decay, remote set expiry */
};

#define NS_NEVER UINT64_MAX

struct actor {
	enum actor_kind kind;
	uint16_t index;      /* node or task number */
	ns_t time;           /* when it runs next; NS_NEVER = sleeps until woken */
	uint32_t heap_index; /* where it stands in clock.heap */
	ns_t busy_ns;        /* of a daemon: spent in its steps */
};

struct clock {
	uint32_t nr_actors;
	struct actor *actor;
	uint16_t *heap;      /* binary heap by (time, id) of the actors with a time */
	uint32_t heap_nr;
	actor_id current;    /* whose step runs; meaningful while depth > 0 */
	uint8_t depth;       /* 0 idle, 1 a step; more: nested in another's, see above */
	ns_t now;            /* time of the running actor */
	ns_t latest;         /* that a task has reached */
	ns_t slice_start;    /* of the daemon that runs; */
	ns_t slice_end;      /* NS_NEVER where it has a CPU of its own */
	uint32_t nr_busy;    /* tasks with an operation */
	bool cut_short;      /* the last one ended in the middle of a daemon's run; nothing since */
	uint32_t nr_daemons; /* actors [0, nr_daemons) are no tasks */
	ns_t daemon_next;    /* not later than the earliest time of a daemon */
	nodemask_t crowded;  /* nodes whose CPUs all run tasks */
	ns_t psi_some_ns, psi_full_ns, psi_until;
	uint64_t events;     /* steps run, for speed figures */
};

struct cpu {
	node_id node;
	uint16_t nr_running; /* tasks with an operation that are bound to it */
	ns_t owed_ns;        /* what daemons took of it while a task had it */
	ns_t busy_until;
	struct lru_batch lru_add;
};

/*
 * The context the running code acts for: `current` of the kernel. Set by clock.c around each step.
 */
#define CTX_MEMALLOC 0x1u   /* PF_MEMALLOC: inside reclaim */
#define CTX_KTHREAD 0x2u
#define CTX_NOIO 0x4u
#define CTX_NOFS 0x8u
#define CTX_LONGTERM 0x10u  /* PF_MEMALLOC_PIN: __GFP_MOVABLE is stripped */
#define CTX_RT 0x20u
#define CTX_OOM_VICTIM 0x40u

struct context {
	task_id task;
	cpu_id cpu;
	node_id node;        /* of the CPU */
	uint32_t flags;      /* CTX_* */
	uint16_t memstall;   /* nesting of PSI memory stalls */
	ns_t stall_start;
};

/* ==== tasks ================================================================================ */

/* The operations and their parameters are in task.h; a task runs one at a time. */
struct op;

struct task {
	actor_id actor;
	cpu_id cpu;
	bool alive;
	bool thp_disabled;             /* PR_SET_THP_DISABLE */
	bool thp_disabled_except_advised;
	bool oom_victim;
	uint32_t flags;                /* CTX_* that stick to the task */
	struct mempolicy policy;
	uint8_t interleave_prev;       /* rotor: node used last */
	uint8_t interleave_weight;     /* left of its weight */
	uint64_t rss_pages;            /* for the choice of an OOM victim */
	struct op *op;                 /* running operation, NULL = none */
};

/* ==== everything else ====================================================================== */

struct cma_area {
	const char *name;
	pfn_t base;
	uint32_t pages;
	uint64_t *used;      /* bitmap, one bit a page */
	uint32_t nr_used;
};

/*
 * Slab caches: preferred and minimum order, one region a cache with a slot for each slab. The number of
 * live objects of a slab is flag[head], so a cache has at most 255 objects a slab; smaller objects are
 * counted in groups. Owner: slab.c.
 */
#define MAX_SLAB_CACHES 16

struct slab_cache {
	const char *name;
	uint32_t object_bytes;
	uint16_t objects_per_slab;   /* at the preferred order */
	uint16_t objects_per_min;    /* at the minimum order */
	uint8_t order, min_order;
	bool reclaimable;
	uint32_t partial_slot;       /* slab that still has room, 0 = none */
	uint32_t oldest_slot;        /* shrinking goes on from here */
	uint64_t live, freeable;     /* objects; freeable ones can be shrunk */
	uint64_t shrink_deferred;
	region_id region;
};

/* khugepaged: one scanner for the machine. Owner: thp_khugepaged.c. */
struct khugepaged {
	actor_id actor;
	bool enabled;
	region_id region;          /* cursor */
	uint32_t group;
	uint32_t pages_left;       /* of pages_to_scan */
	bool alloc_failed_once;
};

/* Where trace events go; NULL fn in normal runs. See trace.h for the events. */
struct trace_event;
struct trace_sink {
	void (*fn)(void *ctx, const struct trace_event *ev);
	void *ctx;
	uint32_t mask; /* bit i: enum trace_id i is wanted; 0 without a sink */
};

/*
 * The machine: 15 KiB plus what the pointers reserve. Owner of the whole: machine.c; of each
 * part: the module named beside it.
 */
struct model {
	struct model_config config;        /* as created; machine.c */
	const struct profile *profile;
	const struct policy *policy;       /* effective hooks; policy.c */
	struct policy_state *policy_state; /* composed table and policies' own words; policy.c */
	struct cost_table cost;
	struct arena *arena;               /* all reserved memory; arena.c */

	struct memmap map;                 /* memmap.c */
	struct owners own;                 /* owner.c */
	struct pins pins;                  /* pin.c */

	uint32_t nr_zones, nr_nodes, nr_cpus, nr_tasks;
	nodemask_t online_nodes, cpu_nodes;
	struct zone *zone;                 /* [nr_zones], node-major, ascending class */
	struct node *node;                 /* [MAX_NODES] by node number */
	struct cpu *cpu;
	struct task *task;
	struct op *op;                     /* one a task */

	struct sysctls sysctl;             /* current values; sysctl.c */
	struct thp_settings thp;           /* sysfs transparent_hugepage; sysctl.c */
	bool grouping_disabled;            /* page_group_by_mobility_disabled */
	uint64_t total_reserve_pages;

	struct context ctx;                /* clock.c */
	struct clock clock;
	struct rng rng[NR_RNG_STREAMS];

	struct compact_control direct_cc;  /* compact.c; by tasks, one at a time */
	struct compact_control khugepaged_cc;
	struct compact_control contig_cc;  /* cma.c */
	struct capture *capture;           /* armed capture of the running task */
	struct scan_control direct_sc;     /* reclaim.c; by tasks, one at a time */
	struct scan_control khugepaged_sc;

	struct khugepaged khugepaged;
	uint32_t nr_cma;
	struct cma_area cma[MAX_CMA_AREAS];
	uint32_t nr_slab_caches;
	struct slab_cache slab[MAX_SLAB_CACHES];
	uint64_t swap_pages, swap_used;
	uint32_t swap_next;
	actor_id flusher;                  /* filemap.c; the folios under writeback: */
	region_id flush_region;
	uint32_t flush_from, flush_to;
	ns_t flush_until; /* the disk writes what the last step gave it */
	uint64_t nr_deferred_splits;       /* anonymous folios with unmapped parts; thp_split.c */
	pfn_t huge_zero;                   /* the shared huge zero page, PFN_NONE until first wanted */

	int64_t stat[NR_VM_GLOBAL_ITEMS];  /* enum vmstat_item - VM_GLOBAL_FIRST */
	struct trace_sink trace;
	struct { void (*fn)(void *ctx); void *ctx; } cut_short; /* model_on_cut_short() */
	bool booted;
	/* Reserved until boot ends, for model_free_init() */
	struct { pfn_t start, end; } init_memory[4];
	uint32_t nr_init_memory;
};

/* ==== accessors used everywhere ============================================================ */

static inline struct zone *zone_get(struct model *m, zone_id id)
{
	check(id.v < m->nr_zones);
	return &m->zone[id.v];
}

static inline struct node *node_get(struct model *m, node_id id)
{
	check(id.v < MAX_NODES);
	return &m->node[id.v];
}

/* NULL for a pfn without a zone. */
static inline struct zone *zone_of(struct model *m, pfn_t pfn)
{
	uint8_t z = m->map.zone_of_block[block_of(pfn).v];

	return z == ZONE_NONE.v ? NULL : &m->zone[z];
}

/* A watermark as the kernel's macros give it: boost included. */
static inline uint64_t zone_wmark(const struct zone *z, enum wmark w)
{
	return z->wmark[w] + z->boost;
}

static inline struct block *block_get(struct model *m, block_t b)
{
	check(b.v < m->map.nr_blocks);
	return &m->map.block[b.v];
}

/* The type a block was given; block_list_type() adds isolation. */
static inline enum migratetype block_type(struct model *m, pfn_t pfn)
{
	return (enum migratetype)(m->map.block[block_of(pfn).v].type_x ^ MIGRATE_MOVABLE);
}

/* Mirrors get_pageblock_migratetype() with isolation: the list that free pages of this block go to. */
static inline enum migratetype block_list_type(struct model *m, pfn_t pfn)
{
	const struct block *b = &m->map.block[block_of(pfn).v];

	return b->bits & BLOCK_ISOLATE ? MIGRATE_ISOLATE :
					 (enum migratetype)(b->type_x ^ MIGRATE_MOVABLE);
}

/* ---- counters: one add, no delta batching ------------------------------------------------- */

static inline void stat_event(struct model *m, enum vmstat_item item, int64_t n)
{
	m->stat[item - VM_GLOBAL_FIRST] += n;
}

static inline void stat_zone(struct zone *z, enum vmstat_item item, int64_t n)
{
	z->stat[item] += n;
}

static inline void stat_node(struct node *n, enum vmstat_item item, int64_t by)
{
	n->stat[item - VM_NODE_FIRST] += by;
}

static inline int64_t zone_free_pages(const struct zone *z)
{
	return z->stat[VM_NR_FREE_PAGES];
}

/* Is the kernel built with CONFIG_CMA? One with CMA areas is. */
static inline bool model_has_cma(const struct model *m)
{
	return m->profile->built_with_cma || m->config.nr_cma || m->nr_cma;
}

/* Mirrors compact_gap(). */
static inline uint64_t compact_gap(const struct model *m, unsigned order)
{
	uint64_t gap = 2ull << order;
	uint64_t cap = m->profile->compact_gap_cap_pages;

	return cap != 0 && gap > cap ? cap : gap;
}

#endif
