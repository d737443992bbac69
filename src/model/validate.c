/* SPDX-License-Identifier: MIT */
/*
 * validate.c - every invariant of the machine; see validate.h.
 */
#include "model/validate.h"

bool validate(struct model *m, char *why, size_t size)
{
	return validate_lists(m, why, size);
}
