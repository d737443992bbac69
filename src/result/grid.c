/* SPDX-License-Identifier: MIT */
#include "result/grid.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define GAP_GROUP  3 /* before a group */
#define GAP_COLUMN 1 /* between the columns of one */

struct group {
	char *heading[GRID_HEADINGS];
	unsigned first, columns;
	bool glued;
};

struct row {
	char *label;
	char **cell;
};

struct grid {
	char *title;
	unsigned groups, columns, rows, room;
	struct group *group;
	char *align; /* one letter a column */
	struct row *row;
	bool failed;
};

struct grid *grid_new(const char *title)
{
	struct grid *g = calloc(1, sizeof(*g));

	if (g && !(g->title = strdup(title))) {
		free(g);
		return NULL;
	}
	return g;
}

void grid_free(struct grid *g)
{
	if (!g)
		return;
	for (unsigned r = 0; r < g->rows; r++) {
		for (unsigned c = 0; g->row[r].cell && c < g->columns; c++)
			free(g->row[r].cell[c]);
		free(g->row[r].cell);
		free(g->row[r].label);
	}
	for (unsigned i = 0; i < g->groups; i++)
		for (unsigned h = 0; h < GRID_HEADINGS; h++)
			free(g->group[i].heading[h]);
	free(g->row);
	free(g->group);
	free(g->align);
	free(g->title);
	free(g);
}

static char *copy(struct grid *g, const char *text)
{
	char *c = text ? strdup(text) : NULL;

	if (text && !c)
		g->failed = true;
	return c;
}

unsigned grid_group(struct grid *g, const char *heading, const char *below, const char *align,
		    bool glued)
{
	unsigned columns = (unsigned)strlen(align), first = g->columns;
	struct group *groups = realloc(g->group, (g->groups + 1) * sizeof(*groups));
	char *letters = realloc(g->align, first + columns + 1);

	if (groups)
		g->group = groups;
	if (letters)
		g->align = letters;
	if (!groups || !letters) {
		g->failed = true;
		return first;
	}
	memcpy(g->align + first, align, columns + 1);
	g->group[g->groups++] = (struct group){
		.heading = {copy(g, heading), copy(g, below)},
		.first = first,
		.columns = columns,
		.glued = glued,
	};
	g->columns += columns;
	return first;
}

unsigned grid_row(struct grid *g, const char *label)
{
	if (g->rows == g->room) {
		unsigned room = g->room ? g->room * 2 : 16;
		struct row *more = realloc(g->row, room * sizeof(*more));

		if (!more) {
			g->failed = true;
			return g->rows;
		}
		g->row = more;
		g->room = room;
	}
	g->row[g->rows] = (struct row){
		.label = copy(g, label),
		.cell = calloc(g->columns ? g->columns : 1, sizeof(char *)),
	};
	if (!g->row[g->rows].cell)
		g->failed = true;
	return g->rows++;
}

unsigned grid_rows(const struct grid *g)
{
	return g->rows;
}

void grid_cell(struct grid *g, unsigned row, unsigned column, const char *text)
{
	if (g->failed || row >= g->rows || column >= g->columns)
		return;
	free(g->row[row].cell[column]);
	g->row[row].cell[column] = copy(g, text);
}

/* Widths of the columns and groups, once all cells are there. 0: left out. */
struct layout {
	unsigned label;
	unsigned *column;
	unsigned *group;
};

/* Columns on the terminal: bytes that continue a character in UTF-8 take none. */
static unsigned columns_of(const char *text)
{
	unsigned n = 0;

	for (; text && *text; text++)
		n += ((unsigned char)*text & 0xc0) != 0x80;
	return n;
}

static unsigned longest(unsigned a, const char *text)
{
	unsigned b = columns_of(text);

	return a > b ? a : b;
}

static void layout_group(const struct grid *g, unsigned i, struct layout *l)
{
	const struct group *group = &g->group[i];
	unsigned width = 0, headings = 0;

	for (unsigned c = group->first; c < group->first + group->columns; c++)
		if (l->column[c])
			width += l->column[c] + (width ? GAP_COLUMN : 0);
	for (unsigned h = 0; h < GRID_HEADINGS; h++)
		headings = longest(headings, group->heading[h]);
	/* A heading wider than its columns pushes the first of them to the right. */
	if (width && width < headings) {
		l->column[group->first] += headings - width;
		width = headings;
	}
	l->group[i] = width;
}

