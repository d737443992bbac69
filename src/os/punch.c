/* SPDX-License-Identifier: MIT */
/* The punch step: free chosen pages of a fill one at a time, so that holes are left. */
#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "os/worker.h"
#include "procfs/procfs.h"
#include "util/util.h"

#ifndef MADV_DONTNEED_LOCKED
#define MADV_DONTNEED_LOCKED 24
#endif

/* Pages of a pageblock: the order of a huge page on the machines this is written for. */
#define BLOCK_PAGES PAGES_PER_HUGE

/* A page of the memory: where it is in the mapping and in the machine. */
struct page {
	uint64_t pfn;
	uint32_t index;  /* where it is in the mapping now */
	uint32_t chosen; /* by the selection, before the action is applied */
};

struct punch {
	uint64_t count; /* present pages */
	struct page *page;
	uint64_t freed; /* the first `freed` entries of page[] are freed, in this order */
	uint64_t table_bytes;
	uint64_t free_before; /* pages */
	uint64_t free_after;
};

void punch_free(struct punch *p)
{
	if (p)
		table_free(p->page, p->table_bytes);
	free(p);
}

/* Free pages of all zones, those on per-CPU lists included: that is where freed ones go first. */
static int free_pages(uint64_t *pages)
{
	struct zoneinfo z;
	size_t length;
	char *text;
	int r = file_read("/proc/zoneinfo", &text, &length);

	*pages = 0;
	if (r)
		return r;
	r = zoneinfo_parse(text, length, &z, NULL);
	free(text);
	if (r)
		return r;
	for (unsigned i = 0; i < z.count; i++) {
		*pages += z.zone[i].free;
		for (unsigned c = 0; c < z.zone[i].pagesets; c++)
			*pages += z.zone[i].pageset[c].count;
	}
	zoneinfo_free(&z);
	return 0;
}

/* ---- which pages -------------------------------------------------------------------- */

static int by_pfn(const void *a, const void *b)
{
	const struct page *x = a, *y = b;

	return x->pfn < y->pfn ? -1 : x->pfn > y->pfn;
}

/*
 * One random stream a step and purpose, so that drawing more for one never shifts another.
 */
static uint64_t stream(const struct memory *m, unsigned step, uint64_t purpose)
{
	uint64_t s = m->plan->seed + (uint64_t)step * 2 + purpose;

	return random_next(&s);
}

/* page[] is sorted by frame number: one page in each block, the first at or behind the residue. */
static void choose_blocks(struct punch *p, uint32_t residue)
{
	uint64_t block = UINT64_MAX;

	for (uint64_t i = 0; i < p->count; i++) {
		struct page *g = &p->page[i];

		if (g->pfn / BLOCK_PAGES != block && g->pfn % BLOCK_PAGES >= residue) {
			g->chosen = 1;
			block = g->pfn / BLOCK_PAGES;
		}
	}
}

static void choose(struct memory *m, unsigned step, const struct step_punch *s)
{
	struct punch *p = m->punch;
	uint64_t draws = stream(m, step, 0);

	for (uint64_t i = 0; i < p->count; i++) {
		struct page *g = &p->page[i];

		if (s->select == PUNCH_POSITION)
			g->chosen = (m->place ? m->place[g->index] : g->index) % s->modulo ==
				    s->residue;
		else if (s->select == PUNCH_PFN)
			g->chosen = g->pfn % s->modulo == s->residue;
		else if (s->select == PUNCH_RANDOM)
			g->chosen = random_below(&draws, 1000000) < s->share_ppm;
	}
	if (s->select != PUNCH_POSITION)
		qsort(p->page, p->count, sizeof(*p->page), by_pfn);
	if (s->select == PUNCH_PAGEBLOCK)
		choose_blocks(p, s->residue);
}

static void swap_pages(struct page *a, struct page *b)
{
	struct page t = *a;

	*a = *b;
	*b = t;
}

/* Bring what is to be freed to the front, in the order it is to be freed. */
static void arrange(struct memory *m, unsigned step, const struct step_punch *s)
{
	struct punch *p = m->punch;
	uint64_t draws = stream(m, step, 1);

	for (uint64_t i = 0; i < p->count; i++)
		if ((p->page[i].chosen != 0) == (s->action == PUNCH_FREE))
			swap_pages(&p->page[p->freed++], &p->page[i]);
	/* The swaps keep the order of the front only; the rest is looked at in any order. */
	if (s->order == PUNCH_DESCENDING)
		for (uint64_t i = 0; i < p->freed / 2; i++)
			swap_pages(&p->page[i], &p->page[p->freed - 1 - i]);
	if (s->order == PUNCH_SHUFFLED)
		for (uint64_t i = p->freed; i > 1; i--)
			swap_pages(&p->page[i - 1], &p->page[random_below(&draws, i)]);
}

