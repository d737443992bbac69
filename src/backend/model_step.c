/* SPDX-License-Identifier: MIT */
/* One step on the model: the operation between two snapshots of the counters, and its record. */
#include "backend/model.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "model/sysctl.h"
#include "model/trace.h"
#include "util/util.h"

/* ---- the account of compaction -------------------------------------------------------------- */

static void account_event(void *ctx, const struct trace_event *ev)
{
	struct account *a = ctx;
	bool daemon = a->m->ctx.flags & CTX_KTHREAD;
	unsigned node = a->m->ctx.node.v;

	if (a->trace)
		trace_print(a->trace, ev);
	switch (ev->id) {
	case TRACE_COMPACT_BEGIN:
		*(daemon ? &a->daemon_runs[node] : &a->task_runs) = true;
		*(daemon ? &a->daemon_begin[node] : &a->task_begin) = ev->time;
		break;
	case TRACE_COMPACT_END:
		if (daemon && a->daemon_runs[node])
			a->daemon_ns += ev->time - a->daemon_begin[node];
		if (!daemon && a->task_runs)
			a->task_ns += ev->time - a->task_begin;
		*(daemon ? &a->daemon_runs[node] : &a->task_runs) = false;
		break;
	case TRACE_DEFERRED:
	case TRACE_DEFER_COMPACTION:
	case TRACE_DEFER_RESET:
		/* Where deferral is kept per mode, what asynchronous runs may do is not the
		 * question. */
		if (ev->defer_set != 1 + DEFER_ASYNC && (int)ev->defer_shift > a->defer_shift)
			a->defer_shift = (int)ev->defer_shift;
		break;
	default:
		break;
	}
}

void model_account_start(struct model_exec *x)
{
	uint32_t mask = 1u << TRACE_COMPACT_BEGIN | 1u << TRACE_COMPACT_END | 1u << TRACE_DEFERRED |
			1u << TRACE_DEFER_COMPACTION | 1u << TRACE_DEFER_RESET;

	x->account.m = x->m;
	x->account.trace = x->run->trace;
	if (x->account.trace) {
		mask = TRACE_COMPACTION;
		fputs(trace_header, x->account.trace);
	}
	model_trace(x->m, account_event, &x->account);
	model_trace_only(x->m, mask);
}

/* ---- snapshots ---------------------------------------------------------------------------- */

/* As on a real machine, where counters are added up first, which is not without effect. */
static void take(struct model *m, struct model_shot *s)
{
	model_stat_refresh(m);
	model_counters(m, s->value);
	s->kswapd_ns = model_kswapd_ns(m);
	for (unsigned z = 0; z < m->nr_zones; z++)
		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
			s->chunks[z][order] = m->zone[z].nr_chunks[order];
}

static void take_all(struct model_exec *x, struct model_effect *e)
{
	const struct account *a = &x->account;

	take(x->m, &e->after);
	e->compaction_ns = a->task_ns;
	e->daemon_ns = a->daemon_ns;
	for (unsigned n = 0; n < x->m->nr_nodes; n++)
		if (a->daemon_runs[n] && a->daemon_begin[n] < model_now(x->m))
			e->daemon_ns += model_now(x->m) - a->daemon_begin[n];
	e->defer_shift = a->defer_shift;
}

/* What the rest of the daemon's run does falls between two steps, as on a real machine. */
static void taken_early(void *ctx)
{
	struct model_exec *x = ctx;

	take_all(x, x->span);
	x->span_taken = true;
}

void model_span_open(struct model_exec *x, struct model_effect *e)
{
	take(x->m, &e->before);
	x->account.task_ns = x->account.daemon_ns = 0;
	x->account.defer_shift = -1;
	x->span = e;
	x->span_taken = false;
	model_on_cut_short(x->m, taken_early, x);
}

void model_span_close(struct model_exec *x, struct model_effect *e)
{
	model_on_cut_short(x->m, NULL, NULL);
	if (!x->span_taken || !model_was_cut_short(x->m))
		take_all(x, e);
}

