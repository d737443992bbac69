/* SPDX-License-Identifier: MIT */
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Read to the end of fd; kernel files say nothing about their size beforehand. */
static int read_all(int fd, char **text, size_t *length)
{
	size_t used = 0, room = 16384;
	char *buf = malloc(room);

	while (buf) {
		ssize_t n = read(fd, buf + used, room - used - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int e = errno;

			free(buf);
			return -e;
		}
		if (n == 0) {
			buf[used] = '\0';
			*text = buf;
			if (length)
				*length = used;
			return 0;
		}
		used += (size_t)n;
		if (room - used < 2) {
			char *more = realloc(buf, room *= 2);

			if (!more)
				free(buf);
			buf = more;
		}
	}
	return -ENOMEM;
}

int file_read(const char *path, char **text, size_t *length)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = read_all(fd, text, length);
	close(fd);
	return r;
}

int file_write(const char *path, const char *text)
{
	size_t length = strlen(text);
	int fd = open(path, O_WRONLY | O_CLOEXEC), r = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	do {
		n = write(fd, text, length);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		r = -errno;
	else if ((size_t)n != length)
		r = -EIO;
	if (close(fd) < 0 && !r)
		r = -errno;
	return r;
}

int write_all(int fd, const void *data, size_t length)
{
	const char *p = data;

	while (length) {
		ssize_t n = write(fd, p, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		length -= (size_t)n;
	}
	return 0;
}

int file_replace(const char *path, const void *data, size_t length)
{
	char *temporary = format("%s.XXXXXX", path);
	int fd, r;

	if (!temporary)
		return -ENOMEM;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		r = -errno;
		free(temporary);
		return r;
	}
	r = write_all(fd, data, length);
	if (!r && fchmod(fd, 0644) < 0)
		r = -errno;
	if (!r && fsync(fd) < 0)
		r = -errno;
	if (close(fd) < 0 && !r)
		r = -errno;
	if (!r && rename(temporary, path) < 0)
		r = -errno;
	if (r)
		unlink(temporary);
	free(temporary);
	return r;
}
