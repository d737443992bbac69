/* SPDX-License-Identifier: MIT */
/*
 * Carrying the decisions out.
 *
 * How a block becomes what was decided. All of the range is MADV_HUGEPAGE, so that
 * populating it asks for huge pages. From the first chunk on where that must not be, all that
 * is left is MADV_NOHUGEPAGE, and a chunk that wants huge pages gets its advice back: so the
 * many blocks of base pages need no change, which would wait for another worker's failing
 * compaction. At the end all is MADV_HUGEPAGE again, the mapping whole, and khugepaged may
 * serve it.
 *
 * Which node: by the thread's own memory policy, so that the mapping is neither
 * split nor left with a policy. MPOL_PREFERRED_MANY over several nodes is how free
 * huge pages of any node are taken without compaction on the first: the kernel looks
 * through all of them before it works for one (mm/mempolicy.c, Linux 5.15).
 */
#include "pop_job.h"
#include "pop_room.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct worker {
	struct pop_job *job;
	bool own_thread;
	enum pop_want policy; /* in force, POP_WANTS: none set yet */
	bool bound;
};

/* ---- ending early --------------------------------------------------------------- */

bool pop_job_over(struct pop_job *job)
{
	const int *cancel = job->options.cancel;

	if (job->error)
		return true;
	if (cancel && __atomic_load_n(cancel, __ATOMIC_RELAXED)) {
		job->error = -ECANCELED;
		job->limit = CL_POPULATE_LIMIT_CANCELLED;
	} else if (job->deadline_ns && pop_sys_now_ns() >= job->deadline_ns) {
		job->error = -ETIMEDOUT;
		job->limit = CL_POPULATE_LIMIT_DEADLINE;
	}
	return job->error != 0;
}

void pop_job_report(struct pop_job *job, bool last)
{
	struct cl_populate_progress p = {.bytes = job->end - job->start};
	uint64_t now = pop_sys_now_ns();
	bool stop;

	if (!job->options.progress || (!last && now < job->next_report_ns))
		return;
	job->next_report_ns = now + POP_REPORT_NS;
	pthread_mutex_lock(&job->lock);
	p.done_bytes = job->done_bytes;
	p.huge_bytes = job->huge_bytes;
	p.tries = job->decide.tries;
	p.failed_tries = job->decide.failed_tries;
	pthread_mutex_unlock(&job->lock);
	p.elapsed_ns = now - job->begin_ns;
	stop = job->options.progress(job->options.arg, &p) != 0;
	pthread_mutex_lock(&job->lock);
	if (stop && !last && !job->error) {
		job->error = -ECANCELED;
		job->limit = CL_POPULATE_LIMIT_CANCELLED;
	}
	pthread_mutex_unlock(&job->lock);
}

/* Others fill memory too: look again from time to time whether the rest fits. */
static void check_room(struct pop_job *job)
{
	uint64_t left = job->end - job->start - job->done_bytes;

	if (job->done_bytes < job->room_next || left <= POP_ROOM_STEP / 8)
		return;
	job->room_next = job->done_bytes + POP_ROOM_STEP;
	if (left <= pop_room_cgroup() && left <= pop_room_machine())
		return;
	job->error = -ENOMEM;
	job->limit = CL_POPULATE_LIMIT_ROOM;
}

/* ---- pages ---------------------------------------------------------------------- */

/* Writing is what faults a page in for good; adding nothing keeps what it holds. */
static void touch(uint64_t addr, uint64_t length, uint64_t page)
{
	for (uint64_t at = addr; at < addr + length; at += page)
		__atomic_fetch_or((unsigned char *)(uintptr_t)at, 0, __ATOMIC_RELAXED);
}

static int fault_in(const struct pop_job *job, uint64_t addr, uint64_t length)
{
	int r;

	if (!job->probe->populate_write) {
		touch(addr, length, job->probe->page_bytes);
		return 0;
	}
	for (unsigned again = 0;; again++) {
		r = pop_sys_populate_write((void *)(uintptr_t)addr, length);
		if ((r != -EAGAIN && r != -EINTR) || again == 10)
			break;
		sched_yield();
	}
	return r;
}

/*
 * Block by block where workers may be waiting to change advice, which excludes all page faults
 * and waits for populating calls under way.
 */
static int fault_in_blocks(const struct pop_job *job, uint64_t addr, uint64_t length)
{
	uint64_t size = job->options.threads > 1 ? job->probe->block_bytes : length;
	int r = 0;

	for (uint64_t off = 0; !r && off < length; off += size)
		r = fault_in(job, addr + off, size);
	return r;
}

