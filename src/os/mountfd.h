/* SPDX-License-Identifier: MIT */
#ifndef OS_MOUNTFD_H
#define OS_MOUNTFD_H
/*
 * Filesystems that are mounted nowhere: only a descriptor refers to them. They are
 * seen by nobody else and go away with the descriptor.
 */
struct mountfd_option {
	const char *key, *value; /* the list ends with a NULL key */
};

/* The root of a new mount of filesystem `type`, for openat(). Needs root and Linux 5.2. */
int mountfd_open(const char *type, const struct mountfd_option *options);
#endif
