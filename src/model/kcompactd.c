/* SPDX-License-Identifier: MIT */
/*
 * kcompactd.c - background and proactive compaction; see kcompactd.h.
 *
 * The thread's main loop, cut where it waits: asleep (until woken or the timer ends), a decision, a
 * round of zones. A step of a round is one turn of compact_zone's loop.
 */
#include "model/kcompactd.h"

#include "model/clock.h"
#include "model/compact.h"
#include "model/pcp.h"
#include "model/policy.h"
#include "model/trace.h"

#define CHECK_INTERVAL_NS 500000000ull /* HPAGE_FRAG_CHECK_INTERVAL_MSEC */

static bool has_thread(const struct model *m, const struct node *n)
{
	return m->config.daemons && n->present != 0;
}

/* Index of the node's highest zone: pgdat->nr_zones - 1. */
static enum zone_class top_class(const struct node *n)
{
	unsigned class = NR_ZONE_CLASSES - 1;

	while (class > 0 && n->zone[class].v == ZONE_NONE.v)
		class --;
	return (enum zone_class) class;
}

static alloc_flags_t wanted_mark(const struct model *m)
{
	return m->sysctl.defrag_mode ? ALLOC_WMARK_HIGH : ALLOC_WMARK_MIN;
}

/* Mirrors should_proactive_compact_node(). */
static bool proactive_wanted(const struct model *m, const struct node *n)
{
	return m->sysctl.compaction_proactiveness && n->kswapd.state != DAEMON_RUNNING &&
	       compact_score_node(m, n) > compact_score_mark(m, false);
}

/* ---- sleeping and waking ------------------------------------------------------------------ */

/* Mirrors kcompactd_work_requested(). */
static bool work_requested(const struct kcompactd *k)
{
	return k->max_order > 0 || k->proactive_trigger;
}

static void run_again(struct model *m, struct node *n)
{
	clock_wake_at(m, n->kcompactd.actor, m->clock.now);
}

static void go_to_sleep(struct model *m, struct node *n, ns_t timeout)
{
	struct kcompactd *k = &n->kcompactd;

	k->in_round = false;
	TRACE(m, KCOMPACTD_SLEEP, .nid = n->id.v);
	if (work_requested(k)) {
		k->state = DAEMON_RUNNING;
		run_again(m, n);
		return;
	}
	k->state = DAEMON_SLEEPING;
	k->timeout_at = m->sysctl.compaction_proactiveness ? m->clock.now + timeout : NS_NEVER;
	clock_wake_at(m, k->actor, k->timeout_at);
}

static void wake(struct model *m, struct node *n)
{
	n->kcompactd.state = DAEMON_RUNNING;
	clock_wake(m, n->kcompactd.actor);
}

int kcompactd_init(struct model *m)
{
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		struct node *n = &m->node[i];
		struct kcompactd *k = &n->kcompactd;

		k->class = top_class(n);
		k->timeout_at = NS_NEVER;
		if (!has_thread(m, n))
			continue;
		k->actor = clock_actor_new(m, ACTOR_KCOMPACTD, (uint16_t)i);
		go_to_sleep(m, n, CHECK_INTERVAL_NS);
	}
	return 0;
}

/* Mirrors kcompactd_node_suitable(). */
static bool node_suitable(struct model *m, struct node *n)
{
	const struct kcompactd *k = &n->kcompactd;

	for (unsigned class = 0; class <= k->class; class ++) {
		if (n->zone[class].v != ZONE_NONE.v &&
		    compact_precheck(m, zone_get(m, n->zone[class]), k->max_order, k->class,
				     wanted_mark(m), false, true) == COMPACT_CONTINUE)
			return true;
	}
	return false;
}

void kcompactd_wake(struct model *m, struct node *n, unsigned order, enum zone_class class)
{
	struct kcompactd *k = &n->kcompactd;

	if (order == 0)
		return;
	if (k->max_order < order)
		k->max_order = (uint8_t)order;
	if (k->class > class)
		k->class = class;
	/* The request stands even if nobody is woken: the timer looks at it. */
	if (!has_thread(m, n) || k->state != DAEMON_SLEEPING || !node_suitable(m, n))
		return;
	TRACE(m, WAKEUP_KCOMPACTD, .nid = n->id.v, .order = (int)order, .highest_zoneidx = class);
	wake(m, n);
}

void kcompactd_proactiveness_changed(struct model *m)
{
	if (m->sysctl.compaction_proactiveness == 0)
		return; /* a timer that runs, runs out; no new one is set */
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		struct node *n = &m->node[i];

		if (!has_thread(m, n) || n->kcompactd.proactive_trigger)
			continue;
		n->kcompactd.proactive_trigger = true;
		TRACE(m, WAKEUP_KCOMPACTD, .nid = n->id.v, .order = -1,
		      .highest_zoneidx = top_class(n));
		if (n->kcompactd.state == DAEMON_SLEEPING)
			wake(m, n);
	}
}

/*
 * The settings were written long ago. A node whose score is above the mark all the same was looked
 * at within half a second, in vain, and waits for the longer time; how long is left of it, nothing
 * says.
 */
void kcompactd_taken_over(struct model *m)
{
	for (unsigned i = 0; i < m->nr_nodes; i++) {
		struct node *n = &m->node[i];
		ns_t timeout = CHECK_INTERVAL_NS;

		if (!has_thread(m, n))
			continue;
		n->kcompactd.proactive_trigger = false;
		if (proactive_wanted(m, n))
			timeout <<= COMPACT_MAX_DEFER_SHIFT;
		clock_sleep(m, n->kcompactd.actor);
		go_to_sleep(m, n, timeout);
	}
}