/*
 * A block whose first page is there cannot become a huge page any more. So the advice changes
 * for a moment only, and for the rest of the block the kernel tries smaller folios.
 */
static int fault_in_smaller(const struct pop_job *job, uint64_t addr, uint64_t length, bool *split)
{
	void *at = (void *)(uintptr_t)addr;
	int r = 0;

	*split = !pop_sys_huge(at, length, false);
	for (uint64_t off = 0; !r && *split && off < length; off += job->probe->block_bytes)
		r = fault_in(job, addr + off, job->probe->page_bytes);
	if (*split)
		pop_sys_huge(at, length, true);
	return r ? r : fault_in_blocks(job, addr, length);
}

/* ---- one chunk ------------------------------------------------------------------ */

static void use_policy(struct worker *w, enum pop_want want, bool bound)
{
	const struct pop_job *job = w->job;

	if (!job->set_policy || (w->policy == want && w->bound == bound))
		return;
	pop_sys_set_policy(bound ? &job->bound : &job->policy[want]);
	w->policy = want;
	w->bound = bound;
}

/* Whole blocks among `blocks` that became huge, by the number of faults that took. */
static uint64_t huge_by_faults(const struct pop_probe *p, uint64_t blocks, uint64_t faults)
{
	uint64_t per_block = p->block_bytes / p->page_bytes, pages = blocks * per_block;

	/* huge + base = faults and per_block * huge + base = pages */
	if (faults >= pages)
		return 0;
	return (pages - faults + (per_block - 1) / 2) / (per_block - 1);
}

struct chunk {
	struct pop_step step;
	uint64_t addr, length;
	struct pop_free before;
	bool know_before;
	bool bound;
	bool plain;   /* it is MADV_NOHUGEPAGE now */
	bool counted; /* before a try, into: */
	struct pop_counts counts;
};

/* What did the kernel's compaction do during the try? */
static void judge_try(const struct pop_job *job, const struct chunk *c, struct pop_outcome *o)
{
	struct pop_counts now;
	uint64_t scanned, migrated;

	if (!c->counted || !pop_probe_counts(job->probe, &now))
		return;
	o->pins = now.pins;
	scanned = now.scanned - c->counts.scanned;
	migrated = now.migrated - c->counts.migrated;
	if (migrated && migrated * 16 >= scanned)
		o->seen = POP_SEEN_MOVED;
	else
		o->seen = scanned < POP_SEEN_LITTLE_PAGES ? POP_SEEN_LITTLE : POP_SEEN_FIXED;
}

/* Of the huge pages of a try: how many came from home, and not from elsewhere? */
static uint64_t huge_from_home(const struct pop_job *job, const struct chunk *c,
			       const struct pop_outcome *o, const struct pop_free *after)
{
	uint64_t missed = c->step.blocks - o->huge, gone, was, is;
	long on;

	if (pop_mask_empty(&job->other) || !o->huge || c->bound)
		return o->huge;
	on = pop_survey_on(job, c->addr, c->step.blocks, &job->home);
	if (on >= 0) /* what is not huge are base pages, and those are local */
		return (uint64_t)on > missed ? (uint64_t)on - missed : 0;
	/* Not allowed to ask: what the other nodes lost meanwhile we may have got. */
	was = pop_free_in(&c->before, &job->other);
	is = pop_free_in(after, &job->other);
	gone = was > is ? was - is : 0;
	return o->huge > gone ? o->huge - gone : 0;
}

/*
 * Block by block, because before the next one it is worth asking beside the buffer when the
 * last one got no huge page; once. *faults: of the blocks alone; o->time_ns: of what the kernel
 * did for them, without waiting for other workers.
 */
static int fault_in_try(const struct pop_job *job, const struct chunk *c, struct pop_outcome *o,
			uint64_t *faults)
{
	uint64_t size = job->probe->block_bytes, f, t;
	bool asked = !job->may_ask || !c->step.may_ask, missed = c->step.ask;
	int r = 0;

	*faults = 0;
	for (uint64_t off = 0; !r && off < c->length; off += size) {
		if (missed && !asked) {
			o->deaf = !pop_ask(job, POP_PATIENCE, &o->time_ns);
			asked = true;
		}
		t = pop_sys_now_ns();
		f = pop_sys_faults();
		r = fault_in(job, c->addr + off, size);
		f = pop_sys_faults() - f;
		o->time_ns += pop_sys_now_ns() - t;
		missed = f > 1;
		*faults += f;
	}
	return r;
}

