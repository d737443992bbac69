/* SPDX-License-Identifier: MIT */
#include "backend/kernel_build.h"
#include "backend/kernel_cache.h"
#include "backend/kernel_image.h"
#include "backend/kernel_make.h"
#include "util/util.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* One build: its folder holds the sources, the objects, the output of make and a lock. */
struct build {
	const struct cl_kernel_build *ask;
	FILE *log;
	char name[64];
	char scripts[1100]; /* the folder kernel/ */
	char key[TREE_ID];
	char *source; /* folder or archive */
	char *folder, *tree, *objects, *output;
	char *place; /* folder of the finished kernel */
	int lock;
};

/* ---- name and key -------------------------------------------------------------------- */

/* "~/linux/" -> "linux", "linux-7.3.4.tar.xz" -> "linux-7.3.4" */
static void base_name(const char *path, char *name, size_t size)
{
	size_t end = strlen(path), start;
	char *tar;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start && path[start - 1] != '/'; start--)
		;
	snprintf(name, size, "%.*s", (int)(end - start), path + start);
	tar = strstr(name, ".tar");
	if (tar && tar != name)
		*tar = '\0';
}

static bool good_name(const char *name)
{
	if (!isalnum((unsigned char)name[0]))
		return false;
	for (const char *p = name; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._+-", *p))
			return false;
	return true;
}

static const char *kind_of(const struct cl_kernel_build *ask)
{
	if (ask->debug)
		return ask->no_policies ? "-plain-debug" : "-policies-debug";
	return ask->no_policies ? "-plain" : "-policies";
}

int build_name(const struct cl_kernel_build *ask, char *name, size_t size, struct cl_error *err)
{
	char base[256];
	int n;

	if (ask->name)
		n = snprintf(name, size, "%s", ask->name);
	else if (ask->source) {
		base_name(ask->source, base, sizeof(base));
		n = snprintf(name, size, "%s%s", base, ask->debug ? "-debug" : "");
	} else {
		n = snprintf(name, size, "%s%s", ask->version, kind_of(ask));
	}
	if (n > 0 && (size_t)n < size && good_name(name))
		return 0;
	cl_error(err, -EINVAL, "\"%s\" cannot be the name of a kernel", name);
	return cl_error_hint(err, -EINVAL,
			     "give one of letters, digits, dots and dashes with --name");
}

static void digest_compiler(struct digest *d)
{
	const char *const argv[] = {"gcc", "--version", NULL};
	char *out = NULL;

	if (child_run(argv, &out, NULL) == 0 && out) {
		out[strcspn(out, "\n")] = '\0';
		digest_text(d, out);
	}
	free(out);
}

int build_key(const struct cl_kernel_build *ask, const char *source, const char *scripts,
	      char key[TREE_ID], struct cl_error *err)
{
	struct digest *d = digest_new();
	const char *what = source;
	struct stat s;
	int r = d ? 0 : -ENOMEM;

	if (!r && stat(source, &s) < 0)
		r = -errno;
	if (!r)
		r = S_ISDIR(s.st_mode) ? digest_listing(d, source) : digest_content(d, source);
	if (!r) {
		what = scripts;
		digest_text(d, ask->no_policies ? "plain" : "policies");
		digest_text(d, ask->debug ? "debug" : "");
		digest_compiler(d);
		r = digest_content(d, scripts);
	}
	if (!r && ask->config) {
		what = ask->config;
		r = digest_content(d, ask->config);
	}
	digest_end(d, key);
	return r ? cl_error(err, r == -ENOENT ? -EINVAL : r, "cannot read %s: %s", what,
			    strerror(-r))
		 : 0;
}

/* ---- the folders --------------------------------------------------------------------- */

static char *place_of(const char *name, struct cl_error *err)
{
	char *kernels = kernel_cache_directory("kernels", err), *place;

	place = kernels ? format("%s/%s", kernels, name) : NULL;
	free(kernels);
	return place;
}

static int build_open(struct build *b, struct cl_error *err)
{
	char *below = format("build/%s/objects", b->name), *lock;

	b->objects = below ? kernel_cache_directory(below, err) : NULL;
	free(below);
	b->place = b->objects ? place_of(b->name, err) : NULL;
	if (!b->objects || !b->place)
		return err && err->what[0] ? -EIO : cl_error(err, -ENOMEM, "out of memory");
	b->folder = strndup(b->objects, strlen(b->objects) - strlen("/objects"));
	b->tree = format("%s/source", b->folder);
	b->output = format("%s/make.log", b->folder);
	lock = format("%s/lock", b->folder);
	if (!b->folder || !b->tree || !b->output || !lock) {
		free(lock);
		return cl_error(err, -ENOMEM, "out of memory");
	}
	b->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	free(lock);
	if (b->lock < 0 || flock(b->lock, LOCK_EX | LOCK_NB) < 0) {
		int e = errno;

		if (e == EWOULDBLOCK)
			return cl_error(err, -EBUSY, "kernel %s is being built already", b->name);
		return cl_error(err, -e, "cannot write to %s: %s", b->folder, strerror(e));
	}
	return 0;
}

static void build_close(struct build *b)
{
	if (b->lock >= 0)
		close(b->lock);
	free(b->source);
	free(b->folder);
	free(b->tree);
	free(b->objects);
	free(b->output);
	free(b->place);
}

static bool is_built(const struct build *b, struct cl_kernel *out)
{
	char *path = format("%s/" KERNEL_KEY, b->place), *key = NULL;
	bool same = path && file_read(path, &key, NULL) == 0 &&
		    !strncmp(key, b->key, TREE_ID - 1) &&
		    kernel_cache_open(b->place, b->name, out, NULL) == 0;

	free(key);
	free(path);
	return same;
}

/* A kernel that was fetched is not overwritten by one that was built. */
static int check_place(const struct build *b, struct cl_error *err)
{
	struct cl_kernel there;

	if (kernel_cache_open(b->place, b->name, &there, NULL) || there.built)
		return 0;
	cl_error(err, -EINVAL, "%s is the name of a kernel that was fetched", b->name);
	return cl_error_hint(err, -EINVAL, "give another with --name");
}

/* ---- the steps ----------------------------------------------------------------------- */

static int find_source(struct build *b, struct cl_error *err)
{
	if (!b->ask->source)
		return kernel_fetch_source(b->ask->version, b->log, &b->source, err);
	b->source = realpath(b->ask->source, NULL);
	return b->source ? 0
			 : cl_error(err, -EINVAL, "cannot read %s: %s", b->ask->source,
				    strerror(errno));
}

static int configure(const struct build *b, const struct make *m, struct cl_error *err)
{
	char *base = format("%s/config", b->scripts);
	char *debug = format("%s/config-debug", b->scripts);
	const char *fragments[4] = {base};
	unsigned n = 1;
	int r;

	if (b->ask->debug)
		fragments[n++] = debug;
	if (b->ask->config)
		fragments[n++] = b->ask->config;
	r = base && debug ? make_configure(m, fragments, err)
			  : cl_error(err, -ENOMEM, "out of memory");
	free(debug);
	free(base);
	return r;
}

static int copy_file(const char *from, const char *to)
{
	size_t length;
	char *data;
	int r = file_read(from, &data, &length);

	if (r)
		return r;
	r = file_replace(to, data, length);
	free(data);
	return r;
}

/* A folder that looks like an unpacked package; it appears whole, by rename. */
static int publish(const struct build *b, struct cl_kernel *out, struct cl_error *err)
{
	char *image = format("%s/arch/x86/boot/bzImage", b->objects);
	char *fresh = format("%s/kernel", b->folder), *boot = NULL, *to = NULL, *key = NULL;
	char *text = NULL;
	const char *const clear[] = {"rm", "-rf", "--", fresh, NULL};
	const char *const clear_old[] = {"rm", "-rf", "--", b->place, NULL};
	char release[128];
	int r = image && fresh ? image_release(image, release, sizeof(release), err)
			       : cl_error(err, -ENOMEM, "out of memory");

	if (r)
		goto out;
	boot = format("%s/boot", fresh);
	to = format("%s/vmlinuz-%s", boot, release);
	key = format("%s/" KERNEL_KEY, fresh);
	text = format("%s\n%s\n", b->key, b->ask->no_policies ? "plain" : "policies");
	if (!boot || !to || !key || !text) {
		r = cl_error(err, -ENOMEM, "out of memory");
		goto out;
	}
	child_run(clear, NULL, NULL);
	if (mkdir(fresh, 0755) < 0 || mkdir(boot, 0755) < 0)
		r = -errno;
	if (!r)
		r = copy_file(image, to);
	if (!r)
		r = file_replace(key, text, strlen(text));
	if (!r) {
		child_run(clear_old, NULL, NULL);
		r = rename(fresh, b->place) < 0 ? -errno : 0;
	}
	if (r)
		cl_error(err, r, "cannot write to %s: %s", b->place, strerror(-r));
	else
		r = kernel_cache_open(b->place, b->name, out, err);
out:
	free(text);
	free(key);
	free(to);
	free(boot);
	free(fresh);
	free(image);
	return r;
}

static int compile(struct build *b, struct cl_kernel *out, struct cl_error *err)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	/* The release ends in what the kernel is called, so that a record says which one it was. */
	struct make m = {.tree = b->tree,
			 .objects = b->objects,
			 .base = b->folder,
			 .release = b->ask->source || b->ask->name ? b->name : kind_of(b->ask) + 1,
			 .output = b->output,
			 .jobs = b->ask->jobs ? b->ask->jobs
				 : cpus > 0   ? (unsigned)cpus
					      : 1,
			 .log = b->log};
	int r = tree_copy(b->source, b->tree, b->ask->no_policies ? "plain" : "policies", b->log,
			  err);

	if (!r && !b->ask->no_policies)
		r = tree_apply(b->scripts, b->tree, b->log, err);
	if (!r)
		r = configure(b, &m, err);
	if (!r && b->log)
		fprintf(b->log, "compiling with %u jobs, output in %s\n", m.jobs, m.output);
	if (!r)
		r = make_target(&m, b->ask->only ? b->ask->only : "bzImage", err);
	if (b->ask->only)
		memset(out, 0, sizeof(*out));
	return r || b->ask->only ? r : publish(b, out, err);
}