/* ---- rounds ------------------------------------------------------------------------------- */

/* Mirrors the head of kcompactd_do_work(). */
static void begin_work(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;

	k->in_round = true;
	k->proactive_round = false;
	k->round_order = k->max_order;
	k->round_class = k->class;
	k->round_zone = -1;
	k->cc = (struct compact_control){
		.gfp = GFP_KERNEL,
		.order = k->max_order,
		.search_order = k->max_order,
		.class = k->class,
		.alloc_flags = wanted_mark(m),
		.mode = MIGRATE_SYNC_LIGHT,
		.prio = COMPACT_PRIO_SYNC_LIGHT,
		.kcompactd = true,
	};
	TRACE(m, KCOMPACTD_WAKE, .nid = n->id.v, .order = k->max_order,
	      .highest_zoneidx = k->class);
	stat_event(m, VM_COMPACT_DAEMON_WAKE, 1);
}

/* Mirrors compact_node() for a node whose score is too high. */
static void begin_proactive(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;

	k->in_round = true;
	k->proactive_round = true;
	k->round_class = top_class(n);
	k->round_zone = -1;
	k->proactive_score_before = compact_score_node(m, n);
	k->cc = (struct compact_control){
		.gfp = GFP_KERNEL,
		.order = -1,
		.mode = MIGRATE_SYNC_LIGHT,
		.prio = COMPACT_PRIO_SYNC_LIGHT,
		.proactive = true,
		.kcompactd = true,
		.whole_zone = true,
		.ignore_skip_hint = true,
	};
}

/* Woken, or the timer ran out. */
static void decide(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;

	k->state = DAEMON_RUNNING;
	if (work_requested(k) && !k->proactive_trigger) {
		begin_work(m, n);
		run_again(m, n);
	} else if (proactive_wanted(m, n)) {
		begin_proactive(m, n);
		run_again(m, n);
	} else {
		k->proactive_trigger = false;
		go_to_sleep(m, n, CHECK_INTERVAL_NS);
	}
}

static void end_round(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;
	ns_t timeout = CHECK_INTERVAL_NS;

	if (k->proactive_round) {
		/* Nothing came of it: not so soon again. */
		if (compact_score_node(m, n) >= k->proactive_score_before)
			timeout <<= COMPACT_MAX_DEFER_SHIFT;
		k->proactive_trigger = false;
	} else {
		/* What was asked for meanwhile and is more than this round did stays asked for. */
		if (k->max_order <= k->round_order)
			k->max_order = 0;
		if (k->class >= k->round_class)
			k->class = top_class(n);
	}
	go_to_sleep(m, n, timeout);
}

/* One zone of a round is done. */
static void end_zone(struct model *m, struct kcompactd *k, enum compact_result result)
{
	struct zone *z = k->cc.zone;

	if (k->proactive_round) {
		/* No request waits, so there is nothing to defer. */
	} else if (result == COMPACT_SUCCESS) {
		m->policy->defer_reset(m, z, k->cc.order, false);
	} else if (result == COMPACT_COMPLETE || result == COMPACT_PARTIAL_SKIPPED) {
		/* Chunks stranded on per-CPU lists may be all that is missing. */
		pcp_drain_all(m, z);
		m->policy->defer_failed(m, z, k->cc.order, COMPACT_PRIO_SYNC_LIGHT);
	}
	stat_event(m, VM_COMPACT_DAEMON_MIGRATE_SCANNED, (int64_t)k->cc.total_migrate_scanned);
	stat_event(m, VM_COMPACT_DAEMON_FREE_SCANNED, (int64_t)k->cc.total_free_scanned);
}

/* The next zone of the round that wants work; false: the round is over. */
static bool next_zone(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;

	while (++k->round_zone <= (int)k->round_class) {
		zone_id id = n->zone[k->round_zone];
		struct zone *z;

		if (id.v == ZONE_NONE.v)
			continue;
		z = zone_get(m, id);
		if (!k->proactive_round) {
			if (m->policy->deferred(m, z, k->cc.order, COMPACT_PRIO_SYNC_LIGHT))
				continue;
			if (compact_precheck(m, z, k->cc.order, z->class, k->cc.alloc_flags, false,
					     true) != COMPACT_CONTINUE)
				continue;
		}
		k->cc.zone = z;
		if (compact_zone_begin(m, &k->cc) == COMPACT_CONTINUE)
			return true;
		end_zone(m, k, k->cc.result);
	}
	return false;
}

void kcompactd_step(struct model *m, struct node *n)
{
	struct kcompactd *k = &n->kcompactd;
	bool stall;

	if (!k->in_round) {
		decide(m, n);
		return;
	}
	/* Work somebody asked for counts as a memory stall, proactive work does not. */
	stall = !k->proactive_round;
	if (stall)
		clock_memstall_enter(m);
	if (!k->cc.running) {
		if (next_zone(m, n))
			run_again(m, n);
		else
			end_round(m, n);
	} else {
		if (!compact_zone_step(m, &k->cc))
			end_zone(m, k, compact_zone_end(m, &k->cc));
		run_again(m, n);
	}
	if (stall)
		clock_memstall_leave(m);
}