/* Carry it out, without the lock. Result of the system calls; fills *o and *faults. */
static int carry_out(struct worker *w, struct chunk *c, struct pop_outcome *o, uint64_t *faults,
		     bool *split)
{
	const struct pop_job *job = w->job;
	uint64_t t, f;
	int64_t scanned;
	int r;

	*split = true;
	if (c->step.act != POP_BASE && c->plain)
		*split = !pop_sys_huge((void *)(uintptr_t)c->addr, c->length, true);
	t = pop_sys_now_ns();
	f = pop_sys_faults();
	if (c->step.act == POP_BASE) {
		use_policy(w, POP_WANT_BASE, false);
		if (job->smaller && job->advise)
			r = fault_in_smaller(job, c->addr, c->length, split);
		else
			r = fault_in_blocks(job, c->addr, c->length);
		*split = *split && (c->plain || job->smaller || !job->advise);
	} else {
		use_policy(w, c->step.act == POP_OTHER ? POP_WANT_OTHER : POP_WANT_FULL, c->bound);
		r = c->step.trial ? fault_in_try(job, c, o, faults)
				  : fault_in(job, c->addr, c->length);
	}
	if (!c->step.trial) {
		*faults = pop_sys_faults() - f;
		o->time_ns = pop_sys_now_ns() - t;
	}
	if (c->step.act == POP_BASE && *split)
		return r;
	o->huge = huge_by_faults(job->probe, c->step.blocks, *faults);
	if (job->by_scan && o->huge) {
		scanned = pop_survey_huge(job->probe, c->addr, c->addr + c->length);
		if (scanned >= 0)
			o->huge = (uint64_t)scanned / job->probe->block_bytes;
	}
	o->huge_home = o->huge;
	return r;
}

static void account(struct pop_job *job, const struct chunk *c, const struct pop_outcome *o)
{
	struct cl_populate_receipt *r = job->receipt;

	if (c->step.act == POP_BASE)
		r->base_ns += o->time_ns;
	else if (o->huge < c->step.blocks || (c->step.trial && o->huge_home < o->huge))
		r->failed_ns += o->time_ns;
	else if (c->step.act == POP_OTHER)
		r->remote_ns += o->time_ns;
	else
		r->huge_ns += o->time_ns;
}

/* ---- a worker ------------------------------------------------------------------- */

static bool is_touched(const struct pop_job *job, uint64_t block)
{
	return job->touched && (job->touched[block / 64] >> (block % 64) & 1);
}

/* How many blocks from the cursor on are alike: with pages in them, or without. */
static uint64_t alike(const struct pop_job *job, bool touched)
{
	uint64_t n = 1;

	if (!job->touched)
		return job->blocks - job->cursor;
	while (job->cursor + n < job->blocks && is_touched(job, job->cursor + n) == touched)
		n++;
	return n;
}

/* The end of the last whole block. */
static uint64_t inner_end(const struct pop_job *job)
{
	return job->inner + job->blocks * job->probe->block_bytes;
}

/* No huge pages from here on. The lock is held, as nobody may fault there before that. */
static void be_plain(struct pop_job *job, uint64_t from)
{
	if (!job->plain_from &&
	    !pop_sys_huge((void *)(uintptr_t)from, inner_end(job) - from, false))
		job->plain_from = from;
}

/* Decide about the next blocks. Lock held. False: no more work. */
static bool take(struct pop_job *job, struct chunk *c)
{
	struct pop_view view = {.pins = POP_PINS_UNKNOWN};
	struct pop_counts counts;
	bool touched;

	if (pop_job_over(job) || job->cursor == job->blocks)
		return false;
	if (job->limited)
		check_room(job);
	if (job->error)
		return false;
	touched = is_touched(job, job->cursor);
	view.left = alike(job, touched);
	memset(&c->step, 0, sizeof(c->step));
	c->bound = c->know_before = c->counted = false;
	if (touched) {
		/* What is there decides what these become; nothing to ask for. */
		c->step.act = POP_BASE;
		c->step.blocks = view.left < POP_MAX_BASE ? view.left : POP_MAX_BASE;
	} else {
		if (job->decide.rules.stalls && job->decide.rules.huge) {
			c->know_before = pop_probe_free(job->probe, &c->before);
			view.free_home = pop_free_in(&c->before, &job->home);
			view.free_other = pop_free_in(&c->before, &job->other);
			if (pop_decide_wants_pins(&job->decide) &&
			    pop_probe_counts(job->probe, &counts))
				view.pins = counts.pins;
		}
		view.now_ns = pop_sys_now_ns();
		pop_decide_next(&job->decide, &view, &c->step);
		if (c->step.why == POP_WHY_DEADLINE)
			job->limit = CL_POPULATE_LIMIT_DEADLINE;
		if (c->step.act == POP_STOP) {
			job->error = -ENOMEM;
			job->limit = CL_POPULATE_LIMIT_CONTRACT;
			return false;
		}
		if (c->step.act == POP_WAIT)
			return true;
	}
	c->addr = job->inner + job->cursor * job->probe->block_bytes;
	c->length = c->step.blocks * job->probe->block_bytes;
	if (c->step.act == POP_BASE && job->advise && !job->smaller && !touched)
		be_plain(job, c->addr);
	c->plain = job->plain_from != 0;
	job->cursor += c->step.blocks;
	/*
	 * Bound to home only while it has pages for all of it twice: bound memory that
	 * cannot be had is the OOM killer's business.
	 */
	if (job->bind_home && c->step.act == POP_FULL && c->know_before) {
		uint64_t pages = 0;

		for (unsigned i = 0; i < POP_NODES; i++)
			if (pop_mask_has(&job->home, i))
				pages += c->before.pages[i];
		c->bound = pages >= 2 * (c->length / job->probe->page_bytes);
	}
	return true;
}

