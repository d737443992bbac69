/* SPDX-License-Identifier: MIT */
/* Reading records back. */
#include "result/record.h"
#include "util/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int check_steps(const json_t *record, const char *path, int line, struct cl_error *err)
{
	json_t *steps = json_object_get(record, "steps"), *step;
	size_t i;

	if (!json_is_array(steps))
		return cl_error_at(err, -EINVAL, path, line, "not a record: \"steps\" is missing");
	json_array_foreach(steps, i, step) {
		if (!json_is_string(json_object_get(step, "name")))
			return cl_error_at(err, -EINVAL, path, line,
					   "not a record: step %zu has no \"name\"", i + 1);
	}
	return 0;
}

static int check_record(const json_t *record, const char *path, int line, struct cl_error *err)
{
	static const char *const texts[] = {"scenario", "backend", "variant"};
	json_t *schema = json_object_get(record, "schema");

	if (!json_is_integer(schema))
		return cl_error_at(err, -EINVAL, path, line,
				   "not a record: it has no \"schema\" number");
	if (json_integer_value(schema) > RECORD_SCHEMA) {
		cl_error_at(err, -EINVAL, path, line,
			    "the record has schema %lld, this program knows up to %d",
			    (long long)json_integer_value(schema), RECORD_SCHEMA);
		return cl_error_hint(err, -EINVAL, "use the compactlab that wrote it: %s",
				     *record_text(record, "version")
					     ? record_text(record, "version")
					     : "a newer one");
	}
	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!*record_text(record, texts[i]))
			return cl_error_at(err, -EINVAL, path, line,
					   "not a record: \"%s\" is missing", texts[i]);
	return check_steps(record, path, line, err);
}

/* One line of `length` bytes; `whole` when it ended in a newline. */
static int load_line(struct cl_results *r, const char *path, int line, const char *text,
		     size_t length, bool whole, struct cl_error *err)
{
	json_error_t json_error;
	json_t *record = json_loadb(text, length, JSON_REJECT_DUPLICATES, &json_error);
	int e;

	if (!record && !whole)
		return results_note(r,
				    "%s:%d: unfinished last line left out: its writer was stopped",
				    path, line);
	if (!record)
		return cl_error_at(err, -EINVAL, path, line, "not JSON: %s", json_error.text);
	e = check_record(record, path, line, err);
	if (e) {
		json_decref(record);
		return e;
	}
	e = results_add(r, record);
	return e ? cl_error(err, e, "no memory for the records") : 0;
}

static bool is_blank(const char *text, size_t length)
{
	return strspn(text, " \t\r\n") >= length;
}

int results_load_file(struct cl_results *r, const char *path, struct cl_error *err)
{
	unsigned before = r->count;
	size_t length, used;
	char *text;
	int line = 1, e = file_read(strcmp(path, "-") ? path : "/dev/stdin", &text, &length);

	if (e)
		return cl_error_at(err, e == -ENOMEM ? e : -EINVAL, path, 0, "cannot read it: %s",
				   strerror(-e));
	for (const char *p = text; length && !e; p += used, length -= used, line++) {
		const char *end = memchr(p, '\n', length);

		used = end ? (size_t)(end - p) + 1 : length;
		if (!is_blank(p, used))
			e = load_line(r, path, line, p, used, end != NULL, err);
	}
	free(text);
	if (!e && r->count == before)
		return cl_error_at(err, -EINVAL, path, 0, "there is no record in it");
	return e;
}

int cl_results_load(const char *const *paths, unsigned count, struct cl_results **out,
		    struct cl_error *err)
{
	struct cl_results *r = results_new();
	int e = r ? 0 : cl_error(err, -ENOMEM, "no memory for the records");

	for (unsigned i = 0; i < count && !e; i++)
		e = results_load_file(r, paths[i], err);
	if (e) {
		cl_results_free(r);
		r = NULL;
	}
	*out = r;
	return e;
}
