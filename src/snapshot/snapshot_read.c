/* SPDX-License-Identifier: MIT */
/* The way back from a file. Nothing of it is trusted. */
#include "snapshot/snapshot.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include "procfs/span.h"
#include "util/util.h"

#define TEXT_MOST   (4ull << 30) /* a snapshot that claims to be larger is a mistake */
#define GZIP_WINDOW (15 + 16)

struct reader {
	struct span rest;
	const char *name;
	int line;
	struct snapshot *s;
	struct cl_error *err;
};

__attribute__((format(printf, 2, 3))) static int damaged(const struct reader *r, const char *fmt,
							 ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cl_error_at(r->err, -EINVAL, r->name, r->line, "damaged snapshot: %s", text);
	return -EINVAL;
}

static int no_memory(const struct reader *r)
{
	return cl_error(r->err, -ENOMEM, "out of memory");
}

/* ---- words of a line ------------------------------------------------------------------------- */

static bool number(struct span *l, uint64_t most, uint64_t *value)
{
	struct span w;

	return span_word(l, &w) && span_u64(&w, value) && !w.length && *value <= most;
}

static bool signed_number(struct span *l, int32_t *value)
{
	struct span w;
	int64_t v;

	if (!span_word(l, &w) || !span_i64(&w, &v) || w.length || v < INT32_MIN || v > INT32_MAX)
		return false;
	*value = (int32_t)v;
	return true;
}

static bool literal(struct span *l, const char *text)
{
	struct span w;

	return span_word(l, &w) && span_is(w, text);
}

static char *copy(const struct span *l)
{
	return strndup(l->at, l->length);
}

/* The rest of the line as a text that may be given once. */
static int take_text(struct reader *r, struct span *l, char **to)
{
	span_trim(l);
	if (*to || !l->length)
		return damaged(r, *to ? "given twice" : "nothing is given");
	*to = copy(l);
	return *to ? 0 : no_memory(r);
}

/* ---- the head -------------------------------------------------------------------------------- */

static int read_kernel(struct reader *r, struct span *l)
{
	return take_text(r, l, &r->s->release);
}

static int read_version(struct reader *r, struct span *l)
{
	return take_text(r, l, &r->s->version);
}

static int read_machine(struct reader *r, struct span *l)
{
	return take_text(r, l, &r->s->machine);
}

static int read_taken(struct reader *r, struct span *l)
{
	return take_text(r, l, &r->s->taken);
}

static int read_before(struct reader *r, struct span *l)
{
	struct span w;
	int e;

	if (!span_word(l, &w))
		return damaged(r, "no scenario");
	e = take_text(r, &w, &r->s->scenario);
	return e ? e : take_text(r, l, &r->s->step);
}

static int read_cpus(struct reader *r, struct span *l)
{
	uint64_t v;

	if (!number(l, 65535, &v) || !v)
		return damaged(r, "that is no number of CPUs");
	r->s->cpus = (unsigned)v;
	return 0;
}

static int read_node(struct reader *r, struct span *l)
{
	uint64_t id, cpus, distance;
	struct snapshot_node *n;

	if (!number(l, SNAPSHOT_MAX_NODES - 1, &id) || !literal(l, "cpus") ||
	    !number(l, 65535, &cpus) || !literal(l, "distance"))
		return damaged(r, "that is no node");
	n = &r->s->node[id];
	if (n->there)
		return damaged(r, "node %" PRIu64 " is there twice", id);
	n->there = true;
	n->cpus = (unsigned)cpus;
	for (span_blanks(l); l->length;) {
		if (n->distances == SNAPSHOT_MAX_NODES || !number(l, 255, &distance))
			return damaged(r, "that is no distance");
		n->distance[n->distances++] = (uint8_t)distance;
	}
	return 0;
}

static int read_setting(struct reader *r, struct span *l)
{
	struct span w;
	char *name, *value;
	int e;

	if (!span_word(l, &w) || r->s->settings == 1024)
		return damaged(r, "that is no setting");
	span_trim(l);
	name = copy(&w);
	value = copy(l);
	e = name && value ? snapshot_setting_add(r->s, name, value) : -ENOMEM;
	free(name);
	free(value);
	return e ? no_memory(r) : 0;
}

