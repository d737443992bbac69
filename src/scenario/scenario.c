/* SPDX-License-Identifier: MIT */
#include "scenario/scenario.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <sha256.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "scenario/value.h"
#include "util/util.h"

const char *const scenario_backends[BACKENDS] = {"model", "guest", "host"};

#define SCALE_LIMIT 65536
#define SET_BYTES   (INI_TEXT_LINE - 10) /* key and value, so that a line can carry them */

int scenario_step_find(const struct cl_scenario *s, const char *name)
{
	for (unsigned i = 0; i < s->steps; i++)
		if (!strcmp(s->step[i].name, name))
			return (int)i;
	return -1;
}

int scenario_variant_find(const struct cl_scenario *s, const char *name)
{
	for (unsigned i = 0; i < s->variants; i++)
		if (!strcmp(s->variant[i].name, name))
			return (int)i;
	return -1;
}

int scenario_backend_find(const char *name)
{
	for (int i = 0; i < BACKENDS; i++)
		if (!strcmp(scenario_backends[i], name))
			return i;
	return -1;
}

/* File name without folder and ".ini"; what is not plain ASCII becomes '_', for it goes to JSON. */
static char *scenario_name_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	char *name = strdup(slash ? slash + 1 : file);
	size_t length = name ? strlen(name) : 0;

	if (length > 4 && !strcmp(name + length - 4, ".ini"))
		name[length - 4] = '\0';
	for (char *p = name; p && *p; p++)
		if (!isgraph((unsigned char)*p))
			*p = '_';
	return name;
}

/*
 * The [serialized] section: what --set and --scale said, and whose text this is.
 * Paths are percent-encoded, because a line cannot hold every path.
 */
static char *decode_path(const char *text)
{
	char *path = malloc(strlen(text) + 1), *to = path;

	for (; path && *text; text++) {
		unsigned byte;

		if (*text == '%' && sscanf(text + 1, "%2x", &byte) == 1 && byte) {
			*to++ = (char)byte;
			text += text[2] ? 2 : 1;
		} else if (*text != ' ') {
			*to++ = *text;
		}
	}
	if (path)
		*to = '\0';
	return path;
}

static void encode_path(FILE *to, const char *path)
{
	unsigned column = 0;

	for (; *path; path++) {
		if (isalnum((unsigned char)*path) || strchr("/._-", *path))
			fputc(*path, to);
		else
			fprintf(to, "%%%02x", (unsigned char)*path);
		if (++column % 40 == 0)
			fputs("\n\t", to);
	}
	fputc('\n', to);
}

static bool is_utf8(const char *text)
{
	json_t *string = json_string(text);

	json_decref(string);
	return string != NULL;
}

/*
 * What one line of a file could not say is refused: a plan must be the same in
 * another process.
 */
static int check_set(const char *key, const char *value, struct cl_error *err)
{
	for (const char *p = value; *p; p++)
		if (iscntrl((unsigned char)*p))
			return cl_error_at(err, -EINVAL, "--set", 0,
					   "%s holds the byte 0x%02x, which is not text", key,
					   (unsigned char)*p);
	if (!is_utf8(value))
		return cl_error_at(err, -EINVAL, "--set", 0, "%s is not valid UTF-8", key);
	if (strlen(key) + strlen(value) > SET_BYTES)
		return cl_error_at(err, -EINVAL, "--set", 0, "'%.40s...' has more than %d bytes",
				   key, SET_BYTES);
	if (*value == ';' || strstr(value, " ;"))
		return cl_error_at(err, -EINVAL, "--set", 0,
				   "%s holds ';', which starts a comment in scenario files", key);
	return 0;
}

