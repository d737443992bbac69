/* SPDX-License-Identifier: MIT */
#ifndef OS_SCRATCH_H
#define OS_SCRATCH_H
/*
 * Files without a name. Their space goes back to the filesystem when the last
 * descriptor closes, so nothing is left behind whatever ends the process.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * The directory that scratch files belong in: $TMPDIR; else, in a guest, /scratch
 * when something is mounted there; else /var/tmp.
 */
void scratch_directory(bool guest, char *path, size_t size);
/*
 * A nameless file there, open for reading and writing. -EOPNOTSUPP when the
 * directory is kept in memory, which page cache and write-back tests cannot use.
 */
int scratch_open(bool guest, struct cl_error *err);
#endif
