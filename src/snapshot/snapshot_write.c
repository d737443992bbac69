/* SPDX-License-Identifier: MIT */
/* A snapshot as a file: lines of text in a gzip envelope. The format: compactlab-snapshot(5). */
#include "snapshot/snapshot.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* A block of 512 pages, each a count, capitals and a letter: far below this. */
#define LINE_MOST   8192

#define GZIP_WINDOW (15 + 16) /* zlib's way to ask for a gzip envelope */

static void write_head(const struct snapshot *s, FILE *out)
{
	fprintf(out, "compactlab-snapshot %d\n", SNAPSHOT_VERSION);
	fprintf(out, "kernel %s\nversion %s\nmachine %s\ntaken %s\n", s->release, s->version,
		s->machine, s->taken);
	if (s->scenario && s->step)
		fprintf(out, "before %s %s\n", s->scenario, s->step);
	fprintf(out, "cpus %u\n", s->cpus);
	for (unsigned i = 0; i < SNAPSHOT_MAX_NODES; i++) {
		if (!s->node[i].there)
			continue;
		fprintf(out, "node %u cpus %u distance", i, s->node[i].cpus);
		for (unsigned k = 0; k < s->node[i].distances; k++)
			fprintf(out, " %u", s->node[i].distance[k]);
		fputc('\n', out);
	}
	for (unsigned i = 0; i < s->settings; i++)
		fprintf(out, "setting %s %s\n", s->setting[i].name, s->setting[i].value);
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++)
		fprintf(out, "text %s %zu\n%s\n", snapshot_text_name(i), strlen(s->text[i]),
			s->text[i]);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* a..z, Aa..Zz, AAa ...: capitals are digits to the base of 26, the small letter ends it. */
static char *state_name(unsigned id, char buf[8])
{
	unsigned high = id / 26, at = 0;
	char digits[8];

	while (high) {
		digits[at++] = (char)('A' + (high - 1) % 26);
		high = (high - 1) / 26;
	}
	for (unsigned i = 0; i < at; i++)
		buf[i] = digits[at - 1 - i];
	buf[at] = (char)('a' + id % 26);
	buf[at + 1] = '\0';
	return buf;
}

static void write_states(const struct snapshot *s, FILE *out)
{
	char name[8];

	for (unsigned i = 0; i < s->states; i++) {
		const struct snapshot_state *t = &s->state[i];

		fprintf(out, "state %s %s %u", state_name(i, name), snapshot_kind_name(t->kind),
			t->order);
		for (unsigned bit = 0; bit < SNAPSHOT_FLAGS; bit++)
			if (t->flags >> bit & 1)
				fprintf(out, " %s", snapshot_flag_name(bit));
		fputc('\n', out);
	}
}

/* Runs up to the next block boundary, as text; returns the page frame there. */
static uint64_t block_line(const struct snapshot *s, uint64_t *run, uint64_t pfn, char *line)
{
	char name[8];
	size_t at = 0;

	line[0] = '\0';
	do {
		const struct snapshot_run *r = &s->run[(*run)++];

		if (r->count > 1)
			at += (size_t)sprintf(line + at, "%u", r->count);
		at += (size_t)sprintf(line + at, "%s", state_name(r->state, name));
		pfn += (uint64_t)r->count << s->state[r->state].order;
	} while (pfn % SNAPSHOT_BLOCK && *run < s->runs);
	return pfn;
}

/* Blocks that follow each other and are alike take one line. */
static void write_pages(const struct snapshot *s, FILE *out)
{
	char line[2][LINE_MOST] = {"", ""};
	uint64_t run = 0, pfn = 0, first = 0, alike = 0, length = 0;
	unsigned now = 0;

	while (run < s->runs) {
		uint64_t start = pfn;

		pfn = block_line(s, &run, pfn, line[now]);
		if (alike && pfn - start == length && !strcmp(line[0], line[1])) {
			alike++;
			continue;
		}
		if (alike)
			fprintf(out, "pages %" PRIu64 " %" PRIu64 " %s\n", first, alike,
				line[!now]);
		first = start;
		alike = 1;
		length = pfn - start;
		now = !now;
	}
	if (alike)
		fprintf(out, "pages %" PRIu64 " %" PRIu64 " %s\n", first, alike, line[!now]);
}

static void write_memories(const struct snapshot *s, FILE *out)
{
	for (unsigned i = 0; i < s->memories; i++) {
		const struct snapshot_memory *m = &s->memory[i];

		fprintf(out, "memory %s %" PRIu64 "\n", m->step, m->pages);
		for (uint32_t k = m->first; k < m->first + m->count; k++) {
			const struct snapshot_stretch *t = &s->stretch[k];

			fprintf(out, "at %u %u %u", t->position, t->pfn, t->count);
			if (t->count > 1)
				fprintf(out, " %d %d", t->by, t->pfn_by);
			fputc('\n', out);
		}
	}
}

