/* SPDX-License-Identifier: MIT */
#ifndef WHATIF_WHATIF_H
#define WHATIF_WHATIF_H
/*
 * "What if": the state of a machine as its tables show it, made into a machine of the model, on
 * which each remedy is tried.
 *
 *   evidence --whatif_state--> counts by zone --whatif_plan--> one kind for every page
 *            --whatif_machine--> a model in that state --whatif_try--> predictions
 *
 * A snapshot has every page: then there is no plan, and the machine is made from it.
 *
 * Only whatif_state.c knows the evidence, only whatif_machine.c and whatif_try.c the model.
 */
#include <compactlab/error.h>
#include "explain/prediction.h"
#include "model/gfp.h"
#include <stdbool.h>
#include <stdint.h>

#define WHATIF_ZONES 64
#define WHATIF_NODES 16

struct snapshot;

/* What a page is used for. Pages of one kind are alike for compaction and for every remedy. */
enum whatif_kind {
	WHATIF_FREE,
	WHATIF_BODY,    /* behind the first page of a huge page */
	WHATIF_THP,     /* first page of one */
	WHATIF_HUGETLB, /* the same, of the pool */
	WHATIF_ANON,
	WHATIF_ANON_ACTIVE,
	WHATIF_ANON_PINNED,
	WHATIF_FILE,
	WHATIF_FILE_ACTIVE,
	WHATIF_FILE_DIRTY,
	WHATIF_SHMEM, /* tmpfs, and files that are mapped: drop_caches leaves both */
	WHATIF_UNEVICTABLE,
	WHATIF_SLAB_RECLAIMABLE,
	WHATIF_SLAB,
	WHATIF_PAGE_TABLE,
	WHATIF_KERNEL,
	WHATIF_KINDS
};

struct whatif_zone {
	unsigned node;
	enum zone_class class;
	char name[16];
	uint64_t managed;                 /* pages; holes and what boot kept are left out */
	uint64_t blocks[NR_MIGRATETYPES]; /* pageblocks by type */
	uint64_t chunks[NR_MIGRATETYPES][NR_PAGE_ORDERS];
	uint64_t pages[WHATIF_KINDS]; /* used pages; huge ones in pages too */
	uint64_t first;               /* page of the plan; zones follow each other */
};

struct whatif_request {
	bool fault; /* huge page faults; else requests of the kernel's own */
	bool advised;
	unsigned order, count;
	gfp_t gfp;
};

struct whatif_state {
	unsigned zones, nodes;
	struct whatif_zone zone[WHATIF_ZONES];
	unsigned cpus[WHATIF_NODES];
	uint64_t min_free_kb, swap_mib;
	unsigned watermark_scale; /* 0: the default */
	char kernel[16];          /* "6.12"; "" when not known */
	char thp_enabled[16], thp_defrag[16];
	unsigned scale; /* counts were divided by this */
	struct whatif_request request;
	struct snapshot *snapshot; /* the pages themselves; NULL: only sums are known */
};

struct what_if;
void whatif_assume(struct what_if *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Free blocks of a pageblock or more, in pageblocks; not those set aside for few requests. */
uint64_t whatif_free_blocks(const struct whatif_state *s);

/* ---- the plan: whatif_plan.c -------------------------------------------------------------- */

/* Every page of every zone, and the type of every block. */
struct whatif_plan {
	uint64_t pages;
	uint8_t *kind;      /* enum whatif_kind */
	uint8_t *type;      /* enum migratetype, one a pageblock */
	uint64_t misplaced; /* free pages for which there was no room */
};

/* Same state, same plan. 0, -ENOMEM. */
int whatif_plan_make(struct whatif_state *s, struct what_if *w, struct whatif_plan *out);
void whatif_plan_free(struct whatif_plan *p);

/* ---- the trials: whatif_try.c ------------------------------------------------------------- */

/* Fill in w->prediction. 0, -ENOMEM, -EINVAL (the model does not take such a machine). */
int whatif_try_all(const struct whatif_state *s, const struct whatif_plan *p, struct what_if *w,
		   struct cl_error *err);
#endif
