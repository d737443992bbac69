/* SPDX-License-Identifier: MIT */
#ifndef SCENARIO_VALUE_H
#define SCENARIO_VALUE_H
/* The text of a value into its typed form, by the row of its option. */
#include "scenario/option.h"

/*
 * Convert and store at the option's offset in `base`, divided by `divisor` when the
 * option scales. With `base` NULL the text is only checked. On -EINVAL err->what is
 * the predicate of a sentence whose subject is the key: "'3x' is not a size". Types
 * that name other parts of the scenario (steps, measures, settings) are checked for
 * form only; text is allocated.
 */
int value_convert(const struct option *o, const char *text, unsigned divisor, void *base,
		  struct cl_error *err);

/* May a value of this type go on in further lines? */
bool value_continues(enum option_type type);

/* Published figures: numbers or times. *count is set to how many there are, at most `room`. */
int value_numbers(const char *text, double *out, unsigned room, unsigned *count,
		  struct cl_error *err);

/*
 * Next item of a list whose items are parted by blanks and single commas. Copies it to
 * `item` and leaves *text behind it. 1: an item, 0: the end, -EINVAL: an item is empty
 * or too long.
 */
int value_item(const char **text, char *item, size_t size);
#endif
