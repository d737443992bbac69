/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_SCENARIO_H
#define SCENARIO_SCENARIO_H
/*
 * Inside of a loaded scenario; only files of this folder look here.
 *
 * Everything a file, an override section or --set says is one assignment: an option
 * of the table, which step or name it concerns, the text of the value, a rank and
 * where it was written. Their values are known to be well formed; whether they fit
 * together is seen when a plan is resolved (plan.c).
 */
#include "scenario/ini_text.h"
#include "scenario/option.h"

#define SCENARIO_BYTES     (1u << 20)
#define SCENARIO_KEYS      4096
#define SCENARIO_STEPS     64
#define SCENARIO_VARIANTS  32
#define SCENARIO_CHECKS    128
#define SCENARIO_PUBLISHED 512
#define SCENARIO_SETS      256
#define SCENARIO_SETTINGS  64 /* at the start of a run, and in each step */
#define SCENARIO_NAME      48 /* bytes of the name of a step, variant or check */
#define SCENARIO_VALUES    8  /* in struct published */

enum { BACKEND_MODEL, BACKEND_GUEST, BACKEND_HOST, BACKENDS };
extern const char *const scenario_backends[BACKENDS];

/* Later ones win. */
enum rank { RANK_FILE, RANK_ON, RANK_VARIANT, RANK_SET };

struct assignment {
	enum rank rank;
	int scope; /* backend of RANK_ON, variant of RANK_VARIANT, else -1 */
	const struct option *option;
	int step;         /* index, or -1 */
	char *key;        /* as messages name it: "hog.leave", "check.local" */
	const char *name; /* settings and checks: which, inside `key`; else "" */
	char *value;
	int line, continued; /* continued: first continuation line, or 0 */
	char *origin;        /* "--set hog.leave=1G"; NULL: the file */
};

struct scenario_step {
	char *name;
	enum step_kind kind;
	int line;
};

struct scenario_variant {
	char *name;
	int line;
};

struct scenario_published {
	struct published figures; /* its strings belong to the scenario */
	int line;
};

struct cl_scenario {
	char *file; /* as given */
	char *name;
	char *text; /* the file's own text, for scenario_serialize() */
	size_t length;
	char sha256[65];
	unsigned scale; /* divisor, 1 when none */
	unsigned steps, variants, assignments, published, checks, sets;
	bool shipped; /* may end in what scenario_serialize() adds */
	struct scenario_step step[SCENARIO_STEPS];
	struct scenario_variant variant[SCENARIO_VARIANTS];
	struct assignment *assignment;
	struct scenario_published *figures;
};

/* Index by name or -1. */
int scenario_step_find(const struct cl_scenario *s, const char *name);
int scenario_variant_find(const struct cl_scenario *s, const char *name);
int scenario_backend_find(const char *name);

/* What all sections of the text say, in three calls in this order (assign.c). */
int assign_sections(struct cl_scenario *s, const struct ini_text *t, struct cl_error *err);
int assign_keys(struct cl_scenario *s, const struct ini_text *t, struct cl_error *err);
/* One "SECTION.KEY" of rank RANK_SET. */
int assign_set(struct cl_scenario *s, const char *key, const char *value, struct cl_error *err);
/* A variant more, as `of` in all but the policy. */
int assign_twin(struct cl_scenario *s, int of, const char *policy, struct cl_error *err);

/*
 * The assignment that counts for a backend and variant (-1: for none), or NULL.
 * `name` is for settings and checks, "" otherwise.
 */
const struct assignment *assigned(const struct cl_scenario *s, int backend, int variant,
				  const struct option *o, int step, const char *name);
/* Is it in effect for this backend and variant? */
bool assignment_applies(const struct assignment *a, int backend, int variant);
/* cl_error_at() with the place of the assignment. */
int assignment_error(const struct cl_scenario *s, const struct assignment *a, struct cl_error *err,
		     const char *fmt, ...) __attribute__((format(printf, 4, 5)));
#endif
