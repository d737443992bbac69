/* SPDX-License-Identifier: MIT */
#include "explain/derive.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/*
 * Several states may lie in one input: two hosts, two kernels, before and after. Tables
 * of the same kind about the same zone are of different states; of different kinds they
 * belong together when their files' names have a word in common ("buddyinfo-4.0" and
 * "pagetypeinfo-4.0"), or when nothing speaks for another state.
 */

#define WORDS_MOST 24

struct words {
	unsigned count;
	char word[WORDS_MOST][32];
};

/* Words that say what a file is and not of which machine. */
static bool common_word(const char *w)
{
	static const char *const words[] = {
		"vmstat", "buddyinfo", "pagetypeinfo", "zoneinfo", "meminfo",       "extfrag",
		"index",  "slabinfo",  "proc",         "sys",      "txt",           "log",
		"part",   "sample",    "output",       "text",     "extfrag_index",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strcasecmp(w, words[i]))
			return true;
	return false;
}

static void split(const char *name, struct words *out)
{
	out->count = 0;
	while (*name && out->count < WORDS_MOST) {
		char *w = out->word[out->count];
		size_t n = 0;

		while (*name && !isalnum((unsigned char)*name))
			name++;
		/* "4.0" is one word, "a.txt" are two. */
		while (isalnum((unsigned char)*name) ||
		       (*name == '.' && n && isdigit((unsigned char)name[-1]) &&
			isdigit((unsigned char)name[1]))) {
			if (n + 1 < sizeof(out->word[0]))
				w[n++] = *name;
			name++;
		}
		w[n] = '\0';
		if (n && !common_word(w))
			out->count++;
	}
}

static unsigned in_common(const char *a, const char *b)
{
	struct words x, y;
	unsigned n = 0;

	split(a, &x);
	split(b, &y);
	for (unsigned i = 0; i < x.count; i++)
		for (unsigned k = 0; k < y.count; k++)
			n += !strcasecmp(x.word[i], y.word[k]);
	return n;
}

static bool is_state(const struct document *d)
{
	return d->kind == DOCUMENT_BUDDY || d->kind == DOCUMENT_TYPES ||
	       d->kind == DOCUMENT_ZONES || d->kind == DOCUMENT_MEMINFO ||
	       d->kind == DOCUMENT_EXTFRAG || d->kind == DOCUMENT_SLAB;
}

/* Do two tables of one kind speak of the same thing? */
static bool collide(const struct document *a, const struct document *b)
{
	if (a->kind != b->kind)
		return false;
	switch (a->kind) {
	case DOCUMENT_BUDDY:
		for (unsigned i = 0; i < a->buddy.count; i++)
			for (unsigned k = 0; k < b->buddy.count; k++)
				if (a->buddy.zone[i].node == b->buddy.zone[k].node &&
				    !strcmp(a->buddy.zone[i].zone, b->buddy.zone[k].zone))
					return true;
		return false;
	case DOCUMENT_TYPES:
		for (unsigned i = 0; i < a->types.count; i++)
			for (unsigned k = 0; k < b->types.count; k++)
				if (a->types.zone[i].node == b->types.zone[k].node &&
				    !strcmp(a->types.zone[i].zone, b->types.zone[k].zone))
					return true;
		return false;
	case DOCUMENT_ZONES:
		for (unsigned i = 0; i < a->zones.count; i++)
			if (zoneinfo_find(&b->zones, a->zones.zone[i].node, a->zones.zone[i].zone))
				return true;
		return false;
	case DOCUMENT_MEMINFO:
		for (unsigned i = 0; i < a->counters.count; i++) {
			uint64_t v;

			if (counters_get(&b->counters, a->counters.entry[i].name, &v))
				return true;
		}
		return false;
	default:
		return true;
	}
}

unsigned sample_assign(struct evidence *e)
{
	unsigned samples = 0;

	for (unsigned i = 0; i < e->documents; i++) {
		struct document *d = &e->document[i];
		unsigned best = UINT32_MAX, best_score = 0;

		if (!is_state(d))
			continue;
		for (unsigned s = 0; s < samples; s++) {
			unsigned score = 1;
			bool clash = false;

			for (unsigned k = 0; k < i && !clash; k++) {
				const struct document *o = &e->document[k];

				if (o->sample != (int)s)
					continue;
				clash = collide(d, o);
				score +=
					4 * (o->file == d->file) +
					2 * in_common(e->file[o->file].name, e->file[d->file].name);
			}
			if (!clash && score >= best_score) {
				best = s;
				best_score = score;
			}
		}
		d->sample = best == UINT32_MAX ? (int)samples++ : (int)best;
	}
	return samples;
}

