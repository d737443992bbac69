/* SPDX-License-Identifier: MIT */
/* A program that cannot be changed: asks for huge pages and says what is present. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv)
{
	size_t mib = argc > 1 ? (size_t)atoi(argv[1]) : 64, size = mib << 20, n = 0;
	unsigned char *vec = malloc(size / 4096);
	char *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (!vec || at == MAP_FAILED || madvise(at, size, MADV_HUGEPAGE) || mincore(at, size, vec))
		return 1;
	for (size_t i = 0; i < size / 4096; i++)
		n += vec[i] & 1;
	printf("%zu of %zu MiB present\n", n * 4096 >> 20, mib);
	free(vec);
	return 0;
}
