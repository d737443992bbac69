/* SPDX-License-Identifier: MIT */
#include "backend/kernel_cache.h"
#include "backend/kernel_apt.h"
#include "backend/kernel_image.h"
#include "util/util.h"
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const struct kernel_source kernel_sources[] = {
	{"7.3", "trixie-backports", "7.3.4+deb13-cloud-amd64"},
	{"6.12", "bookworm-security", "6.12.117+deb12-cloud-amd64"},
	{NULL, NULL, NULL},
};

/* As mkdir -p. */
static int make_directories(char *path)
{
	for (char *p = path + 1;; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(path, 0755) < 0 && errno != EEXIST) {
			int e = errno;

			*p = c;
			return -e;
		}
		*p = c;
		if (!c)
			return 0;
	}
}

static char *cache_path(const char *name)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

	/* The XDG base directory specification: a relative path is to be ignored. */
	if (base && base[0] == '/')
		return format("%s/compactlab/%s", base, name);
	return format("%s/.cache/compactlab/%s", home && home[0] == '/' ? home : "/root", name);
}

char *kernel_cache_directory(const char *name, struct cl_error *err)
{
	char *path = cache_path(name);
	int r = path ? make_directories(path) : -ENOMEM;

	if (r) {
		cl_error(err, r, "cannot make the cache directory %s: %s", path ? path : name,
			 strerror(-r));
		cl_error_hint(err, r, "set XDG_CACHE_HOME to a directory you can write to");
		free(path);
		return NULL;
	}
	return path;
}

/* The one file or directory below `directory` that fits; *out is "" when there is none. */
static void find_one(const char *directory, const char *pattern, char *out, size_t size)
{
	char *all = format("%s/%s", directory, pattern);
	glob_t g = {0};

	out[0] = '\0';
	if (all && glob(all, 0, NULL, &g) == 0)
		snprintf(out, size, "%s", g.gl_pathv[0]);
	globfree(&g);
	free(all);
}

static void read_key(const char *directory, struct cl_kernel *out)
{
	char *path = format("%s/" KERNEL_KEY, directory), *text;

	if (path && file_read(path, &text, NULL) == 0) {
		out->built = 1;
		out->policies = strstr(text, "\npolicies\n") != NULL;
		free(text);
	}
	free(path);
}

int kernel_cache_open(const char *directory, const char *name, struct cl_kernel *out,
		      struct cl_error *err)
{
	static const char *const images[] = {"usr/lib/modules/*/vmlinuz", "boot/vmlinuz-*"};
	static const char *const modules[] = {"usr/lib/modules/*/kernel", "lib/modules/*/kernel"};

	memset(out, 0, sizeof(*out));
	snprintf(out->name, sizeof(out->name), "%s", name);
	for (unsigned i = 0; i < 2 && !out->path[0]; i++)
		find_one(directory, images[i], out->path, sizeof(out->path));
	for (unsigned i = 0; i < 2 && !out->modules[0]; i++)
		find_one(directory, modules[i], out->modules, sizeof(out->modules));
	if (!out->path[0])
		return cl_error(err, -ENOENT, "no kernel image in %s", directory);
	read_key(directory, out);
	return image_release(out->path, out->release, sizeof(out->release), err);
}

static int newest_first(const void *a, const void *b)
{
	const struct cl_kernel_entry *x = a, *y = b;
	int by_release = strverscmp(y->kernel.release, x->kernel.release);

	return by_release ? by_release : strverscmp(y->kernel.name, x->kernel.name);
}

/* Every image in the cache, newest first. A directory that holds none is passed over. */
static int cache_list(struct cl_kernel_entry **out, unsigned *count)
{
	char *path = cache_path("kernels");
	struct dirent **entry;
	int n = path ? scandir(path, &entry, NULL, NULL) : -1;

	*count = 0;
	*out = calloc((size_t)(n > 0 ? n : 0) + 1, sizeof(**out));
	for (int i = 0; i < n; i++) {
		char *directory = format("%s/%s", path, entry[i]->d_name);

		if (*out && directory && entry[i]->d_name[0] != '.' &&
		    kernel_cache_open(directory, entry[i]->d_name, &(*out)[*count].kernel, NULL) ==
			    0)
			(*out)[(*count)++].cached = 1;
		free(directory);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	free(path);
	if (!*out)
		return -ENOMEM;
	qsort(*out, *count, sizeof(**out), newest_first);
	return 0;
}

/* NULL and a version mean a kernel as released, not one that somebody has changed. */
static bool kernel_is(const struct cl_kernel *k, const char *wanted)
{
	if (!wanted)
		return !k->built;
	if (k->built)
		return !strcmp(k->name, wanted) || !strcmp(k->release, wanted);
	return !strcmp(k->name, wanted) || release_matches(k->release, wanted);
}

int cl_kernel_list(struct cl_kernel_entry **out, unsigned *count, struct cl_error *err)
{
	struct cl_kernel_entry *all;
	unsigned cached, n;

	if (cache_list(&all, &cached) < 0)
		return cl_error(err, -ENOMEM, "out of memory");
	n = cached;
	for (const struct kernel_source *s = kernel_sources; s->name; s++) {
		struct cl_kernel_entry *more;
		bool have = false;

		for (unsigned i = 0; i < cached; i++)
			have |= kernel_is(&all[i].kernel, s->name);
		if (have)
			continue;
		more = reallocarray(all, n + 1, sizeof(*all));
		if (!more) {
			free(all);
			return cl_error(err, -ENOMEM, "out of memory");
		}
		all = more;
		memset(&all[n], 0, sizeof(*all));
		snprintf(all[n].kernel.name, sizeof(all[n].kernel.name), "%s", s->name);
		n++;
	}
	*out = all;
	*count = n;
	return 0;
}

static int find_file(const char *path, struct cl_kernel *out, struct cl_error *err)
{
	const char *base = strrchr(path, '/');

	memset(out, 0, sizeof(*out));
	out->file = 1;
	if (strlen(path) >= sizeof(out->path))
		return cl_error(err, -ENAMETOOLONG, "the path of the kernel image is too long");
	snprintf(out->name, sizeof(out->name), "%.63s", base ? base + 1 : path);
	snprintf(out->path, sizeof(out->path), "%s", path);
	return image_release(path, out->release, sizeof(out->release), err);
}

int cl_kernel_find(const char *name, struct cl_kernel *out, struct cl_error *err)
{
	struct cl_kernel_entry *all;
	unsigned count;
	bool found = false;

	if (name && strchr(name, '/'))
		return find_file(name, out, err);
	if (cache_list(&all, &count) < 0)
		return cl_error(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < count && !found; i++)
		if (kernel_is(&all[i].kernel, name)) {
			*out = all[i].kernel;
			found = true;
		}
	free(all);
	if (found)
		return 0;
	if (name && access(name, F_OK) == 0)
		return find_file(name, out, err);
	if (name)
		cl_error(err, -EOPNOTSUPP, "no kernel image \"%s\" in the cache", name);
	else
		cl_error(err, -EOPNOTSUPP, "no kernel image in the cache");
	return cl_error_hint(err, -EOPNOTSUPP,
			     "get it with `compactlab kernel fetch %s`, or give a bzImage with "
			     "--kernel FILE",
			     name ? name : kernel_sources[0].name);
}