static int build_run(struct build *b, struct cl_kernel *out, struct cl_error *err)
{
	int r = build_name(b->ask, b->name, sizeof(b->name), err);

	if (!r)
		r = tree_scripts(b->scripts, sizeof(b->scripts), err);
	if (!r)
		r = build_open(b, err);
	if (!r)
		r = check_place(b, err);
	if (!r)
		r = find_source(b, err);
	if (!r)
		r = build_key(b->ask, b->source, b->scripts, b->key, err);
	if (!r && !b->ask->only && is_built(b, out)) {
		if (b->log)
			fprintf(b->log, "kernel %s is up to date: %s\n", b->name, out->release);
		return 0;
	}
	if (!r)
		r = make_probe(!b->ask->no_policies, err);
	if (!r)
		r = compile(b, out, err);
	if (!r && !b->ask->only && b->log)
		fprintf(b->log, "kernel %s is ready: %s\n", b->name, out->release);
	return r;
}

int cl_kernel_build(const struct cl_kernel_build *ask, FILE *log, struct cl_kernel *out,
		    struct cl_error *err)
{
	struct cl_kernel_build with_version = *ask;
	struct build b = {.ask = &with_version, .log = log, .lock = -1};
	int r;

	if (!with_version.version)
		with_version.version = kernel_sources[0].name;
	if (!isdigit((unsigned char)with_version.version[0]) || strchr(with_version.version, '/')) {
		cl_error(err, -EINVAL, "\"%s\" is not a kernel version", with_version.version);
		return cl_error_hint(err, -EINVAL,
				     "give a version such as %s, or sources with --source",
				     kernel_sources[0].name);
	}
	r = build_run(&b, out, err);
	build_close(&b);
	return r;
}
