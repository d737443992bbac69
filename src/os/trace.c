/* SPDX-License-Identifier: MIT */
#include "os/trace.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "os/mountfd.h"
#include "os/numa.h"
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

/* ---- the account ------------------------------------------------------------------------ */

void trace_sum_start(struct trace_sum *s, uint64_t now)
{
	s->compaction_ns = s->daemon_ns = s->runs = s->daemon_runs = s->damaged = 0;
	s->defer_shift = -1;
	s->crowded = false;
	for (unsigned i = 0; i < s->tasks; i++)
		s->task[i].start_ns = now;
}

static struct trace_task *task_find(struct trace_sum *s, int pid)
{
	for (unsigned i = 0; i < s->tasks; i++)
		if (s->task[i].pid == pid)
			return &s->task[i];
	return NULL;
}

static void task_begin(struct trace_sum *s, const struct compaction_event *e)
{
	struct trace_task *t = task_find(s, e->pid);

	if (!t && s->tasks == TRACE_TASKS) {
		s->crowded = true;
		return;
	}
	if (!t)
		t = &s->task[s->tasks++];
	t->pid = e->pid;
	t->daemon = !strncmp(e->comm, "kcompactd", 9);
	t->start_ns = e->time_ns;
}

static void task_add(struct trace_sum *s, const struct trace_task *t, uint64_t end_ns)
{
	uint64_t ns = end_ns > t->start_ns ? end_ns - t->start_ns : 0;

	if (t->daemon)
		s->daemon_ns += ns;
	else
		s->compaction_ns += ns;
}

static void task_end(struct trace_sum *s, const struct compaction_event *e)
{
	struct trace_task *t = task_find(s, e->pid);

	if (!t)
		return;
	task_add(s, t, e->time_ns);
	if (t->daemon)
		s->daemon_runs++;
	else
		s->runs++;
	*t = s->task[--s->tasks];
}

static void take_line(struct trace_sum *s, const char *line, size_t length)
{
	struct compaction_event e;
	int r = compaction_event_parse(line, length, &e);

	if (r == -EINVAL)
		s->damaged++;
	if (r)
		return;
	switch (e.kind) {
	case COMPACTION_BEGIN:
		task_begin(s, &e);
		break;
	case COMPACTION_END:
		task_end(s, &e);
		break;
	case COMPACTION_DEFERRED:
	case COMPACTION_DEFER_COMPACTION:
	case COMPACTION_DEFER_RESET:
		/* Where deferral is kept per mode, what asynchronous runs may do is not the
		 * question. */
		if (e.sync != 0 && e.defer_shift > s->defer_shift)
			s->defer_shift = e.defer_shift;
		break;
	default:
		break;
	}
}

void trace_sum_feed(struct trace_sum *s, const char *text, size_t length)
{
	while (length) {
		const char *end = memchr(text, '\n', length);
		size_t piece = end ? (size_t)(end - text) : length;
		size_t fits = sizeof(s->rest) - s->rest_length;

		if (!s->rest_length && end) {
			take_line(s, text, piece);
		} else {
			fits = piece < fits ? piece : fits;
			memcpy(s->rest + s->rest_length, text, fits);
			s->rest_length += fits;
			if (end) {
				take_line(s, s->rest, s->rest_length);
				s->rest_length = 0;
			}
		}
		piece += end != NULL;
		text += piece;
		length -= piece;
	}
}

void trace_sum_end(struct trace_sum *s, uint64_t now)
{
	for (unsigned i = 0; i < s->tasks; i++) {
		task_add(s, &s->task[i], now);
		s->task[i].start_ns = now;
	}
}

/* ---- the instance --------------------------------------------------------------------- */

struct trace {
	int root;
	int pipe;
	char name[64];
	uint64_t lost; /* in all buffers, at the start of the step */
	FILE *copy;    /* of all that was read; may be NULL */
	struct trace_sum sum;
};

int trace_root(void)
{
	return mountfd_open("tracefs", NULL);
}

static int instance_write(const struct trace *t, const char *file, const char *text)
{
	char path[384];
	int fd, r = 0;

	snprintf(path, sizeof(path), "instances/%s/%s", t->name, file);
	fd = openat(t->root, path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		r = -errno;
	close(fd);
	return r;
}

/* A runner and its watchdog killed together leave an instance; nobody else will remove it. */
static void sweep(int root)
{
	int fd = openat(root, "instances", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d)
		return;
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		int pid;

		if (sscanf(e->d_name, "compactlab-%d", &pid) == 1 && kill(pid, 0) < 0 &&
		    errno == ESRCH)
			unlinkat(fd, e->d_name, AT_REMOVEDIR);
	}
	closedir(d);
}

/* Buffers in all CPUs together take at most 1/64 of memory, 8 MiB a CPU at most. */
static uint64_t buffer_kb(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t total = 0, kb;

	numa_total_bytes(-1, &total);
	kb = total / 64 / (uint64_t)(cpus > 0 ? cpus : 1) / 1024;
	return kb > 8192 ? 8192 : kb < 128 ? 128 : kb;
}

