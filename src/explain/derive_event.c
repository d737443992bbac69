/* SPDX-License-Identifier: MIT */
#include "explain/derive.h"
#include "explain/requester.h"
#include <stdio.h>
#include <string.h>

#define KB 1024.0

/* ---- the request -------------------------------------------------------------------- */

static void request_facts(struct facts *f, const struct klog_event *e, int file)
{
	char gfp[200];

	if (e->order >= 0)
		fact_number(f, FACT_ORDER, e->order, file, e->line);
	if (!e->has_gfp)
		return;
	fact_text(f, FACT_GFP, gfp_print(e->gfp, gfp, sizeof(gfp)), file, e->line);
	fact_flag(f, FACT_CAN_RECLAIM, !gfp_is_atomic(e->gfp), file, e->line);
	fact_flag(f, FACT_ATOMIC, gfp_is_atomic(e->gfp), file, e->line);
	fact_flag(f, FACT_NORETRY, e->gfp & GFP_F_NORETRY, file, e->line);
	fact_flag(f, FACT_THISNODE, e->gfp & GFP_F_THISNODE, file, e->line);
	fact_flag(f, FACT_MOVABLE, e->gfp & GFP_F_MOVABLE, file, e->line);
	fact_flag(f, FACT_DMA_ZONE, e->gfp & (GFP_F_DMA | GFP_F_DMA32), file, e->line);
}

static void who_facts(struct facts *f, const struct klog_event *e, int file)
{
	struct requester who;

	requester_find(e, &who);
	fact_text(f, FACT_COMM, e->comm, file, e->line);
	fact_text(f, FACT_FUNCTION, who.function, file, e->line);
	fact_text(f, FACT_MODULE, who.module, file, e->line);
	fact_text(f, FACT_KERNEL, e->kernel, file, e->line);
	if (e->frames || e->interrupt)
		fact_flag(f, FACT_INTERRUPT, e->interrupt, file, e->line);
	fact_number(f, FACT_REPEATS, e->repeats, file, e->line);
	fact_flag(f, FACT_MEMCG, e->memcg, file, e->line);
	fact_flag(f, FACT_POLICY_BOUND, e->policy_bound, file, e->line);
	if (e->has_time && e->time_us < 60ULL * 1000000)
		fact_flag(f, FACT_EARLY, true, file, e->line);
	if (e->stall_ms)
		fact_number(f, FACT_STALL_TIME, (double)e->stall_ms * 1e6, file, e->line);
	if (e->stuck_s)
		fact_number(f, FACT_STUCK_TIME, (double)e->stuck_s * 1e9, file, e->line);
}

static void kind_facts(struct facts *f, const struct klog_event *e, int file)
{
	static const enum fact_id kinds[] = {
		[KLOG_FAILURE] = FACT_IS_FAILURE, [KLOG_OOM] = FACT_IS_OOM,
		[KLOG_STALL] = FACT_IS_STALL,     [KLOG_SLUB] = FACT_IS_SLUB,
		[KLOG_CMA] = FACT_IS_CMA,         [KLOG_HUGETLB] = FACT_IS_HUGETLB,
		[KLOG_LOCKUP] = FACT_IS_LOCKUP,   [KLOG_VMALLOC] = FACT_IS_VMALLOC,
		[KLOG_DUMP] = FACT_IS_DUMP,
	};

	fact_flag(f, kinds[e->kind], true, file, e->line);
	if (e->kind == KLOG_FAILURE || e->kind == KLOG_OOM || e->kind == KLOG_STALL)
		fact_flag(f, FACT_IS_REQUEST, true, file, e->line);
}

/* ---- CMA, hugetlb, SLUB ------------------------------------------------------------- */

static void pool_facts(struct facts *f, const struct klog_event *e, int file)
{
	if (e->wanted)
		fact_number(f, FACT_WANTED, (double)e->wanted, file, e->line);
	if (e->kind == KLOG_HUGETLB && e->has_got) {
		fact_number(f, FACT_GOT, (double)e->got, file, e->line);
		if (e->wanted)
			fact_number(f, FACT_GOT_RATIO, (double)e->got / (double)e->wanted, file,
				    e->line);
		if (e->page_kb)
			fact_number(f, FACT_POOL_PAGE, (double)e->page_kb * KB, file, e->line);
	}
	if (e->kind != KLOG_CMA)
		return;
	if (e->ret)
		fact_number(f, FACT_CMA_RET, e->ret, file, e->line);
	fact_number(f, FACT_BUSY_RANGES, (double)e->busy_ranges, file, e->line);
	fact_flag(f, FACT_FINAL_FAILURE, e->final_failure || e->ret, file, e->last_line);
	if (e->area_known) {
		fact_number(f, FACT_CMA_RUN, (double)e->run_pages, file, e->line);
		fact_number(f, FACT_CMA_FREE_PAGES, (double)e->area_free_pages, file, e->line);
		fact_number(f, FACT_CMA_PAGES, (double)e->area_pages, file, e->line);
	}
}

