/* SPDX-License-Identifier: MIT */
#include "populate_qemu.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "populate/pop_room.h"
#include "populate/pop_sys.h"

#define QEMU "qemu-system-x86_64"

static _Noreturn void child_main(int monitor, uint64_t size, const char *preload)
{
	char backend[96];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	snprintf(backend, sizeof(backend), "memory-backend-ram,id=ram,size=%" PRIu64 ",prealloc=on",
		 size);
	dup2(monitor, STDOUT_FILENO);
	if (preload)
		setenv("LD_PRELOAD", preload, 1);
	execlp(QEMU, QEMU, "-machine", "q35,memory-backend=ram", "-object", backend, "-accel",
	       "tcg", "-nodefaults", "-display", "none", "-S", "-qmp", "stdio", (char *)NULL);
	_exit(127);
}

static uint64_t huge_of(pid_t pid)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", (int)pid);
	if (pop_sys_read(path, text, sizeof(text)) <= 0)
		return 0;
	return pop_room_field(text, "AnonHugePages:", 0) * 1024;
}

int qemu_prealloc(uint64_t size, const char *preload, struct qemu_result *result)
{
	uint64_t begin = pop_sys_now_ns();
	int pair[2], status = 0, r = 0;
	struct timespec cpu = {0};
	clockid_t clock;
	char greeting;
	pid_t pid;

	if (pipe(pair))
		return -errno;
	pid = fork();
	if (!pid)
		child_main(pair[1], size, preload);
	close(pair[1]);
	if (pid < 0) {
		close(pair[0]);
		return -EAGAIN;
	}
	/* It answers when all is prepared, or ends. */
	if (read(pair[0], &greeting, 1) == 1) {
		result->ns = pop_sys_now_ns() - begin;
		if (!clock_getcpuclockid(pid, &clock))
			clock_gettime(clock, &cpu);
		result->cpu_ns = (uint64_t)cpu.tv_sec * 1000000000 + (uint64_t)cpu.tv_nsec;
		result->huge = huge_of(pid);
	} else {
		r = -EIO;
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	close(pair[0]);
	return WIFEXITED(status) && WEXITSTATUS(status) == 127 ? -ENOENT : r;
}
