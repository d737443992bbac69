/* SPDX-License-Identifier: MIT */
/*
 * shmem.c - tmpfs and shared memory; see shmem.h.
 */
#include "model/shmem.h"

uint64_t shmem_get_page(struct model *m, region_id file, uint64_t index, bool fault)
{
	NOT_YET(m, file, index, fault);
}

bool shmem_create_file(struct model *m, region_id set, uint32_t number)
{
	NOT_YET(m, set, number);
}

void shmem_remove(struct model *m, pfn_t head)
{
	NOT_YET(m, head);
}

uint32_t shmem_orders(const struct model *m, const struct region *r, uint64_t index)
{
	NOT_YET(m, r, index);
}
