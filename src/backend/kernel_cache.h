/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_CACHE_H
#define BACKEND_KERNEL_CACHE_H
/*
 * The images on disk: $XDG_CACHE_HOME/compactlab/kernels/NAME holds an unpacked
 * package. A directory appears there whole, by rename, so a reader needs no lock.
 */
#include <compactlab/kernel.h>
#include <stdio.h>

/* Kernels that can be fetched by a short name, newest first; ends with name NULL. */
struct kernel_source {
	const char *name;      /* what users type */
	const char *suite;     /* of Debian */
	const char *preferred; /* release that results in the documentation come from */
};
extern const struct kernel_source kernel_sources[];

/*
 * File in the folder of a kernel that was built: the sum over what went into it, and on the
 * next line "policies" or "plain".
 */
#define KERNEL_KEY "built-from"

/* Directory `name` below the cache, made if missing. Caller frees; NULL and *err. */
char *kernel_cache_directory(const char *name, struct cl_error *err);

/* Describe the image in an unpacked package. -ENOENT when it holds none. */
int kernel_cache_open(const char *directory, const char *name, struct cl_kernel *out,
		      struct cl_error *err);

/*
 * The tar archive of Debian's sources of a version, downloaded unless it is in the cache.
 * The caller frees *tarball.
 */
int kernel_fetch_source(const char *version, FILE *log, char **tarball, struct cl_error *err);
#endif
