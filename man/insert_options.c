/* SPDX-License-Identifier: MIT */
/* Copies a manual page to standard output with the option table in place of a line "@OPTIONS@". */
#include <compactlab/scenario.h>
#include <string.h>

int main(int argc, char **argv)
{
	FILE *page = argc == 2 ? fopen(argv[1], "r") : NULL;
	char line[1024];
	int inserted = 0;

	if (!page) {
		fprintf(stderr, "usage: %s PAGE.in\n", argv[0]);
		return 2;
	}
	while (fgets(line, sizeof(line), page)) {
		if (strcmp(line, "@OPTIONS@\n")) {
			fputs(line, stdout);
		} else {
			cl_option_print(stdout, CL_OPTIONS_MAN);
			inserted++;
		}
	}
	fclose(page);
	return inserted == 1 && !fflush(stdout) && !ferror(stdout) ? 0 : 1;
}
