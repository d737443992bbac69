/* SPDX-License-Identifier: MIT */
#ifndef UTIL_UTIL_H
#define UTIL_UTIL_H
/* Small things done in one place: parsing and printing sizes, reading files, running children. */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/*
 * "4096", "300M", "24G", "1.5G": binary units K M G T with an optional "iB" or "B",
 * a fraction only when the result is whole bytes. -EINVAL, -ERANGE.
 */
int size_parse(const char *text, uint64_t *bytes);
/* Largest unit that keeps the number exact: 4096 -> "4K". Returns buf. */
char *size_print(uint64_t bytes, char *buf, size_t size);
/* "250ns", "20us", "5ms", "2s", "3min". */
int duration_parse(const char *text, uint64_t *ns);
/* Three significant digits and a unit, for people: 1534 -> "1.53 us". Returns buf. */
char *duration_print(double ns, char *buf, size_t size);

/* Whole file as a null-terminated string, also from /proc. Caller frees. -errno. */
int file_read(const char *path, char **text, size_t *length);
/* All of it to a descriptor, in as many writes as it takes. -errno. */
int write_all(int fd, const void *data, size_t length);
/* One write(2) of the text, as kernel files need. -errno, -EIO when short. */
int file_write(const char *path, const char *text);
/* Text to a temporary file beside `path`, then renamed over it. */
int file_replace(const char *path, const void *data, size_t length);

/* Base64 with padding. NULL without memory; -EINVAL, -ENOMEM. The caller frees. */
char *base64_encode(const void *data, size_t size);
int base64_decode(const char *text, void **data, size_t *size);

/* Edit distance, for "did you mean"; transposed neighbours count 1. */
unsigned edit_distance(const char *a, const char *b);

/* asprintf() that returns NULL without memory. */
char *format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* "a, b and c" of the words; cut where buf ends. Returns buf. */
char *words_print(const char *const *word, size_t count, char *buf, size_t size);

/*
 * Run a program (found by PATH) and wait. Standard output is collected into *out
 * (NULL: discarded), standard error into *errors (same), each null-terminated and
 * freed by the caller. Standard input is /dev/null. Returns the exit status
 * (128+signal when killed) or a negative errno when it could not start.
 */
int child_run(const char *const argv[], char **out, char **errors);

/* splitmix64: the next number of the stream whose state is *s. Same on every machine. */
uint64_t random_next(uint64_t *s);
/* Uniform in [0, n). */
uint64_t random_below(uint64_t *s, uint64_t n);
#endif
