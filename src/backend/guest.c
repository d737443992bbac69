/* SPDX-License-Identifier: MIT */
#include "backend/backend.h"
#include "backend/guest_console.h"
#include "backend/guest_image.h"
#include "backend/guest_qemu.h"
#include "os/kernel_policy.h"
#include "os/numa.h"
#include "os/os.h"
#include "util/util.h"
#include <compactlab/kernel.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define QEMU_OVERHEAD (320ull << 20) /* translated code, at most 256 MiB, and devices */

/* ---- can it run here ---------------------------------------------------------------- */

static uint64_t guest_bytes(const struct machine *m)
{
	uint64_t bytes = QEMU_OVERHEAD;

	for (unsigned i = 0; i < m->nodes; i++)
		bytes += m->node_bytes[i];
	return bytes;
}

/* MemAvailable, or the largest number when the kernel does not say. */
static uint64_t host_available(void)
{
	uint64_t bytes;

	return numa_meminfo("/proc/meminfo", "MemAvailable", &bytes) ? UINT64_MAX : bytes;
}

static int probe_memory(const struct machine *m, struct cl_error *err)
{
	uint64_t need = guest_bytes(m), have = host_available();

	if (need <= have)
		return 0;
	cl_error(err, -EOPNOTSUPP,
		 "the guest needs %" PRIu64 " MiB and this machine has %" PRIu64 " MiB available",
		 need >> 20, have >> 20);
	return cl_error_hint(err, -EOPNOTSUPP, "make it smaller with --scale 1/%" PRIu64,
			     have ? need / have + 1 : 16);
}

static const char *wanted_kernel(const struct backend_run *run)
{
	return run->kernel ? run->kernel : run->plan->machine.kernel;
}

/* Found out now, not when a run is over and its record would be lost with its log. */
static int probe_logs(const char *directory, struct cl_error *err)
{
	char *inside = format("%s/.", directory);
	int r = !inside ? -ENOMEM : access(inside, W_OK | X_OK) < 0 ? -errno : 0;

	free(inside);
	if (r)
		return cl_error_at(err, r == -ENOMEM ? r : -EINVAL, directory, 0,
				   "cannot keep console logs there: %s", strerror(-r));
	return 0;
}

/* An image that was given as a file may have it: the guest will tell. */
static int probe_policy(const struct plan *plan, const struct cl_kernel *kernel,
			struct cl_error *err)
{
	if (!strcmp(plan->policy, "mainline") || kernel->policies || kernel->file)
		return 0;
	cl_error(err, -EOPNOTSUPP, "kernel %s does not have the policy %s", kernel->name,
		 plan->policy);
	return kernel_policy_missing(err);
}

static int guest_probe(const struct backend_run *run, struct cl_error *err)
{
	const struct plan *plan = run->plan;
	struct cl_kernel kernel;
	char path[1200];
	int r;

	r = os_probe_snapshot(plan, err);
	if (!r && run->keep_logs)
		r = probe_logs(run->keep_logs, err);
	if (!r)
		r = cl_kernel_find(wanted_kernel(run), &kernel, err);
	if (!r)
		r = probe_policy(plan, &kernel, err);
	if (!r)
		r = qemu_find(path, sizeof(path), err);
	if (!r)
		r = guest_program(path, sizeof(path), err);
	if (!r && plan->machine.disk_bytes)
		r = guest_disk_probe(err);
	return r ? r : probe_memory(&plan->machine, err);
}

static unsigned guest_jobs(const struct backend_run *run)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	uint64_t by_memory = host_available() / guest_bytes(&run->plan->machine);
	uint64_t jobs = cpus > 0 ? (uint64_t)cpus : 1;

	/* Steps mostly keep one CPU of a guest busy, so there may be as many guests as CPUs. */
	if (by_memory < jobs)
		jobs = by_memory;
	return jobs ? (unsigned)jobs : 1;
}

/* ---- what came of it ---------------------------------------------------------------- */

struct guest {
	const struct backend_run *run;
	struct cl_kernel kernel;
	struct qemu qemu;
	bool kvm_failed; /* it was tried first */
	struct qemu_outcome outcome;
	char *console_text;
	struct console console;
};