static void work(struct worker *w)
{
	struct pop_job *job = w->job;
	struct chunk c;

	pthread_mutex_lock(&job->lock);
	while (take(job, &c)) {
		bool touched = is_touched(job, job->cursor - c.step.blocks), split, known = false;
		struct pop_outcome o = {.pins = POP_PINS_UNKNOWN};
		struct pop_free after;
		uint64_t faults = 0;
		int r;

		if (c.step.act == POP_WAIT) {
			pthread_cond_wait(&job->tried, &job->lock);
			continue;
		}
		pthread_mutex_unlock(&job->lock);
		if (c.step.trial)
			c.counted = pop_probe_counts(job->probe, &c.counts);
		if (touched) {
			uint64_t t = pop_sys_now_ns(), f = pop_sys_faults();

			use_policy(w, POP_WANT_FULL, false);
			r = fault_in(job, c.addr, c.length);
			o.time_ns = pop_sys_now_ns() - t;
			faults = pop_sys_faults() - f;
			split = true;
		} else {
			r = carry_out(w, &c, &o, &faults, &split);
			if (c.step.act != POP_BASE && job->decide.rules.stalls &&
			    (o.huge < c.step.blocks || c.step.trial))
				known = pop_probe_free(job->probe, &after);
			if (known) {
				o.free_home = pop_free_in(&after, &job->home);
				o.free_other = pop_free_in(&after, &job->other);
			}
			if (c.step.trial)
				judge_try(job, &c, &o);
			if (c.step.trial)
				o.huge_home =
					huge_from_home(job, &c, &o, known ? &after : &c.before);
		}
		if (!w->own_thread)
			pop_job_report(job, false);
		pthread_mutex_lock(&job->lock);
		job->faults += faults;
		if (!split)
			job->receipt->missing |= CL_POPULATE_NO_SPLIT;
		if (!touched)
			pop_decide_learn(&job->decide, &c.step, &o);
		if (c.step.trial)
			pthread_cond_broadcast(&job->tried);
		account(job, &c, &o);
		if (r) {
			if (!job->error)
				job->error = r;
			if (!job->limit)
				job->limit = CL_POPULATE_LIMIT_ERROR;
			break;
		}
		job->done_bytes += c.length;
		job->huge_bytes += o.huge * job->probe->block_bytes;
	}
	job->running--;
	pthread_cond_signal(&job->done);
	pthread_mutex_unlock(&job->lock);
}

static void *worker_main(void *arg)
{
	work(arg);
	return NULL;
}

/* ---- threads -------------------------------------------------------------------- */

/*
 * CPUs of home that this thread may use anyway. False: no reason to move, or nowhere
 * to move to (a node without CPUs).
 */
static bool home_cpus(struct pop_job *job, uint64_t *cpus)
{
	uint64_t may[POP_CPUS / 64] = {0}, of_node[POP_CPUS / 64];
	bool any = false;

	memset(cpus, 0, POP_CPUS / 8);
	if (pop_mask_count(&job->probe->memory) < 2 ||
	    sched_getaffinity(0, sizeof(may), (cpu_set_t *)may))
		return false;
	for (unsigned node = 0; node < POP_NODES; node++) {
		if (!pop_mask_has(&job->home, node) || !pop_probe_cpus((int)node, of_node))
			continue;
		for (unsigned i = 0; i < POP_CPUS / 64; i++) {
			cpus[i] |= of_node[i] & may[i];
			any |= cpus[i] != 0;
		}
	}
	return any;
}

