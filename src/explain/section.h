/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_SECTION_H
#define EXPLAIN_SECTION_H
/* Which table a line belongs to, and what to do with a table when it is over. */
#include "explain/evidence.h"
#include "explain/requester.h"

enum section {
	SECTION_NONE,
	SECTION_VMSTAT, /* also tables of changes and diffs */
	SECTION_BUDDY,
	SECTION_TYPES,
	SECTION_ZONES,
	SECTION_MEMINFO,
	SECTION_EXTFRAG,
	SECTION_SLAB,
	SECTION_SAR
};

/* What was seen on the way that decides how a table is read. */
struct section_hints {
	bool changes; /* its name or heading says that the numbers are differences */
	bool three;   /* a row with three columns */
	bool marks;   /* '+', '-', '<', '>' in front */
	double clock; /* seconds of a day, < 0: not known */
};

/* The table of the line, given the one that is open; SECTION_NONE: of none. */
enum section section_of(struct span line, enum section open, unsigned keywords);
/* What names a row: a second time, and the table begins anew. */
void section_key(enum section s, struct span line, char *key, size_t size);
void section_hint(struct section_hints *h, enum section s, struct span line);
void section_heading(struct section_hints *h, struct span heading);
/* "02:39:15" or, in a file's name, "023915". < 0: none. */
double section_clock(struct span text, bool name);
/* The table is complete: parse it into the evidence. */
void section_parse(struct evidence *e, enum section s, const struct section_hints *h,
		   const char *text, size_t length, int file, int line);
/* Function names without offsets, as bpftrace and flame graphs print them. */
bool stack_words(struct evidence *e, int file, int line, struct span text);
#endif
