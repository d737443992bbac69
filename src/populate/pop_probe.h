/* SPDX-License-Identifier: MIT */
#ifndef POPULATE_POP_PROBE_H
#define POPULATE_POP_PROBE_H
/* What this kernel, container and process can do about huge pages. Read once a call. */
#include "pop_nodes.h"

#define POP_CPUS 4096

struct pop_thp {
	bool huge;    /* memory with MADV_HUGEPAGE may get a huge page at a fault */
	bool stalls;  /* and a fault for one may compact and reclaim */
	bool smaller; /* sizes between base and huge page are enabled for such memory */
	bool known;   /* the settings could be read */
	bool shmem;   /* shared memory with MADV_HUGEPAGE may get huge pages */
};

struct pop_probe {
	uint64_t page_bytes, block_bytes;
	struct pop_thp thp;
	bool populate_write, collapse;
	int buddyinfo;    /* open, or negative */
	int vmstat;       /* open, or negative */
	int pagemap;      /* /proc/self/pagemap, open and known to answer scans, or negative */
	uint32_t missing; /* CL_POPULATE_NO_* */
	struct pop_nodemask memory; /* nodes with memory that this process may use */
	struct pop_nodes nodes;
};

/* Reads everything; closes what it opened with pop_probe_close(). Never fails. */
void pop_probe_open(struct pop_probe *p);
void pop_probe_close(struct pop_probe *p);

/* What is free now, by node; false and zeros when it cannot be known. */
bool pop_probe_free(const struct pop_probe *p, struct pop_free *f);

/* Counters of the whole machine; false and zeros when they cannot be known. */
struct pop_counts {
	uint64_t scanned, migrated; /* pages, by compaction */
	uint64_t pins;              /* pages under long-term pins, or held by direct I/O */
};
bool pop_probe_counts(const struct pop_probe *p, struct pop_counts *c);

/* The chosen word of "always [madvise] never"; "" when there is none. Returns buf. */
const char *pop_probe_choice(const char *text, char *buf, size_t size);

/* Settings below a directory that looks like /sys/kernel/mm/transparent_hugepage. */
void pop_probe_thp(const char *directory, uint64_t page_bytes, uint64_t block_bytes,
		   struct pop_thp *t);

/* CPUs of a node; false: not known or none. `cpus` has POP_CPUS / 64 words. */
bool pop_probe_cpus(int node, uint64_t *cpus);
#endif
