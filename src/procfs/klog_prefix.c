/* SPDX-License-Identifier: MIT */
#include "procfs/klog.h"
#include <string.h>

/*
 * The front of a line is a sequence of marks in no fixed order: mail quoting, a level,
 * a date, a host, "kernel:", a time in brackets, a thread, a task. Each mark has a small
 * function that takes it off; they are tried until none applies.
 */

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool digits(struct span s, size_t at, size_t n)
{
	if (s.length < at + n)
		return false;
	for (size_t i = at; i < at + n; i++)
		if (!digit(s.at[i]))
			return false;
	return true;
}

static void advance(struct span *s, size_t n)
{
	s->at += n;
	s->length -= n;
}

/* "> > text", "| text" of tables, "$ dmesg" is left alone. */
static bool take_quote(struct span *s)
{
	if (!s->length || (*s->at != '>' && *s->at != '|'))
		return false;
	advance(s, 1);
	span_blanks(s);
	return true;
}

/* "<4>" */
static bool take_level(struct span *s)
{
	struct span t = *s;
	uint64_t n;

	if (!span_skip(&t, "<") || !span_u64(&t, &n) || n > 999 || !span_skip(&t, ">"))
		return false;
	*s = t;
	return true;
}

/* /dev/kmsg and netconsole: "4,1234,567890,-;" */
static bool take_kmsg(struct span *s, struct klog_prefix *p)
{
	struct span t = *s, flags;
	uint64_t level, sequence, us;

	if (!span_u64(&t, &level) || !span_skip(&t, ",") || !span_u64(&t, &sequence) ||
	    !span_skip(&t, ",") || !span_u64(&t, &us) || !span_skip(&t, ",") ||
	    !span_until(&t, ';', &flags) || flags.length > 64)
		return false;
	p->has_time = true;
	p->time_us = us;
	*s = t;
	return true;
}

/* Inside of brackets: seconds with six digits behind the point. */
static bool bracket_time(struct span in, struct klog_prefix *p)
{
	uint64_t us;

	span_trim(&in);
	if (!span_fixed(&in, 1000000, &us))
		return false;
	span_skip(&in, ",");
	if (in.length > 4)
		return false;
	p->has_time = true;
	p->wall_clock = false;
	p->time_us = us;
	return true;
}

/* " T123" or " C0": which thread or CPU printed the line. */
static bool bracket_caller(struct span in, struct klog_prefix *p)
{
	uint64_t id;
	char kind;

	span_trim(&in);
	if (in.length < 2 || (*in.at != 'T' && *in.at != 'C'))
		return false;
	kind = *in.at;
	advance(&in, 1);
	if (!span_u64(&in, &id) || in.length)
		return false;
	p->caller = (uint32_t)(id * 2 + (kind == 'C') + 1);
	return true;
}

/* "2:   Binder:711_1:  740" or "740:Binder": CPU, task, process of vendor kernels. */
static bool bracket_task(struct span in, struct klog_prefix *p)
{
	struct span t = in, comm;
	uint64_t n;
	size_t end;

	if (!span_u64(&t, &n) || !span_skip(&t, ":"))
		return false;
	span_trim(&t);
	for (end = t.length; end && digit(t.at[end - 1]);)
		end--;
	comm = t;
	if (end < t.length) {
		comm.length = end;
		span_trim(&comm);
		if (comm.length && comm.at[comm.length - 1] == ':')
			comm.length--;
		else
			comm = t;
	}
	if (!comm.length || comm.length >= sizeof(p->comm))
		return false;
	span_put(comm, p->comm, sizeof(p->comm));
	p->has_comm = true;
	return true;
}

/* "Fri Feb 12 10:20:30 2021", as dmesg -T prints it. */
static bool bracket_date(struct span in)
{
	return in.length >= 20 && in.length <= 32 && in.at[3] == ' ' && span_find(in, ":");
}

