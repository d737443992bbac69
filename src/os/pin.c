/* SPDX-License-Identifier: MIT */
/*
 * The pin and unpin steps: long-term pins as a driver or an RDMA transport holds them,
 * taken through io_uring's fixed buffers, which any root process can register.
 *
 * A buffer must be wholly mapped, and registering one over a hole would fault the hole in, so
 * buffers cover runs of present pages. Since 6.14 the kernel spends about 1 KiB on each buffer,
 * however small: a quarter of what every other page of the memory is, in unmovable pages, right
 * where the experiment looks. So memory full of holes is squeezed together first (squeeze.c).
 */
#include <errno.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include "os/measure.h"
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

/*
 * The kernel's tables for so many buffers, and for a buffer of so many pages, are one page each.
 * Larger ones would be asked for in high orders, which is the thing under test.
 */
#define RING_BUFFERS 512
#define BUFFER_PAGES 240

/*
 * Pins of a huge page in a fixed buffer are merged into one. A region of memory that programs share
 * with a ring (since 6.13) keeps all of them; of one huge page it needs no mapping of its own.
 */
#define REGISTER_REGION 34 /* IORING_REGISTER_MEM_REGION */
#define REGION_OF_USER  1  /* IORING_MEM_REGION_TYPE_USER */
#define REGIONS_MOST    512

/* struct io_uring_region_desc and struct io_uring_mem_region_reg */
struct region {
	uint64_t at, bytes;
	uint32_t flags, id;
	uint64_t mmap_offset, reserved[4];
};
struct region_register {
	uint64_t region, flags, reserved[2];
};

/* Runs shorter than this on average are worth squeezing. */
#define RUN_PAGES 32

/* The pins of one pin step. */
struct pin {
	struct pin *next;
	unsigned step;
	char *at; /* of a range that is pinned as it is faulted in */
	uint64_t pages;
	uint64_t references; /* at least: pins of one folio's pages may be merged into one */
	uint64_t buffers, room;
	struct iovec *buffer; /* as long as nothing is registered */
	unsigned rings;
	int *ring;
	bool regions; /* one in each ring, instead of buffers */
};

static struct pin **pin_find(struct memory *m, unsigned step)
{
	struct pin **p = &m->pins;

	while (*p && (*p)->step != step)
		p = &(*p)->next;
	return p;
}

/* A region goes with its ring, from a kernel thread some time after the ring was closed. */
static void await_drop(const struct pin *p, int64_t before)
{
	for (int i = 0; i < 100 && measure_pins() > before - (int64_t)p->pages; i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		nanosleep(&pause, NULL);
	}
}

static void pin_drop(struct pin *p)
{
	int64_t before = p->regions && p->rings ? measure_pins() : 0;

	for (unsigned i = 0; i < p->rings; i++) {
		/* Closing alone would release the pins some time later, from a kernel thread. */
		syscall(SYS_io_uring_register, p->ring[i], IORING_UNREGISTER_BUFFERS, NULL, 0);
		close(p->ring[i]);
	}
	if (p->regions && p->rings)
		await_drop(p, before);
	p->rings = 0;
}

static void pin_free(struct pin *p)
{
	pin_drop(p);
	table_free(p->buffer, p->room * sizeof(*p->buffer));
	free(p->ring);
	free(p);
}

void pin_release_all(struct memory *m)
{
	while (m->pins) {
		struct pin *p = m->pins;

		m->pins = p->next;
		pin_free(p);
	}
}

/* Why this machine has no io_uring, or what io_uring_setup() said. */
static int ring_error(int code, struct cl_error *err)
{
	char *text;
	bool disabled = file_read("/proc/sys/kernel/io_uring_disabled", &text, NULL) == 0;

	if (disabled) {
		disabled = text[0] == '2';
		free(text);
	}
	if (disabled) {
		cl_error(err, -EOPNOTSUPP, "io_uring, which holds the pins, is switched off here");
		return cl_error_hint(err, -EOPNOTSUPP, "sysctl kernel.io_uring_disabled=0");
	}
	if (code == -ENOSYS || code == -EPERM) {
		cl_error(err, -EOPNOTSUPP, "io_uring, which holds the pins, is not available: %s",
			 strerror(-code));
		return cl_error_hint(err, -EOPNOTSUPP,
				     "the kernel needs CONFIG_IO_URING, and a container's filter "
				     "must let io_uring_setup pass");
	}
	return cl_error(err, code, "cannot set up an io_uring: %s", strerror(-code));
}

