/* SPDX-License-Identifier: MIT */
#ifndef EXPLAIN_DERIVE_H
#define EXPLAIN_DERIVE_H
/* From evidence to facts. Nothing is judged here. */
#include "explain/evidence.h"
#include "explain/fact.h"
#include "explain/zone_view.h"

/* The documents that describe one state of one machine; NULL where there is none. */
struct sample {
	const struct document *buddy, *types, *zones, *extfrag, *slab;
	const struct document *buddies[64], *typeses[64], *zoneses[64]; /* all, several nodes */
	unsigned buddy_count, types_count, zones_count;
	const struct document *meminfo[64];
	unsigned meminfo_count;
	const struct document *first; /* for the name */
};

/* A difference of counters, or counters since boot. */
struct window {
	const struct document *before, *after; /* after alone: since boot */
	const struct document *changes;
	struct vmstat_delta delta; /* of before and after */
	bool has_delta;
};

/* Put the state tables into samples; the number of samples, each document marked. */
unsigned sample_assign(struct evidence *e);
void sample_collect(const struct evidence *e, unsigned index, struct sample *out);
/* The sample whose files' names have most in common with that document's file. */
unsigned sample_nearest(const struct evidence *e, const struct document *d, unsigned samples);

/* All differences that can be made of the snapshots, or the snapshots themselves. */
int window_list(struct evidence *e, struct window **out, unsigned *count);
void window_free(struct window *w, unsigned count);

/* Page size of the machine in kB, from what was printed; 4 when nothing tells. */
unsigned derive_page_kb(const struct evidence *e);

void derive_event(struct facts *f, const struct evidence *e, const struct klog_event *log, int file,
		  struct zone_views *views);
void derive_zones(struct facts *f, const struct zone_views *v, const struct request *r);
void derive_sample(struct facts *f, const struct sample *s, unsigned page_kb);
void derive_window(struct facts *f, const struct window *w, unsigned page_kb);
/* What is a share of memory, or of what is free. */
void derive_shares(struct facts *f);
/* A pool of huge pages that was asked to grow; wanted is not 0. */
void derive_pool(struct facts *f, const struct pool_request *p);
/* Profiles, traces, settings. */
void derive_global(struct facts *f, const struct evidence *e);
#endif
