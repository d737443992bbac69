/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* slabinfo: "dentry  1234  5678  192  21  1 : tunables ..." */
static bool info_row(struct span s, struct span *name, uint64_t *bytes)
{
	uint64_t v[3]; /* active, objects, size */

	if (!span_word(&s, name) || *name->at == '#' || !span_find(s, ":"))
		return false;
	for (unsigned i = 0; i < 3; i++) {
		span_blanks(&s);
		if (!span_u64(&s, &v[i]))
			return false;
	}
	return !__builtin_mul_overflow(v[1], v[2], bytes) && v[2] > 0 && span_starts(s, " ");
}

/* slabtop: "  OBJS ACTIVE  USE OBJ SIZE  SLABS OBJ/SLAB CACHE SIZE NAME" */
static bool top_row(struct span s, struct span *name, uint64_t *bytes)
{
	struct span w[8];
	uint64_t v;

	for (unsigned i = 0; i < 8; i++)
		if (!span_word(&s, &w[i]))
			return false;
	span_trim(&s);
	if (s.length)
		return false;
	*name = w[7];
	if (!span_u64(&w[0], &v) || !span_u64(&w[1], &v) || !span_find(w[2], "%"))
		return false;
	if (!span_u64(&w[6], &v) || !span_is(w[6], "K"))
		return false;
	*bytes = v * 1024;
	return true;
}

static int by_size(const void *a, const void *b)
{
	const struct slabinfo_cache *x = a, *y = b;

	return (x->bytes < y->bytes) - (x->bytes > y->bytes);
}

int slabinfo_parse(const char *text, size_t length, struct slabinfo *out, struct cl_error *err)
{
	struct span rest = span_of(text, length), line, name;
	int number = 0;
	uint64_t bytes;

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		struct slabinfo_cache *more;

		number++;
		span_trim(&line);
		if (!line.length)
			continue;
		if (!info_row(line, &name, &bytes) && !top_row(line, &name, &bytes)) {
			out->skipped++;
			continue;
		}
		more = reallocarray(out->cache, out->count + 1, sizeof(*more));
		if (more) {
			out->cache = more;
			more += out->count;
			*more = (struct slabinfo_cache){span_copy(name), bytes, number};
			if (more->name) {
				out->count++;
				continue;
			}
		}
		slabinfo_free(out);
		return -ENOMEM;
	}
	if (!out->count) {
		slabinfo_free(out);
		return cl_error(err, -EINVAL, "no line has the form of /proc/slabinfo or slabtop");
	}
	qsort(out->cache, out->count, sizeof(*out->cache), by_size);
	return 0;
}

void slabinfo_free(struct slabinfo *s)
{
	for (unsigned i = 0; i < s->count; i++)
		free(s->cache[i].name);
	free(s->cache);
	memset(s, 0, sizeof(*s));
}
