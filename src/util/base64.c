/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "util/util.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t size)
{
	const unsigned char *in = data;
	char *text = malloc((size + 2) / 3 * 4 + 1), *out = text;

	for (size_t i = 0; text && i < size; i += 3) {
		size_t n = size - i < 3 ? size - i : 3;
		uint32_t v = (uint32_t)in[i] << 16;

		v |= n > 1 ? (uint32_t)in[i + 1] << 8 : 0;
		v |= n > 2 ? in[i + 2] : 0;
		for (size_t k = 0; k < 4; k++)
			*out++ = k <= n ? alphabet[v >> (18 - 6 * k) & 63] : '=';
	}
	if (text)
		*out = '\0';
	return text;
}

int base64_decode(const char *text, void **data, size_t *size)
{
	size_t length = strlen(text), used = 0;
	unsigned char *out;

	if (length % 4)
		return -EINVAL;
	out = malloc(length / 4 * 3 + 1);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < length; i += 4) {
		size_t n = 4;
		uint32_t v = 0;

		while (i + 4 == length && n > 2 && text[i + n - 1] == '=')
			n--;
		for (size_t k = 0; k < 4; k++) {
			const char *at = k < n ? strchr(alphabet, text[i + k]) : alphabet;

			if (!at || !*at) {
				free(out);
				return -EINVAL;
			}
			v = v << 6 | (uint32_t)(at - alphabet);
		}
		for (size_t k = 0; k + 1 < n; k++)
			out[used++] = (unsigned char)(v >> (16 - 8 * k));
	}
	*data = out;
	*size = used;
	return 0;
}
