/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_EXPLAIN_H
#define COMPACTLAB_EXPLAIN_H
/*
 * Why memory could not be made contiguous, from the evidence people have.
 *
 * Evidence goes in (files, directories, archives, text, the running machine), an
 * explanation comes out: one or more incidents, the worst first, each with a class,
 * the facts with the line they were read from, what speaks for and against, and
 * what would help. Nothing is printed by adding evidence.
 *
 * Not thread-safe for one explanation; different explanations are independent.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

struct cl_explanation;

/* `raw`: quote the lines of the input, which may name hosts and users. */
int cl_explain_new(bool raw, struct cl_explanation **out);
void cl_explain_free(struct cl_explanation *e);

/*
 * Add a file, a directory (all files below it), a tar archive as cl_collect() writes it,
 * or "-" for standard input. What a file is, is decided by what it contains. A file that
 * holds no evidence is noted, not an error; -EINVAL or another errno when it cannot be
 * read at all.
 */
int cl_explain_add(struct cl_explanation *e, const char *path, struct cl_error *err);
/* The same for text in memory; `name` stands for the file in what is printed. */
int cl_explain_add_text(struct cl_explanation *e, const char *text, unsigned long length,
			const char *name, struct cl_error *err);
/*
 * A snapshot of a machine, compactlab-snapshot(5): its tables are evidence, and what-if starts from
 * its pages. -EINVAL when the file is none.
 */
int cl_explain_add_snapshot(struct cl_explanation *e, const char *path, struct cl_error *err);
/* Read the running machine; rates are measured over `seconds`. */
int cl_explain_live(struct cl_explanation *e, unsigned seconds, struct cl_error *err);

/* Conclude. -EINVAL when no evidence was found in anything that was added. */
int cl_explain_finish(struct cl_explanation *e, struct cl_error *err);

/*
 * After cl_explain_finish(): try the remedies on the model, in the state that /proc/pagetypeinfo
 * and /proc/zoneinfo of the evidence show; what comes of it is printed with the explanation. When
 * the evidence does not suffice, that is printed, and 0 returned. Takes seconds.
 */
int cl_explain_what_if(struct cl_explanation *e, struct cl_error *err);

/* After cl_explain_finish(): at least 1; 0 is the worst. */
unsigned cl_explain_incidents(const struct cl_explanation *e);
const char *cl_explain_class(const struct cl_explanation *e, unsigned i);   /* "C3" */
const char *cl_explain_summary(const struct cl_explanation *e, unsigned i); /* one sentence */

enum cl_explain_format { CL_EXPLAIN_TEXT, CL_EXPLAIN_MARKDOWN, CL_EXPLAIN_JSON };
/* `width` 0: do not wrap. Colour only in text. Returns 0 or a negative errno. */
int cl_explain_print(FILE *to, const struct cl_explanation *e, enum cl_explain_format format,
		     unsigned width, bool colour);

/* The tables behind a verdict: classes, rules, remedies. */
void cl_explain_rules(FILE *to);

/*
 * Write what explain can use of the running machine to one tar file (mode 0600): kernel
 * log, /proc and /sys files, /proc/vmstat twice, `seconds` apart. What could not be read
 * is named in *left_out (one a line, freed by the caller; NULL to ignore).
 */
int cl_collect(const char *path, unsigned seconds, char **left_out, struct cl_error *err);

#ifdef __cplusplus
}
#endif
#endif
