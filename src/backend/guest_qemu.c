/* SPDX-License-Identifier: MIT */
#include "backend/guest_qemu.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kvm.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POWER_OFF_NS (5ull * 1000000000) /* after "end"; then the guest is not waited for */
#define POLL_MS      20

int qemu_find(char *path, size_t size, struct cl_error *err)
{
	const char *search = getenv("PATH");

	for (const char *p = search ? search : "/usr/bin:/bin"; *p;) {
		int n = (int)strcspn(p, ":");

		if (n && snprintf(path, size, "%.*s/qemu-system-x86_64", n, p) < (int)size &&
		    access(path, X_OK) == 0)
			return 0;
		p += n + (p[n] == ':');
	}
	cl_error(err, -EOPNOTSUPP, "QEMU (qemu-system-x86_64), which runs the guest, is not here");
	return cl_error_hint(err, -EOPNOTSUPP, "apt install qemu-system-x86");
}

/* "vmx" or "svm" among the flags of the first processor. */
static bool cpu_virtualizes(void)
{
	char *text, *flags, *save;
	bool found = false;

	if (file_read("/proc/cpuinfo", &text, NULL) < 0)
		return false;
	flags = strstr(text, "\nflags");
	if (flags) {
		flags[1 + strcspn(flags + 1, "\n")] = '\0';
		for (char *w = strtok_r(flags, " \t:\n", &save); w && !found;
		     w = strtok_r(NULL, " \t:\n", &save))
			found = !strcmp(w, "vmx") || !strcmp(w, "svm");
	}
	free(text);
	return found;
}

/*
 * The flag counts besides the device: where KVM is there without it, as inside some
 * virtual machines, it cannot run the start-up code of an ordinary kernel.
 */
bool qemu_kvm_usable(void)
{
	bool usable;
	int fd;

	if (!cpu_virtualizes())
		return false;
	fd = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return false;
	usable = ioctl(fd, KVM_GET_API_VERSION, 0) == KVM_API_VERSION;
	close(fd);
	return usable;
}

/* " numa_cma=0:384M,1:384M" */
static char *cma_parameter(const struct machine *m)
{
	char *text = strdup(m->cmas ? " numa_cma=" : "");

	for (unsigned i = 0; i < m->cmas && text; i++) {
		char *more =
			format("%s%s%u:%" PRIu64 "M", text, i ? "," : "", i, m->cma_bytes[i] >> 20);

		free(text);
		text = more;
	}
	return text;
}

/*
 * console, printk.time    where errors are looked for, and what marks the kernel's lines
 * loglevel=5              warnings and worse while booting: a serial console is slow
 * panic=-1 oops=panic     end at once, with QEMU's -no-reboot, instead of hanging
 * nokaslr                 the kernel image (50 MiB) lies in node 0 of every run, not in node 1
 *                         of some
 * random.trust_cpu=1      the first read of random numbers else waits 1 to 3 s for entropy
 * tsc=reliable            the emulated clock needs no second clock to watch it
 * no_timer_check          a busy host makes the emulated timer look broken at boot
 * numa_balancing=disable  pages would be moved while steps run, and be counted with those that
 *                         compaction moves
 */
char *qemu_kernel_parameters(const struct machine *m)
{
	char *cma = cma_parameter(m), *all;

	all = cma ? format("console=ttyS0 printk.time=1 loglevel=5 panic=-1 oops=panic "
			   "rdinit=/init nokaslr random.trust_cpu=1 tsc=reliable "
			   "no_timer_check numa_balancing=disable%s%s%s",
			   cma, m->boot && m->boot[0] ? " " : "", m->boot ? m->boot : "")
		  : NULL;
	free(cma);
	return all;
}

/* ---- the command line --------------------------------------------------------------- */

struct words {
	char **word;
	unsigned used, room;
	bool failed;
};

static void add(struct words *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void add(struct words *w, const char *fmt, ...)
{
	va_list ap;
	char *text;

	if (w->used + 2 > w->room) {
		char **more = reallocarray(w->word, w->room + 32, sizeof(*more));

		if (!more) {
			w->failed = true;
			return;
		}
		w->word = more;
		w->room += 32;
	}
	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0) {
		text = NULL;
		w->failed = true;
	}
	va_end(ap);
	w->word[w->used++] = text;
	w->word[w->used] = NULL;
}

/* Node of a CPU: equal runs, the first nodes get a CPU when there are too few. */
static unsigned cpu_node(const struct machine *m, unsigned cpu)
{
	return cpu * m->nodes / m->cpus;
}

/* One package for each node with CPUs, as the kernel warns of packages that span nodes. */
static unsigned machine_sockets(const struct machine *m)
{
	unsigned sockets = m->nodes < m->cpus ? m->nodes : m->cpus;

	return m->cpus % sockets ? m->cpus : sockets;
}

