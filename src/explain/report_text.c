/* SPDX-License-Identifier: MIT */
#include "explain/explanation.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

struct page {
	FILE *to;
	unsigned width; /* 0: unlimited */
	bool colour;
};

static const char *paint(const struct page *p, const char *code)
{
	return p->colour ? code : "";
}

#define BOLD  "\033[1m"
#define GREEN "\033[32m"
#define RED   "\033[31m"
#define DIM   "\033[2m"
#define PLAIN "\033[0m"

/* Words filled into lines: the first is at `column`, the others begin with `rest` blanks. */
static void fill_from(const struct page *p, unsigned column, unsigned rest, const char *text)
{
	bool begin = true;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (!begin && p->width && column + 1 + n > p->width) {
			fprintf(p->to, "\n%*s", (int)rest, "");
			column = rest;
			begin = true;
		}
		fprintf(p->to, "%s%.*s", begin ? "" : " ", (int)n, text);
		column += (unsigned)n + !begin;
		begin = false;
		text += n;
		while (*text == ' ')
			text++;
	}
	fputc('\n', p->to);
}

static void fill(const struct page *p, const char *first, unsigned rest, const char *text)
{
	fputs(first, p->to);
	fill_from(p, (unsigned)strlen(first), rest, text);
}

static void head(const struct page *p, const char *text)
{
	fprintf(p->to, "\n%s%s%s\n", paint(p, BOLD), text, paint(p, PLAIN));
}

/* ---- the parts of an incident ------------------------------------------------------- */

static bool fact_of_interest(const struct incident *i, enum fact_id id)
{
	const struct fact *f = &i->facts.fact[id];
	enum fact_unit unit = fact_definitions[id].unit;

	if (!f->known || unit == UNIT_HIDDEN)
		return false;
	/* "no" and 0 are worth a line only where somebody would ask. */
	if (unit == UNIT_FLAG && f->number == 0)
		return id == FACT_CAN_RECLAIM;
	if (f->number < 0 || (id == FACT_REPEATS && f->number < 2))
		return id == FACT_CMA_RET;
	return unit == UNIT_TEXT || f->number != 0 || id == FACT_ORDER || id == FACT_FAILS ||
	       id == FACT_SCAN_KSWAPD || id == FACT_SUCCESSES;
}

static void print_facts(const struct page *p, const struct cl_explanation *x,
			const struct incident *i)
{
	char value[200], place[PATH_MOST + 20], line[512];

	head(p, "What was found");
	for (unsigned k = 0; k < FACT_IDS; k++) {
		const struct fact *f = &i->facts.fact[k];

		if (!fact_of_interest(i, (enum fact_id)k))
			continue;
		fact_print(&i->facts, (enum fact_id)k, value, sizeof(value));
		explanation_place(x, f->file, f->line, place, sizeof(place));
		snprintf(line, sizeof(line), "%s: %s%s%s%s", fact_definitions[k].label, value,
			 place[0] ? " [" : "", place, place[0] ? "]" : "");
		fill(p, "  ", 4, line);
	}
}

static char *order_size(const struct zone_view *z, int order, char *buf, size_t size)
{
	if (order < 0)
		snprintf(buf, size, "none");
	else
		size_print(((uint64_t)z->page_kb * 1024) << order, buf, size);
	return buf;
}

static const char *kb(uint64_t value, bool known, char *buf, size_t size)
{
	if (known)
		snprintf(buf, size, "%llu", (unsigned long long)value);
	return known ? buf : "-";
}

static void print_zones(const struct page *p, const struct incident *i)
{
	char biggest[24], usable[24], min[24], reserve[24];

	if (!i->zones.count)
		return;
	head(p, "Free blocks as this request sees them");
	fprintf(p->to, "  %-16s %10s %10s %10s %8s %8s %6s\n", "zone", "free kB", "min kB",
		"reserve kB", "biggest", "usable", "index");
	for (unsigned k = 0; k < i->zones.count; k++) {
		const struct zone_view *z = &i->zones.zone[k];
		char name[32], index[16] = "-";

		snprintf(name, sizeof(name), "Node %d %s", z->node, z->name);
		if (z->has_index && z->index != -1000)
			snprintf(index, sizeof(index), "%.3f", z->index / 1000.0);
		fprintf(p->to, "  %-16s %10llu %10s %10s %8s %8s %6s\n", name,
			(unsigned long long)z->free_kb,
			kb(z->min_kb, z->has_marks, min, sizeof(min)),
			kb(z->reserve_kb, zone_reserve_known(z), reserve, sizeof(reserve)),
			order_size(z, z->present_order, biggest, sizeof(biggest)),
			order_size(z, z->usable_order, usable, sizeof(usable)), index);
		if (z->why != ZONE_OPEN)
			fprintf(p->to, "    %s\n", zone_why_text(z->why));
		if (z->has_total && z->sum_kb != z->total_kb)
			fprintf(p->to,
				"    the free list adds up to %llu kB, printed are %llu kB\n",
				(unsigned long long)z->sum_kb, (unsigned long long)z->total_kb);
	}
	if (fact_known(&i->facts, FACT_SUMS_CHECKED) && !fact_known(&i->facts, FACT_SUMS_WRONG))
		fprintf(p->to,
			"  The free lists add up to the totals that are printed (%.0f of %.0f).\n",
			fact_value(&i->facts, FACT_SUMS_CHECKED, 0),
			fact_value(&i->facts, FACT_SUMS_CHECKED, 0));
}

