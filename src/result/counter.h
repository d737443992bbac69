/* SPDX-License-Identifier: MIT */
#ifndef RESULT_COUNTER_H
#define RESULT_COUNTER_H
/* Names of measures; the table itself is public, see cl_counter_get(). */
#include <compactlab/result.h>

/* Is it a line of /proc/vmstat of some kernel? Is it any measure we can name? */
bool counter_is_vmstat(const char *name);
bool counter_is_known(const char *name);
/* The known measure nearest to a misspelt name, or NULL when none is near. */
const char *counter_nearest(const char *name);
#endif
