/* SPDX-License-Identifier: MIT */
#include "procfs/klog.h"
#include "procfs/klog_line.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Reports that can be open at a time: one a printing thread. */
#define CONTEXTS 4
/* A report is over when that many lines said nothing that belongs to it. */
#define QUIET_LINES 60
/* Zones of one report: 64 nodes of four. */
#define ZONES_MOST 256

struct context {
	uint32_t caller;
	struct klog_event *e;
	int last_line;
	bool past_interrupt; /* the stack went on below the interrupt */
	unsigned list_of;    /* 1 + the zone whose free list has not ended, or 0 */
	unsigned state_of;   /* the same for the state line, which ends with lowmem_reserve */
	unsigned reserve_of; /* 1 + the zone a lowmem_reserve line would belong to, or 0 */
};

struct klog_reader {
	void (*done)(void *arg, struct klog_event *event);
	void *arg;
	struct context context[CONTEXTS];
	struct context *latest;
	struct klog_event *cma; /* CMA lines come in bursts of their own */
	char kernel[64];        /* "Linux version ..." of the log */
	uint32_t version;
};

struct klog_reader *klog_reader_new(void (*done)(void *arg, struct klog_event *event), void *arg)
{
	struct klog_reader *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->done = done;
	r->arg = arg;
	return r;
}

static struct klog_event *event_new(enum klog_kind kind, int line)
{
	struct klog_event *e = calloc(1, sizeof(*e));

	if (!e)
		return NULL;
	e->kind = kind;
	e->line = e->last_line = line;
	e->order = -1;
	e->pid = -1;
	e->cache_order = e->cache_min_order = -1;
	e->repeats = 1;
	for (unsigned i = 0; i < KLOG_COUNTS; i++)
		e->count[i] = UINT64_MAX;
	return e;
}

void klog_event_free(struct klog_event *e)
{
	if (!e)
		return;
	free(e->zone);
	free(e);
}

/* Does a report without zones say anything about memory? */
static bool worth_keeping(const struct klog_event *e)
{
	if (e->kind == KLOG_DUMP)
		return e->zones > 0;
	if (e->kind == KLOG_SLUB)
		return e->has_gfp || e->cache[0];
	if (e->kind != KLOG_LOCKUP)
		return true;
	for (unsigned i = 0; i < e->frames; i++)
		if (klog_line_is_memory_function(e->frame[i].function))
			return true;
	return false;
}

/* Without frame pointers every function is doubtful; beside sure ones, they are left out. */
static void drop_doubtful(struct klog_event *e)
{
	unsigned sure = 0, kept = 0;

	for (unsigned i = 0; i < e->frames; i++)
		sure += !e->frame[i].doubtful;
	for (unsigned i = 0; i < e->frames && sure; i++)
		if (!e->frame[i].doubtful)
			e->frame[kept++] = e->frame[i];
	if (sure)
		e->frames = kept;
}

static void finish(struct klog_reader *r, struct klog_event *e)
{
	if (!e->kernel[0] && r->kernel[0]) {
		memcpy(e->kernel, r->kernel, sizeof(e->kernel));
		e->version = r->version;
	}
	drop_doubtful(e);
	if (e->has_gfp && !e->gfp_named)
		e->gfp = gfp_from_mask(e->gfp_mask, e->version);
	for (unsigned i = 0; i < e->frames; i++) {
		e->interrupt |= klog_line_is_interrupt_function(e->frame[i].function);
		e->memcg |= !strcmp(e->frame[i].function, "mem_cgroup_out_of_memory");
	}
	if (worth_keeping(e))
		r->done(r->arg, e);
	else
		klog_event_free(e);
}

static void close_context(struct klog_reader *r, struct context *c)
{
	struct klog_event *e = c->e;

	memset(c, 0, sizeof(*c));
	if (r->latest == c)
		r->latest = NULL;
	if (e)
		finish(r, e);
}

static void close_cma(struct klog_reader *r)
{
	struct klog_event *e = r->cma;

	r->cma = NULL;
	if (e)
		finish(r, e);
}

void klog_reader_end(struct klog_reader *r)
{
	for (;;) { /* in the order in which they began */
		struct context *first = NULL;

		for (unsigned i = 0; i < CONTEXTS; i++) {
			struct context *c = &r->context[i];

			if (c->e && (!first || c->e->line < first->e->line))
				first = c;
		}
		if (!first)
			break;
		close_context(r, first);
	}
	close_cma(r);
}

