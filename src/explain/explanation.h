/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_EXPLANATION_H
#define EXPLAIN_EXPLANATION_H
/* The object behind compactlab/explain.h. */
#include <compactlab/explain.h>
#include "explain/prediction.h"
#include "explain/verdict.h"

#define INCIDENTS_MOST 32
#define EXPLAIN_SCHEMA 1

struct cl_explanation {
	struct evidence evidence;
	unsigned incidents;
	struct incident *incident[INCIDENTS_MOST]; /* the worst first */
	unsigned incidents_lost;
	bool finished;
	struct what_if what_if;
	char *snapshot; /* file that the tables are from, for what-if */
};

/* "name:12", or "" for what was derived from several lines. Returns buf. */
char *explanation_place(const struct cl_explanation *x, int file, int line, char *buf, size_t size);

int report_text(FILE *to, const struct cl_explanation *x, unsigned width, bool colour);
int report_markdown(FILE *to, const struct cl_explanation *x);
int report_json(FILE *to, const struct cl_explanation *x);
#endif
