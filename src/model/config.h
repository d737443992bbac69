/* SPDX-License-Identifier: MIT */
/*
 * config.h - what a machine is made from, and the settings that can change while it runs.
 *
 * Plain data without pointers into the model; zero-initialise, call model_config_defaults(), change
 * what you want. Sizes are in pages (4 KiB) or MiB as named. A backend fills it from a scenario's
 * [machine].
 */
#ifndef COMPACTLAB_MODEL_CONFIG_H
#define COMPACTLAB_MODEL_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "model/cost.h"
#include "model/gfp.h"
#include "model/profile.h"

#define CONFIG_MAX_NODES 16
#define MAX_CMA_AREAS    8
#define MAX_POLICY_NAME  64

/* ---- transparent huge pages: /sys/kernel/mm/transparent_hugepage -------------------------- */

enum thp_enabled { THP_ENABLED_ALWAYS, THP_ENABLED_MADVISE, THP_ENABLED_NEVER };
enum thp_defrag {
	THP_DEFRAG_ALWAYS,
	THP_DEFRAG_DEFER,
	THP_DEFRAG_DEFER_MADVISE,
	THP_DEFRAG_MADVISE,
	THP_DEFRAG_NEVER,
};
enum thp_size_enabled { THP_SIZE_NEVER, THP_SIZE_ALWAYS, THP_SIZE_INHERIT, THP_SIZE_MADVISE };
enum shmem_enabled {
	SHMEM_HUGE_NEVER,
	SHMEM_HUGE_ALWAYS,
	SHMEM_HUGE_WITHIN_SIZE,
	SHMEM_HUGE_ADVISE,
	SHMEM_HUGE_DENY,
	SHMEM_HUGE_FORCE,
};

struct thp_settings {
	enum thp_enabled enabled;
	enum thp_defrag defrag;
	enum thp_size_enabled size[PMD_ORDER + 1]; /* by order; 0 and 1 unused */
	bool use_zero_page;
	enum shmem_enabled shmem_enabled;
	bool khugepaged_defrag;
	uint32_t pages_to_scan, scan_sleep_ms, alloc_sleep_ms;
	uint32_t max_ptes_none, max_ptes_swap, max_ptes_shared;
};

/* ---- /proc/sys/vm ------------------------------------------------------------------------- */

struct sysctls {
	uint64_t min_free_kbytes;      /* effective value */
	uint64_t user_min_free_kbytes; /* last written by a user, 0 = never */
	uint32_t watermark_scale_factor;
	uint32_t watermark_boost_factor;
	uint32_t lowmem_reserve_ratio[4];
	uint32_t percpu_pagelist_high_fraction;
	uint32_t zone_reclaim_mode;
	uint32_t compaction_proactiveness;
	uint32_t extfrag_threshold;
	bool compact_unevictable_allowed;
	bool defrag_mode;
	uint32_t swappiness;
	uint32_t dirty_ratio, dirty_background_ratio;
	uint32_t vfs_cache_pressure;
};

/* ---- hardware ----------------------------------------------------------------------------- */

struct node_config {
	uint64_t mib; /* memory of the node; multiple of 2. Nodes follow each other in physical
		       * address; the address decides on DMA, DMA32 and Normal */
	uint64_t movable_mib; /* top part that forms ZONE_MOVABLE, usually 0 */
	uint16_t cpus;
	uint64_t reserved_mib; /* at the node's end: present but not managed (kernel image, memmap)
				*/
	uint8_t distance[CONFIG_MAX_NODES]; /* all zero: 10 to self, 20 to others */
};

/* A zone exactly as given, for tests and for snapshots; node_config.mib is ignored if any is
 * present. */
struct zone_config {
	uint8_t node;
	enum zone_class class;
	uint64_t start_pfn, spanned;
	uint64_t managed; /* 0: all; less than spanned: the last pages of the zone are reserved */
};

struct cma_config {
	uint8_t node;
	uint64_t mib; /* multiple of 2; taken from the top of the node's highest zone */
};

struct policy;

struct model_config {
	enum profile_id profile;
	char policy[MAX_POLICY_NAME]; /* "mainline", or names joined by '+' */
	const struct policy *more_policy; /* one that is not registered, or NULL; outlives the machine */
	uint64_t seed;

	uint32_t nr_nodes;
	struct node_config node[CONFIG_MAX_NODES];
	uint32_t nr_zones; /* explicit zones, see above; 0 = from node[] */
	struct zone_config zone[CONFIG_MAX_NODES * 4];
	bool flat;             /* no DMA, no DMA32, no hole: everything is Normal, from pfn 512 */
	uint32_t pci_hole_mib; /* below 4 GiB, if memory reaches there; default 1024 */
	uint32_t image_mib;    /* room for the kernel image of a PC, from 16 MiB on: it and the first
				* MiB are reserved; 0 = neither */
	uint32_t nr_cma;
	struct cma_config cma[MAX_CMA_AREAS];
	uint64_t swap_mib;

	struct sysctls sysctl; /* min_free_kbytes 0 = computed */
	struct thp_settings thp;
	struct cost_table cost;

	bool lru_batches;     /* model the LRU-add batches of the CPUs; default true */
	bool pcp;             /* false: no per-CPU lists (tests of the buddy alone); default true */
	bool daemons;         /* kswapd, kcompactd, khugepaged, flusher, tick run; default true */
	bool large_cpu_cache; /* CPUs with a large cache slice (a free_high rule of the pcp) */
	bool page_tables;     /* faults allocate page tables; default true */

	/* limits, all reserved at creation */
	uint32_t max_tasks;      /* default 256 */
	uint16_t max_regions;    /* default 4096 */
	uint32_t max_pin_sets;   /* default 1024 */
	uint32_t max_multi_pins; /* pages pinned more than once; default 65536 */
	uint64_t max_slots;      /* 0 = ten times the pages of the machine plus a margin */
};

#endif
