/* SPDX-License-Identifier: MIT */
/*
 * check.h - assertions in three tiers, chosen when the library is built (-DMODEL_CHECK=0..2).
 *
 *   must(x)          tier 0, always compiled: a condition whose failure would make every later number a
 *                    lie and which costs nothing beside the work it guards (argument of a public call).
 *   check(x)         tier 1, default: internal invariants, O(1), e.g. "this page is a free head".
 *   check_slow(x)    tier 2, tests and sanitizer builds: may walk a list or a pageblock.
 *
 * A failing check prints file, line, expression, and the simulated time, and aborts: a model that went
 * on would report. Checks have no side effects; tier 0 compiles the expression for types only.
 */
#ifndef COMPACTLAB_MODEL_CHECK_H
#define COMPACTLAB_MODEL_CHECK_H

#ifndef MODEL_CHECK
#define MODEL_CHECK 1
#endif

_Noreturn void check_failed(const char *file, int line, const char *expr);

#define must(x) ((x) ? (void)0 : check_failed(__FILE__, __LINE__, #x))
#define CHECK_TYPES_ONLY(x) ((void)sizeof((x) ? 1 : 0))

#if MODEL_CHECK >= 1
#define check(x) must(x)
#else
#define check(x) CHECK_TYPES_ONLY(x)
#endif

#if MODEL_CHECK >= 2
#define check_slow(x) must(x)
#else
#define check_slow(x) CHECK_TYPES_ONLY(x)
#endif

/* Body of a function that is declared and not written yet: the library links, a call aborts by name. */
_Noreturn void check_not_yet(const char *function, ...);
#define NOT_YET(...) check_not_yet(__func__, ##__VA_ARGS__)

#define MUST_USE __attribute__((warn_unused_result))

#endif