static const char *step_words(const struct guest *g, char *buf, size_t size)
{
	if (g->outcome.last_step)
		snprintf(buf, size, " in step \"%s\"", g->outcome.last_step);
	else if (g->outcome.hello)
		snprintf(buf, size, " before the first step");
	else
		snprintf(buf, size, " while it booted");
	return buf;
}

static int hint_console(const struct guest *g, int code, struct cl_error *err)
{
	char tail[420];

	console_tail(g->console_text, 4, tail, sizeof(tail));
	return cl_error_hint(err, code, "%s%s",
			     tail[0] ? "the console ends with: " : "nothing is on the console",
			     tail);
}

static int hint_whole_console(const struct guest *g, int code, struct cl_error *err)
{
	if (g->run->keep_logs)
		return cl_error_hint(err, code, "the whole console is in %.300s",
				     g->run->keep_logs);
	return cl_error_hint(err, code, "--keep-logs DIR keeps the whole console");
}

/* A kernel that stopped is told in its own words. 0 when it did not. */
static int explain_kernel(const struct guest *g, struct cl_error *err)
{
	const struct console *c = &g->console;
	char where[128];

	if (!c->panic[0] && !c->bug[0])
		return 0;
	step_words(g, where, sizeof(where));
	if (c->oom[0] || strstr(c->panic, "deadlocked on memory"))
		cl_error(err, -EIO, "the guest ran out of memory%s: %s%s%s", where, c->oom,
			 c->oom[0] && c->panic[0] ? "; " : "", c->panic);
	else if (c->bug[0])
		cl_error(err, -EIO, "the guest's kernel has failed%s: %s", where, c->bug);
	else
		cl_error(err, -EIO, "the guest's kernel panicked%s: %s", where, c->panic);
	/* The end of such a console is registers. */
	return hint_whole_console(g, -EIO, err);
}

static int explain_timeout(const struct guest *g, struct cl_error *err)
{
	const struct qemu_outcome *o = &g->outcome;
	char where[128], limit[32];

	if (o->end == QEMU_SILENT) {
		cl_error(err, -ETIMEDOUT, "kernel %s did not start its first program in %s",
			 g->kernel.name,
			 duration_print(QEMU_BOOT_TIMEOUT_NS, limit, sizeof(limit)));
		return hint_console(g, -ETIMEDOUT, err);
	}
	cl_error(err, -ETIMEDOUT,
		 "the guest did not finish in %s ([machine] timeout); it was%s%s%s",
		 duration_print((double)g->run->plan->machine.timeout_ns, limit, sizeof(limit)),
		 step_words(g, where, sizeof(where)),
		 g->console.stall[0] ? "; the kernel says: " : "", g->console.stall);
	return hint_console(g, -ETIMEDOUT, err);
}

/* The last line that QEMU itself wrote, as that names the reason. */
static const char *qemu_words(struct guest *g)
{
	char *text = g->outcome.errors, *last;
	size_t n = text ? strlen(text) : 0;

	while (n && text[n - 1] == '\n')
		text[--n] = '\0';
	if (!n)
		return "it gave no reason";
	last = strrchr(text, '\n');
	return last ? last + 1 : text;
}

static int explain_end(struct guest *g, struct cl_error *err)
{
	const struct qemu_outcome *o = &g->outcome;
	char where[128];

	if (o->end == QEMU_ENDED && WIFSIGNALED(o->status))
		return cl_error(err, -EIO, "QEMU was ended by signal %d%s%s", WTERMSIG(o->status),
				step_words(g, where, sizeof(where)),
				WTERMSIG(o->status) == SIGKILL
					? "; the host may have run out of memory"
					: "");
	if (o->end == QEMU_BROKEN || WEXITSTATUS(o->status))
		return cl_error(err, -EIO, "QEMU ended with status %d: %.600s",
				WEXITSTATUS(o->status), qemu_words(g));
	if (o->record && !o->finished)
		cl_error(err, -EIO, "the record did not arrive whole");
	else if (!o->hello && !g->console_text[0])
		cl_error(err, -EIO, "kernel %s does not boot here", g->kernel.name);
	else
		cl_error(err, -EIO, "the guest ended%s without a record%s",
			 step_words(g, where, sizeof(where)),
			 o->damaged ? "; parts of what it sent were damaged" : "");
	return hint_console(g, -EIO, err);
}

