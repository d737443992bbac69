/* SPDX-License-Identifier: MIT */
/*
 * The first process of a guest. A run is killed with SIGKILL at three moments, and each
 * time the machine must be as it was before, shortly after. Sends the verdict over the
 * wire: a record with what was measured, or an error.
 *
 * That a machine is as before proves nothing when it was never changed, so every aspect
 * that is compared must differ at the moment of the kill.
 */
#include "as_before.h"
#include "backend/guest_init.h"
#include "backend/guest_wire.h"
#include "os/measure.h"
#include "os/os.h"
#include "util/util.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* boot_init is called with these nodes. A small run warms the kernel's caches up. */
static const char scenario_text[] =
	"[experiment]\ntitle = Killed\n"
	"[machine]\nnodes = 384M, 256M\ncpus = 2\n"
	"vm.compaction_proactiveness = 0\n"
	"vm.extfrag_threshold = 400\n"
	"vm.watermark_scale_factor = 20\n"
	"thp.enabled = never\n"
	"thp.defrag = defer+madvise\n"
	"[variant warm]\nhog.size = 8M\npopulate.size = 4M\n"
	"[variant fill]\n"
	"[variant pin]\nnap.time = 20min\n"
	"[variant populate]\n"
	"[step knobs]\nkind = set\n"
	"vm.swappiness = 10\n"
	"thp.enabled = madvise\n"
	"thp.defrag = always\n"
	"thp.khugepaged/defrag = 0\n"
	"[step few]\nkind = files\ncount = 200\nsize = 64K\n"
	"[step shared]\nkind = fill\nmemory = shmem\nnode = 1\nsize = 8M\n"
	"[step hog]\nkind = fill\nnode = 0\nsize = 180M\n"
	"[step holes]\nkind = punch\nof = hog\nselect = position\n"
	"modulo = 2\nresidue = 1\norder = descending\n"
	"[step pins]\nkind = pin\nof = hog\n"
	"[step nap]\nkind = sleep\ntime = 1ms\n"
	"[step populate]\nkind = fault\nsize = 240M\n"
	"advice = hugepage\ncpu_node = 0\n";

#define USERS_MIN_FREE "3000" /* below what the kernel takes by itself with huge pages */
#define MOMENT_S       150    /* for the run to come to the moment */
#define SETTLED_S      20     /* for the machine to be as before */

struct moment {
	const char *variant, *step;
	bool (*reached)(const struct before *b, const struct measure *start);
	bool pins;
};

static bool filling(const struct before *b, const struct measure *start)
{
	(void)start;
	return before_free_bytes(0) + (64 << 20) < b->free_bytes[0];
}

static bool pinned(const struct before *b, const struct measure *start)
{
	(void)b, (void)start;
	return true;
}

/* Compacting in vain, with some huge pages there already. */
static bool populating(const struct before *b, const struct measure *start)
{
	struct measure now;
	bool reached;

	(void)b;
	if (measure_take(&now, NULL))
		return false;
	reached = measure_grew(start, &now, "thp_fault_alloc") > 8 &&
		  measure_grew(start, &now, "compact_stall") > 1;
	measure_free(&now);
	return reached;
}

static const struct moment moments[] = {
	{"fill", "hog", filling, false},
	{"pin", "nap", pinned, true},
	{"populate", "populate", populating, true},
};

/* ---- the runner ------------------------------------------------------------------------ */

/* Sent through a pipe, in one piece: a step that starts, or why the run failed. */
struct message {
	char step[64];
	int code;
	struct cl_error err;
};

static void tell_step(void *arg, const char *step)
{
	struct message m;

	memset(&m, 0, sizeof(m));
	snprintf(m.step, sizeof(m.step), "%s", step);
	if (write(*(int *)arg, &m, sizeof(m)) < 0)
		_exit(1);
}

static int plan_make(const char *variant, struct plan **plan, struct cl_error *err)
{
	struct cl_scenario *s;
	int r = cl_scenario_parse(scenario_text, strlen(scenario_text), "killed.ini", &s, err);

	if (!r) {
		r = plan_resolve(s, "guest", variant, 0, 1, plan, err);
		cl_scenario_free(s);
	}
	return r;
}

/* In a process of its own. It never outlives a moment, only the small run ends by itself. */
static void runner(const char *variant, int pipe)
{
	struct os_run run = {.step = tell_step, .arg = &pipe};
	struct message m;
	struct plan *plan;
	json_t *record;

	memset(&m, 0, sizeof(m));
	file_write("/proc/self/oom_score_adj", "-1000");
	m.code = plan_make(variant, &plan, &m.err);
	run.plan = plan;
	if (!m.code)
		m.code = os_probe(&run, &m.err);
	if (!m.code)
		m.code = os_run(&run, &record, &m.err);
	_exit(write(pipe, &m, sizeof(m)) < 0);
}

static int start(const char *variant, pid_t *pid, int *from, struct cl_error *err)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return cl_error(err, -errno, "cannot make a pipe");
	*pid = fork();
	if (*pid == 0)
		runner(variant, ends[1]);
	close(ends[1]);
	*from = ends[0];
	return *pid < 0 ? cl_error(err, -EAGAIN, "cannot start a process") : 0;
}

/* ---- one kill ---------------------------------------------------------------------------- */

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void nap(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
}

