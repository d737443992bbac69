/* SPDX-License-Identifier: MIT */
#ifndef RESULT_GRID_H
#define RESULT_GRID_H
/*
 * A table of text: one column of labels, then groups of columns under a common
 * heading. Groups that do not fit the width go into further blocks below, each with
 * the labels again; a glued group stays in the block of the one before it. Columns
 * without any text are left out.
 *
 * An allocation that fails is remembered; grid_print() then returns -ENOMEM.
 */
#include <stdbool.h>
#include <stdio.h>

enum grid_align { GRID_LEFT, GRID_RIGHT };

#define GRID_HEADINGS 2

struct grid;

/* `title` stands above the labels. */
struct grid *grid_new(const char *title);
void grid_free(struct grid *g);

/*
 * Add a group with `columns` columns; `align` has one letter for each, 'l' or 'r'.
 * Returns the index of its first column. `below` is a second heading or NULL.
 */
unsigned grid_group(struct grid *g, const char *heading, const char *below, const char *align,
		    bool glued);

/* Add a row; all groups must be there. Returns its index. */
unsigned grid_row(struct grid *g, const char *label);
unsigned grid_rows(const struct grid *g);
void grid_cell(struct grid *g, unsigned row, unsigned column, const char *text);

/* `width` 0: unlimited. With `colour` the headings are bold. */
int grid_print(FILE *to, const struct grid *g, unsigned width, bool colour);
#endif
