/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_WIRE_H
#define BACKEND_GUEST_WIRE_H
/*
 * What the program in a guest tells the one outside, over the second serial port.
 *
 * One message a line: WORD LENGTH TEXT, where LENGTH counts the bytes of TEXT, which
 * holds no newline. A serial port may lose a byte; the length shows it.
 *
 *   hello RELEASE   the program runs; RELEASE as the kernel says
 *   step NAME       a step starts
 *   record JSON     what os_run() gave
 *   error JSON      {"code", "file", "line", "what", "hint"}: why there is no record
 *   end             nothing follows but the power going off
 *
 * A port of a kind that every kernel drives was chosen over virtio-serial, which
 * fills a queue with some 128 unmovable pages in the memory under test.
 */
#include <compactlab/error.h>
#include <stdbool.h>
#include <stddef.h>

enum wire_kind { WIRE_HELLO, WIRE_STEP, WIRE_RECORD, WIRE_ERROR, WIRE_END, WIRE_KINDS };

struct wire_message {
	enum wire_kind kind;
	char *text; /* in the reader's buffer, valid until the next wire_next() */
};

/* Guest side: write one message whole. -EINVAL when the text holds a newline. */
int wire_send(int fd, enum wire_kind kind, const char *text);
int wire_send_error(int fd, int code, const struct cl_error *err);

/* Runner side: bytes as they arrive. Zero-initialise; wire_free() at the end. */
struct wire {
	char *text;
	size_t used, room, at;
	unsigned damaged; /* lines that were no message */
};

/* Take what is there from fd. Bytes taken, 0 when there is nothing, -errno. */
long wire_read(struct wire *w, int fd);
/* The next whole message, if there is one. */
bool wire_next(struct wire *w, struct wire_message *m);
void wire_free(struct wire *w);

/* Fill *err from the text of a WIRE_ERROR; returns its code. */
int wire_error(const char *text, struct cl_error *err);
#endif
