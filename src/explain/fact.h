/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_FACT_H
#define EXPLAIN_FACT_H
/* Named values with the line they come from, and conditions over them. */
#include <stdbool.h>
#include <stddef.h>

enum fact_unit {
	UNIT_HIDDEN,
	UNIT_FLAG,
	UNIT_COUNT,
	UNIT_PAGES,
	UNIT_BYTES,
	UNIT_RATIO,
	UNIT_TIMES,
	UNIT_NS,
	UNIT_TEXT
};

enum fact_id {
#define FACT(id, name, unit, label) FACT_##id,
#include "explain/fact_table.h"
#undef FACT
	FACT_IDS
};

struct fact_definition {
	const char *name;
	unsigned length; /* of the name */
	enum fact_unit unit;
	const char *label;
};

extern const struct fact_definition fact_definitions[FACT_IDS];

struct fact {
	bool known;
	double number;
	char text[160];
	int file; /* index of the source, -1: derived from several lines */
	int line;
};

struct facts {
	struct fact fact[FACT_IDS];
};

void fact_clear(struct facts *f);
void fact_number(struct facts *f, enum fact_id id, double value, int file, int line);
void fact_flag(struct facts *f, enum fact_id id, bool value, int file, int line);
/* Control characters are replaced; nothing is set when text is empty. */
void fact_text(struct facts *f, enum fact_id id, const char *text, int file, int line);
/* The value, or `otherwise` when it is not known. */
double fact_value(const struct facts *f, enum fact_id id, double otherwise);
static inline bool fact_known(const struct facts *f, enum fact_id id)
{
	return f->fact[id].known;
}
/* FACT_IDS when there is none. */
enum fact_id fact_find(const char *name, size_t length);
/* For people: "256 KiB", "92 %", "184 ms", "yes". Returns buf. */
char *fact_print(const struct facts *f, enum fact_id id, char *buf, size_t size);

/*
 * A condition: names of facts, numbers, + - * / < <= > >= == != && || ! ( ) and
 * has(name). A fact that is not known makes a comparison false; alone it is false.
 * *first receives the first fact named (FACT_IDS: none). False with *bad set when the
 * text is no condition.
 */
bool condition_holds(const char *text, const struct facts *f, enum fact_id *first, bool *bad);

/*
 * "order {order} ({bytes})": names in braces replaced. *missing is set when one is not
 * known, *bad when one does not exist. Returns buf, cut to size.
 */
char *template_fill(const char *text, const struct facts *f, char *buf, size_t size, bool *missing,
		    bool *bad);
#endif
