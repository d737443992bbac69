/* SPDX-License-Identifier: MIT */
/* What a run would do, in plain words. */
#include "backend/guest_qemu.h"
#include "backend/layout.h"
#include "backend/run.h"
#include "util/util.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MOST 512

/* The lines about one plan, so that two plans can be told apart line by line. */
struct description {
	unsigned count;
	char **line;
	bool failed;
};

static void __attribute__((format(printf, 2, 3))) say(struct description *d, const char *fmt, ...)
{
	char **more = realloc(d->line, (d->count + 1) * sizeof(*more));
	va_list ap;
	int n;

	if (!more) {
		d->failed = true;
		return;
	}
	d->line = more;
	va_start(ap, fmt);
	n = vasprintf(&more[d->count], fmt, ap);
	va_end(ap);
	if (n < 0)
		d->failed = true;
	else
		d->count++;
}

static void description_free(struct description *d)
{
	for (unsigned i = 0; i < d->count; i++)
		free(d->line[i]);
	free(d->line);
}

/* Words of one sentence, cut where they no longer fit. */
struct words {
	size_t used;
	char text[WORDS_MOST];
};

static void __attribute__((format(printf, 2, 3))) put(struct words *w, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(w->text + w->used, sizeof(w->text) - w->used, fmt, ap);
	va_end(ap);
	if (n > 0)
		w->used += (size_t)n;
	if (w->used >= sizeof(w->text))
		w->used = sizeof(w->text) - 1;
}

static void put_amount(struct words *w, const struct amount *a)
{
	char size[32];

	if (a->ppm_of_free)
		put(w, "%g%% of the free memory", a->ppm_of_free / 1e4);
	else
		put(w, "%s", size_print(a->bytes, size, sizeof(size)));
}

static void put_size(struct words *w, uint64_t bytes)
{
	char size[32];

	put(w, "%s", size_print(bytes, size, sizeof(size)));
}

static void put_node(struct words *w, const char *preposition, int node)
{
	if (node == PLAN_NODE_ANY)
		put(w, " %s any node", preposition);
	else
		put(w, " %s node %d", preposition, node);
}

static void put_count(struct words *w, uint64_t n, const char *thing)
{
	put(w, "%" PRIu64 " %s%s", n, thing, n == 1 ? "" : "s");
}

/* --- one sentence a kind of step --- */

static const char *step_name(const struct plan *p, unsigned i)
{
	return i < p->steps ? p->step[i].name : "?";
}

static void say_fill(struct words *w, const struct plan *p, const struct step *s)
{
	static const char *const memory[] = {"anonymous memory", "shmem", "page cache",
					     "mlocked memory"};
	const struct step_fill *f = &s->fill;

	(void)p;
	if (f->leave.set) {
		put(w, "%s", memory[f->memory]);
		put_node(w, "on", f->node);
		put(w, " until ");
		if (f->leave.ppm_of_free)
			put(w, "%g%% of what is free now", f->leave.ppm_of_free / 1e4);
		else
			put_amount(w, &f->leave);
		put(w, " is left");
	} else {
		put_amount(w, &f->size);
		put(w, " of %s", memory[f->memory]);
		put_node(w, "on", f->node);
	}
	put(w, ", in %s pages", f->pages == FILL_PAGE_HUGE ? "huge" : "base");
}

static void say_punch(struct words *w, const struct plan *p, const struct step *s)
{
	static const char *const orders[] = {"in ascending order", "in descending order",
					     "in random order"};
	const struct step_punch *u = &s->punch;

	put(w, "%s, of %s, ", u->action == PUNCH_FREE ? "free" : "free all but",
	    step_name(p, u->of));
	switch (u->select) {
	case PUNCH_POSITION:
		put(w, "the pages whose position modulo %u is %u", u->modulo, u->residue);
		break;
	case PUNCH_PFN:
		put(w, "the pages whose pfn modulo %u is %u", u->modulo, u->residue);
		break;
	case PUNCH_PAGEBLOCK:
		put(w, "one page in each pageblock, at offset %u or behind", u->residue);
		break;
	case PUNCH_RANDOM:
		put(w, "each page with a chance of %g%%", u->share_ppm / 1e4);
		break;
	}
	put(w, ", %s", orders[u->order]);
}