static int read_serialized(struct cl_scenario *s, const struct ini_text *t, struct cl_error *err)
{
	for (unsigned i = 0; i < t->keys; i++) {
		const struct ini_key *k = &t->key[i];
		int r = 0;

		if (strcmp(t->section[k->section].type, "serialized"))
			continue;
		if (!strcmp(k->key, "file")) {
			char *path = decode_path(k->value);

			if (!path)
				return cl_error(err, -ENOMEM, "out of memory");
			free(s->file);
			s->file = path;
			free(s->name);
			s->name = scenario_name_of(path);
			if (!s->name)
				return cl_error(err, -ENOMEM, "out of memory");
		} else if (!strcmp(k->key, "sha256")) {
			if (strlen(k->value) != 64 || strspn(k->value, "0123456789abcdef") != 64)
				return cl_error_at(err, -EINVAL, s->file, k->line,
						   "sha256 is not 64 hexadecimal digits");
			memcpy(s->sha256, k->value, sizeof(s->sha256));
		} else if (!strcmp(k->key, "scale")) {
			r = cl_scenario_scale(s, (unsigned)strtoul(k->value, NULL, 10), err);
		} else {
			r = check_set(k->key, k->value, err);
			if (!r)
				r = assign_set(s, k->key, k->value, err);
		}
		if (r)
			return r;
	}
	return 0;
}

/* The file's own text ends where [serialized] starts. */
static size_t own_length(const struct ini_text *t, const char *text, size_t length)
{
	const struct ini_section *last = t->sections ? &t->section[t->sections - 1] : NULL;
	const char *p = text;

	if (!last || strcmp(last->type, "serialized"))
		return length;
	for (int line = 1; line < last->line; line++)
		p = (const char *)memchr(p, '\n', length - (size_t)(p - text)) + 1;
	return (size_t)(p - text);
}

/*
 * Resolve for every backend and variant, so that no mistake waits for its turn. An
 * error that the first combination does not have says which one has it.
 */
static int check_all(const struct cl_scenario *s, struct cl_error *err)
{
	for (int b = 0; b < BACKENDS; b++) {
		struct experiment e;
		int r = experiment_resolve(s, scenario_backends[b], &e, err);

		if (r)
			return r;
		experiment_free(&e);
		for (unsigned v = 0; v < s->variants; v++) {
			struct plan *plan;
			size_t used;

			r = plan_resolve(s, scenario_backends[b], s->variant[v].name, 0, 1, &plan,
					 err);
			if (!r) {
				plan_free(plan);
				continue;
			}
			if (!err || (!b && !v))
				return r;
			used = strlen(err->what);
			snprintf(err->what + used, sizeof(err->what) - used, ", %s%s%s%s%s",
				 b ? "on " : "", b ? scenario_backends[b] : "", b && v ? ", " : "",
				 v ? "in variant " : "", v ? s->variant[v].name : "");
			return r;
		}
	}
	return 0;
}

static int scenario_fill(struct cl_scenario *s, const char *text, size_t length,
			 struct cl_error *err)
{
	struct ini_text t;
	int r;

	SHA256Data((const uint8_t *)text, length, s->sha256);
	r = ini_text_read(text, length, s->file, &t, err);
	if (r)
		return r;
	s->length = own_length(&t, text, length);
	s->text = strndup(text, s->length);
	if (!s->text)
		r = cl_error(err, -ENOMEM, "out of memory");
	if (!r && !t.sections)
		r = cl_error_at(err, -EINVAL, s->file, 0, "the file is empty");
	if (!r)
		r = assign_sections(s, &t, err);
	if (!r && !s->steps) {
		cl_error_at(err, -EINVAL, s->file, 0, "there are no steps");
		r = cl_error_hint(err, -EINVAL, "`compactlab list steps` shows how to write them");
	}
	if (!r && !s->variants) {
		s->variant[s->variants++].name = strdup("mainline");
		if (!s->variant[0].name)
			r = cl_error(err, -ENOMEM, "out of memory");
	}
	if (!r)
		r = assign_keys(s, &t, err);
	if (!r)
		r = check_all(s, err);
	/* What was set may suit one backend only, as it did where it was set. */
	if (!r)
		r = read_serialized(s, &t, err);
	ini_text_free(&t);
	return r;
}

static int scenario_parse(const char *text, size_t length, const char *name, bool shipped,
			  struct cl_scenario **out, struct cl_error *err)
{
	struct cl_scenario *s = calloc(1, sizeof(*s));
	int r;

