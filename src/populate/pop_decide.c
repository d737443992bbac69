/* SPDX-License-Identifier: MIT */
#include "pop_decide.h"
#include <string.h>

static uint64_t min64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

void pop_decide_init(struct pop_decide *d, const struct pop_rules *rules)
{
	memset(d, 0, sizeof(*d));
	d->rules = *rules;
	d->chunk = d->try_chunk = d->plain_chunk = 1;
}

/* ---- the deferral --------------------------------------------------------------- */

bool pop_decide_deferred(struct pop_decide *d)
{
	if (!d->skip)
		return false;
	d->skip--;
	d->deferred_blocks++;
	return true;
}

/* defer_compaction(); compaction_deferred() then lets every 2^shift-th attempt run. */
void pop_decide_failed(struct pop_decide *d, bool for_free)
{
	if (for_free) {
		d->skip = POP_FREE_SKIP;
		return;
	}
	if (d->shift < POP_MAX_SHIFT)
		d->shift++;
	if (d->shift > d->max_shift)
		d->max_shift = d->shift;
	d->skip = (1u << d->shift) - 1;
}

void pop_decide_succeeded(struct pop_decide *d)
{
	if (d->shift)
		d->recoveries++;
	d->shift = 0;
	d->skip = 0;
}

/* ---- how much at once ----------------------------------------------------------- */

/* No chunk longer than chunk_ns, nor than what is left until the deadline. */
static uint64_t within_time(const struct pop_decide *d, const struct pop_view *view,
			    uint64_t blocks, uint64_t block_ns)
{
	uint64_t ns = d->rules.chunk_ns;

	if (!block_ns || !ns)
		return max64(blocks, 1);
	if (d->rules.deadline_ns)
		ns = min64(ns, minus(d->rules.deadline_ns, view->now_ns));
	return max64(1, min64(blocks, ns / block_ns));
}

/* Is there just enough time to fill the rest with base pages? */
static bool late(const struct pop_decide *d, const struct pop_view *view)
{
	uint64_t block_ns = d->base_block_ns ? d->base_block_ns : d->rules.base_guess_ns;
	uint64_t left_ns;

	if (!d->rules.deadline_ns)
		return false;
	left_ns = minus(d->rules.deadline_ns, view->now_ns);
	/* A tenth in hand, and one try. */
	return view->left * block_ns + view->left * block_ns / 10 + d->try_block_ns >= left_ns;
}

/* ---- the decision --------------------------------------------------------------- */

static void give_full(struct pop_decide *d, struct pop_step *step, uint64_t blocks, bool trial)
{
	step->act = POP_FULL;
	step->blocks = blocks;
	step->trial = trial;
	if (trial) {
		d->trying++;
		d->tries++;
	} else {
		d->sent_home += blocks;
	}
}

/* Nothing but base pages is left, as far as the contract allows them. */
static void give_base(struct pop_decide *d, const struct pop_view *view, struct pop_step *step,
		      uint64_t blocks)
{
	uint64_t budget = minus(d->rules.base_budget, d->base_blocks);

	step->blocks = min64(min64(blocks, budget), view->left);
	step->act = step->blocks ? POP_BASE : POP_STOP;
	d->base_blocks += step->blocks;
}

void pop_decide_next(struct pop_decide *d, const struct pop_view *view, struct pop_step *step)
{
	const struct pop_rules *rules = &d->rules;
	uint64_t home, other, skips;

	memset(step, 0, sizeof(*step));
	d->chunks++;
	if (!rules->huge) {
		give_base(d, view, step, within_time(d, view, d->plain_chunk, d->base_block_ns));
		return;
	}
	d->untakable_home = min64(d->untakable_home, view->free_home);
	d->untakable_other = min64(d->untakable_other, view->free_other);
	home = minus(view->free_home, d->untakable_home + d->sent_home);
	other = rules->use_other ? minus(view->free_other, d->untakable_other + d->sent_other) : 0;

	if (!rules->stalls) {
		/* Asking costs nothing, so ask for everything, wherever it may come from. */
		give_full(d, step, 0, false);
		step->act = rules->use_other ? POP_OTHER : POP_FULL;
		step->blocks = within_time(d, view, min64(d->plain_chunk, view->left),
					   max64(d->huge_block_ns, d->base_block_ns));
		return;
	}
	if (rules->free_known && home) {
		give_full(d, step,
			  within_time(d, view, min64(min64(d->chunk, home), view->left),
				      d->huge_block_ns),
			  false);
		return;
	}
	if (!d->base_only && late(d, view))
		d->base_only = true;
	skips = d->skip;
	if (!skips && !(d->trying && d->shift) && !d->base_only) {
		give_full(d, step,
			  within_time(d, view, min64(d->try_chunk, view->left), d->try_block_ns),
			  true);
		return;
	}
	/* While somebody tries, the others do not pile up behind the same failure. */
	step->deferred = !d->base_only;
	step->why = d->base_only ? POP_WHY_DEADLINE : POP_WHY_WORK;
	if (d->base_only)
		skips = view->left;
	else if (!skips)
		skips = POP_BESIDE_TRY;
	if (rules->free_known && other) {
		step->act = POP_OTHER;
		step->blocks = within_time(d, view,
					   min64(min64(d->chunk, min64(other, skips)), view->left),
					   d->huge_block_ns);
		d->sent_other += step->blocks;
	} else {
		give_base(d, view, step,
			  within_time(d, view,
				      min64(skips, rules->any_size ? d->plain_chunk : POP_MAX_BASE),
				      d->base_block_ns));
	}
	if (step->deferred && (step->act == POP_OTHER || step->act == POP_BASE)) {
		d->skip = minus(d->skip, step->blocks);
		d->deferred_blocks += step->blocks;
	}
}

