/* SPDX-License-Identifier: MIT */
/* The machine this runs on, as a backend. */
#include "backend/backend.h"
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include "os/os.h"

static struct os_run host_os_run(const struct backend_run *run)
{
	return (struct os_run){.plan = run->plan,
			       .step = run->step,
			       .stopped = run->stopped,
			       .arg = run->arg,
			       .trace = run->trace,
			       .guard = true};
}

static int host_probe(const struct backend_run *run, struct cl_error *err)
{
	struct os_run os = host_os_run(run);

	return os_probe(&os, err);
}

/*
 * One run at a time on a machine: a name that the kernel frees when its holder ends, however
 * it ends.
 */
static int host_lock(struct cl_error *err)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "\0compactlab-host"};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), r;

	if (fd < 0)
		return cl_error(err, -errno, "cannot make a socket: %s", strerror(errno));
	if (bind(fd, (struct sockaddr *)&name,
		 offsetof(struct sockaddr_un, sun_path) + sizeof("\0compactlab-host") - 1) == 0)
		return fd;
	r = -errno;
	close(fd);
	if (r == -EADDRINUSE) {
		cl_error(err, -EBUSY, "another run on this machine is under way");
		return cl_error_hint(err, -EBUSY,
				     "runs on the host would measure each other; wait");
	}
	return cl_error(err, r, "cannot take the lock for runs on this machine: %s", strerror(-r));
}

static int host_run(const struct backend_run *run, json_t **record, struct cl_error *err)
{
	struct os_run os = host_os_run(run);
	int lock = host_lock(err), r;

	*record = NULL;
	if (lock < 0)
		return lock;
	r = os_run(&os, record, err);
	close(lock);
	return r;
}

static unsigned host_jobs(const struct backend_run *run)
{
	(void)run;
	return 1;
}

const struct backend backend_host = {
	.name = "host", .probe = host_probe, .traces = true, .run = host_run, .jobs = host_jobs};
