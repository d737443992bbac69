/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_KERNEL_H
#define COMPACTLAB_KERNEL_H
/*
 * Kernel images for the guest backend.
 *
 * Images are Debian packages, downloaded through apt (which verifies the
 * repository's signature and the package's checksum) with a private state
 * directory, and unpacked, never installed, into
 * $XDG_CACHE_HOME/compactlab/kernels/NAME/ (default ~/.cache).
 */
#include <compactlab/error.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

struct cl_kernel {
	char name[64];     /* short name users type, such as "7.3" */
	char release[128]; /* uname -r of the image, read from the image itself */
	char path[1024];   /* bzImage */
	char modules[1024]; /* directory of its modules, or "" */
};

/*
 * Find an image: a short name ("7.3", "6.12"), a longer version ("7.3.4"), a full
 * release, or the path of a bzImage. NULL: the newest in the cache.
 * -EOPNOTSUPP with the command to fetch it when it is not there.
 */
int cl_kernel_find(const char *name, struct cl_kernel *out, struct cl_error *err);

/* Download and unpack `name`; a no-op when it is there. `log` gets progress lines, or NULL. */
int cl_kernel_fetch(const char *name, FILE *log, struct cl_kernel *out, struct cl_error *err);

/* All images in the cache and all that can be fetched by short name. Caller frees *out. */
struct cl_kernel_entry {
	struct cl_kernel kernel;
	int cached;
};
int cl_kernel_list(struct cl_kernel_entry **out, unsigned *count, struct cl_error *err);

#ifdef __cplusplus
}
#endif
#endif