/* Why there is no record, from the surest source to the vaguest. */
static int explain(struct guest *g, struct cl_error *err)
{
	int r;

	if (g->outcome.error) {
		size_t used;

		r = wire_error(g->outcome.error, err);
		if (err && g->console.oom[0]) {
			used = strlen(err->what);
			snprintf(err->what + used, sizeof(err->what) - used,
				 "; the guest ran out of memory: %s", g->console.oom);
		}
		return r;
	}
	r = explain_kernel(g, err);
	if (r)
		return r;
	if (g->outcome.end == QEMU_TIMEOUT || g->outcome.end == QEMU_SILENT)
		return explain_timeout(g, err);
	return explain_end(g, err);
}

/* ---- the record --------------------------------------------------------------------- */

static void note(json_t *record, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void note(json_t *record, const char *fmt, ...)
{
	json_t *notes = json_object_get(record, "notes");
	char text[700];
	va_list ap;

	if (!json_is_array(notes)) {
		json_object_set_new(record, "notes", json_array());
		notes = json_object_get(record, "notes");
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	json_array_append_new(notes, json_string(text));
}

/* What only the outside knows, and what the kernel complained of along the way. */
static void complete_record(const struct guest *g, json_t *record)
{
	const struct console *c = &g->console;
	json_t *evidence = json_object_get(record, "evidence");

	if (!json_is_object(evidence)) {
		json_object_set_new(record, "evidence", json_object());
		evidence = json_object_get(record, "evidence");
	}
	json_object_set_new(evidence, "machine", json_string("virtual"));
	json_object_set_new(evidence, "hypervisor", json_string("qemu"));
	json_object_set_new(evidence, "accelerator", json_string(g->qemu.kvm ? "kvm" : "tcg"));
	if (g->kvm_failed)
		note(record, "KVM is here but could not run the guest, so it was emulated");
	if (c->oom[0])
		note(record, "the guest ran out of memory %u time%s: %s", c->oom_kills,
		     c->oom_kills == 1 ? "" : "s", c->oom);
	if (c->bug[0])
		note(record, "the guest's kernel has failed: %s", c->bug);
	if (c->panic[0])
		note(record, "the guest's kernel panicked: %s", c->panic);
	if (c->stall[0])
		note(record, "the guest's kernel reported a stall: %s", c->stall);
	if (c->warning[0])
		note(record, "the guest's kernel warned: %s", c->warning);
}

/* A record counts only for the kernel that was asked for. */
static int check_kernel(const struct guest *g, const json_t *record, struct cl_error *err)
{
	const char *release =
		json_string_value(json_object_get(json_object_get(record, "kernel"), "release"));

	if (release && !strcmp(release, g->kernel.release))
		return 0;
	return cl_error(err, -EIO, "the guest ran kernel %s, but the image %s is %s",
			release ? release : "of unknown release", g->kernel.path,
			g->kernel.release);
}

static int take_record(struct guest *g, json_t **record, struct cl_error *err)
{
	json_error_t why;
	int r;

	if (!g->outcome.record || !g->outcome.finished)
		return explain(g, err);
	*record = json_loads(g->outcome.record, 0, &why);
	if (!json_is_object(*record)) {
		json_decref(*record);
		*record = NULL;
		return cl_error(err, -EIO, "the guest's record cannot be read: %s", why.text);
	}
	r = check_kernel(g, *record, err);
	if (r) {
		json_decref(*record);
		*record = NULL;
		return r;
	}
	complete_record(g, *record);
	return 0;
}

/* What else the kernel said counts too, where that was asked for. */
static int check_log(const struct guest *g, struct cl_error *err)
{
	const struct console *c = &g->console;
	const char *const complaints[] = {c->bug, c->panic, c->stall, c->warning};

	for (unsigned i = 0; g->run->clean_log && i < 4; i++) {
		if (!complaints[i][0])
			continue;
		cl_error(err, -EIO, "the log of the guest's kernel is not clean: %s",
			 complaints[i]);
		return hint_whole_console(g, -EIO, err);
	}
	return 0;
}

/* ---- one run ------------------------------------------------------------------------ */

/* Everything the guest's kernel printed; an empty text when it cannot be read. */
static char *console_load(int fd)
{
	off_t length = lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)(length > 0 ? length : 0) + 1);
	off_t at = 0;
	ssize_t n;

	while (text && at < length && (n = pread(fd, text + at, (size_t)(length - at), at)) > 0)
		at += n;
	/* Firmware may print anything; a text has no null inside. */
	for (off_t i = 0; text && i < at; i++)
		if (!text[i])
			text[i] = ' ';
	return text;
}

