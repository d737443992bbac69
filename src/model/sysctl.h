/* SPDX-License-Identifier: MIT */
/*
 * sysctl.h - settings by the names a user knows, with the kernel's parsing and its side effects.
 */
#ifndef COMPACTLAB_MODEL_SYSCTL_H
#define COMPACTLAB_MODEL_SYSCTL_H

#include "model/types.h"

/* Defaults of a booted kernel; also min_free_kbytes 0 = to be computed. */
void sysctl_defaults(struct sysctls *s, struct thp_settings *t);
/*
 * "vm.extfrag_threshold" = "500", or "transparent_hugepage/defrag" = "defer". Write-only files too
 * (vm.compact_memory and vm.drop_caches are operations, see task.h: -EOPNOTSUPP here).
 * 0, -ENOENT (name), -EINVAL (value), -EACCES (not in this profile, like vm.defrag_mode in 6.12).
 */
int sysctl_write(struct model *m, const char *name, const char *value) MUST_USE;
/* The text a read of the file would give. Bytes written (without the terminating 0), -ENOENT, -ENOSPC. */
int sysctl_read(const struct model *m, const char *name, char *buf, size_t size) MUST_USE;

#endif