/* So many bytes and a newline. */
static int read_text(struct reader *r, struct span *l)
{
	struct span w;
	uint64_t length;

	if (!span_word(l, &w) || !number(l, r->rest.length, &length) || length == r->rest.length ||
	    r->rest.at[length] != '\n')
		return damaged(r, "the length of the text is wrong");
	for (unsigned i = 0; i < SNAPSHOT_TEXTS; i++) {
		struct span text = span_of(r->rest.at, length);

		if (!span_is(w, snapshot_text_name(i)))
			continue;
		if (r->s->text[i])
			return damaged(r, "the text of /proc/%s is there twice",
				       snapshot_text_name(i));
		for (size_t k = 0; k <= length; k++)
			r->line += text.at[k] == '\n';
		r->rest = span_of(text.at + length + 1, r->rest.length - length - 1);
		r->s->text[i] = copy(&text);
		return r->s->text[i] ? 0 : no_memory(r);
	}
	return damaged(r, "there is no text of that name");
}

/* ---- pages ----------------------------------------------------------------------------------- */

static bool state_number(struct span *l, unsigned *id)
{
	unsigned high = 0;

	for (; l->length && *l->at >= 'A' && *l->at <= 'Z'; l->at++, l->length--) {
		if (high > 100)
			return false;
		high = high * 26 + (unsigned)(*l->at - 'A') + 1;
	}
	if (!l->length || *l->at < 'a' || *l->at > 'z')
		return false;
	*id = high * 26 + (unsigned)(*l->at - 'a');
	l->at++;
	l->length--;
	return true;
}

static bool flag_of(const struct span *w, uint16_t *flags)
{
	for (unsigned bit = 0; bit < SNAPSHOT_FLAGS; bit++) {
		if (span_is(*w, snapshot_flag_name(bit))) {
			*flags |= (uint16_t)(1u << bit);
			return true;
		}
	}
	return false;
}

/* States are numbered in the order of their lines. */
static int read_state(struct reader *r, struct span *l)
{
	struct snapshot *s = r->s;
	struct snapshot_state state = {.kind = SNAPSHOT_KINDS}, *more;
	struct span name, kind, w;
	uint64_t order;
	unsigned id;

	if (!span_word(l, &name) || !state_number(&name, &id) || name.length || id != s->states ||
	    !span_word(l, &kind) || !number(l, SNAPSHOT_MAX_ORDER, &order))
		return damaged(r, "that is no state");
	for (unsigned k = 0; k < SNAPSHOT_KINDS; k++)
		if (span_is(kind, snapshot_kind_name(k)))
			state.kind = (uint8_t)k;
	state.order = (uint8_t)order;
	for (span_blanks(l); l->length; span_blanks(l))
		if (!span_word(l, &w) || !flag_of(&w, &state.flags))
			return damaged(r, "no page has such a flag");
	if (state.kind == SNAPSHOT_KINDS || (state.kind <= SNAPSHOT_FREE && state.order))
		return damaged(r, "no page is of that kind");
	more = realloc(s->state, (s->states / 64 + 1) * 64 * sizeof(*more));
	if (!more)
		return no_memory(r);
	s->state = more;
	s->state[s->states++] = state;
	return 0;
}

/* One block's runs, appended. */
static int add_block(struct reader *r, struct span l)
{
	uint64_t start = r->s->pages;

	while (l.length) {
		uint64_t count = 1;
		unsigned id;
		int e;

		if (*l.at >= '0' && *l.at <= '9' && !span_u64(&l, &count))
			count = 0;
		if (!count || count > SNAPSHOT_BLOCK || !state_number(&l, &id) ||
		    id >= r->s->states)
			return damaged(r, "that is no run of pages");
		e = snapshot_add(r->s, r->s->state[id], count);
		if (e == -ENOMEM)
			return no_memory(r);
		if (e)
			return damaged(r, "pages where none can be");
		if (r->s->pages - start > 2 * SNAPSHOT_BLOCK)
			return damaged(r, "more pages than a block has");
	}
	return r->s->pages % SNAPSHOT_BLOCK || r->s->pages == start
		       ? damaged(r, "fewer pages than a block has")
		       : 0;
}

