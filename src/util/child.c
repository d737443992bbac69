/* SPDX-License-Identifier: MIT */
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

struct sink {
	int fd;
	char *text;
	size_t used, room;
};

/* Take what is there; closes the descriptor at its end. 0 or -errno. */
static int sink_take(struct sink *s)
{
	ssize_t n;

	if (s->room - s->used < 4096) {
		char *more = realloc(s->text, s->room + 65536);

		if (!more)
			return -ENOMEM;
		s->text = more;
		s->room += 65536;
	}
	n = read(s->fd, s->text + s->used, s->room - s->used - 1);
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	if (n == 0) {
		close(s->fd);
		s->fd = -1;
	}
	s->used += (size_t)n;
	s->text[s->used] = '\0';
	return 0;
}

static int sinks_drain(struct sink s[2])
{
	int r = 0;

	while (!r && (s[0].fd >= 0 || s[1].fd >= 0)) {
		struct pollfd p[2] = {{.fd = s[0].fd, .events = POLLIN},
				      {.fd = s[1].fd, .events = POLLIN}};

		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return -errno;
		for (int i = 0; i < 2 && !r; i++)
			if (p[i].fd >= 0 && p[i].revents)
				r = sink_take(&s[i]);
	}
	return r;
}

int child_run(const char *const argv[], char **out, char **errors)
{
	struct sink sink[2] = {{.fd = -1}, {.fd = -1}};
	char **want[2] = {out, errors};
	posix_spawn_file_actions_t actions;
	int write_end[2] = {-1, -1}, r = 0, status;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	for (int i = 0; i < 2 && !r; i++) {
		int p[2];

		if (!want[i]) {
			posix_spawn_file_actions_addopen(&actions, i + 1, "/dev/null", O_WRONLY, 0);
			continue;
		}
		if (pipe2(p, O_CLOEXEC) < 0) {
			r = -errno;
			break;
		}
		sink[i].fd = p[0];
		write_end[i] = p[1];
		posix_spawn_file_actions_adddup2(&actions, p[1], i + 1);
	}
	if (!r)
		r = -posix_spawnp(&pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	for (int i = 0; i < 2; i++)
		if (write_end[i] >= 0)
			close(write_end[i]);
	if (!r) {
		r = sinks_drain(sink);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		if (!r)
			r = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
	for (int i = 0; i < 2; i++) {
		if (sink[i].fd >= 0)
			close(sink[i].fd);
		if (want[i])
			*want[i] = sink[i].text;
		else
			free(sink[i].text);
	}
	return r;
}
