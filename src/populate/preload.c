/* SPDX-License-Identifier: MIT */
/*
 * For programs that cannot be changed: with this library in LD_PRELOAD, a
 * madvise(MADV_HUGEPAGE) on a large range also fills the range, by cl_populate().
 *
 *   COMPACTLAB_POPULATE_MIN       smallest range that is filled (default 64M)
 *   COMPACTLAB_POPULATE_MAX       largest (default none)
 *   COMPACTLAB_POPULATE_THREADS   workers (default 1)
 *   COMPACTLAB_POPULATE_NODE      node to prefer (default: the policy in force)
 *   COMPACTLAB_POPULATE_FALLBACK  remote, base or smaller (default remote)
 *   COMPACTLAB_POPULATE_TIMEOUT   seconds (default none)
 *   COMPACTLAB_POPULATE_LOG       file that one JSON line is appended to a call
 *
 * madvise() itself returns what the kernel said, whatever became of the filling: the
 * program sees the same memory, only faulted in earlier. The environment is read at
 * each call, nothing is kept between calls.
 */
#include <compactlab/populate.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *addr, size_t length, int advice);

/* "64M": binary units. `otherwise` when not set or not a size. */
static uint64_t size_from(const char *name, uint64_t otherwise)
{
	static const char units[] = "KMGT";
	const char *text = getenv(name), *unit;
	unsigned long long value;
	char *end;

	if (!text || *text < '0' || *text > '9')
		return otherwise;
	value = strtoull(text, &end, 10);
	unit = *end ? strchr(units, *end & ~0x20) : NULL;
	if (unit)
		value <<= 10 * (unit - units + 1);
	return value;
}

static void options_from_environment(struct cl_populate_options *o)
{
	static const char *const fallbacks[] = {"remote", "base", "smaller"};
	const unsigned count = sizeof(fallbacks) / sizeof(fallbacks[0]);
	const char *text;
	unsigned i = 0;

	o->threads = (uint32_t)size_from("COMPACTLAB_POPULATE_THREADS", 1);
	o->timeout_ns = size_from("COMPACTLAB_POPULATE_TIMEOUT", 0) * 1000000000;
	if (getenv("COMPACTLAB_POPULATE_NODE")) {
		o->policy = CL_POPULATE_PREFER;
		o->node = (int32_t)size_from("COMPACTLAB_POPULATE_NODE", 0);
	}
	text = getenv("COMPACTLAB_POPULATE_FALLBACK");
	if (!text)
		return;
	while (i < count && strcmp(text, fallbacks[i]))
		i++;
	o->fallback = i; /* a name that is none becomes a number that cl_populate() refuses */
}

/* One write, so that lines of several processes do not mix. */
static void log_receipt(const struct cl_populate_receipt *r)
{
	const char *path = getenv("COMPACTLAB_POPULATE_LOG");
	char line[16384 + 1];
	ssize_t written;
	int fd, n;

	if (!path || !*path)
		return;
	n = cl_populate_receipt_json(r, line, sizeof(line) - 1);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (n > 0 && n < (int)sizeof(line) - 1) {
		line[n] = '\n';
		written = write(fd, line, (size_t)n + 1);
		(void)written; /* nobody to tell */
	}
	close(fd);
}

static void fill(void *addr, size_t length)
{
	struct cl_populate_options o = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt r = {.size = sizeof(r)};
	int before = errno;

	if (length < size_from("COMPACTLAB_POPULATE_MIN", 64u << 20) ||
	    length > size_from("COMPACTLAB_POPULATE_MAX", UINT64_MAX))
		return;
	options_from_environment(&o);
	cl_populate(addr, length, &o, &r);
	log_receipt(&r);
	errno = before;
}

int madvise(void *addr, size_t length, int advice)
{
	/* The C library's madvise() is this system call and nothing else. */
	int r = (int)syscall(SYS_madvise, addr, length, advice);

	if (!r && advice == MADV_HUGEPAGE)
		fill(addr, length);
	return r;
}
