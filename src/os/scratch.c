/* SPDX-License-Identifier: MIT */
#include "os/scratch.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "util/util.h"

static bool is_mount_point(const char *path)
{
	struct stat here, root;

	return stat(path, &here) == 0 && stat("/", &root) == 0 && here.st_dev != root.st_dev;
}

void scratch_directory(bool guest, char *path, size_t size)
{
	const char *tmpdir = getenv("TMPDIR");

	if (tmpdir && *tmpdir)
		snprintf(path, size, "%s", tmpdir);
	else
		snprintf(path, size, "%s",
			 guest && is_mount_point("/scratch") ? "/scratch" : "/var/tmp");
}

/* Filesystems that do not support O_TMPFILE get a name for a moment. */
static int open_nameless(const char *directory)
{
	int fd = open(directory, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	char *name;

	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL))
		return fd < 0 ? -errno : fd;
	name = format("%s/compactlab.XXXXXX", directory);
	if (!name)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(name);
	free(name);
	return fd;
}

int scratch_open(bool guest, struct cl_error *err)
{
	char directory[1024];
	struct statfs fs;
	int fd;

	scratch_directory(guest, directory, sizeof(directory));
	if (statfs(directory, &fs) < 0)
		return cl_error(err, -errno, "cannot use the directory %s: %s", directory,
				strerror(errno));
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC) {
		cl_error(err, -EOPNOTSUPP, "%s is kept in memory, not on a disk", directory);
		return cl_error_hint(err, -EOPNOTSUPP,
				     guest ? "give the machine a scratch disk: [machine] disk"
					   : "set TMPDIR to a directory on a disk");
	}
	fd = open_nameless(directory);
	if (fd < 0)
		cl_error(err, fd, "cannot make a file in %s: %s", directory, strerror(-fd));
	return fd;
}