static void say_pin(struct words *w, const struct plan *p, const struct step *s)
{
	put(w, "pin every page of %s for long", step_name(p, s->pin.of));
}

static void say_unpin(struct words *w, const struct plan *p, const struct step *s)
{
	put(w, "drop the pins of %s", step_name(p, s->unpin.of));
	if (s->unpin.during)
		put(w, " when %u%% of %s is there", s->unpin.at_ppm / 10000,
		    step_name(p, s->unpin.during));
}

static void put_policy(struct words *w, const struct step_fault *f)
{
	static const char *const policies[] = {"local", "bound to", "preferring",
					       "interleaved over", "weighted over"};

	if (f->policy == POLICY_LOCAL)
		return;
	put(w, ", %s node%s", policies[f->policy], f->nodes.count == 1 ? "" : "s");
	for (unsigned i = 0; i < f->nodes.count; i++) {
		put(w, " %d", f->nodes.node[i]);
		if (f->policy == POLICY_WEIGHTED)
			put(w, " (weight %u)", f->weights[i]);
	}
}

static void put_pause(struct words *w, uint64_t ns)
{
	char time[32];

	put(w, ", %s after each call", duration_print((double)ns, time, sizeof(time)));
}

static void put_io(struct words *w, const struct step_fault *f)
{
	if (!f->io_threads)
		return;
	put(w, ", while ");
	put_count(w, f->io_threads, "thread");
	put(w, " write%s ", f->io_threads == 1 ? "s" : "");
	put_amount(w, &f->io_size);
	if (f->io_pause_ns)
		put_pause(w, f->io_pause_ns);
}

static void say_fault(struct words *w, const struct plan *p, const struct step *s)
{
	static const char *const advice[] = {"", " with MADV_HUGEPAGE", " with MADV_NOHUGEPAGE"};
	static const char *const methods[] = {"touch",         "MADV_POPULATE_WRITE",
					      "MAP_POPULATE",  "base pages, then MADV_COLLAPSE,",
					      "cl_populate()", "a long-term pin of"};
	const struct step_fault *f = &s->fault;

	(void)p;
	put(w, "%s ", methods[f->method]);
	put_amount(w, &f->size);
	put(w, "%s from ", advice[f->advice]);
	put_count(w, f->threads, "thread");
	put_node(w, "on", f->cpu_node);
	put_io(w, f);
	put_policy(w, f);
	if (f->repeat > 1) {
		put(w, f->until_defer_shift ? ", up to " : ", ");
		put_count(w, f->repeat, "time");
	}
	if (f->until_defer_shift)
		put(w, ", until the deferral shift is %u", f->until_defer_shift);
}

static void say_release(struct words *w, const struct plan *p, const struct step *s)
{
	put(w, "free the memory of %s", step_name(p, s->release.of));
}

static void say_files(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put(w, "create ");
	put_count(w, s->files.count, "file");
	put(w, " of ");
	put_size(w, s->files.size_bytes);
	put(w, " on tmpfs from ");
	put_count(w, s->files.threads, "thread");
}

static void say_write(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put(w, "write ");
	put_amount(w, &s->write.size);
	put(w, " buffered in chunks of ");
	put_size(w, s->write.chunk_bytes);
	put(w, " from ");
	put_count(w, s->write.threads, "thread");
	if (s->write.think_ns)
		put_pause(w, s->write.think_ns);
}

static void say_request(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put(w, "the kernel allocates ");
	put_count(w, s->request.count, "chunk");
	put(w, " of order %u for a thread", s->request.order);
	put_node(w, "on", s->request.cpu_node);
}

static void put_settings(struct words *w, const struct settings *s)
{
	for (unsigned i = 0; i < s->count; i++)
		put(w, "%s%s = %s", i ? ", " : "", s->item[i].name, s->item[i].value);
}

