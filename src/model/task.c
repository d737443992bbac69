/* SPDX-License-Identifier: MIT */
/*
 * task.c - tasks and their operations, cut into atoms; see task.h.
 */
#include "model/task.h"

int task_init(struct model *m)
{
	NOT_YET(m);
}

int task_new(struct model *m, cpu_id cpu, task_id *id)
{
	NOT_YET(m, cpu, id);
}

void task_exit(struct model *m, task_id id)
{
	NOT_YET(m, id);
}

int task_start(struct model *m, task_id id, const struct op *op)
{
	NOT_YET(m, id, op);
}

bool task_step(struct model *m, task_id id)
{
	NOT_YET(m, id);
}