static int ring_open(struct cl_error *err)
{
	struct io_uring_params params;
	int fd;

	memset(&params, 0, sizeof(params));
	fd = (int)syscall(SYS_io_uring_setup, 1, &params);
	return fd < 0 ? ring_error(-errno, err) : fd;
}

int pin_probe(struct cl_error *err)
{
	int fd = ring_open(err);

	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

static int rings_open(struct pin *p, uint64_t want, struct cl_error *err)
{
	p->ring = calloc(want, sizeof(*p->ring));
	if (!p->ring)
		return cl_error(err, -ENOMEM, "out of memory");
	while (p->rings < want) {
		int fd = ring_open(err);

		if (fd < 0)
			return fd;
		p->ring[p->rings++] = fd;
	}
	return 0;
}

static int rings_for_buffers(struct pin *p, struct cl_error *err)
{
	return rings_open(p, (p->buffers + RING_BUFFERS - 1) / RING_BUFFERS, err);
}

static int buffer_add(struct pin *p, char *at)
{
	struct iovec *last = p->buffers ? &p->buffer[p->buffers - 1] : NULL;

	if (last && (char *)last->iov_base + last->iov_len == at &&
	    last->iov_len < BUFFER_PAGES * PAGE_BYTES) {
		last->iov_len += PAGE_BYTES;
		return 0;
	}
	if (p->buffers == p->room)
		return -ENOSPC;
	p->buffer[p->buffers].iov_base = at;
	p->buffer[p->buffers++].iov_len = PAGE_BYTES;
	return 0;
}

/* Frames that follow each other may belong to one folio, whose pins may be merged. */
static int collect(struct memory *m, struct pin *p, struct cl_error *err)
{
	uint64_t pages = m->bytes / PAGE_BYTES, last = 0, *entry;
	int r;

	table_free(p->buffer, p->room * sizeof(*p->buffer));
	p->pages = p->references = p->buffers = 0;
	entry = table_new(pages * sizeof(*entry));
	/* Runs are at least a page each and a hole apart, unless cut at their largest size. */
	p->room = pages / 2 + 1 + pages / BUFFER_PAGES + 1;
	p->buffer = table_new(p->room * sizeof(*p->buffer));
	r = entry && p->buffer ? pagemap_read(m->base, pages, entry, err)
			       : cl_error(err, -ENOMEM, "out of memory");
	for (uint64_t i = 0; i < pages && !r; i++) {
		struct pagemap_entry e = pagemap_decode(entry[i]);

		if (!e.present)
			continue;
		r = buffer_add(p, m->base + i * PAGE_BYTES);
		p->pages++;
		p->references += e.pfn != last + 1 || e.pfn % PAGES_PER_HUGE == 0;
		last = e.pfn;
	}
	table_free(entry, pages * sizeof(*entry));
	return r;
}

static int pin_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct pin *p;
	int r;

	if (m->kind == FILL_FILE)
		return cl_error(&reply->error, -EINVAL,
				"page cache of a file on a disk cannot be pinned for long");
	if (!m->base)
		return cl_error(&reply->error, -EINVAL, "its memory was released before");
	p = calloc(1, sizeof(*p));
	if (!p)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	p->step = step;
	p->next = m->pins;
	m->pins = p;
	r = collect(m, p, &reply->error);
	if (!r && p->buffers > RING_BUFFERS && p->pages / p->buffers < RUN_PAGES &&
	    squeeze_can(m) && squeeze(m) == 0)
		r = collect(m, p, &reply->error);
	if (r)
		return r;
	if (!p->pages)
		return cl_error(&reply->error, -EINVAL, "the memory has no page left to pin");
	return rings_for_buffers(p, &reply->error);
}

static int pin_register(const struct pin *p)
{
	for (unsigned i = 0; i < p->rings; i++) {
		uint64_t first = (uint64_t)i * RING_BUFFERS, n = p->buffers - first;

		n = n < RING_BUFFERS ? n : RING_BUFFERS;
		if (syscall(SYS_io_uring_register, p->ring[i], IORING_REGISTER_BUFFERS,
			    p->buffer + first, (unsigned)n) < 0)
			return -errno;
	}
	return 0;
}

