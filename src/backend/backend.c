/* SPDX-License-Identifier: MIT */
#include "backend/backend.h"
#include <stddef.h>
#include <string.h>

const char backend_default[] = "model";

const struct backend *backend_find(const char *name)
{
	static const struct backend *const all[] = {&backend_model, &backend_guest, &backend_host};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i]->name, name))
			return all[i];
	return NULL;
}