/* The step that runs now; an error when the run is over. */
static int follow(int from, struct message *last, struct cl_error *err)
{
	fcntl(from, F_SETFL, O_NONBLOCK);
	for (;;) {
		struct message m;
		ssize_t n = read(from, &m, sizeof(m));

		if (n < 0 && errno == EAGAIN)
			return 0;
		if (n != (ssize_t)sizeof(m))
			return cl_error(err, -EIO, "the runner ended by itself");
		*last = m;
		if (m.code) {
			*err = m.err;
			return m.code;
		}
		if (!*m.step)
			return cl_error(err, -EIO, "the run was over before it could be killed");
	}
}

static int wait_for(const struct moment *m, const struct before *b, int from, struct cl_error *err)
{
	struct message last = {.step = ""};
	struct measure start = {0};
	bool there = false, reached = false;
	double end = now_s() + MOMENT_S;
	int r = 0;

	while (!r && !reached && now_s() < end) {
		nap();
		r = follow(from, &last, err);
		if (r || strcmp(last.step, m->step))
			continue;
		if (!there)
			r = measure_take(&start, err);
		there = true;
		reached = !r && m->reached(b, &start);
	}
	/* Still in that step, now that we have looked? */
	if (!r && reached)
		r = follow(from, &last, err);
	if (!r && (!reached || strcmp(last.step, m->step)))
		r = cl_error(err, -EIO, "the moment was missed: the run is in step '%s'",
			     last.step);
	measure_free(&start);
	return r;
}

static int must_differ(const struct moment *m, const struct before *b, struct cl_error *err)
{
	char how[512];

	for (enum aspect a = 0; a < ASPECTS; a++) {
		if (a == ASPECT_FILES || (a == ASPECT_PINS && !m->pins))
			continue;
		if (before_same(b, a, how, sizeof(how)))
			return cl_error(err, -EIO, "nothing to put back: the %s are as before",
					aspect_name(a));
	}
	return 0;
}

/* Until all is as before; *took_s receives how long that was. */
static int must_be_same(const struct before *b, double *took_s, struct cl_error *err)
{
	double start = now_s();
	char how[512];

	for (;;) {
		enum aspect a = 0;

		before_reap();
		before_settle();
		while (a < ASPECTS && before_same(b, a, how, sizeof(how)))
			a++;
		*took_s = now_s() - start;
		if (a == ASPECTS)
			return 0;
		if (*took_s > SETTLED_S)
			return cl_error(err, -EIO, "the %s are not as before after %d s: %s",
					aspect_name(a), SETTLED_S, how);
		nap();
	}
}

static json_t *described(const struct moment *m, const struct before *b, json_t *changed,
			 double took_s)
{
	json_t *change = json_array();

	for (int i = 0; i < AS_BEFORE_NODES; i++) {
		json_int_t bytes = (json_int_t)before_free_bytes(i) - (json_int_t)b->free_bytes[i];

		json_array_append_new(change, json_integer(bytes / 1024));
	}
	return json_pack("{s:s, s:O, s:I, s:o}", "killed_during", m->variant, "changed", changed,
			 "as_before_after_ms", (json_int_t)(took_s * 1000), "free_change_kib",
			 change);
}

static int kill_once(const struct moment *m, json_t *verdict, struct cl_error *err)
{
	json_t *changed = NULL;
	struct before b = {0};
	double took_s;
	pid_t pid = 0;
	int from, r, status = 0;

	before_take(&b);
	r = start(m->variant, &pid, &from, err);
	if (!r) {
		r = wait_for(m, &b, from, err);
		if (!r)
			r = must_differ(m, &b, err);
		changed = before_changed(&b);
		kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
		close(from);
		if (!r && !(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL))
			r = cl_error(err, -EIO, "the runner ended before it was killed");
	}
	if (!r)
		r = must_be_same(&b, &took_s, err);
	if (!r)
		json_array_append_new(verdict, described(m, &b, changed, took_s));
	json_decref(changed);
	before_free(&b);
	return r;
}

/* ---- all --------------------------------------------------------------------------------- */

/* What a first run leaves in the kernel's caches for good is not to be counted. */
static int warm_up(struct cl_error *err)
{
	pid_t pid = 0;
	int from, r = start("warm", &pid, &from, err);
	struct message m = {.step = "start"};

	while (!r && *m.step) {
		if (read(from, &m, sizeof(m)) != (ssize_t)sizeof(m))
			r = cl_error(err, -EIO, "the runner ended by itself");
		else if (m.code) {
			*err = m.err;
			r = m.code;
		}
	}
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return r;
}

static int all(int wire, json_t *verdict, struct cl_error *err)
{
	int r = warm_up(err);

	if (!r) {
		r = file_write("/proc/sys/vm/min_free_kbytes", USERS_MIN_FREE);
		if (r)
			cl_error(err, r, "cannot write vm.min_free_kbytes");
	}
	for (unsigned i = 0; i < sizeof(moments) / sizeof(moments[0]) && !r; i++) {
		wire_send(wire, WIRE_STEP, moments[i].variant);
		r = kill_once(&moments[i], verdict, err);
		if (r) {
			char text[900];

			cl_error_text(err, text, sizeof(text));
			cl_error(err, r, "killed during %s: %s", moments[i].variant, text);
		}
	}
	return r;
}

int main(void)
{
	int wire = guest_init_begin(), r;
	json_t *verdict = json_array();
	struct cl_error err = {0};
	char *text;

	r = all(wire, verdict, &err);
	text = json_dumps(verdict, JSON_COMPACT);
	if (r || !text)
		wire_send_error(wire, r ? r : -ENOMEM, &err);
	else
		wire_send(wire, WIRE_RECORD, text);
	guest_init_end(wire);
}
