/* SPDX-License-Identifier: MIT */
/* cl_populate() where something is missing, forbidden or too small. Each in a child process. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "help.h"

#define SIZE   (16 * MIB)
#define CANNOT 77
#define RECEIPT                                                                                    \
	{                                                                                          \
		.size = sizeof(struct cl_populate_receipt)                                         \
	}

/* In a child: a number that says which line was wrong. */
#define NEED(condition)                                                                            \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__,           \
				#condition);                                                       \
			return 1;                                                                  \
		}                                                                                  \
	} while (0)

static void in_child(int (*f)(void *arg))
{
	int status = help_in_child(f, NULL);

	if (status == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

/* ---- what is missing ------------------------------------------------------------ */

static int old_kernel(void *arg)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)arg;
	at[5 * 4096] = 42;
	if (!help_deny_advice(23 /* MADV_POPULATE_WRITE */))
		return CANNOT;
	NEED(cl_populate(at, SIZE, NULL, &r) == 0);
	NEED(r.missing & CL_POPULATE_NO_POPULATE_WRITE);
	NEED(help_present(at, SIZE) == SIZE);
	NEED(r.huge_bytes + r.base_bytes == SIZE);
	NEED(at[5 * 4096] == 42);
	return 0;
}

static void before_populate_write_pages_are_touched(void **state)
{
	(void)state;
	in_child(old_kernel);
}

static int no_policy(void *arg)
{
	static const int calls[] = {SYS_mbind, SYS_set_mempolicy, SYS_get_mempolicy, SYS_move_pages,
				    -1};
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)arg;
	if (!help_deny(EPERM, calls)) /* as container runtimes do */
		return CANNOT;
	o.policy = CL_POPULATE_PREFER;
	NEED(cl_populate(at, SIZE, &o, &r) == 0);
	NEED(r.missing & CL_POPULATE_NO_MEMPOLICY);
	NEED(r.done_bytes == SIZE);
	return 0;
}

static void without_memory_policies_it_fills(void **state)
{
	(void)state;
	in_child(no_policy);
}

static int no_files(void *arg)
{
	static const int calls[] = {SYS_openat, SYS_open, -1};
	struct cl_populate_receipt r = RECEIPT;
	uint32_t expected = CL_POPULATE_NO_BUDDYINFO | CL_POPULATE_NO_ZONEINFO |
			    CL_POPULATE_NO_SCAN | CL_POPULATE_NO_VMSTAT | CL_POPULATE_NO_MAPS;
	char *at = help_map(SIZE);

	(void)arg;
	if (!help_deny(ENOENT, calls))
		return CANNOT;
	NEED(cl_populate(at, SIZE, NULL, &r) == 0);
	NEED((r.missing & expected) == expected);
	NEED(r.compact_stall == -1);
	NEED(r.done_bytes == SIZE);
	NEED(help_present(at, SIZE) == SIZE);
	return 0;
}

static void without_proc_and_sys_it_fills(void **state)
{
	(void)state;
	in_child(no_files);
}

/* All of the range is one mapping that asks for huge pages. */
static bool is_whole_and_advised(const char *at)
{
	unsigned long from = 0, to = 0, start, end;
	FILE *f = fopen("/proc/self/smaps", "r");
	bool advised = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &start, &end) == 2 && strchr(line, '-') < line + 20) {
			from = start;
			to = end;
		} else if (!strncmp(line, "VmFlags:", 8) && from <= (unsigned long)at &&
			   (unsigned long)at + SIZE <= to) {
			advised = strstr(line, " hg") != NULL;
		}
	}
	if (f)
		fclose(f);
	return advised;
}

