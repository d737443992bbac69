/* SPDX-License-Identifier: MIT */
/*
 * Memory full of holes, made contiguous in the address space.
 *
 * userfaultfd's move operation (6.8) takes a page out of one place of a process's page tables
 * and puts it into an empty one; the frame stays the same, and so do its neighbours, its
 * lists and its state. What a page was filled as is kept in m->place, so that a later step
 * can still choose by position.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "os/worker.h"
#include "procfs/procfs.h"

/* As the kernel defines it, for the time when headers are older than the kernel. */
struct move {
	uint64_t to, from, length, mode;
	int64_t moved; /* bytes, or a negative errno */
};
#define UFFD_MOVE         _IOWR(UFFDIO, 0x05, struct move)
#define UFFD_MOVE_FEATURE (1ull << 16)

bool squeeze_can(const struct memory *m)
{
	const struct step *s = &m->plan->step[m->step];

	return s->kind == STEP_FILL && s->fill.pages == FILL_PAGE_BASE &&
	       (m->kind == FILL_ANON || m->kind == FILL_MLOCKED);
}

static int move_open(const struct memory *m)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_MOVE_FEATURE};
	struct uffdio_register area = {.range = {(uintptr_t)m->base,
						 m->bytes / PAGE_BYTES * PAGE_BYTES},
				       .mode = UFFDIO_REGISTER_MODE_MISSING};
	int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, UFFDIO_API, &api) == 0 && ioctl(fd, UFFDIO_REGISTER, &area) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

/* Pages [from, from + count) to the hole that starts at `to`; the two must not overlap. */
static int move_pages_to(struct memory *m, int fd, uint64_t to, uint64_t from, uint64_t count)
{
	while (count) {
		struct move v = {.to = (uintptr_t)m->base + to * PAGE_BYTES,
				 .from = (uintptr_t)m->base + from * PAGE_BYTES,
				 .length = count * PAGE_BYTES};
		int r = ioctl(fd, UFFD_MOVE, &v) < 0 ? -errno : 0;
		uint64_t done = v.moved > 0 ? (uint64_t)v.moved / PAGE_BYTES : 0;

		for (uint64_t i = 0; i < done; i++)
			m->place[to + i] = m->place[from + i];
		to += done;
		from += done;
		count -= done;
		if (r && r != -EAGAIN)
			return r;
	}
	return 0;
}

/* A run may be longer than the way it goes; then it goes in pieces of that length. */
static int move_run(struct memory *m, int fd, uint64_t to, uint64_t from, uint64_t count)
{
	uint64_t most = from - to;
	int r = 0;

	while (count && most && !r) {
		uint64_t n = count < most ? count : most;

		r = move_pages_to(m, fd, to, from, n);
		to += n;
		from += n;
		count -= n;
	}
	return r;
}

static int squeeze_pages(struct memory *m, int fd, const uint64_t *entry)
{
	uint64_t pages = m->bytes / PAGE_BYTES, to = 0, i = 0;
	int r = 0;

	while (i < pages && !r) {
		uint64_t run = 0;

		while (i + run < pages && pagemap_decode(entry[i + run]).present)
			run++;
		r = move_run(m, fd, to, i, run);
		to += run;
		i += run + 1;
	}
	return r;
}

static int places_start(struct memory *m)
{
	uint64_t pages = m->bytes / PAGE_BYTES;

	if (m->place)
		return 0;
	m->place_bytes = pages * sizeof(*m->place);
	m->place = table_new(m->place_bytes);
	if (!m->place)
		return -ENOMEM;
	for (uint64_t i = 0; i < pages; i++)
		m->place[i] = (uint32_t)i;
	return 0;
}

int squeeze(struct memory *m)
{
	uint64_t pages = m->bytes / PAGE_BYTES, *entry = table_new(pages * sizeof(*entry));
	int fd = move_open(m), r;

	r = !entry ? -ENOMEM : fd < 0 ? fd : places_start(m);
	if (!r)
		r = pagemap_read(m->base, pages, entry, NULL);
	if (!r)
		r = squeeze_pages(m, fd, entry);
	if (fd >= 0)
		close(fd);
	table_free(entry, pages * sizeof(*entry));
	return r;
}