static void add_memory(struct words *w, const struct machine *m)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < m->nodes; i++)
		total += m->node_bytes[i];
	add(w, "-m");
	add(w, "%" PRIu64 "B", total);
	for (unsigned i = 0; i < m->nodes; i++) {
		add(w, "-object");
		add(w, "memory-backend-ram,id=memory%u,size=%" PRIu64 ",dump=off", i,
		    m->node_bytes[i]);
	}
	for (unsigned i = 0; i < m->nodes; i++) {
		unsigned first = m->cpus, last = 0;

		for (unsigned cpu = 0; cpu < m->cpus; cpu++)
			if (cpu_node(m, cpu) == i) {
				first = cpu < first ? cpu : first;
				last = cpu;
			}
		add(w, "-numa");
		if (first < m->cpus)
			add(w, "node,nodeid=%u,memdev=memory%u,cpus=%u-%u", i, i, first, last);
		else
			add(w, "node,nodeid=%u,memdev=memory%u", i, i);
	}
}

/*
 * Emulated, a processor model of few features boots faster and clears memory three times
 * as fast as "max", whose rep stosb QEMU 7.2 does byte by byte.
 *
 * All CPUs take turns on one thread. On threads of their own a CPU may run instructions
 * that another has just patched: on a busy host, three runs in seven ended in "Oops: int3"
 * where the kernel switches a static key. tb-size bounds the memory for translated code.
 */
static void add_processor(struct words *w, const struct qemu *q)
{
	unsigned sockets = machine_sockets(q->machine);

	add(w, "-accel");
	add(w, "%s", q->kvm ? "kvm" : "tcg,thread=single,tb-size=256");
	add(w, "-cpu");
	add(w, "%s", q->kvm ? "host" : "qemu64,+rdrand");
	add(w, "-smp");
	add(w, "cpus=%u,sockets=%u,cores=%u,threads=1", q->machine->cpus, sockets,
	    q->machine->cpus / sockets);
}

char **qemu_command(const struct qemu *q, int wire)
{
	struct words w = {0};
	char *parameters = qemu_kernel_parameters(q->machine);

	add(&w, "%s", q->program);
	add(&w, "-machine");
	add(&w, "q35");
	add_processor(&w, q);
	add_memory(&w, q->machine);
	for (const char *const *p =
		     (const char *const[]){"-nodefaults", "-no-user-config", "-no-reboot",
					   "-display", "none", "-kernel", NULL};
	     *p; p++)
		add(&w, "%s", *p);
	add(&w, "%s", q->image);
	add(&w, "-initrd");
	add(&w, "/proc/self/fd/%d", q->initramfs);
	add(&w, "-append");
	add(&w, "%s", parameters ? parameters : "");
	add(&w, "-chardev");
	add(&w, "file,id=console,path=/proc/self/fd/%d", q->console);
	add(&w, "-serial");
	add(&w, "chardev:console");
	add(&w, "-chardev");
	add(&w, "file,id=wire,path=/proc/self/fd/%d", wire);
	add(&w, "-serial");
	add(&w, "chardev:wire");
	if (q->disk >= 0) {
		/* nvme: the one disk that Debian's cloud kernels drive without a module. */
		add(&w, "-drive");
		add(&w,
		    "if=none,id=scratch,format=raw,cache=unsafe,file.locking=off,"
		    "file=/proc/self/fd/%d",
		    q->disk);
		add(&w, "-device");
		add(&w, "nvme,drive=scratch,serial=scratch");
	}
	if (!parameters || w.failed) {
		qemu_command_free(w.word);
		w.word = NULL;
	}
	free(parameters);
	return w.word;
}

void qemu_command_free(char **argv)
{
	for (char **p = argv; p && *p; p++)
		free(*p);
	free(argv);
}

/* ---- the child ---------------------------------------------------------------------- */

/*
 * QEMU writes the second port to a file in memory. A pipe would be woken up for each
 * byte, and a full one would have the port drop some.
 */
struct child {
	pid_t pid;
	int wire;   /* that file; our offset in it is our own */
	int errors; /* our end of the pipe that is its standard error */
};

static void child_close(struct child *c)
{
	if (c->wire >= 0)
		close(c->wire);
	if (c->errors >= 0)
		close(c->errors);
}

/*
 * Between fork() and execv() of a program with threads: only calls that are safe in a
 * signal handler.
 */
static void child_exec(const struct qemu *q, char **argv, pid_t parent, int wire, int errors)
{
	const int kept[] = {q->initramfs, q->console, q->disk, wire};
	int null = open("/dev/null", O_RDWR);
	sigset_t none;

	/* Nothing is left when we are killed; the second line closes the race with that. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(126);
	/* A Ctrl-C is for the runner alone, which ends us and says so. */
	setpgid(0, 0);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, 0);
	dup2(null, 1);
	dup2(errors, 2);
	for (unsigned i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (kept[i] >= 0)
			fcntl(kept[i], F_SETFD, 0);
	execv(argv[0], argv);
	_exit(127);
}