/* A serial console logger's "2021-02-20 10:10:10". */
static bool bracket_iso(struct span in)
{
	return digits(in, 0, 4) && in.length > 7 && in.at[4] == '-' && in.at[7] == '-';
}

/* "  +0.002367" of dmesg -d, and "Dec10 12:34" of dmesg -H, once a minute. */
static bool bracket_human(struct span in)
{
	uint64_t us;

	span_blanks(&in);
	if (span_skip(&in, "+"))
		return span_fixed(&in, 1000000, &us) && !in.length;
	return in.length >= 10 && in.length <= 12 && in.at[0] >= 'A' && in.at[0] <= 'Z' &&
	       in.at[in.length - 3] == ':' && digits(in, in.length - 2, 2);
}

static bool take_bracket(struct span *s, struct klog_prefix *p)
{
	struct span t = *s, in;

	if (!span_skip(&t, "[") || !span_until(&t, ']', &in) || in.length > 48)
		return false;
	if (span_starts(in, "<") || !in.length)
		return false;
	if (!bracket_time(in, p) && !bracket_caller(in, p) && !bracket_date(in) &&
	    !bracket_iso(in) && !bracket_human(in) && !(p->has_time && bracket_task(in, p)))
		return false;
	p->kernel_log = true;
	*s = t;
	return true;
}

/* "(0)" of vendor kernels, in front of "[740:Binder]". */
static bool take_cpu(struct span *s, const struct klog_prefix *p)
{
	struct span t = *s;
	uint64_t n;

	if (!p->has_time || !span_skip(&t, "(") || !span_u64(&t, &n) || !span_skip(&t, ")") ||
	    !span_starts(t, "["))
		return false;
	*s = t;
	return true;
}

/* "c0   740 " behind the time, older Qualcomm kernels: CPU and process. */
static bool take_bare_cpu(struct span *s, const struct klog_prefix *p)
{
	struct span t = *s;
	uint64_t cpu, pid;

	span_blanks(&t);
	if (!p->has_time || !span_skip(&t, "c") || !span_u64(&t, &cpu) || cpu > 255)
		return false;
	span_blanks(&t);
	if (!span_u64(&t, &pid) || !span_starts(t, " "))
		return false;
	*s = t;
	return true;
}

static uint64_t two(const char *at)
{
	return (uint64_t)(at[0] - '0') * 10 + (uint64_t)(at[1] - '0');
}

/* "hh:mm:ss" at `at`, with a fraction. How long it is, or 0. */
static size_t clock_at(struct span s, size_t at, uint64_t *us)
{
	struct span t;

	if (!digits(s, at, 2) || s.length < at + 8 || s.at[at + 2] != ':' ||
	    !digits(s, at + 3, 2) || s.at[at + 5] != ':' || !digits(s, at + 6, 2))
		return 0;
	*us = (two(s.at + at) * 3600 + two(s.at + at + 3) * 60) * 1000000;
	t = span_of(s.at + at + 6, s.length - at - 6);
	{
		uint64_t seconds;

		if (!span_fixed(&t, 1000000, &seconds))
			return 0;
		*us += seconds;
	}
	return (size_t)(t.at - s.at) - at;
}

static bool month(struct span s, size_t at)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

	if (s.length < at + 3)
		return false;
	for (unsigned i = 0; i < 12; i++)
		if (!memcmp(s.at + at, names + 3 * (size_t)i, 3))
			return true;
	return false;
}

static void wall(struct klog_prefix *p, uint64_t us)
{
	if (p->has_time)
		return;
	p->has_time = p->wall_clock = true;
	p->time_us = us;
}

/*
 * "Oct 19 13:44:52 ", "Thu Jan  1 00:00:10 2015 ", "2021-02-20T10:10:10.123456+01:00 ",
 * "2021-02-20 10:10:10 ", "02-20 10:10:10.123 ": the date; the day counts in the time.
 */
