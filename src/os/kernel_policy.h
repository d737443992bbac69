/* SPDX-License-Identifier: MIT */
#ifndef OS_KERNEL_POLICY_H
#define OS_KERNEL_POLICY_H
/* The policies of the running kernel: vm.compactlab_policy, in kernels that `kernel build` made. */
#include "os/watchdog.h"
#include <compactlab/error.h>

/* -EOPNOTSUPP, with the way to get a kernel that has it, when it cannot be chosen here. */
int kernel_policy_probe(const char *policy, struct cl_error *err);

/* The advice of that error, as the guest backend gives it too; returns -EOPNOTSUPP. */
int kernel_policy_missing(struct cl_error *err);

/* Choose it; the watchdog puts the old one back. Nothing for mainline on any other kernel. */
int kernel_policy_apply(struct watchdog *w, const char *policy, struct cl_error *err);

/* The active ones as the kernel says; "mainline" for a kernel that has none. Caller frees. */
char *kernel_policy_read(void);
#endif