static json_t *buddy_json(const struct model *m, const struct model_shot *s)
{
	json_t *zones = json_array();

	for (unsigned z = 0; z < m->nr_zones; z++) {
		json_t *blocks = json_array();

		for (unsigned order = 0; order < NR_PAGE_ORDERS; order++)
			json_array_append_new(blocks,
					      json_integer((json_int_t)s->chunks[z][order]));
		json_array_append_new(zones, json_pack("{s:i, s:s, s:o}", "node", m->zone[z].node.v,
						       "zone", m->zone[z].name, "free", blocks));
	}
	return zones;
}

static json_t *vmstat_json(const struct model *m, const struct model_effect *e)
{
	json_t *all = json_object();

	for (int i = 0; i < NR_VMSTAT; i++) {
		int64_t delta = e->after.value[i] - e->before.value[i];

		if (delta && model_counter_printed(m, (enum vmstat_item)i))
			json_object_set_new(all, model_counter_name((enum vmstat_item)i),
					    json_integer(delta));
	}
	return all;
}

static void record_effect(struct model_exec *x, json_t *record, const struct model_effect *e)
{
	json_object_set_new(record, "time_ns", json_integer((json_int_t)e->time_ns));
	json_object_set_new(record, "vmstat", vmstat_json(x->m, e));
	json_object_set_new(record, "buddyinfo",
			    json_pack("{s:o, s:o}", "before", buddy_json(x->m, &e->before), "after",
				      buddy_json(x->m, &e->after)));
	json_object_set_new(record, "compaction_ns", json_integer((json_int_t)e->compaction_ns));
	json_object_set_new(record, "compaction_daemon_ns", json_integer((json_int_t)e->daemon_ns));
	json_object_set_new(record, "kswapd_ns",
			    json_integer((json_int_t)(e->after.kswapd_ns - e->before.kswapd_ns)));
	json_object_set_new(record, "defer_shift", json_integer(e->defer_shift));
}

/* ---- the machine's levers ------------------------------------------------------------------ */

/* One operation of a task that exists for it: on a CPU of the node, where it is about one. */
static int lever(struct model_exec *x, struct op *op, struct model_effect *e, struct cl_error *err)
{
	bool near = op->kind == OP_COMPACT && op->node >= 0 &&
		    (unsigned)op->node < x->m->nr_nodes && x->m->node[op->node].nr_cpus;
	task_id task;
	int r = model_task(x->m, near ? x->m->node[op->node].first_cpu : 0, &task);

	if (r)
		return cl_error(err, r, "the model has too few tasks");
	model_span_open(x, e);
	r = model_do(x->m, task, op);
	model_span_close(x, e);
	e->time_ns = op->end - op->start;
	model_task_exit(x->m, task);
	return r ? cl_error(err, r, "the operation cannot be started") : 0;
}

/* Texts by the names of their files. */
static const struct {
	const char *file;
	enum model_text text;
} texts[] = {
	{"/proc/vmstat", TEXT_VMSTAT},
	{"/proc/buddyinfo", TEXT_BUDDYINFO},
	{"/proc/pagetypeinfo", TEXT_PAGETYPEINFO},
	{"/proc/zoneinfo", TEXT_ZONEINFO},
	{"/proc/pressure/memory", TEXT_PRESSURE_MEMORY},
	{"/proc/meminfo", TEXT_MEMINFO},
	{"/sys/kernel/debug/extfrag/extfrag_index", TEXT_EXTFRAG_INDEX},
};

/* The name of a setting by its path; "" for other files. */
static void setting_of(const char *file, char *name, size_t size)
{
	static const char vm[] = "/proc/sys/vm/", thp[] = "/sys/kernel/mm/transparent_hugepage/";

	*name = '\0';
	if (!strncmp(file, vm, sizeof(vm) - 1))
		snprintf(name, size, "vm.%s", file + sizeof(vm) - 1);
	else if (!strncmp(file, thp, sizeof(thp) - 1))
		snprintf(name, size, "transparent_hugepage/%s", file + sizeof(thp) - 1);
}

