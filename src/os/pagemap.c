/* SPDX-License-Identifier: MIT */
#include "os/pagemap.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "os/numa.h"
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

/* Entries a step of pagemap_count(): one huge page, so that a candidate is whole. */
#define BATCH PAGES_PER_HUGE

static int read_entries(int fd, uint64_t index, uint64_t count, uint64_t *entry)
{
	size_t want = count * sizeof(*entry), got = 0;

	while (got < want) {
		ssize_t n = pread(fd, (char *)entry + got, want - got,
				  (off_t)(index * sizeof(*entry) + got));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			return -EIO;
		got += (size_t)n;
	}
	return 0;
}

static int map_open(const char *path, struct cl_error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	cl_error(err, -errno, "cannot open %s: %s", path, strerror(errno));
	return cl_error_hint(err, -errno, "root is needed to see page frames");
}

/*
 * A page that is being migrated looks like one in swap for as long as that takes. Read such
 * entries again until they are back; what stays away for so long is in swap.
 */
#define SETTLE_TRIES 100

static int read_settled(int fd, const void *at, uint64_t pages, uint64_t *entry)
{
	uint64_t first = (uintptr_t)at / PAGE_BYTES, away = 0;
	int r = read_entries(fd, first, pages, entry);

	for (int try = 0; try < SETTLE_TRIES && !r; try++) {
		struct timespec pause = {.tv_nsec = 10000000};

		away = 0;
		for (uint64_t i = 0; i < pages && !r; i++) {
			if (!pagemap_decode(entry[i]).swapped)
				continue;
			if (try)
				r = read_entries(fd, first + i, 1, &entry[i]);
			away += pagemap_decode(entry[i]).swapped;
		}
		if (!away)
			break;
		nanosleep(&pause, NULL);
	}
	return r;
}

int pagemap_read(const void *at, uint64_t pages, uint64_t *entry, struct cl_error *err)
{
	int fd = map_open("/proc/self/pagemap", err), r;

	if (fd < 0)
		return fd;
	r = read_settled(fd, at, pages, entry);
	close(fd);
	if (r)
		return cl_error(err, r, "cannot read /proc/self/pagemap: %s", strerror(-r));
	return 0;
}

static int frame_entry(const char *path, uint64_t pfn, uint64_t *entry)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r;

	if (fd < 0)
		return -errno;
	r = read_entries(fd, pfn, 1, entry);
	close(fd);
	return r;
}

int pagemap_frame(uint64_t pfn, uint64_t *flags, uint64_t *mapped)
{
	int r = frame_entry("/proc/kpageflags", pfn, flags);

	return r ? r : frame_entry("/proc/kpagecount", pfn, mapped);
}

/* 512 consecutive frames from an aligned one, all of them one compound page. */
static int is_huge(int flags_fd, const uint64_t entry[PAGES_PER_HUGE], bool *huge)
{
	uint64_t flags[PAGES_PER_HUGE], pfn = pagemap_decode(entry[0]).pfn;
	int r;

	*huge = false;
	if (pfn == 0 || pfn % PAGES_PER_HUGE)
		return 0;
	for (unsigned i = 0; i < PAGES_PER_HUGE; i++) {
		struct pagemap_entry e = pagemap_decode(entry[i]);

		if (!e.pfn_known || e.pfn != pfn + i)
			return 0;
	}
	r = read_entries(flags_fd, pfn, PAGES_PER_HUGE, flags);
	if (r)
		return r;
	if (!kpageflag_is(flags[0], KPAGEFLAG_THP) ||
	    !kpageflag_is(flags[0], KPAGEFLAG_COMPOUND_HEAD))
		return 0;
	for (unsigned i = 1; i < PAGES_PER_HUGE; i++)
		if (!kpageflag_is(flags[i], KPAGEFLAG_COMPOUND_TAIL))
			return 0;
	*huge = true;
	return 0;
}

/* Add what one aligned batch maps to the count by node. */
static int count_batch(char *at, const uint64_t *entry, unsigned pages, int flags_fd,
		       struct node_pages out[PLAN_MAX_NODES], uint64_t *present)
{
	void *page[BATCH];
	int node[BATCH], r;
	unsigned count = 0;
	bool huge = false;

	for (unsigned i = 0; i < pages; i++)
		if (pagemap_decode(entry[i]).present)
			page[count++] = at + i * PAGE_BYTES;
	if (!count)
		return 0;
	if (count == PAGES_PER_HUGE) {
		r = is_huge(flags_fd, entry, &huge);
		if (r)
			return r;
	}
	r = numa_where(page, node, huge ? 1 : count);
	if (r)
		return r;
	for (unsigned i = 0; i < (huge ? 1 : count); i++) {
		if (node[i] >= PLAN_MAX_NODES)
			return -ERANGE;
		if (node[i] < 0) /* on its way to another frame just now */
			continue;
		out[node[i]].huge += huge;
		out[node[i]].base += !huge;
		*present += huge ? PAGES_PER_HUGE : 1;
	}
	return 0;
}

int pagemap_count(char *at, uint64_t pages, struct node_pages out[PLAN_MAX_NODES],
		  uint64_t *present, struct cl_error *err)
{
	int map = map_open("/proc/self/pagemap", err), flags, r = 0;

	memset(out, 0, PLAN_MAX_NODES * sizeof(*out));
	*present = 0;
	if (map < 0)
		return map;
	flags = map_open("/proc/kpageflags", err);
	if (flags < 0) {
		close(map);
		return flags;
	}
	while (pages && !r) {
		/* The first batch ends on a 2 MiB boundary, the others start on one. */
		uint64_t entry[BATCH], to_edge = BATCH - (uintptr_t)at / PAGE_BYTES % BATCH;
		unsigned n = (unsigned)(pages < to_edge ? pages : to_edge);

		r = read_settled(map, at, n, entry);
		if (!r)
			r = count_batch(at, entry, n, flags, out, present);
		at += n * PAGE_BYTES;
		pages -= n;
	}
	close(map);
	close(flags);
	return r ? cl_error(err, r, "cannot tell where the pages are: %s", strerror(-r)) : 0;
}

int pagemap_smaps_sum(const char *text, uint64_t from, uint64_t to, const char *field,
		      uint64_t *bytes)
{
	size_t length = strlen(field);
	bool inside = false, found = false;

	*bytes = 0;
	for (const char *line = text; line && *line;) {
		uint64_t start, end, kb;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
			inside = start < to && end > from;
		else if (inside && !strncmp(line, field, length) && line[length] == ':' &&
			 sscanf(line + length + 1, " %" SCNu64, &kb) == 1) {
			*bytes += kb * 1024;
			found = true;
		}
		line = strchr(line, '\n');
		if (line)
			line++;
	}
	return found ? 0 : -ENODATA;
}

int pagemap_smaps_huge(const char *at, uint64_t bytes, uint64_t *huge_bytes)
{
	char *text;
	int r = file_read("/proc/self/smaps", &text, NULL);

	if (r)
		return r;
	r = pagemap_smaps_sum(text, (uintptr_t)at, (uintptr_t)at + bytes, "AnonHugePages",
			      huge_bytes);
	free(text);
	return r;
}
