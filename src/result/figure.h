/* SPDX-License-Identifier: MIT */
#ifndef RESULT_FIGURE_H
#define RESULT_FIGURE_H
/*
 * Numbers as people read them. What a number means follows from the measure's name:
 * "..._ns" is a duration, "bytes" and "..._bytes" a size, all else a count.
 * Each returns buf.
 */
#include <stdbool.h>
#include <stddef.h>

bool figure_is_time(const char *measure);

char *figure_print(const char *measure, double value, char *buf, size_t size);

/*
 * One block a value, in their order, as high as it is between `min` and `max`: what repeats gave,
 * seen at a glance.
 */
#define FIGURE_BARS_BYTES(count) ((count)*3 + 1)
char *figure_bars(const double *value, unsigned count, double min, double max, char *buf,
		  size_t size);

/* "[504..540 ms]": the unit once where both ends share it. */
char *figure_range(const char *measure, double min, double max, char *buf, size_t size);

/*
 * "(-26.6%)". A change from 0 has no percentage: it is shown as the difference,
 * "(+5)", and 0 to 0 as "(0.0%)".
 */
char *figure_change(const char *measure, double from, double to, char *buf, size_t size);
#endif