void klog_reader_free(struct klog_reader *r)
{
	if (!r)
		return;
	for (unsigned i = 0; i < CONTEXTS; i++)
		klog_event_free(r->context[i].e);
	klog_event_free(r->cma);
	free(r);
}

/* ---- which report a line belongs to ------------------------------------------------- */

static struct context *context_of(struct klog_reader *r, const struct klog_prefix *p)
{
	/* A line without any prefix continues the one before it. */
	if (!p->kernel_log && r->latest)
		return r->latest;
	for (unsigned i = 0; i < CONTEXTS; i++)
		if (r->context[i].e && r->context[i].caller == p->caller)
			return &r->context[i];
	return NULL;
}

static struct context *open_context(struct klog_reader *r, const struct klog_prefix *p,
				    enum klog_kind kind, int line)
{
	struct context *c = NULL;

	for (unsigned i = 0; i < CONTEXTS; i++)
		if (r->context[i].e && r->context[i].caller == p->caller)
			c = &r->context[i];
	if (!c) {
		c = &r->context[0];
		for (unsigned i = 0; i < CONTEXTS; i++) {
			if (!r->context[i].e) {
				c = &r->context[i];
				break;
			}
			if (r->context[i].last_line < c->last_line)
				c = &r->context[i];
		}
	}
	close_context(r, c);
	c->e = event_new(kind, line);
	if (!c->e)
		return NULL;
	c->caller = p->caller;
	c->last_line = line;
	c->e->has_time = p->has_time;
	c->e->time_us = p->time_us;
	if (p->has_comm)
		memcpy(c->e->comm, p->comm, sizeof(c->e->comm));
	r->latest = c;
	return c;
}

static void expire(struct klog_reader *r, int line)
{
	for (unsigned i = 0; i < CONTEXTS; i++)
		if (r->context[i].e && line - r->context[i].last_line > QUIET_LINES)
			close_context(r, &r->context[i]);
	if (r->cma && line - r->cma->last_line > QUIET_LINES)
		close_cma(r);
}

/* ---- headers ------------------------------------------------------------------------ */

static bool slub_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct context *c;

	if (!span_find(s, "nable to allocate memory on node"))
		return false;
	c = open_context(r, p, KLOG_SLUB, line);
	if (c)
		klog_line_gfp(s, "gfp=", c->e);
	return true;
}

static bool lockup_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct context *c;

	if (!span_find(s, "soft lockup") && !span_find(s, "detected stall") &&
	    !span_find(s, "blocked for more than") && !span_find(s, "detected stalls"))
		return false;
	c = open_context(r, p, KLOG_LOCKUP, line);
	if (c)
		klog_line_lockup(s, c->e);
	return true;
}

static bool header_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct klog_event head = {0};
	struct context *c;

	head.order = -1;
	if (klog_line_header(s, &head)) {
		c = open_context(r, p, head.kind, line);
		if (!c)
			return true;
		c->e->order = head.order;
		c->e->has_gfp = head.has_gfp;
		c->e->gfp_mask = head.gfp_mask;
		c->e->gfp_named = head.gfp_named;
		c->e->gfp = head.gfp;
		c->e->stall_ms = head.stall_ms;
		c->e->memcg = head.memcg;
		if (head.comm[0])
			memcpy(c->e->comm, head.comm, sizeof(c->e->comm));
		return true;
	}
	if (!context_of(r, p) && span_find(s, "ut of memory: Kill")) {
		/* The report is cut off or was never printed; that it happened counts. */
		c = open_context(r, p, KLOG_OOM, line);
		if (c)
			c->e->truncated = true;
		return c && klog_line_oom_detail(s, c->e) ? true : c != NULL;
	}
	return slub_line(r, s, p, line) || lockup_line(r, s, p, line);
}

static bool cma_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct klog_event one = {0};

	if (!klog_line_cma(s, r->cma, &one))
		return false;
	if (r->cma && (one.ret || one.wanted) && (r->cma->ret || r->cma->wanted))
		close_cma(r);
	if (!r->cma) {
		r->cma = event_new(KLOG_CMA, line);
		if (!r->cma)
			return true;
		r->cma->has_time = p->has_time;
		r->cma->time_us = p->time_us;
		if (p->has_comm)
			memcpy(r->cma->comm, p->comm, sizeof(r->cma->comm));
	}
	klog_line_cma_add(r->cma, &one);
	r->cma->last_line = line;
	return true;
}

