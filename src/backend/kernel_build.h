/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_BUILD_H
#define BACKEND_KERNEL_BUILD_H
/* The parts of cl_kernel_build() that need no compiler. */
#include "backend/kernel_tree.h"
#include <compactlab/kernel.h>

/*
 * What the kernel will be called: as asked, else by the version or the last part of the
 * path of the sources, and how it was built. -EINVAL when no folder can have that name.
 */
int build_name(const struct cl_kernel_build *ask, char *name, size_t size, struct cl_error *err);

/* Sum over all that goes in: sources, policies, configuration, compiler. */
int build_key(const struct cl_kernel_build *ask, const char *source, const char *scripts,
	      char key[TREE_ID], struct cl_error *err);
#endif
