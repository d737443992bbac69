/* SPDX-License-Identifier: MIT */
#include "os/mountfd.h"
#include <errno.h>
#include <linux/mount.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

int mountfd_open(const char *type, const struct mountfd_option *options)
{
	int context = (int)syscall(SYS_fsopen, type, FSOPEN_CLOEXEC), fd = -1, r = 0;

	if (context < 0)
		return -errno;
	for (; options && options->key && !r; options++)
		if (syscall(SYS_fsconfig, context, FSCONFIG_SET_STRING, options->key,
			    options->value, 0) < 0)
			r = -errno;
	if (!r && syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) < 0)
		r = -errno;
	if (!r) {
		fd = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
		if (fd < 0)
			r = -errno;
	}
	close(context);
	return r ? r : fd;
}
