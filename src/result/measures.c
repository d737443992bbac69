/* SPDX-License-Identifier: MIT */
#include "result/measures.h"
#include "scenario/plan.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int add(struct measures *m, const char *name)
{
	char **more;

	for (unsigned i = 0; i < m->count; i++)
		if (!strcmp(m->name[i], name))
			return 0;
	more = realloc(m->name, (m->count + 1) * sizeof(*more));
	if (!more)
		return -ENOMEM;
	m->name = more;
	more[m->count] = strdup(name);
	if (!more[m->count])
		return -ENOMEM;
	m->count++;
	return 0;
}

void measures_free(struct measures *m)
{
	for (unsigned i = 0; i < m->count; i++)
		free(m->name[i]);
	free(m->name);
	memset(m, 0, sizeof(*m));
}

int measures_listed(char *const *show, unsigned shows, const char *step, struct measures *out)
{
	size_t length = strlen(step);
	int r = 0;

	for (unsigned i = 0; i < shows && !r; i++)
		if (!strncmp(show[i], step, length) && show[i][length] == '.')
			r = add(out, show[i] + length + 1);
	return r;
}

/* Was it measured, and is it worth a row, in any repeat of any column? 1 run goes without saying.
 */
static bool moved(const struct columns *c, const char *step, const char *name)
{
	double plain = strcmp(name, "runs") ? 0 : 1;
	struct stat_summary s;

	for (unsigned i = 0; i < c->count; i++)
		if (!column_measure(&c->item[i], step, name, &s) &&
		    (s.min != plain || s.max != plain))
			return true;
	return false;
}

static int add_node_pages(const struct columns *c, const char *step, struct measures *out)
{
	int r = 0;

	for (unsigned node = 0; node < PLAN_MAX_NODES && !r; node++) {
		char name[24];

		snprintf(name, sizeof(name), "huge_node%u", node);
		if (moved(c, step, name))
			r = add(out, name);
		snprintf(name, sizeof(name), "base_node%u", node);
		if (!r && moved(c, step, name))
			r = add(out, name);
	}
	return r;
}

/* Our own measures, and the counters that have an explanation. */
static int add_known(const struct columns *c, const char *step, struct measures *out)
{
	const struct cl_counter *counter;
	int r = 0;

	for (unsigned i = 0; (counter = cl_counter_get(i)) && !r; i++) {
		if (!strcmp(counter->name, "huge_nodeN"))
			r = add_node_pages(c, step, out);
		else if (*counter->help && moved(c, step, counter->name))
			r = add(out, counter->name);
	}
	return r;
}

/* cpu_node is a place, not an amount. */
static int add_all(const json_t *step, const char *object, struct measures *out)
{
	const char *name;
	json_t *value;
	int r = 0;

	json_object_foreach(json_object_get(step, object), name, value) {
		if (!r && json_is_number(value) && strcmp(name, "cpu_node") != 0)
			r = add(out, name);
	}
	return r;
}

int measures_found(const struct columns *c, const char *step, bool all, struct measures *out)
{
	int r = add_known(c, step, out);

	for (unsigned i = 0; all && i < c->count; i++)
		for (unsigned k = 0; k < c->item[i].count && !r; k++) {
			const json_t *s = record_step(c->item[i].record[k], step, strlen(step));

			r = add_all(s, "vmstat", out);
			if (!r)
				r = add_all(s, "detail", out);
		}
	return r;
}
