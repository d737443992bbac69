/* SPDX-License-Identifier: MIT */
#include "cli/cli.h"
#include <compactlab/run.h>
#include <string.h>
#include <time.h>

static double seconds_since_first(void)
{
	static struct timespec first;
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (!first.tv_sec)
		first = now;
	return (double)(now.tv_sec - first.tv_sec) + (double)(now.tv_nsec - first.tv_nsec) / 1e9;
}

void progress_show(const struct cl_progress *p)
{
	unsigned width = cli_width(stderr), seconds = (unsigned)seconds_since_first();
	char line[256];

	if (!cli_can_rewrite(stderr))
		return;
	snprintf(line, sizeof(line), "[%u/%u] %s%s%s  %u:%02u", p->done, p->total, p->variant,
		 p->step ? ": " : "", p->step ? p->step : "", seconds / 60, seconds % 60);
	if (width && strlen(line) >= width)
		line[width - 1] = '\0'; /* a second line could not be cleared */
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
}

void progress_clear(void)
{
	if (!cli_can_rewrite(stderr))
		return;
	fprintf(stderr, "\r\033[K");
	fflush(stderr);
}
