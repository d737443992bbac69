/* SPDX-License-Identifier: MIT */
#ifndef GUEST_AS_BEFORE_H
#define GUEST_AS_BEFORE_H
/*
 * Is a machine as it was before? For the first process of a guest, which has the
 * machine for itself.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum aspect {
	ASPECT_SETTINGS,  /* each file of vm.* and thp.* */
	ASPECT_TRACES,    /* instances in tracefs: there are none */
	ASPECT_PROCESSES, /* there are none but ourselves and the kernel's */
	ASPECT_PINS,      /* pages pinned for long: there are none */
	ASPECT_FILES,     /* names and mounts */
	ASPECT_MEMORY,    /* free memory of each node */
	ASPECTS
};

#define AS_BEFORE_NODES 2
/* What the kernel keeps for itself differs by some hundred KiB from one look to the next. */
#define AS_BEFORE_SLACK (2 << 20)

struct before {
	json_t *settings, *files; /* {path: contents} */
	uint64_t free_bytes[AS_BEFORE_NODES];
};

/* Drop caches and look. */
void before_take(struct before *b);
void before_free(struct before *b);

/* Is this aspect as it was? When not, `how` says what differs. */
bool before_same(const struct before *b, enum aspect a, char *how, size_t size);
/* Paths of the settings that are not as before. */
json_t *before_changed(const struct before *b);
/* Have the kernel drop its caches, so that free memory can be compared. */
void before_settle(void);
/* Free memory of a node now, in the lists of its zones and of the CPUs. */
uint64_t before_free_bytes(int node);

/* Bury the children that ended. */
void before_reap(void);
const char *aspect_name(enum aspect a);
#endif