static void slub_facts(struct facts *f, const struct klog_event *e, int file)
{
	if (e->kind != KLOG_SLUB)
		return;
	fact_text(f, FACT_CACHE, e->cache, file, e->line);
	fact_flag(f, FACT_CACHE_CGROUP, e->cache_cgroup, file, e->line);
	if (e->cache_min_order >= 0)
		fact_number(f, FACT_CACHE_ORDER, e->cache_min_order, file, e->line);
	if (e->order < 0 && e->cache_min_order >= 0)
		fact_number(f, FACT_ORDER, e->cache_min_order, file, e->line);
}

/* ---- stack of a lockup -------------------------------------------------------------- */

static void stack_facts(struct facts *f, const struct klog_event *e, int file)
{
	static const struct {
		enum seen_part part;
		enum fact_id fact;
	} parts[] = {
		{SEEN_COMPACTION, FACT_SEEN_COMPACTION}, {SEEN_THP, FACT_SEEN_THP},
		{SEEN_RECLAIM, FACT_SEEN_RECLAIM},       {SEEN_LOCK, FACT_SEEN_LOCK},
		{SEEN_DAEMON, FACT_SEEN_DAEMON},
	};

	for (size_t p = 0; p < sizeof(parts) / sizeof(parts[0]); p++) {
		unsigned n = 0;

		for (unsigned i = 0; i < e->frames; i++)
			n += function_parts(e->frame[i].function) >> parts[p].part & 1;
		if (n)
			fact_number(f, parts[p].fact, n, file, e->line);
	}
	if (e->kind == KLOG_LOCKUP && e->frames)
		fact_text(f, FACT_FUNCTION, e->frame[0].function, file, e->line);
}

/* ---- the machine as the report shows it --------------------------------------------- */

static bool count(const struct klog_event *e, enum klog_count c, double *value)
{
	*value = (double)e->count[c];
	return e->count[c] != UINT64_MAX;
}

static void machine_facts(struct facts *f, const struct klog_event *e, int file, double page)
{
	static const struct {
		enum klog_count count;
		enum fact_id fact;
	} plain[] = {
		{KLOG_FREE, FACT_FREE},
		{KLOG_FREE_CMA, FACT_FREE_CMA},
		{KLOG_SLAB_RECLAIMABLE, FACT_SLAB_RECLAIMABLE},
		{KLOG_SLAB_UNRECLAIMABLE, FACT_SLAB_UNRECLAIMABLE},
	};
	double a, b, size = 0, slab = 0, file_kb = 0, free_kb = 0;
	int line = e->count_line ? e->count_line : e->line;

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (count(e, plain[i].count, &a))
			fact_number(f, plain[i].fact, a * page, file, line);
	if (count(e, KLOG_ACTIVE_FILE, &a) && count(e, KLOG_INACTIVE_FILE, &b))
		fact_number(f, FACT_FILE_CACHE, (a + b) * page, file, line);
	if (count(e, KLOG_DIRTY, &a) && count(e, KLOG_WRITEBACK, &b))
		fact_number(f, FACT_DIRTY, (a + b) * page, file, line);
	if (count(e, KLOG_SWAP_FREE_KB, &a))
		fact_number(f, FACT_SWAP_FREE, a * KB, file, e->last_line);
	if (count(e, KLOG_SWAP_TOTAL_KB, &a))
		fact_number(f, FACT_SWAP_TOTAL, a * KB, file, e->last_line);
	for (unsigned i = 0; i < e->zones; i++) {
		const struct klog_zone *z = &e->zone[i];

		size += (double)(z->managed_kb ? z->managed_kb : z->present_kb) * KB;
		slab += (double)z->slab_unreclaimable_kb * KB;
		file_kb += (double)(z->active_file_kb + z->inactive_file_kb) * KB;
		free_kb += (double)z->free_kb * KB;
		if (z->all_unreclaimable)
			fact_flag(f, FACT_ALL_UNRECLAIMABLE, true, file, z->state_line);
		if (z->pages_scanned > 100000)
			fact_flag(f, FACT_RECLAIM_STUCK, true, file, z->state_line);
	}
	if (count(e, KLOG_RAM, &a))
		fact_number(f, FACT_RAM, a * page, file, e->last_line);
	else if (size > 0)
		fact_number(f, FACT_RAM, size, file, line);
	if (!fact_known(f, FACT_SLAB_UNRECLAIMABLE) && slab > 0)
		fact_number(f, FACT_SLAB_UNRECLAIMABLE, slab, file, line);
	if (!fact_known(f, FACT_FILE_CACHE) && file_kb > 0)
		fact_number(f, FACT_FILE_CACHE, file_kb, file, line);
	if (!fact_known(f, FACT_FREE) && free_kb > 0)
		fact_number(f, FACT_FREE, free_kb, file, line);
}

