/* SPDX-License-Identifier: MIT */
#include "populate_fragment.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "populate/pop_room.h"
#include "populate/pop_sys.h"

#define BUFFER  (1ull << 30) /* largest buffer io_uring registers */
#define BUFFERS 1024

static _Noreturn void fail(const char *what)
{
	fprintf(stderr, "fragment: %s: %s\n", what, strerror(errno));
	_exit(3);
}

/* Free memory of the node, or of the machine. */
static uint64_t free_bytes(int node)
{
	char path[64], name[64], text[8192];

	if (node < 0) {
		if (pop_sys_read("/proc/meminfo", text, sizeof(text)) <= 0)
			return 0;
		return pop_room_field(text, "MemFree:", 0) * 1024;
	}
	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/meminfo", node);
	snprintf(name, sizeof(name), "Node %d MemFree:", node);
	if (pop_sys_read(path, text, sizeof(text)) <= 0)
		return 0;
	return pop_room_field(text, name, 0) * 1024;
}

static char *map(uint64_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		fail("mmap");
	pop_sys_huge(p, size, false);
	return p;
}

static void pin(char *at, uint64_t size)
{
	struct io_uring_params params = {0};
	struct iovec iov[BUFFERS];
	unsigned n = 0;
	int ring = (int)syscall(SYS_io_uring_setup, 1, &params);

	if (ring < 0)
		fail("io_uring_setup");
	for (uint64_t off = 0; off < size && n < BUFFERS; off += BUFFER, n++)
		iov[n] = (struct iovec){at + off, size - off < BUFFER ? size - off : BUFFER};
	if (syscall(SYS_io_uring_register, ring, IORING_REGISTER_BUFFERS, iov, n))
		fail("io_uring_register");
}

/*
 * Two mappings are touched in turns, so that their pages alternate in memory; one of
 * them is freed. What stays is contiguous in the address space and can be pinned with
 * few buffers.
 */
static void fragment(uint64_t leave, int node, bool pinned)
{
	long page = sysconf(_SC_PAGESIZE);
	uint64_t have = free_bytes(node), each;
	struct pop_policy bind = {.mode = POP_MPOL_BIND};
	char *keep, *drop;

	/*
	 * `leave` is what is free in the end: half of what is filled plus what was not
	 * filled. Five parts in a hundred stay with the kernel.
	 */
	each = have > leave ? have - leave : 0;
	if (each > have / 2 - have / 20)
		each = have / 2 - have / 20;
	each &= ~((1ull << 21) - 1);
	if (node >= 0) {
		pop_mask_set(&bind.nodes, (unsigned)node);
		if (pop_sys_set_policy(&bind))
			fail("set_mempolicy");
	}
	keep = map(each);
	drop = map(each);
	for (uint64_t off = 0; off < each; off += (uint64_t)page) {
		((volatile char *)keep)[off] = 1;
		((volatile char *)drop)[off] = 1;
	}
	if (pinned)
		pin(keep, each);
	munmap(drop, each);
}

/* The OOM killer's first choice, and gone when the parent is. */
static void child_main(int ready, uint64_t leave, int node, bool pinned)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	char ok = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd >= 0) {
		if (write(fd, "1000", 4) != 4)
			fail("oom_score_adj");
		close(fd);
	}
	fragment(leave, node, pinned);
	if (write(ready, &ok, 1) != 1)
		fail("write");
	for (;;)
		pause();
}

pid_t fragment_start(uint64_t leave, int node, bool pinned)
{
	int ready[2];
	char ok = 0;
	pid_t child;

	if (pipe(ready))
		fail("pipe");
	child = fork();
	if (child < 0)
		fail("fork");
	if (!child) {
		close(ready[0]);
		child_main(ready[1], leave, node, pinned);
	}
	close(ready[1]);
	if (read(ready[0], &ok, 1) != 1) {
		fprintf(stderr, "fragment: the memory could not be prepared\n");
		exit(3);
	}
	close(ready[0]);
	return child;
}

void fragment_stop(pid_t child)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
