/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_IMAGE_H
#define BACKEND_GUEST_IMAGE_H
/*
 * What a guest boots from besides its kernel. Both images are files without a name:
 * they are gone when the last descriptor closes, however the runner ends.
 */
#include "backend/backend.h"

/*
 * The program that becomes init: beside this executable (or one folder up, where
 * tests lie), else where it is installed. -EOPNOTSUPP when it is nowhere.
 */
int guest_program(char *path, size_t size, struct cl_error *err);

/* What init needs to make the same plan, in /run of the initramfs. */
struct guest_order {
	char *file; /* of the scenario, for messages */
	char *variant;
	unsigned repeat;
	uint64_t seed; /* of the first repeat, as plan_resolve() takes it */
};
char *guest_order_print(const struct plan *plan);
int guest_order_parse(char *text, struct guest_order *out); /* points into the text */

/*
 * An initramfs with init, the scenario and the order. Returns a descriptor. It stays
 * in the guest's first node while it runs, so it holds nothing else.
 */
int guest_initramfs(const struct backend_run *run, struct cl_error *err);

/* A sparse file of `bytes` in $TMPDIR with an empty ext4 on it. Returns a descriptor. */
int guest_disk(uint64_t bytes, struct cl_error *err);
/* Can guest_disk() work here? */
int guest_disk_probe(struct cl_error *err);
#endif
