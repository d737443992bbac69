/* SPDX-License-Identifier: MIT */
#include "explain/explanation.h"
#include "explain/requester.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A free list belongs to a header without one when it is not further away than this. */
#define BORROW_LINES 200

int cl_explain_new(bool raw, struct cl_explanation **out)
{
	struct cl_explanation *x = calloc(1, sizeof(*x));

	if (!x)
		return -ENOMEM;
	x->evidence.raw = raw;
	*out = x;
	return 0;
}

static void incident_free(struct incident *i)
{
	if (!i)
		return;
	zone_views_free(&i->zones);
	free(i);
}

void cl_explain_free(struct cl_explanation *x)
{
	if (!x)
		return;
	for (unsigned i = 0; i < x->incidents; i++)
		incident_free(x->incident[i]);
	evidence_free(&x->evidence);
	free(x->snapshot);
	free(x);
}

int cl_explain_add(struct cl_explanation *x, const char *path, struct cl_error *err)
{
	return input_path(&x->evidence, path, err);
}

int cl_explain_add_text(struct cl_explanation *x, const char *text, unsigned long length,
			const char *name, struct cl_error *err)
{
	return input_text(&x->evidence, text, length, name, err);
}

/* ---- incidents ---------------------------------------------------------------------- */

static struct incident *incident_new(int file, int line, bool is_event)
{
	struct incident *i = calloc(1, sizeof(*i));

	if (!i)
		return NULL;
	i->file = file;
	i->line = line;
	i->is_event = is_event;
	return i;
}

static int keep(struct cl_explanation *x, struct incident *i)
{
	if (!i)
		return -ENOMEM;
	verdict_judge(i);
	if (x->incidents < INCIDENTS_MOST) {
		x->incident[x->incidents++] = i;
		return 0;
	}
	/* Full: the least bad one gives way. */
	{
		unsigned least = 0;

		for (unsigned k = 1; k < x->incidents; k++)
			if (x->incident[k]->badness < x->incident[least]->badness)
				least = k;
		x->incidents_lost++;
		if (x->incident[least]->badness < i->badness) {
			incident_free(x->incident[least]);
			x->incident[least] = i;
		} else {
			incident_free(i);
		}
	}
	return 0;
}

static void drop(struct cl_explanation *x, unsigned k)
{
	incident_free(x->incident[k]);
	memmove(&x->incident[k], &x->incident[k + 1],
		(x->incidents - k - 1) * sizeof(x->incident[0]));
	x->incidents--;
}

/* ---- reports of the log ------------------------------------------------------------- */

static int distance(const struct klog_event *a, const struct klog_event *b)
{
	if (a->line > b->last_line)
		return a->line - b->last_line;
	return b->line > a->last_line ? b->line - a->last_line : 0;
}

/* The nearest report of the same file that has zones; one without a header is preferred. */
static unsigned lender(const struct evidence *e, unsigned of)
{
	unsigned best = e->events;
	int best_distance = BORROW_LINES + 1;

	for (unsigned i = 0; i < e->events; i++) {
		const struct event *c = &e->event[i];
		int d;

		if (i == of || c->file != e->event[of].file || !c->log->zones)
			continue;
		d = distance(e->event[of].log, c->log);
		if (c->log->kind != KLOG_DUMP)
			d += BORROW_LINES / 2;
		if (d < best_distance) {
			best = i;
			best_distance = d;
		}
	}
	return best;
}

static bool needs_zones(const struct klog_event *log)
{
	return log->kind == KLOG_FAILURE || log->kind == KLOG_OOM || log->kind == KLOG_STALL;
}

static void known_requester(struct facts *f)
{
	const char *function = f->fact[FACT_FUNCTION].text, *module = f->fact[FACT_MODULE].text;
	int file = f->fact[FACT_FUNCTION].file, line = f->fact[FACT_FUNCTION].line;

	for (unsigned i = 0; i < known_count; i++) {
		const struct known *k = &known_table[i];
		size_t n = k->function ? strlen(k->function) : 0;
		bool same = k->function &&
			    (k->function[n - 1] == '*' ? !strncmp(function, k->function, n - 1)
						       : !strcmp(function, k->function));

		if (k->module)
			same = (!k->function || same) && !strcmp(module, k->module);
		if (!same)
			continue;
		fact_text(f, FACT_KNOWN_REQUESTER, k->what, file, line);
		fact_text(f, FACT_KNOWN_FIX, k->fix, file, line);
		return;
	}
}

