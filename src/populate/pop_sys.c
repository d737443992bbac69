/* SPDX-License-Identifier: MIT */
#include "pop_sys.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* ---- sets of nodes -------------------------------------------------------------- */

void pop_mask_set(struct pop_nodemask *m, unsigned node)
{
	if (node < POP_NODES)
		m->word[node / 64] |= 1ull << (node % 64);
}

bool pop_mask_has(const struct pop_nodemask *m, unsigned node)
{
	return node < POP_NODES && (m->word[node / 64] >> (node % 64) & 1);
}

unsigned pop_mask_count(const struct pop_nodemask *m)
{
	unsigned n = 0;

	for (unsigned i = 0; i < POP_NODE_WORDS; i++)
		n += (unsigned)__builtin_popcountll(m->word[i]);
	return n;
}

bool pop_mask_empty(const struct pop_nodemask *m)
{
	return pop_mask_count(m) == 0;
}

/* ---- memory policy -------------------------------------------------------------- */

/* The kernel looks at one bit less than it is told. */
#define MAXNODE (POP_NODES + 1)

/*
 * A kernel built for more nodes than POP_NODES wants room for all of them when it
 * answers; 1,024 is the largest there is.
 */
struct wide_mask {
	uint64_t word[16];
};

int pop_sys_set_policy(const struct pop_policy *p)
{
	int mode = POP_MPOL_MODE(p->mode);
	bool no_nodes = mode == POP_MPOL_DEFAULT || mode == POP_MPOL_LOCAL;
	long r = syscall(SYS_set_mempolicy, p->mode, no_nodes ? NULL : p->nodes.word,
			 no_nodes ? 0ul : (unsigned long)MAXNODE);

	return r ? -errno : 0;
}

static int get_policy(const void *addr, unsigned long flags, struct pop_policy *p)
{
	struct wide_mask wide;

	memset(p, 0, sizeof(*p));
	memset(&wide, 0, sizeof(wide));
	if (syscall(SYS_get_mempolicy, &p->mode, wide.word, sizeof(wide) * 8, addr, flags))
		return -errno;
	memcpy(p->nodes.word, wide.word, sizeof(p->nodes.word));
	return 0;
}

int pop_sys_get_policy(struct pop_policy *p)
{
	return get_policy(NULL, 0, p);
}

int pop_sys_policy_at(const void *addr, struct pop_policy *p)
{
	return get_policy(addr, 2 /* MPOL_F_ADDR */, p);
}

int pop_sys_nodes_of(unsigned long count, void **pages, int *node)
{
	return syscall(SYS_move_pages, 0, count, pages, NULL, node, 0) < 0 ? -errno : 0;
}

int pop_sys_this_node(void)
{
	unsigned node;

	return syscall(SYS_getcpu, NULL, &node, NULL) ? -errno : (int)node;
}

/* ---- advice --------------------------------------------------------------------- */

enum { ADV_HUGEPAGE = 14, ADV_NOHUGEPAGE = 15, ADV_POPULATE_WRITE = 23, ADV_COLLAPSE = 25 };

static int advise(void *addr, size_t length, int advice)
{
	return syscall(SYS_madvise, addr, length, advice) ? -errno : 0;
}

int pop_sys_huge(void *addr, size_t length, bool huge)
{
	return advise(addr, length, huge ? ADV_HUGEPAGE : ADV_NOHUGEPAGE);
}

int pop_sys_populate_write(void *addr, size_t length)
{
	return advise(addr, length, ADV_POPULATE_WRITE);
}

int pop_sys_collapse(void *addr, size_t length)
{
	return advise(addr, length, ADV_COLLAPSE);
}

/* The kernel checks the advice before it sees that there is nothing to advise. */
bool pop_sys_has_populate_write(void)
{
	return advise(NULL, 0, ADV_POPULATE_WRITE) == 0;
}

bool pop_sys_has_collapse(void)
{
	return advise(NULL, 0, ADV_COLLAPSE) == 0;
}

bool pop_sys_thp_disabled(void)
{
	/*
	 * Bit 0: disabled. Bit 1 (Linux 6.18): except where MADV_HUGEPAGE asks, which is
	 * what we do.
	 */
	int r = prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0);

	return r > 0 && (r & 1) && !(r & 2);
}

/* ---- measuring ------------------------------------------------------------------ */

uint64_t pop_sys_faults(void)
{
	struct rusage u;

	return getrusage(RUSAGE_THREAD, &u) ? 0 : (uint64_t)u.ru_minflt;
}

uint64_t pop_sys_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

struct scan_arg { /* struct pm_scan_arg */
	uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
	uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};

long pop_sys_scan(int fd, uint64_t start, uint64_t end, struct pop_region *r, size_t count,
		  uint64_t *next)
{
	struct scan_arg a = {
		.size = sizeof(a),
		.start = start,
		.end = end,
		.vec = (uint64_t)(uintptr_t)r,
		.vec_len = count,
		.category_anyof_mask = POP_PAGE_PRESENT | POP_PAGE_SWAPPED,
		.return_mask = POP_PAGE_PRESENT | POP_PAGE_SWAPPED | POP_PAGE_HUGE,
	};
	long n = ioctl(fd, _IOWR('f', 16, struct scan_arg), &a);

	if (n < 0)
		return -errno;
	*next = a.walk_end;
	return n;
}

/* ---- kernel files --------------------------------------------------------------- */

int pop_sys_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

long pop_sys_reread(int fd, char *buf, size_t size)
{
	size_t have = 0;
	ssize_t n = 0;

	/* One call gives no more than a page of such files. */
	while (have < size - 1 && (n = pread(fd, buf + have, size - 1 - have, (off_t)have)) > 0)
		have += (size_t)n;
	buf[have] = 0;
	return n < 0 ? -errno : (long)have;
}

long pop_sys_read(const char *path, char *buf, size_t size)
{
	int fd = pop_sys_open(path);
	long n;

	if (fd < 0)
		return fd;
	n = pop_sys_reread(fd, buf, size);
	close(fd);
	return n;
}

char *pop_sys_read_all(const char *path)
{
	size_t size = 16384;
	char *buf = NULL, *more;
	long n;

	/* Read anew until it fits: a kernel file is one snapshot only in one go. */
	for (;; size *= 4) {
		more = size <= (64u << 20) ? realloc(buf, size) : NULL;
		n = more ? pop_sys_read(path, more, size) : -ENOMEM;
		if (more)
			buf = more;
		if (n < 0) {
			free(buf);
			return NULL;
		}
		if ((size_t)n < size - 1)
			return buf;
	}
}
