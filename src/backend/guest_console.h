/* SPDX-License-Identifier: MIT */
#ifndef BACKEND_GUEST_CONSOLE_H
#define BACKEND_GUEST_CONSOLE_H
/*
 * What a guest's console says went wrong, in the kernel's own words: the first
 * line of each kind, without its time stamp, or "".
 */
#include <stddef.h>

struct console {
	char panic[256];   /* Kernel panic */
	char bug[256];     /* oops, BUG, general protection fault: the kernel is broken */
	char stall[256];   /* soft lockup, RCU stall: slow machine or endless loop */
	char warning[256]; /* WARN(), and what lockdep found */
	char oom[256];     /* the OOM killer took a process */
	unsigned oom_kills;
};

void console_read(const char *text, struct console *out);

/*
 * The last `lines` lines that are not empty, joined by " | ", for messages.
 * Returns buf.
 */
char *console_tail(const char *text, unsigned lines, char *buf, size_t size);
#endif
