/* SPDX-License-Identifier: MIT */
#include "backend/layout.h"
#include "backend/policy_file.h"
#include "scenario/option.h"
#include "util/util.h"
#include <compactlab/kernel.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int no_memory(struct cl_error *err)
{
	return cl_error(err, -ENOMEM, "no memory to plan the runs");
}

void layout_free(struct layout *l)
{
	for (unsigned i = 0; i < l->jobs; i++) {
		plan_free(l->job[i].plan);
		json_decref(l->job[i].record);
	}
	for (unsigned i = 0; i < l->kernels; i++)
		free(l->kernel[i]);
	free(l->job);
	free(l->kernel);
	free(l->variant);
	memset(l, 0, sizeof(*l));
}

struct backend_run layout_run(const struct layout *l, const struct job *j)
{
	return (struct backend_run){
		.plan = j->plan,
		.scenario = l->scenario,
		.kernel = j->kernel,
		.keep_logs = l->options->keep_logs,
		.clean_log = l->options->clean_log,
		.policy = policy_file_get(l->options->policy_file),
		.trace = l->trace,
	};
}

char *layout_job_name(const struct layout *l, const struct job *j)
{
	char repeat[32] = "";

	if (l->repeat > 1)
		snprintf(repeat, sizeof(repeat), ", repeat %u", j->plan->repeat + 1);
	return format("variant %s%s%s%s", j->variant, l->options->kernels ? ", kernel " : "",
		      l->options->kernels ? j->kernel : "", repeat);
}

/* --- lists the user gave --- */

/* Call `take` for every name of "a,b,c". */
static int each_name(const char *list,
		     int (*take)(struct layout *l, const char *name, struct cl_error *err),
		     struct layout *l, struct cl_error *err)
{
	char *copy = strdup(list), *rest = copy, *name;
	int r = copy ? 0 : no_memory(err);

	while (!r && (name = strsep(&rest, ",")))
		r = *name ? take(l, name, err)
			  : cl_error(err, -EINVAL, "an empty name in '%s'", list);
	free(copy);
	return r;
}

static int append_variant(struct layout *l, const char *name, struct cl_error *err)
{
	const char **more = realloc(l->variant, (l->variants + 1) * sizeof(*more));

	if (!more)
		return no_memory(err);
	l->variant = more;
	more[l->variants++] = name;
	return 0;
}

static int take_variant(struct layout *l, const char *name, struct cl_error *err)
{
	struct suggestion s = {.word = name};

	for (unsigned i = 0; i < l->variants; i++)
		if (!strcmp(l->variant[i], name))
			return 0;
	for (unsigned i = 0; i < scenario_variants(l->scenario); i++) {
		const char *known = scenario_variant(l->scenario, i);

		if (!strcmp(known, name))
			return append_variant(l, known, err);
		suggestion_consider(&s, known);
	}
	cl_error(err, -EINVAL, "scenario %s has no variant '%s'", cl_scenario_name(l->scenario),
		 name);
	if (s.best)
		return cl_error_hint(err, -EINVAL, "did you mean '%s'?", s.best);
	return -EINVAL;
}

static int append_kernel(struct layout *l, const char *name, struct cl_error *err)
{
	char **more = realloc(l->kernel, (l->kernels + 1) * sizeof(*more));

	if (!more)
		return no_memory(err);
	l->kernel = more;
	more[l->kernels] = name ? strdup(name) : NULL;
	if (name && !more[l->kernels])
		return no_memory(err);
	l->kernels++;
	return 0;
}

static int take_kernel(struct layout *l, const char *name, struct cl_error *err)
{
	for (unsigned i = 0; i < l->kernels; i++)
		if (!strcmp(l->kernel[i], name))
			return 0;
	return append_kernel(l, name, err);
}

static int choose_variants(struct layout *l, struct cl_error *err)
{
	int r = 0;

	if (l->options->variants)
		return each_name(l->options->variants, take_variant, l, err);
	for (unsigned i = 0; i < scenario_variants(l->scenario) && !r; i++)
		r = append_variant(l, scenario_variant(l->scenario, i), err);
	return r;
}

/* Records tell kernels apart by what they say of themselves. */
static int check_releases(const struct layout *l, struct cl_error *err)
{
	char(*release)[sizeof(((struct cl_kernel *)NULL)->release)] =
		calloc(l->kernels, sizeof(*release));
	int r = release ? 0 : no_memory(err);

	for (unsigned i = 0; i < l->kernels && !r; i++) {
		struct cl_kernel k;

		/* One that is not there is told of when it is probed. */
		if (cl_kernel_find(l->kernel[i], &k, NULL))
			continue;
		memcpy(release[i], k.release, sizeof(*release));
		for (unsigned other = 0; other < i && !r; other++)
			if (!strcmp(release[other], release[i]))
				r = cl_error(err, -EINVAL, "kernels %s and %s are both %s",
					     l->kernel[other], l->kernel[i], release[i]);
	}
	free(release);
	if (r != -EINVAL)
		return r;
	return cl_error_hint(err, r,
			     "their records would be taken for repeats: set CONFIG_LOCALVERSION, "
			     "or run one at a time with --json and compare");
}

