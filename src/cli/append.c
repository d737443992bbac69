/* SPDX-License-Identifier: MIT */
#include "cli/append.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Does a regular file end in a newline, or is it empty? Another writer is let finish its line. */
static bool ends_in_line(int fd)
{
	struct stat st;
	char last = '\n';

	flock(fd, LOCK_SH);
	if (fstat(fd, &st) == 0 && st.st_size && pread(fd, &last, 1, st.st_size - 1) != 1)
		last = '\n'; /* may be written only */
	flock(fd, LOCK_UN);
	return last == '\n';
}

/* Reading is for the check of the last line, and not everybody may. */
static int open_path(struct append *a, const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0666), e;

	a->made = fd < 0 ? NULL : path;
	if (fd < 0)
		fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	e = errno;
	if (fd < 0 && e == EACCES && access(path, F_OK) == 0)
		return open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	errno = e;
	return fd;
}

int append_open(struct append *a, const char *path, struct cl_error *err)
{
	struct stat st;

	a->made = NULL;
	if (!strcmp(path, "-"))
		a->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		a->fd = open_path(a, path);
	if (a->fd < 0 || fstat(a->fd, &st) < 0)
		return cl_error_at(err, -EINVAL, path, 0, "cannot write it: %s", strerror(errno));
	a->regular = S_ISREG(st.st_mode);
	if (!a->regular || !strcmp(path, "-") || ends_in_line(a->fd))
		return 0;
	close(a->fd);
	cl_error_at(err, -EINVAL, path, 0, "its last line is not finished");
	return cl_error_hint(err, -EINVAL, "remove that line, or give another file");
}

int append_line(struct append *a, const char *line)
{
	char *text = format("%s\n", line);
	struct stat before = {0};
	int r;

	if (!text)
		return -ENOMEM;
	/* So that what is cut off below is ours. Where locks are not to be had, most lines fit. */
	if (a->regular)
		flock(a->fd, LOCK_EX);
	if (a->regular && fstat(a->fd, &before) < 0)
		r = -errno;
	else
		r = write_all(a->fd, text, strlen(text));
	/* A full disk may have taken a part of the line. */
	if (r && a->regular && ftruncate(a->fd, before.st_size) < 0)
		r = -errno;
	if (a->regular)
		flock(a->fd, LOCK_UN);
	free(text);
	if (!r)
		a->made = NULL;
	return r;
}

void append_close(struct append *a)
{
	struct stat st;

	/* Unless somebody else has written to it since. */
	if (a->made && fstat(a->fd, &st) == 0 && st.st_size == 0)
		unlink(a->made);
	close(a->fd);
}
