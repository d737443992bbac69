/* SPDX-License-Identifier: MIT */
#include "backend/guest_console.h"
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/*
 * Words of printk messages, in the order in which a line is tried: a soft lockup also
 * says "BUG:", and an oops in interrupt also says "panic" on a later line.
 */
enum word_kind { WORD_STALL, WORD_PANIC, WORD_OOM, WORD_BUG, WORD_WARNING };

static const struct {
	enum word_kind kind;
	const char *text;
} words[] = {
	{WORD_STALL, "BUG: soft lockup"},
	{WORD_STALL, "BUG: workqueue lockup"},
	{WORD_STALL, "detected stall"},
	{WORD_STALL, "self-detected stall"},
	{WORD_STALL, "blocked for more than"},
	{WORD_PANIC, "Kernel panic - not syncing"},
	{WORD_OOM, "ut of memory: Killed process"}, /* also "Memory cgroup out of memory" */
	{WORD_OOM, "ut of memory (oom_kill_allocating_task): Killed process"},
	{WORD_BUG, "BUG: "},
	{WORD_BUG, "kernel BUG at"},
	{WORD_BUG, "Oops: "},
	{WORD_BUG, "general protection fault"},
	{WORD_BUG, "Unable to handle kernel"},
	{WORD_WARNING, "WARNING: "},
	{WORD_WARNING, "INFO: trying to register non-static key"}, /* of lockdep */
	{WORD_WARNING, "turning off the locking correctness validator"},
};

/* Past "[    1.234567]" and "[    T1]". */
static const char *without_stamp(const char *line)
{
	while (*line == '[') {
		const char *p = line + 1 + strspn(line + 1, " ");
		size_t n = strspn(p, "0123456789.TC");

		if (!n || p[n] != ']')
			break;
		line = p + n + 1;
		line += strspn(line, " ");
	}
	return line;
}

static void keep(char *where, size_t size, const char *line)
{
	if (!where[0])
		snprintf(where, size, "%.*s", (int)size - 1, without_stamp(line));
}

static void console_line(const char *line, struct console *out)
{
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (!strstr(line, words[i].text))
			continue;
		switch (words[i].kind) {
		case WORD_STALL:
			keep(out->stall, sizeof(out->stall), line);
			break;
		case WORD_PANIC:
			keep(out->panic, sizeof(out->panic), line);
			break;
		case WORD_OOM:
			keep(out->oom, sizeof(out->oom), line);
			out->oom_kills++;
			break;
		case WORD_BUG:
			keep(out->bug, sizeof(out->bug), line);
			break;
		case WORD_WARNING:
			keep(out->warning, sizeof(out->warning), line);
			break;
		}
		return;
	}
}

void console_read(const char *text, struct console *out)
{
	char line[512];

	memset(out, 0, sizeof(*out));
	while (*text) {
		size_t n = strcspn(text, "\r\n");

		snprintf(line, sizeof(line), "%.*s", (int)n, text);
		/* Only what the kernel said: every line of printk has a time stamp. */
		if (line[0] == '[')
			console_line(line, out);
		text += n;
		text += strspn(text, "\r\n");
	}
}

static bool at_line_end(char c)
{
	return c == '\n' || c == '\r';
}

char *console_tail(const char *text, unsigned lines, char *buf, size_t size)
{
	const char *p = text + strlen(text);
	size_t used = 0;

	buf[0] = '\0';
	while (p > text && lines) {
		while (p > text && at_line_end(p[-1]))
			p--;
		if (p == text)
			break;
		while (p > text && !at_line_end(p[-1]))
			p--;
		lines--;
	}
	while (*p && used + 1 < size) {
		size_t n;

		p += strspn(p, "\r\n");
		n = strcspn(p, "\r\n");
		if (!n)
			break;
		used += (size_t)snprintf(buf + used, size - used, "%s%.*s", used ? " | " : "",
					 (int)n, p);
		p += n;
	}
	/* A console may carry anything; a message is one printable line. */
	for (char *c = buf; *c; c++)
		if (iscntrl((unsigned char)*c))
			*c = ' ';
	return buf;
}
