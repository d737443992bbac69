/* SPDX-License-Identifier: MIT */
/* One step of a run: the operation between two snapshots, its verification, its record. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/during.h"
#include "os/exec.h"
#include "os/numa.h"
#include "os/settings.h"
#include "util/util.h"

#define READ_MOST (1 << 20)

/* ---- talking to workers ------------------------------------------------------------------ */

/* The index of the step that holds memory, whose worker does step i. */
static unsigned owner(const struct plan *p, unsigned i)
{
	const struct step *s = &p->step[i];

	switch (s->kind) {
	case STEP_PUNCH:
		return s->punch.of;
	case STEP_PIN:
		return s->pin.of;
	case STEP_UNPIN:
		return p->step[s->unpin.of].pin.of;
	case STEP_RELEASE:
		return s->release.of;
	default:
		return i;
	}
}

static int phase(struct exec *x, unsigned i, enum worker_phase ph, struct worker_reply *reply,
		 struct cl_error *err)
{
	struct worker *w = x->worker[owner(x->plan, i)];
	bool filling = x->plan->step[i].kind == STEP_FILL;
	int r;

	/* A dead worker is found by exec_wait(), which knows why it died. */
	worker_send(w, ph, i);
	r = exec_wait(x, w, 0, filling, reply, err);
	if (!r && reply->status) {
		r = reply->status;
		if (err)
			*err = reply->error;
	}
	return r;
}

/* ---- the record -------------------------------------------------------------------------- */

static json_t *trace_value(const struct span *s, int64_t value)
{
	return s->traced ? json_null() : json_integer((json_int_t)value);
}

static void record_span(struct exec *x, json_t *record, const struct span *s, uint64_t time_ns)
{
	json_object_set_new(record, "time_ns", json_integer((json_int_t)time_ns));
	json_object_set_new(record, "vmstat", measure_vmstat(&s->before, &s->after));
	json_object_set_new(record, "buddyinfo", measure_buddy(&s->before, &s->after));
	json_object_set_new(record, "compaction_ns",
			    trace_value(s, (int64_t)s->trace.compaction_ns));
	json_object_set_new(record, "compaction_daemon_ns",
			    trace_value(s, (int64_t)s->trace.daemon_ns));
	json_object_set_new(record, "kswapd_ns", measure_kswapd(&s->before, &s->after));
	json_object_set_new(record, "defer_shift", trace_value(s, s->trace.defer_shift));
	if (s->traced == -EOVERFLOW)
		exec_note(x, "compaction events were lost in some steps; their times are null");
}

static json_t *pages_json(const struct node_pages pages[PLAN_MAX_NODES])
{
	int node[PLAN_MAX_NODES];
	unsigned count = numa_nodes(node, PLAN_MAX_NODES);
	json_t *all = json_object();

	for (unsigned i = 0; i < count; i++) {
		char name[16];

		snprintf(name, sizeof(name), "node%d", node[i]);
		json_object_set_new(all, name,
				    json_pack("{s:I, s:I}", "base", (json_int_t)pages[node[i]].base,
					      "huge", (json_int_t)pages[node[i]].huge));
	}
	return all;
}

static void detail_set(json_t *record, const char *name, uint64_t value)
{
	json_object_set_new(json_object_get(record, "detail"), name,
			    json_integer((json_int_t)value));
}

static void put_measure(void *ctx, const char *name, uint64_t value)
{
	detail_set(ctx, name, value);
}

static void record_writes(json_t *record, const struct step_write *s, uint64_t bytes,
			  uint64_t time_ns)
{
	uint64_t writes = bytes / s->chunk_bytes;

	detail_set(record, "writes", writes);
	if (time_ns)
		detail_set(record, "writes_per_s",
			   (uint64_t)((double)writes * 1e9 / (double)time_ns));
}

static void record_reply(struct exec *x, json_t *record, enum step_kind kind,
			 const struct worker_reply *reply)
{
	if (reply->has_pages)
		json_object_set_new(record, "pages", pages_json(reply->pages));
	if (kind == STEP_PUNCH) {
		detail_set(record, "freed_pages", reply->freed_pages);
		detail_set(record, "kept_pages", reply->kept_pages);
	} else if (kind == STEP_PIN || kind == STEP_UNPIN) {
		detail_set(record, "pinned_pages", reply->pinned_pages);
	} else {
		detail_set(record, "bytes", reply->bytes);
	}
	if (kind == STEP_FILES || kind == STEP_WRITE)
		detail_set(record, "files", reply->files);
	for (int class = 0; class < FAULT_CLASSES && reply->has_latency; class ++)
		latency_measures(fault_class_names[class], &reply->latency[class], put_measure,
				 record);
	if (reply->note[0])
		exec_note(x, reply->note);
}

