/* SPDX-License-Identifier: MIT */
#include "result/columns.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct column *columns_append(struct columns *c, const char *label, const char *kernel)
{
	struct column *more = realloc(c->item, (c->count + 1) * sizeof(*more));

	if (!more)
		return NULL;
	c->item = more;
	more[c->count] = (struct column){.label = label, .kernel = kernel};
	c->several_kernels |= c->count && strcmp(kernel, more[0].kernel) != 0;
	return &more[c->count++];
}

int column_add(struct column *c, const json_t *record)
{
	const json_t **more = realloc(c->record, (c->count + 1) * sizeof(*more));

	if (!more)
		return -ENOMEM;
	c->record = more;
	more[c->count++] = record;
	return 0;
}

struct column *columns_find(struct columns *c, const char *variant, const char *kernel)
{
	for (unsigned i = 0; i < c->count; i++)
		if (!strcmp(c->item[i].label, variant) && !strcmp(c->item[i].kernel, kernel))
			return &c->item[i];
	return NULL;
}

int columns_group(const struct cl_results *r, struct columns *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < r->count; i++) {
		const char *variant = record_text(r->record[i], "variant");
		const char *kernel = record_kernel(r->record[i]);
		struct column *c = columns_find(out, variant, kernel);

		if (!c)
			c = columns_append(out, variant, kernel);
		if (!c || column_add(c, r->record[i])) {
			columns_free(out);
			return -ENOMEM;
		}
	}
	return 0;
}

void columns_free(struct columns *c)
{
	for (unsigned i = 0; i < c->count; i++)
		free(c->item[i].record);
	free(c->item);
	memset(c, 0, sizeof(*c));
}

int column_values(const struct column *c, const char *step, const char *name, double *value)
{
	unsigned measured = 0;
	bool any_step = false;

	for (unsigned i = 0; i < c->count; i++) {
		const json_t *s = record_step(c->record[i], step, strlen(step));

		any_step |= s != NULL;
		if (s && !step_measure(c->record[i], s, name, &value[measured]))
			measured++;
	}
	return measured ? (int)measured : any_step ? -ENODATA : -ENOENT;
}

int column_measure(const struct column *c, const char *step, const char *name,
		   struct stat_summary *out)
{
	double *value = malloc((c->count ? c->count : 1) * sizeof(*value));
	int n;

	if (!value)
		return -ENOMEM;
	n = column_values(c, step, name, value);
	if (n > 0)
		stat_summarize(value, (unsigned)n, out);
	free(value);
	return n > 0 ? 0 : n;
}

static bool is_in(const char *const *names, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static int add_steps(const json_t *record, const char ***names, unsigned *count)
{
	json_t *step;
	size_t i;

	json_array_foreach(json_object_get(record, "steps"), i, step) {
		const char *name = record_text(step, "name"), **more;

		if (is_in(*names, *count, name))
			continue;
		more = realloc(*names, (*count + 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		*names = more;
		more[(*count)++] = name;
	}
	return 0;
}

const char **columns_steps(const struct columns *c, unsigned *count)
{
	const char **names = calloc(1, sizeof(*names));

	*count = 0;
	for (unsigned i = 0; names && i < c->count; i++)
		for (unsigned k = 0; k < c->item[i].count; k++)
			if (add_steps(c->item[i].record[k], &names, count)) {
				free(names);
				return NULL;
			}
	return names;
}

const char *columns_step_kind(const struct columns *c, const char *step)
{
	for (unsigned i = 0; i < c->count; i++) {
		const json_t *s = record_step(c->item[i].record[0], step, strlen(step));

		if (s)
			return record_text(s, "kind");
	}
	return "";
}
