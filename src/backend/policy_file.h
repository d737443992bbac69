/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_POLICY_FILE_H
#define BACKEND_POLICY_FILE_H
#include <compactlab/run.h>

struct policy;

/* The table in the file; NULL for NULL. */
const struct policy *policy_file_get(const struct cl_policy_file *f);
#endif
