/* SPDX-License-Identifier: MIT */
/*
 * hash.c - the state hash; see model.h.
 */
#include "model/model.h"

uint64_t model_state_hash(struct model *m)
{
	NOT_YET(m);
}
