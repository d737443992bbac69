/* SPDX-License-Identifier: MIT */
#include "backend/kernel_cache.h"
#include "backend/kernel_apt.h"
#include "util/util.h"
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* One download: everything happens below the cache directory, under its lock. */
struct fetch {
	const char *name;                   /* as the user typed it */
	const char *command;                /* that it was typed to */
	const struct kernel_source *source; /* NULL: look in every suite known */
	FILE *log;
	char *apt;     /* private state of apt */
	char *kernels; /* where images end up */
	char *conf;    /* apt.conf in `apt` */
	char *unpack;  /* temporary directory in `kernels`, or NULL */
	int lock;
};

static void say(const struct fetch *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void say(const struct fetch *f, const char *fmt, ...)
{
	va_list ap;

	if (!f->log)
		return;
	va_start(ap, fmt);
	vfprintf(f->log, fmt, ap);
	va_end(ap);
	fputc('\n', f->log);
	fflush(f->log);
}

static void remove_tree(const char *path)
{
	const char *const argv[] = {"rm", "-rf", "--", path, NULL};

	child_run(argv, NULL, NULL);
}

/* The first error of what apt said, as later ones only sum up, or the last line. */
static char *reason(char *text, char *buf, size_t size)
{
	const char *best = "it gave no reason";
	char *save;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		best = line;
		if (!strncmp(line, "E: ", 3)) {
			best = line + 3;
			break;
		}
	}
	snprintf(buf, size, "%s", best);
	return buf;
}

/* Run a tool; *out may be NULL. Its failure becomes an error that says how to go on. */
static int tool(const struct fetch *f, const char *const argv[], const char *doing, char **out,
		struct cl_error *err)
{
	char *text = NULL, *errors = NULL, why[600];
	int r = child_run(argv, &text, &errors);

	if (r) {
		reason(errors && errors[0] ? errors : text ? text : (char[]){""}, why, sizeof(why));
		if (r < 0)
			cl_error(err, r, "cannot start %s: %s", argv[0], strerror(-r));
		else
			cl_error(err, -EIO, "%s failed: %s", doing, why);
		r = cl_error_hint(err, r < 0 ? r : -EIO, "retry with `compactlab kernel %s %s`",
				  f->command, f->name);
	}
	free(errors);
	if (out && !r)
		*out = text;
	else
		free(text);
	return r;
}

/*
 * apt reads the machine's configuration first, so proxies and credentials apply; then
 * this file, which moves every directory it would write to and drops the hooks and pins
 * that the machine's own packages have.
 */
static int write_configuration(struct fetch *f, struct cl_error *err)
{
	char *status = format("%s/status", f->apt), *text;
	int r;

	text = format("Dir::State \"%s/state\";\n"
		      "Dir::State::lists \"%s/lists\";\n"
		      "Dir::State::status \"%s/status\";\n"
		      "Dir::State::extended_states \"%s/extended_states\";\n"
		      "Dir::Cache \"%s/cache\";\n"
		      "Dir::Etc::sourcelist \"%s/sources.list\";\n"
		      "Dir::Etc::sourceparts \"/dev/null\";\n"
		      "Dir::Etc::preferences \"/dev/null\";\n"
		      "Dir::Etc::preferencesparts \"/dev/null\";\n"
		      "Dir::Log \"%s\";\n"
		      "#clear APT::Update::Pre-Invoke;\n"
		      "#clear APT::Update::Post-Invoke;\n"
		      "#clear APT::Update::Post-Invoke-Success;\n"
		      "#clear DPkg::Pre-Invoke;\n"
		      "#clear DPkg::Post-Invoke;\n"
		      "#clear APT::Architectures;\n"
		      "APT::Architecture \"amd64\";\n"
		      "APT::Architectures { \"amd64\"; };\n"
		      "APT::Default-Release \"\";\n"
		      "APT::Get::AllowUnauthenticated \"false\";\n"
		      "Acquire::AllowInsecureRepositories \"false\";\n"
		      "Acquire::Languages \"none\";\n"
		      "Acquire::PDiffs \"false\";\n"
		      "Acquire::Retries \"2\";\n"
		      "%s",
		      f->apt, f->apt, f->apt, f->apt, f->apt, f->apt, f->apt,
		      /* apt's own user cannot read root's home, where root's cache lies. */
		      geteuid() == 0 ? "APT::Sandbox::User \"root\";\n" : "");
	r = text && status ? file_replace(f->conf, text, strlen(text)) : -ENOMEM;
	if (!r)
		r = file_replace(status, "", 0);
	free(text);
	free(status);
	return r ? cl_error(err, r, "cannot write %s: %s", f->conf, strerror(-r)) : 0;
}

