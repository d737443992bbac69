/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_OPTION_H
#define SCENARIO_OPTION_H
/*
 * The option table: one row for every key a scenario file may hold.
 *
 * Parsing, error messages, `compactlab list steps` and the OPTIONS part of
 * compactlab-scenario(5) all come from these rows, so a key that is not here does
 * not exist and one that is here is documented.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "scenario/plan.h"

enum option_section {
	SECTION_EXPERIMENT, /* offset: in struct experiment */
	SECTION_MACHINE,    /* offset: in struct machine */
	SECTION_VARIANT,    /* offset: in struct plan */
	SECTION_STEP,       /* offset: in struct step; `kind` says of which, STEP_KINDS: of all */
	SECTION_SETTING, /* vm.*, thp.*, lru_gen.*: [machine], [variant], [on], --set, set steps */
	SECTION_PUBLISHED,
	SECTION_CHECK,
	SECTION_ON,
	SECTIONS
};

enum option_type {
	OPT_AMOUNT,   /* struct amount: a size, or a share of free memory */
	OPT_SIZE,     /* uint64_t */
	OPT_SIZES,    /* uint64_t[PLAN_MAX_NODES], count at count_offset */
	OPT_UINT,     /* unsigned */
	OPT_UINT64,   /* uint64_t */
	OPT_UINTS,    /* uint32_t[PLAN_MAX_NODES], all of at least 1, the rest 0 */
	OPT_BOOL,     /* only `skip`, which no plan holds */
	OPT_ENUM,     /* an enum; the first word is `word_base` */
	OPT_DURATION, /* uint64_t ns */
	OPT_SHARE,    /* uint32_t parts per million */
	OPT_NODE,     /* int; the single word in `words` means PLAN_NODE_ANY */
	OPT_NODES,    /* struct node_list */
	OPT_STEP,     /* unsigned: index of an earlier step whose kind is in `kinds` */
	OPT_TEXT,     /* char *, any text, may continue on further lines */
	OPT_NAME,     /* char *, one word without blanks */
	OPT_PATH,     /* char *, a file below /proc or /sys */
	OPT_MEASURES, /* char **, count at count_offset */
	OPT_SETTING,  /* text for a kernel file */
	OPT_NUMBERS,  /* published figures */
	OPT_RELATION, /* of a check */
	OPT_OVERRIDE, /* stands for the keys of other sections; documentation only */
};

enum option_flag {
	OPTION_REQUIRED = 1, /* has no default and no step is complete without it */
	OPTION_SCALES = 2,   /* divided by --scale */
	OPTION_FIXED = 4,    /* cannot be overridden */
};

struct option {
	enum option_section section;
	enum step_kind kind;
	const char *key; /* in capitals: a place holder */
	enum option_type type;
	unsigned flags;
	const char *unit; /* of plain numbers, for people; may be NULL */
	uint64_t min, max;
	uint64_t align;    /* sizes: multiple of this; 0: any */
	const char *words; /* "anon|shmem"; settings with fixed words have them too */
	unsigned word_base;
	unsigned kinds;       /* OPT_STEP: 1 << STEP_FILL | ... */
	const char *fallback; /* default, as one would write it; NULL: none */
	size_t offset, count_offset;
	const char *help;    /* whole sentences for users */
	const char *mirrors; /* what it is in Linux; may be NULL */
};

extern const struct option option_table[];
extern const unsigned option_count;

/*
 * The row of a key, or NULL. `kind` counts in SECTION_STEP only. Settings are found
 * in SECTION_SETTING, those without a row of their own as the row "vm.NAME",
 * "thp.NAME" or "lru_gen.NAME".
 */
const struct option *option_find(enum option_section section, enum step_kind kind, const char *key);

/* Does the key have the form of a setting: "vm.NAME", "lru_gen.NAME", or "thp.NAME" with folders?
 */
bool option_is_setting(const char *key);

/* The word itself in `words` or -1. */
int option_word(const char *words, const char *word);

/* One sentence about a kind of step, and about a section. */
const char *option_kind_help(enum step_kind kind);
const char *option_section_help(enum option_section section);

/* What the type's values look like, for people, such as "size such as 300M". */
const char *option_type_help(const struct option *o);

/* `min` or `max` of a row, as one would write it. Returns buf. */
char *option_limit(const struct option *o, uint64_t limit, char *buf, size_t size);

/*
 * "Did you mean": feed candidates, then ask. A candidate counts when it is one slip
 * away, or two in words of six letters and more.
 */
struct suggestion {
	const char *word;
	const char *best;
	unsigned distance;
};
void suggestion_consider(struct suggestion *s, const char *candidate);
/* Each of "a|b|c". The text must stay where it is; *copy holds the winner. */
void suggestion_consider_words(struct suggestion *s, const char *words, char copy[64]);
#endif