/* ---- from inside ----------------------------------------------------------------------------- */

static void write_stretches(const struct snapshot *s, uint32_t first, uint32_t count, FILE *out)
{
	for (uint32_t k = first; k < first + count; k++) {
		const struct snapshot_stretch *t = &s->stretch[k];

		fprintf(out, "in %u %u", t->pfn, t->count);
		if (t->count > 1)
			fprintf(out, " %d", t->pfn_by);
		fputc('\n', out);
	}
}

static void write_blocks(const struct snapshot *s, FILE *out)
{
	fputs("blocks ", out);
	for (uint64_t i = 0, next; i < s->blocks; i = next) {
		for (next = i + 1; next < s->blocks && s->block[next] == s->block[i];)
			next++;
		if (next - i > 1)
			fprintf(out, "%" PRIu64, next - i);
		fprintf(out, "%c%s", snapshot_type_letters[s->block[i] & 7],
			s->block[i] & 8 ? "s" : "");
	}
	fputc('\n', out);
}

static void write_inside(const struct snapshot *s, FILE *out)
{
	if (s->blocks)
		write_blocks(s, out);
	for (unsigned i = 0; i < SNAPSHOT_MAX_NODES; i++)
		if (s->node[i].there && s->node[i].kswapd_failures)
			fprintf(out, "kswapd %u failed %u\n", i, s->node[i].kswapd_failures);
	for (unsigned i = 0; i < s->scans; i++) {
		const struct snapshot_scanners *c = &s->scan[i];

		fprintf(out,
			"scanners %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			" deferred %u %u %u%s\n",
			c->node, snapshot_zone_names[c->zone], c->migrate[0], c->migrate[1],
			c->free, c->init_migrate, c->init_free, c->considered, c->shift,
			c->order_failed, c->flush ? " flush" : "");
	}
	for (unsigned i = 0; i < s->tunings; i++) {
		const struct snapshot_tuning *t = &s->tuning[i];

		fprintf(out, "tuning %u %s %u %u %u %u\n", t->node, snapshot_zone_names[t->zone],
			t->cpu, t->high, t->free_count, t->alloc_factor);
	}
	for (unsigned i = 0; i < s->lists; i++) {
		const struct snapshot_list *l = &s->list[i];

		fprintf(out, "list %u %s %u %c", l->node, snapshot_zone_names[l->zone], l->order,
			snapshot_type_letters[l->type]);
		if (l->cpu != SNAPSHOT_NO_CPU)
			fprintf(out, " %u", l->cpu);
		fputc('\n', out);
		write_stretches(s, l->first, l->count, out);
	}
}

/* ---- the envelope ---------------------------------------------------------------------------- */

static int compress_text(const char *text, size_t length, void **data, size_t *size)
{
	z_stream z;
	size_t room;
	int r;

	memset(&z, 0, sizeof(z));
	if (deflateInit2(&z, Z_BEST_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) !=
	    Z_OK)
		return -ENOMEM;
	room = deflateBound(&z, length);
	*data = malloc(room);
	*size = 0;
	r = *data ? Z_OK : Z_MEM_ERROR;
	/* zlib counts in unsigned int. */
	while (r == Z_OK) {
		size_t in = length - z.total_in, left = room - z.total_out;

		z.next_in = (z_const Bytef *)(uintptr_t)(text + z.total_in);
		z.avail_in = in < 1u << 30 ? (uInt)in : 1u << 30;
		z.next_out = (Bytef *)*data + z.total_out;
		z.avail_out = left < 1u << 30 ? (uInt)left : 1u << 30;
		r = deflate(&z, in <= 1u << 30 ? Z_FINISH : Z_NO_FLUSH);
	}
	*size = z.total_out;
	deflateEnd(&z);
	if (r == Z_STREAM_END)
		return 0;
	free(*data);
	*data = NULL;
	return -ENOMEM;
}

int snapshot_pack(const struct snapshot *s, void **data, size_t *size, struct cl_error *err)
{
	char *text = NULL;
	size_t length = 0;
	FILE *out;
	int r = snapshot_check(s, err);

	*data = NULL;
	if (r)
		return r;
	out = open_memstream(&text, &length);
	if (!out)
		return cl_error(err, -ENOMEM, "out of memory");
	write_head(s, out);
	write_states(s, out);
	write_pages(s, out);
	write_memories(s, out);
	write_inside(s, out);
	fputs("end\n", out);
	r = ferror(out) ? -ENOMEM : 0;
	if (fclose(out) || r || !text)
		r = -ENOMEM;
	if (!r)
		r = compress_text(text, length, data, size);
	free(text);
	return r ? cl_error(err, r, "out of memory") : 0;
}
