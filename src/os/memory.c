/* SPDX-License-Identifier: MIT */
/* What steps that hold memory have in common; runs inside a worker. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "os/numa.h"
#include "os/team.h"
#include "os/fault_io.h"
#include "os/worker.h"

/*
 * PROT_NONE areas on both sides keep the kernel from merging this mapping with another, so
 * that smaps has lines for exactly this memory; no page is ever charged for them.
 */
int memory_reserve(struct memory *m, uint64_t bytes, struct cl_error *err)
{
	uint64_t room = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	uintptr_t start;
	void *at;

	memory_unmap(m);
	at = mmap(NULL, room + 3 * HUGE_BYTES, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at == MAP_FAILED)
		return cl_error(err, -errno, "cannot reserve address space: %s", strerror(errno));
	m->reserve = at;
	m->reserve_bytes = room + 3 * HUGE_BYTES;
	start = ((uintptr_t)at + 2 * HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	m->base = (char *)start;
	m->room = bytes;
	return 0;
}

void memory_unmap(struct memory *m)
{
	if (m->reserve)
		munmap(m->reserve, m->reserve_bytes);
	table_free(m->place, m->place_bytes);
	m->place = NULL;
	m->reserve = m->base = NULL;
	m->reserve_bytes = m->room = m->bytes = 0;
	atomic_store(&m->shared->held_bytes, 0);
}

void *table_new(uint64_t bytes)
{
	void *at = mmap(NULL, bytes ? bytes : 1, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED)
		return NULL;
	/* Not supported on a kernel without huge pages, where it is not needed. */
	madvise(at, bytes ? bytes : 1, MADV_NOHUGEPAGE);
	return at;
}

void table_free(void *table, uint64_t bytes)
{
	if (table)
		munmap(table, bytes ? bytes : 1);
}

int amount_bytes(const struct amount *a, int node, uint64_t *bytes)
{
	uint64_t free_bytes;
	int r;

	*bytes = a->bytes;
	if (a->ppm_of_free) {
		r = numa_free_bytes(node, &free_bytes);
		if (r)
			return r;
		*bytes = (uint64_t)((unsigned __int128)free_bytes * a->ppm_of_free / 1000000);
	}
	*bytes = *bytes / PAGE_BYTES * PAGE_BYTES;
	return 0;
}

/*
 * Page cache is in no page table until it is mapped; map it for the look and unmap it again,
 * because mapped pages could not be dropped. Not to khugepaged, though: it makes huge folios of
 * page cache that it finds mapped (7.3 on ext4), and takes their page tables away while we look.
 */
static int file_pages(struct memory *m, struct node_pages pages[PLAN_MAX_NODES], uint64_t *total,
		      struct cl_error *err)
{
	char *at = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, m->fd, 0);
	uint64_t count = m->bytes / PAGE_BYTES;
	unsigned char *in = NULL;
	int r = 0;

	if (at == MAP_FAILED)
		return cl_error(err, -errno, "cannot map the file: %s", strerror(errno));
	/* Not supported on a kernel without huge pages, where it is not needed. */
	madvise(at, m->bytes, MADV_NOHUGEPAGE);
	madvise(at, m->bytes, MADV_RANDOM); /* no read-ahead into the holes */
	in = table_new(count);
	if (!in || mincore(at, m->bytes, in) < 0)
		r = cl_error(err, -errno, "cannot ask for the cached pages: %s", strerror(errno));
	for (uint64_t i = 0; i < count && !r; i++)
		if (in[i] & 1)
			(void)*(volatile char *)(at + i * PAGE_BYTES);
	if (!r)
		r = pagemap_count(at, count, pages, total, err);
	table_free(in, count);
	munmap(at, m->bytes);
	return r;
}

int memory_pages(struct memory *m, struct node_pages pages[PLAN_MAX_NODES], uint64_t want,
		 uint64_t *total, struct cl_error *err)
{
	int r = 0;

	*total = 0;
	for (int try = 0; try < 50 && *total < want && !r; try++) {
		struct timespec pause = {.tv_nsec = 20000000};

		if (try)
			nanosleep(&pause, NULL);
		if (m->kind == FILL_FILE)
			return file_pages(m, pages, total, err);
		r = pagemap_count(m->base, m->bytes / PAGE_BYTES, pages, total, err);
	}
	return r;
}

static int release_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	uint64_t start = now_ns();

	(void)step;
	pin_release_all(m);
	requests_free(m->requests);
	m->requests = NULL;
	reply->bytes = m->bytes;
	memory_unmap(m);
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
	reply->time_ns = now_ns() - start;
	team_drop(m->team);
	m->team = NULL;
	fault_io_free(m->io);
	m->io = NULL;
	punch_free(m->punch);
	m->punch = NULL;
	return 0;
}

const struct worker_job release_job = {.act = release_act};
