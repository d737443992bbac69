/* SPDX-License-Identifier: MIT */
#ifndef PROCFS_KLOG_H
#define PROCFS_KLOG_H
/*
 * The kernel log: what it says about memory that could not be had.
 *
 * Three layers. klog_strip() takes what a logger put in front of a line. A reader is fed
 * line by line and assembles the lines of a report (header, stack, memory state, free
 * lists) into one `struct klog_event`, which it hands to a callback when the report is
 * over. Nothing is kept of lines that say nothing about memory, so a log of any size is
 * read in constant memory.
 *
 * Reports of two CPUs may be interleaved. Where the log carries the printing thread
 * ("[ T123]", "[ C0]") they are told apart; otherwise lines go to the report that began
 * last, and what contradicts is left out and counted.
 */
#include <compactlab/error.h>
#include "procfs/gfp.h"
#include "procfs/procfs.h"
#include "procfs/span.h"

/* ---- the front of a line ------------------------------------------------------------ */

struct klog_prefix {
	bool kernel_log; /* a logger's mark was found at all */
	bool has_time;
	uint64_t time_us; /* kernel clock, or the logger's when that is all there is */
	bool wall_clock;
	uint32_t caller; /* of "[ T12]" and the like, 0 when not printed */
	bool has_comm;   /* Android names the task */
	char comm[32];
	struct span host; /* name of the machine, so that it can be kept out of what is printed */
};

/* What remains of a line after mail quoting and the logger's prefix, in any style. */
struct span klog_strip(struct span line, struct klog_prefix *prefix);

/* ---- a report ----------------------------------------------------------------------- */

enum klog_kind {
	KLOG_FAILURE, /* page allocation failure */
	KLOG_OOM,     /* invoked oom-killer */
	KLOG_STALL,   /* page allocation stalls for N ms (4.10 to 4.14) */
	KLOG_SLUB,    /* SLUB: Unable to allocate memory on node N */
	KLOG_CMA,     /* cma_alloc failed, PFNs busy */
	KLOG_HUGETLB, /* Only allocated N hugepages */
	KLOG_LOCKUP,  /* soft lockup, RCU stall, hung task */
	KLOG_VMALLOC, /* no address space, or pages for vmalloc */
	KLOG_DUMP     /* memory state without a header: SysRq-m, or the beginning is cut off */
};

enum klog_type {                   /* letters behind a count in a free list */
		 KLOG_TYPE_U = 1,  /* Unmovable */
		 KLOG_TYPE_M = 2,  /* Movable */
		 KLOG_TYPE_E = 4,  /* Reclaimable */
		 KLOG_TYPE_H = 8,  /* HighAtomic */
		 KLOG_TYPE_C = 16, /* CMA */
		 KLOG_TYPE_I = 32, /* Isolate */
		 KLOG_TYPE_R = 64  /* Reserve, before 4.4 */
};

struct klog_zone {
	int node; /* 0 where none is printed */
	char name[PROCFS_NAME];
	int state_line, list_line; /* 0: not printed */
	/* "DMA32 free:22876kB min:6232kB ..." */
	uint64_t free_kb, min_kb, low_kb, high_kb, boost_kb;
	uint64_t reserved_highatomic_kb, free_highatomic_kb, free_cma_kb;
	uint64_t present_kb, managed_kb;
	uint64_t active_file_kb, inactive_file_kb, slab_reclaimable_kb, slab_unreclaimable_kb;
	uint64_t pages_scanned;
	bool all_unreclaimable;
	unsigned reserves;
	uint64_t reserve_pages[PROCFS_MAX_ZONES]; /* lowmem_reserve[], by class */
	/* "DMA32: 5809*4kB (UME) ... = 23260kB" */
	unsigned orders, page_kb;
	uint64_t blocks[PROCFS_MAX_ORDERS];
	uint8_t types[PROCFS_MAX_ORDERS]; /* klog_type; 0 where no letter is printed */
	bool has_types;
	bool has_total;
	uint64_t total_kb; /* as printed */
};

struct klog_frame {
	char function[64];
	char module[32];
	bool doubtful; /* "? function": left over on the stack, or not */
};

