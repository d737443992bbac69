/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_KEYWORD_H
#define EXPLAIN_KEYWORD_H
/*
 * Which lines are worth a closer look: one pass over the bytes for all words at once, so
 * that the size of a log hardly matters.
 */
#include <stddef.h>

enum keyword {
	KEYWORD_LOG = 1 << 0,     /* a line of a kernel report */
	KEYWORD_NODE = 1 << 1,    /* "Node " */
	KEYWORD_VMSTAT = 1 << 2,  /* a counter's name */
	KEYWORD_MEMINFO = 1 << 3, /* a line of meminfo */
	KEYWORD_SETTING = 1 << 4,
	KEYWORD_PERCENT = 1 << 5,
	KEYWORD_TRACE = 1 << 6,
	KEYWORD_STACK = 1 << 7, /* function+0x */
	KEYWORD_GRAPH = 1 << 8, /* " us |" */
	KEYWORD_SAR = 1 << 9,
	KEYWORD_DAEMON = 1 << 10,
	KEYWORD_SLAB = 1 << 11,
	KEYWORD_POOL = 1 << 12,
	KEYWORD_TYPES = 1 << 13,   /* headings of pagetypeinfo */
	KEYWORD_BEGIN = 1 << 15,   /* with KEYWORD_LOG: a report may begin here */
	KEYWORD_FUNCTION = 1 << 14 /* a function's name without offset */
};

struct keywords; /* the compiled table; read only */

struct keywords *keywords_new(void);
void keywords_free(struct keywords *k);
/* The set of keywords in the text. */
unsigned keywords_in(const struct keywords *k, const char *text, size_t length);
#endif
