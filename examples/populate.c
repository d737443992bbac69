/* SPDX-License-Identifier: MIT */
/*
 * The smallest use: a buffer of huge pages on the node this thread runs on.
 *
 *   cc populate.c $(pkg-config --cflags --libs compactlab-populate) -o populate
 *   ./populate 1024            MiB
 */
#include <compactlab/populate.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t size = (size_t)(argc > 1 ? atoi(argv[1]) : 256) << 20;
	struct cl_populate_options options = CL_POPULATE_OPTIONS_INIT;
	struct cl_populate_receipt receipt = {.size = sizeof(receipt)};
	void *buffer = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int error;

	if (buffer == MAP_FAILED) {
		perror("mmap");
		return 1;
	}
	options.policy = CL_POPULATE_PREFER; /* this node first, then others */
	options.timeout_ns = 30000000000;
	error = cl_populate(buffer, size, &options, &receipt);
	printf("%s\n", receipt.text);
	if (error)
		fprintf(stderr, "cl_populate: %s\n", strerror(-error));
	munmap(buffer, size);
	return error != 0;
}