/* ---- zones -------------------------------------------------------------------------- */

struct zone_sums {
	double eligible_free, eligible_cma, eligible_size, other_free, highatomic;
	uint64_t held, parked, cma;
	unsigned eligible, below_min, near_min, marked;
	int usable, present, other;
	const struct zone_view *main, *usable_zone;
	bool above_high;
	unsigned sums, sums_wrong;
	int wrong_line;
	int index_low;
	bool limited;
};

static uint64_t size_of(const struct zone_view *z)
{
	return z->size_kb ? z->size_kb : z->free_kb;
}

static void sum_zone(struct zone_sums *s, const struct zone_view *z)
{
	if (z->has_total) {
		s->sums++;
		if (z->total_kb != z->sum_kb) {
			s->sums_wrong++;
			s->wrong_line = z->list_line;
		}
	}
	if (!z->eligible) {
		s->other_free += (double)z->free_kb * KB;
		s->limited |= size_of(z) > 0;
		if (z->present_order > s->other)
			s->other = z->present_order;
		return;
	}
	s->highatomic += (double)z->highatomic_free_kb * KB;
	s->eligible++;
	s->eligible_free += (double)z->free_kb * KB;
	s->eligible_cma += (double)z->free_cma_kb * KB;
	s->eligible_size += (double)z->size_kb * KB;
	s->held += z->held_blocks;
	s->parked += z->parked_blocks;
	s->cma += z->cma_blocks;
	if (z->usable_order > s->usable) {
		s->usable = z->usable_order;
		s->usable_zone = z;
	}
	if (z->present_order > s->present)
		s->present = z->present_order;
	if (!s->main || size_of(z) > size_of(s->main))
		s->main = z;
	if (z->has_marks) {
		s->marked++;
		s->below_min += z->free_kb <= z->min_kb + z->reserve_kb;
		s->near_min += z->free_kb <= z->low_kb + z->reserve_kb;
		s->above_high |= z->free_kb > z->high_kb + z->reserve_kb;
	}
	if (z->has_index && z->index != -1000 && z->why != ZONE_RESERVE &&
	    (s->index_low < 0 || z->index < s->index_low))
		s->index_low = z->index;
}

void derive_zones(struct facts *f, const struct zone_views *v, const struct request *r)
{
	struct zone_sums s = {.usable = -1, .present = -1, .other = -1, .index_low = -1};
	bool lists = false;
	char name[48];
	int file, line;

	for (unsigned i = 0; i < v->count; i++) {
		sum_zone(&s, &v->zone[i]);
		lists |= v->zone[i].has_blocks;
	}
	if (s.sums)
		fact_number(f, FACT_SUMS_CHECKED, s.sums, v->zone[0].file, v->zone[0].list_line);
	if (s.sums_wrong)
		fact_number(f, FACT_SUMS_WRONG, s.sums_wrong, v->zone[0].file, s.wrong_line);
	fact_number(f, FACT_ZONES, v->count, -1, 0);
	fact_number(f, FACT_ELIGIBLE_ZONES, s.eligible, -1, 0);
	if (!v->count)
		return;
	file = v->zone[0].file;
	line = v->zone[0].state_line ? v->zone[0].state_line : v->zone[0].list_line;
	if (s.main) {
		file = s.main->file;
		line = s.main->list_line ? s.main->list_line : s.main->state_line;
		snprintf(name, sizeof(name), "Node %d %s", s.main->node, s.main->name);
		fact_text(f, FACT_ZONE, name, file, line);
		fact_number(f, FACT_PAGE_SIZE, s.main->page_kb * KB, file, line);
		fact_number(f, FACT_ZONE_FREE, (double)s.main->free_kb * KB, file,
			    s.main->state_line ? s.main->state_line : line);
		if (s.main->has_marks)
			fact_number(f, FACT_ZONE_MIN, (double)s.main->min_kb * KB, file,
				    s.main->state_line);
		if (s.main->has_index && s.main->index != -1000)
			fact_number(f, FACT_FRAG_INDEX, s.main->index / 1000.0, file, line);
	}
	fact_number(f, FACT_ELIGIBLE_FREE, s.eligible_free, file, line);
	if (s.eligible_cma > 0 && s.eligible_free > 0) {
		fact_number(f, FACT_ELIGIBLE_CMA, s.eligible_cma, file, line);
		fact_number(f, FACT_CMA_SHARE, s.eligible_cma / s.eligible_free, file, line);
	}
	if (s.eligible_size > 0 || s.marked)
		fact_number(f, FACT_ELIGIBLE_SIZE, s.eligible_size, file, line);
	fact_number(f, FACT_OTHER_FREE, s.other_free, file, line);
	fact_flag(f, FACT_ZONE_LIMITED, s.limited, file, line);
	if (s.marked) {
		fact_flag(f, FACT_BELOW_MIN, s.below_min == s.marked, file, line);
		fact_flag(f, FACT_NEAR_MIN, s.near_min == s.marked, file, line);
		fact_flag(f, FACT_ABOVE_HIGH, s.above_high, file, line);
	}
	if (s.eligible_free > 0 && s.highatomic > 0)
		fact_number(f, FACT_HIGHATOMIC_SHARE, s.highatomic / s.eligible_free, file, line);
	if (s.index_low >= 0)
		fact_number(f, FACT_FRAG_LOW, s.index_low / 1000.0, file, line);
	if (!lists || !s.eligible)
		return;
	if (s.usable_zone) {
		file = s.usable_zone->file;
		line = s.usable_zone->list_line;
	}
	fact_number(f, FACT_USABLE_ORDER, s.usable, file, line);
	if (s.usable >= 0 && s.usable_zone)
		fact_number(f, FACT_USABLE_BYTES, s.usable_zone->page_kb * KB * (1 << s.usable),
			    file, line);
	fact_number(f, FACT_PRESENT_ORDER, s.present, file, line);
	if (s.other >= 0)
		fact_number(f, FACT_OTHER_ORDER, s.other, file, line);
	if (r->order >= 0) {
		fact_number(f, FACT_RESERVED_BLOCKS, (double)s.held, file, line);
		fact_number(f, FACT_HIGHATOMIC_BLOCKS, (double)s.parked, file, line);
		fact_number(f, FACT_CMA_BLOCKS, (double)s.cma, file, line);
	}
}