static void say_set(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put_settings(w, &s->set.settings);
	if (s->set.tried.count)
		put(w, "%stry %s", s->set.settings.count ? ", " : "", s->set.try_text);
}

static void say_compact(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put(w, "compact ");
	if (s->compact.node == PLAN_NODE_ANY)
		put(w, "all nodes");
	else
		put(w, "node %d", s->compact.node);
}

static void say_drop(struct words *w, const struct plan *p, const struct step *s)
{
	static const char *const what[] = {"nothing", "the page cache", "slab objects",
					   "the page cache and slab objects"};

	(void)p;
	put(w, "drop %s", what[s->drop.what & 3]);
}

static void say_sleep(struct words *w, const struct plan *p, const struct step *s)
{
	char time[32];

	(void)p;
	put(w, "%s", duration_print((double)s->sleep.time_ns, time, sizeof(time)));
}

static void say_read(struct words *w, const struct plan *p, const struct step *s)
{
	(void)p;
	put(w, "keep the text of %s", s->read.file);
}

static void (*const say_kind[STEP_KINDS])(struct words *w, const struct plan *p,
					  const struct step *s) = {
	[STEP_FILL] = say_fill,       [STEP_PUNCH] = say_punch,     [STEP_PIN] = say_pin,
	[STEP_UNPIN] = say_unpin,     [STEP_FAULT] = say_fault,     [STEP_RELEASE] = say_release,
	[STEP_FILES] = say_files,     [STEP_WRITE] = say_write,     [STEP_SET] = say_set,
	[STEP_COMPACT] = say_compact, [STEP_DROP] = say_drop,       [STEP_SLEEP] = say_sleep,
	[STEP_READ] = say_read,       [STEP_REQUEST] = say_request,
};

/* --- one plan --- */

static void say_machine(struct description *d, const struct job *j)
{
	const struct machine *m = &j->plan->machine;
	struct words w = {0};

	if (!strcmp(j->plan->backend, "host")) {
		say(d, "  machine: this one");
		return;
	}
	put_count(&w, m->nodes, "node");
	for (unsigned i = 0; i < m->nodes; i++) {
		put(&w, "%s", i ? " " : ": ");
		put_size(&w, m->node_bytes[i]);
		if (i < m->cmas) {
			put(&w, " (CMA ");
			put_size(&w, m->cma_bytes[i]);
			put(&w, ")");
		}
	}
	put(&w, "; ");
	put_count(&w, m->cpus, "CPU");
	if (m->disk_bytes) {
		put(&w, "; scratch disk ");
		put_size(&w, m->disk_bytes);
	}
	say(d, "  machine: %s", w.text);
	if (!strcmp(j->plan->backend, "guest")) {
		char *parameters = qemu_kernel_parameters(m);

		say(d, "  boot: %s", parameters ? parameters : "");
		free(parameters);
	} else if (m->boot) {
		say(d, "  boot: %s", m->boot);
	}
}

static void describe_plan(struct description *d, const struct job *j)
{
	const struct plan *p = j->plan;

	say_machine(d, j);
	if (p->machine.settings.count)
		say(d, "  settings:");
	for (unsigned i = 0; i < p->machine.settings.count; i++)
		say(d, "    %s = %s", p->machine.settings.item[i].name,
		    p->machine.settings.item[i].value);
	say(d, "  steps:");
	for (unsigned i = 0; i < p->steps; i++) {
		struct words w = {0};

		if (say_kind[p->step[i].kind])
			say_kind[p->step[i].kind](&w, p, &p->step[i]);
		say(d, "    %-16s %-8s %s", p->step[i].name, step_kind_name(p->step[i].kind),
		    w.text);
	}
}

static bool has_line(const struct description *d, const char *line)
{
	for (unsigned i = 0; i < d->count; i++)
		if (!strcmp(d->line[i], line))
			return true;
	return false;
}