static bool take_date(struct span *s, struct klog_prefix *p)
{
	size_t at = 0, n;
	uint64_t us, day = 0;

	if (s->length > 16 && s->at[3] == ' ' && month(*s, 4))
		at = 4;
	if (month(*s, at) && s->length > at + 12) {
		if (digit(s->at[at + 5]))
			day = (digit(s->at[at + 4]) ? (uint64_t)(s->at[at + 4] - '0') * 10 : 0) +
			      (uint64_t)(s->at[at + 5] - '0');
		n = clock_at(*s, at + 7, &us);
		if (!n)
			return false;
		at += 7 + n;
		if (s->length > at + 5 && s->at[at] == ' ' && digits(*s, at + 1, 4) &&
		    s->at[at + 5] == ' ')
			at += 5;
	} else if (digits(*s, 0, 4) && s->length > 19 && s->at[4] == '-' && digits(*s, 5, 2) &&
		   s->at[7] == '-' && digits(*s, 8, 2) && (s->at[10] == 'T' || s->at[10] == ' ')) {
		day = two(s->at + 8);
		n = clock_at(*s, 11, &us);
		if (!n)
			return false;
		at = 11 + n;
		while (at < s->length && s->at[at] != ' ' && s->at[at] != '\t')
			at++; /* zone, or a comma and digits */
	} else if (digits(*s, 0, 2) && s->length > 15 && s->at[2] == '-' && digits(*s, 3, 2) &&
		   s->at[5] == ' ') {
		day = two(s->at + 3);
		n = clock_at(*s, 6, &us);
		if (!n)
			return false;
		at = 6 + n;
	} else {
		return false;
	}
	wall(p, day * 86400 * 1000000 + us);
	advance(s, at);
	span_blanks(s);
	p->kernel_log = true;
	return true;
}

/*
 * Up to "kernel:" is host and facility, whatever the logger. Only near the front, so
 * that a message that says "kernel:" itself is left whole.
 */
static bool take_tag(struct span *s, struct klog_prefix *p)
{
	struct span head = *s, before, host;
	const char *at;
	size_t n;

	if (head.length > 120)
		head.length = 120;
	at = span_find(head, "kernel:");
	if (!at) {
		at = span_find(head, "kernel[");
		if (at && !memchr(at, ':', head.length - (size_t)(at - head.at)))
			at = NULL;
	}
	if (!at || (at != head.at && at[-1] != ' ' && at[-1] != '\t'))
		return false;
	n = (size_t)(at - head.at);
	for (size_t i = 0; i < n; i++)
		if (strchr("=(;\"", head.at[i]))
			return false;
	before = span_of(head.at, n);
	if (span_word(&before, &host))
		p->host = host;
	n = (size_t)((char *)memchr(at, ':', s->length - (size_t)(at - s->at)) - s->at) + 1;
	advance(s, n);
	if (s->length && *s->at == ' ')
		advance(s, 1);
	p->kernel_log = true;
	return true;
}

/* A host alone behind a date: "host [123.456] ..." of consoles and some loggers. */
static bool take_host(struct span *s, struct klog_prefix *p)
{
	struct span t = *s, word;
	struct klog_prefix trial = *p;

	if (!p->wall_clock || p->host.length || !span_word(&t, &word))
		return false;
	span_blanks(&t);
	if (!span_starts(t, "[") || !take_bracket(&t, &trial))
		return false;
	*p = trial;
	p->host = word;
	*s = t;
	return true;
}

struct span klog_strip(struct span line, struct klog_prefix *p)
{
	memset(p, 0, sizeof(*p));
	for (unsigned i = 0; i < 12; i++) {
		struct span s = line;

		span_blanks(&s);
		if (take_quote(&s) || take_level(&s) || take_kmsg(&s, p) || take_bracket(&s, p) ||
		    take_cpu(&s, p) || take_bare_cpu(&s, p) || take_date(&s, p) ||
		    take_tag(&s, p) || take_host(&s, p)) {
			line = s;
			continue;
		}
		break;
	}
	span_blanks(&line);
	return line;
}
