/* SPDX-License-Identifier: MIT */
#include "pop_job.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define REGIONS     256
#define ASK         1024 /* pages asked for their node at once */
#define SAMPLE      16   /* one base page in so many is asked */
#define EXACT_PAGES 4096 /* up to here all of them are */

/* ---- before --------------------------------------------------------------------- */

/* Mark blocks that overlap [from, to). */
static int mark(struct pop_job *job, uint64_t from, uint64_t to)
{
	uint64_t size = job->probe->block_bytes, inner_end = job->inner + job->blocks * size;

	job->receipt->already_bytes += to - from;
	if (from < job->inner)
		from = job->inner;
	if (to > inner_end)
		to = inner_end;
	if (from >= to)
		return 0;
	if (!job->touched) {
		job->touched = calloc((job->blocks + 63) / 64, sizeof(*job->touched));
		if (!job->touched)
			return -ENOMEM;
	}
	for (uint64_t b = (from - job->inner) / size; b <= (to - 1 - job->inner) / size; b++)
		job->touched[b / 64] |= 1ull << (b % 64);
	return 0;
}

/* Without PAGEMAP_SCAN: a byte a page. Does not see what is swapped out. */
static int before_by_mincore(struct pop_job *job)
{
	uint64_t page = job->probe->page_bytes;
	unsigned char vec[4096];

	for (uint64_t at = job->start; at < job->end;) {
		uint64_t length = job->end - at;

		if (length > sizeof(vec) * page)
			length = sizeof(vec) * page;
		if (mincore((void *)(uintptr_t)at, length, vec))
			return 0; /* holes are found when filling */
		for (uint64_t i = 0; i < length / page; i++)
			if ((vec[i] & 1) && mark(job, at + i * page, at + (i + 1) * page))
				return -ENOMEM;
		at += length;
	}
	return 0;
}

int pop_survey_before(struct pop_job *job)
{
	struct pop_region r[REGIONS];
	uint64_t at = job->start, next;

	if (job->probe->pagemap < 0)
		return before_by_mincore(job);
	while (at < job->end) {
		long n = pop_sys_scan(job->probe->pagemap, at, job->end, r, REGIONS, &next);

		if (n < 0)
			return before_by_mincore(job);
		for (long i = 0; i < n; i++)
			if (mark(job, r[i].start, r[i].end))
				return -ENOMEM;
		if (next <= at)
			break;
		at = next;
	}
	return 0;
}

/* ---- while filling -------------------------------------------------------------- */

int64_t pop_survey_huge(const struct pop_probe *p, uint64_t start, uint64_t end)
{
	struct pop_region r[REGIONS];
	int64_t huge = 0;

	while (start < end) {
		uint64_t next = start;
		long n = pop_sys_scan(p->pagemap, start, end, r, REGIONS, &next);

		if (n < 0)
			return n;
		for (long i = 0; i < n; i++)
			if (r[i].categories & POP_PAGE_HUGE)
				huge += (int64_t)(r[i].end - r[i].start);
		if (next <= start)
			break;
		start = next;
	}
	return huge;
}

long pop_survey_on(const struct pop_job *job, uint64_t start, uint64_t blocks,
		   const struct pop_nodemask *m)
{
	void *page[POP_MAX_BLIND];
	int node[POP_MAX_BLIND], r;
	long on = 0;

	if (blocks > POP_MAX_BLIND)
		return -E2BIG;
	for (uint64_t i = 0; i < blocks; i++)
		page[i] = (void *)(uintptr_t)(start + i * job->probe->block_bytes);
	r = pop_sys_nodes_of(blocks, page, node);
	if (r)
		return r;
	for (uint64_t i = 0; i < blocks; i++)
		on += node[i] >= 0 && pop_mask_has(m, (unsigned)node[i]);
	return on;
}

/* ---- after ---------------------------------------------------------------------- */

struct asked { /* pages waiting to be asked for their node */
	unsigned count;
	void *page[ASK];
	uint64_t bytes[ASK]; /* each stands for so many */
	bool huge[ASK];
	int node[ASK];
};

static struct cl_populate_node *node_entry(struct cl_populate_receipt *r, int node)
{
	uint32_t at = 0;

