/* SPDX-License-Identifier: MIT */
#include "os/kcore.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int read_at(int fd, uint64_t at, void *to, size_t size)
{
	ssize_t n;

	do {
		n = pread(fd, to, size, (off_t)at);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : (size_t)n == size ? 0 : -EFAULT;
}

int kcore_open(struct kcore *k)
{
	Elf64_Ehdr h;
	int r;

	memset(k, 0, sizeof(*k));
	k->fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	if (k->fd < 0)
		return -errno;
	r = read_at(k->fd, 0, &h, sizeof(h));
	if (!r && (memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 || h.e_ident[EI_CLASS] != ELFCLASS64 ||
		   h.e_phentsize != sizeof(Elf64_Phdr)))
		r = -EINVAL;
	for (unsigned i = 0; !r && i < h.e_phnum && k->segments < KCORE_SEGMENTS; i++) {
		Elf64_Phdr p;

		r = read_at(k->fd, h.e_phoff + i * sizeof(p), &p, sizeof(p));
		if (r || p.p_type != PT_LOAD)
			continue;
		k->segment[k->segments].from = p.p_vaddr;
		k->segment[k->segments].to = p.p_vaddr + p.p_memsz;
		k->segment[k->segments++].offset = p.p_offset;
	}
	if (r)
		kcore_close(k);
	return r;
}

void kcore_close(struct kcore *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
	k->segments = 0;
}

int kcore_read(const struct kcore *k, uint64_t address, void *to, size_t size)
{
	for (unsigned i = 0; i < k->segments; i++)
		if (address >= k->segment[i].from && address < k->segment[i].to &&
		    size <= k->segment[i].to - address)
			return read_at(k->fd, k->segment[i].offset + address - k->segment[i].from,
				       to, size);
	return -EFAULT;
}

int kcore_symbols(const char *const *name, uint64_t *address, unsigned count)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[512], own[256];
	unsigned found = 0;
	bool hidden = true;

	if (!file)
		return -errno;
	memset(address, 0, count * sizeof(*address));
	while (found < count && fgets(line, sizeof(line), file)) {
		uint64_t at;

		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, own) != 2)
			continue;
		hidden &= at == 0;
		for (unsigned i = 0; i < count; i++) {
			if (!address[i] && at && !strcmp(own, name[i])) {
				address[i] = at;
				found++;
			}
		}
	}
	fclose(file);
	return found == count ? 0 : hidden ? -EPERM : -ENOENT;
}