static bool hugetlb_line(struct klog_reader *r, struct span s, int line)
{
	struct klog_event one = {0}, *e;

	if (!klog_line_hugetlb(s, &one))
		return false;
	e = event_new(KLOG_HUGETLB, line);
	if (!e)
		return true;
	e->wanted = one.wanted;
	e->got = one.got;
	e->has_got = one.has_got;
	e->page_kb = one.page_kb;
	finish(r, e);
	return true;
}

static bool version_line(struct klog_reader *r, struct span s)
{
	struct span word;

	if (!span_skip(&s, "Linux version ") || !span_word(&s, &word) ||
	    !kernel_version_parse(word, &r->version))
		return false;
	span_put(word, r->kernel, sizeof(r->kernel));
	return true;
}

const char *const klog_begin_words[] = {
	"page allocation",
	"invoked oom-killer",
	"locate memory on node",
	"soft lockup",
	"detected stall",
	"blocked for more than",
	"PFNs busy",
	"cma",
	"CMA",
	"of available pages",
	"Only allocated",
	"Linux version ",
	"vmalloc: alloc",
	"vmap allocation",
	"ut of memory: Kill",
	"ailed to allocate buffer",
	"dma_alloc",
	"coherent allocation",
	NULL,
};

static bool begin_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	return header_line(r, s, p, line) || cma_line(r, s, p, line) || hugetlb_line(r, s, line) ||
	       version_line(r, s);
}

/* ---- bodies ------------------------------------------------------------------------- */

static struct klog_zone *zone_for(struct klog_event *e, const struct klog_zone *z)
{
	struct klog_zone *more;

	for (unsigned i = 0; i < e->zones; i++)
		if (e->zone[i].node == z->node && !strcmp(e->zone[i].name, z->name))
			return &e->zone[i];
	if (e->zones == ZONES_MOST)
		return NULL;
	more = reallocarray(e->zone, e->zones + 1, sizeof(*more));
	if (!more)
		return NULL;
	e->zone = more;
	memset(&e->zone[e->zones], 0, sizeof(*more));
	e->zone[e->zones].node = z->node;
	memcpy(e->zone[e->zones].name, z->name, sizeof(z->name));
	return &e->zone[e->zones++];
}

/* The open report, or a new one without a header. */
static struct context *body_context(struct klog_reader *r, const struct klog_prefix *p, int line)
{
	struct context *c = context_of(r, p);

	return c ? c : open_context(r, p, KLOG_DUMP, line);
}

static bool state_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct klog_zone read = {0}, *z;
	struct context *c;

	if (!span_find(s, "free:") || !klog_zone_state(s, &read))
		return false;
	c = body_context(r, p, line);
	z = c ? zone_for(c->e, &read) : NULL;
	if (z && z->state_line) {
		/* The same zone again: another report, whose header is lost. */
		c = open_context(r, p, KLOG_DUMP, line);
		z = c ? zone_for(c->e, &read) : NULL;
	}
	if (!z)
		return true;
	read.state_line = line;
	read.list_line = z->list_line;
	if (z->list_line) {
		read.orders = z->orders;
		read.page_kb = z->page_kb;
		memcpy(read.blocks, z->blocks, sizeof(read.blocks));
		memcpy(read.types, z->types, sizeof(read.types));
		read.has_types = z->has_types;
		read.has_total = z->has_total;
		read.total_kb = z->total_kb;
	}
	*z = read;
	c->e->memory_state = true;
	c->reserve_of = c->state_of = (unsigned)(z - c->e->zone) + 1;
	return true;
}

static bool list_line(struct klog_reader *r, struct span s, const struct klog_prefix *p, int line)
{
	struct klog_zone read = {0}, *z;
	struct context *c;

	if (!span_find(s, "kB") || !klog_free_list(s, &read))
		return false;
	c = body_context(r, p, line);
	z = c ? zone_for(c->e, &read) : NULL;
	if (z && z->list_line) {
		c->e->odd_lines++;
		return true;
	}
	if (!z)
		return true;
	z->list_line = line;
	z->orders = read.orders;
	z->page_kb = read.page_kb;
	memcpy(z->blocks, read.blocks, sizeof(z->blocks));
	memcpy(z->types, read.types, sizeof(z->types));
	z->has_types = read.has_types;
	z->has_total = read.has_total;
	z->total_kb = read.total_kb;
	c->e->memory_state = true;
	c->state_of = 0;
	c->list_of = read.has_total ? 0 : (unsigned)(z - c->e->zone) + 1;
	return true;
}

