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
	char name[64];      /* short name users type, such as "7.3" */
	char release[128];  /* uname -r of the image, read from the image itself */
	char path[1024];    /* bzImage */
	char modules[1024]; /* directory of its modules, or "" */
	int file;           /* an image given as a file, of which no more is known */
	int built;          /* made by cl_kernel_build(), not fetched */
	int policies;       /* built with vm.compactlab_policy */
};

/*
 * Find an image: a short name ("7.3", "6.12"), a longer version ("7.3.4"), a full
 * release, or the path of a bzImage. NULL: the newest in the cache that was fetched. One
 * that was built is found by its name or its full release only.
 * -EOPNOTSUPP with the command to fetch it when it is not there.
 */
int cl_kernel_find(const char *name, struct cl_kernel *out, struct cl_error *err);

/* Download and unpack `name`; a no-op when it is there. `log` gets progress lines, or NULL. */
int cl_kernel_fetch(const char *name, FILE *log, struct cl_kernel *out, struct cl_error *err);

/*
 * Build a kernel with the policies in it, chosen at run time by vm.compactlab_policy, from
 * Debian's sources or from a user's own. What was built before from the same sources,
 * policies and configuration is there at once; after a change only that is compiled.
 */
struct cl_kernel_build {
	const char *version; /* of Debian's sources; NULL: the newest known */
	const char *source;  /* folder or tar archive to build instead, or NULL */
	const char *config;  /* file of CONFIG_ lines over ours, or NULL */
	const char *name;    /* what it will be called; NULL: made from the above */
	const char *only;    /* target of make to build instead of an image, such as "mm/" */
	unsigned jobs;       /* of make; 0: one for each CPU */
	int no_policies;     /* the sources as they are */
	int debug;           /* with lock checking and VM assertions */
};
/* With `only`, *out is empty when it is over. */
int cl_kernel_build(const struct cl_kernel_build *ask, FILE *log, struct cl_kernel *out,
		    struct cl_error *err);

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