/* ---- what it brought ------------------------------------------------------------ */

/*
 * Did the blocks take no longer than they would have without trying? An eighth is
 * noise.
 */
static bool was_free(const struct pop_decide *d, const struct pop_step *step,
		     const struct pop_outcome *o)
{
	uint64_t base = d->base_block_ns ? d->base_block_ns : d->rules.base_guess_ns;
	uint64_t huge = d->huge_block_ns ? d->huge_block_ns : base;
	uint64_t expected = o->huge * huge + (step->blocks - min64(step->blocks, o->huge)) * base;

	return o->time_ns <= expected + expected / 8;
}

/*
 * No evidence, and cheap enough to go on at once? Not while other nodes give huge pages:
 * there every try delays what could be had for nothing.
 */
static bool is_patient(struct pop_decide *d, const struct pop_step *step,
		       const struct pop_outcome *o)
{
	uint64_t base = d->base_block_ns ? d->base_block_ns : d->rules.base_guess_ns;

	if ((o->compacted && !o->moved) || (d->rules.use_other && o->free_other))
		return false;
	d->patience_ns += minus(o->time_ns, step->blocks * base);
	return d->patience_tries++ < POP_PATIENCE && d->patience_ns <= d->rules.blocks * base / 8;
}

static void learn_try(struct pop_decide *d, const struct pop_step *step,
		      const struct pop_outcome *o)
{
	uint64_t most = d->rules.free_known ? POP_MAX_TRY : POP_MAX_BLIND;

	d->trying--;
	d->failed_blocks += step->blocks - min64(step->blocks, o->huge_home);
	d->try_block_ns = o->time_ns / step->blocks;
	if (o->huge_home * 2 < step->blocks || !o->huge_home) {
		d->failed_tries++;
		d->try_chunk = 1;
		if (!is_patient(d, step, o))
			pop_decide_failed(d, was_free(d, step, o));
		/* The kernel takes free blocks first: those it left cannot be had. */
		d->untakable_home = o->free_home;
		return;
	}
	pop_decide_succeeded(d);
	d->patience_ns /= 2;
	d->patience_tries = 0;
	if (o->huge_home == step->blocks)
		d->try_chunk = min64(2 * step->blocks, most);
	else
		d->try_chunk = max64(1, step->blocks / 2);
}

/* A chunk of blocks that were known to be free, here or elsewhere. */
static void learn_free(struct pop_decide *d, const struct pop_step *step,
		       const struct pop_outcome *o)
{
	if (o->huge >= step->blocks) {
		d->huge_block_ns = o->time_ns / step->blocks;
		d->chunk = max64(d->chunk, min64(2 * step->blocks, POP_MAX_CHUNK));
		if (step->act == POP_FULL)
			pop_decide_succeeded(d);
		return;
	}
	d->failed_blocks += step->blocks - o->huge;
	d->chunk = max64(1, step->blocks / 2);
	if (step->act == POP_OTHER) {
		d->untakable_other = o->free_other;
		return;
	}
	d->untakable_home = o->free_home;
	if (!o->huge)
		pop_decide_failed(d, was_free(d, step, o));
}

void pop_decide_learn(struct pop_decide *d, const struct pop_step *step,
		      const struct pop_outcome *o)
{
	if (!step->blocks)
		return;
	if (step->act != POP_BASE)
		d->base_blocks += step->blocks - min64(step->blocks, o->huge);
	if (step->act == POP_BASE || !d->rules.stalls) {
		d->base_block_ns = o->time_ns / step->blocks;
		d->plain_chunk = max64(d->plain_chunk, min64(2 * step->blocks, POP_MAX_CHUNK));
		if (step->act != POP_BASE)
			d->failed_blocks += step->blocks - min64(step->blocks, o->huge);
	} else if (step->trial) {
		learn_try(d, step, o);
	} else {
		if (step->act == POP_OTHER)
			d->sent_other -= step->blocks;
		else
			d->sent_home -= step->blocks;
		learn_free(d, step, o);
	}
}
