/* SPDX-License-Identifier: MIT */
#include "result/figure.h"
#include "util/util.h"
#include <string.h>

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), tail = strlen(end);

	return length >= tail && !strcmp(text + length - tail, end);
}

bool figure_is_time(const char *measure)
{
	return ends_with(measure, "_ns");
}

static bool figure_is_size(const char *measure)
{
	return ends_with(measure, "_bytes") || !strcmp(measure, "bytes") ||
	       ends_with(measure, ".bytes");
}

static double magnitude(double value)
{
	return value < 0 ? -value : value;
}

static bool is_whole(double value)
{
	return magnitude(value) < 1e18 && value == (double)(int64_t)value;
}

static char *count_print(double value, char *buf, size_t size)
{
	if (is_whole(value) || magnitude(value) >= 1e6)
		snprintf(buf, size, "%.0f", value);
	else if (magnitude(value) >= 10)
		snprintf(buf, size, "%.1f", value);
	else
		snprintf(buf, size, "%.3g", value);
	return buf;
}

char *figure_print(const char *measure, double value, char *buf, size_t size)
{
	char text[32];
	double plain = magnitude(value);

	if (figure_is_time(measure))
		duration_print(plain, text, sizeof(text));
	else if (figure_is_size(measure) && is_whole(plain))
		size_print((uint64_t)plain, text, sizeof(text));
	else
		return count_print(value, buf, size);
	snprintf(buf, size, "%s%s", value < 0 ? "-" : "", text);
	return buf;
}

char *figure_range(const char *measure, double min, double max, char *buf, size_t size)
{
	char low[40], high[40], *unit_low, *unit_high;

	figure_print(measure, min, low, sizeof(low));
	figure_print(measure, max, high, sizeof(high));
	unit_low = strchr(low, ' ');
	unit_high = strchr(high, ' ');
	if (unit_low && unit_high && !strcmp(unit_low, unit_high))
		*unit_low = '\0';
	snprintf(buf, size, "[%s..%s]", low, high);
	return buf;
}

char *figure_bars(const double *value, unsigned count, double min, double max, char *buf,
		  size_t size)
{
	static const char *const bar[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	const int heights = sizeof(bar) / sizeof(bar[0]);
	size_t used = 0;

	buf[0] = '\0';
	for (unsigned i = 0; i < count && used + 4 <= size; i++) {
		double part = max > min ? (value[i] - min) / (max - min) : 0;
		int height = (int)(part * heights);

		used += (size_t)snprintf(buf + used, size - used, "%s",
					 bar[height < heights ? height : heights - 1]);
	}
	return buf;
}

char *figure_change(const char *measure, double from, double to, char *buf, size_t size)
{
	char text[40];
	double percent;

	if (from == 0 && to != 0) {
		figure_print(measure, to, text, sizeof(text));
		snprintf(buf, size, "(%s%s)", to > 0 ? "+" : "", text);
		return buf;
	}
	percent = from == 0 ? 0 : (to - from) / magnitude(from) * 100;
	if (magnitude(percent) < 0.05)
		snprintf(buf, size, "(0.0%%)");
	else
		snprintf(buf, size, "(%+.*f%%)", magnitude(percent) < 999.5 ? 1 : 0, percent);
	return buf;
}
