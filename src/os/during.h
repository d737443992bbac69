/* SPDX-License-Identifier: MIT */
#ifndef OS_DURING_H
#define OS_DURING_H
/* A step that happens in the midst of another: pins that go while memory is faulted in. */
#include "os/exec.h"

/* The unpin step that happens during fault step `fault`, or 0. */
unsigned during_unpin(const struct plan *p, unsigned fault);

/* Run the fault step's operation on `bytes`, and the unpin step's when its time has come. */
int during_act(struct exec *x, unsigned fault, uint64_t bytes, struct worker_reply *reply,
	       struct cl_error *err);
#endif
