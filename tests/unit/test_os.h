/* SPDX-License-Identifier: MIT */
#ifndef TEST_OS_H
#define TEST_OS_H
/* What the tests of src/os share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include "os/os.h"
#include "scenario/plan.h"
#include "util/util.h"

#define SKIPPED 77

static inline void nap_ms(unsigned ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

/* A counter of this machine's /proc/vmstat; 0 when it has none of that name. */
static inline int64_t vmstat_now(const char *name)
{
	char *text, *at, key[64];
	int64_t value = 0;

	assert_int_equal(file_read("/proc/vmstat", &text, NULL), 0);
	snprintf(key, sizeof(key), "\n%s ", name);
	at = strstr(text, key);
	if (at)
		value = atoll(at + strlen(key));
	free(text);
	return value;
}

/* The plan of a scenario in text; the test fails when it is wrong. */
static inline struct plan *plan_of(const char *text, uint64_t seed)
{
	struct cl_error err = {0};
	struct cl_scenario *s = NULL;
	struct plan *p = NULL;
	int r = cl_scenario_parse(text, strlen(text), "test.ini", &s, &err);

	if (!r)
		r = plan_resolve(s, "host", scenario_variant(s, 0), 0, seed, &p, &err);
	if (r)
		fail_msg("%s: line %d: %s", err.file, err.line, err.what);
	cl_scenario_free(s);
	return p;
}

/*
 * The lock of the host backend: other runs and other copies of these tests change the same
 * settings. Held until the process ends.
 */
static inline void take_host_lock(void)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0compactlab-host"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (int i = 0; i < 1200; i++) {
		if (bind(fd, (struct sockaddr *)&name,
			 offsetof(struct sockaddr_un, sun_path) + sizeof("\0compactlab-host") -
				 1) == 0)
			return;
		nap_ms(100);
	}
	fprintf(stderr, "another run on this machine does not end\n");
	exit(SKIPPED);
}

/* Skip the whole program unless steps can run here. */
static inline void need_root(void)
{
	if (geteuid() == 0)
		return;
	fprintf(stderr, "needs root\n");
	exit(SKIPPED);
}
#endif