static void record_requests(json_t *record, const struct step_request *s, uint64_t bytes)
{
	detail_set(record, "requests", s->count);
	detail_set(record, "failed", s->count - bytes / (PAGE_BYTES << s->order));
}

/* ---- steps that a worker does --------------------------------------------------------- */

int step_check_pins(enum step_kind kind, const struct measure *before, const struct measure *after,
		    const struct worker_reply *reply, struct cl_error *err)
{
	int64_t took = measure_grew(before, after, "nr_foll_pin_acquired");
	int64_t gave = measure_grew(before, after, "nr_foll_pin_released");
	int64_t want = (int64_t)reply->pin_references;

	if (kind == STEP_PIN &&
	    (took < (int64_t)reply->pinned_pages || took - gave < want - want / 100))
		return cl_error(err, -EIO,
				"%lld pages should be pinned, but the kernel counted %lld pins and "
				"%lld releases",
				(long long)reply->pinned_pages, (long long)took, (long long)gave);
	if (kind == STEP_UNPIN && gave < want)
		return cl_error(err, -EIO, "%lld pins should be gone, but the kernel counted %lld",
				(long long)want, (long long)gave);
	return 0;
}

static int confirm_pins(struct exec *x, enum step_kind kind, const struct span *s,
			const struct worker_reply *reply, struct cl_error *err)
{
	uint64_t any;

	if (kind != STEP_PIN && kind != STEP_UNPIN)
		return 0;
	if (counters_get(&s->after.vmstat, "nr_foll_pin_acquired", &any))
		return step_check_pins(kind, &s->before, &s->after, reply, err);
	exec_note(x, "this kernel does not count pins; they were not checked");
	return 0;
}

int step_check_requests(const struct step_request *s, const struct measure *before,
			const struct measure *after, const struct worker_reply *reply,
			struct cl_error *err)
{
	int64_t grew = measure_grew(before, after, "nr_slab_unreclaimable");
	int64_t want = (int64_t)(reply->bytes / PAGE_BYTES);

	/* Other slabs come and go meanwhile; of another order it would be half or twice as much. */
	if (grew >= want - want / 4)
		return 0;
	return cl_error(err, -EIO,
			"the requests should take %lld pages, but kernel memory grew by %lld: this "
			"kernel's requests are not of order %u",
			(long long)want, (long long)grew, s->order);
}

/*
 * What the pins cost: where a buffer is a page, the kernel may spend a quarter of it again, in
 * pages that cannot be moved either.
 */
static void note_pin_cost(struct exec *x, unsigned i, const struct span *s,
			  const struct worker_reply *reply)
{
	int64_t slab = measure_grew(&s->before, &s->after, "nr_slab_unreclaimable");
	char *text;

	if (x->plan->step[i].kind != STEP_PIN || slab < 64 ||
	    slab < (int64_t)reply->pinned_pages / 16)
		return;
	text = format("step %s: holding the pins took %lld unmovable pages of kernel memory",
		      x->plan->step[i].name, (long long)slab);
	if (text)
		exec_note(x, text);
	free(text);
}

static int worker_step(struct exec *x, unsigned i, json_t *record, struct cl_error *err)
{
	enum step_kind kind = x->plan->step[i].kind;
	struct worker_reply reply, after;
	uint64_t time_ns;
	struct span s;
	int r = phase(x, i, WORKER_PREPARE, &reply, err);

	if (r)
		return r;
	r = span_open(x, &s, err);
	if (!r)
		r = phase(x, i, WORKER_ACT, &reply, err);
	time_ns = reply.time_ns;
	if (!r)
		r = span_close(x, &s, err);
	if (!r)
		r = confirm_pins(x, kind, &s, &reply, err);
	if (!r && kind == STEP_REQUEST)
		r = step_check_requests(&x->plan->step[i].request, &s.before, &s.after, &reply,
					err);
	if (!r)
		note_pin_cost(x, i, &s, &reply);
	/* Steps without a verification of their own answer with nothing; keep what they told. */
	after = reply;
	if (!r && kind != STEP_UNPIN && kind != STEP_RELEASE)
		r = phase(x, i, WORKER_VERIFY, &after, err);
	if (!r) {
		record_span(x, record, &s, time_ns);
		record_reply(x, record, kind, &after);
		if (kind == STEP_WRITE)
			record_writes(record, &x->plan->step[i].write, after.bytes, time_ns);
		if (kind == STEP_REQUEST)
			record_requests(record, &x->plan->step[i].request, after.bytes);
	}
	span_free(&s);
	if (!r && kind == STEP_RELEASE) {
		worker_stop(x->worker[owner(x->plan, i)]);
		x->worker[owner(x->plan, i)] = NULL;
	}
	return r;
}