/* The first variant in full; of the others what is different. */
static void print_variant(FILE *to, const struct job *j, const struct description *first,
			  const struct description *d)
{
	unsigned printed = 0;

	fprintf(to, "\nvariant %s, policy %s", j->variant, j->plan->policy);
	if (j->kernel)
		fprintf(to, ", kernel %s", j->kernel);
	fputc('\n', to);
	for (unsigned i = 0; i < d->count; i++)
		if (!first || !has_line(first, d->line[i])) {
			fprintf(to, "%s\n", d->line[i]);
			printed++;
		}
	for (unsigned i = 0; first && i < first->count; i++)
		if (!has_line(d, first->line[i])) {
			fprintf(to, "  instead of: %s\n",
				first->line[i] + strspn(first->line[i], " "));
			printed++;
		}
	if (!printed)
		fprintf(to, "  the rest as in the first\n");
}

static int print_variants(FILE *to, const struct layout *l)
{
	struct description first = {0};

	for (unsigned i = 0; i < l->jobs; i++) {
		struct description d = {0};

		if (l->job[i].plan->repeat)
			continue;
		describe_plan(&d, &l->job[i]);
		print_variant(to, &l->job[i], i ? &first : NULL, &d);
		first.failed |= d.failed;
		if (i)
			description_free(&d);
		else
			first = d;
	}
	description_free(&first);
	return first.failed ? -ENOMEM : 0;
}

/* --- the whole --- */

static void print_head(FILE *to, const struct layout *l)
{
	fprintf(to, "%s: %s\n", cl_scenario_name(l->scenario), cl_scenario_title(l->scenario));
	fprintf(to, "on %s: %u variant%s", l->backend->name, l->variants,
		l->variants == 1 ? "" : "s");
	if (l->options->kernels)
		fprintf(to, " x %u kernel%s", l->kernels, l->kernels == 1 ? "" : "s");
	fprintf(to, " x %u repeat%s = %u run%s, ", l->repeat, l->repeat == 1 ? "" : "s", l->jobs,
		l->jobs == 1 ? "" : "s");
	if (l->options->seeds) {
		fprintf(to, "seed%s", l->repeat == 1 ? "" : "s");
		for (unsigned i = 0; i < l->repeat; i++)
			fprintf(to, " %" PRIu64, layout_seed(l, i));
		fputc('\n', to);
	} else if (l->repeat > 1) {
		fprintf(to, "seeds %" PRIu64 "..%" PRIu64 "\n", l->seed, l->seed + l->repeat - 1);
	} else {
		fprintf(to, "seed %" PRIu64 "\n", l->seed);
	}
}

static void print_available(FILE *to, const struct layout *l)
{
	struct backend_run run = layout_run(l, &l->job[0]);
	struct cl_error why = {0};
	char text[2048];

	if (l->backend->probe && l->backend->probe(&run, &why))
		fprintf(to, "cannot run here now: %s\n", cl_error_text(&why, text, sizeof(text)));
}

static int print_checks(FILE *to, const struct layout *l, struct cl_error *err)
{
	struct check_line *line = NULL;
	unsigned count = 0;
	int r = scenario_checks(l->scenario, l->backend->name, &line, &count, err);

	if (!r && count)
		fprintf(to, "\nthen checks that\n");
	for (unsigned i = 0; !r && i < count; i++)
		fprintf(to, "    %-16s %s\n", line[i].name, line[i].relation);
	free(line);
	return r;
}

int cl_run_describe(FILE *to, const struct cl_scenario *s, const struct cl_run_options *options,
		    struct cl_error *err)
{
	const struct backend *b;
	struct layout l;
	int r = run_backend(options, &b, err);

	if (!r)
		r = cl_check_validate(s, b->name, err);
	if (!r)
		r = layout_make(b, s, options, &l, err);
	if (r)
		return r;
	print_head(to, &l);
	print_available(to, &l);
	r = print_variants(to, &l);
	if (r)
		cl_error(err, r, "no memory for the description");
	else
		r = print_checks(to, &l, err);
	layout_free(&l);
	return r;
}