static int base_pages_only(void *arg)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);
	int result;

	/* Free blocks would be taken. */
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("/dev/null", "/proc/buddyinfo", NULL, MS_BIND, NULL))
		return CANNOT;
	o.threads = *(unsigned *)arg;
	o.timeout_ns = 8000000; /* as much as base pages are thought to take: no time for tries */
	result = cl_populate(at, SIZE, &o, &r);
	NEED(result == 0 || result == -ETIMEDOUT);
	NEED(r.limit == CL_POPULATE_LIMIT_DEADLINE || r.limit == CL_POPULATE_LIMIT_THP_OFF);
	NEED(r.huge_bytes == 0);
	/* The time may be over before the advice is given. */
	NEED(r.limit == CL_POPULATE_LIMIT_THP_OFF || !r.done_bytes || is_whole_and_advised(at));
	return 0;
}

static void after_base_pages_the_mapping_is_whole_and_its_advice_as_before(void **state)
{
	unsigned threads[2] = {1, 3};

	(void)state;
	for (int i = 0; i < 2; i++) {
		int status = help_in_child(base_pages_only, &threads[i]);

		if (status == CANNOT)
			skip();
		assert_int_equal(status, 0);
	}
}

static int no_threads(void *arg)
{
	static const int calls[] = {SYS_clone, SYS_clone3, -1};
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)arg;
	if (!help_deny(EAGAIN, calls))
		return CANNOT;
	o.threads = 3;
	NEED(cl_populate(at, SIZE, &o, &r) == 0);
	NEED(r.missing & CL_POPULATE_NO_THREADS);
	NEED(r.threads == 0);
	NEED(r.done_bytes == SIZE);
	return 0;
}

static void without_threads_the_caller_fills(void **state)
{
	(void)state;
	in_child(no_threads);
}

static int no_advice(void *arg)
{
	static const int calls[] = {SYS_madvise, -1};
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)arg;
	if (!help_deny(ENOSYS, calls))
		return CANNOT;
	NEED(cl_populate(at, SIZE, NULL, &r) == 0);
	NEED(help_present(at, SIZE) == SIZE);
	NEED(r.limit == CL_POPULATE_LIMIT_THP_OFF || r.limit == CL_POPULATE_LIMIT_NONE);
	return 0;
}

static void without_any_advice_pages_are_touched(void **state)
{
	(void)state;
	in_child(no_advice);
}

static int thp_off(void *arg)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);

	(void)arg;
	if (prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0))
		return CANNOT;
	o.min_huge_permille = 500;
	NEED(cl_populate(at, SIZE, &o, &r) == -ENOMEM);
	NEED(r.limit == CL_POPULATE_LIMIT_THP_OFF);
	NEED(help_present(at, SIZE) == 0);
	NEED(cl_populate(at, SIZE, NULL, &r) == 0);
	NEED(r.limit == CL_POPULATE_LIMIT_THP_OFF);
	NEED(r.base_bytes == SIZE);
	NEED(r.tries == 0);
	return 0;
}

static void with_thp_off_it_says_so_and_a_contract_fails_at_once(void **state)
{
	(void)state;
	in_child(thp_off);
}

/*
 * A pinned page in each block: no huge page can come of it, whatever is tried. With time
 * to repair what is missing, and without.
 */
static int contract_out_of_reach(void *arg)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	char *at = help_map(SIZE);
	int pinned[2];

	(void)arg;
	if (HELP_SANITIZED || pipe(pinned))
		return CANNOT;
	NEED(!madvise(at, SIZE, MADV_NOHUGEPAGE));
	for (size_t i = 0; i < SIZE; i += 2 * MIB) {
		struct iovec page = {at + i, 4096};

		at[i] = 1;
		if (vmsplice(pinned[1], &page, 1, 0) != 4096)
			return CANNOT;
	}
	o.min_huge_permille = 900;
	for (o.timeout_ns = 0; o.timeout_ns <= 500000000; o.timeout_ns += 500000000) {
		struct cl_populate_receipt r = RECEIPT;

		NEED(cl_populate(at, SIZE, &o, &r) == -ENOMEM);
		if (r.limit == CL_POPULATE_LIMIT_THP_OFF)
			return CANNOT;
		/* Ten times the deadline, for a busy machine. */
		NEED(!o.timeout_ns || r.total_ns < 5000000000);
		NEED(r.result == -ENOMEM);
		NEED(r.limit != CL_POPULATE_LIMIT_NONE && r.limit != CL_POPULATE_LIMIT_ERROR);
		NEED(r.done_bytes == SIZE && r.base_bytes == SIZE && r.huge_bytes == 0);
		NEED(help_present(at, SIZE) == SIZE);
		NEED(r.collapsed_blocks == 0 && (!o.timeout_ns || r.collapse_tries > 0));
		NEED(strlen(r.text) > 0);
	}
	return 0;
}

