/* SPDX-License-Identifier: MIT */
#include "result/record.h"
#include "result/counter.h"
#include "util/util.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct cl_results *results_new(void)
{
	return calloc(1, sizeof(struct cl_results));
}

void cl_results_free(struct cl_results *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < r->count; i++)
		json_decref(r->record[i]);
	for (unsigned i = 0; i < r->notes; i++)
		free(r->note[i]);
	free(r->record);
	free(r->note);
	free(r);
}

int results_add(struct cl_results *r, json_t *record)
{
	if (r->count == r->room) {
		unsigned room = r->room ? r->room * 2 : 16;
		json_t **more = realloc(r->record, room * sizeof(*more));

		if (!more) {
			json_decref(record);
			return -ENOMEM;
		}
		r->record = more;
		r->room = room;
	}
	r->record[r->count++] = record;
	return 0;
}

int results_note(struct cl_results *r, const char *fmt, ...)
{
	char **more = realloc(r->note, (r->notes + 1) * sizeof(*more));
	va_list ap;
	int n;

	if (!more)
		return -ENOMEM;
	r->note = more;
	va_start(ap, fmt);
	n = vasprintf(&r->note[r->notes], fmt, ap);
	va_end(ap);
	if (n < 0)
		return -ENOMEM;
	r->notes++;
	return 0;
}

unsigned cl_results_notes(const struct cl_results *r)
{
	return r->notes;
}

unsigned cl_results_count(const struct cl_results *r)
{
	return r->count;
}

char *cl_results_json(const struct cl_results *r, unsigned i)
{
	return json_dumps(r->record[i], JSON_COMPACT);
}

const char *record_text(const json_t *record, const char *field)
{
	const char *text = json_string_value(json_object_get(record, field));

	return text ? text : "";
}

const char *record_kernel(const json_t *record)
{
	return record_text(json_object_get(record, "kernel"), "release");
}

char *record_column(const json_t *record, bool with_kernel)
{
	const char *variant = record_text(record, "variant");

	return with_kernel ? format("%s %s", variant, record_kernel(record)) : strdup(variant);
}

/* --- measures --- */

/* Measures that are fields of the step itself. */
static const char *const step_fields[] = {"time_ns", "compaction_ns", "compaction_daemon_ns",
					  "kswapd_ns", "defer_shift", "runs"};

static int number(const json_t *value, double *out)
{
	if (!json_is_number(value))
		return -ENODATA;
	*out = json_number_value(value);
	return 0;
}

/* N of "node<N>" (or "huge_node<N>" behind the prefix); -1 when it is not that. */
static int node_number(const char *text)
{
	char *end;
	long n;

	if (*text < '0' || *text > '9')
		return -1;
	n = strtol(text, &end, 10);
	return *end || n > 9999 ? -1 : (int)n;
}

/*
 * Pages of a size summed over nodes, all but one (`except` >= 0) or one alone
 * (`only` >= 0).
 */
static int pages_sum(json_t *pages, const char *size, int only, int except, double *out)
{
	const char *key;
	json_t *node;
	double sum = 0, value;

	json_object_foreach(pages, key, node) {
		int n = strncmp(key, "node", 4) ? -1 : node_number(key + 4);

		if (n < 0 || (only >= 0 && n != only) || (except >= 0 && n == except))
			continue;
		if (number(json_object_get(node, size), &value))
			return -ENODATA;
		sum += value;
	}
	*out = sum;
	return 0;
}

/* A node without pages may be left out of "pages", but it must be one of the machine's. */
static bool machine_has_node(const json_t *record, int node)
{
	json_t *nodes = json_object_get(json_object_get(record, "evidence"), "nodes"), *n;
	size_t i;

	json_array_foreach(nodes, i, n) {
		json_t *number_of = json_object_get(n, "node");

		if (json_is_integer(number_of) && json_integer_value(number_of) == node)
			return true;
	}
	return false;
}

static int measure_node(const json_t *record, json_t *pages, const char *size, int node,
			double *out)
{
	char key[16];

	snprintf(key, sizeof(key), "node%d", node);
	if (!json_object_get(pages, key) && !machine_has_node(record, node))
		return -ENODATA;
	return pages_sum(pages, size, node, -1, out);
}

/* The node whose CPUs did the work: 0 where the step ran anywhere. */
static int step_cpu_node(const json_t *step)
{
	const json_t *n = json_object_get(json_object_get(step, "detail"), "cpu_node");

	return json_is_integer(n) && json_integer_value(n) >= 0 ? (int)json_integer_value(n) : 0;
}

/* -ENOENT when the name is none of the page measures. */
static int measure_pages(const json_t *record, const json_t *step, const char *name, double *out)
{
	const char *size = !strncmp(name, "huge", 4) ? "huge" : "base", *rest = name + 4;
	json_t *pages = json_object_get(step, "pages");
	int node = -1;

	if (strncmp(name, size, 4))
		return -ENOENT;
	if (!strncmp(rest, "_node", 5))
		node = node_number(rest + 5);
	if (*rest && strcmp(name, "huge_remote") && node < 0)
		return -ENOENT;
	if (!json_is_object(pages))
		return -ENODATA;
	if (node >= 0)
		return measure_node(record, pages, size, node, out);
	return pages_sum(pages, size, -1, *rest ? step_cpu_node(step) : -1, out);
}

/*
 * A counter that did not move is not in the record. One whose name nobody knows is not
 * in the record either, and that is no 0.
 */
static int measure_vmstat(const json_t *step, const char *name, double *out)
{
	json_t *vmstat = json_object_get(step, "vmstat"), *value = json_object_get(vmstat, name);

	if (!json_is_object(vmstat))
		return -ENODATA;
	if (value)
		return number(value, out);
	if (!counter_is_vmstat(name))
		return -ENODATA;
	*out = 0;
	return 0;
}

int step_measure(const json_t *record, const json_t *step, const char *name, double *out)
{
	json_t *detail = json_object_get(json_object_get(step, "detail"), name);
	int r;

	for (unsigned i = 0; i < sizeof(step_fields) / sizeof(step_fields[0]); i++)
		if (!strcmp(name, step_fields[i]))
			return number(json_object_get(step, name), out);
	r = measure_pages(record, step, name, out);
	if (r != -ENOENT)
		return r;
	if (detail)
		return number(detail, out);
	return measure_vmstat(step, name, out);
}

const json_t *record_step(const json_t *record, const char *name, size_t length)
{
	json_t *steps = json_object_get(record, "steps"), *step;
	size_t i;

	json_array_foreach(steps, i, step) {
		const char *is = record_text(step, "name");

		if (strlen(is) == length && !memcmp(is, name, length))
			return step;
	}
	return NULL;
}

int record_measure(const json_t *record, const char *measure, double *out)
{
	const char *dot = strrchr(measure, '.');
	const json_t *step = dot ? record_step(record, measure, (size_t)(dot - measure)) : NULL;

	return step ? step_measure(record, step, dot + 1, out) : -ENOENT;
}
