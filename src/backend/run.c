/* SPDX-License-Identifier: MIT */
#include "backend/run.h"
#include "backend/layout.h"
#include "backend/pool.h"
#include "model/policy.h"
#include "scenario/option.h"
#include "util/util.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct cl_choice backends[] = {
	{"model", "our own implementation of the kernel's memory management, in simulated time"},
	{"guest", "a Linux kernel of your choice in QEMU, on nodes as the scenario describes them"},
	{"host", "the kernel of this machine, as root, leaving memory for others"},
	{NULL, NULL},
};

const struct cl_choice *cl_backend_get(unsigned i)
{
	return i < sizeof(backends) / sizeof(backends[0]) - 1 ? &backends[i] : NULL;
}

const char *cl_backend_default(void)
{
	return backend_default;
}

bool cl_policy_get(unsigned i, struct cl_policy *out)
{
	const struct policy *p = i ? policy_registry[0] : &policy_mainline;

	for (unsigned n = 1; n < i && p; n++)
		p = policy_registry[n];
	if (p)
		*out = (struct cl_policy){p->name, p->summary, p->thread};
	return p != NULL;
}

int run_backend(const struct cl_run_options *options, const struct backend **out,
		struct cl_error *err)
{
	const char *name = options->backend ? options->backend : backend_default;
	struct suggestion s = {.word = name};
	const char *known[sizeof(backends) / sizeof(backends[0])];
	char list[64];
	unsigned n = 0;

	*out = backend_find(name);
	if (*out)
		return 0;
	for (; cl_backend_get(n); n++) {
		known[n] = cl_backend_get(n)->name;
		suggestion_consider(&s, known[n]);
	}
	cl_error(err, -EINVAL, "there is no backend '%s'", name);
	if (s.best)
		return cl_error_hint(err, -EINVAL, "did you mean '%s'?", s.best);
	return cl_error_hint(err, -EINVAL, "there are %s",
			     words_print(known, n, list, sizeof(list)));
}

/* What was stopped is told once, by the error. */
static int note_failure(const struct layout *l, const struct job *j, struct cl_results *r)
{
	char *name = layout_job_name(l, j), text[2048];
	int e = name ? results_note(r, "%s failed: %s", name,
				    cl_error_text(&j->err, text, sizeof(text)))
		     : -ENOMEM;

	free(name);
	return e;
}

/* Records move from the layout into the results, in plan order; failures become notes. */
static int collect(struct layout *l, struct cl_results *r, struct cl_error *err)
{
	for (unsigned i = 0; i < l->jobs; i++) {
		struct job *j = &l->job[i];
		json_t *record = j->record;
		int e = 0;

		j->record = NULL;
		if (record)
			e = results_add(r, record);
		else if (j->done && j->result && j->result != -EINTR)
			e = note_failure(l, j, r);
		if (e)
			return cl_error(err, -ENOMEM, "no memory for the records");
	}
	return 0;
}

/* A trace is of one machine, so it can be of one run only. */
static int open_trace(struct layout *l, struct cl_error *err)
{
	const char *path = l->options->trace;

	if (!path)
		return 0;
	if (!l->backend->traces) {
		cl_error(err, -EINVAL, "the %s backend writes no trace", l->backend->name);
		return cl_error_hint(err, -EINVAL, "use --on model, or --on host as root");
	}
	if (l->jobs > 1) {
		cl_error(err, -EINVAL, "a trace is of one run, and there are %u", l->jobs);
		return cl_error_hint(err, -EINVAL,
				     "choose one with --variant, --kernel and --repeat 1");
	}
	l->trace = fopen(path, "we");
	return l->trace
		       ? 0
		       : cl_error_at(err, -EINVAL, path, 0, "cannot write it: %s", strerror(errno));
}

static int close_trace(struct layout *l, int r, struct cl_error *err)
{
	bool bad = l->trace && ferror(l->trace);

	if (!l->trace || (!fclose(l->trace) && !bad) || r)
		return r;
	return cl_error_at(err, -EIO, l->options->trace, 0,
			   "not all of the trace could be written");
}

static int run_layout(struct layout *l, struct cl_results *results, struct cl_error *err)
{
	struct cl_error collecting;
	int r = layout_probe(l, results, err), e;

	if (!r)
		r = open_trace(l, err);
	if (r)
		return r;
	r = close_trace(l, pool_run(l, err), err);
	e = collect(l, results, &collecting);
	if (!r && e) {
		r = e;
		if (err)
			*err = collecting;
	}
	return r;
}

int run_on(const struct backend *b, const struct cl_scenario *s,
	   const struct cl_run_options *options, struct cl_results **out, struct cl_error *err)
{
	struct layout l;
	int r;

	*out = results_new();
	if (!*out)
		return cl_error(err, -ENOMEM, "no memory for the results");
	r = cl_check_validate(s, b->name, err);
	if (!r)
		r = layout_make(b, s, options, &l, err);
	if (r)
		return r;
	r = run_layout(&l, *out, err);
	layout_free(&l);
	return r;
}

int cl_run(const struct cl_scenario *s, const struct cl_run_options *options,
	   struct cl_results **out, struct cl_error *err)
{
	const struct backend *b;
	int r = run_backend(options, &b, err);

	if (r) {
		*out = results_new();
		return r;
	}
	return run_on(b, s, options, out, err);
}
