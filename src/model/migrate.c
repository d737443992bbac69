/* SPDX-License-Identifier: MIT */
/*
 * migrate.c - moving folios: batches, passes, failure classes; see migrate.h.
 */
#include "model/migrate.h"

#include "model/alloc.h"
#include "model/clock.h"
#include "model/lru.h"
#include "model/memmap.h"
#include "model/owner.h"
#include "model/thp.h"
#include "model/trace.h"

/* NR_MAX_BATCHED_MIGRATION and the passes of a batch. */
#define BATCH_PAGES       512u
#define PASSES_ASYNC      10
#define PASSES_SYNC_FIRST 3
#define PASSES_SYNC_REST  7
#define WRITEBACK_WAIT_NS 1000000000ull

struct folio_list {
	uint32_t nr;
	pfn_t at[MIGRATE_LIST_MAX];
};

/* struct migrate_pages_stats: base pages, and huge pages. */
struct migrate_stats {
	uint32_t succeeded, failed;
	uint32_t thp_succeeded, thp_failed, thp_split, split;
};

/* One call of migrate_pages(). Only counters are initialised: the lists are large. */
struct migration {
	struct model *m;
	const struct migrate_ops *ops;
	enum migrate_reason reason;
	struct migrate_stats stats;
	struct folio_list left;  /* failed for good */
	struct folio_list split; /* base folios of large ones for which there was no target */
	bool no_target;
};

static inline bool is_lru_kind(const struct model *m, pfn_t head)
{
	return KINDS_LRU >> PG_KIND(m->map.state[head]) & 1;
}

static inline bool is_thp(const struct model *m, pfn_t head)
{
	return is_lru_kind(m, head) && PG_ORDER(m->map.state[head]) == PMD_ORDER;
}

bool migrate_has_extra_refs(const struct model *m, pfn_t head)
{
	return is_lru_kind(m, head) && memmap_has(m, head, PGF_PINNED);
}

static void list_add(struct folio_list *l, pfn_t head)
{
	must(l->nr < MIGRATE_LIST_MAX);
	l->at[l->nr++] = head;
}

/* ---- one folio ---------------------------------------------------------------------------- */

/* Mirrors migrate_folio_move(). False: somebody else holds a reference at the freeze point. */
static bool move_folio(struct model *m, pfn_t src, pfn_t dst)
{
	unsigned order = PG_ORDER(m->map.state[src]);
	uint8_t flags = m->map.flag[src];

	if (migrate_has_extra_refs(m, src))
		return false;
	if (is_lru_kind(m, src)) {
		lru_isolated_gone(m, src, order);
		owner_move(m, src, dst);
		lru_add(m, dst);
		if (flags & PGF_UNEVICTABLE)
			lru_drain_local(m);
	} else {
		owner_move(m, src, dst);
	}
	clock_charge(m, COST_MIGRATE_COPY, 1u << order);
	free_pages(m, src, order);
	return true;
}

static bool writeback_ended(struct model *m, void *head)
{
	return !memmap_has(m, *(pfn_t *)head, PGF_WRITEBACK);
}

/* Full sync migration waits for the disk; the others do not. */
static bool writeback_allows(struct model *m, pfn_t head, enum migrate_mode mode)
{
	if (!is_lru_kind(m, head) || writeback_ended(m, &head))
		return true;
	if (mode != MIGRATE_SYNC)
		return false;
	clock_wait(m, m->clock.now + WRITEBACK_WAIT_NS, writeback_ended, &head);
	return writeback_ended(m, &head);
}

/* A large folio without a target goes on as base folios. */
static bool split_folio(struct migration *g, pfn_t head, struct migrate_stats *stats)
{
	struct model *m = g->m;
	unsigned order = PG_ORDER(m->map.state[head]);
	bool thp = is_thp(m, head);

	if (order == 0 || !is_lru_kind(m, head) || g->reason == MR_NUMA_MISPLACED ||
	    thp_split(m, head))
		return false;
	/* Parts that nobody maps any more were freed by the split. */
	for (uint32_t i = 0; i < 1u << order; i++) {
		if (is_lru_kind(m, head + i))
			list_add(&g->split, head + i);
	}
	stats->thp_split += thp;
	stats->split++;
	return true;
}

/* ---- batches ------------------------------------------------------------------------------ */