static void print_points(const struct page *p, const struct cl_explanation *x, const char *title,
			 const struct point *list, unsigned n, const char *mark, const char *colour)
{
	char place[PATH_MOST + 20], line[1024];

	if (!n)
		return;
	head(p, title);
	for (unsigned k = 0; k < n; k++) {
		const char *raw = evidence_raw_find(&x->evidence, list[k].file, list[k].line);

		explanation_place(x, list[k].file, list[k].line, place, sizeof(place));
		snprintf(line, sizeof(line), "%s%s%s%s", list[k].text, place[0] ? " [" : "", place,
			 place[0] ? "]" : "");
		fputs(paint(p, colour), p->to);
		fprintf(p->to, "  %s ", mark);
		fputs(paint(p, PLAIN), p->to);
		fill_from(p, 4, 4, line);
		if (raw)
			fprintf(p->to, "      > %s\n", raw);
	}
}

static void print_remedies(const struct page *p, const struct incident *i)
{
	char number[16], line[1024];

	if (!i->remedies)
		return;
	head(p, "What helps, best first");
	for (unsigned k = 0; k < i->remedies; k++) {
		const struct remedy *r = i->remedy[k].remedy;

		snprintf(number, sizeof(number), "  %u. ", k + 1);
		fill(p, number, 5, i->remedy[k].what);
		snprintf(line, sizeof(line), "effect: %s", i->remedy[k].effect);
		fill(p, "     ", 7, line);
		snprintf(line, sizeof(line), "cost: %s%s%s", r->cost, r->root ? "; needs root" : "",
			 r->reboot ? "; needs a reboot" : "");
		fill(p, "     ", 7, line);
		snprintf(line, sizeof(line), "check: %s", i->remedy[k].check);
		fill(p, "     ", 7, line);
	}
}

static void print_incident(const struct page *p, const struct cl_explanation *x, unsigned k)
{
	const struct incident *i = x->incident[k];
	const struct class_definition *c = &class_table[i->class];
	char line[256];

	if (x->incidents > 1)
		fprintf(p->to, "%s%sIncident %u of %u%s\n", k ? "\n" : "", paint(p, BOLD), k + 1,
			x->incidents, paint(p, PLAIN));
	fputs(paint(p, BOLD), p->to);
	fputs(paint(p, i->class ? RED : GREEN), p->to);
	fill(p, "", 0, i->summary);
	fputs(paint(p, PLAIN), p->to);
	snprintf(line, sizeof(line), "Class %s, %s; confidence %.0f %%%s%s%s%s.", c->id, c->name,
		 i->confidence * 100, i->runner_up < CLASSES ? "; next best " : "",
		 i->runner_up < CLASSES ? class_table[i->runner_up].id : "",
		 i->runner_up < CLASSES ? ", " : "",
		 i->runner_up < CLASSES ? class_table[i->runner_up].name : "");
	fill(p, "", 0, line);
	print_points(p, x, "For", i->pro, i->pros, "+", GREEN);
	print_points(p, x, "Against", i->con, i->cons, "-", RED);
	print_zones(p, i);
	print_remedies(p, i);
	print_facts(p, x, i);
}

/* ---- predictions ---------------------------------------------------------------------- */

static void print_prediction(const struct page *p, const struct prediction *r)
{
	char served[24], waited[24], longest[24], cost[24] = "-";

	snprintf(served, sizeof(served), "%u of %u", r->got, r->asked);
	duration_print((double)r->request_ns, waited, sizeof(waited));
	duration_print((double)r->longest_ns, longest, sizeof(longest));
	if (r->remedy_ns)
		duration_print((double)r->remedy_ns, cost, sizeof(cost));
	fprintf(p->to, "  %-25s %7llu %8s %8s %8s %7llu %8s\n", r->what,
		(unsigned long long)r->after, cost, waited, longest,
		(unsigned long long)r->dropped / 256, served);
}

static void print_what_if(const struct page *p, const struct what_if *w)
{
	char line[512];

	if (!w->asked)
		return;
	head(p, "What if (predicted by the model)");
	if (w->missing[0]) {
		snprintf(line, sizeof(line), "Not possible: %s.", w->missing);
		fill(p, "  ", 4, line);
		return;
	}
	snprintf(line, sizeof(line),
		 "Each on a machine of its own in the state that was given (%llu free blocks of 2 "
		 "MiB), then %s:",
		 (unsigned long long)w->blocks_before, w->request);
	fill(p, "  ", 2, line);
	fprintf(p->to, "  %-25s %7s %8s %8s %8s %7s\n", "", "free", "remedy", "requests", "the",
		"MiB");
	fprintf(p->to, "  %-25s %7s %8s %8s %8s %7s %8s\n", "remedy", "2M then", "takes", "take",
		"longest", "dropped", "served");
	for (unsigned k = 0; k < w->predictions; k++)
		print_prediction(p, &w->prediction[k]);
	fputs("  Assumed:\n", p->to);
	for (unsigned k = 0; k < w->assumptions; k++)
		fill(p, "  - ", 4, w->assumption[k]);
}

int report_text(FILE *to, const struct cl_explanation *x, unsigned width, bool colour)
{
	struct page p = {to, width, colour};
	const struct evidence *e = &x->evidence;
	char place[PATH_MOST + 20], line[512];

	for (unsigned k = 0; k < x->incidents; k++)
		print_incident(&p, x, k);
	print_what_if(&p, &x->what_if);
	if (e->left_outs)
		head(&p, "Left out");
	for (unsigned k = 0; k < e->left_outs; k++) {
		explanation_place(x, e->left_out[k].file, e->left_out[k].line, place,
				  sizeof(place));
		snprintf(line, sizeof(line), "%s%s%s", place, place[0] ? ": " : "",
			 e->left_out[k].text);
		fill(&p, "  ", 4, line);
	}
	return ferror(to) ? -EIO : 0;
}
