/* SPDX-License-Identifier: MIT */
/*
 * registry.c - the policies of this directory; see model/policy.h. POLICIES(X) comes from the list
 * in meson.build.
 */
#include "model/policy.h"
#include "policy/policy_list.h"

#define X(name) extern const struct policy policy_##name;
POLICIES(X)
#undef X

#define X(name) &policy_##name,
const struct policy *const policy_registry[] = {POLICIES(X) NULL};
#undef X
