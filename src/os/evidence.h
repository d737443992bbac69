/* SPDX-License-Identifier: MIT */
#ifndef OS_EVIDENCE_H
#define OS_EVIDENCE_H
/* What kind of kernel and machine a result comes from. */
#include <jansson.h>

/* {"release": s, "version": s} */
json_t *evidence_kernel(void);
/* The record's "evidence" object. */
json_t *evidence_machine(void);
#endif
