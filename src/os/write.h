/* SPDX-License-Identifier: MIT */
#ifndef OS_WRITE_H
#define OS_WRITE_H
/* Buffered writes, `bytes` in calls of `chunk_bytes` (or what is left), with a pause in between. */
#include <stdint.h>

int write_calls(int fd, const char *chunk, uint64_t chunk_bytes, uint64_t bytes, uint64_t pause_ns);
#endif
