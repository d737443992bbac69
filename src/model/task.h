/* SPDX-License-Identifier: MIT */
/*
 * task.h - what simulated tasks do: operations cut into atoms.
 *
 * An operation is data plus a cursor. task_step() performs its next atom on behalf of the clock;
 * between two atoms of one operation other actors run. Parallel work is several tasks with an
 * operation each, on their own CPUs.
 */
#ifndef COMPACTLAB_MODEL_TASK_H
#define COMPACTLAB_MODEL_TASK_H

#include "model/types.h"

enum op_kind {
	OP_NONE,
	OP_TOUCH,    /* fault pages of an anon or shmem region in order of address */
	OP_POPULATE, /* MADV_POPULATE_WRITE: the same in one call */
	OP_RELEASE,  /* free pages chosen by `pick`: MADV_DONTNEED, hole punch, truncate */
	OP_PIN,      /* long-term pin */
	OP_UNPIN,
	OP_MLOCK,
	OP_MUNLOCK,
	OP_WRITE, /* buffered write to a page-cache file */
	OP_READ,
	OP_FILES,    /* create files of a REGION_SHMEM_SET */
	OP_KALLOC,   /* kernel-like requests: `count` chunks of `order` with `gfp` */
	OP_SLAB,     /* `count` objects of a cache */
	OP_COLLAPSE, /* MADV_COLLAPSE */
	OP_HUGETLB,  /* grow a hugetlb pool */
	OP_CMA_ALLOC,
	OP_COMPACT, /* compact_memory, or one node's file */
	OP_DROP_CACHES,
	OP_SLEEP,
};

/* Which pages OP_RELEASE frees. Positions count base pages from `index`; pfns are physical. */
enum pick {
	PICK_ALL,
	PICK_POSITION,     /* free if position % modulo == residue */
	PICK_NOT_POSITION, /* free if != */
	PICK_PFN,          /* free if pfn % modulo == residue */
	PICK_NOT_PFN,
	PICK_RANDOM,             /* free a share of `permille`, drawn from RNG_WORKLOAD */
	PICK_LIST,               /* free the positions of `list`, in its order */
	PICK_KEEP_ONE_PER_BLOCK, /* keep the lowest page of the region in each pageblock */
};
/* Order in which they are freed: it decides the order of the free lists. */
enum pick_order { PICK_ASCENDING, PICK_DESCENDING, PICK_PFN_ASCENDING, PICK_PFN_DESCENDING };

struct op {
	enum op_kind kind;
	region_id region;
	uint64_t index, count; /* base pages (or chunks, files, objects) */
	uint32_t step; /* OP_TOUCH, OP_PIN: every step-th page; OP_WRITE: pages a call; 0 = 1 */
	bool write;
	uint32_t leave_pages_node; /* 1 + node: stop when its free pages fall to leave_pages; 0 =
				      off */
	uint64_t leave_pages;
	enum pick pick;
	enum pick_order pick_order;
	uint32_t modulo, residue, permille;
	const uint32_t *list; /* PICK_LIST: `list_nr` positions, the caller's until the end */
	uint64_t list_nr;
	pin_id pin;
	uint32_t times;
	bool fault_in;
	unsigned order;
	gfp_t gfp;
	int cache;
	int node;      /* OP_COMPACT, OP_HUGETLB: -1 = all */
	unsigned what; /* OP_DROP_CACHES: 1, 2, 3; OP_CMA_ALLOC: area */
	ns_t sleep_ns; /* OP_SLEEP; OP_WRITE: the pause after each call */
	/* OP_TOUCH: told of each fault, page `index` of the region, 2^order pages; may be NULL. */
	void (*landed)(void *ctx, uint64_t index, unsigned order, ns_t start, ns_t end);
	void *landed_ctx;

	/* progress and result; zero at start */
	uint64_t cursor, cursor2;
	uint64_t done;   /* units achieved */
	uint64_t failed; /* units refused */
	int error;       /* first negative errno */
	bool finished;
	ns_t start, end;
	uint64_t base_pages[MAX_NODES], huge_pages[MAX_NODES]; /* where faults landed */
	uint64_t folios_of_order[NR_PAGE_ORDERS];              /* OP_WRITE, OP_TOUCH */
	ns_t longest_atom_ns;
};

int task_init(struct model *m) MUST_USE;
/* A task bound to a CPU, default policy. -ENOSPC above max_tasks. */
int task_new(struct model *m, cpu_id cpu, task_id *id) MUST_USE;
/* Ends it: its regions' pages are freed, pins dropped. Takes no simulated time. */
void task_exit(struct model *m, task_id id);
/* Frees what a killed task holds in anonymous memory; its regions stay, empty. Mirrors the OOM
 * reaper. Takes no simulated time. */
void task_reap(struct model *m, task_id id);
/* Frees a region's pages, pins and page tables, and the region. Takes no simulated time. */
void task_unmap(struct model *m, region_id region);
/* Starts an operation at the task's time; the task must be idle. Copies *op. 0, -EBUSY, -EINVAL. */
int task_start(struct model *m, task_id id, const struct op *op) MUST_USE;
/* One atom, called by the clock; true while there is more. */
bool task_step(struct model *m, task_id id) MUST_USE;

#endif
