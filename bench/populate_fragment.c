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
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "populate/pop_probe.h"
#include "populate/pop_room.h"
#include "populate/pop_sys.h"

#define BUFFER  (1ull << 30) /* largest buffer io_uring registers */
#define BUFFERS 1024

enum { READY = 'r', AGAIN = 'a', UNPIN = 'u' }; /* what the child is told, and answers */

/* What the child holds. */
struct hog {
	int node, ring; /* -1: any, none */
	bool pinned;
	uint64_t each, eaten_bytes;
	char *keep;  /* every other page of memory */
	char *eaten; /* blocks that would be free otherwise */
};

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

/*
 * Take what is left of free huge blocks, as ballast that nobody else gets; with `made` also
 * what compaction can make. The kernel defers compaction for up to 64 attempts, of which a
 * fault is up to three, so only many misses in a row are an end.
 */
static void eat_blocks(struct hog *h, bool made)
{
	uint64_t most = free_bytes(h->node) / 2, block;
	unsigned misses = 0, patience = made ? 128 : 4;
	struct pop_probe probe;
	char *at;

	pop_probe_open(&probe);
	block = probe.block_bytes;
	h->eaten = map(most);
	h->eaten_bytes = most;
	pop_sys_huge(h->eaten, most, true);
	at = (char *)(((uintptr_t)h->eaten + block - 1) & ~(block - 1));
	while (at + block <= h->eaten + most && misses < patience &&
	       (made || free_blocks(&probe, h->node))) {
		uint64_t faults = pop_sys_faults();

		if (pop_sys_populate_write(at, block))
			fail("populate");
		if (pop_sys_faults() - faults < block / probe.page_bytes / 2) {
			at += block;
			misses = 0;
		} else {
			madvise(at, block, MADV_DONTNEED);
			misses++;
		}
	}
	pop_probe_close(&probe);
}

/*
 * Two mappings are touched in turns, so that their pages alternate in memory; one of
 * them is freed. What stays is contiguous in the address space and can be pinned with
 * few buffers.
 */
static void alternate(struct hog *h)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char *drop;

	h->keep = map(h->each);
	drop = map(h->each);
	for (uint64_t off = 0; off < h->each; off += page) {
		((volatile char *)h->keep)[off] = 1;
		((volatile char *)drop)[off] = 1;
	}
	if (h->pinned)
		h->ring = pin(h->keep, h->each);
	munmap(drop, h->each);
	eat_blocks(h, h->pinned);
}

/* All else but a reserve is ballast in huge pages. */
static void fragment(struct hog *h, uint64_t leave)
{
	uint64_t have = free_bytes(h->node);
	uint64_t reserve = have / 32 > (110ull << 20) ? have / 32 : 110ull << 20, ballast;
	struct pop_policy bind = {.mode = POP_MPOL_BIND};
	char *rest;

	if (h->node >= 0) {
		pop_mask_set(&bind.nodes, (unsigned)h->node);
		if (pop_sys_set_policy(&bind))
			fail("set_mempolicy");
	}
	have = have > reserve ? have - reserve : 0;
	h->each = leave < have / 2 ? leave : have / 2;
	h->each &= ~((1ull << 21) - 1);
	ballast = have - 2 * h->each;
	if (ballast > 4u << 20) {
		rest = map(ballast);
		pop_sys_huge(rest, ballast, true);
		if (pop_sys_populate_write(rest, ballast))
			fail("populate");
	}
	alternate(h);
}

static void unpin(struct hog *h)
{
	/* Closing the ring would do it too, but some time later. */
	if (h->ring >= 0 &&
	    syscall(SYS_io_uring_register, h->ring, IORING_UNREGISTER_BUFFERS, NULL, 0) &&
	    errno != ENXIO)
		fail("io_uring_register");
}

static void again(struct hog *h)
{
	if (h->ring >= 0) {
		unpin(h);
		close(h->ring);
		h->ring = -1;
	}
	munmap(h->keep, h->each);
	munmap(h->eaten, h->eaten_bytes);
	alternate(h);
}

/* The OOM killer's first choice, and gone when the parent is. */
static _Noreturn void child_main(int control, uint64_t leave, int node, bool pinned)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
	struct hog h = {.node = node, .ring = -1, .pinned = pinned};
	char word = READY;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (fd >= 0) {
		if (write(fd, "1000", 4) != 4)
			fail("oom_score_adj");
		close(fd);
	}
	fragment(&h, leave);
	do {
		if (word == AGAIN)
			again(&h);
		else if (word == UNPIN)
			unpin(&h);
		if (write(control, &word, 1) != 1)
			break;
	} while (read(control, &word, 1) == 1);
	_exit(0);
}

static void await(struct fragment *f)
{
	char word;

	if (read(f->control, &word, 1) == 1)
		return;
	fprintf(stderr, "fragment: the memory could not be prepared\n");
	exit(3);
}

struct fragment fragment_start(uint64_t leave, int node, bool pinned)
{
	struct fragment f;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		fail("socketpair");
	f.child = fork();
	if (f.child < 0)
		fail("fork");
	if (!f.child) {
		close(pair[0]);
		child_main(pair[1], leave, node, pinned);
	}
	close(pair[1]);
	f.control = pair[0];
	await(&f);
	return f;
}

static void tell(struct fragment *f, char word)
{
	if (write(f->control, &word, 1) != 1)
		fail("the child is gone");
}

void fragment_again(struct fragment *f)
{
	tell(f, AGAIN);
	await(f);
}

void fragment_unpin(struct fragment *f)
{
	tell(f, UNPIN);
	await(f);
}

void fragment_stop(struct fragment *f)
{
	if (f->child <= 0)
		return;
	kill(f->child, SIGKILL);
	waitpid(f->child, NULL, 0);
	close(f->control);
	f->child = 0;
}
