/* SPDX-License-Identifier: MIT */
/*
 * migrate.h - moving folios: batches, passes, and who fails how.
 *
 * Knows nothing of compaction: targets come from a callback. Sources are isolated folio heads (off their LRU
 * or movable-ops pages); at return each is either moved and freed, or still in the caller's array.
 */
#ifndef COMPACTLAB_MODEL_MIGRATE_H
#define COMPACTLAB_MODEL_MIGRATE_H

#include "model/types.h"

struct migrate_ops {
	/* A held chunk of this order for the folio, PFN_NONE = no memory. */
	pfn_t (*get_target)(struct model *m, void *ctx, pfn_t src, unsigned order);
	/* Takes back a target that was not used. */
	void (*put_target)(struct model *m, void *ctx, pfn_t dst, unsigned order);
	void *ctx;
};

struct migrate_result {
	uint32_t succeeded;  /* base pages, as pgmigrate_success counts them */
	uint32_t failed;     /* base pages counted in pgmigrate_fail */
	uint32_t left;       /* folios left in the array */
	bool no_target;      /* -ENOMEM: the batch ended for want of a target */
};

/*
 * Mirrors migrate_pages(): list[*nr] is a stack, the last entry is tried first. Failed and untouched folios
 * stay in the list (compacted, order kept); the caller puts them back. A large folio without a target is
 * split, so the array must have room for the folios' base pages, at most MIGRATE_LIST_MAX together.
 * Counts pgmigrate_*, thp_migration_*, emits the two migrate events (the compaction event is the caller's).
 */
struct migrate_result migrate_pages(struct model *m, pfn_t *list, uint32_t *nr,
				    const struct migrate_ops *ops, enum migrate_mode mode,
				    enum migrate_reason reason);

/* Migration of the collected folios to any page a gfp gives, on node nid: long-term pins, contig ranges,
 * mbind. Mirrors alloc_migration_target(). */
struct migrate_target_control {
	node_id nid;
	nodemask_t mask;
	gfp_t gfp;
};
pfn_t migrate_alloc_target(struct model *m, void *ctx, pfn_t src, unsigned order);
void migrate_free_target(struct model *m, void *ctx, pfn_t dst, unsigned order);

/* References on the folio beyond those migration expects (pins), rechecked at the freeze point. */
bool migrate_has_extra_refs(const struct model *m, pfn_t head);

#endif
