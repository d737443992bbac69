/* SPDX-License-Identifier: MIT */
/* A fuzz target over files and folders, for compilers without libFuzzer. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "util/util.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned ran;

static int replay(const char *path)
{
	struct stat st;
	char *text;
	size_t length;
	struct dirent *e;
	int failed = 0;
	DIR *d;

	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
		if (file_read(path, &text, &length))
			return 1;
		LLVMFuzzerTestOneInput((const uint8_t *)text, length);
		free(text);
		ran++;
		return 0;
	}
	d = opendir(path);
	if (!d)
		return 1;
	while ((e = readdir(d))) {
		char *below = e->d_name[0] == '.' ? NULL : format("%s/%s", path, e->d_name);

		failed |= below ? replay(below) : 0;
		free(below);
	}
	closedir(d);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 1; i < argc; i++)
		if (replay(argv[i])) {
			fprintf(stderr, "cannot read %s\n", argv[i]);
			failed = 1;
		}
	printf("%u inputs\n", ran);
	return failed || !ran;
}