/* Start up to `count` workers; how many run. */
static unsigned start_workers(struct pop_job *job, struct worker *w, pthread_t *thread,
			      unsigned count)
{
	uint64_t cpus[POP_CPUS / 64];
	bool pin = home_cpus(job, cpus);
	pthread_attr_t attr;
	sigset_t all, before;
	unsigned n = 0;

	if (pthread_attr_init(&attr))
		return 0;
	pthread_attr_setstacksize(&attr, 256 * 1024);
	if (pin && pthread_attr_setaffinity_np(&attr, sizeof(cpus), (cpu_set_t *)cpus))
		job->receipt->missing |= CL_POPULATE_NO_AFFINITY;
	/* The program's handlers are not to run on threads it does not know of. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	for (; n < count; n++) {
		w[n] = (struct worker){.job = job, .own_thread = true, .policy = POP_WANTS};
		if (!pthread_create(&thread[n], &attr, worker_main, &w[n]))
			continue;
		/* A filter may forbid the affinity, not the thread. */
		if (pin && n == 0) {
			pin = false;
			job->receipt->missing |= CL_POPULATE_NO_AFFINITY;
			pthread_attr_destroy(&attr);
			if (pthread_attr_init(&attr))
				break;
			pthread_attr_setstacksize(&attr, 256 * 1024);
			if (!pthread_create(&thread[n], &attr, worker_main, &w[n]))
				continue;
		}
		break;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attr);
	return n;
}

/* Wait for the workers, telling the caller how far they are. Lock held. */
static void await(struct pop_job *job)
{
	while (job->running) {
		struct timespec until;
		uint64_t ns = pop_sys_now_ns() + POP_REPORT_NS;

		if (!job->options.progress) {
			pthread_cond_wait(&job->done, &job->lock);
			continue;
		}
		until.tv_sec = (time_t)(ns / 1000000000);
		until.tv_nsec = (long)(ns % 1000000000);
		pthread_cond_timedwait(&job->done, &job->lock, &until);
		if (!job->running)
			break;
		pthread_mutex_unlock(&job->lock);
		pop_job_report(job, false);
		pthread_mutex_lock(&job->lock);
	}
}

static void fill_blocks(struct pop_job *job)
{
	unsigned count = job->options.threads ? job->options.threads : 1, started = 0;
	struct worker *w;
	pthread_t *thread;

	if (count > job->blocks)
		count = (unsigned)job->blocks;
	w = calloc(count, sizeof(*w));
	thread = calloc(count, sizeof(*thread));
	/* Workers need the lock to begin, so they all exist before the first one works. */
	pthread_mutex_lock(&job->lock);
	if (w && thread)
		started = start_workers(job, w, thread, count);
	job->running = started;
	job->receipt->threads = started;
	if (started < count)
		job->receipt->missing |= CL_POPULATE_NO_THREADS;
	await(job);
	pthread_mutex_unlock(&job->lock);
	for (unsigned i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
	if (!started) {
		struct worker self = {.job = job, .policy = POP_WANTS};

		job->running = 1;
		work(&self);
		if (job->set_policy)
			pop_sys_set_policy(&job->before);
	}
	free(w);
	free(thread);
}

/* Head or tail: no whole block, so no huge page. */
static void fill_edge(struct pop_job *job, uint64_t from, uint64_t to)
{
	uint64_t t = pop_sys_now_ns(), f = pop_sys_faults();
	int r;

	if (from >= to || job->error)
		return;
	r = fault_in(job, from, to - from);
	job->receipt->base_ns += pop_sys_now_ns() - t;
	job->faults += pop_sys_faults() - f;
	if (r) {
		job->error = r;
		job->limit = CL_POPULATE_LIMIT_ERROR;
		return;
	}
	job->done_bytes += to - from;
}

int pop_fill(struct pop_job *job)
{
	if (pop_job_over(job))
		return job->error;
	if (job->advise &&
	    pop_sys_huge((void *)(uintptr_t)job->inner, inner_end(job) - job->inner, true)) {
		/* Holes show up when filling. Anything else: not for huge pages. */
		job->advise = false;
		job->decide.rules.huge = false;
	}
	fill_edge(job, job->start, job->blocks ? job->inner : job->end);
	if (job->blocks && !job->error)
		fill_blocks(job);
	if (job->plain_from)
		pop_sys_huge((void *)(uintptr_t)job->plain_from, inner_end(job) - job->plain_from,
			     true);
	if (job->blocks)
		fill_edge(job, inner_end(job), job->end);
	return job->error;
}
