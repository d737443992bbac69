/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_TAR_H
#define EXPLAIN_TAR_H
/* Tar archives (ustar), as far as collect writes and explain reads them. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tar_calls {
	int (*file)(void *arg, const char *name); /* a regular file begins */
	int (*bytes)(void *arg, const char *bytes, size_t length);
	void (*end)(void *arg); /* it ends */
};

struct tar_reader;

/* Is this the beginning of an archive? */
bool tar_is(const char *bytes, size_t length);
/* Freed with free() after tar_reader_end(). */
struct tar_reader *tar_reader_new(const struct tar_calls *calls, void *arg);
/* Bytes in any portions. -EINVAL when the archive is damaged. */
int tar_reader_bytes(struct tar_reader *r, const char *bytes, size_t length);
void tar_reader_end(struct tar_reader *r);

/* Append a file to the archive open at fd; tar_finish() ends the archive. -errno. */
int tar_write(int fd, const char *name, const char *bytes, size_t length, int64_t time);
int tar_finish(int fd);
#endif