static void a_contract_out_of_reach_ends_in_time_and_is_described(void **state)
{
	(void)state;
	in_child(contract_out_of_reach);
}

/* ---- fork, locked memory -------------------------------------------------------- */

static void *forks(void *arg)
{
	(void)arg;
	for (int i = 0; i < 20; i++) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
	return NULL;
}

static int fork_meanwhile(void *arg)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(16 * SIZE);
	pthread_t t;

	(void)arg;
	o.threads = 2;
	NEED(!pthread_create(&t, NULL, forks, NULL));
	NEED(cl_populate(at, 16 * SIZE, &o, &r) == 0);
	pthread_join(t, NULL);
	NEED(r.done_bytes == 16 * SIZE);
	NEED(help_present(at, 16 * SIZE) == 16 * SIZE);
	return 0;
}

static void forking_meanwhile_does_no_harm(void **state)
{
	(void)state;
	in_child(fork_meanwhile);
}

static int child_fills(void *arg)
{
	char *at = help_map(SIZE);
	pid_t child;
	int status;

	(void)arg;
	NEED(cl_populate(at, SIZE, NULL, NULL) == 0);
	memset(at, 5, SIZE);
	child = fork();
	if (!child) {
		/* Shared with the parent: filling makes the pages the child's own. */
		struct cl_populate_receipt r = RECEIPT;

		if (cl_populate(at, SIZE, NULL, &r) || r.done_bytes != SIZE || at[4096] != 5)
			_exit(1);
		at[4096] = 6;
		_exit(0);
	}
	waitpid(child, &status, 0);
	NEED(status == 0);
	NEED(at[4096] == 5);
	return 0;
}

static void a_forked_child_can_fill_what_it_inherited(void **state)
{
	(void)state;
	in_child(child_fills);
}

static int locked(void *arg)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at;

	(void)arg;
	if (HELP_SANITIZED || mlockall(MCL_FUTURE))
		return CANNOT;
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED)
		return CANNOT; /* RLIMIT_MEMLOCK */
	NEED(cl_populate(at, SIZE, NULL, &r) == 0);
	NEED(r.done_bytes == SIZE);
	NEED(r.already_bytes == SIZE);
	munlockall();
	if (!mlockall(MCL_FUTURE | MCL_ONFAULT)) {
		at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		NEED(cl_populate(at, SIZE, NULL, &r) == 0);
		NEED(r.done_bytes == SIZE);
		NEED(r.already_bytes == 0);
	}
	return 0;
}

static void locked_memory_is_taken_as_it_is(void **state)
{
	(void)state;
	in_child(locked);
}

/* ---- limits --------------------------------------------------------------------- */

