/* SPDX-License-Identifier: MIT */
/*
 * kswapd.c - background reclaim, a step machine a node; see reclaim.h.
 *
 * The phases are the kernel thread's: START reads the request (balance_pgdat begins), PASS decides
 * on the next priority, SHRINK works through a pass, TRY_SLEEP and NAP are kswapd_try_to_sleep().
 */
#include "model/reclaim.h"

#include "model/clock.h"
#include "model/compact.h"
#include "model/kcompactd.h"
#include "model/trace.h"
#include "model/watermark.h"

#define KSWAPD_NAP_NS 100000000ull

int kswapd_init(struct model *m)
{
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		struct kswapd *k = &m->node[i].kswapd;

		k->pending_class = -1;
		k->class = ZONE_DMA;
		if (m->config.daemons && m->node[i].present)
			k->actor = clock_actor_new(m, ACTOR_KSWAPD, (uint16_t)i);
	}
	return 0;
}

/* ---- tests -------------------------------------------------------------------------------- */

bool kswapd_balanced(const struct model *m, const struct node *n, unsigned order,
		     enum zone_class class)
{
	bool managed = false;

	for (unsigned k = 0; k <= class && k < NR_ZONE_CLASSES; k++) {
		const struct zone *z;
		int64_t free;

		if (n->zone[k].v == ZONE_NONE.v)
			continue;
		z = &m->zone[n->zone[k].v];
		if (z->managed == 0)
			continue;
		managed = true;
		free = m->sysctl.defrag_mode && order ? z->stat[VM_NR_FREE_PAGES_BLOCKS]
						      : zone_free_pages(z);
		if (watermark_ok(z, order, zone_wmark(z, WMARK_HIGH), class, 0, free))
			return true;
	}
	return !managed;
}

bool kswapd_is_hopeless(const struct node *n)
{
	return n->kswapd.failures >= KSWAPD_HOPELESS;
}

/* Mirrors pgdat_watermark_boosted(). */
static bool kswapd_boosted(const struct model *m, const struct node *n, enum zone_class class)
{
	for (unsigned k = 0; k <= class && k < NR_ZONE_CLASSES; k++) {
		if (n->zone[k].v != ZONE_NONE.v && m->zone[n->zone[k].v].boost)
			return true;
	}
	return false;
}

/* Mirrors kswapd_try_clear_hopeless(). */
void kswapd_progress(struct model *m, struct node *n, unsigned order, enum zone_class class)
{
	if (n->kswapd.failures == 0)
		return;
	if (m->profile->kswapd_reset == KSWAPD_RESET_ON_PROGRESS ||
	    kswapd_balanced(m, n, order, class))
		n->kswapd.failures = 0;
}

void kswapd_pcp_flushed(struct model *m, struct zone *z)
{
	struct node *n = &m->node[z->node.v];

	if (!m->profile->kswapd_reset_by_pcp_flush || !kswapd_is_hopeless(n))
		return;
	for (unsigned i = n->id.v + 1u; i < m->nr_nodes; i++) {
		if (m->node[i].present)
			n->kswapd.failures = 0;
	}
}

/* ---- waking ------------------------------------------------------------------------------- */

static void kswapd_rouse(struct model *m, struct node *n)
{
	if (!m->config.daemons || n->kswapd.state == DAEMON_RUNNING)
		return;
	if (n->kswapd.state == DAEMON_SLEEPING)
		n->kswapd.phase = KSWAPD_START;
	/* Woken, it is off its wait queue at once, long before it runs. */
	n->kswapd.state = DAEMON_RUNNING;
	clock_sleep(m, n->kswapd.actor);
	clock_wake(m, n->kswapd.actor);
}

void kswapd_wake(struct model *m, struct zone *z, gfp_t gfp, unsigned order, enum zone_class class)
{
	struct node *n = &m->node[z->node.v];
	struct kswapd *k = &n->kswapd;

	if (z->managed == 0)
		return;
	if (k->pending_class < (int)class)
		k->pending_class = (int8_t) class;
	if (k->pending_order < order)
		k->pending_order = (uint8_t)order;
	if (k->state == DAEMON_RUNNING)
		return;
	if (kswapd_is_hopeless(n) ||
	    (kswapd_balanced(m, n, order, class) && !kswapd_boosted(m, n, class))) {
		if (!(gfp & __GFP_DIRECT_RECLAIM))
			kcompactd_wake(m, n, order, class);
		return;
	}
	TRACE(m, WAKEUP_KSWAPD, .nid = n->id.v, .idx = z->class, .highest_zoneidx = class,
	      .order = (int)order, .gfp = gfp);
	kswapd_rouse(m, n);
}

