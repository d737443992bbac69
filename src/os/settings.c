/* SPDX-License-Identifier: MIT */
#include "os/settings.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "util/util.h"

#define SYSCTL_DIR "/proc/sys/vm"
#define THP_DIR    "/sys/kernel/mm/transparent_hugepage"
#define LRU_DIR    "/sys/kernel/mm/lru_gen"

int setting_path(const char *name, char *path, size_t size)
{
	const char *dir, *leaf;
	size_t start;

	if (!strncmp(name, "vm.", 3))
		dir = SYSCTL_DIR, leaf = name + 3;
	else if (!strncmp(name, "thp.", 4))
		dir = THP_DIR, leaf = name + 4;
	else if (!strncmp(name, "lru_gen.", 8))
		dir = LRU_DIR, leaf = name + 8;
	else
		return -EINVAL;
	if (!*leaf || *leaf == '.' || *leaf == '/' || strstr(leaf, ".."))
		return -EINVAL;
	if ((size_t)snprintf(path, size, "%s/%s", dir, leaf) >= size)
		return -EINVAL;
	start = strlen(dir) + 1;
	for (char *p = path + start; *p; p++)
		if (*p == '.')
			*p = '/';
	return 0;
}

char *setting_word(const char *text, char *buf, size_t size)
{
	const char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
	size_t used = 0;

	if (close) {
		snprintf(buf, size, "%.*s", (int)(close - open - 1), open + 1);
		return buf;
	}
	for (; *text && used + 1 < size; text++) {
		if (!isspace((unsigned char)*text))
			buf[used++] = *text;
		else if (used && buf[used - 1] != ' ')
			buf[used++] = ' ';
	}
	if (used && buf[used - 1] == ' ')
		used--;
	buf[used] = '\0';
	return buf;
}

bool setting_is(const char *text, const char *value)
{
	char have[512], want[512], *end_have, *end_want;
	long long x, y;

	setting_word(text, have, sizeof(have));
	setting_word(value, want, sizeof(want));
	if (!strcmp(have, want))
		return true;
	x = strtoll(have, &end_have, 0);
	y = strtoll(want, &end_want, 0);
	return *have && *want && !*end_have && !*end_want && x == y;
}

/* ---- names ---------------------------------------------------------------------------- */

/* Files that do something when written and have no value to put back. */
static const struct {
	const char *name, *step;
} triggers[] = {
	{"vm.compact_memory", "compact"},
	{"vm.drop_caches", "drop"},
	{"vm.stat_refresh", "read"},
};

/* Up to three names of that directory that are close to `leaf`, as "a, b, c"; *nearest in edits. */
static void near_names(const char *prefix, const char *dir, const char *leaf, char *buf,
		       size_t size, unsigned *nearest)
{
	DIR *d = opendir(dir);
	unsigned count = 0;

	*buf = '\0';
	*nearest = ~0u;
	if (!d)
		return;
	for (unsigned want = 0; want <= 3 && count < 3; want++) {
		rewinddir(d);
		for (struct dirent *e = readdir(d); e && count < 3; e = readdir(d)) {
			size_t used = strlen(buf);

			if (e->d_name[0] == '.' || edit_distance(e->d_name, leaf) != want)
				continue;
			if (want < *nearest)
				*nearest = want;
			snprintf(buf + used, size - used, "%s%.63s.%.99s", count++ ? ", " : "",
				 prefix, e->d_name);
		}
	}
	closedir(d);
}

/* `path` does not exist: a typing error, or a setting of another kernel? */
static int unknown(const struct setting *s, const char *path, const char *file,
		   struct cl_error *err)
{
	const char *slash = strrchr(path, '/');
	char dir[512], near[300], prefix[64];
	unsigned nearest;

	snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
	snprintf(prefix, sizeof(prefix), "%s", s->name);
	prefix[strlen(s->name) - strlen(slash + 1) - 1] = '\0';
	near_names(prefix, dir, slash + 1, near, sizeof(near), &nearest);
	if (*near) {
		cl_error_at(err, -EINVAL, file, s->line, "no setting %s here", s->name);
		return cl_error_hint(err, -EINVAL, "did you mean %s?", near);
	}
	cl_error_at(err, -EOPNOTSUPP, file, s->line, "this kernel has no setting %s", s->name);
	return cl_error_hint(err, -EOPNOTSUPP, "%s does not exist; see the names in %s", path, dir);
}

static int find(const struct setting *s, const char *file, char *path, size_t size,
		struct cl_error *err)
{
	for (unsigned i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++)
		if (!strcmp(s->name, triggers[i].name)) {
			cl_error_at(err, -EINVAL, file, s->line, "%s is no setting", s->name);
			return cl_error_hint(err, -EINVAL, "use a step of kind %s",
					     triggers[i].step);
		}
	if (strlen(s->name) >= 64 || setting_path(s->name, path, size) < 0)
		return cl_error_at(
			err, -EINVAL, file, s->line,
			"%s is not a setting: names are vm.NAME, thp.NAME and lru_gen.NAME",
			s->name);
	if (access(path, F_OK) < 0)
		return unknown(s, path, file, err);
	return 0;
}

