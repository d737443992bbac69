/* SPDX-License-Identifier: MIT */
#include <compactlab/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int error_fill(struct cl_error *err, int code, const char *file, int line, const char *fmt,
		      va_list ap)
{
	if (!err)
		return code;
	memset(err, 0, sizeof(*err));
	if (file)
		snprintf(err->file, sizeof(err->file), "%s", file);
	err->line = line;
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	return code;
}

int cl_error_at(struct cl_error *err, int code, const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(err, code, file, line, fmt, ap);
	va_end(ap);
	return code;
}

int cl_error(struct cl_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	error_fill(err, code, NULL, 0, fmt, ap);
	va_end(ap);
	return code;
}

int cl_error_hint(struct cl_error *err, int code, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
	return code;
}

char *cl_error_text(const struct cl_error *err, char *buf, unsigned long size)
{
	char where[300] = "";

	if (err->file[0] && err->line)
		snprintf(where, sizeof(where), "%s:%d: ", err->file, err->line);
	else if (err->file[0])
		snprintf(where, sizeof(where), "%s: ", err->file);
	snprintf(buf, size, "%s%s%s%s%s", where, err->what, err->hint[0] ? " (" : "", err->hint,
		 err->hint[0] ? ")" : "");
	return buf;
}
