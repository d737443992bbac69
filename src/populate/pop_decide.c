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
	d->pins = POP_PINS_UNKNOWN;
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

/* Of one base page block: measured, or a guess. */
static uint64_t base_ns(const struct pop_decide *d)
{
	return d->base_block_ns ? d->base_block_ns : d->rules.base_guess_ns;
}

/* How much may be lost before tries wait. */
static uint64_t credit_ns(const struct pop_decide *d)
{
	uint64_t block_ns = d->deferred_block_ns ? d->deferred_block_ns : base_ns(d);

	return d->rules.blocks * block_ns / POP_CREDIT + d->proven_ns / POP_PROVEN / 2;
}

/* With less than this lost the next try is affordable; with nothing lost one always is. */
static uint64_t affordable_ns(const struct pop_decide *d)
{
	return minus(credit_ns(d), d->dear_ns);
}

/* Blocks to fill another way until then. */
static uint64_t affordable_after(const struct pop_decide *d)
{
	uint64_t block_ns = d->deferred_block_ns ? d->deferred_block_ns : base_ns(d);

	return block_ns ? minus(d->lost_ns, affordable_ns(d)) * POP_LOSS / block_ns : 0;
}

/* defer_compaction(); compaction_deferred() then lets every 2^shift-th attempt run. */
void pop_decide_failed(struct pop_decide *d, uint64_t lost_ns)
{
	d->lost_ns += lost_ns;
	d->dear_ns = (d->dear_ns + lost_ns) / (d->dear_ns ? 2 : 1);
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

bool pop_decide_wants_pins(const struct pop_decide *d)
{
	return d->pins != POP_PINS_UNKNOWN && d->pins >= POP_PINS_LEAST &&
	       (d->skip || affordable_after(d));
}

/*
 * Have so many pins gone that compaction may work again? Then there is no waiting. The shift
 * stays: should that be wrong, one failure brings the old distance back.
 */
static void see_pins(struct pop_decide *d, uint64_t pins)
{
	if (d->pins == POP_PINS_UNKNOWN || pins == POP_PINS_UNKNOWN ||
	    minus(d->pins, pins) < max64(d->pins / POP_PINS_GONE, POP_PINS_LEAST))
		return;
	d->pins = pins;
	d->skip = 0;
	d->lost_ns = d->dear_ns = 0;
	d->patience_tries = 0;
	d->patience_ns = 0;
	d->deaf = false;
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
	uint64_t block_ns = base_ns(d), left_ns;

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
	see_pins(d, view->pins);
	if (d->trying && !d->shift && !d->proven_ns && !d->base_only) {
		step->act = POP_WAIT;
		d->chunks--;
		return;
	}
	skips = max64(d->skip, affordable_after(d));
	if (!skips && !(d->trying && d->shift) && !d->base_only) {
		give_full(d, step,
			  within_time(d, view, min64(d->try_chunk, view->left), d->try_block_ns),
			  true);
		/* After failures the kernel probably defers, too. */
		step->may_ask = !d->deaf;
		step->ask = !d->deaf && (d->patience_tries || d->shift) && !other;
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
			  within_time(d, view, min64(skips, POP_MAX_BASE), d->base_block_ns));
	}
	if (step->deferred && (step->act == POP_OTHER || step->act == POP_BASE)) {
		d->skip = minus(d->skip, step->blocks);
		d->deferred_blocks += step->blocks;
	}
}

/* ---- what it brought ------------------------------------------------------------ */

/* Time beyond what the blocks would have taken without trying. An eighth is noise. */
static uint64_t lost_ns(const struct pop_decide *d, const struct pop_step *step,
			const struct pop_outcome *o)
{
	uint64_t huge = d->huge_block_ns ? d->huge_block_ns : base_ns(d);
	uint64_t expected =
		o->huge * huge + (step->blocks - min64(step->blocks, o->huge)) * base_ns(d);

	return o->time_ns <= expected + expected / 8 ? 0 : o->time_ns - expected;
}

/*
 * Does the failure say that compaction cannot help? While other nodes give huge pages every
 * failure counts: a try delays what could be had for nothing.
 */
static bool is_evidence(const struct pop_decide *d, const struct pop_step *step,
			const struct pop_outcome *o, uint64_t lost)
{
	if (d->rules.use_other && o->free_other)
		return true;
	if (o->seen == POP_SEEN_UNKNOWN)
		return lost > step->blocks * base_ns(d);
	return o->seen == POP_SEEN_FIXED;
}

static void learn_failure(struct pop_decide *d, const struct pop_outcome *o, uint64_t lost,
			  bool evidence)
{
	uint64_t most = max64(d->rules.blocks * base_ns(d) / POP_PATIENT, d->rules.chunk_ns) +
			d->proven_ns / POP_PROVEN;

	if (!evidence && !d->base_block_ns) {
		d->skip = 1; /* to find out what a base block costs */
		d->patience_tries++;
		d->patience_ns += lost;
	} else if (!evidence && d->patience_tries < POP_PATIENCE && d->patience_ns + lost <= most) {
		d->patience_tries++;
		d->patience_ns += lost;
	} else if (!evidence && !lost) {
		d->skip = POP_FREE_SKIP;
	} else {
		d->patience_tries = 0;
		d->pins = o->pins;
		pop_decide_failed(d, lost);
	}
}

static void learn_try(struct pop_decide *d, const struct pop_step *step,
		      const struct pop_outcome *o)
{
	uint64_t most = d->rules.free_known ? POP_MAX_TRY : POP_MAX_BLIND;

	d->trying--;
	d->failed_blocks += step->blocks - min64(step->blocks, o->huge_home);
	d->try_block_ns = o->time_ns / step->blocks;
	d->deaf = o->deaf || (d->deaf && !o->huge_home);
	if (o->huge_home * 2 < step->blocks || !o->huge_home) {
		uint64_t lost = lost_ns(d, step, o);

		d->failed_tries++;
		d->try_chunk = 1;
		learn_failure(d, o, lost, is_evidence(d, step, o, lost));
		/* The kernel takes free blocks first: those it left cannot be had. */
		d->untakable_home = o->free_home;
		return;
	}
	pop_decide_succeeded(d);
	d->proven_ns += o->time_ns;
	d->lost_ns /= 2;
	d->dear_ns = 0;
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
		learn_failure(d, o, lost_ns(d, step, o), true);
}

void pop_decide_learn(struct pop_decide *d, const struct pop_step *step,
		      const struct pop_outcome *o)
{
	if (!step->blocks)
		return;
	if (step->deferred) {
		d->deferred_block_ns = o->time_ns / step->blocks;
		/* A try that costs seconds must not put off the next one for minutes. */
		d->lost_ns = min64(d->lost_ns,
				   affordable_ns(d) + POP_MAX_PAUSE * d->rules.chunk_ns / POP_LOSS);
		d->lost_ns = minus(d->lost_ns, o->time_ns / POP_LOSS);
	}
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