/* Facts of the machine's tables, where the report itself does not say. */
static void add_context(struct facts *f, const struct facts *context)
{
	static const enum fact_id from_tables[] = {
		FACT_MOVABLE_SHARE,    FACT_MOVABLE_ZONE,
		FACT_UNMOVABLE_BLOCKS, FACT_RECLAIMABLE_BLOCKS,
		FACT_MIN_FREE,         FACT_PROACTIVENESS,
		FACT_THP_DEFRAG,       FACT_THP_ENABLED,
		FACT_TOP_SLAB,         FACT_TOP_SLAB_BYTES,
		FACT_EXTFRAG_ORDER,    FACT_CMA_TOTAL,
		FACT_PINNED,           FACT_RAM,
		FACT_SLAB_RECLAIMABLE,
	};

	for (size_t i = 0; i < sizeof(from_tables) / sizeof(from_tables[0]); i++)
		if (!f->fact[from_tables[i]].known)
			f->fact[from_tables[i]] = context->fact[from_tables[i]];
}

static int event_incident(struct cl_explanation *x, unsigned index, const struct sample *sample,
			  const struct facts *context, bool *used)
{
	const struct evidence *e = &x->evidence;
	const struct event *ev = &e->event[index];
	struct incident *i = incident_new(ev->file, ev->log->line, true);
	unsigned from = e->events;
	int code;

	if (!i)
		return -ENOMEM;
	if (needs_zones(ev->log) && !ev->log->zones)
		from = lender(e, index);
	if (from < e->events && !ev->log->memory_state) {
		code = zone_views_of_event(&i->zones, e->event[from].log, ev->file);
		i->zones.borrowed = true;
		if (e->event[from].log->kind == KLOG_DUMP)
			used[from] = true;
	} else if (needs_zones(ev->log) && !ev->log->zones && !ev->log->memory_state && sample &&
		   (sample->buddy || sample->zones)) {
		code = zone_views_of_tables(&i->zones, sample->buddy ? &sample->buddy->buddy : NULL,
					    sample->buddy ? sample->buddy->file : -1,
					    sample->buddy ? sample->buddy->line : 0,
					    sample->zones ? &sample->zones->zones : NULL,
					    sample->zones ? sample->zones->file : -1,
					    sample->zones ? sample->zones->line : 0,
					    derive_page_kb(e));
	} else {
		code = zone_views_of_event(&i->zones, ev->log, ev->file);
	}
	if (code) {
		incident_free(i);
		return code;
	}
	derive_event(&i->facts, e, ev->log, ev->file, &i->zones);
	if (from < e->events && !ev->log->memory_state && !fact_known(&i->facts, FACT_FILE_CACHE)) {
		/* What the lender counted is of the same instant, near enough. */
		struct facts *other = calloc(1, sizeof(*other));
		struct zone_views none = {0};

		if (other) {
			derive_event(other, e, e->event[from].log, ev->file, &none);
			for (unsigned k = FACT_FREE; k <= FACT_RECLAIM_STUCK; k++)
				if (!i->facts.fact[k].known)
					i->facts.fact[k] = other->fact[k];
		}
		free(other);
	}
	add_context(&i->facts, context);
	known_requester(&i->facts);
	return keep(x, i);
}

/* ---- counters and tables ------------------------------------------------------------ */

static int state_incident(struct cl_explanation *x, const struct window *w, const struct sample *s)
{
	const struct evidence *e = &x->evidence;
	struct incident *i = incident_new(0, 0, false);
	unsigned page_kb = derive_page_kb(e);

	if (!i)
		return -ENOMEM;
	fact_flag(&i->facts, FACT_IS_STATE, true, -1, 0);
	if (w) {
		derive_window(&i->facts, w, page_kb);
		i->file = w->changes ? w->changes->file : w->after->file;
		i->line = (w->changes ? w->changes->line : w->after->line) + 1;
	}
	if (s && s->first) {
		derive_sample(&i->facts, s, page_kb);
		if (!w) {
			i->file = s->first->file;
			i->line = s->first->line + 1;
		}
	}
	derive_global(&i->facts, e);
	derive_shares(&i->facts);
	if (x->evidence.events)
		i->facts.fact[FACT_KERNEL_LOG].known = false;
	return keep(x, i);
}