static int choose_kernels(struct layout *l, struct cl_error *err)
{
	if (!l->options->kernels)
		return append_kernel(l, NULL, err);
	if (strcmp(l->backend->name, "host") != 0) {
		int r = each_name(l->options->kernels, take_kernel, l, err);

		return r || l->backend != &backend_guest ? r : check_releases(l, err);
	}
	cl_error(err, -EINVAL, "the host backend runs on this machine's own kernel");
	return cl_error_hint(err, -EINVAL, "leave out --kernel, or use --on guest");
}

/* --- jobs --- */

static int choose_counts(struct layout *l, struct cl_error *err)
{
	struct experiment e;
	int r = experiment_resolve(l->scenario, l->backend->name, &e, err);

	if (r)
		return r;
	l->repeat = l->options->repeat ? l->options->repeat : e.repeat ? e.repeat : 1;
	if (l->options->seeds)
		l->repeat = l->options->seeds_count;
	l->seed = l->options->have_seed ? l->options->seed : e.seed;
	experiment_free(&e);
	return 0;
}

uint64_t layout_seed(const struct layout *l, unsigned i)
{
	return l->options->seeds ? l->options->seeds[i] : l->seed + i;
}

/* A plan's seed is that of a first repeat plus its number. */
static int add_job(struct layout *l, const char *variant, const char *kernel, unsigned repeat,
		   struct cl_error *err)
{
	struct job *j = &l->job[l->jobs];
	int r = plan_resolve(l->scenario, l->backend->name, variant, repeat,
			     layout_seed(l, repeat) - repeat, &j->plan, err);

	if (r)
		return r;
	j->variant = variant;
	j->kernel = kernel ? kernel : j->plan->machine.kernel;
	l->jobs++;
	return 0;
}

static int make_jobs(struct layout *l, struct cl_error *err)
{
	size_t room = (size_t)l->variants * l->kernels * l->repeat;
	int r = 0;

	l->job = calloc(room + 1, sizeof(*l->job));
	if (!l->job)
		return no_memory(err);
	for (unsigned v = 0; v < l->variants; v++)
		for (unsigned k = 0; k < l->kernels; k++)
			for (unsigned i = 0; i < l->repeat && !r; i++)
				r = add_job(l, l->variant[v], l->kernel[k], i, err);
	return r;
}

int layout_make(const struct backend *b, const struct cl_scenario *s,
		const struct cl_run_options *options, struct layout *out, struct cl_error *err)
{
	struct layout l = {.backend = b, .scenario = s, .options = options};
	int r = choose_variants(&l, err);

	if (!r)
		r = choose_kernels(&l, err);
	if (!r)
		r = choose_counts(&l, err);
	if (!r)
		r = make_jobs(&l, err);
	if (r)
		layout_free(&l);
	*out = l;
	return r;
}

/* --- what can run here --- */

static bool same_combination(const struct job *a, const struct job *b)
{
	return a->variant == b->variant && a->kernel == b->kernel;
}

static void drop(struct job *j)
{
	plan_free(j->plan);
	j->plan = NULL;
}

/* Take jobs [first, end), which differ in the repeat only, out or leave them. */
static int probe_combination(struct layout *l, unsigned first, unsigned end,
			     struct cl_results *notes, struct cl_error *err)
{
	const struct job *j = &l->job[first];
	struct backend_run run = layout_run(l, j);
	struct cl_error why = {0};
	char text[2048];
	int r = l->backend->probe ? l->backend->probe(&run, &why) : 0;

	if (!r)
		return 0;
	if (err)
		*err = why;
	if (r != -EOPNOTSUPP || l->options->variants)
		return r;
	if (results_note(notes, "variant %s was not run%s%s: %s", j->variant,
			 l->options->kernels ? " on kernel " : "",
			 l->options->kernels ? j->kernel : "",
			 cl_error_text(&why, text, sizeof(text))))
		return no_memory(err);
	while (first < end)
		drop(&l->job[first++]);
	return 0;
}

static void close_gaps(struct layout *l)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < l->jobs; i++)
		if (l->job[i].plan)
			l->job[kept++] = l->job[i];
	l->jobs = kept;
}

/* A kernel asked for by name must have run something. */
static bool kernel_is_used(const struct layout *l, const char *kernel)
{
	for (unsigned i = 0; i < l->jobs; i++)
		if (!kernel || l->job[i].kernel == kernel)
			return true;
	return false;
}

int layout_probe(struct layout *l, struct cl_results *notes, struct cl_error *err)
{
	int r = 0;

	for (unsigned i = 0, end; i < l->jobs && !r; i = end) {
		for (end = i + 1; end < l->jobs; end++)
			if (l->job[end].plan->repeat <= l->job[end - 1].plan->repeat ||
			    !same_combination(&l->job[i], &l->job[end]))
				break;
		r = probe_combination(l, i, end, notes, err);
	}
	if (r)
		return r;
	close_gaps(l);
	for (unsigned k = 0; k < l->kernels; k++)
		if (!kernel_is_used(l, l->kernel[k]))
			return -EOPNOTSUPP; /* err is of the probe that said no last */
	return 0;
}
