/* SPDX-License-Identifier: MIT */
/*
 * task_ops.h - the atoms of operations: one call does the next piece, true while there is more. For
 * task.c only; the running task is m->ctx.task.
 */
#ifndef COMPACTLAB_MODEL_TASK_OPS_H
#define COMPACTLAB_MODEL_TASK_OPS_H

#include "model/task.h"

/* task_memory.c: a task's own memory */
bool task_touch(struct model *m, struct op *op);
bool task_pin(struct model *m, struct op *op);
bool task_unpin(struct model *m, struct op *op);
bool task_mlock(struct model *m, struct op *op);
bool task_munlock(struct model *m, struct op *op);
bool task_collapse(struct model *m, struct op *op);

/* task_release.c: giving pages back */
bool task_release(struct model *m, struct op *op);

/* task_ops.c: files, kernel-like requests, the machine's levers */
bool task_write(struct model *m, struct op *op);
bool task_read(struct model *m, struct op *op);
bool task_files(struct model *m, struct op *op);
bool task_kalloc(struct model *m, struct op *op);
bool task_slab(struct model *m, struct op *op);
bool task_hugetlb(struct model *m, struct op *op);
bool task_cma_alloc(struct model *m, struct op *op);
bool task_compact(struct model *m, struct op *op);
bool task_drop_caches(struct model *m, struct op *op);
bool task_sleep(struct model *m, struct op *op);

#endif