void derive_shares(struct facts *f)
{
	double ram = fact_value(f, FACT_RAM, 0), free_bytes = fact_value(f, FACT_FREE, 0);

	static const struct {
		enum fact_id of, share;
	} list[] = {
		{FACT_FREE, FACT_FREE_SHARE},
		{FACT_FILE_CACHE, FACT_CACHE_SHARE},
		{FACT_SLAB_UNRECLAIMABLE, FACT_SLAB_SHARE},
		{FACT_PINNED, FACT_PINNED_SHARE},
	};
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]) && ram > 0; i++) {
		const struct fact *of = &f->fact[list[i].of];

		if (of->known)
			fact_number(f, list[i].share, of->number / ram, of->file, of->line);
	}
	if (!fact_known(f, FACT_CMA_SHARE) && fact_known(f, FACT_FREE_CMA) && free_bytes > 0)
		fact_number(f, FACT_CMA_SHARE, fact_value(f, FACT_FREE_CMA, 0) / free_bytes,
			    f->fact[FACT_FREE_CMA].file, f->fact[FACT_FREE_CMA].line);
}

void derive_event(struct facts *f, const struct evidence *e, const struct klog_event *log, int file,
		  struct zone_views *views)
{
	struct request r = request_of_event(log);
	double page;

	kind_facts(f, log, file);
	request_facts(f, log, file);
	who_facts(f, log, file);
	pool_facts(f, log, file);
	slub_facts(f, log, file);
	stack_facts(f, log, file);
	if (log->memory_state)
		fact_flag(f, FACT_MEMORY_STATE, true, file, log->line);
	zone_views_judge(views, &r);
	/* A report that lists no zone at all says that none is within reach. */
	if (views->count || log->memory_state)
		derive_zones(f, views, &r);
	if (views->borrowed)
		fact_flag(f, FACT_BORROWED, true, file, log->line);
	page = fact_value(f, FACT_PAGE_SIZE, derive_page_kb(e) * KB);
	if (fact_known(f, FACT_ORDER))
		fact_number(f, FACT_BYTES,
			    page * (double)(1ULL << log->order % 64) * (log->order >= 0), file,
			    log->line);
	if (log->order < 0)
		f->fact[FACT_BYTES].known = false;
	machine_facts(f, log, file, page);
	derive_shares(f);
}

unsigned derive_page_kb(const struct evidence *e)
{
	for (unsigned i = 0; i < e->events; i++)
		for (unsigned k = 0; k < e->event[i].log->zones; k++)
			if (e->event[i].log->zone[k].list_line)
				return e->event[i].log->zone[k].page_kb;
	return 4;
}
