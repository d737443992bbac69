/* SPDX-License-Identifier: MIT */
#ifndef COMPACTLAB_SCENARIO_H
#define COMPACTLAB_SCENARIO_H
/*
 * A scenario: one experiment on contiguous memory, as a text file.
 *
 * The file format is described in compactlab-scenario(5), which is printed from
 * the same option table that drives the parser. A loaded scenario is a list of
 * assignments "section.key = value", each with its file and line. Overrides are
 * more assignments of the same kind with a higher rank:
 *
 *     the file's own sections  <  [on BACKEND]  <  [variant NAME]  <  --set
 *
 * Values become typed numbers only when a run is planned, so an override can
 * correct any value and every message can name the line that is to blame.
 */
#include <compactlab/error.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif

struct cl_scenario; /* opaque; not modified by anything but cl_scenario_set() */

/*
 * Read and check a scenario file. Every section and key is checked, for every
 * backend and variant, so that a mistake is found before anything runs.
 * Returns 0 and a scenario that the caller frees, or a negative errno.
 */
int cl_scenario_load(const char *path, struct cl_scenario **out, struct cl_error *err);

/* As cl_scenario_load() on text in memory; `name` stands in for the path in messages. */
int cl_scenario_parse(const char *text, unsigned long length, const char *name,
		      struct cl_scenario **out, struct cl_error *err);
void cl_scenario_free(struct cl_scenario *s);

/* Apply one "section.key=value" with the highest rank, as --set does. */
int cl_scenario_set(struct cl_scenario *s, const char *assignment, struct cl_error *err);

/*
 * Divide every absolute size and count that scales by `divisor` (--scale 1/N), whatever
 * section it is from. What cl_scenario_set() gave, before or after, is not divided. A
 * value that becomes too small is an error when a run is planned.
 */
int cl_scenario_scale(struct cl_scenario *s, unsigned divisor, struct cl_error *err);

/*
 * Add, for each variant that runs mainline, a twin that differs in the policy alone, called
 * VARIANT+POLICY; none where some variant asks for this policy already.
 */
int cl_scenario_add_policy(struct cl_scenario *s, const char *policy, struct cl_error *err);

const char *cl_scenario_name(const struct cl_scenario *s);   /* file name without .ini */
const char *cl_scenario_title(const struct cl_scenario *s);  /* [experiment] title */
const char *cl_scenario_sha256(const struct cl_scenario *s); /* of the file, 64 hex digits */

/* The option table, for people: what `compactlab list steps` and the manual print. */
enum cl_option_format { CL_OPTIONS_TEXT, CL_OPTIONS_MAN };
void cl_option_print(FILE *to, enum cl_option_format format);

#ifdef __cplusplus
}
#endif
#endif