static int write_sources(struct fetch *f, struct cl_error *err)
{
	char *path = format("%s/sources.list", f->apt), text[4096] = "", line[1024];
	struct apt_sources sources;
	size_t used = 0;
	int r = 0;

	apt_read("/etc/apt", &sources);
	for (const struct kernel_source *s = kernel_sources; s->name && !r; s++) {
		if (f->source && f->source != s)
			continue;
		r = apt_source_line(&sources, s->suite, line, sizeof(line));
		if (!r)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s\n", line);
	}
	if (r) {
		cl_error(err, -EOPNOTSUPP, "apt on this machine has no Debian archive configured");
		r = cl_error_hint(err, -EOPNOTSUPP,
				  "kernels are fetched as Debian packages; elsewhere give any "
				  "bzImage with --kernel FILE");
	} else {
		r = path ? file_replace(path, text, used) : -ENOMEM;
		if (r)
			cl_error(err, r, "cannot write %s/sources.list: %s", f->apt, strerror(-r));
	}
	free(path);
	return r;
}

static int have_tools(struct cl_error *err)
{
	static const char *const tools[] = {"apt-get", "apt-cache", "dpkg-deb"};

	for (unsigned i = 0; i < 3; i++) {
		const char *const argv[] = {tools[i], "--version", NULL};

		if (child_run(argv, NULL, NULL) == 0)
			continue;
		cl_error(err, -EOPNOTSUPP,
			 "kernels are fetched as Debian packages, and %s is not here", tools[i]);
		return cl_error_hint(err, -EOPNOTSUPP,
				     "give any bzImage with --kernel FILE instead");
	}
	return 0;
}

/* Make apt's directories and take the lock, so that two runs do not download twice. */
static int fetch_open(struct fetch *f, struct cl_error *err)
{
	static const char *const parts[] = {"apt/state", "apt/lists/partial",
					    "apt/cache/archives/partial", "kernels", "apt"};
	char *path = NULL;

	for (unsigned i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		free(path);
		path = kernel_cache_directory(parts[i], err);
		if (!path)
			return err && err->what[0] ? -EIO : -ENOMEM;
		if (i == 3)
			f->kernels = strdup(path);
	}
	f->apt = path;
	f->conf = format("%s/apt.conf", f->apt);
	path = format("%s/lock", f->apt);
	if (!f->kernels || !f->conf || !path) {
		free(path);
		return cl_error(err, -ENOMEM, "out of memory");
	}
	f->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	free(path);
	if (f->lock < 0)
		return cl_error(err, -errno, "cannot write to %s: %s", f->apt, strerror(errno));
	if (flock(f->lock, LOCK_EX | LOCK_NB) < 0) {
		say(f, "waiting for another compactlab that fetches a kernel");
		if (flock(f->lock, LOCK_EX) < 0)
			return cl_error(err, -errno, "cannot lock %s: %s", f->apt, strerror(errno));
	}
	return 0;
}