void kswapd_force(struct model *m, struct node *n)
{
	if (n->kswapd.state == DAEMON_RUNNING)
		return;
	/* "No request" is a class above all others in the kernel, so it becomes this one, too. */
	if (n->kswapd.pending_class < 0 || n->kswapd.pending_class > ZONE_NORMAL)
		n->kswapd.pending_class = ZONE_NORMAL;
	kswapd_rouse(m, n);
}

/* ---- a run -------------------------------------------------------------------------------- */

static void kswapd_set_active(struct model *m, struct node *n, bool active)
{
	for (unsigned i = 0; i <= n->kswapd.class; i++) {
		if (n->zone[i].v != ZONE_NONE.v)
			m->zone[n->zone[i].v].reclaim_active = active;
	}
}

static void kswapd_start(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;

	k->alloc_order = k->pending_order;
	if (k->pending_class >= 0)
		k->class = (enum zone_class)k->pending_class;
	k->pending_order = 0;
	k->pending_class = -1;
	TRACE(m, KSWAPD_WAKE, .nid = n->id.v, .idx = k->class, .order = k->alloc_order);
	stat_event(m, VM_PAGEOUTRUN, 1);
	k->boost_left = 0;
	for (unsigned i = 0; i < 4; i++) {
		k->boost_at_start[i] = 0;
		if (i > k->class || n->zone[i].v == ZONE_NONE.v)
			continue;
		k->boost_at_start[i] = m->zone[n->zone[i].v].boost;
		k->boost_left += k->boost_at_start[i];
	}
	k->boosted_run = k->boost_left > 0;
	k->sc = (struct scan_control){
		.gfp = GFP_KERNEL,
		.order = k->alloc_order,
		.class = k->class,
		.priority = DEF_PRIORITY,
		.is_kswapd = true,
	};
	kswapd_set_active(m, n, true);
	k->phase = KSWAPD_PASS;
}

static void kswapd_leave(struct model *m, struct node *n, bool failed)
{
	struct kswapd *k = &n->kswapd;

	if (failed && k->sc.nr_reclaimed == 0 &&
	    (m->profile->boosted_run_may_fail || !k->boosted_run))
		k->failures++;
	kswapd_set_active(m, n, false);
	if (k->boosted_run) {
		for (unsigned i = 0; i <= k->class && i < 4; i++) {
			struct zone *z;

			if (n->zone[i].v == ZONE_NONE.v || k->boost_at_start[i] == 0)
				continue;
			z = &m->zone[n->zone[i].v];
			z->boost -=
				z->boost < k->boost_at_start[i] ? z->boost : k->boost_at_start[i];
		}
		kcompactd_wake(m, n, PAGEBLOCK_ORDER, k->class);
	}
	shrink_snapshot_refaults(n);
	n->dirty_flagged = false;
	k->reclaim_order = k->sc.order;
	if (k->reclaim_order >= k->alloc_order) {
		/* The next sleep test asks for what was requested meanwhile. */
		k->alloc_order = k->reclaim_order = k->pending_order;
		if (k->pending_class >= 0)
			k->class = (enum zone_class)k->pending_class;
	}
	k->phase = KSWAPD_TRY_SLEEP;
}

