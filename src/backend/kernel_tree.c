/* SPDX-License-Identifier: MIT */
#include "backend/kernel_tree.h"
#include "config.h"
#include "util/util.h"
#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <libgen.h>
#include <sha2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What building leaves in a tree, and what git and editors keep there. */
static const char *const not_source[] = {".*",
					 "*.o",
					 "*.a",
					 "*.ko",
					 "*.mod",
					 "/vmlinux*",
					 "/arch/*/boot/compressed/vmlinux",
					 "/arch/*/boot/compressed/vmlinux.bin*",
					 "/arch/*/kernel/vmlinux.lds",
					 "/include/config",
					 "/include/generated",
					 "/arch/*/include/generated",
					 "/arch/*/boot/bzImage"};
#define NOT_SOURCE (sizeof(not_source) / sizeof(not_source[0]))

/* ---- sums --------------------------------------------------------------------------- */

struct digest {
	SHA2_CTX sha;
};

struct digest *digest_new(void)
{
	struct digest *d = malloc(sizeof(*d));

	if (d)
		SHA256Init(&d->sha);
	return d;
}

void digest_text(struct digest *d, const char *text)
{
	/* With its end, so that "ab","c" is not "a","bc". */
	SHA256Update(&d->sha, (const uint8_t *)text, strlen(text) + 1);
}

void digest_end(struct digest *d, char id[TREE_ID])
{
	if (d)
		SHA256End(&d->sha, id);
	free(d);
}

static int by_name(const FTSENT **a, const FTSENT **b)
{
	return strcmp((*a)->fts_name, (*b)->fts_name);
}

static int digest_file(struct digest *d, const char *path)
{
	char buf[65536];
	FILE *f = fopen(path, "re");
	size_t n;
	int r;

	if (!f)
		return -errno;
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		SHA256Update(&d->sha, (const uint8_t *)buf, n);
	r = ferror(f) ? -EIO : 0;
	fclose(f);
	return r;
}

/* Call `each` with every file below `path`, or with it when it is one itself. */
static int walk(const char *path, int (*each)(struct digest *d, FTS *fts, FTSENT *e),
		struct digest *d)
{
	char *const roots[] = {(char *)path, NULL};
	FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
	FTSENT *e;
	int r = fts ? 0 : -errno;

	while (!r && (errno = 0, e = fts_read(fts))) {
		if (e->fts_info == FTS_DNR || e->fts_info == FTS_ERR || e->fts_info == FTS_NS)
			r = -e->fts_errno;
		else if (e->fts_info != FTS_DP)
			r = each(d, fts, e);
	}
	if (!r && errno)
		r = -errno;
	if (fts)
		fts_close(fts);
	return r;
}

static int content_each(struct digest *d, FTS *fts, FTSENT *e)
{
	(void)fts;
	if (e->fts_info != FTS_F)
		return 0;
	digest_text(d, e->fts_name);
	return digest_file(d, e->fts_path);
}

int digest_content(struct digest *d, const char *path)
{
	return walk(path, content_each, d);
}

static const char *below_root(const FTSENT *e)
{
	const FTSENT *root = e;

	while (root->fts_level > FTS_ROOTLEVEL)
		root = root->fts_parent;
	return e->fts_path + root->fts_pathlen;
}

static bool is_source(const FTSENT *e)
{
	const char *path = below_root(e);

	for (unsigned i = 0; i < NOT_SOURCE; i++) {
		bool whole = not_source[i][0] == '/';

		if (!fnmatch(not_source[i], whole ? path : e->fts_name, 0))
			return false;
	}
	return true;
}

static int listing_each(struct digest *d, FTS *fts, FTSENT *e)
{
	char line[128];

	if (e->fts_level == FTS_ROOTLEVEL)
		return 0;
	if (!is_source(e)) {
		fts_set(fts, e, FTS_SKIP);
		return 0;
	}
	if (e->fts_info == FTS_D)
		return 0;
	digest_text(d, below_root(e));
	snprintf(line, sizeof(line), "%lld %lld.%09ld", (long long)e->fts_statp->st_size,
		 (long long)e->fts_statp->st_mtim.tv_sec, e->fts_statp->st_mtim.tv_nsec);
	digest_text(d, line);
	return 0;
}

int digest_listing(struct digest *d, const char *tree)
{
	return walk(tree, listing_each, d);
}

/* ---- the folder kernel/ -------------------------------------------------------------- */

static bool scripts_at(const char *base, const char *name, char *path, size_t size)
{
	int n = snprintf(path, size, "%s%s/apply", base, name);

	if (n < 0 || (size_t)n >= size || access(path, X_OK) < 0)
		return false;
	path[n - (int)strlen("/apply")] = '\0';
	return true;
}

int tree_scripts(char *path, size_t size, struct cl_error *err)
{
	char self[1024], *directory;
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n > 0) {
		self[n] = '\0';
		directory = dirname(self);
		/* From the folder of a build, and from one of the tests in it. */
		if (scripts_at(directory, "/../kernel", path, size) ||
		    scripts_at(directory, "/../../kernel", path, size))
			return 0;
	}
	if (scripts_at(CL_DATADIR, "/kernel", path, size))
		return 0;
	cl_error(err, -EOPNOTSUPP,
		 "what changes a kernel's sources is neither beside this program nor in %s",
		 CL_DATADIR "/kernel");
	return cl_error_hint(err, -EOPNOTSUPP,
			     "run the program from its build directory, or install with "
			     "`make install`");
}

/* ---- copies ------------------------------------------------------------------------- */

