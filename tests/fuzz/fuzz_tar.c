/* SPDX-License-Identifier: MIT */
/*
 * Any bytes as an archive, handed over in portions: calls come in order (a file begins before
 * its bytes and ends after them), and no file gets more bytes than the archive has.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "explain/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct watch {
	bool open;
	size_t bytes, most;
};

static void must(int condition)
{
	if (!condition)
		abort();
}

static int file(void *arg, const char *name)
{
	struct watch *w = arg;

	must(!w->open && strlen(name) < 260);
	w->open = true;
	return name[0] == '!' ? -1 : 0; /* a caller may refuse a file */
}

static int bytes(void *arg, const char *text, size_t length)
{
	struct watch *w = arg;
	volatile char last;

	must(w->open && length);
	last = text[length - 1];
	(void)last;
	w->bytes += length;
	must(w->bytes <= w->most);
	return 0;
}

static void end(void *arg)
{
	struct watch *w = arg;

	must(w->open);
	w->open = false;
}

/* Chance does not find a sum: every block that looks like a header gets its own. */
static void mend_sums(char *text, size_t size)
{
	for (size_t at = 0; at + 512 <= size; at += 512) {
		char *block = text + at, digits[16];
		unsigned sum = 0;

		if (memcmp(block + 257, "ustar", 5) != 0)
			continue;
		memset(block + 148, ' ', 8);
		for (unsigned i = 0; i < 512; i++)
			sum += (unsigned char)block[i];
		snprintf(digits, sizeof(digits), "%06o", sum);
		memcpy(block + 148, digits, 7);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct watch w = {.most = size};
	struct tar_reader *r;
	char *text;
	size_t portion, at = 0;
	int code = 0;

	if (size < 2)
		return 0;
	portion = 1 + *data++ * 5u;
	size--;
	text = malloc(size);
	must(text != NULL);
	memcpy(text, data, size);
	/* Every other size of portion leaves the sums as they are. */
	if (portion % 2)
		mend_sums(text, size);
	tar_is(text, size);
	r = tar_reader_new(&(struct tar_calls){file, bytes, end}, &w);
	must(r != NULL);
	while (!code && at < size) {
		size_t n = size - at < portion ? size - at : portion;
		char *copy = malloc(n);

		must(copy != NULL);
		memcpy(copy, text + at, n);
		code = tar_reader_bytes(r, copy, n);
		free(copy);
		at += n;
	}
	if (code == -1)
		w.open = false; /* refused: it has no end */
	tar_reader_end(r);
	must(!w.open);
	free(text);
	free(r);
	return 0;
}
