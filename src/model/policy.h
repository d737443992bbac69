/* SPDX-License-Identifier: MIT */
/*
 * policy.h - kernel changes as tables of hooks over mainline.
 *
 * A policy (src/policy, one file each) is a const `struct policy` in which it fills only the hooks it
 * changes. When a machine is made, the named policies are laid over mainline from left to right into
 * one complete table; afterwards every hook is a plain call through m->policy, without a test for who is
 * active. "a+b" where both fill the same hook is an error (-EEXIST), because their order would decide.
 * A policy keeps no state of its own beyond what the machine has for it (two deferral sets a zone, a
 * random stream) and 16 words, zero at start.
 *
 * Hooks are at the places the published changes needed. A new one is added here, with mainline's answer
 * named, and called in exactly one place.
 */
#ifndef COMPACTLAB_MODEL_POLICY_H
#define COMPACTLAB_MODEL_POLICY_H

#include "model/types.h"

#define POLICY_WORDS 16

struct policy {
	const char *name;    /* "defer-async-v2" */
	const char *summary; /* one line for `list policies` */
	const char *thread;  /* where it was published: subject, list, month */

	/* -- compaction deferral. Mainline: defer_mainline_*() ------------------------------- */

	/* compact_try_pages(), prio > SYNC_FULL, and kcompactd (prio SYNC_LIGHT): suppress this attempt? */
	bool (*deferred)(struct model *m, struct zone *z, int order, enum compact_priority prio);
	/* After a run that ended COMPLETE or PARTIAL_SKIPPED, at every prio. Mainline ignores ASYNC. */
	void (*defer_failed)(struct model *m, struct zone *z, int order, enum compact_priority prio);
	/* Success, expected (real = false) or proved by an allocation. */
	void (*defer_reset)(struct model *m, struct zone *z, int order, bool real);
	/* compact_zone_begin(): reset the skip bits first (if the zone permits it)? */
	bool (*restart)(struct model *m, struct zone *z, const struct compact_control *cc);

	/* -- free scanner. Mainline: NULL, no second look -------------------------------------- */

	/* A linear pass with stride > 1 reached block_end and isolated nothing: true = scan once more from
	 * *pfn with the same stride. Draws from m->rng[RNG_POLICY]. May stay NULL. */
	bool (*free_resample)(struct model *m, struct compact_control *cc, pfn_t block_start,
			      pfn_t block_end, uint32_t stride, pfn_t *pfn);

	/* -- slow path. Mainline: NULL ------------------------------------------------------------ */

	/* Entry of alloc_slow(): the gfp the slow path works with. May stay NULL (unchanged). */
	gfp_t (*slow_gfp)(struct model *m, gfp_t gfp, unsigned order);
	/* Give up a costly NORETRY request for one node alone after its first compaction? May stay NULL (yes). */
	bool (*thisnode_gives_up)(struct model *m);
	/* A non-blocking request is about to drop NOFRAGMENT (P13): may it? May stay NULL (yes). */
	bool (*may_drop_nofragment)(struct model *m, gfp_t gfp, unsigned order);

	/* -- suitability. Mainline: NULL ---------------------------------------------------------- */

	/* Start of the order-0 test in compact_suitable() and compact_zonelist_suitable(): false = unsuitable.
	 * May stay NULL. */
	bool (*suitable)(struct model *m, struct zone *z, int order);

	/* -- THP ---------------------------------------------------------------------------------- */

	/* gfp of a THP or mTHP fault. Mainline: thp_mainline_gfp(). */
	gfp_t (*thp_gfp)(const struct model *m, bool advised);
	/* gfp of khugepaged. Mainline: khugepaged_mainline_gfp(). */
	gfp_t (*khugepaged_gfp)(const struct model *m, bool is_khugepaged);
	/* gfp of SLUB's high-order attempt. Mainline: slab_mainline_gfp(). */
	gfp_t (*slab_gfp)(gfp_t gfp, unsigned order, unsigned min_order);
	/* Changes defaults of a new machine (for example the defrag mode). Called by policy_defaults(), which a
	 * backend calls after model_config_defaults() and before it applies the scenario's own. NULL ok. */
	void (*defaults)(struct model_config *config);
	/* The bytes written to transparent_hugepage/defrag; -EINVAL. NULL: a whole-word match. */
	int (*parse_defrag)(const char *text, size_t len, enum thp_defrag *out);
	/* Those of a write to `enabled` that mainline refuses; -EINVAL. NULL: refused. */
	int (*parse_enabled)(const char *text, size_t len, enum thp_enabled *out);
};

/* The complete table of an unpatched kernel: every mandatory hook filled. */
extern const struct policy policy_mainline;

/* All policies but mainline, NULL-terminated: src/policy/registry.c. */
extern const struct policy *const policy_registry[];
/* Among the registered and `more`, which may be NULL. */
const struct policy *policy_find(const char *name, const struct policy *more);

/*
 * "mainline" or names joined by '+'. Checks and composes; *state is carved from the machine's arena.
 * 0, -ENOENT (unknown name), -EEXIST (two fill the same hook), -ENOMEM.
 */
int policy_compose(struct model *m, const char *names) MUST_USE;
/* Check without a machine; *bad points at the offending name. */
int policy_check(const char *names, const struct policy *more, const char **bad) MUST_USE;
/* Applies the `defaults` hooks of config->policy to a configuration. 0, -ENOENT, -EEXIST. */
int policy_defaults(struct model_config *config) MUST_USE;
/* A policy's words, shared by nobody else: slot by position in the composition. */
uint64_t *policy_words(struct model *m, const struct policy *p);

gfp_t khugepaged_mainline_gfp(const struct model *m, bool is_khugepaged);

/* ---- a policy in a file of its own ------------------------------------------------------------- */

/*
 * What a shared object exports as `compactlab_policy`. It is compiled against these headers, and the
 * sizes tell whether they were those of the program that loads it.
 */
struct policy_export {
	uint32_t policy_bytes, model_bytes;
	const struct policy *policy;
};

#define POLICY_EXPORT(p)                                                                           \
	const struct policy_export compactlab_policy = { sizeof(struct policy),                    \
							 sizeof(struct model), &(p) }

#endif
