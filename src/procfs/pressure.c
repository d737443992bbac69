/* SPDX-License-Identifier: MIT */
#include "procfs/procfs.h"
#include "procfs/span.h"
#include <errno.h>
#include <string.h>

static bool percent(struct span *s, const char *key, double *out)
{
	uint64_t hundredths;

	span_blanks(s);
	if (!span_skip(s, key) || !span_fixed(s, 100, &hundredths))
		return false;
	*out = (double)hundredths / 100;
	return true;
}

static bool parse_line(struct span s, struct pressure_line *p)
{
	if (!percent(&s, "avg10=", &p->avg10) || !percent(&s, "avg60=", &p->avg60) ||
	    !percent(&s, "avg300=", &p->avg300))
		return false;
	span_blanks(&s);
	if (!span_skip(&s, "total=") || !span_u64(&s, &p->total_us))
		return false;
	span_blanks(&s);
	return !s.length;
}

int pressure_parse(const char *text, size_t length, struct pressure *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line;

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		struct pressure_line p = {.present = true};
		struct pressure_line *to;

		span_trim(&line);
		if (span_skip(&line, "some "))
			to = &out->some;
		else if (span_skip(&line, "full "))
			to = &out->full;
		else
			continue;
		if (parse_line(line, &p))
			*to = p;
	}
	if (out->some.present || out->full.present)
		return 0;
	return cl_error_hint(err,
			     cl_error(err, -EINVAL,
				      "no line has the form of /proc/pressure/memory"),
			     "expected \"some avg10=0.00 avg60=0.00 avg300=0.00 total=0\"");
}
