/* SPDX-License-Identifier: MIT */
/*
 * model.h - the machine as its users see it: backend, tests, benchmarks. Map of the modules at the
 * end.
 *
 * One machine is used by one thread. Functions return negative errno; nothing prints. After
 * creation no function here allocates memory except model_text() (the stream is the caller's).
 */
#ifndef COMPACTLAB_MODEL_MODEL_H
#define COMPACTLAB_MODEL_MODEL_H

#include <stdio.h>

#include "model/layout.h"
#include "model/policy.h"
#include "model/task.h"
#include "model/types.h"
#include "model/validate.h"

/* ---- making and ending a machine ---------------------------------------------------------- */

/* Profile C, policy mainline, one node of 4096 MiB with 2 CPUs, kernel defaults. */
void model_config_defaults(struct model_config *config);
/*
 * Boots: all memory free but what boot reserves; clock at 0. *why (static text) says what was
 * wrong. 0, -EINVAL (configuration), -ENOENT/-EEXIST (policy), -ENOMEM (address space).
 */
int model_create(const struct model_config *config, struct model **out, const char **why) MUST_USE;
void model_destroy(struct model *m);
/* Frees what the kernel's image needed to boot alone, on this CPU: free_initmem() and its like. */
void model_free_init(struct model *m, unsigned cpu);

/* ---- tasks and what they own -------------------------------------------------------------- */

int model_task(struct model *m, unsigned cpu, task_id *out) MUST_USE;
void model_task_policy(struct model *m, task_id task, const struct mempolicy *policy);
void model_task_cpu(struct model *m, task_id task, unsigned cpu);
void model_task_exit(struct model *m, task_id task);

/* Anonymous memory; addr 0 = the next 2 MiB boundary + nothing in it. */
int model_mmap(struct model *m, task_id task, uint64_t bytes, enum advice advice,
	       region_id *out) MUST_USE;
/* A page-cache file or a tmpfs file of this size (sparse). max_order 0..9. */
int model_file(struct model *m, uint64_t bytes, unsigned max_order, region_id *out) MUST_USE;
int model_shmem(struct model *m, task_id task, uint64_t bytes, bool huge, region_id *out) MUST_USE;
/* `files` tmpfs files of `bytes_each`; OP_FILES creates them. */
int model_shmem_set(struct model *m, uint64_t files, uint64_t bytes_each, region_id *out) MUST_USE;
/* Chunks for OP_KALLOC, OP_HUGETLB, OP_CMA_ALLOC. */
int model_pool(struct model *m, enum region_kind kind, uint64_t chunks, region_id *out) MUST_USE;
void model_advise(struct model *m, region_id region, enum advice advice);
void model_region_policy(struct model *m, region_id region, const struct mempolicy *policy);
/* Frees all pages (no simulated time) and the region. */
void model_munmap(struct model *m, region_id region);

/* ---- running ------------------------------------------------------------------------------ */

/* Starts an operation; several tasks' operations started at one time run interleaved. */
int model_start(struct model *m, task_id task, const struct op *op) MUST_USE;
/* Runs until no operation is left. Tasks then stand at the same time: the latest. */
void model_run(struct model *m);
/* Start, run, copy the operation's results to *op. For steps with one task. */
int model_do(struct model *m, task_id task, struct op *op) MUST_USE;
/* Result of a task's last operation. */
const struct op *model_result(const struct model *m, task_id task);
/* Daemons and timers run for this long. */
void model_sleep(struct model *m, ns_t ns);
ns_t model_now(const struct model *m);

/* ---- settings and reading ----------------------------------------------------------------- */

int model_set(struct model *m, const char *name, const char *value) MUST_USE; /* see sysctl.h */
enum model_text {
	TEXT_VMSTAT,
	TEXT_BUDDYINFO,
	TEXT_PAGETYPEINFO,
	TEXT_ZONEINFO,
	TEXT_PRESSURE_MEMORY,
	TEXT_MEMINFO,
	TEXT_EXTFRAG_INDEX,
};
void model_text(struct model *m, enum model_text what, FILE *out);
/* Mirrors vm.stat_refresh: as a tick does, it lets the CPUs' page lists shrink. */
void model_stat_refresh(struct model *m);
/* All counters, values[NR_VMSTAT] in enum order. */
void model_counters(const struct model *m, int64_t *values);
const char *model_counter_name(enum vmstat_item item);
bool model_counter_printed(const struct model *m, enum vmstat_item item);
/* Simulated time that the kswapd threads of all nodes worked. */
ns_t model_kswapd_ns(const struct model *m);
void model_trace(struct model *m, void (*fn)(void *ctx, const struct trace_event *ev), void *ctx);
/* Only these events from now on: bit i is enum trace_id i. */
void model_trace_only(struct model *m, uint32_t mask);
/*
 * Calls fn where the last operation ends in the middle of a daemon's run, which on a machine goes
 * on beside what comes next and here is ended first: only fn sees the machine as it was then.
 */
void model_on_cut_short(struct model *m, void (*fn)(void *ctx), void *ctx);
/* Did the last operation end so, with nothing done since? */
bool model_was_cut_short(const struct model *m);
/* Writes all dirty pages back: sync(). */
void model_sync(struct model *m);