/* Sums over the repetitions of a fault step. */
struct repeats {
	unsigned runs;
	uint64_t time_ns;
	json_t *vmstat;
};

static void repeats_add(struct repeats *all, const struct span *s, uint64_t time_ns)
{
	json_t *one = measure_vmstat(&s->before, &s->after), *value;
	const char *name;

	json_object_foreach(one, name, value) {
		json_int_t sum = json_integer_value(json_object_get(all->vmstat, name));

		json_object_set_new(all->vmstat, name,
				    json_integer(sum + json_integer_value(value)));
	}
	json_decref(one);
	all->runs++;
	all->time_ns += time_ns;
}

#define WEIGHTS "/sys/kernel/mm/mempolicy/weighted_interleave"

/*
 * Setting a weight ends the automatic ones (6.16). They come back by writing to `auto`, unless
 * the firmware gave no bandwidths; then all of them were 1, as they will be again.
 */
static int weights_auto(struct exec *x)
{
	static const char path[] = WEIGHTS "/auto";
	char *text;
	int r = 0;

	if (file_read(path, &text, NULL))
		return 0;
	if (setting_is(text, "true") && file_write(path, "true") == 0)
		r = watchdog_setting(x->dog, path, "true");
	free(text);
	return r;
}

static int fault_weights(struct exec *x, const struct step_fault *f, struct cl_error *err)
{
	char path[128], value[16];
	int r = 0;

	if (f->policy != POLICY_WEIGHTED)
		return 0;
	if (weights_auto(x))
		return cl_error(err, -EPIPE,
				"the watchdog does not answer, weights are left alone");
	for (unsigned n = 0; n < f->nodes.count && !r; n++) {
		snprintf(path, sizeof(path), WEIGHTS "/node%d", f->nodes.node[n]);
		snprintf(value, sizeof(value), "%u", f->weights[n]);
		r = settings_write(x->dog, path, value, err);
	}
	return r;
}

static int not_reached(struct exec *x, const struct step_fault *f, int shift, struct cl_error *err)
{
	if (!x->trace)
		return cl_error(err, -EOPNOTSUPP,
				"until_defer_shift needs the compaction tracepoints");
	cl_error(err, -EIO, "the deferral shift is %d after %u runs, not %u", shift, f->repeat,
		 f->until_defer_shift);
	return cl_error_hint(err, -EIO,
			     "raise repeat or size; compaction that succeeds starts it again");
}

static int fault_runs(struct exec *x, unsigned i, struct span *s, struct repeats *all,
		      uint64_t *time_ns, struct cl_error *err)
{
	const struct step_fault *f = &x->plan->step[i].fault;
	struct worker_reply reply;
	int shift = -1, r = 0;

	while (!r) {
		bool last = all->runs + 1 >= f->repeat;

		r = phase(x, i, WORKER_PREPARE, &reply, err);
		if (!r)
			r = span_open(x, s, err);
		if (!r && last && during_unpin(x->plan, i))
			r = during_act(x, i, reply.bytes, &reply, err);
		else if (!r)
			r = phase(x, i, WORKER_ACT, &reply, err);
		if (!r)
			r = span_close(x, s, err);
		if (r)
			break;
		*time_ns = reply.time_ns;
		repeats_add(all, s, reply.time_ns);
		if (s->trace.defer_shift > shift)
			shift = s->trace.defer_shift;
		if (f->until_defer_shift && shift >= (int)f->until_defer_shift)
			break;
		if (all->runs >= (f->repeat ? f->repeat : 1))
			return f->until_defer_shift ? not_reached(x, f, shift, err) : 0;
		span_free(s);
	}
	return r;
}

