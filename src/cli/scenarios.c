/* SPDX-License-Identifier: MIT */
/* Scenarios by name. */
#include "cli/cli.h"
#include "config.h"
#include "util/util.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In this order: a file at hand goes before the installed one of that name. */
static const char *const folders[] = {"scenarios", CL_DATADIR "/scenarios"};

static bool ends_in_ini(const char *name)
{
	size_t length = strlen(name);

	return length > 4 && !strcmp(name + length - 4, ".ini");
}

static int only_ini(const struct dirent *d)
{
	return ends_in_ini(d->d_name);
}

static bool in_earlier_folder(unsigned folder, const char *file)
{
	for (unsigned i = 0; i < folder; i++) {
		char *path = format("%s/%s", folders[i], file);
		bool there = path && access(path, F_OK) == 0;

		free(path);
		if (there)
			return true;
	}
	return false;
}

static void each_in(unsigned folder, void (*each)(void *arg, const char *name, const char *path),
		    void *arg)
{
	struct dirent **entry;
	int count = scandir(folders[folder], &entry, only_ini, alphasort);

	for (int i = 0; i < count; i++) {
		char *file = entry[i]->d_name, *path = format("%s/%s", folders[folder], file);
		char *name = strndup(file, strlen(file) - 4);

		if (name && path && !in_earlier_folder(folder, file))
			each(arg, name, path);
		free(name);
		free(path);
		free(entry[i]);
	}
	if (count >= 0)
		free(entry);
}

void cli_scenarios(void (*each)(void *arg, const char *name, const char *path), void *arg)
{
	for (unsigned i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		each_in(i, each, arg);
}

struct search {
	const char *name;
	char *path;
	char nearest[128];
	unsigned distance;
};

static void consider(void *arg, const char *name, const char *path)
{
	struct search *s = arg;
	unsigned d = edit_distance(s->name, name);

	if (d == 0 && !s->path)
		s->path = strdup(path);
	if (d < s->distance) {
		s->distance = d;
		snprintf(s->nearest, sizeof(s->nearest), "%s", name);
	}
}

int cli_scenario_path(const char *name, char **path, struct cl_error *err)
{
	struct search s = {.name = name, .distance = 4};

	if (strchr(name, '/') || ends_in_ini(name)) {
		*path = strdup(name);
		return *path ? 0 : cl_error(err, -ENOMEM, "no memory");
	}
	cli_scenarios(consider, &s);
	*path = s.path;
	if (s.path)
		return 0;
	cl_error(err, -EINVAL, "there is no scenario '%s' in %s or %s", name, folders[0],
		 folders[1]);
	if (*s.nearest)
		return cl_error_hint(err, -EINVAL, "did you mean '%s'?", s.nearest);
	return cl_error_hint(err, -EINVAL, "compactlab list scenarios shows those that are there");
}
