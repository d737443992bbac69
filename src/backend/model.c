/* SPDX-License-Identifier: MIT */
/* The userspace kernel as a backend: no root, no QEMU, simulated time. */
#include "backend/model.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "model/slab.h"

/* io_uring keeps a table of 240 pages for each buffer that is pinned; see src/os/pin.c. */
#define PIN_TABLE_BYTES 4096u

static int not_modelled(const struct step *s, const struct plan *p, const char *what,
			struct cl_error *err)
{
	cl_error_at(err, -EOPNOTSUPP, p->file, s->line, "step %s: the model has no %s", s->name,
		    what);
	return cl_error_hint(err, -EOPNOTSUPP, "run it with --on guest");
}

static int model_probe(const struct backend_run *run, struct cl_error *err)
{
	const struct plan *p = run->plan;
	struct model_config config;
	int r = model_machine_config(run, &config, NULL, err);

	for (unsigned i = 0; i < p->steps && !r; i++) {
		const struct step *s = &p->step[i];

		if (s->snapshot)
			return not_modelled(s, p, "pages of its own to take a snapshot of", err);
		if (s->kind == STEP_READ && !model_file_known(s->read.file))
			return not_modelled(s, p, s->read.file, err);
		if (s->kind == STEP_FAULT && s->fault.method == METHOD_COMPACTLAB)
			return not_modelled(s, p, "programs, so no method compactlab", err);
		if (s->kind == STEP_UNPIN && s->unpin.during)
			return not_modelled(s, p, "two steps at a time", err);
	}
	return r;
}

static unsigned model_jobs(const struct backend_run *run)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	(void)run;
	return n > 0 ? (unsigned)n : 1;
}

static int make_tables(struct model_exec *x, struct cl_error *err)
{
	unsigned n = x->plan->steps + 1;

	x->held = calloc(n, sizeof(*x->held));
	x->pin = calloc(n, sizeof(*x->pin));
	x->pinned = calloc(n, sizeof(*x->pinned));
	x->steps = json_array();
	x->notes = json_array();
	if (!x->held || !x->pin || !x->pinned || !x->steps || !x->notes)
		return cl_error(err, -ENOMEM, "out of memory");
	return 0;
}

static int run_steps(struct model_exec *x, struct cl_error *err)
{
	const struct plan *p = x->plan;
	const struct settings *settings = &p->machine.settings;
	int r = x->snapshot ? model_settings_change(x->m, settings, p->file, err)
			    : model_settings(x->m, settings, p->file, NULL, err);

	x->pin_cache = slab_cache_new(x->m, "kmalloc-4k", PIN_TABLE_BYTES, false);
	model_account_start(x);
	for (unsigned i = x->first; i < p->steps && !r; i++) {
		if (x->run->stopped && x->run->stopped(x->run->arg))
			return cl_error(err, -EINTR, "stopped");
		if (x->run->step)
			x->run->step(x->run->arg, p->step[i].name);
		r = model_step(x, i, err);
	}
	return r;
}

static int make_machine(struct model_exec *x, struct model_config *config, struct cl_error *err)
{
	const char *why;
	int r;

	if (x->plan->machine.snapshot)
		return model_snapshot_begin(x, config, err);
	r = model_create(config, &x->m, &why);
	return r ? cl_error(err, r, "the machine cannot be made: %s", why)
		 : model_machine_age(x->m, err);
}

static json_t *make_record(struct model_exec *x)
{
	json_t *evidence = model_evidence(x->m);
	char hash[20], release[64];

	if (x->snapshot)
		json_object_set(evidence, "snapshot", x->snapshot);
	if (x->costs)
		json_object_set(evidence, "costs", x->costs);
	snprintf(hash, sizeof(hash), "%016llx", (unsigned long long)model_state_hash(x->m));
	snprintf(release, sizeof(release), "model (%s)", x->m->profile->name);
	return json_pack("{s:{s:s, s:s}, s:s, s:I, s:b, s:s, s:o, s:O, s:O}", "kernel", "release",
			 release, "version", "userspace model", "policy", x->m->policy->name,
			 "wall_ns", (json_int_t)model_now(x->m), "simulated", 1, "state_hash", hash,
			 "evidence", evidence, "notes", x->notes, "steps", x->steps);
}

static int model_run_plan(const struct backend_run *run, json_t **record, struct cl_error *err)
{
	struct model_exec x = {.run = run, .plan = run->plan};
	struct model_config config;
	int r = model_machine_config(run, &config, &x.costs, err);

	*record = NULL;
	if (!r)
		r = make_tables(&x, err);
	if (!r)
		r = make_machine(&x, &config, err);
	if (!r)
		r = run_steps(&x, err);
	if (!r) {
		*record = make_record(&x);
		if (!*record)
			r = cl_error(err, -ENOMEM, "out of memory");
	}
	for (unsigned i = 0; x.held && i < run->plan->steps; i++)
		model_held_free(&x.held[i]);
	model_destroy(x.m);
	json_decref(x.steps);
	json_decref(x.notes);
	json_decref(x.snapshot);
	json_decref(x.costs);
	free(x.held);
	free(x.pin);
	free(x.pinned);
	return r;
}

const struct backend backend_model = {.name = "model",
				      .probe = model_probe,
				      .traces = true,
				      .run = model_run_plan,
				      .jobs = model_jobs};
