/* SPDX-License-Identifier: MIT */
#ifndef TEST_BACKEND_H
#define TEST_BACKEND_H
/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */
#include <errno.h>
#include <stdbool.h>

/* The first 16 KiB of a bzImage of the given release, as the boot protocol lays it out. */
#define FAKE_IMAGE_BYTES 16384
static inline void fake_image(uint8_t *image, const char *release)
{
	const unsigned text_at = 0x3000;

	memset(image, 0, FAKE_IMAGE_BYTES);
	memcpy(image + 0x202, "HdrS", 4);
	image[0x206] = 0x0f; /* protocol 2.15 */
	image[0x207] = 0x02;
	image[0x20e] = (text_at - 0x200) & 0xff;
	image[0x20f] = (text_at - 0x200) >> 8;
	image[0x211] = 0x01; /* loaded high */
	snprintf((char *)image + text_at, 256, "%s (someone@example.org) #1 SMP", release);
}
#endif