static int read_pages(struct reader *r, struct span *l)
{
	uint64_t pfn, alike;
	int e = 0;

	if (!number(l, SNAPSHOT_MAX_PAGES, &pfn) || pfn != r->s->pages ||
	    !number(l, SNAPSHOT_MAX_PAGES / SNAPSHOT_BLOCK, &alike) || !alike)
		return damaged(r, "pages out of order");
	span_trim(l);
	while (alike-- && !e)
		e = add_block(r, *l);
	return e;
}

/* ---- memories -------------------------------------------------------------------------------- */

static int read_memory(struct reader *r, struct span *l)
{
	uint64_t pages;
	struct span w;
	char *step;
	int e;

	if (!span_word(l, &w) || !number(l, SNAPSHOT_MAX_PAGES, &pages) || r->s->lists ||
	    r->s->memories == 1024)
		return damaged(r, "that is no memory of a step");
	step = copy(&w);
	e = step ? snapshot_memory_add(r->s, step, pages) : -ENOMEM;
	free(step);
	return e ? no_memory(r) : 0;
}

static int read_at(struct reader *r, struct span *l)
{
	struct snapshot *s = r->s;
	struct snapshot_stretch t = {0};
	uint64_t position, pfn, count;

	if (!s->memories || s->lists || !number(l, SNAPSHOT_MAX_PAGES, &position) ||
	    !number(l, SNAPSHOT_MAX_PAGES, &pfn) || !number(l, SNAPSHOT_MAX_PAGES, &count) ||
	    (count > 1 && (!signed_number(l, &t.by) || !signed_number(l, &t.pfn_by))))
		return damaged(r, "that is no stretch of memory");
	t.position = (uint32_t)position;
	t.pfn = (uint32_t)pfn;
	t.count = (uint32_t)count;
	if (snapshot_stretch_add(s, t))
		return no_memory(r);
	s->memory[s->memories - 1].count++;
	return 0;
}

/* ---- from inside ----------------------------------------------------------------------------- */

static bool letter_type(char c, unsigned *type)
{
	const char *at = c ? strchr(snapshot_type_letters, c) : NULL;

	*type = at ? (unsigned)(at - snapshot_type_letters) : 0;
	return at && (*type < 6 || *type == SNAPSHOT_TYPE_NONE);
}

static bool node_zone(struct span *l, uint8_t *node, uint8_t *zone)
{
	struct span w;
	uint64_t id;

	if (!number(l, SNAPSHOT_MAX_NODES - 1, &id) || !span_word(l, &w))
		return false;
	*node = (uint8_t)id;
	for (unsigned i = 0; i < SNAPSHOT_ZONES; i++) {
		*zone = (uint8_t)i;
		if (span_is(w, snapshot_zone_names[i]))
			return true;
	}
	return false;
}

static int read_blocks(struct reader *r, struct span *l)
{
	if (r->s->blocks)
		return damaged(r, "given twice");
	for (span_blanks(l); l->length;) {
		uint64_t count = 1;
		unsigned type;
		bool skip;

		if (*l->at >= '0' && *l->at <= '9' && !span_u64(l, &count))
			count = 0;
		if (!count || count > r->s->pages / SNAPSHOT_BLOCK - r->s->blocks || !l->length ||
		    !letter_type(*l->at, &type))
			return damaged(r, "that is no type of blocks");
		l->at++;
		l->length--;
		skip = span_skip(l, "s");
		while (count--)
			if (snapshot_block_add(r->s, type, skip))
				return no_memory(r);
	}
	return 0;
}

static int read_scanners(struct reader *r, struct span *l)
{
	uint64_t most = SNAPSHOT_MAX_PAGES, considered, shift, failed;
	struct snapshot_scanners c = {0};

	if (!node_zone(l, &c.node, &c.zone) || !number(l, most, &c.migrate[0]) ||
	    !number(l, most, &c.migrate[1]) || !number(l, most, &c.free) ||
	    !number(l, most, &c.init_migrate) || !number(l, most, &c.init_free) ||
	    !literal(l, "deferred") || !number(l, UINT32_MAX, &considered) ||
	    !number(l, 6, &shift) || !number(l, 32, &failed) ||
	    ((c.flush = l->length) && !literal(l, "flush")) || r->s->scans == 4096)
		return damaged(r, "those are no positions of scanners");
	c.considered = (uint32_t)considered;
	c.shift = (uint8_t)shift;
	c.order_failed = (uint8_t)failed;
	return snapshot_scanners_add(r->s, c) ? no_memory(r) : 0;
}