/* Frame numbers of page cache can only be seen while it is mapped. */
static int entries_of(struct memory *m, uint64_t *entry, struct cl_error *err)
{
	uint64_t pages = m->bytes / PAGE_BYTES;
	unsigned char *in;
	char *at;
	int r = 0;

	if (m->kind != FILL_FILE)
		return pagemap_read(m->base, pages, entry, err);
	at = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, m->fd, 0);
	in = table_new(pages);
	if (at == MAP_FAILED || !in || mincore(at, m->bytes, in) < 0)
		r = cl_error(err, -errno, "cannot look at the cached pages: %s", strerror(errno));
	if (!r)
		madvise(at, m->bytes, MADV_RANDOM);
	for (uint64_t i = 0; i < pages && !r; i++)
		if (in[i] & 1)
			(void)*(volatile char *)(at + i * PAGE_BYTES);
	if (!r)
		r = pagemap_read(at, pages, entry, err);
	table_free(in, pages);
	if (at != MAP_FAILED)
		munmap(at, m->bytes);
	return r;
}

static int punch_prepare(struct memory *m, unsigned step, struct worker_reply *reply)
{
	const struct step_punch *s = &m->plan->step[step].punch;
	uint64_t pages = m->bytes / PAGE_BYTES, *entry;
	struct punch *p;
	int r;

	punch_free(m->punch);
	m->punch = p = calloc(1, sizeof(*p));
	entry = table_new(pages * sizeof(*entry));
	if (p) {
		p->table_bytes = pages * sizeof(*p->page);
		p->page = table_new(p->table_bytes);
	}
	if (!p || !entry || !p->page)
		r = cl_error(&reply->error, -ENOMEM, "out of memory");
	else
		r = entries_of(m, entry, &reply->error);
	for (uint64_t i = 0; i < pages && !r; i++) {
		struct pagemap_entry e = pagemap_decode(entry[i]);

		if (!e.present)
			continue;
		if (!e.pfn_known)
			r = cl_error(&reply->error, -EPERM,
				     "this kernel does not show frame numbers to this process");
		p->page[p->count].pfn = e.pfn;
		p->page[p->count++].index = (uint32_t)i;
	}
	table_free(entry, pages * sizeof(*entry));
	if (r)
		return r;
	choose(m, step, s);
	arrange(m, step, s);
	if (!p->freed) {
		cl_error(&reply->error, -EINVAL, "selects no page of %llu to free",
			 (unsigned long long)p->count);
		return cl_error_hint(&reply->error, -EINVAL,
				     "check residue, modulo and share, and the size of the fill");
	}
	r = free_pages(&p->free_before);
	return r ? cl_error(&reply->error, r, "cannot read /proc/zoneinfo: %s", strerror(-r)) : 0;
}

/* ---- freeing ------------------------------------------------------------------------ */

static int punch_page(struct memory *m, uint32_t index)
{
	off_t offset = (off_t)(index * PAGE_BYTES);

	switch (m->kind) {
	case FILL_SHMEM:
		return fallocate(m->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
				 PAGE_BYTES) < 0
			       ? -errno
			       : 0;
	case FILL_FILE:
		return -posix_fadvise(m->fd, offset, PAGE_BYTES, POSIX_FADV_DONTNEED);
	case FILL_MLOCKED:
		/* Unlocking page by page would make one mapping a page. */
		return madvise(m->base + offset, PAGE_BYTES, MADV_DONTNEED_LOCKED) < 0 ? -errno : 0;
	default:
		return madvise(m->base + offset, PAGE_BYTES, MADV_DONTNEED) < 0 ? -errno : 0;
	}
}

/*
 * Pages that were unlocked wait in a batch of their CPU, up to 31 of them, and are held by it.
 * Locking and unlocking one empties it.
 */
static void empty_unlock_batch(void)
{
	void *page =
		mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (page == MAP_FAILED)
		return;
	if (mlock(page, PAGE_BYTES) == 0)
		munlock(page, PAGE_BYTES);
	munmap(page, PAGE_BYTES);
}

