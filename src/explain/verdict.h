/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_VERDICT_H
#define EXPLAIN_VERDICT_H
/* From facts to one class, what speaks for and against it, and what would help. */
#include "explain/derive.h"
#include "explain/rule.h"

#define POINTS_MOST   24
#define REMEDIES_MOST 12
/* A class with fewer points than this is not named. */
#define POINTS_NEEDED 5

struct point {
	const struct rule *rule;
	char text[512];
	int file, line;
};

struct offered {
	const struct remedy *remedy;
	char what[512], effect[384], check[256];
};

struct incident {
	struct facts facts;
	struct zone_views zones;
	unsigned class, runner_up; /* runner_up: CLASSES when there is none */
	int score[CLASSES];
	double confidence, badness;
	char summary[768];
	unsigned pros, cons;
	struct point pro[POINTS_MOST], con[POINTS_MOST];
	unsigned remedies;
	struct offered remedy[REMEDIES_MOST];
	bool is_event; /* a report of the log; else counters and tables */
	int file, line;
};

/* Judge the facts of the incident and fill in the rest. */
void verdict_judge(struct incident *i);
/* Check the tables: every condition and template is well-formed. Number of faults. */
unsigned verdict_check_tables(void (*fault)(void *arg, const char *text), void *arg);
#endif
