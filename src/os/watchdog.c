/* SPDX-License-Identifier: MIT */
#include "os/watchdog.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "os/settings.h"
#include "util/util.h"

enum message_kind { WATCH_SETTING, WATCH_INSTANCE, WATCH_FINISH, WATCH_RESTORED, WATCH_DONE };

struct message {
	enum message_kind kind;
	int status;
	char path[512]; /* or the name of an instance */
	char value[512];
};

struct watchdog {
	pid_t pid;
	int fd;
};

/* ---- inside the watchdog ------------------------------------------------------------- */

struct duty {
	int fd;
	int trace_root;
	unsigned count, room;
	struct message *undo;
};

static int duty_add(struct duty *d, const struct message *m)
{
	for (unsigned i = 0; i < d->count; i++)
		if (d->undo[i].kind == m->kind && !strcmp(d->undo[i].path, m->path))
			return 0;
	if (d->count == d->room) {
		struct message *more = realloc(d->undo, (d->room + 16) * sizeof(*more));

		if (!more)
			return -ENOMEM;
		d->undo = more;
		d->room += 16;
	}
	d->undo[d->count++] = *m;
	return 0;
}

/*
 * An instance is busy as long as anything reads from it; the runner that did may be dying just
 * now, so try for a while.
 */
static int instance_remove(int trace_root, const char *name)
{
	char path[600];
	int r = -EBUSY;

	snprintf(path, sizeof(path), "instances/%s", name);
	for (int i = 0; i < 100 && r == -EBUSY; i++) {
		struct timespec pause = {.tv_nsec = 20000000};

		r = unlinkat(trace_root, path, AT_REMOVEDIR) < 0 ? -errno : 0;
		if (r == -EBUSY)
			nanosleep(&pause, NULL);
	}
	return r == -ENOENT ? 0 : r;
}

/* What is as it was is left alone; some settings do more than they show when written to. */
static bool is_back(const struct message *m)
{
	char *text;
	bool is;

	if (file_read(m->path, &text, NULL))
		return false;
	is = setting_is(text, m->value);
	free(text);
	return is;
}

static void undo_all(struct duty *d, bool report)
{
	while (d->count) {
		struct message m = d->undo[--d->count];

		if (m.kind == WATCH_SETTING && is_back(&m))
			continue;
		if (m.kind == WATCH_INSTANCE)
			m.status = instance_remove(d->trace_root, m.path);
		else
			m.status = file_write(m.path, m.value);
		if (!report)
			continue;
		m.kind = m.kind == WATCH_SETTING || m.status ? WATCH_RESTORED : WATCH_INSTANCE;
		send(d->fd, &m, sizeof(m), MSG_NOSIGNAL);
	}
}

/* Nothing of the caller's is kept open: whoever waits for the end of its output must see it. */
static void detach(struct duty *d)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC), keep[2] = {d->fd, d->trace_root};
	int low, high;

	for (int i = 0; i < 3; i++)
		dup2(null, i);
	low = keep[0] < keep[1] ? keep[0] : keep[1];
	high = keep[0] < keep[1] ? keep[1] : keep[0];
	if (low > 3)
		syscall(SYS_close_range, 3, low - 1, 0);
	if (low >= 0 && high > low + 1)
		syscall(SYS_close_range, low + 1, high - 1, 0);
	if (low < 0 && high > 3)
		syscall(SYS_close_range, 3, high - 1, 0);
	syscall(SYS_close_range, high + 1, ~0u, 0);
	setsid();
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "compactlab-dog");
}

static void watch(struct duty *d)
{
	struct message m;

	detach(d);
	for (;;) {
		ssize_t n = recv(d->fd, &m, sizeof(m), 0);

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(m)) {
			undo_all(d, false);
			break;
		}
		if (m.kind == WATCH_FINISH) {
			undo_all(d, true);
			m.kind = WATCH_DONE;
			send(d->fd, &m, sizeof(m), MSG_NOSIGNAL);
			break;
		}
		m.status = duty_add(d, &m);
		send(d->fd, &m, sizeof(m), MSG_NOSIGNAL);
	}
	_exit(0);
}

/* ---- the runner's side -------------------------------------------------------------- */

int watchdog_start(int trace_root, struct watchdog **out, struct cl_error *err)
{
	struct watchdog *w = calloc(1, sizeof(*w));
	int s[2], r;

	*out = NULL;
	if (!w)
		return cl_error(err, -ENOMEM, "out of memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0) {
		r = -errno;
		free(w);
		return cl_error(err, r, "cannot make a socket: %s", strerror(-r));
	}
	w->fd = s[0];
	w->pid = fork();
	if (w->pid == 0) {
		struct duty d = {.fd = s[1], .trace_root = trace_root};

		watch(&d);
	}
	r = w->pid < 0 ? -errno : 0;
	close(s[1]);
	if (r) {
		close(w->fd);
		free(w);
		return cl_error(err, r, "cannot start the watchdog: %s", strerror(-r));
	}
	*out = w;
	return 0;
}

static int exchange(struct watchdog *w, struct message *m)
{
	ssize_t n;

	if (send(w->fd, m, sizeof(*m), MSG_NOSIGNAL) < 0)
		return -EPIPE;
	do {
		n = recv(w->fd, m, sizeof(*m), 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*m) ? m->status : -EPIPE;
}

static int tell(struct watchdog *w, enum message_kind kind, const char *path, const char *value)
{
	struct message m;

	memset(&m, 0, sizeof(m));
	m.kind = kind;
	if (strlen(path) >= sizeof(m.path) || strlen(value) >= sizeof(m.value))
		return -ENAMETOOLONG;
	strcpy(m.path, path);
	strcpy(m.value, value);
	return exchange(w, &m);
}

int watchdog_setting(struct watchdog *w, const char *path, const char *value)
{
	return tell(w, WATCH_SETTING, path, value);
}

int watchdog_instance(struct watchdog *w, const char *name)
{
	return tell(w, WATCH_INSTANCE, name, "");
}

static int finish_report(const struct message *m, json_t *restored, struct cl_error *err)
{
	if (m->kind != WATCH_RESTORED)
		return 0;
	if (m->status) {
		cl_error(err, m->status, "could not put %s back: %s", m->path,
			 strerror(-m->status));
		return cl_error_hint(err, m->status, "write '%s' to it", m->value);
	}
	if (restored)
		json_object_set_new(restored, m->path, json_string(m->value));
	return 0;
}

int watchdog_finish(struct watchdog *w, json_t *restored, struct cl_error *err)
{
	struct message m;
	int r = 0, status;

	memset(&m, 0, sizeof(m));
	m.kind = WATCH_FINISH;
	if (send(w->fd, &m, sizeof(m), MSG_NOSIGNAL) < 0)
		r = cl_error(err, -EPIPE, "the watchdog is gone; settings may not be put back");
	while (!r) {
		struct cl_error first;
		ssize_t n = recv(w->fd, &m, sizeof(m), 0);
		int one;

		if (n < 0 && errno == EINTR)
			continue;
		if (n != (ssize_t)sizeof(m)) {
			r = cl_error(err, -EPIPE,
				     "the watchdog ended before it had put everything back");
			break;
		}
		if (m.kind == WATCH_DONE)
			break;
		one = finish_report(&m, restored, &first);
		if (one && !r) {
			r = one;
			if (err)
				*err = first;
		}
	}
	close(w->fd);
	while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
		;
	free(w);
	return r;
}
