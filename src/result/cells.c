/* SPDX-License-Identifier: MIT */
#include "result/cells.h"
#include "result/figure.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The columns of one variant's group. */
enum { CELL_VALUE, CELL_RANGE, CELL_BARS, CELL_CHANGE, CELL_MARK };

unsigned cells_group(struct grid *g, const struct columns *c, unsigned i)
{
	return grid_group(g, c->item[i].label, c->several_kernels ? c->item[i].kernel : NULL,
			  "rlllr", false);
}

/* "compaction_ns" is shown as "compaction": the unit stands behind the number. */
void cells_label(const char *measure, char *buf, size_t size)
{
	snprintf(buf, size, "%s", measure);
	if (figure_is_time(measure) && strlen(buf) == strlen(measure))
		buf[strlen(buf) - 3] = '\0';
}

bool cells_put(struct grid *g, unsigned row, unsigned first, const char *measure,
	       const struct stat_summary *base, const struct stat_summary *s)
{
	char text[96];

	if (!s->count) {
		grid_cell(g, row, first + CELL_VALUE, "-");
		return false;
	}
	grid_cell(g, row, first + CELL_VALUE, figure_print(measure, s->median, text, sizeof(text)));
	if (s->count > 1)
		grid_cell(g, row, first + CELL_RANGE,
			  figure_range(measure, s->min, s->max, text, sizeof(text)));
	if (base && base->count)
		grid_cell(g, row, first + CELL_CHANGE,
			  figure_change(measure, base->median, s->median, text, sizeof(text)));
	if (!base || !stat_apart(base, s))
		return false;
	grid_cell(g, row, first + CELL_MARK, "*");
	return true;
}

int cells_bars(struct grid *g, unsigned row, unsigned first, const struct column *c,
	       const char *step, const char *measure, double low, double high)
{
	double *value = malloc((c->count + 1) * sizeof(*value));
	char *text = malloc(FIGURE_BARS_BYTES(c->count));
	int n = value && text ? column_values(c, step, measure, value) : -ENOMEM;

	if (n >= STAT_RUNS_LEAST && low < high)
		grid_cell(g, row, first + CELL_BARS,
			  figure_bars(value, (unsigned)n, low, high, text,
				      FIGURE_BARS_BYTES(c->count)));
	free(value);
	free(text);
	return n == -ENOMEM ? n : 0;
}

int cells_measure(const struct column *c, const char *step, const char *measure,
		  struct stat_summary *out)
{
	int r = column_measure(c, step, measure, out);

	if (r)
		memset(out, 0, sizeof(*out));
	return r == -ENOMEM ? r : 0;
}
