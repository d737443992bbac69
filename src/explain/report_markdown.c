/* SPDX-License-Identifier: MIT */
#include "explain/explanation.h"
#include "util/util.h"
#include <errno.h>
#include <string.h>

/* Text from the input must not turn into markup, nor end a table's cell. */
static void escaped(FILE *to, const char *text)
{
	for (; *text; text++) {
		if (strchr("|*_`<>[]#\\", *text))
			fputc('\\', to);
		fputc(*text, to);
	}
}

static void points(FILE *to, const struct cl_explanation *x, const char *title,
		   const struct point *list, unsigned n)
{
	char place[PATH_MOST + 20];

	if (!n)
		return;
	fprintf(to, "\n**%s**\n\n", title);
	for (unsigned k = 0; k < n; k++) {
		explanation_place(x, list[k].file, list[k].line, place, sizeof(place));
		fputs("- ", to);
		escaped(to, list[k].text);
		if (place[0])
			fprintf(to, " (`%s`)", place);
		fputc('\n', to);
	}
}

static void kb(FILE *to, uint64_t value, bool known)
{
	if (known)
		fprintf(to, "%llu | ", (unsigned long long)value);
	else
		fputs("- | ", to);
}

static void zones(FILE *to, const struct incident *i)
{
	if (!i->zones.count)
		return;
	fputs("\n| zone | free kB | min kB | reserve kB | biggest order | usable order | index | "
	      "|\n"
	      "|---|---:|---:|---:|---:|---:|---:|---|\n",
	      to);
	for (unsigned k = 0; k < i->zones.count; k++) {
		const struct zone_view *z = &i->zones.zone[k];

		fprintf(to, "| Node %d %s | ", z->node, z->name);
		kb(to, z->free_kb, true);
		kb(to, z->min_kb, z->has_marks);
		kb(to, z->reserve_kb, zone_reserve_known(z));
		fprintf(to, "%d | %d | ", z->present_order, z->usable_order);
		if (z->has_index && z->index != -1000)
			fprintf(to, "%.3f", z->index / 1000.0);
		fprintf(to, " | %s%s |\n", z->why == ZONE_OPEN ? "" : zone_why_text(z->why),
			z->has_total && z->sum_kb != z->total_kb ? " (sum differs from the total)"
								 : "");
	}
}

static void remedies(FILE *to, const struct incident *i)
{
	if (!i->remedies)
		return;
	fputs("\n| | what helps | effect | cost | check |\n|---|---|---|---|---|\n", to);
	for (unsigned k = 0; k < i->remedies; k++) {
		const struct remedy *r = i->remedy[k].remedy;

		fprintf(to, "| %u | ", k + 1);
		escaped(to, i->remedy[k].what);
		fputs(" | ", to);
		escaped(to, i->remedy[k].effect);
		fputs(" | ", to);
		escaped(to, r->cost);
		fputs(r->reboot ? " (reboot)" : "", to);
		fputs(" | ", to);
		escaped(to, i->remedy[k].check);
		fputs(" |\n", to);
	}
}

static void what_if(FILE *to, const struct what_if *w)
{
	char waited[24], longest[24], cost[24];

	if (!w->asked)
		return;
	fputs("\n**What if** (predicted by the model)\n\n", to);
	if (w->missing[0]) {
		fprintf(to, "Not possible: %s.\n", w->missing);
		return;
	}
	fputs("Each on a machine of its own in the state that was given, then ", to);
	escaped(to, w->request);
	fputs(".\n\n| remedy | free 2 MiB blocks | served | in all | longest | remedy takes | "
	      "taken from caches |\n|---|---|---|---|---|---|---|\n",
	      to);
	for (unsigned k = 0; k < w->predictions; k++) {
		const struct prediction *p = &w->prediction[k];

		fprintf(to, "| %s | %llu -> %llu | %u of %u | %s | %s | %s | %llu MiB |\n", p->what,
			(unsigned long long)p->before, (unsigned long long)p->after, p->got,
			p->asked, duration_print((double)p->request_ns, waited, sizeof(waited)),
			duration_print((double)p->longest_ns, longest, sizeof(longest)),
			p->remedy_ns ? duration_print((double)p->remedy_ns, cost, sizeof(cost))
				     : "-",
			(unsigned long long)p->dropped / 256);
	}
	fputs("\nAssumed:\n\n", to);
	for (unsigned k = 0; k < w->assumptions; k++) {
		fputs("- ", to);
		escaped(to, w->assumption[k]);
		fputc('\n', to);
	}
}

int report_markdown(FILE *to, const struct cl_explanation *x)
{
	const struct evidence *e = &x->evidence;
	char place[PATH_MOST + 20];

	for (unsigned k = 0; k < x->incidents; k++) {
		const struct incident *i = x->incident[k];

		fprintf(to, "%s### %s: %s\n\n", k ? "\n" : "", class_table[i->class].id,
			class_table[i->class].name);
		escaped(to, i->summary);
		fprintf(to, "\n\nConfidence %.0f %%", i->confidence * 100);
		if (i->runner_up < CLASSES)
			fprintf(to, ", next best %s (%s)", class_table[i->runner_up].id,
				class_table[i->runner_up].name);
		fputs(".\n", to);
		points(to, x, "For", i->pro, i->pros);
		points(to, x, "Against", i->con, i->cons);
		zones(to, i);
		remedies(to, i);
	}
	what_if(to, &x->what_if);
	if (e->left_outs)
		fputs("\n**Left out**\n\n", to);
	for (unsigned k = 0; k < e->left_outs; k++) {
		explanation_place(x, e->left_out[k].file, e->left_out[k].line, place,
				  sizeof(place));
		fputs("- ", to);
		if (place[0])
			fprintf(to, "`%s`: ", place);
		escaped(to, e->left_out[k].text);
		fputc('\n', to);
	}
	return ferror(to) ? -EIO : 0;
}
