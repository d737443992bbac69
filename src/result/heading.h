/* SPDX-License-Identifier: MIT */
#ifndef RESULT_HEADING_H
#define RESULT_HEADING_H
/* The lines above a table: on what the numbers were measured, as the records say. */
#include "result/columns.h"

/* backend, kernel, machine, policy where the label does not say it, repeats and seeds. */
int heading_print(FILE *to, const struct columns *c);

/* Notes of the results, then those of the records, each once; nothing when none. */
int heading_notes(FILE *to, const struct cl_results *r);
bool heading_has_notes(const struct cl_results *r);
#endif
