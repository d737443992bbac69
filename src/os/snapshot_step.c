/* SPDX-License-Identifier: MIT */
/* Snapshots right before steps, and which pages the run itself holds and has pinned. */
#include "os/snapshot_step.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "os/snapshot_take.h"
#include "procfs/procfs.h"
#include "util/util.h"

/* Entries of a worker's page table looked at in one go. */
#define BATCH 512u

int snapshot_prepare(struct exec *x, struct cl_error *err)
{
	const struct plan *p = x->plan;
	uint64_t pages = 0;
	int r = 0;

	x->snapshot = calloc(p->steps + 1, sizeof(struct snapshot *));
	if (!x->snapshot)
		return cl_error(err, -ENOMEM, "out of memory");
	for (unsigned i = 0; i < p->steps && !r; i++) {
		if (!p->step[i].snapshot)
			continue;
		if (!pages) {
			r = snapshot_machine_pages(&pages, err);
			if (inside_open(&x->inside))
				exec_note(x, "the kernel's memory cannot be read: a snapshot lacks "
					     "the order of free lists and the state of compaction");
		}
		x->snapshot[i] = r ? NULL : snapshot_new(pages);
		if (!r && !x->snapshot[i])
			r = cl_error(err, -ENOMEM, "out of memory");
	}
	return r;
}

/* ---- what the run knows ---------------------------------------------------------------------- */

/* A worker's memory as seen from outside. */
struct look {
	int pagemap, memory;
	uint64_t base, place, pages;
};

static int look_open(struct look *l, const struct worker *w)
{
	char path[64];

	l->base = atomic_load(&w->shared->base);
	l->place = atomic_load(&w->shared->place);
	l->pages = atomic_load(&w->shared->bytes) / PAGE_BYTES;
	snprintf(path, sizeof(path), "/proc/%d/pagemap", (int)w->pid);
	l->pagemap = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/%d/mem", (int)w->pid);
	l->memory = open(path, O_RDONLY | O_CLOEXEC);
	return l->pagemap < 0 || l->memory < 0 ? -errno : 0;
}

static void look_close(struct look *l)
{
	if (l->pagemap >= 0)
		close(l->pagemap);
	if (l->memory >= 0)
		close(l->memory);
}

static int look_read(int fd, uint64_t at, void *to, size_t size)
{
	ssize_t n = pread(fd, to, size, (off_t)at);

	return n < 0 ? -errno : (size_t)n == size ? 0 : -EIO;
}

/* The pages of one step's memory, each marked as pinned when the memory is. */
static int look_at(struct look *l, struct snapshot *s, uint64_t *pinned, uint64_t frames)
{
	uint64_t entry[BATCH];
	uint32_t place[BATCH];
	int r = 0;

	for (uint64_t from = 0; from < l->pages && !r; from += BATCH) {
		uint64_t count = l->pages - from < BATCH ? l->pages - from : BATCH;

		r = look_read(l->pagemap, (l->base / PAGE_BYTES + from) * sizeof(*entry), entry,
			      count * sizeof(*entry));
		if (!r && l->place)
			r = look_read(l->memory, l->place + from * sizeof(*place), place,
				      count * sizeof(*place));
		for (uint64_t i = 0; i < count && !r; i++) {
			struct pagemap_entry e = pagemap_decode(entry[i]);

			if (!e.pfn_known || e.pfn >= frames)
				continue;
			r = snapshot_memory_page(s, l->place ? place[i] : from + i, e.pfn);
			if (pinned)
				pinned[e.pfn / 64] |= 1ull << e.pfn % 64;
		}
	}
	return r;
}

/* Are there pins on the memory that step `of` made, when step `now` starts? */
static bool is_pinned(const struct plan *p, unsigned of, unsigned now)
{
	bool pinned = false;

	for (unsigned i = 0; i < now; i++) {
		if (p->step[i].kind == STEP_PIN && p->step[i].pin.of == of)
			pinned = true;
		if (p->step[i].kind == STEP_UNPIN && p->step[p->step[i].unpin.of].pin.of == of)
			pinned = false;
	}
	return pinned;
}

static int look_at_memories(struct exec *x, unsigned now, struct snapshot *s, uint64_t *pinned,
			    uint64_t frames)
{
	const struct plan *p = x->plan;
	int r = 0;

	for (unsigned i = 0; i < now && !r; i++) {
		enum step_kind kind = p->step[i].kind;
		struct look l = {-1, -1, 0, 0, 0};

		if (!x->worker[i] || (kind != STEP_FILL && kind != STEP_FAULT) ||
		    !atomic_load(&x->worker[i]->shared->base))
			continue;
		r = look_open(&l, x->worker[i]);
		if (!r)
			r = snapshot_memory_add(s, p->step[i].name, l.pages);
		if (!r)
			r = look_at(&l, s, is_pinned(p, i, now) ? pinned : NULL, frames);
		look_close(&l);
	}
	return r;
}

/* ---- before a step --------------------------------------------------------------------------- */

int snapshot_before(struct exec *x, unsigned i, struct cl_error *err)
{
	struct snapshot *s = x->snapshot[i];
	uint64_t frames = 0, *pinned;
	int r;

	if (!s || s->runs)
		return 0;
	r = snapshot_machine_pages(&frames, err);
	if (r)
		return r;
	/* Looked at by windows of the largest folios. */
	pinned = calloc((frames >> SNAPSHOT_MAX_ORDER) + 1, (8u << SNAPSHOT_MAX_ORDER) / 64);
	s->scenario = strdup(x->plan->scenario);
	s->step = strdup(x->plan->step[i].name);
	r = pinned && s->scenario && s->step ? look_at_memories(x, i, s, pinned, frames) : -ENOMEM;
	if (r)
		cl_error(err, r, "cannot see where the memory of the steps is: %s", strerror(-r));
	else
		r = snapshot_take(s, pinned, x->inside, err);
	free(pinned);
	return r;
}

int snapshot_hand_over(struct exec *x, json_t *record, struct cl_error *err)
{
	json_t *all = json_object();
	int r = 0;

	for (unsigned i = 0; i < x->plan->steps && !r; i++) {
		size_t size = 0;
		void *data;
		char *text;

		if (!x->snapshot[i])
			continue;
		r = snapshot_pack(x->snapshot[i], &data, &size, err);
		text = r ? NULL : base64_encode(data, size);
		if (!r &&
		    (!text || json_object_set_new(all, x->plan->step[i].name, json_string(text))))
			r = cl_error(err, -ENOMEM, "out of memory");
		free(text);
		free(data);
	}
	if (!r && json_object_size(all))
		r = json_object_set(record, "snapshots", all);
	json_decref(all);
	return r;
}

void snapshot_forget(struct exec *x)
{
	for (unsigned i = 0; x->snapshot && i < x->plan->steps; i++)
		snapshot_free(x->snapshot[i]);
	free(x->snapshot);
	x->snapshot = NULL;
	inside_close(x->inside);
	x->inside = NULL;
}