static int child_start(const struct qemu *q, struct child *c, struct cl_error *err)
{
	int errors[2] = {-1, -1}, r = 0;
	pid_t parent = getpid();
	char **argv = NULL;

	*c = (struct child){.pid = -1, .wire = memfd_create("compactlab-wire", MFD_CLOEXEC)};
	if (c->wire < 0 || pipe2(errors, O_CLOEXEC) < 0)
		r = -errno;
	c->errors = errors[0];
	if (!r) {
		fcntl(c->errors, F_SETFL, O_NONBLOCK);
		argv = qemu_command(q, c->wire);
		r = argv ? 0 : -ENOMEM;
	}
	if (!r) {
		c->pid = fork();
		if (c->pid == 0)
			child_exec(q, argv, parent, c->wire, errors[1]);
		r = c->pid < 0 ? -errno : 0;
	}
	qemu_command_free(argv);
	if (errors[1] >= 0)
		close(errors[1]);
	if (r) {
		child_close(c);
		return cl_error(err, r, "cannot start QEMU: %s", strerror(-r));
	}
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- seeing it through -------------------------------------------------------------- */

struct watch {
	const struct qemu *q;
	struct qemu_outcome *out;
	struct wire wire;
	size_t errors_used;
	uint64_t start, deadline;
};

static void replace(char **where, const char *text)
{
	free(*where);
	*where = strdup(text);
}

static void take_message(struct watch *w, const struct wire_message *m)
{
	struct qemu_outcome *out = w->out;

	switch (m->kind) {
	case WIRE_HELLO:
		replace(&out->hello, m->text);
		break;
	case WIRE_STEP:
		replace(&out->last_step, m->text);
		if (w->q->step)
			w->q->step(w->q->arg, m->text);
		break;
	case WIRE_RECORD:
		replace(&out->record, m->text);
		break;
	case WIRE_ERROR:
		replace(&out->error, m->text);
		break;
	case WIRE_END:
		out->finished = true;
		if (w->deadline > now_ns() + POWER_OFF_NS)
			w->deadline = now_ns() + POWER_OFF_NS;
		break;
	case WIRE_KINDS:
		break;
	}
}

static void take_wire(struct watch *w, int fd)
{
	struct wire_message m;

	while (wire_read(&w->wire, fd) > 0)
		while (wire_next(&w->wire, &m))
			take_message(w, &m);
}

/* False when QEMU has closed its end, which it does only by exiting. */
static bool take_errors(struct watch *w, int fd)
{
	char buf[4096];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0) {
		char *more;

		/* The first words matter; the rest is not kept. */
		if (w->errors_used > 16384)
			continue;
		more = realloc(w->out->errors, w->errors_used + (size_t)n + 1);
		if (!more)
			continue;
		memcpy(more + w->errors_used, buf, (size_t)n);
		w->errors_used += (size_t)n;
		more[w->errors_used] = '\0';
		w->out->errors = more;
		/* QEMU then stops the guest and waits for a debugger. */
		if (strstr(more, "KVM internal error"))
			w->out->end = QEMU_BROKEN;
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Is it time to stop waiting? */
static bool over(struct watch *w)
{
	uint64_t now = now_ns();

	if (w->out->end == QEMU_BROKEN)
		return true;
	if (w->q->stopped && w->q->stopped(w->q->arg)) {
		w->out->end = QEMU_STOPPED;
		return true;
	}
	if (now >= w->deadline) {
		w->out->end = QEMU_TIMEOUT;
		return true;
	}
	if (!w->out->hello && now - w->start >= QEMU_BOOT_TIMEOUT_NS) {
		w->out->end = QEMU_SILENT;
		return true;
	}
	return false;
}

/* Until QEMU exits or time is over. */
static void watch_child(struct watch *w, struct child *c)
{
	struct pollfd p = {.fd = c->errors, .events = POLLIN};
	bool open = true;

	while (open && !over(w)) {
		if (poll(&p, 1, POLL_MS) < 0 && errno != EINTR)
			break;
		open = take_errors(w, c->errors);
		take_wire(w, c->wire);
	}
}

int qemu_run(const struct qemu *q, struct qemu_outcome *out, struct cl_error *err)
{
	struct watch w = {.q = q, .out = out};
	struct child c;
	int r;

	memset(out, 0, sizeof(*out));
	w.start = now_ns();
	w.deadline = w.start + q->machine->timeout_ns;
	if (!q->machine->timeout_ns)
		w.deadline = UINT64_MAX;
	r = child_start(q, &c, err);
	if (r)
		return r;
	watch_child(&w, &c);
	if (out->end != QEMU_ENDED)
		kill(c.pid, SIGKILL);
	while (waitpid(c.pid, &out->status, 0) < 0 && errno == EINTR)
		;
	child_close(&c);
	out->damaged = w.wire.damaged;
	wire_free(&w.wire);
	return out->end == QEMU_STOPPED ? cl_error(err, -EINTR, "stopped") : 0;
}

void qemu_outcome_free(struct qemu_outcome *out)
{
	free(out->hello);
	free(out->last_step);
	free(out->record);
	free(out->error);
	free(out->errors);
	memset(out, 0, sizeof(*out));
}