static int read_kswapd(struct reader *r, struct span *l)
{
	uint64_t node, failures;

	if (!number(l, SNAPSHOT_MAX_NODES - 1, &node) || !literal(l, "failed") ||
	    !number(l, INT32_MAX, &failures) || !r->s->node[node].there)
		return damaged(r, "that is no kswapd");
	r->s->node[node].kswapd_failures = (uint32_t)failures;
	return 0;
}

static int read_tuning(struct reader *r, struct span *l)
{
	uint64_t cpu, high, freed, factor;
	struct snapshot_tuning t = {0};

	if (!node_zone(l, &t.node, &t.zone) || !number(l, SNAPSHOT_NO_CPU - 1, &cpu) ||
	    !number(l, UINT32_MAX, &high) || !number(l, UINT32_MAX, &freed) ||
	    !number(l, 255, &factor) || r->s->tunings == 1u << 20)
		return damaged(r, "that is no tuning of a CPU's lists");
	t.cpu = (uint16_t)cpu;
	t.high = (uint32_t)high;
	t.free_count = (uint32_t)freed;
	t.alloc_factor = (uint32_t)factor;
	return snapshot_tuning_add(r->s, t) ? no_memory(r) : 0;
}

static int read_list(struct reader *r, struct span *l)
{
	struct snapshot_list list = {.cpu = SNAPSHOT_NO_CPU};
	uint64_t order, cpu;
	struct span w;
	unsigned type;

	if (!node_zone(l, &list.node, &list.zone) || !number(l, SNAPSHOT_MAX_ORDER, &order) ||
	    !span_word(l, &w) || w.length != 1 || !letter_type(*w.at, &type) || type > 5 ||
	    r->s->lists == 1u << 20)
		return damaged(r, "that is no free list");
	span_blanks(l);
	if (l->length) {
		if (!number(l, SNAPSHOT_NO_CPU - 1, &cpu))
			return damaged(r, "that is no CPU");
		list.cpu = (uint16_t)cpu;
	}
	list.order = (uint8_t)order;
	list.type = (uint8_t)type;
	return snapshot_list_add(r->s, list) ? no_memory(r) : 0;
}

