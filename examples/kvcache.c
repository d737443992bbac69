/* SPDX-License-Identifier: MIT */
/*
 * What a KV-cache store does at start-up: several ranks on one machine each map a
 * large buffer, ask for huge pages, fault it in, and register it, which pins it for as
 * long as the store runs. Each rank that pins fragments the memory for the next.
 *
 *   cc -pthread kvcache.c $(pkg-config --cflags --libs compactlab-populate) -o kvcache
 *   ./kvcache [--plain] [RANKS [MiB a rank]]
 *
 * --plain faults in by MADV_POPULATE_WRITE. Without pkg-config: define PLAIN_ONLY, and it
 * is the only way; then LD_PRELOAD can do the rest.
 */
#ifndef PLAIN_ONLY
#include <compactlab/populate.h>
#endif
#include <errno.h>
#include <linux/io_uring.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GIB            (1ul << 30)
#define BLOCK          (2ul << 20)
#define POPULATE_WRITE 23 /* MADV_POPULATE_WRITE, Linux 5.14 */

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static char *map_buffer(size_t size)
{
	char *p = mmap(NULL, size + BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);

	if (p == MAP_FAILED)
		return NULL;
	p = (char *)(((uintptr_t)p + BLOCK - 1) & ~(BLOCK - 1));
	return madvise(p, size, MADV_HUGEPAGE) ? NULL : p;
}

static int fault_in(char *buffer, size_t size, bool plain)
{
#ifndef PLAIN_ONLY
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = {.size = sizeof(r)};
	int error;

	if (!plain) {
		error = cl_populate(buffer, size, &o, &r);
		printf("  %s\n", r.text);
		return error;
	}
#endif
	(void)plain;
	return madvise(buffer, size, POPULATE_WRITE) ? -errno : 0;
}

/* A long-term pin, as RDMA and GPU drivers take it: fixed buffers of io_uring. */
static int register_buffer(char *buffer, size_t size)
{
	struct io_uring_params params = {0};
	struct iovec iov[1024];
	unsigned n = 0;
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);

	if (ring < 0)
		return -errno;
	for (size_t off = 0; off < size && n < 1024; off += GIB, n++)
		iov[n] = (struct iovec){buffer + off, size - off < GIB ? size - off : GIB};
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, iov, n))
		return -errno;
	return ring;
}

/* One rank: report, then keep the buffer until the parent closes the pipe. */
static int rank_main(unsigned rank, size_t size, bool plain, int ready, int stop)
{
	double t = seconds(), faulted;
	char *buffer = map_buffer(size), c = 0;
	int r = buffer ? fault_in(buffer, size, plain) : -ENOMEM;

	faulted = seconds();
	if (!r) {
		r = register_buffer(buffer, size);
		r = r < 0 ? r : 0;
	}
	if (r)
		printf("rank %u: %s\n", rank, strerror(-r));
	else
		printf("rank %u: faulted in %.3f s, registered in %.3f s\n", rank, faulted - t,
		       seconds() - faulted);
	fflush(stdout);
	if (write(ready, &c, 1) != 1 || read(stop, &c, 1) < 0)
		return 1;
	return r != 0;
}

int main(int argc, char **argv)
{
	bool plain = argc > 1 && !strcmp(argv[1], "--plain");
	unsigned ranks = argc > 1 + plain ? (unsigned)atoi(argv[1 + plain]) : 2;
	size_t size = (size_t)(argc > 2 + plain ? atoi(argv[2 + plain]) : 128) << 20;
	int ready[2], stop[2], status, failed = 0;
	double t = seconds();
	char c;

	if (pipe(ready) || pipe(stop))
		return 1;
	for (unsigned i = 0; i < ranks; i++) {
		pid_t child = fork();

		if (child < 0)
			return 1;
		if (!child) {
			close(stop[1]);
			_exit(rank_main(i, size, plain, ready[1], stop[0]));
		}
		/* One after the other, as on a machine where each waits for its device. */
		if (read(ready[0], &c, 1) != 1)
			return 1;
	}
	printf("%u ranks of %zu MiB ready after %.3f s\n", ranks, size >> 20, seconds() - t);
	close(stop[1]);
	for (unsigned i = 0; i < ranks; i++)
		failed |= wait(&status) < 0 || status != 0;
	return failed;
}
