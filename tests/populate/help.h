/* SPDX-License-Identifier: MIT */
#ifndef TESTS_POPULATE_HELP_H
#define TESTS_POPULATE_HELP_H
/* What several tests of the real calls need. */
#include <compactlab/populate.h>
#include <stdbool.h>
#include <stddef.h>

#define MIB (1ul << 20)

/* Sanitizers map terabytes and make mlockall() do nothing. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HELP_SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HELP_SANITIZED 1
#endif
#endif
#ifndef HELP_SANITIZED
#define HELP_SANITIZED 0
#endif

/* Anonymous memory whose start is a multiple of 2 MiB. Unmapped with the process or help_unmap().
 */
char *help_map(size_t size);
void help_unmap(char *at, size_t size);
/* Bytes of the range that are present, by mincore(). */
size_t help_present(char *at, size_t size);

/*
 * Run a function in a child process. Its result is the exit status (0..76); a signal is
 * 128 + its number; 77 says it cannot be tested here.
 */
int help_in_child(int (*f)(void *arg), void *arg);

/* From now on these system calls fail with `error` in this process. Ends with -1. */
bool help_deny(int error, const int *calls);
/* madvise() with this advice fails with EINVAL, as an older kernel's does. */
bool help_deny_advice(int advice);
#endif