static int layout_make(const struct grid *g, struct layout *l)
{
	l->column = calloc(g->columns + 1, sizeof(unsigned));
	l->group = calloc(g->groups + 1, sizeof(unsigned));
	if (!l->column || !l->group)
		return -ENOMEM;
	l->label = longest(0, g->title);
	for (unsigned r = 0; r < g->rows; r++) {
		l->label = longest(l->label, g->row[r].label);
		for (unsigned c = 0; c < g->columns; c++)
			l->column[c] = longest(l->column[c], g->row[r].cell[c]);
	}
	for (unsigned i = 0; i < g->groups; i++)
		layout_group(g, i, l);
	return 0;
}

/* Blanks are owed until text follows, so that no line ends in them. */
struct line {
	FILE *to;
	unsigned owed;
};

static void line_put(struct line *l, enum grid_align align, unsigned width, const char *text,
		     bool bold)
{
	unsigned length = columns_of(text);
	unsigned pad = width > length ? width - length : 0;

	if (!length) {
		l->owed += width;
		return;
	}
	if (align == GRID_RIGHT)
		l->owed += pad;
	fprintf(l->to, "%*s%s%s%s", (int)l->owed, "", bold ? "\033[1m" : "", text,
		bold ? "\033[0m" : "");
	l->owed = align == GRID_RIGHT ? 0 : pad;
}

static void print_headings(FILE *to, const struct grid *g, const struct layout *l, unsigned from,
			   unsigned end, bool colour)
{
	for (unsigned h = 0; h < GRID_HEADINGS; h++) {
		struct line line = {to, 0};
		bool any = h == 0;

		for (unsigned i = from; i < end; i++)
			any |= l->group[i] && g->group[i].heading[h];
		if (!any)
			continue;
		line_put(&line, GRID_LEFT, l->label, h ? "" : g->title, colour);
		for (unsigned i = from; i < end; i++) {
			if (!l->group[i])
				continue;
			line.owed += GAP_GROUP;
			line_put(&line, GRID_RIGHT, l->group[i], g->group[i].heading[h], colour);
		}
		fputc('\n', to);
	}
}

static void print_group(struct line *line, const struct grid *g, const struct layout *l,
			const struct row *row, const struct group *group)
{
	unsigned gap = GAP_GROUP;

	for (unsigned c = group->first; c < group->first + group->columns; c++) {
		if (!l->column[c])
			continue;
		line->owed += gap;
		gap = GAP_COLUMN;
		line_put(line, g->align[c] == 'r' ? GRID_RIGHT : GRID_LEFT, l->column[c],
			 row->cell[c], false);
	}
}

static void print_block(FILE *to, const struct grid *g, const struct layout *l, unsigned from,
			unsigned end, bool colour)
{
	print_headings(to, g, l, from, end, colour);
	for (unsigned r = 0; r < g->rows; r++) {
		struct line line = {to, 0};

		line_put(&line, GRID_LEFT, l->label, g->row[r].label, false);
		for (unsigned i = from; i < end; i++)
			print_group(&line, g, l, &g->row[r], &g->group[i]);
		fputc('\n', to);
	}
}

/* First group behind the block that starts at `from`: as many as fit, at least one. */
static unsigned block_end(const struct grid *g, const struct layout *l, unsigned from,
			  unsigned width)
{
	unsigned used = l->label, end = from;

	while (end < g->groups) {
		unsigned next = end, more = 0;

		do {
			more += l->group[next] ? GAP_GROUP + l->group[next] : 0;
			next++;
		} while (next < g->groups && g->group[next].glued);
		if (width && end > from && used + more > width)
			break;
		used += more;
		end = next;
	}
	return end;
}

int grid_print(FILE *to, const struct grid *g, unsigned width, bool colour)
{
	struct layout l = {0};
	int r = g->failed ? -ENOMEM : layout_make(g, &l);
	unsigned from = 0;

	while (!r && from < g->groups) {
		unsigned end = block_end(g, &l, from, width);

		if (from)
			fputc('\n', to);
		print_block(to, g, &l, from, end, colour);
		from = end;
	}
	free(l.column);
	free(l.group);
	return r;
}
