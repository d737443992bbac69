/* SPDX-License-Identifier: MIT */
#ifndef CLI_APPEND_H
#define CLI_APPEND_H
/* A file of lines that grows by whole lines only, also with several writers. */
#include <compactlab/error.h>
#include <stdbool.h>

struct append {
	int fd;
	bool regular;
	const char *made; /* the path, while the file is new and empty; the caller's */
};

/* "-" is standard output. A file that ends within a line is refused. */
int append_open(struct append *a, const char *path, struct cl_error *err);
/* The line and a newline, in one write. 0 or -errno; nothing half-written is left. */
int append_line(struct append *a, const char *line);
/* A file that append_open() made and that got no line is removed. */
void append_close(struct append *a);
#endif