static int region_register(int ring, const char *at, uint64_t bytes)
{
	struct region region = {.at = (uint64_t)(uintptr_t)at,
				.bytes = bytes,
				.flags = REGION_OF_USER};
	struct region_register r = {.region = (uint64_t)(uintptr_t)&region};

	return syscall(SYS_io_uring_register, ring, REGISTER_REGION, &r, 1) < 0 ? -errno : 0;
}

/* Of the parts of a range, one in a region each. */
static uint64_t region_bytes(uint64_t bytes)
{
	uint64_t most = (bytes + REGIONS_MOST - 1) / REGIONS_MOST;

	return (most + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
}

/* -EINVAL: this kernel has no regions. */
static int pin_regions(struct pin *p, uint64_t bytes)
{
	uint64_t each = region_bytes(bytes);
	int r = 0;

	for (unsigned i = 0; i < p->rings && !r; i++) {
		uint64_t done = i * each, part = bytes - done < each ? bytes - done : each;

		r = region_register(p->ring[i], p->at + done, part);
		p->pages += r ? 0 : part / PAGE_BYTES;
	}
	return r;
}

static int pin_buffers(struct pin *p, uint64_t bytes)
{
	int r = 0;

	p->pages = bytes / PAGE_BYTES;
	p->room = p->pages / BUFFER_PAGES + 1;
	p->buffer = table_new(p->room * sizeof(*p->buffer));
	if (!p->buffer)
		return -ENOMEM;
	for (uint64_t done = 0; done < bytes && !r; done += PAGE_BYTES)
		r = buffer_add(p, p->at + done);
	if (!r)
		r = rings_for_buffers(p, NULL);
	return r ? r : pin_register(p);
}

int pin_range_prepare(struct memory *m, char *at, uint64_t bytes, struct cl_error *err)
{
	struct pin *p = calloc(1, sizeof(*p));
	uint64_t each = region_bytes(bytes);

	if (!p)
		return cl_error(err, -ENOMEM, "out of memory");
	p->step = m->step;
	p->at = at;
	p->regions = true;
	p->next = m->pins;
	m->pins = p;
	return rings_open(p, (bytes + each - 1) / each, err);
}

int pin_range(struct memory *m, const char *at, uint64_t bytes)
{
	struct pin *p = m->pins;
	int r;

	while (p && p->at != at)
		p = p->next;
	r = p ? pin_regions(p, bytes) : -ENOENT;
	if (r != -EINVAL)
		return r;
	pin_drop(p);
	free(p->ring);
	p->regions = false;
	return pin_buffers(p, bytes);
}

static int pin_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct pin *p = *pin_find(m, step);
	uint64_t start = now_ns();
	int r = pin_register(p);

	if (r)
		return cl_error(&reply->error, r, "cannot pin memory: %s", strerror(-r));
	reply->time_ns = now_ns() - start;
	reply->pinned_pages = p->pages;
	reply->pin_references = p->references;
	return 0;
}

/* Pinning must not have brought in pages that were not there. */
static int pin_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct pin *p = *pin_find(m, step);
	uint64_t pages = m->bytes / PAGE_BYTES, present = 0, *entry;
	int r;

	table_free(p->buffer, p->room * sizeof(*p->buffer));
	p->buffer = NULL;
	p->room = 0;
	entry = table_new(pages * sizeof(*entry));
	if (!entry)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	r = pagemap_read(m->base, pages, entry, &reply->error);
	for (uint64_t i = 0; i < pages && !r; i++)
		present += pagemap_decode(entry[i]).present;
	table_free(entry, pages * sizeof(*entry));
	if (!r && present != p->pages)
		r = cl_error(&reply->error, -EIO, "%llu pages were pinned but %llu are there now",
			     (unsigned long long)p->pages, (unsigned long long)present);
	reply->pinned_pages = p->pages;
	reply->pin_references = p->references;
	return r;
}

const struct worker_job pin_job = {pin_prepare, pin_act, pin_verify};

static int unpin_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct pin **at = pin_find(m, m->plan->step[step].unpin.of), *p = *at;
	uint64_t start = now_ns();

	if (!p)
		return cl_error(&reply->error, -EINVAL, "nothing is pinned any more");
	pin_drop(p);
	reply->time_ns = now_ns() - start;
	reply->pinned_pages = p->pages;
	reply->pin_references = p->references;
	*at = p->next;
	pin_free(p);
	return 0;
}

const struct worker_job unpin_job = {.act = unpin_act};
