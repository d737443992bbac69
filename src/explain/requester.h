/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_REQUESTER_H
#define EXPLAIN_REQUESTER_H
/* What functions in a stack mean, and which of them asked for the memory. */
#include "procfs/klog.h"

struct requester {
	char function[64]; /* "" when the stack does not tell */
	char module[32];
};

/* The first function that is not the allocator's or a helper's. */
void requester_find(const struct klog_event *e, struct requester *out);
/* A set of 1 << SEEN_..., 0 for functions that say nothing. */
unsigned function_parts(const char *function);
#endif
