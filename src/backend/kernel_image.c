/* SPDX-License-Identifier: MIT */
#include "backend/kernel_image.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Offsets of the x86 boot protocol (Documentation/arch/x86/boot.rst). */
#define HEADER_MAGIC_AT   0x202 /* "HdrS" */
#define HEADER_PROTOCOL   0x206 /* u16 */
#define HEADER_KERNEL_VER 0x20e /* u16: offset of the version text, less 0x200 */
#define HEADER_LOADFLAGS  0x211 /* bit 0: loaded high, which is what makes it a bzImage */
#define HEADER_END        0x218
#define IMAGE_HEAD        65536

static unsigned read16(const uint8_t *p)
{
	return p[0] | (unsigned)p[1] << 8;
}

int image_parse(const void *data, size_t length, char *release, size_t size)
{
	const uint8_t *image = data;
	size_t at, n = 0;

	release[0] = '\0';
	if (length < HEADER_END || memcmp(image + HEADER_MAGIC_AT, "HdrS", 4) != 0)
		return -EINVAL;
	if (read16(image + HEADER_PROTOCOL) < 0x200 || !(image[HEADER_LOADFLAGS] & 1))
		return -EINVAL;
	at = read16(image + HEADER_KERNEL_VER);
	if (!at)
		return -EINVAL;
	/* The text is "RELEASE (user@host) #1 SMP ..."; the release ends at the blank. */
	for (at += 0x200; at < length && n + 1 < size && isgraph(image[at]); at++)
		release[n++] = (char)image[at];
	release[n] = '\0';
	if (!n || at >= length || isgraph(image[at])) {
		release[0] = '\0';
		return -EINVAL;
	}
	return 0;
}

/* A few files that people take for a bootable image. */
static const char *image_kind(const uint8_t *head, size_t length)
{
	if (length >= 4 && !memcmp(head, "\177ELF", 4))
		return "an ELF file (vmlinux or a module?)";
	if (length >= 2 && (!memcmp(head, "\037\213", 2) || !memcmp(head, "\375\067", 2) ||
			    !memcmp(head, "\050\265", 2)))
		return "a compressed file";
	if (length >= 8 && !memcmp(head, "!<arch>\n", 8))
		return "a package or archive";
	if (length >= 64 && !memcmp(head + 56, "ARMd", 4))
		return "an arm64 image";
	return "something else";
}

static int head_read(const char *path, uint8_t *head, size_t *length, struct cl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = 0;
	struct stat st;
	ssize_t n = 0;

	if (fd < 0)
		return cl_error(err, errno == ENOENT ? -EINVAL : -errno,
				"cannot open kernel image %s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
		r = cl_error(err, -EINVAL, "kernel image %s is not a regular file", path);
	while (!r && *length < IMAGE_HEAD &&
	       (n = read(fd, head + *length, IMAGE_HEAD - *length)) > 0)
		*length += (size_t)n;
	if (n < 0)
		r = cl_error(err, -errno, "cannot read kernel image %s: %s", path, strerror(errno));
	close(fd);
	return r;
}

int image_release(const char *path, char *release, size_t size, struct cl_error *err)
{
	uint8_t *head = malloc(IMAGE_HEAD);
	size_t length = 0;
	int r;

	release[0] = '\0';
	if (!head)
		return cl_error(err, -ENOMEM, "out of memory");
	r = head_read(path, head, &length, err);
	if (!r && image_parse(head, length, release, size) < 0) {
		cl_error(err, -EINVAL, "%s is not a Linux bzImage but %s", path,
			 length ? image_kind(head, length) : "an empty file");
		r = cl_error_hint(err, -EINVAL,
				  "give the file that `make bzImage` writes to "
				  "arch/x86/boot/bzImage, or /boot/vmlinuz-*");
	}
	free(head);
	return r;
}
