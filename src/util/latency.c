/* SPDX-License-Identifier: MIT */
#include "util/latency.h"
#include <stdio.h>

/* Below 16 each value is a class of its own. */
static unsigned class_of(uint64_t ns)
{
	unsigned top;

	if (ns < 16)
		return (unsigned)ns;
	top = 63 - (unsigned)__builtin_clzll(ns);
	return (top - 3) * 16 + (unsigned)(ns >> (top - 4) & 15);
}

/* The largest value of a class. */
static uint64_t class_end(unsigned class)
{
	unsigned shift = class / 16;

	if (shift < 1)
		return class;
	return ((uint64_t)(16 + class % 16 + 1) << (shift - 1)) - 1;
}

void latency_add(struct latency *l, uint64_t ns)
{
	unsigned class = class_of(ns);

	l->count++;
	l->sum_ns += ns;
	if (ns > l->max_ns)
		l->max_ns = ns;
	l->class[class < LATENCY_CLASSES ? class : LATENCY_CLASSES - 1]++;
}

void latency_merge(struct latency *l, const struct latency *other)
{
	l->count += other->count;
	l->sum_ns += other->sum_ns;
	if (other->max_ns > l->max_ns)
		l->max_ns = other->max_ns;
	for (unsigned i = 0; i < LATENCY_CLASSES; i++)
		l->class[i] += other->class[i];
}

uint64_t latency_percentile(const struct latency *l, unsigned permille)
{
	uint64_t rank = (l->count * permille + 999) / 1000, seen = 0, end;
	unsigned i = 0;

	if (!l->count)
		return 0;
	if (!rank)
		rank = 1;
	for (; i < LATENCY_CLASSES - 1; i++) {
		seen += l->class[i];
		if (seen >= rank)
			break;
	}
	end = class_end(i);
	return end < l->max_ns ? end : l->max_ns;
}

void latency_summarize(const struct latency *l, struct latency_summary *out)
{
	*out = (struct latency_summary){
		.count = l->count,
		.mean_ns = l->count ? l->sum_ns / l->count : 0,
		.p50_ns = latency_percentile(l, 500),
		.p99_ns = latency_percentile(l, 990),
		.max_ns = l->max_ns,
	};
}

void latency_measures(const char *class, const struct latency_summary *s,
		      void (*put)(void *ctx, const char *name, uint64_t value), void *ctx)
{
	const struct {
		const char *name;
		uint64_t value;
	} all[] = {
		{"faults", s->count},  {"mean_ns", s->mean_ns}, {"p50_ns", s->p50_ns},
		{"p99_ns", s->p99_ns}, {"max_ns", s->max_ns},
	};
	char name[32];

	/* No fault took no time: of none there is nothing to say. */
	for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]) && (i == 0 || s->count); i++) {
		snprintf(name, sizeof(name), "%s_%s", class, all[i].name);
		put(ctx, name, all[i].value);
	}
}

const char *const fault_class_names[FAULT_CLASSES] = {"base", "huge", "range"};

#define RANGE_PAGES 512
#define HUGE_ORDER  9

void fault_latency_add(struct fault_latency *f, uint64_t index, unsigned order, uint64_t start,
		       uint64_t end)
{
	uint64_t range = index / RANGE_PAGES + 1;

	latency_add(&f->class[order == HUGE_ORDER ? FAULT_HUGE : FAULT_BASE], end - start);
	if (f->range != range) {
		fault_latency_end(f);
		f->range = range;
		f->range_start = start;
	}
	f->range_end = end;
}

void fault_latency_end(struct fault_latency *f)
{
	if (f->range)
		latency_add(&f->class[FAULT_RANGE], f -> range_end - f -> range_start);
	f->range = 0;
}
