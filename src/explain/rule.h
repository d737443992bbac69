/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_RULE_H
#define EXPLAIN_RULE_H
/*
 * The tables that a verdict is made of. They are data: a rule is added by adding a row.
 */
#include "explain/fact.h"

#define CLASSES 17 /* C0 to C16 */

struct class_sentence {
	const char *condition; /* NULL: always */
	const char *text;      /* template; used when every fact it names is known */
};

struct class_definition {
	const char *id, *name;
	unsigned severity; /* of several incidents, the higher is the worse */
	struct class_sentence sentence[12];
};

/*
 * When the condition holds, `weight` counts for the class (against it when negative).
 * The text is a template over the facts.
 */
struct rule {
	const char *id;
	unsigned class; /* 3 is C3 */
	int weight;
	const char *condition;
	const char *text;
	const char *reference;
};

/* Remedies of a class stand in the order in which they are offered. */
struct remedy {
	unsigned class;
	const char *id;
	const char *condition; /* NULL: always */
	const char *what;
	const char *effect; /* predicted */
	const char *cost;
	const char *check; /* which counter proves it */
	bool root, reboot;
};

/* Requesters that are known by name. */
struct known {
	const char *function; /* or NULL; a trailing '*' matches any rest */
	const char *module;   /* or NULL */
	const char *what;
	const char *fix;
};

extern const struct class_definition class_table[CLASSES];
extern const struct rule rule_table[];
extern const unsigned rule_count;
extern const struct remedy remedy_table[];
extern const unsigned remedy_count;
extern const struct known known_table[];
extern const unsigned known_count;
#endif
