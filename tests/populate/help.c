/* SPDX-License-Identifier: MIT */
#include "help.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALIGN (2 * MIB)

char *help_map(size_t size)
{
	char *p = mmap(NULL, size + ALIGN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		       0);
	char *at = (char *)(((uintptr_t)p + ALIGN - 1) & ~(ALIGN - 1));

	if (p == MAP_FAILED)
		abort();
	if (at > p)
		munmap(p, (size_t)(at - p));
	munmap(at + size, (size_t)(p + ALIGN - at));
	return at;
}

void help_unmap(char *at, size_t size)
{
	munmap(at, size);
}

size_t help_present(char *at, size_t size)
{
	size_t pages = size / 4096, n = 0;
	unsigned char *vec = malloc(pages);

	if (!vec || mincore(at, size, vec))
		abort();
	for (size_t i = 0; i < pages; i++)
		n += vec[i] & 1;
	free(vec);
	return n * 4096;
}

int help_in_child(int (*f)(void *arg), void *arg)
{
	int status;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child < 0)
		return 126;
	if (!child)
		_exit(f(arg));
	if (waitpid(child, &status, 0) != child)
		return 125;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static bool install(struct sock_filter *code, unsigned count)
{
	struct sock_fprog program = {(unsigned short)count, code};

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))

bool help_deny(int error, const int *calls)
{
	struct sock_filter code[64];
	unsigned n = 0;

	code[n++] = (struct sock_filter)LOAD(nr);
	for (; *calls >= 0 && n < 60; calls++) {
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (unsigned)*calls, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K,
							 SECCOMP_RET_ERRNO |
								 ((unsigned)error & 0xffff));
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return install(code, n);
}

bool help_deny_advice(int advice)
{
	struct sock_filter code[] = {
		LOAD(nr),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 3),
		LOAD(args[2]),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)advice, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	return install(code, sizeof(code) / sizeof(code[0]));
}
