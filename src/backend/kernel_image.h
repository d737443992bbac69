/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_KERNEL_IMAGE_H
#define BACKEND_KERNEL_IMAGE_H
/*
 * What a Linux image file says of itself. An x86 bzImage carries its release
 * ("uname -r") in the set-up header, so nothing has to be guessed from file names.
 */
#include <compactlab/error.h>
#include <stddef.h>

/*
 * The release named in a bzImage of `length` bytes, of which the first 64 KiB are
 * enough. -EINVAL when it is no bzImage or says no release; `release` is then "".
 */
int image_parse(const void *data, size_t length, char *release, size_t size);

/* The same for a file; the message names the file and says what it is instead. */
int image_release(const char *path, char *release, size_t size, struct cl_error *err);
#endif
