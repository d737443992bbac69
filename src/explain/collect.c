/* SPDX-License-Identifier: MIT */
#include <compactlab/explain.h>
#include "explain/explanation.h"
#include "explain/tar.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/klog.h>
#include <time.h>
#include <unistd.h>

/*
 * What can be read of the running machine. The patterns are those of glob(3); a file
 * that is not there on this kernel is not missed, one that may not be read is named.
 */
static const char *const patterns[] = {
	"/proc/buddyinfo",
	"/proc/pagetypeinfo",
	"/proc/zoneinfo",
	"/proc/meminfo",
	"/proc/slabinfo",
	"/proc/pressure/memory",
	"/proc/version",
	"/sys/devices/system/node/node*/meminfo",
	"/sys/kernel/debug/extfrag/extfrag_index",
};

/* Single values: shown as "path:value" in one text, as grep would print them. */
static const char *const values[] = {
	"/proc/sys/vm/compaction_proactiveness",
	"/proc/sys/vm/defrag_mode",
	"/proc/sys/vm/extfrag_threshold",
	"/proc/sys/vm/compact_unevictable_allowed",
	"/proc/sys/vm/lowmem_reserve_ratio",
	"/proc/sys/vm/min_free_kbytes",
	"/proc/sys/vm/nr_hugepages",
	"/proc/sys/vm/nr_overcommit_hugepages",
	"/proc/sys/vm/swappiness",
	"/proc/sys/vm/vfs_cache_pressure",
	"/proc/sys/vm/watermark_boost_factor",
	"/proc/sys/vm/watermark_scale_factor",
	"/proc/sys/vm/zone_reclaim_mode",
	"/sys/kernel/mm/transparent_hugepage/enabled",
	"/sys/kernel/mm/transparent_hugepage/defrag",
	"/sys/kernel/mm/transparent_hugepage/khugepaged/defrag",
	"/sys/kernel/mm/transparent_hugepage/khugepaged/max_ptes_none",
};

struct collector {
	/* Receives each text; the name is below "/". Negative: stop. */
	int (*text)(void *arg, const char *name, const char *text, size_t length);
	void *arg;
	char *left_out;
};

static void missed(struct collector *c, const char *path, int code)
{
	char *more = format("%s%s: %s\n", c->left_out ? c->left_out : "", path, strerror(-code));

	if (!more)
		return;
	free(c->left_out);
	c->left_out = more;
}

static int one_file(struct collector *c, const char *path, const char *name)
{
	size_t length;
	char *text;
	int code = file_read(path, &text, &length);

	if (code == -ENOENT)
		return 0;
	if (code) {
		missed(c, path, code);
		return 0;
	}
	code = c->text(c->arg, name, text, length);
	free(text);
	return code;
}

static int all_values(struct collector *c)
{
	char *all = NULL, *text, *more;
	int code;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		code = file_read(values[i], &text, NULL);
		if (code) {
			if (code != -ENOENT)
				missed(c, values[i], code);
			continue;
		}
		text[strcspn(text, "\n")] = '\0';
		more = format("%s%s:%s\n", all ? all : "", values[i], text);
		free(text);
		free(all);
		all = more;
		if (!all)
			return -ENOMEM;
	}
	code = all ? c->text(c->arg, "settings", all, strlen(all)) : 0;
	free(all);
	return code;
}

static int kernel_log(struct collector *c)
{
	int size = klogctl(10 /* size of the buffer */, NULL, 0), n, code;
	char *text = size > 0 ? malloc((size_t)size + 1) : NULL;

	if (!text) {
		missed(c, "kernel log", size < 0 ? -errno : -ENOMEM);
		return 0;
	}
	n = klogctl(3 /* read all */, text, size);
	if (n < 0) {
		missed(c, "kernel log", -errno);
		free(text);
		return 0;
	}
	code = c->text(c->arg, "kernel-log", text, (size_t)n);
	free(text);
	return code;
}

static int all_patterns(struct collector *c)
{
	int code = 0;

	for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]) && !code; i++) {
		glob_t found;

		if (glob(patterns[i], 0, NULL, &found))
			continue;
		for (size_t k = 0; k < found.gl_pathc && !code; k++)
			code = one_file(c, found.gl_pathv[k], found.gl_pathv[k] + 1);
		globfree(&found);
	}
	return code;
}

static int gather(struct collector *c, unsigned seconds)
{
	struct timespec wait = {.tv_sec = seconds};
	char *second = format("proc/vmstat.after-%us", seconds);
	int code = second ? one_file(c, "/proc/vmstat", "proc/vmstat") : -ENOMEM;

	if (!code)
		code = kernel_log(c);
	if (!code)
		code = all_values(c);
	while (!code && nanosleep(&wait, &wait) && errno == EINTR)
		;
	if (!code)
		code = all_patterns(c);
	if (!code)
		code = one_file(c, "/proc/vmstat", second);
	free(second);
	return code;
}

/* ---- into an archive ---------------------------------------------------------------- */

struct archive {
	int fd;
	int64_t now;
};

static int archive_text(void *arg, const char *name, const char *text, size_t length)
{
	struct archive *a = arg;
	char *full = format("compactlab/%s", name);
	int code = full ? tar_write(a->fd, full, text, length, a->now) : -ENOMEM;

	free(full);
	return code;
}

int cl_collect(const char *path, unsigned seconds, char **left_out, struct cl_error *err)
{
	struct archive a = {.now = time(NULL)};
	struct collector c = {archive_text, &a, NULL};
	int code;

	/* Kernel logs are private: nobody else may read the archive. */
	a.fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (a.fd < 0) {
		code = -errno;
		cl_error(err, code == -EEXIST ? -EINVAL : code, "cannot create %s: %s", path,
			 strerror(-code));
		return code == -EEXIST
			       ? cl_error_hint(err, -EINVAL, "name a file that is not there yet")
			       : code;
	}
	code = gather(&c, seconds);
	if (!code)
		code = tar_finish(a.fd);
	if (close(a.fd) && !code)
		code = -errno;
	if (left_out)
		*left_out = c.left_out;
	else
		free(c.left_out);
	if (code) {
		unlink(path);
		return cl_error(err, code, "writing %s: %s", path, strerror(-code));
	}
	return 0;
}

/* ---- into an explanation ------------------------------------------------------------ */

static int live_text(void *arg, const char *name, const char *text, size_t length)
{
	struct cl_explanation *x = arg;

	return length ? input_text(&x->evidence, text, length, name, NULL) : 0;
}

int cl_explain_live(struct cl_explanation *x, unsigned seconds, struct cl_error *err)
{
	struct collector c = {live_text, x, NULL};
	int code = gather(&c, seconds);
	char *rest = c.left_out, *line;

	while (rest && (line = strsep(&rest, "\n")))
		if (*line)
			evidence_left_out(&x->evidence, -1, 0, "%s", line);
	free(c.left_out);
	if (code)
		return cl_error(err, code, "reading the machine: %s", strerror(-code));
	return 0;
}
