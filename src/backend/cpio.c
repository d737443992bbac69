/* SPDX-License-Identifier: MIT */
#include "backend/cpio.h"
#include "util/util.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static void put(struct cpio *c, const void *data, size_t length)
{
	if (!c->error)
		c->error = write_all(c->fd, data, length);
	c->bytes += length;
}

/* Names and data both end on a multiple of four from the start of the archive. */
static void pad(struct cpio *c)
{
	put(c, "\0\0\0", (4 - c->bytes % 4) % 4);
}

static void entry(struct cpio *c, const char *name, unsigned mode, const void *data, size_t length)
{
	size_t name_length = strlen(name) + 1;
	char header[6 + 13 * 8 + 1];
	int n;

	if (length > UINT32_MAX) {
		c->error = c->error ? c->error : -EFBIG;
		return;
	}
	/* magic, inode, mode, uid, gid, links, mtime, size, device x2, rdevice x2, name, check */
	n = snprintf(header, sizeof(header), "070701%08X%08X%016X%08X%08X%08X%032X%08X%08X",
		     ++c->inode, mode, 0u, 1u, 0u, (unsigned)length, 0u, (unsigned)name_length, 0u);
	put(c, header, (size_t)n);
	put(c, name, name_length);
	pad(c);
	put(c, data, length);
	pad(c);
}

void cpio_directory(struct cpio *c, const char *name, unsigned mode)
{
	entry(c, name, S_IFDIR | mode, "", 0);
}

void cpio_file(struct cpio *c, const char *name, unsigned mode, const void *data, size_t length)
{
	entry(c, name, S_IFREG | mode, data, length);
}

int cpio_end(struct cpio *c)
{
	entry(c, "TRAILER!!!", 0, "", 0);
	return c->error;
}