	while (at < r->node_count && r->nodes[at].node < node)
		at++;
	if (at < r->node_count && r->nodes[at].node == node)
		return &r->nodes[at];
	if (r->node_count == CL_POPULATE_MAX_NODES)
		return NULL;
	memmove(&r->nodes[at + 1], &r->nodes[at], (r->node_count - at) * sizeof(r->nodes[0]));
	memset(&r->nodes[at], 0, sizeof(r->nodes[0]));
	r->nodes[at].node = node;
	r->node_count++;
	return &r->nodes[at];
}

static void add_node(struct cl_populate_receipt *r, int node, bool huge, uint64_t bytes)
{
	struct cl_populate_node *n = node_entry(r, node);

	if (n)
		*(huge ? &n->huge_bytes : &n->base_bytes) += bytes;
}

static int ask(struct pop_job *job, struct asked *a)
{
	int r = a->count ? pop_sys_nodes_of(a->count, a->page, a->node) : 0;

	for (unsigned i = 0; !r && i < a->count; i++)
		if (a->node[i] >= 0)
			add_node(job->receipt, a->node[i], a->huge[i], a->bytes[i]);
	a->count = 0;
	return r;
}

/* Ask for the node of one page in each `step` bytes of a region. */
static int ask_region(struct pop_job *job, struct asked *a, const struct pop_region *r,
		      uint64_t step)
{
	for (uint64_t at = r->start; at < r->end; at += step) {
		a->page[a->count] = (void *)(uintptr_t)at;
		a->bytes[a->count] = r->end - at < step ? r->end - at : step;
		a->huge[a->count] = r->categories & POP_PAGE_HUGE;
		if (++a->count == ASK && ask(job, a))
			return -EPERM;
	}
	return 0;
}

/* Walk the range once: count (job == counting) or ask for nodes. */
static bool walk(struct pop_job *job, struct asked *a, uint64_t base_step)
{
	struct cl_populate_receipt *receipt = job->receipt;
	struct pop_region r[REGIONS];
	uint64_t at = job->start, next = at;

	while (at < job->end) {
		long n = pop_sys_scan(job->probe->pagemap, at, job->end, r, REGIONS, &next);

		if (n < 0)
			return false;
		for (long i = 0; i < n; i++) {
			bool huge = r[i].categories & POP_PAGE_HUGE;

			if (!(r[i].categories & POP_PAGE_PRESENT))
				continue;
			if (!a)
				*(huge ? &receipt->huge_bytes : &receipt->base_bytes) +=
					r[i].end - r[i].start;
			else if (ask_region(job, a, &r[i],
					    huge ? job->probe->block_bytes : base_step))
				return false;
		}
		if (next <= at)
			break;
		at = next;
	}
	return !a || !ask(job, a);
}

void pop_survey_after(struct pop_job *job)
{
	struct cl_populate_receipt *receipt = job->receipt;
	uint64_t page = job->probe->page_bytes, step = page;
	struct asked *a;

	if (job->probe->pagemap < 0 || (job->options.flags & CL_POPULATE_NO_SURVEY)) {
		/* By the fault counts; what was there before is taken for base pages. */
		receipt->huge_bytes = job->huge_bytes;
		receipt->done_bytes = job->done_bytes;
		receipt->base_bytes = job->done_bytes - job->huge_bytes;
	} else {
		receipt->huge_bytes = receipt->base_bytes = 0;
		if (!walk(job, NULL, 0))
			receipt->missing |= CL_POPULATE_NO_SCAN;
		receipt->done_bytes = receipt->huge_bytes + receipt->base_bytes;
	}
	receipt->node_count = 0;
	if (pop_mask_count(&job->probe->memory) == 1 && receipt->done_bytes) {
		for (unsigned i = 0; i < POP_NODES; i++)
			if (pop_mask_has(&job->probe->memory, i)) {
				add_node(receipt, (int)i, true, receipt->huge_bytes);
				add_node(receipt, (int)i, false, receipt->base_bytes);
			}
		return;
	}
	if (job->probe->pagemap < 0 || (job->options.flags & CL_POPULATE_NO_SURVEY))
		return;
	if (receipt->base_bytes / page > EXACT_PAGES)
		step = SAMPLE * page;
	a = malloc(sizeof(*a));
	if (a)
		a->count = 0;
	if (!a || !walk(job, a, step)) {
		receipt->missing |= CL_POPULATE_NO_NODES;
		receipt->node_count = 0;
	}
	for (uint32_t i = 0; i < receipt->node_count; i++)
		receipt->nodes[i].base_sampled = step != page;
	free(a);
}
