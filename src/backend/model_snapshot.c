/* SPDX-License-Identifier: MIT */
/* A run on the model that starts from a snapshot of a real machine. */
#include "backend/model.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "snapshot/snapshot_model.h"
#include "util/util.h"

/*
 * The step that the snapshot was taken right before, when it is of this scenario; else all steps
 * are run.
 */
static unsigned first_step(const struct plan *p, const struct snapshot *s)
{
	if (!s->step || strcmp(s->scenario, p->scenario) != 0)
		return 0;
	for (unsigned i = 0; i < p->steps; i++)
		if (!strcmp(p->step[i].name, s->step))
			return i;
	return 0;
}

/* What a step that is over holds, as if the model had run it. */
static int take_over(struct model_exec *x, unsigned i, const struct snapshot_held *from,
		     struct cl_error *err)
{
	const struct step *s = &x->plan->step[i];
	struct held *h = &x->held[i];
	enum advice advice = ADVISE_NONE;

	h->task = calloc(1, sizeof(*h->task));
	h->region = calloc(1, sizeof(*h->region));
	if (!h->task || !h->region)
		return cl_error(err, -ENOMEM, "out of memory");
	h->alive = true;
	h->threads = h->regions = 1;
	h->task[0] = from->task;
	h->region[0] = from->region;
	h->pages = from->pages;
	if (s->kind == STEP_FILL) {
		h->kind = s->fill.memory;
		advice = s->fill.pages == FILL_PAGE_HUGE ? ADVISE_HUGEPAGE : ADVISE_NOHUGEPAGE;
		model_bind_region(x->m, from->region, s->fill.node);
	} else if (s->fault.advice != ADVICE_NONE) {
		advice = s->fault.advice == ADVICE_HUGEPAGE ? ADVISE_HUGEPAGE : ADVISE_NOHUGEPAGE;
	}
	model_advise(x->m, from->region, advice);
	for (unsigned k = 0; from->pinned && k < x->first; k++) {
		if (x->plan->step[k].kind != STEP_PIN || x->plan->step[k].pin.of != i)
			continue;
		x->pin[k] = from->pin;
		x->pinned[k] = from->present;
	}
	return 0;
}

static int take_over_all(struct model_exec *x, const struct snapshot_machine *machine,
			 struct cl_error *err)
{
	int r = 0;

	for (unsigned i = 0; i < x->first && !r; i++)
		for (unsigned k = 0; k < machine->helds && !r; k++)
			if (!strcmp(machine->held[k].step, x->plan->step[i].name))
				r = take_over(x, i, &machine->held[k], err);
	return r;
}

static void remember(struct model_exec *x, const char *path, const struct snapshot *s,
		     const struct snapshot_machine *machine)
{
	const struct layout_guess *g = &machine->guess;

	x->snapshot = json_pack("{s:s, s:s, s:s, s:s?, s:b, s:{s:I, s:I, s:I}, s:I, s:I}", "file",
				path, "kernel", s->release, "taken", s->taken, "step", s->step,
				"inside", machine->inside, "guessed", "block_types",
				(json_int_t)g->block_types, "pins", (json_int_t)g->pins, "percpu",
				(json_int_t)g->percpu, "changed", (json_int_t)g->changed,
				"unknown_settings", (json_int_t)machine->unknown_settings);
	if (!machine->inside)
		json_array_append_new(
			x->notes,
			json_string(
				"the machine was made from a snapshot of what /proc shows: free "
				"lists are in order of address, skip bits, the scanners' positions "
				"and deferral are fresh, block types and per-CPU lists are "
				"guessed"));
}

int model_snapshot_begin(struct model_exec *x, struct model_config *config, struct cl_error *err)
{
	struct snapshot_machine machine = {0};
	struct snapshot *s = NULL;
	char *path = model_find_file(x->plan, x->plan->machine.snapshot);
	int r = path ? snapshot_load(path, &s, err) : cl_error(err, -ENOMEM, "out of memory");

	if (!r && !x->run->kernel && !x->plan->machine.kernel)
		r = snapshot_profile(s, &config->profile, err);
	if (!r)
		r = snapshot_machine_new(s, config, &machine, err);
	if (!r) {
		x->m = machine.m;
		x->first = first_step(x->plan, s);
		remember(x, path, s, &machine);
		r = take_over_all(x, &machine, err);
	}
	if (r && err && !err->file[0] && path)
		snprintf(err->file, sizeof(err->file), "%s", path);
	free(machine.held);
	snapshot_free(s);
	free(path);
	return r;
}