/* Several windows or states of the same class are one matter: the clearest stands for all. */
static void merge_states(struct cl_explanation *x, unsigned first)
{
	for (unsigned a = first; a < x->incidents; a++) {
		for (unsigned b = a + 1; b < x->incidents;) {
			struct incident *p = x->incident[a], *q = x->incident[b];

			if (p->class != q->class) {
				b++;
				continue;
			}
			if (p->class ? q->score[q->class] > p->score[p->class]
				     : fact_value(&q->facts, FACT_ISOLATE_BLOCKS, 0) >
					       fact_value(&p->facts, FACT_ISOLATE_BLOCKS, 0)) {
				x->incident[a] = q;
				x->incident[b] = p;
			}
			drop(x, b);
		}
	}
	/* A state in which nothing is wrong says nothing beside one in which something is. */
	for (unsigned k = first; x->incidents > 1 && k < x->incidents;) {
		if (x->incident[k]->class == 0)
			drop(x, k);
		else
			k++;
	}
}

static bool has_global(const struct evidence *e)
{
	bool any = e->numa.line || e->trace.events || e->alloc.line || e->graph_longest_ns ||
		   e->settings;

	for (unsigned i = 0; i < PROFILE_PARTS; i++)
		any |= e->profile[i].centipercent > 0;
	any |= e->profile_first.centipercent > 0;
	for (unsigned i = 0; i < DAEMONS; i++)
		any |= e->daemon[i].centipercent > 0;
	for (unsigned i = 0; i < SEEN_PARTS; i++)
		any |= e->seen[i].count > 0;
	for (unsigned i = 0; i < e->documents; i++)
		any |= e->document[i].kind == DOCUMENT_SAR;
	return any;
}

static int all_states(struct cl_explanation *x, unsigned samples)
{
	struct evidence *e = &x->evidence;
	unsigned windows = 0, first = x->incidents;
	struct window *w = NULL;
	int code = window_list(e, &w, &windows);

	for (unsigned k = 0; k < windows && !code; k++) {
		const struct document *d = w[k].changes ? w[k].changes : w[k].after;
		struct sample s;

		sample_collect(e, sample_nearest(e, d, samples), &s);
		code = state_incident(x, &w[k], &s);
	}
	for (unsigned k = 0; k < samples && !code && !(windows && samples == 1); k++) {
		struct sample s;

		sample_collect(e, k, &s);
		code = state_incident(x, NULL, &s);
	}
	if (!code && !windows && !samples && (has_global(e) || (!e->events && !e->pools)))
		code = state_incident(x, NULL, NULL);
	window_free(w, windows);
	if (!code)
		merge_states(x, first);
	return code;
}

static int all_pools(struct cl_explanation *x)
{
	const struct evidence *e = &x->evidence;

	for (unsigned k = 0; k < e->pools; k++) {
		const struct pool_request *p = &e->pool[k];
		struct incident *i;
		int code;

		if (!p->has_got || p->got >= p->wanted)
			continue;
		i = incident_new(p->file, p->line, true);
		if (!i)
			return -ENOMEM;
		derive_pool(&i->facts, p);
		code = keep(x, i);
		if (code)
			return code;
	}
	return 0;
}

/* ---- concluding --------------------------------------------------------------------- */

static int by_badness(const void *a, const void *b)
{
	const struct incident *x = *(struct incident *const *)a, *y = *(struct incident *const *)b;

	if (x->badness != y->badness)
		return x->badness < y->badness ? 1 : -1;
	return x->file != y->file ? x->file - y->file : x->line - y->line;
}

/* Cut off before it says what was asked for, while other reports do. */
static bool says_nothing(const struct evidence *e, unsigned index)
{
	const struct klog_event *l = e->event[index].log;

	if (e->events < 2)
		return false;
	if (l->kind == KLOG_SLUB && !l->cache[0])
		return true;
	return (l->kind == KLOG_FAILURE || l->kind == KLOG_OOM) && l->order < 0 && !l->has_gfp &&
	       !l->zones && !l->memcg;
}

static int all_events(struct cl_explanation *x, unsigned samples)
{
	struct evidence *e = &x->evidence;
	struct facts *context = calloc(1, sizeof(*context));
	bool *used = calloc(EVENTS_MOST, sizeof(*used));
	struct sample s = {0};
	int code = context && used ? 0 : -ENOMEM;

	if (!code && samples) {
		sample_collect(e, 0, &s);
		derive_sample(context, &s, derive_page_kb(e));
	}
	if (!code)
		derive_global(context, e);
	/* Those without a header last: by then it is known whose lists they are. */
	for (int pass = 0; pass < 2 && !code; pass++) {
		for (unsigned i = 0; i < e->events && !code; i++) {
			bool dump = e->event[i].log->kind == KLOG_DUMP;

			if (says_nothing(e, i)) {
				if (!pass)
					evidence_left_out(e, e->event[i].file,
							  e->event[i].log->line,
							  "a report that breaks off");
			} else if (dump == (pass == 1) && !used[i])
				code = event_incident(x, i, &s, context, used);
		}
	}
	free(context);
	free(used);
	return code;
}

