/* SPDX-License-Identifier: MIT */
#include "backend/snapshots.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "result/record.h"
#include "util/util.h"

static char *file_name(const struct plan *p, const char *directory, const char *kernel,
		       const char *step)
{
	char *path = format("%s/%s-%s-%s-%u-%s.snapshot.gz", directory, p->scenario, p->variant,
			    kernel, p->repeat, step);

	/* Releases may hold anything; a scenario, a variant and a step may not. */
	for (char *c = path ? path + strlen(directory) + 1 : NULL; c && *c; c++)
		if (*c == '/')
			*c = '-';
	return path;
}

static int keep(const struct plan *p, const char *directory, json_t *record, const char *step,
		json_t *value, struct cl_error *err)
{
	char *path = file_name(p, directory, record_kernel(record), step);
	const char *text = json_string_value(value);
	void *data = NULL;
	size_t size;
	int r = path ? 0 : -ENOMEM;

	if (!r)
		r = text ? base64_decode(text, &data, &size) : -EINVAL;
	if (r) {
		cl_error(err, -EIO, "the snapshot before step %s did not arrive whole", step);
		r = -EIO;
	} else {
		r = file_replace(path, data, size);
		if (r)
			cl_error_at(err, r, path, 0, "cannot write the snapshot: %s", strerror(-r));
		else
			r = json_string_set(value, path);
	}
	free(data);
	free(path);
	return r;
}

int snapshots_keep(const struct plan *plan, const char *directory, json_t *record,
		   struct cl_error *err)
{
	json_t *all = json_object_get(record, "snapshots"), *value;
	const char *step;
	int r = 0;

	json_object_foreach(all, step, value)
		if (!r)
			r = keep(plan, directory ? directory : ".", record, step, value, err);
	return r;
}