/* Machine-wide counts in pages; UINT64_MAX where not printed. */
enum klog_count {
	KLOG_ACTIVE_ANON,
	KLOG_INACTIVE_ANON,
	KLOG_ACTIVE_FILE,
	KLOG_INACTIVE_FILE,
	KLOG_UNEVICTABLE,
	KLOG_DIRTY,
	KLOG_WRITEBACK,
	KLOG_SLAB_RECLAIMABLE,
	KLOG_SLAB_UNRECLAIMABLE,
	KLOG_SHMEM,
	KLOG_FREE,
	KLOG_FREE_CMA,
	KLOG_PAGETABLES,
	KLOG_PAGECACHE, /* N total pagecache pages */
	KLOG_RAM,       /* N pages RAM */
	KLOG_RESERVED,  /* N pages reserved */
	KLOG_CMA_RESERVED,
	KLOG_SWAP_FREE_KB,
	KLOG_SWAP_TOTAL_KB,
	KLOG_COUNTS
};

#define KLOG_FRAMES 40

struct klog_event {
	enum klog_kind kind;
	int line, last_line;
	bool has_time;
	uint64_t time_us;
	unsigned repeats; /* how often it was seen, at least 1; set by whoever keeps events */

	char comm[32];
	int pid;
	char kernel[64]; /* release as printed */
	uint32_t version;
	int order; /* -1: not known */
	bool has_gfp, gfp_named;
	uint64_t gfp_mask;
	uint32_t gfp;
	bool memcg;         /* the limit of a memory cgroup */
	bool policy_bound;  /* limited by cpuset or memory policy */
	bool interrupt;     /* requested in an interrupt */
	bool truncated;     /* the report broke off */
	unsigned odd_lines; /* lines that could not be fitted in */
	unsigned frames;
	struct klog_frame frame[KLOG_FRAMES];

	bool memory_state; /* a "Mem-Info" was there, with or without zones */
	uint64_t count[KLOG_COUNTS];
	int count_line;
	unsigned zones;
	struct klog_zone *zone;

	uint64_t stall_ms;
	/* slub */
	char cache[64]; /* without the cgroup suffix */
	bool cache_cgroup;
	int cache_order, cache_min_order;
	/* cma; hugetlb: wanted, got, page_kb */
	uint64_t wanted, got;
	bool has_got;
	uint64_t page_kb;
	int ret;              /* -12, -16; 0 when not printed */
	uint64_t busy_ranges; /* PFNs busy lines */
	uint64_t run_pages;   /* biggest free run of the area, 0 when not printed */
	uint64_t area_free_pages, area_pages;
	bool area_known;
	bool final_failure; /* a driver said that it gave up */
	/* lockup */
	uint64_t stuck_s;
};

void klog_event_free(struct klog_event *e);

/* ---- the reader --------------------------------------------------------------------- */

struct klog_reader;

/* `done` receives each completed event and owns it: klog_event_free() when finished. */
struct klog_reader *klog_reader_new(void (*done)(void *arg, struct klog_event *event), void *arg);
/*
 * One line of a log. Returns true when it said something about memory, or belongs to a
 * report that does. `line` is its number in the input. `begins`: the line may begin a
 * report; a caller that has looked for the words of klog_begin_words already saves the
 * reader from looking again, any other says true.
 */
bool klog_reader_line(struct klog_reader *r, struct span text, int line, bool begins);
/* One of these is in every line that begins a report or is one by itself. NULL at the end. */
extern const char *const klog_begin_words[];
/* The log ends: hand out what is open. */
void klog_reader_end(struct klog_reader *r);
void klog_reader_free(struct klog_reader *r);

/* ---- pieces, for tests and for text that has no reader ------------------------------ */

/* "[Node 0 ]DMA32: 12*4kB (UME) ... = 123kB"; also with the asterisks turned to '_'. */
bool klog_free_list(struct span text, struct klog_zone *z);
/* "[Node 0 ]DMA32 free:22876kB min:6232kB ..." */
bool klog_zone_state(struct span text, struct klog_zone *z);
/* What a mailer wrapped to the next line: more blocks of a list, more fields of a state. */
bool klog_free_list_more(struct span text, struct klog_zone *z);
bool klog_zone_state_more(struct span text, struct klog_zone *z);
/* The last "function+0x12/0x34 [module]" of a line. */
bool klog_frame(struct span text, struct klog_frame *f);
/* Sum of the free list in kB. */
uint64_t klog_zone_sum_kb(const struct klog_zone *z);
#endif
