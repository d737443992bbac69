/* SPDX-License-Identifier: MIT */
/*
 * bench-explain PROGRAM FILE: seconds and peak memory of one `PROGRAM explain --json FILE`, and the class
 * it finds.
 */
#include <fcntl.h>
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

int main(int argc, char **argv)
{
	double begin = now();
	struct rusage usage;
	char class[16];
	int out[2], status;
	pid_t child;
	FILE *from;

	if (argc != 3 || pipe(out) || (child = fork()) < 0) {
		fprintf(stderr, "usage: bench-explain PROGRAM FILE\n");
		return 2;
	}
	if (!child) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execl(argv[1], argv[1], "explain", "--json", argv[2], (char *)NULL);
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
	printf("%6.2f s %6.1f MiB  %s\n", now() - begin, (double)usage.ru_maxrss / 1024, class);
	return 0;
}