static bool put(const char *directory, const char *file, const char *text)
{
	char path[512];
	int fd;
	bool ok;

	snprintf(path, sizeof(path), "%s/%s", directory, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* A memory cgroup of 64 MiB below our own, version 1 or 2. */
static bool enter_cgroup(char *directory, size_t size)
{
	char text[64];

	snprintf(directory, size, "/sys/fs/cgroup/memory/cl-test-%d", getpid());
	if (mkdir(directory, 0755)) {
		snprintf(directory, size, "/sys/fs/cgroup/cl-test-%d", getpid());
		if (mkdir(directory, 0755))
			return false;
	}
	snprintf(text, sizeof(text), "%d", getpid());
	return (put(directory, "memory.limit_in_bytes", "67108864") ||
		put(directory, "memory.max", "67108864")) &&
	       put(directory, "cgroup.procs", text);
}

static int cgroup_child(void *arg)
{
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(256 * MIB);

	if (!enter_cgroup(arg, 256))
		return CANNOT;
	NEED(cl_populate(at, 256 * MIB, NULL, &r) == -ENOMEM);
	NEED(r.limit == CL_POPULATE_LIMIT_ROOM);
	NEED(help_present(at, 256 * MIB) == 0);
	NEED(cl_populate(at, 32 * MIB, NULL, &r) == 0);
	return 0;
}

static void a_memory_cgroup_that_is_too_small_is_no_death(void **state)
{
	char *directory =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	int status = help_in_child(cgroup_child, directory);

	(void)state;
	for (int i = 0; i < 100 && directory[0] && rmdir(directory) && errno == EBUSY; i++)
		usleep(10000);
	munmap(directory, 4096);
	if (status == CANNOT)
		skip();
	assert_int_equal(status, 0);
}

/* What /proc/meminfo says is less than the range, so that nothing is filled unless told to. */
static int little_memory(void *arg)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = RECEIPT;
	char path[] = "/tmp/populate-meminfo-XXXXXX", *at = help_map(SIZE);
	static const char text[] = "MemTotal: 1024 kB\nMemAvailable: 1024 kB\nSwapFree: 0 kB\n";
	int fd = mkstemp(path), error;

	(void)arg;
	if (fd < 0 || write(fd, text, sizeof(text) - 1) != (ssize_t)sizeof(text) - 1)
		return CANNOT;
	error = unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount(path, "/proc/meminfo", NULL, MS_BIND, NULL);
	unlink(path);
	if (error)
		return CANNOT;
	NEED(cl_populate(at, SIZE, NULL, &r) == -ENOMEM);
	NEED(r.limit == CL_POPULATE_LIMIT_ROOM);
	NEED(help_present(at, SIZE) == 0);
	o.flags = CL_POPULATE_NO_ROOM_CHECK;
	NEED(cl_populate(at, SIZE, &o, &r) == 0);
	NEED(help_present(at, SIZE) == SIZE);
	return 0;
}

static void without_the_room_check_it_is_filled_all_the_same(void **state)
{
	(void)state;
	in_child(little_memory);
}

static void more_than_the_machine_has_is_refused(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	size_t size = 1ul << 45;
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	(void)state;
	if (at == MAP_FAILED)
		skip();
	assert_int_equal(cl_populate(at, size, NULL, &r), -ENOMEM);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_ROOM);
	assert_int_equal(r.done_bytes, 0);
	munmap(at, size);
}

/* ---- other kinds of memory ------------------------------------------------------ */

static void shared_memory_is_filled(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	int fd = memfd_create("test", MFD_CLOEXEC);
	char *at;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(r.done_bytes, SIZE);
	assert_int_equal(help_present(at, SIZE), SIZE);
	munmap(at, SIZE);
	close(fd);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), 0);
	assert_int_equal(r.done_bytes, SIZE);
	munmap(at, SIZE);
}

static void where_touching_would_be_sigbus_it_is_an_error(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	int fd = memfd_create("short", MFD_CLOEXEC);
	char *at;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE / 2), 0);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), -EFAULT);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_ERROR);
	assert_true(r.done_bytes >= SIZE / 2 - 2 * MIB && r.done_bytes <= SIZE / 2);
	munmap(at, SIZE);
	close(fd);
}

static int full_tmpfs(void *arg)
{
	char directory[] = "/tmp/cl-tmpfs-XXXXXX", path[64];
	struct cl_populate_receipt r = RECEIPT;
	char *at;
	int fd, result;

	(void)arg;
	if (!mkdtemp(directory))
		return CANNOT;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", directory, "tmpfs", 0, "size=4M")) {
		rmdir(directory);
		return CANNOT;
	}
	snprintf(path, sizeof(path), "%s/f", directory);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, SIZE))
		return CANNOT;
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	result = cl_populate(at, SIZE, NULL, &r);
	munmap(at, SIZE);
	close(fd);
	umount(directory);
	rmdir(directory);
	NEED(result == -EFAULT);
	NEED(r.done_bytes > 0 && r.done_bytes <= 4 * MIB);
	return 0;
}

