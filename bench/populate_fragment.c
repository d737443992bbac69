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
#include "populate/pop_probe.h"
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

/* Pinned for as long as the ring is open, which is returned. */
static int pin(char *at, uint64_t size)
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
	return ring;
}

static uint64_t free_blocks(struct pop_probe *p, int node)
{
	char text[16384];
	ssize_t n = pread(p->buddyinfo, text, sizeof(text) - 1, 0);
	struct pop_free f;

	if (n <= 0)
		return 0;
	text[n] = 0;
	pop_nodes_buddyinfo(&p->nodes, text, &f);
	if (node >= 0)
		return f.blocks[node];
	return pop_free_in(&f, &p->memory);
}

/* Take what is left of free huge blocks, as ballast that nobody else gets. */
static void eat_blocks(int node, uint64_t most)
{
	struct pop_probe probe;
	char *at = map(most);

	pop_probe_open(&probe);
	pop_sys_huge(at, most, true);
	at = (char *)(((uintptr_t)at + probe.block_bytes - 1) & ~(probe.block_bytes - 1));
	for (uint64_t off = 0; off + 2 * probe.block_bytes <= most && free_blocks(&probe, node);
	     off += probe.block_bytes)
		if (pop_sys_populate_write(at + off, probe.block_bytes))
			fail("populate");
	pop_probe_close(&probe);
}

/*
 * Two mappings are touched in turns, so that their pages alternate in memory; one of
 * them is freed. What stays is contiguous in the address space and can be pinned with
 * few buffers. All else but a reserve is ballast in huge pages, and in the end so are
 * the free blocks of the reserve.
 */
static int fragment(uint64_t leave, int node, bool pinned)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), have = free_bytes(node), each = leave;
	uint64_t reserve = have / 32 > (110ull << 20) ? have / 32 : 110ull << 20, ballast;
	struct pop_policy bind = {.mode = POP_MPOL_BIND};
	char *keep, *drop, *rest;
	int ring = -1;

	if (node >= 0) {
		pop_mask_set(&bind.nodes, (unsigned)node);
		if (pop_sys_set_policy(&bind))
			fail("set_mempolicy");
	}
	have = have > reserve ? have - reserve : 0;
	if (each > have / 2)
		each = have / 2;
	each &= ~((1ull << 21) - 1);
	ballast = have - 2 * each;
	if (ballast > 4u << 20) {
		rest = map(ballast);
		pop_sys_huge(rest, ballast, true);
		if (pop_sys_populate_write(rest, ballast))
			fail("populate");
	}
	keep = map(each);
	drop = map(each);
	for (uint64_t off = 0; off < each; off += page) {
		((volatile char *)keep)[off] = 1;
		((volatile char *)drop)[off] = 1;
	}
	if (pinned)
		ring = pin(keep, each);
	munmap(drop, each);
	eat_blocks(node, 2 * reserve);
	return ring;
}

/* The OOM killer's first choice, and gone when the parent is. */
static void child_main(int ready, uint64_t leave, int node, bool pinned)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC), ring, signal;
	sigset_t unpin;
	char ok = 1;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd >= 0) {
		if (write(fd, "1000", 4) != 4)
			fail("oom_score_adj");
		close(fd);
	}
	sigemptyset(&unpin);
	sigaddset(&unpin, SIGUSR1);
	sigprocmask(SIG_BLOCK, &unpin, NULL);
	ring = fragment(leave, node, pinned);
	if (write(ready, &ok, 1) != 1)
		fail("write");
	while (sigwait(&unpin, &signal) || ring < 0)
		;
	close(ring);
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

void fragment_unpin(pid_t child)
{
	kill(child, SIGUSR1);
}

void fragment_stop(pid_t child)
{
	if (child <= 0)
		return;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}
