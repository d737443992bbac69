/* SPDX-License-Identifier: MIT */
#ifndef RESULT_RELATION_H
#define RESULT_RELATION_H
/*
 * Relations between measures, as [check] lines state them:
 *
 *   relation  = sum ("<" | "<=" | "==" | "!=" | ">=" | ">") sum
 *   sum       = product {("+" | "-") product}
 *   product   = factor {("*" | "/") factor}
 *   factor    = "-" factor | "(" sum ")" | number | measure
 *             | ("min" | "max" | "median") "(" sum ")"
 *   measure   = VARIANT "." STEP "." NAME
 *
 * A word is letters, digits and "_ . + -", so that variants may be called
 * "defer-async-v3" or "6.12+fix"; a minus therefore needs a blank before it where a
 * word stands there. STEP and NAME have no dot; all before them is the variant.
 * "all" as VARIANT stands for each variant that ran.
 *
 * min() and the others are over the repeats of the one variant named inside.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include "scenario/plan.h"

enum node_kind {
	NODE_NUMBER,
	NODE_MEASURE,
	NODE_NEGATE,
	NODE_ADD,
	NODE_SUBTRACT,
	NODE_MULTIPLY,
	NODE_DIVIDE,
	NODE_MIN,
	NODE_MAX,
	NODE_MEDIAN
};

struct node {
	enum node_kind kind;
	int column;                  /* 1-based, in the relation's text */
	double number;               /* NODE_NUMBER */
	char *variant, *step, *name; /* NODE_MEASURE */
	struct node *left, *right;   /* operands; one operand is `left` */
};

enum relation_compare { LESS, LESS_EQUAL, EQUAL, NOT_EQUAL, GREATER_EQUAL, GREATER };

struct relation {
	enum relation_compare compare;
	struct node *left, *right;
};

/* -EINVAL says what is wrong and at which column; err->file and line are left empty. */
int relation_parse(const char *text, struct relation **out, struct cl_error *err);
/* The same for a line of a scenario: the error says which check, in which file and line. */
int relation_parse_check(const struct check_line *check, struct relation **out,
			 struct cl_error *err);
void relation_free(struct relation *r);

const char *relation_sign(enum relation_compare c); /* "<=" */
bool relation_holds(enum relation_compare c, double left, double right);

/* Call `visit` on every measure, left to right, until one returns other than 0. */
int relation_measures(const struct relation *r, int (*visit)(const struct node *n, void *arg),
		      void *arg);
int node_measures(const struct node *n, int (*visit)(const struct node *n, void *arg), void *arg);
#endif