static int punch_act(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct punch *p = m->punch;
	uint64_t start = now_ns();
	int r = 0;

	(void)step;
	for (uint64_t i = 0; i < p->freed && !r; i++)
		r = punch_page(m, p->page[i].index);
	reply->time_ns = now_ns() - start;
	if (m->kind == FILL_MLOCKED)
		empty_unlock_batch();
	if (r == -EINVAL && m->kind == FILL_MLOCKED) {
		cl_error(&reply->error, -EOPNOTSUPP, "this kernel cannot free locked pages");
		return cl_error_hint(&reply->error, -EOPNOTSUPP, "Linux 5.18 or later can");
	}
	if (r)
		return cl_error(&reply->error, r, "cannot free a page: %s", strerror(-r));
	reply->freed_pages = p->freed;
	reply->kept_pages = p->count - p->freed;
	r = free_pages(&p->free_after);
	return r ? cl_error(&reply->error, r, "cannot read /proc/zoneinfo: %s", strerror(-r)) : 0;
}

/* ---- did it -------------------------------------------------------------------------- */

/* in[i]: is page i of the mapping there? */
static int presence(struct memory *m, unsigned char *in, struct cl_error *err)
{
	uint64_t pages = m->bytes / PAGE_BYTES, *entry;
	int r;

	if (m->kind == FILL_FILE) {
		void *at = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, m->fd, 0);

		r = at == MAP_FAILED || mincore(at, m->bytes, in) < 0 ? -errno : 0;
		if (at != MAP_FAILED)
			munmap(at, m->bytes);
		return r ? cl_error(err, r, "cannot look at the cached pages: %s", strerror(-r))
			 : 0;
	}
	entry = table_new(pages * sizeof(*entry));
	if (!entry)
		return cl_error(err, -ENOMEM, "out of memory");
	r = pagemap_read(m->base, pages, entry, err);
	for (uint64_t i = 0; i < pages && !r; i++)
		in[i] = pagemap_decode(entry[i]).present;
	table_free(entry, pages * sizeof(*entry));
	return r;
}

/*
 * Is a frame that was unmapped still held by what it was used for? Others may have got it
 * meanwhile; but what they use as anonymous or shared memory they have mapped.
 */
static bool frame_held(uint64_t flags, uint64_t mapped)
{
	if (kpageflag_is(flags, KPAGEFLAG_THP))
		return true; /* a part of a huge page whose other parts are mapped */
	return kpageflag_is(flags, KPAGEFLAG_SWAPBACKED) && mapped == 0;
}

/*
 * Did the memory become free? The sum of free pages says so on a quiet machine; where others
 * allocate meanwhile, the state of the very frames does. Pages that something else still
 * holds (a pin, a partly mapped huge page) fail both.
 */
static int check_free(struct punch *p, struct cl_error *err)
{
	uint64_t grew = p->free_after > p->free_before ? p->free_after - p->free_before : 0;
	uint64_t held = 0;

	if (grew >= p->freed - p->freed / 10)
		return 0;
	for (uint64_t i = 0; i < p->freed; i++) {
		uint64_t flags, mapped;
		int r = pagemap_frame(p->page[i].pfn, &flags, &mapped);

		if (r)
			return cl_error(err, r, "cannot read /proc/kpageflags: %s", strerror(-r));
		held += frame_held(flags, mapped);
	}
	if (held <= p->freed / 10)
		return 0;
	cl_error(err, -EIO,
		 "%llu pages were freed but free memory grew by %llu, and %llu frames are still "
		 "held",
		 (unsigned long long)p->freed, (unsigned long long)grew, (unsigned long long)held);
	return cl_error_hint(err, -EIO,
			     "pinned pages and parts of huge pages stay: unpin first, or fill with "
			     "pages = base");
}

static int punch_verify(struct memory *m, unsigned step, struct worker_reply *reply)
{
	struct punch *p = m->punch;
	uint64_t pages = m->bytes / PAGE_BYTES, here = 0, lost = 0;
	unsigned char *in = table_new(pages);
	int r;

	(void)step;
	if (!in)
		return cl_error(&reply->error, -ENOMEM, "out of memory");
	r = presence(m, in, &reply->error);
	for (uint64_t i = 0; i < p->count && !r; i++) {
		bool present = in[p->page[i].index] & 1;

		here += i < p->freed && present;
		lost += i >= p->freed && !present;
	}
	table_free(in, pages);
	if (!r && here)
		r = cl_error(&reply->error, -EIO, "%llu of %llu freed pages are still there",
			     (unsigned long long)here, (unsigned long long)p->freed);
	if (!r && lost)
		r = cl_error(&reply->error, -EIO, "%llu of %llu pages to keep are gone",
			     (unsigned long long)lost, (unsigned long long)(p->count - p->freed));
	if (!r)
		r = check_free(p, &reply->error);
	reply->freed_pages = p->freed;
	reply->kept_pages = p->count - p->freed;
	atomic_store(&m->shared->held_bytes, reply->kept_pages * PAGE_BYTES);
	punch_free(p);
	m->punch = NULL;
	return r;
}

const struct worker_job punch_job = {punch_prepare, punch_act, punch_verify};