/* What a download that was killed left behind; nobody else is at work under our lock. */
static void remove_leftovers(const struct fetch *f)
{
	struct dirent **entry;
	int n = scandir(f->kernels, &entry, NULL, NULL);

	for (int i = 0; i < n; i++) {
		char *path = format("%s/%s", f->kernels, entry[i]->d_name);

		if (path && !strncmp(entry[i]->d_name, ".unpack-", 8))
			remove_tree(path);
		free(path);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
}

static void fetch_close(struct fetch *f)
{
	if (f->unpack)
		remove_tree(f->unpack);
	if (f->lock >= 0)
		close(f->lock);
	free(f->unpack);
	free(f->conf);
	free(f->apt);
	free(f->kernels);
}

/* Names of all packages with a kernel image that the suites have. */
static int package_names(const struct fetch *f, char **names, struct cl_error *err)
{
	const char *const update[] = {"env",     "LC_ALL=C",
				      "apt-get", "-c",
				      f->conf,   "-q",
				      "-o",      "APT::Update::Error-Mode=any",
				      "update",  NULL};
	const char *const list[] = {"env",   "LC_ALL=C", "apt-cache", "-c",
				    f->conf, "pkgnames", "linux-",    NULL};
	int r = tool(f, update, "reading the package lists", NULL, err);

	return r ? r : tool(f, list, "listing the packages", names, err);
}

static int unknown(const struct fetch *f, const char *names, struct cl_error *err)
{
	char known[300] = "", package[200];
	size_t used = 0;

	/* Offer one of each series that is there: 7.0, 7.1, 7.2 ... */
	for (int major = 9; major >= 5; major--)
		for (int minor = 30; minor >= 0; minor--) {
			char version[32];

			snprintf(version, sizeof(version), "%d.%d", major, minor);
			if (apt_choose(names, version, NULL, package, sizeof(package)) == 0 &&
			    used < sizeof(known) - 16)
				used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
							 used ? ", " : "", version);
		}
	cl_error(err, -EINVAL, "Debian has no cloud kernel \"%s\" in the suites looked at",
		 f->name);
	return cl_error_hint(err, -EINVAL, "there are %s", known[0] ? known : "none");
}

/* Download the package into a temporary directory and unpack it there. */
static int unpack(struct fetch *f, const char *package, struct cl_error *err)
{
	const char *const download[] = {"env",   "-C", f->unpack,  "LC_ALL=C", "apt-get", "-c",
					f->conf, "-q", "download", package,    NULL};
	struct dirent **entry;
	int r, n;

	say(f, "downloading %s", package);
	r = tool(f, download, "the download", NULL, err);
	if (r)
		return r;
	n = scandir(f->unpack, &entry, NULL, NULL);
	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char *deb = format("%s/%s", f->unpack, name);
		const char *const extract[] = {"dpkg-deb", "-x", deb, f->unpack, NULL};

		if (!deb)
			r = cl_error(err, -ENOMEM, "out of memory");
		else if (strlen(name) > 4 && !strcmp(name + strlen(name) - 4, ".deb")) {
			say(f, "unpacking %s", name);
			r = r ? r : tool(f, extract, "unpacking", NULL, err);
			unlink(deb);
		}
		free(deb);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return r;
}

/* Move the unpacked package to its place; from then on everybody sees it, whole. */
static int publish(struct fetch *f, struct cl_kernel *out, struct cl_error *err)
{
	char *place = format("%s/%s", f->kernels, f->name);
	int r = place ? kernel_cache_open(f->unpack, f->name, out, err)
		      : cl_error(err, -ENOMEM, "out of memory");

	/* A directory of that name without an image in it would have been found before. */
	if (!r) {
		remove_tree(place);
		if (chmod(f->unpack, 0755) < 0 || rename(f->unpack, place) < 0)
			r = cl_error(err, -errno, "cannot rename %s to %s: %s", f->unpack, place,
				     strerror(errno));
	}
	if (!r) {
		free(f->unpack);
		f->unpack = NULL;
		r = kernel_cache_open(place, f->name, out, err);
	}
	free(place);
	return r;
}

/* The package lists of the suites in question, new; *names may be NULL. */
static int fetch_lists(struct fetch *f, char **names, struct cl_error *err)
{
	int r;

	remove_leftovers(f);
	r = write_configuration(f, err);
	if (!r)
		r = write_sources(f, err);
	if (r)
		return r;
	say(f, "reading package lists of Debian %s", f->source ? f->source->suite : "suites");
	return package_names(f, names, err);
}

static int fetch_package(struct fetch *f, const char *package, struct cl_error *err)
{
	f->unpack = format("%s/.unpack-XXXXXX", f->kernels);
	if (!f->unpack || !mkdtemp(f->unpack))
		return cl_error(err, -errno, "cannot make a directory in %s: %s", f->kernels,
				strerror(errno));
	return unpack(f, package, err);
}