/*
 * 64 bits over everything that can influence the future: page states, flags, owners, list orders
 * (not positions), zones, nodes, daemons, clock, random streams, settings, counters. Equal machines
 * give equal hashes on every compiler and architecture. Does not touch untouched memory.
 */
uint64_t model_state_hash(struct model *m);

/* Bytes of host memory resident now. */
uint64_t model_bytes_resident(const struct model *m);

/*
 * ==== Map ========================================================================================
 *
 * Callees are below their callers; a module calls its own row and lower rows only, with the
 * exceptions marked (^): wake-ups and hooks, which only record or call through a table.
 *
 *   machine.c       create, boot, destroy, the functions above        model.h
 *   task.c          operations into atoms                             task.h
 *   layout.c        physical states for tests and snapshots           layout.h
 *   ------------------------------------------------------------------------------------------------
 *   thp.c thp_split.c thp_khugepaged.c   faults, splits, collapse      thp.h
 *   filemap.c shmem.c slab.c             page cache, tmpfs, objects    filemap.h shmem.h slab.h
 *   pin.c cma.c                          long-term pins, contig ranges pin.h cma.h
 *   mempolicy.c     node choice, local-first attempt                  mempolicy.h
 *   ------------------------------------------------------------------------------------------------
 *   alloc_slow.c alloc_slow_ab.c alloc_retry.c    slow path            alloc.h
 *   alloc.c         fast path, walk, rmqueue, free_pages              alloc.h   (^ kswapd_wake)
 *   ------------------------------------------------------------------------------------------------
 *   kcompactd.c     background compaction                             kcompactd.h
 *   kswapd.c        background reclaim       (^ kcompactd_wake)       reclaim.h
 *   reclaim.c shrink.c    direct reclaim, one node's pass             reclaim.h  (slab_shrink: ^)
 *   compact_entry.c try_to_compact_pages, compact_node                compact.h
 *   compact.c compact_suit.c compact_skip.c       the run              compact.h
 *   scan_migrate.c scan_free.c                    the scanners         compact.h
 *   migrate.c       batches and passes       (thp_split: ^)           migrate.h
 *   defer.c         deferral                                          defer.h
 *   ------------------------------------------------------------------------------------------------
 *   zonelist.c watermark.c   order of zones, marks and the test       zonelist.h watermark.h
 *   pcp.c           per-CPU lists            (^ kswapd_pcp_flushed)   pcp.h
 *   fallback.c      claim and steal                                   fallback.h
 *   buddy.c buddy_block.c    free lists; retype, isolate, highatomic   buddy.h   (^
 * compact_capture) lru.c           LRU lists and batches                             lru.h owner.c
 * regions, slots, reverse mapping                   owner.h memmap.c        page states and block
 * counts                      memmap.h
 *   ------------------------------------------------------------------------------------------------
 *   clock.c         actors, time, waiting    (^ step functions)       clock.h
 *   policy.c trace.c sysctl.c stats.c validate.c hash.c               same names; hash: model.h
 *   ring.c arena.c rng.c cost.c profile.c check.c                     no knowledge of the machine
 *
 * How one madvised huge-page fault travels: task_step > thp_fault > mempolicy_alloc (THISNODE +
 * NORETRY) > alloc_pages > alloc_walk (watermark_fast, alloc_rmqueue > pcp_alloc > fallback_bulk >
 * buddy_take) > alloc_slow > alloc_direct_compact > compact_try_pages (policy->deferred) >
 * compact_zone (scan_migrate_*, migrate_pages with scan_free_target, compact_finished) > alloc_walk
 * > PFN_NONE; the second try; then owner_attach, lru_add, clock_charge(ZERO_PAGE, 512).
 *
 * ==== Three groups, in order of bringing up
 * =======================================================
 *
 *   allocation   buddy buddy_block zonelist watermark fallback pcp alloc stats stats_text
 * alloc_retry alloc_slow alloc_slow_ab validate (its lists half) compaction   compact_suit
 * scan_migrate migrate scan_free compact compact_skip compact_entry kcompactd trace users clock
 * owner lru layout machine task thp mempolicy thp_split pin shrink reclaim kswapd filemap shmem
 * slab cma thp_khugepaged sysctl hash validate (its owners half)
 *
 * A group needs from another only what the headers promise. A function not written yet aborts by
 * its name (NOT_YET in check.h), so everything links from the first day.
 *
 * ==== Rules that hold everywhere
 * ==================================================================
 *
 *   - No module stores into another module's fields; the owner is named at each struct.
 *   - A page is in exactly one life (types.h) at every return from a function of this list.
 *   - Functions that may run daemons (clock_point, clock_wait) are: compact_zone, shrink_node,
 *     alloc_slow*, reclaim_try_to_free. Their callers hold no page that is on a list, only held
 * chunks and isolated folios, and reread what they need afterwards.
 *   - Counters are counted where the kernel counts them, also where the code jumps over pages.
 *   - No floating point, no host clock, no address, no hash-table order in anything that decides.
 */

#endif