/* Mailers wrap: the rest of a list, of a zone's state, or of the header. */
static bool wrapped_line(struct context *c, struct span s, int line)
{
	struct klog_event *e = c->e;
	bool taken = false;

	if (c->list_of && c->list_of <= e->zones) {
		taken = klog_free_list_more(s, &e->zone[c->list_of - 1]);
		if (!taken || e->zone[c->list_of - 1].has_total)
			c->list_of = 0;
	}
	if (!taken && c->state_of && c->state_of <= e->zones) {
		taken = klog_zone_state_more(s, &e->zone[c->state_of - 1]);
		if (!taken)
			c->state_of = 0;
	}
	if (taken || line - e->line > 2)
		return taken;
	if (!e->has_gfp && e->kind <= KLOG_STALL)
		taken = klog_line_gfp(s, e->kind == KLOG_OOM ? "gfp_mask=" : "mode:", e);
	else if (!e->has_gfp && e->kind == KLOG_SLUB)
		taken = klog_line_gfp(s, "gfp=", e);
	if (e->order < 0 && e->kind <= KLOG_STALL && klog_line_order(s, &e->order))
		taken = true;
	return taken;
}

static bool reserve_line(struct context *c, struct span s)
{
	struct klog_zone *z;
	struct span rest;
	uint64_t v;

	if (!span_after(s, "lowmem_reserve[]:", &rest) && !span_after(s, "protections[]:", &rest))
		return false;
	if (!c->reserve_of || c->reserve_of > c->e->zones) {
		c->e->odd_lines++;
		return true;
	}
	z = &c->e->zone[c->reserve_of - 1];
	z->reserves = 0;
	while (z->reserves < PROCFS_MAX_ZONES) {
		span_blanks(&rest);
		if (!span_u64(&rest, &v))
			break;
		z->reserve_pages[z->reserves++] = v;
	}
	c->reserve_of = 0;
	return true;
}

static bool stack_line(struct context *c, struct span s)
{
	struct klog_frame f;
	bool taken = false;

	if (span_find(s, "<IRQ>")) {
		c->e->interrupt = taken = true;
	}
	if (span_find(s, "<EOI>") || span_find(s, "</IRQ>"))
		c->past_interrupt = taken = true;
	if (!klog_frame(s, &f))
		return taken;
	if (c->past_interrupt || c->e->frames == KLOG_FRAMES)
		return true;
	f.doubtful = span_find(s, " ? ") || span_starts(s, "? ");
	c->e->frame[c->e->frames++] = f;
	return true;
}

static bool body_line(struct context *c, struct span s, int line)
{
	struct klog_event *e = c->e;

	if (reserve_line(c, s) || wrapped_line(c, s, line))
		return true;
	if (span_find(s, "Mem-Info:") || span_find(s, "Mem-info:")) {
		e->memory_state = true;
		return true;
	}
	if (klog_line_task(s, e) || klog_line_oom_detail(s, e) || klog_line_slub_cache(s, e) ||
	    stack_line(c, s))
		return true;
	if (klog_line_counts(s, e)) {
		if (!e->count_line)
			e->count_line = line;
		return true;
	}
	return klog_line_summary(s, e);
}

static bool one_line(struct klog_reader *r, struct span text, int line, bool begins)
{
	struct klog_prefix p;
	struct span s = klog_strip(text, &p);
	struct context *c;
	bool taken;

	if (!s.length)
		return false;
	if ((begins && begin_line(r, s, &p, line)) || state_line(r, s, &p, line) ||
	    list_line(r, s, &p, line)) {
		taken = true;
		c = context_of(r, &p);
	} else {
		c = context_of(r, &p);
		taken = c && body_line(c, s, line);
	}
	if (taken && c && c->e) {
		c->last_line = line;
		c->e->last_line = line;
		r->latest = c;
	}
	return taken;
}

/* Loggers that may not print a newline write what it was: "\x0a", "#012", "\n". */
static size_t escaped_newline(struct span s)
{
	static const char *const forms[] = {"#012", "\\x0a", "\\n"};

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if (span_starts(s, forms[i]))
			return strlen(forms[i]);
	return 0;
}

bool klog_reader_line(struct klog_reader *r, struct span text, int line, bool begins)
{
	struct span part = span_of(text.at, 0);
	bool taken = false;

	expire(r, line);
	for (size_t i = 0; i < text.length;) {
		size_t n = text.at[i] == '#' || text.at[i] == '\\'
				   ? escaped_newline(span_of(text.at + i, text.length - i))
				   : 0;

		if (n) {
			taken |= one_line(r, part, line, begins);
			i += n;
			part = span_of(text.at + i, 0);
		} else {
			part.length++;
			i++;
		}
	}
	return one_line(r, part, line, begins) || taken;
}
