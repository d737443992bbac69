/* SPDX-License-Identifier: MIT */
#include "pop_vma.h"
#include "pop_sys.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define TMPFS     0x01021994
#define HUGETLBFS 0x958458f6

static bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/*
 * Memory without a file the user sees still has one, on a mount of the kernel's own and
 * with a fixed name. The name is the same for base and hugetlb pages, the device is not.
 */
static enum pop_memory file_kind(const char *path, unsigned dev_major, unsigned dev_minor,
				 const struct pop_vma_ask *ask)
{
	int kind;

	if (begins(path, "/anon_hugepage"))
		return POP_HUGETLB;
	if (begins(path, "/memfd:") || begins(path, "/dev/zero (deleted)") ||
	    begins(path, "/SYSV")) {
		bool own = dev_major == ask->dev_major && dev_minor == ask->dev_minor;

		return own || !ask->have_dev ? POP_SHMEM : POP_HUGETLB;
	}
	kind = ask->filesystem(path);
	return kind == 1 ? POP_SHMEM : kind == 2 ? POP_HUGETLB : POP_OTHER_FILE;
}

enum pop_memory pop_vma_kind(const char *maps, uint64_t start, uint64_t end,
			     const struct pop_vma_ask *ask)
{
	enum pop_memory kind = POP_ANON;
	uint64_t at = start;

	for (const char *line = maps; line && *line && at < end;) {
		unsigned long long from, to, inode;
		char mode[8], path[512];
		unsigned dev_major, dev_minor;
		int name = 0;
		const char *next = strchr(line, '\n');
		size_t length = next ? (size_t)(next - line) : strlen(line);

		next = next ? next + 1 : NULL;
		if (sscanf(line, "%llx-%llx %7s %*x %x:%x %llu %n", &from, &to, mode, &dev_major,
			   &dev_minor, &inode, &name) < 6 ||
		    strlen(mode) < 4 || !name)
			return POP_UNKNOWN;
		if (to > at) {
			if (from > at)
				return POP_HOLE;
			if (mode[1] != 'w')
				return POP_READONLY;
			if (inode || mode[3] == 's') {
				enum pop_memory this;

				length = (size_t)name < length ? length - (size_t)name : 0;
				if (length >= sizeof(path))
					length = sizeof(path) - 1;
				memcpy(path, line + name, length);
				path[length] = 0;
				this = file_kind(path, dev_major, dev_minor, ask);
				if (this > kind)
					kind = this;
			}
			at = to;
		}
		line = next;
	}
	return at >= end ? kind : POP_HOLE;
}

/* 1 tmpfs, 2 hugetlbfs, 0 anything else. */
static int filesystem(const char *path)
{
	struct statfs s;

	if (statfs(path, &s))
		return 0;
	return (uint32_t)s.f_type == TMPFS ? 1 : (uint32_t)s.f_type == HUGETLBFS ? 2 : 0;
}

enum pop_memory pop_vma_kind_here(uint64_t start, uint64_t end)
{
	struct pop_vma_ask ask = {.filesystem = filesystem};
	char *maps = pop_sys_read_all("/proc/self/maps");
	enum pop_memory kind;
	struct stat s;
	int fd = (int)syscall(SYS_memfd_create, "", 1u /* MFD_CLOEXEC */);

	if (fd >= 0) {
		ask.have_dev = fstat(fd, &s) == 0;
		ask.dev_major = major(s.st_dev);
		ask.dev_minor = minor(s.st_dev);
		close(fd);
	}
	kind = maps ? pop_vma_kind(maps, start, end, &ask) : POP_UNKNOWN;
	free(maps);
	return kind;
}