	*out = NULL;
	if (!s)
		return cl_error(err, -ENOMEM, "out of memory");
	s->shipped = shipped;
	s->scale = 1;
	s->file = strdup(name);
	s->name = scenario_name_of(name);
	r = s->file && s->name ? scenario_fill(s, text, length, err)
			       : cl_error(err, -ENOMEM, "out of memory");
	if (r) {
		cl_scenario_free(s);
		return r;
	}
	*out = s;
	return 0;
}

int cl_scenario_parse(const char *text, unsigned long length, const char *name,
		      struct cl_scenario **out, struct cl_error *err)
{
	return scenario_parse(text, length, name, true, out, err);
}

/* What is at `path` should be a file (or a pipe) of a sensible size. */
static int check_file(const char *path, struct cl_error *err)
{
	struct stat st;

	if (stat(path, &st) < 0) {
		cl_error(err, -EINVAL, "cannot read the scenario '%s': %s", path, strerror(errno));
		if (errno == ENOENT)
			cl_error_hint(err, -EINVAL,
				      "`compactlab list scenarios` shows those that are installed");
		return -EINVAL;
	}
	if (S_ISDIR(st.st_mode))
		return cl_error_at(err, -EINVAL, path, 0, "this is a folder, not a scenario file");
	if (S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode))
		return cl_error_at(err, -EINVAL, path, 0, "this is a device, not a scenario file");
	if (S_ISREG(st.st_mode) && st.st_size > (off_t)SCENARIO_BYTES)
		return cl_error_at(err, -EINVAL, path, 0, "the file is larger than 1 MiB");
	return 0;
}

int cl_scenario_load(const char *path, struct cl_scenario **out, struct cl_error *err)
{
	char *text;
	size_t length;
	int r = check_file(path, err);

	*out = NULL;
	if (r)
		return r;
	r = file_read(path, &text, &length);
	if (r)
		return cl_error(err, -EINVAL, "cannot read the scenario '%s': %s", path,
				strerror(-r));
	if (length > SCENARIO_BYTES)
		r = cl_error_at(err, -EINVAL, path, 0, "the file is larger than 1 MiB");
	else
		r = scenario_parse(text, length, path, false, out, err);
	free(text);
	return r;
}

void cl_scenario_free(struct cl_scenario *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->steps; i++)
		free(s->step[i].name);
	for (unsigned i = 0; i < s->variants; i++)
		free(s->variant[i].name);
	for (unsigned i = 0; i < s->assignments; i++) {
		free(s->assignment[i].key);
		free(s->assignment[i].value);
		free(s->assignment[i].origin);
	}
	for (unsigned i = 0; i < s->published; i++) {
		free((char *)(uintptr_t)s->figures[i].figures.variant);
		free((char *)(uintptr_t)s->figures[i].figures.measure);
	}
	free(s->assignment);
	free(s->figures);
	free(s->text);
	free(s->file);
	free(s->name);
	free(s);
}

static char *trim(char *text)
{
	size_t length;

	while (isspace((unsigned char)*text))
		text++;
	length = strlen(text);
	while (length && isspace((unsigned char)text[length - 1]))
		text[--length] = '\0';
	return text;
}

int cl_scenario_set(struct cl_scenario *s, const char *assignment, struct cl_error *err)
{
	char *copy = strdup(assignment), *equals = copy ? strchr(copy, '=') : NULL, *key, *value;
	int r;

	if (!copy)
		return cl_error(err, -ENOMEM, "out of memory");
	if (!equals) {
		cl_error_at(err, -EINVAL, "--set", 0, "'%s' is not SECTION.KEY=VALUE", assignment);
		cl_error_hint(err, -EINVAL, "such as populate.size=1G");
		free(copy);
		return -EINVAL;
	}
	*equals = '\0';
	key = trim(copy);
	value = trim(equals + 1);
	r = check_set(key, value, err);
	if (!r)
		r = assign_set(s, key, value, err);
	free(copy);
	return r;
}