/* The comment lines at the top of the trace file, which the pipe does not have. */
static void copy_header(struct trace *t)
{
	char path[256], line[1024];
	int fd;
	FILE *in;

	snprintf(path, sizeof(path), "instances/%s/trace", t->name);
	fd = openat(t->root, path, O_RDONLY | O_CLOEXEC);
	in = fd < 0 ? NULL : fdopen(fd, "r");
	if (!in)
		return;
	while (fgets(line, sizeof(line), in) && *line == '#')
		fputs(line, t->copy);
	fclose(in);
}

static int enable_events(struct trace *t)
{
	static const char *const events[] = {"begin", "end", "defer_compaction", "deferred",
					     "defer_reset"};
	char path[256];
	int r = 0;

	if (t->copy)
		return instance_write(t, "events/compaction/enable", "1");
	for (unsigned i = 0; i < sizeof(events) / sizeof(events[0]) && !r; i++) {
		snprintf(path, sizeof(path), "events/compaction/mm_compaction_%s/enable",
			 events[i]);
		r = instance_write(t, path, "1");
	}
	return r;
}

static int instance_set_up(struct trace *t)
{
	char path[256];
	int r;

	snprintf(path, sizeof(path), "%llu", (unsigned long long)buffer_kb());
	r = instance_write(t, "buffer_size_kb", path);
	/* The clock that time_ns is taken with. */
	if (!r)
		r = instance_write(t, "trace_clock", "mono");
	if (!r && t->copy)
		copy_header(t);
	if (!r)
		r = enable_events(t);
	if (r)
		return r;
	snprintf(path, sizeof(path), "instances/%s/trace_pipe", t->name);
	t->pipe = openat(t->root, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return t->pipe < 0 ? -errno : 0;
}

int trace_open(int root, struct watchdog *w, FILE *copy, struct trace **out, char *why, size_t size)
{
	struct trace *t = calloc(1, sizeof(*t));
	char path[128];
	int r;

	*out = NULL;
	if (!t)
		return -ENOMEM;
	t->root = root;
	t->pipe = -1;
	t->copy = copy;
	snprintf(t->name, sizeof(t->name), "compactlab-%d", (int)getpid());
	r = root < 0 ? root : 0;
	if (!r) {
		sweep(root);
		r = watchdog_instance(w, t->name);
	}
	snprintf(path, sizeof(path), "instances/%s", t->name);
	if (!r && mkdirat(root, path, 0700) < 0)
		r = -errno;
	if (!r)
		r = instance_set_up(t);
	if (r) {
		snprintf(why, size, "compaction is not traced here: %s: %s",
			 root < 0 ? "no tracefs" : "the compaction events cannot be switched on",
			 strerror(-r));
		trace_close(t);
		return r;
	}
	trace_sum_start(&t->sum, now_ns());
	*out = t;
	return 0;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	if (t->pipe >= 0) {
		trace_drain(t);
		close(t->pipe);
	}
	free(t);
}

void trace_drain(struct trace *t)
{
	char text[8192]; /* the kernel gives no more at once */
	ssize_t n;

	while ((n = read(t->pipe, text, sizeof(text))) > 0 || (n < 0 && errno == EINTR))
		if (n > 0) {
			trace_sum_feed(&t->sum, text, (size_t)n);
			if (t->copy)
				fwrite(text, 1, (size_t)n, t->copy);
		}
}

/* Events the ring buffers had no room for, over all CPUs. */
static uint64_t events_lost(const struct trace *t)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	uint64_t lost = 0;

	for (long cpu = 0; cpu < cpus; cpu++) {
		char path[256], text[1024];
		const char *at;
		ssize_t n;
		int fd;

		snprintf(path, sizeof(path), "instances/%s/per_cpu/cpu%ld/stats", t->name, cpu);
		fd = openat(t->root, path, O_RDONLY | O_CLOEXEC);
		n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
		if (fd >= 0)
			close(fd);
		if (n <= 0)
			continue;
		text[n] = '\0';
		for (const char *const *key = (const char *const[]){"overrun: ", "commit overrun: ",
								    "dropped events: ", NULL};
		     *key; key++) {
			at = strstr(text, *key);
			if (at && (at == text || at[-1] == '\n'))
				lost += strtoull(at + strlen(*key), NULL, 10);
		}
	}
	return lost;
}

void trace_start(struct trace *t)
{
	trace_drain(t);
	t->lost = events_lost(t);
	trace_sum_start(&t->sum, now_ns());
}

int trace_end(struct trace *t, struct trace_sum *out)
{
	trace_drain(t);
	trace_sum_end(&t->sum, now_ns());
	*out = t->sum;
	return events_lost(t) > t->lost || t->sum.damaged || t->sum.crowded ? -EOVERFLOW : 0;
}
