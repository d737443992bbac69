/* SPDX-License-Identifier: MIT */
#ifndef UTIL_LATENCY_H
#define UTIL_LATENCY_H
/*
 * How long many like things took, without keeping each: 16 classes for every power of two, so that
 * a percentile is told to 6 % or better; count, sum and maximum are exact. All zero is empty.
 */
#include <stdint.h>

#define LATENCY_CLASSES (60 * 16)

struct latency {
	uint64_t count, sum_ns, max_ns;
	uint32_t class[LATENCY_CLASSES];
};

void latency_add(struct latency *l, uint64_t ns);
void latency_merge(struct latency *l, const struct latency *other);
/* The smallest time that is not below `permille` of them, to the upper end of its class; 0: none.
 */
uint64_t latency_percentile(const struct latency *l, unsigned permille);

/* What is said of them; all zero when there were none. */
struct latency_summary {
	uint64_t count, mean_ns, p50_ns, p99_ns, max_ns;
};
void latency_summarize(const struct latency *l, struct latency_summary *out);
/* As measures of a class: "huge_faults", "huge_mean_ns", ...; names live until the call returns. */
void latency_measures(const char *class, const struct latency_summary *s,
		      void (*put)(void *ctx, const char *name, uint64_t value), void *ctx);

/*
 * Faults on memory that is touched in ascending order by one thread: those that gave a base page,
 * those that gave a huge page, and the whole of each 2 MiB range, from its first touch to its last.
 */
enum { FAULT_BASE, FAULT_HUGE, FAULT_RANGE, FAULT_CLASSES };
struct fault_latency {
	struct latency class[FAULT_CLASSES];
	uint64_t range; /* 1 + number of the one being touched; 0: none yet */
	uint64_t range_start, range_end;
};
extern const char *const fault_class_names[FAULT_CLASSES];

/* A fault at page `index` of the memory that gave 2^order pages. */
void fault_latency_add(struct fault_latency *f, uint64_t index, unsigned order, uint64_t start,
		       uint64_t end);
/* The last range is complete. */
void fault_latency_end(struct fault_latency *f);
#endif