/* The last line that a tool said, which mostly names the reason. */
static int tool_failed(int status, const char *doing, char *errors, struct cl_error *err)
{
	char *last = errors;

	for (char *p = errors; p && *p; p++)
		if (p[0] == '\n' && p[1] && p[1] != '\n')
			last = p + 1;
	if (last)
		last[strcspn(last, "\n")] = '\0';
	if (status < 0)
		return cl_error(err, status, "%s: %s", doing, strerror(-status));
	return cl_error(err, -EIO, "%s failed: %.500s", doing,
			last && *last ? last : "no reason given");
}

/* What `apply` keeps of an earlier state of the folder goes first: rsync brings the originals. */
static int copy_folder(const char *source, const char *tree, struct cl_error *err)
{
	char *kept = format("%s/.compactlab", tree);
	const char *const clear[] = {"rm", "-rf", "--", kept, NULL};
	char *from = format("%s/", source), *exclude[NOT_SOURCE] = {NULL}, *errors = NULL;
	const char *argv[6 + NOT_SOURCE] = {"rsync", "-a", "--delete"};
	unsigned n = 3;
	int r = from ? 0 : -ENOMEM;

	for (unsigned i = 0; i < NOT_SOURCE; i++) {
		exclude[i] = format("--exclude=%s", not_source[i]);
		argv[n++] = exclude[i];
		r = exclude[i] ? r : -ENOMEM;
	}
	argv[n++] = from;
	argv[n++] = tree;
	argv[n] = NULL;
	if (!r)
		r = kept ? child_run(clear, NULL, NULL) : -ENOMEM;
	if (!r)
		r = child_run(argv, NULL, &errors);
	if (r)
		r = tool_failed(r, "copying the sources with rsync", errors, err);
	if (r == -ENOENT)
		cl_error_hint(err, r, "apt install rsync");
	for (unsigned i = 0; i < NOT_SOURCE; i++)
		free(exclude[i]);
	free(errors);
	free(from);
	free(kept);
	return r;
}

static int unpack_archive(const char *source, const char *tree, struct cl_error *err)
{
	char *fresh = format("%s.new", tree), *errors = NULL;
	const char *const clear[] = {"rm", "-rf", "--", fresh, tree, NULL};
	const char *const argv[] = {"tar", "-x",  "-f", source, "--strip-components=1",
				    "-C",  fresh, NULL};
	int r = fresh ? child_run(clear, NULL, NULL) : -ENOMEM;

	if (!r && mkdir(fresh, 0755) < 0)
		r = -errno;
	if (!r)
		r = child_run(argv, NULL, &errors);
	if (r)
		r = tool_failed(r, "unpacking the sources", errors, err);
	else if (rename(fresh, tree) < 0)
		r = cl_error(err, -errno, "cannot rename %s to %s: %s", fresh, tree,
			     strerror(errno));
	free(errors);
	free(fresh);
	return r;
}

/* Which archive a tree came from: its path, size and time, in a file beside the tree. */
static char *archive_mark(const char *source, const struct stat *s, const char *purpose)
{
	return format("%s %lld %lld %s\n", source, (long long)s->st_size, (long long)s->st_mtime,
		      purpose);
}

static int copy_archive(const char *source, const struct stat *s, const char *tree,
			const char *purpose, FILE *log, struct cl_error *err)
{
	char *mark = archive_mark(source, s, purpose), *place = format("%s.from", tree),
	     *old = NULL;
	int r = mark && place ? 0 : cl_error(err, -ENOMEM, "out of memory");

	if (!r &&
	    !(access(tree, F_OK) == 0 && file_read(place, &old, NULL) == 0 && !strcmp(old, mark))) {
		if (log)
			fprintf(log, "unpacking %s\n", source);
		r = unpack_archive(source, tree, err);
		if (!r)
			r = file_replace(place, mark, strlen(mark));
	}
	free(old);
	free(place);
	free(mark);
	return r;
}

static int no_sources(const char *source, struct cl_error *err)
{
	return cl_error(err, -EINVAL, "%s holds no sources of Linux: there is no mm/compaction.c",
			source);
}

static bool is_linux(const char *tree)
{
	char *file = format("%s/mm/compaction.c", tree);
	bool is = file && access(file, R_OK) == 0;

	free(file);
	return is;
}

int tree_copy(const char *source, const char *tree, const char *purpose, FILE *log,
	      struct cl_error *err)
{
	struct stat s;
	int r;

	if (stat(source, &s) < 0)
		return cl_error(err, -EINVAL, "cannot read %s: %s", source, strerror(errno));
	if (S_ISDIR(s.st_mode)) {
		/* Before it is copied: it may be somebody's home. */
		if (!is_linux(source))
			return no_sources(source, err);
		if (log)
			fprintf(log, "copying %s\n", source);
		return copy_folder(source, tree, err);
	}
	r = copy_archive(source, &s, tree, purpose, log, err);
	return r ? r : is_linux(tree) ? 0 : no_sources(source, err);
}

int tree_apply(const char *scripts, const char *tree, FILE *log, struct cl_error *err)
{
	char *program = format("%s/apply", scripts), *out = NULL, *errors = NULL;
	const char *const argv[] = {program, tree, NULL};
	int r = program ? child_run(argv, &out, &errors) : -ENOMEM;

	if (r) {
		r = tool_failed(r, "putting the policies into the sources", errors, err);
		cl_error_hint(err, r,
			      "a tree that changes the same places is built with --no-policies");
	} else if (log && out && out[0]) {
		fputs(out, log);
	}
	free(errors);
	free(out);
	free(program);
	return r;
}
