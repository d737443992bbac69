/* SPDX-License-Identifier: MIT */
#include "os/worker.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "os/team.h"
#include "util/util.h"

static const struct worker_job *const jobs[STEP_KINDS] = {
	[STEP_FILL] = &fill_job,   [STEP_PUNCH] = &punch_job, [STEP_PIN] = &pin_job,
	[STEP_UNPIN] = &unpin_job, [STEP_FAULT] = &fault_job, [STEP_RELEASE] = &release_job,
	[STEP_FILES] = &files_job, [STEP_WRITE] = &write_job, [STEP_REQUEST] = &request_job,
};

/* ---- inside the worker -------------------------------------------------------------- */

static void answer(struct memory *m, const struct worker_request *q, struct worker_reply *reply)
{
	const struct worker_job *job = jobs[m->plan->step[q->step].kind];
	int (*const phase[])(struct memory *, unsigned, struct worker_reply *) = {
		[WORKER_PREPARE] = job->prepare,
		[WORKER_ACT] = job->act,
		[WORKER_VERIFY] = job->verify,
	};

	memset(reply, 0, sizeof(*reply));
	if (q->phase == WORKER_VERIFY) {
		team_drop(m->team);
		m->team = NULL;
	}
	/* The first look at the clock is a fault, which the operation is not to be charged with. */
	if (q->phase == WORKER_PREPARE)
		now_ns();
	if (phase[q->phase])
		reply->status = phase[q->phase](m, q->step, reply);
	atomic_store(&m->shared->base, (uintptr_t)m->base);
	atomic_store(&m->shared->place, (uintptr_t)m->place);
	atomic_store(&m->shared->bytes, m->base ? m->bytes : 0);
}

/* Everything but standard streams and our socket, so that no end of another socket lives on. */
static void close_others(int keep)
{
	if (keep > 3)
		syscall(SYS_close_range, 3, keep - 1, 0);
	syscall(SYS_close_range, keep + 1, ~0u, 0);
}

static int settle(pid_t parent)
{
	struct rlimit all = {RLIM_INFINITY, RLIM_INFINITY}, files = {1 << 20, 1 << 20};

	/* The parent may have died before the request to die with it was made. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || getppid() != parent)
		return -ESRCH;
	signal(SIGINT, SIG_IGN); /* the runner decides when to stop */
	signal(SIGTERM, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	prctl(PR_SET_NAME, "compactlab-mem");
	setrlimit(RLIMIT_MEMLOCK, &all);
	/* A ring is a file; the kernel's own limit may be lower than this. */
	if (setrlimit(RLIMIT_NOFILE, &files) < 0 && getrlimit(RLIMIT_NOFILE, &files) == 0) {
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	return file_write("/proc/self/oom_score_adj", "1000");
}

static void serve(int fd, pid_t parent, struct memory *m)
{
	struct worker_reply reply;
	struct worker_request q;
	ssize_t n;

	close_others(fd);
	memset(&reply, 0, sizeof(reply));
	reply.status = settle(parent);
	while (send(fd, &reply, sizeof(reply), MSG_NOSIGNAL) == (ssize_t)sizeof(reply)) {
		do {
			n = recv(fd, &q, sizeof(q), 0);
		} while (n < 0 && errno == EINTR);
		if (n != (ssize_t)sizeof(q))
			break;
		answer(m, &q, &reply);
	}
	_exit(0);
}

/* ---- the runner's side -------------------------------------------------------------- */

int worker_send(struct worker *w, enum worker_phase phase, unsigned step)
{
	struct worker_request q;

	memset(&q, 0, sizeof(q));
	q.phase = phase;
	q.step = step;
	return send(w->fd, &q, sizeof(q), MSG_NOSIGNAL) < 0 ? -EPIPE : 0;
}

int worker_receive(struct worker *w, struct worker_reply *reply)
{
	ssize_t n;

	do {
		n = recv(w->fd, reply, sizeof(*reply), 0);
	} while (n < 0 && errno == EINTR);
	return n == (ssize_t)sizeof(*reply) ? 0 : -EPIPE;
}

uint64_t worker_held(const struct worker *w)
{
	return atomic_load(&w->shared->held_bytes);
}

int worker_wait(struct worker *w)
{
	int status = 0;

	if (w->pid > 0)
		while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
			;
	w->pid = 0;
	return status;
}

void worker_stop(struct worker *w)
{
	if (!w)
		return;
	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		worker_wait(w);
	}
	if (w->fd >= 0)
		close(w->fd);
	if (w->shared)
		munmap(w->shared, PAGE_BYTES);
	free(w);
}

static struct worker *worker_new(void)
{
	struct worker *w = calloc(1, sizeof(*w));
	void *shared =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (!w || shared == MAP_FAILED) {
		free(w);
		return NULL;
	}
	w->fd = -1;
	w->shared = shared;
	return w;
}

int worker_start(const struct plan *plan, bool guard, unsigned step, struct worker **out,
		 struct cl_error *err)
{
	struct worker *w = worker_new();
	pid_t parent = getpid();
	struct worker_reply ready;
	int s[2], r;

	*out = NULL;
	if (!w)
		return cl_error(err, -ENOMEM, "out of memory");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0) {
		r = -errno;
		worker_stop(w);
		return cl_error(err, r, "cannot make a socket: %s", strerror(-r));
	}
	w->fd = s[0];
	w->pid = fork();
	if (w->pid == 0) {
		struct memory m;

		memset(&m, 0, sizeof(m));
		m.plan = plan;
		m.guard = guard;
		m.shared = w->shared;
		m.step = step;
		m.node = PLAN_NODE_ANY;
		m.fd = -1;
		serve(s[1], parent, &m);
	}
	r = w->pid < 0 ? -errno : 0;
	close(s[1]);
	if (!r)
		r = worker_receive(w, &ready);
	if (!r)
		r = ready.status;
	if (r) {
		worker_stop(w);
		return cl_error(err, r, "cannot start a worker process: %s", strerror(-r));
	}
	*out = w;
	return 0;
}
