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
 *   COMPACTLAB_POPULATE_TIMEOUT   "30s" or "500ms" (default none)
 *   COMPACTLAB_POPULATE_LOG       file that one JSON line is appended to a call
 *
 * madvise() itself returns what the kernel said, whatever became of the filling: the
 * program sees the same memory, only faulted in earlier. The environment is read at
 * each call, nothing is kept between calls.
 */
#include <compactlab/populate.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

int madvise(void *addr, size_t length, int advice);

struct unit {
	const char *name;
	uint64_t factor;
};

static const struct unit plain[] = {{"", 1}, {NULL, 0}};
static const struct unit sizes[] = {{"", 1},           {"K", 1ull << 10}, {"M", 1ull << 20},
				    {"G", 1ull << 30}, {"T", 1ull << 40}, {NULL, 0}};
static const struct unit times[] = {{"", 1000000000},
				    {"s", 1000000000},
				    {"ms", 1000000},
				    {NULL, 0}};

static bool refuse(const char *name, const char *text, struct cl_populate_receipt *r)
{
	r->result = -EINVAL;
	r->limit = CL_POPULATE_LIMIT_ERROR;
	snprintf(r->text, sizeof(r->text), "nothing was filled: %s makes no sense: %s", name, text);
	return true;
}

/*
 * A number of the environment, times its unit; `*value` stays as it is when the variable is not
 * set. True when it makes no sense; then the receipt says so.
 */
static bool is_bad(const char *name, const struct unit *units, uint64_t *value,
		   struct cl_populate_receipt *r)
{
	const char *text = getenv(name);
	unsigned long long number;
	uint64_t product;
	char *end;

	if (!text)
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	while (units->name && strcasecmp(end, units->name))
		units++;
	if (*text >= '0' && *text <= '9' && !errno && units->name &&
	    !__builtin_mul_overflow(number, units->factor, &product)) {
		*value = product;
		return false;
	}
	return refuse(name, text, r);
}

/* False when a variable makes no sense; the receipt says which. */
static bool options_from_environment(struct cl_populate_options *o, struct cl_populate_receipt *r)
{
	static const char *const fallbacks[] = {"remote", "base", "smaller"};
	const unsigned count = sizeof(fallbacks) / sizeof(fallbacks[0]);
	const char *fallback = getenv("COMPACTLAB_POPULATE_FALLBACK");
	uint64_t threads = 1, node = UINT64_MAX;

	if (is_bad("COMPACTLAB_POPULATE_THREADS", plain, &threads, r) ||
	    is_bad("COMPACTLAB_POPULATE_TIMEOUT", times, &o->timeout_ns, r) ||
	    is_bad("COMPACTLAB_POPULATE_NODE", plain, &node, r))
		return false;
	/* Numbers beyond those that exist stay beyond, so that cl_populate() refuses them. */
	o->threads = threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX;
	if (node != UINT64_MAX) {
		o->policy = CL_POPULATE_PREFER;
		o->node = node < INT32_MAX ? (int32_t)node : INT32_MAX;
	}
	while (fallback && o->fallback < count && strcmp(fallback, fallbacks[o->fallback]))
		o->fallback++;
	return o->fallback < count || !refuse("COMPACTLAB_POPULATE_FALLBACK", fallback, r);
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
	struct cl_populate_receipt r = {.size = sizeof(r), .bytes = length};
	uint64_t min = 64u << 20, max = UINT64_MAX;
	int before = errno;

	if (is_bad("COMPACTLAB_POPULATE_MIN", sizes, &min, &r) ||
	    is_bad("COMPACTLAB_POPULATE_MAX", sizes, &max, &r) ||
	    (length >= min && length <= max && !options_from_environment(&o, &r))) {
		log_receipt(&r);
	} else if (length >= min && length <= max) {
		cl_populate(addr, length, &o, &r);
		log_receipt(&r);
	}
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