unsigned sample_nearest(const struct evidence *e, const struct document *d, unsigned samples)
{
	unsigned best = 0, best_score = 0;

	for (unsigned s = 0; s < samples; s++) {
		unsigned score = 0;

		for (unsigned k = 0; k < e->documents; k++)
			if (e->document[k].sample == (int)s)
				score += 4 * (e->document[k].file == d->file) +
					 2 * in_common(e->file[e->document[k].file].name,
						       e->file[d->file].name);
		if (score > best_score) {
			best = s;
			best_score = score;
		}
	}
	return best;
}

void sample_collect(const struct evidence *e, unsigned index, struct sample *out)
{
	memset(out, 0, sizeof(*out));
	for (unsigned i = 0; i < e->documents; i++) {
		const struct document *d = &e->document[i];

		if (d->sample != (int)index || !is_state(d))
			continue;
		if (!out->first)
			out->first = d;
		if (d->kind == DOCUMENT_BUDDY && out->buddy_count < 64)
			out->buddies[out->buddy_count++] = d;
		if (d->kind == DOCUMENT_TYPES && out->types_count < 64)
			out->typeses[out->types_count++] = d;
		if (d->kind == DOCUMENT_ZONES && out->zones_count < 64)
			out->zoneses[out->zones_count++] = d;
		if (d->kind == DOCUMENT_MEMINFO && out->meminfo_count < 64)
			out->meminfo[out->meminfo_count++] = d;
		if (d->kind == DOCUMENT_EXTFRAG)
			out->extfrag = d;
		if (d->kind == DOCUMENT_SLAB)
			out->slab = d;
	}
	out->buddy = out->buddies[0];
	out->types = out->typeses[0];
	out->zones = out->zoneses[0];
}

/* ---- differences of vmstat ---------------------------------------------------------- */

/* Counters of events never fall, except by a reboot. */
static bool is_event(const char *name)
{
	static const char *const starts[] = {"compact_", "pgscan",    "pgsteal", "pgfree",
					     "pgalloc",  "pgmigrate", "thp_",    "allocstall",
					     "pgfault",  "numa_hit",  "kswapd_", "htlb_"};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if (!strncmp(name, starts[i], strlen(starts[i])))
			return true;
	return false;
}

/* 1: b is later, -1: a is later, 0: neither, or nothing in common. */
static int later(const struct document *a, const struct document *b)
{
	unsigned up = 0, down = 0;

	for (unsigned i = 0; i < b->counters.count; i++) {
		const struct counter *c = &b->counters.entry[i];
		uint64_t old;

		if (!is_event(c->name) || !counters_get(&a->counters, c->name, &old))
			continue;
		up += c->value > old;
		down += c->value < old;
	}
	if (up && !down)
		return 1;
	return down && !up ? -1 : 0;
}

void window_free(struct window *w, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		vmstat_delta_free(&w[i].delta);
	free(w);
}

/* The snapshot that directly precedes `d`: the latest of those that are earlier. */
static const struct document *before(const struct evidence *e, const struct document *d)
{
	const struct document *best = NULL;

	for (unsigned i = 0; i < e->documents; i++) {
		const struct document *c = &e->document[i];

		if (c == d || c->kind != DOCUMENT_VMSTAT || later(c, d) != 1)
			continue;
		if (!best || later(best, c) == 1)
			best = c;
	}
	return best;
}

static struct window *add_window(struct window **list, unsigned *count)
{
	struct window *more = reallocarray(*list, *count + 1, sizeof(*more));

	if (!more)
		return NULL;
	*list = more;
	more += (*count)++;
	memset(more, 0, sizeof(*more));
	return more;
}

int window_list(struct evidence *e, struct window **out, unsigned *count)
{
	struct window *w;
	bool pairs = false;
	unsigned snapshots = 0;

	*out = NULL;
	*count = 0;
	for (unsigned i = 0; i < e->documents; i++) {
		struct document *d = &e->document[i];
		const struct document *b;

		if (d->kind == DOCUMENT_CHANGES) {
			w = add_window(out, count);
			if (!w)
				return -ENOMEM;
			w->changes = d;
		}
		if (d->kind != DOCUMENT_VMSTAT || ++snapshots > 64)
			continue;
		b = before(e, d);
		if (!b)
			continue;
		w = add_window(out, count);
		if (!w || vmstat_delta(&b->counters, &d->counters, &w->delta))
			return -ENOMEM;
		w->before = b;
		w->after = d;
		w->has_delta = true;
		pairs = true;
	}
	for (unsigned i = 0; i < e->documents && !pairs; i++) {
		if (e->document[i].kind != DOCUMENT_VMSTAT)
			continue;
		w = add_window(out, count);
		if (!w)
			return -ENOMEM;
		w->after = &e->document[i];
	}
	return 0;
}