bool model_file_known(const char *file)
{
	char name[128];

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(texts[i].file, file))
			return true;
	setting_of(file, name, sizeof(name));
	return *name != '\0';
}

static int read_text(struct model_exec *x, const char *file, json_t *record, struct cl_error *err)
{
	char name[128], value[256], *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return cl_error(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (!strcmp(texts[i].file, file))
			model_text(x->m, texts[i].text, out);
	setting_of(file, name, sizeof(name));
	if (*name && sysctl_read(x->m, name, value, sizeof(value)) >= 0)
		fprintf(out, "%s\n", value);
	fclose(out);
	if (text && length)
		json_object_set_new(json_object_get(record, "detail"), "text",
				    json_stringn(text, length));
	free(text);
	return length ? 0 : cl_error(err, -EOPNOTSUPP, "the model has no %s", file);
}

static int set(struct model_exec *x, const struct step_set *s, json_t *record,
	       struct model_effect *e, struct cl_error *err)
{
	json_t *done = json_object();
	bool refused = false;
	int r;

	model_span_open(x, e);
	r = model_settings(x->m, &s->settings, x->plan->file, done, err);
	if (!r)
		r = model_settings_try(x->m, &s->tried, x->plan->file, &refused, err);
	model_span_close(x, e);
	json_object_set_new(json_object_get(record, "detail"), "settings", done);
	if (s->tried.count)
		model_detail(record, "refused", refused);
	return r;
}

static int local(struct model_exec *x, const struct step *s, json_t *record, struct model_effect *e,
		 struct cl_error *err)
{
	struct op op = {.kind = OP_NONE};
	int r;

	switch (s->kind) {
	case STEP_COMPACT:
		op.kind = OP_COMPACT;
		op.node = s->compact.node;
		return lever(x, &op, e, err);
	case STEP_DROP:
		/* Only clean pages are dropped; what it takes to write them is not the step. */
		model_sync(x->m);
		op.kind = OP_DROP_CACHES;
		op.what = s->drop.what;
		return lever(x, &op, e, err);
	case STEP_SLEEP:
		op.kind = OP_SLEEP;
		op.sleep_ns = s->sleep.time_ns;
		return lever(x, &op, e, err);
	case STEP_SET:
		return set(x, &s->set, record, e, err);
	case STEP_READ:
		model_span_open(x, e);
		r = read_text(x, s->read.file, record, err);
		model_span_close(x, e);
		return r;
	default:
		return cl_error(err, -EOPNOTSUPP, "the model has no steps of kind %s",
				step_kind_name(s->kind));
	}
}

/* ---- any step ------------------------------------------------------------------------------ */

int model_step(struct model_exec *x, unsigned i, struct cl_error *err)
{
	static int (*const with_memory[STEP_KINDS])(struct model_exec * x, unsigned i,
						    json_t *record, struct model_effect *e,
						    struct cl_error *err) = {
		[STEP_FILL] = model_fill,        [STEP_FAULT] = model_fault,
		[STEP_FILES] = model_files,      [STEP_WRITE] = model_write,
		[STEP_PUNCH] = model_punch,      [STEP_PIN] = model_pin_step,
		[STEP_UNPIN] = model_unpin_step, [STEP_RELEASE] = model_release,
		[STEP_REQUEST] = model_request,
	};
	const struct step *s = &x->plan->step[i];
	struct model_effect *e = calloc(1, sizeof(*e));
	json_t *record = json_pack("{s:s, s:s, s:{}}", "name", s->name, "kind",
				   step_kind_name(s->kind), "detail");
	int r;

	if (!e || !record)
		r = cl_error(err, -ENOMEM, "out of memory");
	else if (with_memory[s->kind])
		r = with_memory[s->kind](x, i, record, e, err);
	else
		r = local(x, s, record, e, err);
	if (!r) {
		record_effect(x, record, e);
		json_array_append(x->steps, record);
	}
	json_decref(record);
	free(e);
	return r ? plan_step_error(x->plan, s, r, err) : 0;
}
