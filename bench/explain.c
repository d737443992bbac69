/* SPDX-License-Identifier: MIT */
/*
 * bench-explain PROGRAM SOURCE INPUT [HEADING]: the file SOURCE over and over into INPUT, up to 100
 * MB, each time with another number as the seconds of kernel times and behind HEADING; then
 * seconds, seconds of CPU and peak memory of `PROGRAM explain --json INPUT`, and the class that it
 * finds.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double cpu_seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) / 1e6;
}

/* The first class of the object; the rest is read so that the program can write it. */
static void read_class(FILE *from, char *class, size_t size)
{
	char line[4096];

	snprintf(class, size, "-");
	while (fgets(line, sizeof(line), from)) {
		const char *at = strstr(line, "\"class\": \"");

		if (at && class[0] == '-')
			snprintf(class, size, "%.*s", (int)strcspn(at + 10, "\""), at + 10);
	}
}

#define INPUT_BYTES 100000000

/* "[  392.1] text" with other seconds; any other line as it is. */
static int put_line(FILE *to, const char *line, unsigned long n)
{
	size_t at = 1;

	if (*line != '[')
		return fprintf(to, "%s", line);
	at += strspn(line + at, " ");
	if (!isdigit((unsigned char)line[at]))
		return fprintf(to, "%s", line);
	at += strspn(line + at, "0123456789");
	return fprintf(to, "[%lu%s", n, line + at);
}

static int make_input(const char *source, const char *input, const char *heading)
{
	static char line[1000][4096];
	FILE *from = fopen(source, "r"), *to = fopen(input, "w");
	long size = 0;
	size_t lines = 0;

	if (!from || !to)
		return -1;
	while (lines < 1000 && fgets(line[lines], sizeof(line[0]), from))
		lines++;
	fclose(from);
	for (unsigned long n = 1; lines && size < INPUT_BYTES; n++) {
		if (heading)
			size += fprintf(to, "%s %lu\n", heading, n);
		for (size_t i = 0; i < lines; i++)
			size += put_line(to, line[i], n);
	}
	return fclose(to) || !lines ? -1 : 0;
}

int main(int argc, char **argv)
{
	double begin;
	struct rusage usage;
	char class[16];
	int out[2], status;
	pid_t child;
	FILE *from;

	if (argc < 4 || make_input(argv[2], argv[3], argv[4])) {
		fprintf(stderr, "usage: bench-explain PROGRAM SOURCE INPUT [HEADING]\n");
		return 2;
	}
	begin = now();
	if (pipe(out) || (child = fork()) < 0)
		return 3;
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(argv[1], argv[1], "explain", "--json", argv[3], (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	from = fdopen(out[0], "r");
	if (!from)
		return 3;
	read_class(from, class, sizeof(class));
	fclose(from);
	if (wait4(child, &status, 0, &usage) != child || status)
		return 3;
	printf("%6.2f s %6.2f s CPU %6.1f MiB  %s\n", now() - begin, cpu_seconds(&usage),
	       (double)usage.ru_maxrss / 1024, class);
	return 0;
}