/* Folios that have a target, in order. */
struct pairs {
	uint32_t nr;
	bool large; /* some are of more than one page, which could be split meanwhile */
	pfn_t src[MIGRATE_LIST_MAX], dst[MIGRATE_LIST_MAX];
};

/* Second half of migrate_pages_batch(): moves what has a target; the number of failed folios. */
static uint32_t batch_move(struct migration *g, struct pairs *p, unsigned passes,
			   struct folio_list *failed, struct migrate_stats *stats)
{
	struct model *m = g->m;
	uint32_t retries = 0;

	for (uint32_t i = 0; i < p->nr; i++) {
		unsigned order = PG_ORDER(m->map.state[p->src[i]]);
		bool thp = is_thp(m, p->src[i]);

		if (!p->large)
			clock_preempt(m);
		if (move_folio(m, p->src[i], p->dst[i])) {
			stats->succeeded += 1u << order;
			stats->thp_succeeded += thp;
			continue;
		}
		/* Nothing lets go of the folio between the passes: they cost time and change
		 * nothing. */
		clock_charge(m, COST_MIGRATE_RETRY, passes - 1);
		stats->failed += 1u << order;
		stats->thp_failed += thp;
		list_add(failed, p->src[i]);
		g->ops->put_target(m, g->ops->ctx, p->dst[i], order);
		retries++;
	}
	return retries;
}

/*
 * Mirrors migrate_pages_batch(). A target for every folio of `from` first, then the moves. What
 * failed for good is added to `failed`; what was not tried stays in `from`. Number of failed
 * folios; g->no_target is set when the batch ended for want of a target.
 */
static uint32_t migrate_batch(struct migration *g, struct folio_list *from, enum migrate_mode mode,
			      unsigned passes, struct folio_list *failed,
			      struct migrate_stats *stats)
{
	struct model *m = g->m;
	struct pairs p;
	uint32_t i, nr_failed = 0;

	p.nr = 0;
	p.large = false;
	for (i = 0; i < from->nr; i++)
		p.large |= PG_ORDER(m->map.state[from->at[i]]) > 0;
	for (i = 0; i < from->nr; i++) {
		pfn_t src = from->at[i], dst;
		unsigned order = PG_ORDER(m->map.state[src]);
		bool thp = is_thp(m, src);

		if (!p.large)
			clock_preempt(m);
		dst = g->ops->get_target(m, g->ops->ctx, src, order);
		clock_charge(m, COST_MIGRATE_FOLIO, 1);
		if (dst == PFN_NONE) {
			nr_failed++;
			stats->thp_failed += thp;
			if (split_folio(g, src, stats))
				continue;
			stats->failed += 1u << order;
			g->no_target = true;
			break;
		}
		if (!writeback_allows(m, src, mode)) {
			g->ops->put_target(m, g->ops->ctx, dst, order);
			list_add(failed, src);
			nr_failed++;
			stats->thp_failed += thp;
			stats->failed += 1u << order;
			continue;
		}
		p.src[p.nr] = src;
		p.dst[p.nr++] = dst;
	}
	memmove(from->at, from->at + i, (from->nr - i) * sizeof(from->at[0]));
	from->nr -= i;
	return nr_failed + batch_move(g, &p, passes, failed, stats);
}

static void list_append(struct folio_list *to, struct folio_list *from)
{
	for (uint32_t i = 0; i < from->nr; i++)
		list_add(to, from->at[i]);
	from->nr = 0;
}

/* Mirrors migrate_pages_sync(): one batch with async rules, then one by one with patience. */
static void migrate_sync(struct migration *g, struct folio_list *from, enum migrate_mode mode)
{
	struct migrate_stats first = {0};
	struct folio_list again, one;

	again.nr = 0;
	(void)migrate_batch(g, from, MIGRATE_ASYNC, PASSES_SYNC_FIRST, &again, &first);
	g->stats.succeeded += first.succeeded;
	g->stats.thp_succeeded += first.thp_succeeded;
	g->stats.thp_split += first.thp_split;
	g->stats.split += first.split;
	if (g->no_target) {
		g->stats.failed += first.failed;
		g->stats.thp_failed += first.thp_failed;
		list_append(&g->left, &again);
		return;
	}
	/* Those that failed are tried again, so only the split ones count as failed now. */
	g->stats.thp_failed += first.thp_split;
	for (uint32_t i = 0; i < again.nr; i++) {
		one.nr = 1;
		one.at[0] = again.at[i];
		(void)migrate_batch(g, &one, mode, PASSES_SYNC_REST, &g->left, &g->stats);
		list_append(&g->left, &one);
		if (g->no_target) {
			for (i++; i < again.nr; i++)
				list_add(&g->left, again.at[i]);
		}
	}
}

