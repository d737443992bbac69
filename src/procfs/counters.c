/* SPDX-License-Identifier: MIT */
#include "procfs/counters.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LONGEST 80

void counters_free(struct counters *c)
{
	for (unsigned i = 0; i < c->count; i++)
		free(c->entry[i].name);
	free(c->entry);
	free(c->by_name);
	memset(c, 0, sizeof(*c));
}

int counters_add(struct counters *c, struct span name, uint64_t value, int line)
{
	struct counter *slot;
	char *copy;

	if (!name.length || name.length > NAME_LONGEST)
		return -EINVAL;
	/* Room is a power of two, so that the count alone says when it is used up. */
	if (!(c->count & (c->count - 1)) && (c->count >= 32 || !c->count)) {
		size_t room = c->count ? 2 * (size_t)c->count : 32;

		slot = reallocarray(c->entry, room, sizeof(*slot));
		if (!slot)
			return -ENOMEM;
		c->entry = slot;
	}
	copy = span_copy(name);
	if (!copy)
		return -ENOMEM;
	c->entry[c->count++] = (struct counter){copy, value, line};
	return 0;
}

bool counters_name_ok(struct span name)
{
	if (!name.length)
		return false;
	for (size_t i = 0; i < name.length; i++) {
		char c = name.at[i];
		bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';

		if (!letter && (i == 0 || c < '0' || c > '9'))
			return false;
	}
	return true;
}

static int by_name(const void *a, const void *b, void *arg)
{
	const struct counters *c = arg;
	unsigned i = *(const unsigned *)a, j = *(const unsigned *)b;
	int r = strcmp(c->entry[i].name, c->entry[j].name);

	return r ? r : (i > j) - (i < j);
}

int counters_index(struct counters *c)
{
	unsigned *order = c->count ? calloc(c->count, sizeof(*order)) : NULL;
	unsigned kept = 0;

	if (!c->count)
		return 0;
	if (!order) {
		counters_free(c);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < c->count; i++)
		order[i] = i;
	qsort_r(order, c->count, sizeof(*order), by_name, c);
	for (unsigned i = 1, first = order[0]; i < c->count; i++) {
		if (strcmp(c->entry[first].name, c->entry[order[i]].name)) {
			first = order[i];
		} else {
			free(c->entry[order[i]].name);
			c->entry[order[i]].name = NULL;
		}
	}
	for (unsigned i = 0; i < c->count; i++) {
		if (c->entry[i].name)
			c->entry[kept++] = c->entry[i];
		else
			c->skipped++;
	}
	c->count = kept;
	for (unsigned i = 0; i < c->count; i++)
		order[i] = i;
	qsort_r(order, c->count, sizeof(*order), by_name, c);
	free(c->by_name);
	c->by_name = order;
	return 0;
}

bool counters_get(const struct counters *c, const char *name, uint64_t *value)
{
	unsigned low = 0, high = c->by_name ? c->count : 0;

	while (low < high) {
		unsigned middle = low + (high - low) / 2;
		const struct counter *e = &c->entry[c->by_name[middle]];
		int r = strcmp(name, e->name);

		if (!r) {
			*value = e->value;
			return true;
		}
		if (r < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return false;
}

uint64_t counters_value(const struct counters *c, const char *name)
{
	uint64_t value = 0;

	counters_get(c, name, &value);
	return value;
}