static int keep_log(const struct guest *g, struct cl_error *err)
{
	const struct plan *plan = g->run->plan;
	char *path;
	int r;

	if (!g->run->keep_logs)
		return 0;
	path = format("%s/%s-%s-%u.log", g->run->keep_logs, plan->variant, g->kernel.name,
		      plan->repeat);
	r = path ? file_replace(path, g->console_text, strlen(g->console_text)) : -ENOMEM;
	if (r)
		cl_error(err, r, "cannot write %s: %s", path ? path : "the log", strerror(-r));
	free(path);
	return r;
}

static int guest_prepare(struct guest *g, struct cl_error *err)
{
	const struct machine *m = &g->run->plan->machine;

	g->qemu.initramfs = guest_initramfs(g->run, err);
	if (g->qemu.initramfs < 0)
		return g->qemu.initramfs;
	g->qemu.console = memfd_create("compactlab-console", MFD_CLOEXEC);
	if (g->qemu.console < 0)
		return cl_error(err, -errno, "cannot make a console: %s", strerror(errno));
	if (m->disk_bytes) {
		g->qemu.disk = guest_disk(m->disk_bytes, err);
		if (g->qemu.disk < 0)
			return g->qemu.disk;
	}
	return 0;
}

static void guest_release(struct guest *g)
{
	const int fds[] = {g->qemu.initramfs, g->qemu.console, g->qemu.disk};

	for (unsigned i = 0; i < 3; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	qemu_outcome_free(&g->outcome);
	free(g->console_text);
}

/* KVM that does not get a guest off the ground, inside a virtual machine say, is not used. */
static bool kvm_failed(const struct guest *g)
{
	const struct qemu_outcome *o = &g->outcome;

	if (!g->qemu.kvm || o->hello || o->end == QEMU_TIMEOUT || o->end == QEMU_SILENT)
		return false;
	return o->end == QEMU_BROKEN || (WIFEXITED(o->status) && WEXITSTATUS(o->status));
}

static int run_qemu(struct guest *g, struct cl_error *err)
{
	int r = qemu_run(&g->qemu, &g->outcome, err);

	if (r || !kvm_failed(g))
		return r;
	qemu_outcome_free(&g->outcome);
	g->qemu.kvm = false;
	g->kvm_failed = true;
	return qemu_run(&g->qemu, &g->outcome, err);
}

static int guest_run(const struct backend_run *run, json_t **record, struct cl_error *err)
{
	char program[1200];
	struct guest g = {.run = run,
			  .qemu = {.machine = &run->plan->machine,
				   .program = program,
				   .kvm = qemu_kvm_usable(),
				   .initramfs = -1,
				   .console = -1,
				   .disk = -1,
				   .step = run->step,
				   .stopped = run->stopped,
				   .arg = run->arg}};
	int r = qemu_find(program, sizeof(program), err), kept;

	*record = NULL;
	if (!r)
		r = cl_kernel_find(wanted_kernel(run), &g.kernel, err);
	g.qemu.image = g.kernel.path;
	if (!r)
		r = guest_prepare(&g, err);
	if (!r)
		r = run_qemu(&g, err);
	if (!r) {
		g.console_text = console_load(g.qemu.console);
		if (!g.console_text)
			r = cl_error(err, -ENOMEM, "out of memory");
	}
	if (!r) {
		console_read(g.console_text, &g.console);
		r = take_record(&g, record, err);
		if (!r)
			r = check_log(&g, err);
		kept = keep_log(&g, r ? NULL : err);
		if (!r)
			r = kept;
		if (r) {
			json_decref(*record);
			*record = NULL;
		}
	}
	guest_release(&g);
	return r;
}

const struct backend backend_guest = {
	.name = "guest",
	.probe = guest_probe,
	.run = guest_run,
	.jobs = guest_jobs,
};
