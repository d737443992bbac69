/* SPDX-License-Identifier: MIT */
#ifndef SNAPSHOT_SNAPSHOT_MODEL_H
#define SNAPSHOT_SNAPSHOT_MODEL_H
/*
 * A machine of the model in the state that a snapshot shows.
 *
 *	struct snapshot *s;
 *	struct snapshot_machine machine;
 *	struct model_config config;
 *
 *	snapshot_load(path, &s, err);
 *	model_config_defaults(&config);
 *	snapshot_profile(s, &config.profile, err);
 *	snapshot_machine_new(s, &config, &machine, err);
 *	... machine.m ...
 *	snapshot_machine_free(&machine);
 *
 * The clock is at 0, nobody runs, the settings are the snapshot's. What a snapshot cannot show is
 * fresh (skip bits, cached positions of the scanners, deferral), in order of address (free lists,
 * LRU lists) or guessed: see struct layout_guess, and layout_snapshot.c for how.
 */
#include "model/model.h"
#include "snapshot/snapshot.h"

/* The memory of a step of the run that took the snapshot. */
struct snapshot_held {
	const char *step; /* the snapshot's */
	task_id task;     /* whose it is, on the first CPU */
	region_id region;
	uint64_t pages; /* positions; some may be empty */
	uint64_t present;
	bool pinned;
	pin_id pin; /* of all its pages, when it is pinned */
};

struct snapshot_machine {
	struct model *m;
	bool inside; /* the snapshot shows the kernel's own state; nothing but pins was guessed */
	struct layout_guess guess;
	unsigned unknown_settings; /* that the model does not have */
	unsigned helds;
	struct snapshot_held *held;
};

/* The model's version that is nearest to the kernel of the snapshot. -EOPNOTSUPP: none is. */
int snapshot_profile(const struct snapshot *s, enum profile_id *id, struct cl_error *err);
/*
 * `config` says profile, policy, seed, costs and limits; zones and CPUs in it are replaced by the
 * snapshot's. -EINVAL: texts and pages of the snapshot do not agree.
 */
int snapshot_machine_new(const struct snapshot *s, struct model_config *config,
			 struct snapshot_machine *out, struct cl_error *err);
void snapshot_machine_free(struct snapshot_machine *machine);
#endif