/* The next 512 base pages of the stack, the last entry first. */
static void take_chunk(const struct model *m, const pfn_t *list, uint32_t *nr,
		       struct folio_list *chunk)
{
	uint32_t pages = 0;

	chunk->nr = 0;
	while (*nr && pages < BATCH_PAGES) {
		pfn_t head = list[--*nr];

		list_add(chunk, head);
		pages += 1u << PG_ORDER(m->map.state[head]);
	}
}

static void count_stats(struct model *m, const struct migrate_stats *s, enum migrate_mode mode,
			enum migrate_reason reason)
{
	stat_event(m, VM_PGMIGRATE_SUCCESS, s->succeeded);
	stat_event(m, VM_PGMIGRATE_FAIL, s->failed);
	stat_event(m, VM_THP_MIGRATION_SUCCESS, s->thp_succeeded);
	stat_event(m, VM_THP_MIGRATION_FAIL, s->thp_failed);
	stat_event(m, VM_THP_MIGRATION_SPLIT, s->thp_split);
	TRACE(m, MIGRATE_PAGES, .nr_migrated = s->succeeded, .nr_failed = s->failed,
	      .thp_succeeded = s->thp_succeeded, .thp_failed = s->thp_failed,
	      .thp_split = s->thp_split, .large_folio_split = s->split, .mode = mode,
	      .reason = reason);
}

struct migrate_result migrate_pages(struct model *m, pfn_t *list, uint32_t *nr,
				    const struct migrate_ops *ops, enum migrate_mode mode,
				    enum migrate_reason reason)
{
	struct migration g;
	struct folio_list chunk;

	g.m = m;
	g.ops = ops;
	g.reason = reason;
	g.stats = (struct migrate_stats){0};
	g.left.nr = g.split.nr = 0;
	g.no_target = false;
	TRACE(m, MIGRATE_PAGES_START, .mode = mode, .reason = reason);
	while (*nr && !g.no_target) {
		take_chunk(m, list, nr, &chunk);
		if (mode == MIGRATE_ASYNC)
			(void)migrate_batch(&g, &chunk, mode, PASSES_ASYNC, &g.left, &g.stats);
		else
			migrate_sync(&g, &chunk, mode);
		list_append(&g.left, &chunk);
		if (g.no_target) {
			list_append(&g.left, &g.split);
		} else if (g.split.nr) {
			/* One pass with async rules, whose result does not end the call. */
			chunk.nr = 0;
			list_append(&chunk, &g.split);
			(void)migrate_batch(&g, &chunk, MIGRATE_ASYNC, 1, &g.left, &g.stats);
			list_append(&g.left, &chunk);
			g.no_target = false;
		}
	}
	/* The stack has the untouched ones; the failed go on top, the one tried first uppermost. */
	for (uint32_t i = g.left.nr; i > 0; i--)
		list[(*nr)++] = g.left.at[i - 1];
	count_stats(m, &g.stats, mode, reason);
	return (struct migrate_result){
		.succeeded = g.stats.succeeded,
		.failed = g.stats.failed,
		.left = *nr,
		.no_target = g.no_target && *nr,
	};
}

/* ---- targets from the allocator ----------------------------------------------------------- */

pfn_t migrate_alloc_target(struct model *m, void *ctx, pfn_t src, unsigned order)
{
	const struct migrate_target_control *mtc = ctx;
	const struct zone *z = zone_of(m, src);
	node_id nid = mtc->nid.v == NODE_NONE.v ? z->node : mtc->nid;
	gfp_t gfp = mtc->gfp;

	if (order > 0) {
		/* As other huge-page allocations, which do not wake kswapd. */
		gfp &= ~(__GFP_DIRECT_RECLAIM | __GFP_KSWAPD_RECLAIM);
		gfp |= GFP_TRANSHUGE;
	}
	if (z->class == ZONE_MOVABLE)
		gfp |= __GFP_HIGHMEM;
	return alloc_pages(m, gfp, order, nid, mtc->mask);
}

void migrate_free_target(struct model *m, void *ctx, pfn_t dst, unsigned order)
{
	(void)ctx;
	free_pages(m, dst, order);
}