static int fault_step(struct exec *x, unsigned i, json_t *record, struct cl_error *err)
{
	const struct step_fault *f = &x->plan->step[i].fault;
	struct repeats all = {.vmstat = json_object()};
	struct worker_reply reply;
	uint64_t time_ns = 0;
	struct span s;
	int r;

	memset(&s, 0, sizeof(s));
	r = f->until_defer_shift && !x->trace ? not_reached(x, f, -1, err)
					      : fault_weights(x, f, err);
	if (!r)
		r = fault_runs(x, i, &s, &all, &time_ns, err);
	if (!r)
		r = phase(x, i, WORKER_VERIFY, &reply, err);
	if (!r) {
		x->during.blocks_until_huge = reply.blocks_until_huge;
		record_span(x, record, &s, time_ns);
		record_reply(x, record, STEP_FAULT, &reply);
		json_object_set_new(record, "runs", json_integer(all.runs));
		if (all.runs > 1)
			json_object_set_new(record, "all_runs",
					    json_pack("{s:I, s:O}", "time_ns",
						      (json_int_t)all.time_ns, "vmstat",
						      all.vmstat));
	}
	span_free(&s);
	json_decref(all.vmstat);
	return r;
}

/* It has happened already. */
static int unpin_during(struct exec *x, json_t *record, struct cl_error *err)
{
	struct during *d = &x->during;
	int r = confirm_pins(x, STEP_UNPIN, &d->span, &d->reply, err);

	if (!r) {
		record_span(x, record, &d->span, d->reply.time_ns);
		record_reply(x, record, STEP_UNPIN, &d->reply);
		detail_set(record, "at_blocks", d->at_bytes / HUGE_BYTES);
		detail_set(record, "blocks_until_huge", d->blocks_until_huge);
	}
	span_free(&d->span);
	memset(d, 0, sizeof(*d));
	return r;
}

/* ---- steps that the runner does itself --------------------------------------------------- */

static int kernel_write(const char *path, const char *text, struct cl_error *err)
{
	int r = file_write(path, text);

	return r ? cl_error(err, r, "cannot write %s to %s: %s", text, path, strerror(-r)) : 0;
}

/*
 * Compaction is one CPU's work, of the node's first where it is about one node that has any, else
 * of the first there is. The pages that were emptied go to that CPU's lists, and push out what
 * these held: free pages of the node that nobody could use else. Returns whether the runner has
 * moved there from the CPUs in `home`.
 */
static bool move_near(const struct step *s, cpu_set_t *home)
{
	cpu_set_t near, first;
	int cpu = 0;

	if (s->kind != STEP_COMPACT || sched_getaffinity(0, sizeof(*home), home) < 0)
		return false;
	if (s->compact.node == PLAN_NODE_ANY || numa_cpus(s->compact.node, &near) < 0)
		near = *home;
	CPU_AND(&near, &near, home);
	while (cpu < CPU_SETSIZE && !CPU_ISSET(cpu, &near))
		cpu++;
	if (cpu == CPU_SETSIZE)
		return false;
	CPU_ZERO(&first);
	CPU_SET(cpu, &first);
	return sched_setaffinity(0, sizeof(first), &first) == 0;
}

static int compact(const struct step_compact *c, struct cl_error *err)
{
	char path[64] = "/proc/sys/vm/compact_memory";

	if (c->node != PLAN_NODE_ANY)
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/compact", c->node);
	return kernel_write(path, "1", err);
}