int cl_scenario_scale(struct cl_scenario *s, unsigned divisor, struct cl_error *err)
{
	if (!divisor || divisor > SCALE_LIMIT)
		return cl_error_at(err, -EINVAL, "--scale", 0, "1/%u is outside 1/1 to 1/%d",
				   divisor, SCALE_LIMIT);
	s->scale = divisor;
	return 0;
}

int cl_scenario_add_policy(struct cl_scenario *s, const char *policy, struct cl_error *err)
{
	const struct option *o = option_find(SECTION_VARIANT, 0, "policy");
	const char *has[SCENARIO_VARIANTS];
	unsigned variants = s->variants;
	int r = 0;

	for (unsigned i = 0; i < variants; i++) {
		const struct assignment *a = assigned(s, BACKEND_MODEL, (int)i, o, -1, "");

		has[i] = a ? a->value : "mainline";
		if (!strcmp(has[i], policy))
			return 0;
	}
	for (unsigned i = 0; i < variants && !r; i++)
		if (!strcmp(has[i], "mainline"))
			r = assign_twin(s, (int)i, policy, err);
	return r;
}

const char *cl_scenario_name(const struct cl_scenario *s)
{
	return s->name;
}

const char *cl_scenario_title(const struct cl_scenario *s)
{
	const struct assignment *a =
		assigned(s, -1, -1, option_find(SECTION_EXPERIMENT, 0, "title"), -1, "");

	return a ? a->value : s->name;
}

const char *cl_scenario_sha256(const struct cl_scenario *s)
{
	return s->sha256;
}

unsigned scenario_variants(const struct cl_scenario *s)
{
	return s->variants;
}

const char *scenario_variant(const struct cl_scenario *s, unsigned i)
{
	return i < s->variants ? s->variant[i].name : NULL;
}

unsigned scenario_published(const struct cl_scenario *s)
{
	return s->published;
}

const struct published *scenario_published_get(const struct cl_scenario *s, unsigned i)
{
	return i < s->published ? &s->figures[i].figures : NULL;
}

int scenario_checks(const struct cl_scenario *s, const char *backend, struct check_line **out,
		    unsigned *count, struct cl_error *err)
{
	const struct option *o = option_find(SECTION_CHECK, 0, "NAME");
	struct check_line *list = calloc(s->checks + 1, sizeof(*list));
	int b = scenario_backend_find(backend);
	unsigned n = 0;

	*out = NULL;
	*count = 0;
	if (!list)
		return cl_error(err, -ENOMEM, "out of memory");
	if (b < 0) {
		free(list);
		return cl_error(err, -EINVAL, "there is no backend '%s'", backend);
	}
	for (unsigned i = 0; i < s->assignments; i++) {
		const struct assignment *a = &s->assignment[i];

		if (a->option != o || a->rank != RANK_FILE)
			continue;
		a = assigned(s, b, -1, o, -1, a->name);
		if (strcmp(a->value, "off"))
			list[n++] = (struct check_line){.name = a->name,
							.relation = a->value,
							.file = a->origin ? a->origin : s->file,
							.line = a->line};
	}
	*out = list;
	*count = n;
	return 0;
}

char *scenario_serialize(const struct cl_scenario *s, unsigned long *length)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);
	bool failed;

	if (!to)
		return NULL;
	fwrite(s->text, 1, s->length, to);
	if (s->length && s->text[s->length - 1] != '\n')
		fputc('\n', to);
	fprintf(to, "[serialized]\nsha256 = %s\nscale = %u\nfile = ", s->sha256, s->scale);
	encode_path(to, s->file);
	for (unsigned i = 0; i < s->assignments; i++) {
		const struct assignment *a = &s->assignment[i];

		if (a->rank == RANK_SET)
			fprintf(to, "%s = %s\n", a->key, a->value);
	}
	failed = ferror(to) != 0;
	if (fclose(to) || failed) {
		free(text);
		return NULL;
	}
	if (length)
		*length = size;
	return text;
}