int settings_probe(const struct settings *s, const char *file, struct cl_error *err)
{
	char path[512];
	int r = 0;

	for (unsigned i = 0; i < s->count && !r; i++)
		r = find(&s->item[i], file, path, sizeof(path), err);
	return r;
}

/* ---- values --------------------------------------------------------------------------- */

/*
 * Two files for one value, as a ratio and in bytes: writing one makes the other 0, and 0
 * cannot be written to the one in bytes. What is in force is put back.
 */
static const char *const pairs[][2] = {
	{SYSCTL_DIR "/dirty_ratio", SYSCTL_DIR "/dirty_bytes"},
	{SYSCTL_DIR "/dirty_background_ratio", SYSCTL_DIR "/dirty_background_bytes"},
};

static int read_word(const char *path, char *buf, size_t size)
{
	char *text;
	int r = file_read(path, &text, NULL);

	if (r)
		return r;
	setting_word(text, buf, size);
	free(text);
	return 0;
}

/*
 * With each write to a file that switches huge pages on or off the kernel sets min_free_kbytes
 * anew (mm/khugepaged.c, set_recommended_min_free_kbytes()), also when what is written is the
 * value from before. Told of first, it is put back last.
 */
static int tell_min_free(struct watchdog *w, const char *path)
{
	static const char min_free[] = SYSCTL_DIR "/min_free_kbytes", end[] = "enabled";
	size_t length = strlen(path);
	char old[512];

	if (strncmp(path, THP_DIR "/", sizeof(THP_DIR)) || length < sizeof(end) ||
	    strcmp(path + length - strlen(end), end) || read_word(min_free, old, sizeof(old)))
		return 0;
	return watchdog_setting(w, min_free, old);
}

static int tell_watchdog(struct watchdog *w, const char *path, const char *old)
{
	char other[512];
	int r = tell_min_free(w, path);

	if (r)
		return r;
	for (unsigned i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
		for (int side = 0; side < 2; side++) {
			const char *partner = pairs[i][!side];

			if (strcmp(path, pairs[i][side]))
				continue;
			if (!strcmp(old, "0") && read_word(partner, other, sizeof(other)) == 0 &&
			    strcmp(other, "0"))
				return watchdog_setting(w, partner, other);
		}
	return watchdog_setting(w, path, old);
}

int settings_write(struct watchdog *w, const char *path, const char *value, struct cl_error *err)
{
	char old[512], now[512];
	int r = read_word(path, old, sizeof(old));

	if (r)
		return cl_error(err, r, "cannot read %s: %s", path, strerror(-r));
	r = tell_watchdog(w, path, old);
	if (r)
		return cl_error(err, r, "the watchdog does not answer, %s is left alone", path);
	r = file_write(path, value);
	if (r) {
		cl_error(err, r, "cannot write '%s' to %s: %s", value, path, strerror(-r));
		return cl_error_hint(err, r, "it shows '%s'", old);
	}
	r = read_word(path, now, sizeof(now));
	if (r || !setting_is(now, value))
		return cl_error(err, r ? r : -EIO, "%s shows '%s' after '%s' was written to it",
				path, r ? "nothing" : now, value);
	return 0;
}

static int apply(struct watchdog *w, const struct setting *s, const char *file, json_t *into,
		 struct cl_error *err)
{
	char path[512], old[512] = "";
	int r = find(s, file, path, sizeof(path), err);

	if (r)
		return r;
	read_word(path, old, sizeof(old));
	r = settings_write(w, path, s->value, err);
	if (r && err) {
		snprintf(err->file, sizeof(err->file), "%s", file ? file : "");
		err->line = s->line;
	}
	if (!r && into)
		json_object_set_new(into, s->name,
				    json_pack("{s:s, s:s}", "from", old, "to", s->value));
	return r;
}

int settings_apply(struct watchdog *w, const struct settings *s, const char *file, json_t *into,
		   struct cl_error *err)
{
	int r = 0;

	for (unsigned i = 0; i < s->count && !r; i++)
		r = apply(w, &s->item[i], file, into, err);
	return r;
}

int settings_try(struct watchdog *w, const struct settings *s, const char *file, bool *refused,
		 struct cl_error *err)
{
	*refused = false;
	for (unsigned i = 0; i < s->count; i++) {
		char path[512];
		int r = find(&s->item[i], file, path, sizeof(path), err);

		if (r)
			return r; /* -EINVAL of the name says nothing about the value */
		r = apply(w, &s->item[i], file, NULL, err);
		if (r == -EINVAL)
			*refused = true;
		else if (r)
			return r;
	}
	return 0;
}
