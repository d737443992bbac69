/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_RECEIPT_H
#define POPULATE_POP_RECEIPT_H
/* The receipt in words. */
#include <compactlab/populate.h>

/* Fill receipt->text from the other fields. */
void pop_receipt_text(struct cl_populate_receipt *r);
#endif