static int read_in(struct reader *r, struct span *l)
{
	struct snapshot *s = r->s;
	struct snapshot_stretch t = {.by = 1};
	uint64_t pfn, count;

	if (!s->lists || !number(l, SNAPSHOT_MAX_PAGES, &pfn) ||
	    !number(l, SNAPSHOT_MAX_PAGES, &count) || !count ||
	    (count > 1 && !signed_number(l, &t.pfn_by)))
		return damaged(r, "that is no part of a free list");
	t.pfn = (uint32_t)pfn;
	t.count = (uint32_t)count;
	if (snapshot_stretch_add(s, t))
		return no_memory(r);
	s->list[s->lists - 1].count++;
	return 0;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static const struct {
	const char *keyword;
	int (*read)(struct reader *r, struct span *l);
} lines[] = {
	{"pages", read_pages},   {"at", read_at},           {"state", read_state},
	{"memory", read_memory}, {"setting", read_setting}, {"text", read_text},
	{"kernel", read_kernel}, {"version", read_version}, {"machine", read_machine},
	{"taken", read_taken},   {"before", read_before},   {"cpus", read_cpus},
	{"node", read_node},     {"in", read_in},           {"list", read_list},
	{"blocks", read_blocks}, {"tuning", read_tuning},   {"scanners", read_scanners},
	{"kswapd", read_kswapd},
};

static int read_line(struct reader *r, struct span *l)
{
	struct span w = {0};

	span_word(l, &w);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		if (span_is(w, lines[i].keyword))
			return lines[i].read(r, l);
	return damaged(r, "no line starts with '%.*s'", w.length < 20 ? (int)w.length : 20,
		       w.at ? w.at : "");
}

static bool next_line(struct reader *r, struct span *l)
{
	r->line++;
	return span_line(&r->rest, l);
}

static int read_first(struct reader *r)
{
	struct span l = {0}, w;
	uint64_t version;

	if (!next_line(r, &l) || !span_word(&l, &w) || !span_is(w, "compactlab-snapshot") ||
	    !number(&l, UINT32_MAX, &version)) {
		cl_error_at(r->err, -EINVAL, r->name, 0, "this is no snapshot");
		return cl_error_hint(r->err, -EINVAL, "compactlab snapshot takes one");
	}
	if (version == SNAPSHOT_VERSION)
		return 0;
	cl_error_at(r->err, -EINVAL, r->name, 0,
		    "this snapshot has version %" PRIu64 " of the format; version %d can be read",
		    version, SNAPSHOT_VERSION);
	return cl_error_hint(r->err, -EINVAL, "use the program it was taken with");
}

static int read_all(struct reader *r)
{
	struct span l;
	struct cl_error why = {0};
	int e = read_first(r);

	while (!e) {
		if (!next_line(r, &l))
			return damaged(r, "the end is missing");
		if (span_is(l, "end"))
			break;
		e = read_line(r, &l);
	}
	if (!e && r->rest.length)
		return damaged(r, "something follows its end");
	if (!e && snapshot_check(r->s, &why))
		return damaged(r, "%.200s", why.what);
	return e;
}

int snapshot_parse(const char *text, size_t length, const char *name, struct snapshot **out,
		   struct cl_error *err)
{
	struct reader r = {.rest = span_of(text, length), .name = name, .err = err};
	int e;

	*out = NULL;
	r.s = snapshot_new(0);
	if (!r.s)
		return no_memory(&r);
	e = memchr(text, '\0', length) ? damaged(&r, "a null byte in its text") : read_all(&r);
	if (e)
		snapshot_free(r.s);
	else
		*out = r.s;
	return e;
}

/* ---- the envelope ---------------------------------------------------------------------------- */

static int not_whole(const char *name, struct cl_error *err)
{
	cl_error_at(err, -EINVAL, name, 0, "this snapshot is damaged or not whole");
	return cl_error_hint(err, -EINVAL, "copy it again, or take another");
}

static int inflate_text(const void *data, size_t size, char **text, size_t *length)
{
	size_t room = size * 8 + 4096;
	z_stream z;
	int r;

	memset(&z, 0, sizeof(z));
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	*text = malloc(room);
	r = *text ? Z_OK : Z_MEM_ERROR;
	while (r == Z_OK) {
		size_t in = size - z.total_in, left = room - z.total_out;

		if (!left) {
			char *more = room < TEXT_MOST ? realloc(*text, room * 2) : NULL;

			r = more ? Z_OK : Z_MEM_ERROR;
			*text = more ? more : *text;
			room *= 2;
			continue;
		}
		z.next_in = (z_const Bytef *)(uintptr_t)data + z.total_in;
		z.avail_in = in < 1u << 30 ? (uInt)in : 1u << 30;
		z.next_out = (Bytef *)*text + z.total_out;
		z.avail_out = left < 1u << 30 ? (uInt)left : 1u << 30;
		r = inflate(&z, Z_NO_FLUSH);
	}
	*length = z.total_out;
	if (r == Z_STREAM_END && z.total_in != size)
		r = Z_DATA_ERROR;
	inflateEnd(&z);
	if (r == Z_STREAM_END)
		return 0;
	free(*text);
	*text = NULL;
	return r == Z_MEM_ERROR ? -ENOMEM : -EINVAL;
}

int snapshot_unpack(const void *data, size_t size, const char *name, struct snapshot **out,
		    struct cl_error *err)
{
	static const unsigned char gzip[] = {0x1f, 0x8b};
	size_t length;
	char *text;
	int r;

	*out = NULL;
	/* A file somebody has unpacked, to look at it or to change it, is as good. */
	if (size < sizeof(gzip) || memcmp(data, gzip, sizeof(gzip)) != 0)
		return snapshot_parse(data, size, name, out, err);
	r = inflate_text(data, size, &text, &length);
	if (r == -ENOMEM)
		return cl_error(err, r, "out of memory");
	if (r)
		return not_whole(name, err);
	r = snapshot_parse(text, length, name, out, err);
	free(text);
	return r;
}

int snapshot_load(const char *path, struct snapshot **out, struct cl_error *err)
{
	size_t size;
	char *data;
	int r = file_read(path, &data, &size);

	*out = NULL;
	if (r) {
		cl_error_at(err, -EINVAL, path, 0, "cannot read the snapshot: %s", strerror(-r));
		return -EINVAL;
	}
	r = snapshot_unpack(data, size, path, out, err);
	free(data);
	return r;
}
