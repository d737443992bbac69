/* SPDX-License-Identifier: MIT */
#include "util/util.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

char *format(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	return text;
}

char *words_print(const char *const *word, size_t count, char *buf, size_t size)
{
	size_t used = 0;

	*buf = '\0';
	for (size_t i = 0; i < count && used < size; i++) {
		const char *before = !i ? "" : i + 1 == count ? " and " : ", ";
		int n = snprintf(buf + used, size - used, "%s%s", before, word[i]);

		used += n > 0 ? (size_t)n : 0;
	}
	return buf;
}

#define EDIT_LONGEST 64

/* Optimal string alignment over three rows. Longer words are never a near miss. */
unsigned edit_distance(const char *a, const char *b)
{
	size_t la = strlen(a), lb = strlen(b);
	unsigned row[3][EDIT_LONGEST + 1];

	if (la > EDIT_LONGEST || lb > EDIT_LONGEST)
		return strcmp(a, b) ? EDIT_LONGEST : 0;
	for (size_t j = 0; j <= lb; j++)
		row[0][j] = (unsigned)j;
	for (size_t i = 1; i <= la; i++) {
		unsigned *now = row[i % 3], *up = row[(i + 2) % 3], *upup = row[(i + 1) % 3];

		now[0] = (unsigned)i;
		for (size_t j = 1; j <= lb; j++) {
			unsigned best = up[j - 1] + (a[i - 1] != b[j - 1]);

			if (up[j] + 1 < best)
				best = up[j] + 1;
			if (now[j - 1] + 1 < best)
				best = now[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    upup[j - 2] + 1 < best)
				best = upup[j - 2] + 1;
			now[j] = best;
		}
	}
	return row[la % 3][lb];
}