static int fetch_run(struct fetch *f, struct cl_kernel *out, struct cl_error *err)
{
	char *names = NULL, package[200];
	int r = fetch_open(f, err);

	if (r)
		return r;
	/* Another run may have fetched it while we waited for the lock. */
	if (cl_kernel_find(f->name, out, NULL) == 0)
		return 0;
	r = fetch_lists(f, &names, err);
	if (!r && apt_choose(names, f->name, f->source ? f->source->preferred : NULL, package,
			     sizeof(package)) < 0)
		r = unknown(f, names, err);
	free(names);
	if (!r)
		r = fetch_package(f, package, err);
	if (!r)
		r = publish(f, out, err);
	if (!r)
		say(f, "kernel %s is ready: %s", f->name, out->release);
	return r;
}

/* What a name belongs to; NULL: it may be in any suite. */
static const struct kernel_source *source_of(const char *name)
{
	for (const struct kernel_source *s = kernel_sources; s->name; s++)
		if (release_matches(name, s->name))
			return s;
	return NULL;
}

int cl_kernel_fetch(const char *name, FILE *log, struct cl_kernel *out, struct cl_error *err)
{
	struct fetch f = {.name = name, .command = "fetch", .log = log, .lock = -1};
	int r;

	if (!isdigit((unsigned char)name[0]) || strchr(name, '/') || strchr(name, ' ') ||
	    strlen(name) >= sizeof(out->name)) {
		cl_error(err, -EINVAL, "\"%s\" is not a kernel version", name);
		return cl_error_hint(err, -EINVAL, "give a version such as %s",
				     kernel_sources[0].name);
	}
	if (cl_kernel_find(name, out, NULL) == 0)
		return 0;
	r = have_tools(err);
	if (r)
		return r;
	f.source = source_of(name);
	r = fetch_run(&f, out, err);
	fetch_close(&f);
	return r;
}

/* ---- sources ------------------------------------------------------------------------ */

static bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *p = text; (p = strstr(p, line)); p += n)
		if ((p == text || p[-1] == '\n') && (p[n] == '\n' || p[n] == '\0'))
			return true;
	return false;
}

/* "7.3.4" -> "7.3": Debian names the package of the sources by the series. */
static void series_of(const char *version, char *series, size_t size)
{
	size_t n = strcspn(version, ".");

	n += version[n] ? 1 + strcspn(version + n + 1, ".") : 0;
	snprintf(series, size, "%.*s", (int)n, version);
}

static int fetch_source(struct fetch *f, const char *series, const char *place,
			struct cl_error *err)
{
	char *package = format("linux-source-%s", series), *from = NULL, *names = NULL;
	int r = package ? fetch_open(f, err) : cl_error(err, -ENOMEM, "out of memory");

	if (!r && access(place, R_OK) < 0) {
		r = fetch_lists(f, &names, err);
		if (!r && !has_line(names, package)) {
			cl_error(err, -EINVAL, "Debian has no package %s in the suites looked at",
				 package);
			r = cl_error_hint(err, -EINVAL, "give sources of your own with --source");
		}
		if (!r)
			r = fetch_package(f, package, err);
		if (!r) {
			from = format("%s/usr/src/%s.tar.xz", f->unpack, package);
			if (!from || rename(from, place) < 0)
				r = cl_error(err, -EIO, "%s holds no %s.tar.xz", package, package);
		}
	}
	free(from);
	free(names);
	free(package);
	return r;
}

int kernel_fetch_source(const char *version, FILE *log, char **tarball, struct cl_error *err)
{
	struct fetch f = {.name = version, .command = "build", .log = log, .lock = -1};
	char series[32], *directory;
	int r = have_tools(err);

	*tarball = NULL;
	if (r)
		return r;
	series_of(version, series, sizeof(series));
	directory = kernel_cache_directory("sources", err);
	if (!directory)
		return -EIO;
	*tarball = format("%s/linux-source-%s.tar.xz", directory, series);
	free(directory);
	if (!*tarball)
		return cl_error(err, -ENOMEM, "out of memory");
	f.source = source_of(version);
	if (access(*tarball, R_OK) < 0) {
		r = fetch_source(&f, series, *tarball, err);
		fetch_close(&f);
	}
	if (r) {
		free(*tarball);
		*tarball = NULL;
	}
	return r;
}