/* The head of balance_pgdat()'s loop, up to the shrinking of the node. */
static void kswapd_pass(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;
	struct scan_control *sc = &k->sc;
	bool balanced = kswapd_balanced(m, n, sc->order, k->class);

	if (!balanced && k->boost_left) {
		k->boost_left = 0;
		sc->priority = DEF_PRIORITY;
	}
	if (balanced && k->boost_left == 0) {
		kswapd_leave(m, n, false);
		return;
	}
	k->raise_priority = !(k->boost_left && sc->priority == DEF_PRIORITY - 2);
	sc->may_write = k->boost_left == 0;
	sc->may_swap = k->boost_left == 0;
	sc->nr_scanned = 0;
	sc->nr_to_reclaim = 0;
	for (unsigned i = 0; i <= k->class && i < NR_ZONE_CLASSES; i++) {
		uint64_t high;

		if (n->zone[i].v == ZONE_NONE.v || m->zone[n->zone[i].v].managed == 0)
			continue;
		high = zone_wmark(&m->zone[n->zone[i].v], WMARK_HIGH);
		sc->nr_to_reclaim += high > SWAP_CLUSTER_MAX ? high : SWAP_CLUSTER_MAX;
	}
	k->reclaimed_before = sc->nr_reclaimed;
	shrink_begin(m, sc, n);
	k->phase = KSWAPD_SHRINK;
}

/* One round, or the tail of balance_pgdat()'s loop. */
static void kswapd_shrink(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;
	struct scan_control *sc = &k->sc;
	uint64_t freed;

	if (shrink_step(m, sc))
		return;
	if (shrink_end(m, sc)) {
		shrink_begin(m, sc, n);
		return;
	}
	if (sc->order && sc->nr_reclaimed >= compact_gap(m, sc->order))
		sc->order = 0;
	if (sc->nr_scanned >= sc->nr_to_reclaim)
		k->raise_priority = false;
	freed = sc->nr_reclaimed - k->reclaimed_before;
	k->boost_left -= freed < k->boost_left ? freed : k->boost_left;
	k->phase = KSWAPD_PASS;
	if (k->boost_left && freed == 0) {
		kswapd_leave(m, n, true);
		return;
	}
	if ((k->raise_priority || freed == 0) && --sc->priority < 1)
		kswapd_leave(m, n, true);
}

/* ---- going to sleep ----------------------------------------------------------------------- */

static bool kswapd_may_sleep(const struct model *m, const struct node *n)
{
	return kswapd_is_hopeless(n) ||
	       kswapd_balanced(m, n, n->kswapd.reclaim_order, n->kswapd.class);
}

static void kswapd_try_sleep(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;

	if (!kswapd_may_sleep(m, n)) {
		stat_event(m, VM_KSWAPD_HIGH_WMARK_HIT_QUICKLY, 1);
		k->phase = KSWAPD_START;
		return;
	}
	compact_reset_node(m, n);
	kcompactd_wake(m, n, k->alloc_order, k->class);
	k->state = DAEMON_NAPPING;
	k->phase = KSWAPD_NAP;
	k->nap_until = m->clock.now + KSWAPD_NAP_NS;
}

/* The nap is over, or somebody woke it meanwhile. */
static void kswapd_nap(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;

	if (k->state == DAEMON_RUNNING) {
		stat_event(m, VM_KSWAPD_LOW_WMARK_HIT_QUICKLY, 1);
		if (k->pending_class < 0)
			k->pending_class = (int8_t)k->class;
		if (k->pending_order < k->reclaim_order)
			k->pending_order = k->reclaim_order;
		k->phase = KSWAPD_START;
		return;
	}
	if (kswapd_may_sleep(m, n)) {
		TRACE(m, KSWAPD_SLEEP, .nid = n->id.v);
		k->state = DAEMON_SLEEPING;
		k->phase = KSWAPD_IDLE;
		return;
	}
	stat_event(m, VM_KSWAPD_HIGH_WMARK_HIT_QUICKLY, 1);
	k->state = DAEMON_RUNNING;
	k->phase = KSWAPD_START;
}

void kswapd_step(struct model *m, struct node *n)
{
	struct kswapd *k = &n->kswapd;

	switch (k->phase) {
	case KSWAPD_IDLE:
		return;
	case KSWAPD_START:
		kswapd_start(m, n);
		break;
	case KSWAPD_PASS:
		kswapd_pass(m, n);
		break;
	case KSWAPD_SHRINK:
		kswapd_shrink(m, n);
		break;
	case KSWAPD_TRY_SLEEP:
		kswapd_try_sleep(m, n);
		break;
	case KSWAPD_NAP:
		kswapd_nap(m, n);
		break;
	}
	if (k->phase == KSWAPD_NAP)
		clock_wake_at(m, k->actor, k->nap_until);
	else if (k->phase != KSWAPD_IDLE)
		clock_wake_at(m, k->actor, m->clock.now);
}