/* A report in which nothing is wrong is of no interest beside others. */
static void drop_healthy(struct cl_explanation *x)
{
	for (unsigned k = 0; x->incidents > 1 && k < x->incidents;) {
		if (x->incident[k]->class == 0)
			drop(x, k);
		else
			k++;
	}
}

static void note_damage(struct cl_explanation *x)
{
	struct evidence *e = &x->evidence;

	for (unsigned i = 0; i < e->events; i++) {
		const struct klog_event *l = e->event[i].log;

		if (l->odd_lines)
			evidence_left_out(e, e->event[i].file, l->line,
					  "%u lines of the report that begins here contradict it",
					  l->odd_lines);
		if (needs_zones(l) && !l->zones && !l->memory_state)
			evidence_left_out(e, e->event[i].file, l->line,
					  "this report has no memory state of its own");
	}
	for (unsigned i = 0; i < e->files; i++)
		if (!e->file[i].found && !e->file[i].kernel_log && e->file[i].lines)
			evidence_left_out(e, (int)i, 0, "nothing that explain knows");
	if (e->events_lost)
		evidence_left_out(e, -1, 0, "%u reports beyond the first %u different ones",
				  e->events_lost, EVENTS_MOST);
}

static int nothing_found(const struct cl_explanation *x, struct cl_error *err)
{
	const struct evidence *e = &x->evidence;
	const struct left_out *l = e->left_outs ? &e->left_out[0] : NULL;
	const char *why = l ? l->text : "nothing that explain knows";
	const char *name = "the input";

	if (l && l->file >= 0)
		name = e->file[l->file].name;
	else if (e->files == 1)
		name = e->file[0].name;
	cl_error(err, -EINVAL, "no evidence in %s: %s", name, why);
	return cl_error_hint(err, -EINVAL,
			     "give a kernel log, files of /proc, traces or profiles as text; "
			     "compactlab collect gathers them");
}

int cl_explain_finish(struct cl_explanation *x, struct cl_error *err)
{
	unsigned samples;
	int code;

	if (x->finished)
		return 0;
	if (!evidence_found(&x->evidence))
		return nothing_found(x, err);
	note_damage(x);
	samples = sample_assign(&x->evidence);
	code = all_events(x, samples);
	if (!code)
		code = all_pools(x);
	if (!code)
		code = all_states(x, samples);
	if (!code && !x->incidents) /* evidence, but none of anything that went wrong */
		code = state_incident(x, NULL, NULL);
	if (code)
		return cl_error(err, code, "explaining: %s", strerror(-code));
	drop_healthy(x);
	qsort(x->incident, x->incidents, sizeof(x->incident[0]), by_badness);
	x->finished = true;
	return 0;
}

unsigned cl_explain_incidents(const struct cl_explanation *x)
{
	return x->incidents;
}

const char *cl_explain_class(const struct cl_explanation *x, unsigned i)
{
	return i < x->incidents ? class_table[x->incident[i]->class].id : "";
}

const char *cl_explain_summary(const struct cl_explanation *x, unsigned i)
{
	return i < x->incidents ? x->incident[i]->summary : "";
}

char *explanation_place(const struct cl_explanation *x, int file, int line, char *buf, size_t size)
{
	buf[0] = '\0';
	if (file < 0 || (unsigned)file >= x->evidence.files)
		return buf;
	if (line > 0)
		snprintf(buf, size, "%s:%d", x->evidence.file[file].name, line);
	else
		snprintf(buf, size, "%s", x->evidence.file[file].name);
	return buf;
}

int cl_explain_print(FILE *to, const struct cl_explanation *x, enum cl_explain_format format,
		     unsigned width, bool colour)
{
	switch (format) {
	case CL_EXPLAIN_TEXT:
		return report_text(to, x, width, colour);
	case CL_EXPLAIN_MARKDOWN:
		return report_markdown(to, x);
	case CL_EXPLAIN_JSON:
		return report_json(to, x);
	}
	return -EINVAL;
}