static int read_text(const struct step_read *s, json_t *record, struct cl_error *err)
{
	char *text = malloc(READ_MOST + 1);
	int fd = open(s->file, O_RDONLY | O_NONBLOCK | O_CLOEXEC), r = 0;
	size_t used = 0;
	json_t *string;
	ssize_t n = 1;

	if (!text)
		r = cl_error(err, -ENOMEM, "out of memory");
	else if (fd < 0)
		r = cl_error(err, -errno, "cannot read %s: %s", s->file, strerror(errno));
	while (!r && n > 0 && used <= READ_MOST) {
		n = read(fd, text + used, READ_MOST + 1 - used);
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			r = cl_error(err, -errno, "cannot read %s: %s", s->file, strerror(errno));
		used += n > 0 ? (size_t)n : 0;
		n = n < 0 && errno == EINTR ? 1 : n;
	}
	if (!r && used > READ_MOST)
		r = cl_error(err, -EFBIG, "%s is longer than 1 MiB", s->file);
	if (!r) {
		string = json_stringn(text, used);
		if (string)
			json_object_set_new(json_object_get(record, "detail"), "text", string);
		else
			r = cl_error(err, -EINVAL, "%s does not contain text", s->file);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return r;
}

static int set(struct exec *x, const struct step_set *s, json_t *record, struct cl_error *err)
{
	json_t *done = json_object();
	bool refused;
	int r = settings_apply(x->dog, &s->settings, x->plan->file, done, err);

	json_object_set_new(json_object_get(record, "detail"), "settings", done);
	if (r || !s->tried.count)
		return r;
	r = settings_try(x->dog, &s->tried, x->plan->file, &refused, err);
	detail_set(record, "refused", refused);
	return r;
}

static int local_act(struct exec *x, const struct step *s, json_t *record, struct cl_error *err)
{
	char what[8];

	switch (s->kind) {
	case STEP_SET:
		return set(x, &s->set, record, err);
	case STEP_COMPACT:
		return compact(&s->compact, err);
	case STEP_DROP:
		snprintf(what, sizeof(what), "%d", (int)s->drop.what);
		return kernel_write("/proc/sys/vm/drop_caches", what, err);
	case STEP_SLEEP:
		return exec_wait(x, NULL, s->sleep.time_ns, false, NULL, err);
	case STEP_READ:
		return read_text(&s->read, record, err);
	default:
		return cl_error(err, -EOPNOTSUPP, "steps of kind %s are not done here",
				step_kind_name(s->kind));
	}
}

static int local_step(struct exec *x, unsigned i, json_t *record, struct cl_error *err)
{
	const struct step *step = &x->plan->step[i];
	uint64_t start, end;
	cpu_set_t home;
	bool moved = move_near(step, &home);
	struct span s;
	int r;

	/* Only clean pages are dropped; what it takes to write them is not the step. */
	if (step->kind == STEP_DROP)
		sync();
	r = span_open(x, &s, err);
	start = now_ns();
	if (!r)
		r = local_act(x, step, record, err);
	end = now_ns();
	if (!r)
		r = span_close(x, &s, err);
	if (moved)
		sched_setaffinity(0, sizeof(home), &home);
	if (!r)
		record_span(x, record, &s, end - start);
	span_free(&s);
	return r;
}

/* ---- any step ------------------------------------------------------------------------------ */

static int start_worker(struct exec *x, unsigned i, struct cl_error *err)
{
	return worker_start(x->plan, x->run->guard, i, &x->worker[i], err);
}

int step_run(struct exec *x, unsigned i, struct cl_error *err)
{
	const struct step *s = &x->plan->step[i];
	json_t *record = json_pack("{s:s, s:s, s:{}}", "name", s->name, "kind",
				   step_kind_name(s->kind), "detail");
	int r = 0;

	x->now = i;
	x->oom_kills = measure_oom_kills();
	switch (s->kind) {
	case STEP_FAULT:
		r = start_worker(x, i, err);
		if (!r)
			r = fault_step(x, i, record, err);
		break;
	case STEP_FILL:
	case STEP_FILES:
	case STEP_WRITE:
	case STEP_REQUEST:
		r = start_worker(x, i, err);
		if (!r)
			r = worker_step(x, i, record, err);
		break;
	case STEP_PUNCH:
	case STEP_PIN:
	case STEP_UNPIN:
	case STEP_RELEASE:
		if (s->kind == STEP_UNPIN && s->unpin.during) {
			r = unpin_during(x, record, err);
			break;
		}
		if (!x->worker[owner(x->plan, i)])
			r = cl_error(err, -EINVAL, "the memory of step %s was released before",
				     x->plan->step[owner(x->plan, i)].name);
		else
			r = worker_step(x, i, record, err);
		break;
	default:
		r = local_step(x, i, record, err);
	}
	/* A worker may have been killed by what this step did to the machine. */
	if (!r)
		r = exec_wait(x, NULL, 0, false, NULL, err);
	if (!r)
		json_array_append(x->steps, record);
	json_decref(record);
	return r ? plan_step_error(x->plan, s, r, err) : 0;
}
