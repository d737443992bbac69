/* SPDX-License-Identifier: MIT */
#include "procfs/paste.h"
#include "procfs/zone_name.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[PAGE_TYPES] = {
	[PAGE_TYPE_UNMOVABLE] = "Unmovable",     [PAGE_TYPE_MOVABLE] = "Movable",
	[PAGE_TYPE_RECLAIMABLE] = "Reclaimable", [PAGE_TYPE_RESERVE] = "Reserve",
	[PAGE_TYPE_HIGHATOMIC] = "HighAtomic",   [PAGE_TYPE_CMA] = "CMA",
	[PAGE_TYPE_ISOLATE] = "Isolate",
};

struct reader {
	struct pagetypeinfo *out;
	enum page_type column[PAGE_TYPES]; /* of the table of blocks, in the order printed */
	unsigned columns;
	int line;
};

const char *page_type_name(enum page_type type)
{
	return type < PAGE_TYPES ? names[type] : "?";
}

static bool type_of(struct span s, enum page_type *type)
{
	for (unsigned i = 0; i < PAGE_TYPES; i++) {
		if (span_is(s, names[i])) {
			*type = (enum page_type)i;
			return true;
		}
	}
	return false;
}

static struct page_type_zone *zone_for(struct reader *r, int node, struct span name)
{
	struct pagetypeinfo *p = r->out;
	struct page_type_zone *more;

	for (unsigned i = 0; i < p->count; i++)
		if (p->zone[i].node == node && span_is(name, p->zone[i].zone))
			return &p->zone[i];
	more = reallocarray(p->zone, p->count + 1, sizeof(*more));
	if (!more)
		return NULL;
	p->zone = more;
	more += p->count++;
	memset(more, 0, sizeof(*more));
	more->node = node;
	more->line = r->line;
	span_put(name, more->zone, sizeof(more->zone));
	return more;
}

/* ", type    Unmovable     62  >100000 ..." */
static int free_row(struct reader *r, int node, struct span zone, struct span s)
{
	struct page_type_zone *z;
	uint64_t count[PROCFS_MAX_ORDERS];
	enum page_type type;
	struct span word;
	bool capped = false;
	unsigned n = 0;

	if (!span_word(&s, &word) || !type_of(word, &type))
		return -EINVAL;
	while (span_word(&s, &word)) {
		capped |= span_skip(&word, ">");
		if (n == PROCFS_MAX_ORDERS || !span_u64(&word, &count[n]) || word.length)
			return -EINVAL;
		n++;
	}
	if (!n)
		return -EINVAL;
	z = zone_for(r, node, zone);
	if (!z)
		return -ENOMEM;
	memcpy(z->free[type], count, n * sizeof(count[0]));
	z->orders = n > z->orders ? n : z->orders;
	z->capped |= capped;
	return 0;
}

/* "     25         1466           37 ..." */
static int block_row(struct reader *r, int node, struct span zone, struct span s)
{
	uint64_t count[PAGE_TYPES];
	struct page_type_zone *z;
	unsigned n = 0;

	for (;; n++) {
		span_blanks(&s);
		if (!s.length)
			break;
		if (n == r->columns || !span_u64(&s, &count[n]))
			return -EINVAL;
	}
	if (n != r->columns || !n)
		return -EINVAL;
	z = zone_for(r, node, zone);
	if (!z)
		return -ENOMEM;
	z->has_blocks = true;
	z->blocks_line = r->line;
	for (unsigned i = 0; i < n; i++)
		z->blocks[r->column[i]] = count[i];
	return 0;
}

static int read_line(struct reader *r, struct span s)
{
	struct span zone, word, rest;
	uint64_t order;
	int node;

	if (span_after(s, "Page block order:", &rest)) {
		span_blanks(&rest);
		if (span_u64(&rest, &order) && order < PROCFS_MAX_ORDERS)
			r->out->block_order = (unsigned)order;
		return 0;
	}
	if (span_skip(&s, "Number of blocks type")) {
		r->columns = 0;
		while (r->columns < PAGE_TYPES && span_word(&s, &word))
			if (!type_of(word, &r->column[r->columns++]))
				return -EINVAL;
		return 0;
	}
	if (span_starts(s, "Number of mixed blocks")) {
		r->columns = 0; /* rows of another meaning follow */
		return 0;
	}
	if (!span_starts(s, "Node"))
		return 0; /* headings */
	if (!zone_name_take(&s, &node, &zone))
		return -EINVAL;
	span_blanks(&s);
	if (span_skip(&s, "type "))
		return free_row(r, node, zone, s);
	return r->columns ? block_row(r, node, zone, s) : -EINVAL;
}

int pagetypeinfo_parse(const char *text, size_t length, struct pagetypeinfo *out,
		       struct cl_error *err)
{
	struct span rest = span_of(text, length), line;
	struct reader r = {.out = out};

	memset(out, 0, sizeof(*out));
	while (span_line(&rest, &line)) {
		int code;

		r.line++;
		span_trim(&line);
		code = read_line(&r, line);
		if (code == -ENOMEM) {
			pagetypeinfo_free(out);
			return code;
		}
		out->skipped += code != 0;
	}
	if (out->count)
		return 0;
	pagetypeinfo_free(out);
	return cl_error(err, -EINVAL, "no line has the form of /proc/pagetypeinfo");
}

void pagetypeinfo_free(struct pagetypeinfo *p)
{
	free(p->zone);
	memset(p, 0, sizeof(*p));
}
