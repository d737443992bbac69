/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_CPIO_H
#define BACKEND_CPIO_H
/*
 * Writer of the "newc" archive format that the kernel unpacks as initramfs
 * (Documentation/driver-api/early-userspace/buffer-format.rst). Enough for a few
 * files and directories; no other tool is needed to make a guest's root.
 */
#include <stddef.h>

struct cpio {
	int fd;         /* written to, from its current position; the caller's */
	size_t bytes;   /* written so far */
	unsigned inode; /* of the last entry */
	int error;      /* first negative errno; later calls do nothing */
};

/* Names have no leading slash. Errors are kept and returned by cpio_end(). */
void cpio_directory(struct cpio *c, const char *name, unsigned mode);
void cpio_file(struct cpio *c, const char *name, unsigned mode, const void *data, size_t length);
int cpio_end(struct cpio *c);
#endif