static void a_full_tmpfs_is_an_error_and_no_signal(void **state)
{
	(void)state;
	in_child(full_tmpfs);
}

static void a_hugetlb_pool_that_is_too_small_is_an_error(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	size_t size = 4096 * MIB; /* more than any test machine's pool, nothing is taken for it */
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);

	(void)state;
	if (at == MAP_FAILED)
		skip();
	assert_int_equal(cl_populate(at, size, NULL, &r), -ENOSPC);
	assert_int_equal(r.limit, CL_POPULATE_LIMIT_POOL);
	munmap(at, size);
}

static void memory_of_other_kinds_is_refused(void **state)
{
	struct cl_populate_receipt r = RECEIPT;
	char path[] = "/var/tmp/cl-file-XXXXXX";
	int fd = mkstemp(path);
	char *at;

	(void)state;
	unlink(path);
	assert_int_equal(ftruncate(fd, SIZE), 0);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), -EOPNOTSUPP);
	munmap(at, SIZE);
	close(fd);

	at = help_map(SIZE);
	mprotect(at, SIZE, PROT_READ);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), -EFAULT);
	mprotect(at, SIZE, PROT_READ | PROT_WRITE);
	munmap(at + SIZE / 2, 4096);
	assert_int_equal(cl_populate(at, SIZE, NULL, &r), -ENOMEM);
	assert_int_equal(r.done_bytes, 0);
	help_unmap(at, SIZE);
}

static int little_address_space(void *arg)
{
	struct rlimit limit = {1, 1};
	struct cl_populate_receipt r = RECEIPT;
	char *at = help_map(SIZE);
	int result;

	(void)arg;
	/* No more mappings: no stack for a thread, perhaps no heap. */
	if (HELP_SANITIZED || setrlimit(RLIMIT_AS, &limit))
		return CANNOT;
	result = cl_populate(at, SIZE, NULL, &r);
	NEED(result == 0 || result == -ENOMEM);
	if (!result)
		NEED(help_present(at, 4096) == 4096);
	return 0;
}

static void a_limit_on_address_space_is_no_crash(void **state)
{
	(void)state;
	in_child(little_address_space);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_populate_write_pages_are_touched),
		cmocka_unit_test(without_memory_policies_it_fills),
		cmocka_unit_test(without_proc_and_sys_it_fills),
		cmocka_unit_test(after_base_pages_the_mapping_is_whole_and_its_advice_as_before),
		cmocka_unit_test(without_threads_the_caller_fills),
		cmocka_unit_test(without_any_advice_pages_are_touched),
		cmocka_unit_test(with_thp_off_it_says_so_and_a_contract_fails_at_once),
		cmocka_unit_test(a_contract_out_of_reach_ends_in_time_and_is_described),
		cmocka_unit_test(forking_meanwhile_does_no_harm),
		cmocka_unit_test(a_forked_child_can_fill_what_it_inherited),
		cmocka_unit_test(locked_memory_is_taken_as_it_is),
		cmocka_unit_test(a_memory_cgroup_that_is_too_small_is_no_death),
		cmocka_unit_test(without_the_room_check_it_is_filled_all_the_same),
		cmocka_unit_test(more_than_the_machine_has_is_refused),
		cmocka_unit_test(shared_memory_is_filled),
		cmocka_unit_test(where_touching_would_be_sigbus_it_is_an_error),
		cmocka_unit_test(a_full_tmpfs_is_an_error_and_no_signal),
		cmocka_unit_test(a_hugetlb_pool_that_is_too_small_is_an_error),
		cmocka_unit_test(memory_of_other_kinds_is_refused),
		cmocka_unit_test(a_limit_on_address_space_is_no_crash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
