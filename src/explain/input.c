/* SPDX-License-Identifier: MIT */
#include "explain/evidence.h"
#include "explain/tar.h"
#include "util/util.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK      (128 * 1024)
#define FILES_MOST 4096
#define DEPTH_MOST 12
/* Of a directory, files larger than this are named as left out: no text log is. */
#define TREE_FILE_MOST (1024LL * 1024 * 1024)

struct walk {
	struct evidence *e;
	size_t root; /* length of the path that was given, not shown */
	unsigned files;
	char *buffer;
};

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static const char *compressed(const unsigned char *b, size_t n)
{
	if (n >= 2 && b[0] == 0x1f && b[1] == 0x8b)
		return "gzip";
	if (n >= 6 && !memcmp(b,
			      "\xfd"
			      "7zXZ",
			      5))
		return "xz";
	if (n >= 4 && !memcmp(b, "\x28\xb5\x2f\xfd", 4))
		return "zstd";
	if (n >= 3 && !memcmp(b, "BZh", 3))
		return "bzip2";
	if (n >= 4 && !memcmp(b, "PK\x03\x04", 4))
		return "zip";
	if (n >= 8 && !memcmp(b, "LPKSHHRH", 8))
		return "a binary journal (use journalctl -k)";
	return NULL;
}

/* ---- one stream --------------------------------------------------------------------- */

static ssize_t fill(int fd, char *buffer, size_t size)
{
	size_t used = 0;

	while (used < size) {
		ssize_t n = read(fd, buffer + used, size - used);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return used ? (ssize_t)used : -errno;
		if (!n)
			break;
		used += (size_t)n;
	}
	return (ssize_t)used;
}

struct tar_target {
	struct evidence *e;
	struct sorter *sorter;
	int file;
	bool skip;
};

static int tar_file(void *arg, const char *name)
{
	struct tar_target *t = arg;

	t->file = evidence_source(t->e, name);
	t->sorter = t->file < 0 ? NULL : sorter_new(t->e, t->file);
	t->skip = false;
	return t->sorter ? 0 : -ENOMEM;
}

static int tar_bytes(void *arg, const char *bytes, size_t length)
{
	struct tar_target *t = arg;

	if (!t->skip && sorter_bytes(t->sorter, bytes, length)) {
		t->skip = true;
		evidence_left_out(t->e, t->file, 0, "not text");
	}
	return 0;
}

static void tar_end(void *arg)
{
	struct tar_target *t = arg;

	if (t->sorter && !t->skip)
		sorter_end(t->sorter);
	sorter_free(t->sorter);
	t->sorter = NULL;
}

static int read_tar(struct evidence *e, int fd, char *buffer, ssize_t n)
{
	struct tar_target target = {.e = e};
	struct tar_reader *r =
		tar_reader_new(&(struct tar_calls){tar_file, tar_bytes, tar_end}, &target);
	int code = r ? 0 : -ENOMEM;

	while (!code && n > 0) {
		code = tar_reader_bytes(r, buffer, (size_t)n);
		if (!code)
			n = fill(fd, buffer, CHUNK);
	}
	if (r)
		tar_reader_end(r);
	free(r);
	if (code == -EINVAL) {
		evidence_left_out(e, -1, 0, "the rest of an archive that is damaged");
		code = 0;
	}
	return code;
}

static int read_text(struct evidence *e, int fd, const char *name, char *buffer, ssize_t n)
{
	int file = evidence_source(e, name), code = 0;
	struct sorter *s;
	const char *packed;

	if (file < 0)
		return file;
	packed = compressed((const unsigned char *)buffer, (size_t)n);
	if (packed) {
		evidence_left_out(e, file, 0, "compressed (%s): unpack it first", packed);
		return 0;
	}
	s = sorter_new(e, file);
	if (!s)
		return -ENOMEM;
	while (!code && n > 0) {
		code = sorter_bytes(s, buffer, (size_t)n);
		if (!code)
			n = fill(fd, buffer, CHUNK);
	}
	if (code)
		evidence_left_out(e, file, 0, "not text");
	else if (n < 0)
		evidence_left_out(e, file, 0, "could not be read: %s", strerror((int)-n));
	sorter_end(s);
	sorter_free(s);
	return 0;
}

static int read_fd(struct evidence *e, int fd, const char *name, char *buffer)
{
	ssize_t n = fill(fd, buffer, CHUNK);

	if (n < 0)
		return (int)n;
	if (n == 0) {
		int file = evidence_source(e, name);

		if (file >= 0)
			evidence_left_out(e, file, 0, "empty");
		return file < 0 ? file : 0;
	}
	if (tar_is(buffer, (size_t)n))
		return read_tar(e, fd, buffer, n);
	return read_text(e, fd, name, buffer, n);
}

/* ---- directories -------------------------------------------------------------------- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int not_hidden(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

static void walk_file(struct walk *w, const char *path, const struct stat *st)
{
	const char *name = path + w->root;
	int fd, code;

	while (*name == '/')
		name++;
	if (w->files++ >= FILES_MOST)
		return;
	if (st->st_size > TREE_FILE_MOST) {
		evidence_left_out(w->e, -1, 0, "%.100s: larger than 1 GiB", name);
		return;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	code = fd < 0 ? -errno : read_fd(w->e, fd, name, w->buffer);
	if (code)
		evidence_left_out(w->e, -1, 0, "%.100s: %s", name, strerror(-code));
	if (fd >= 0)
		close(fd);
}

static void walk_tree(struct walk *w, const char *path, unsigned depth)
{
	struct dirent **entry;
	int n = depth < DEPTH_MOST ? scandir(path, &entry, not_hidden, by_name) : -1;

	if (n < 0)
		return;
	for (int i = 0; i < n; i++) {
		char *below = format("%s/%s", path, entry[i]->d_name);
		struct stat st;

		free(entry[i]);
		if (below && !lstat(below, &st)) {
			if (S_ISDIR(st.st_mode))
				walk_tree(w, below, depth + 1);
			else if (S_ISREG(st.st_mode))
				walk_file(w, below, &st);
		}
		free(below);
	}
	free(entry);
}

/* ---- what callers give -------------------------------------------------------------- */

int input_path(struct evidence *e, const char *path, struct cl_error *err)
{
	struct walk w = {.e = e, .root = strlen(path), .buffer = malloc(CHUNK)};
	bool in = !strcmp(path, "-");
	struct stat st;
	int fd, code;

	if (!w.buffer)
		return -ENOMEM;
	fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st)) {
		code = -errno;
		if (fd >= 0 && !in)
			close(fd);
		free(w.buffer);
		cl_error(err, -EINVAL, "cannot read %s: %s", path, strerror(-code));
		return -EINVAL;
	}
	if (S_ISDIR(st.st_mode)) {
		walk_tree(&w, path, 0);
		code = 0;
	} else {
		code = read_fd(e, fd, in ? "standard input" : base_name(path), w.buffer);
	}
	if (!in)
		close(fd);
	free(w.buffer);
	if (code)
		cl_error(err, code, "cannot read %s: %s", path, strerror(-code));
	return code;
}

int input_text(struct evidence *e, const char *text, size_t length, const char *name,
	       struct cl_error *err)
{
	int file = evidence_source(e, name), code;
	struct sorter *s = file < 0 ? NULL : sorter_new(e, file);

	if (!s)
		return cl_error(err, -ENOMEM, "no memory");
	if (!length)
		evidence_left_out(e, file, 0, "empty");
	code = sorter_bytes(s, text, length);
	if (code)
		evidence_left_out(e, file, 0, "not text");
	sorter_end(s);
	sorter_free(s);
	return 0;
}
