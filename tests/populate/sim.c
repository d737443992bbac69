/* SPDX-License-Identifier: MIT */
#include "sim.h"
#include "util/util.h"

struct sim sim_new(void)
{
	return (struct sim){.free_home = 100000,
			    .huge_ns = 250000,
			    .base_ns = 500000,
			    .compact_ns = 1000000,
			    .fail_ns = 5000000,
			    .random = 1};
}

struct pop_rules sim_rules(void)
{
	return (struct pop_rules){.huge = true,
				  .stalls = true,
				  .free_known = true,
				  .base_budget = UINT64_MAX,
				  .chunk_ns = 50000000,
				  .base_guess_ns = 1000000};
}

/* One fault that asks for a huge page; `other`: of any node without compaction first. */
static void fault_huge(struct sim *s, bool other, struct pop_outcome *o)
{
	bool made;

	if (s->free_home > s->untakable_home) {
		s->free_home--;
		s->now_ns += s->huge_ns;
		o->huge++;
		o->huge_home++;
		return;
	}
	if (other && s->free_other > s->untakable_other) {
		s->free_other--;
		s->now_ns += s->huge_ns;
		o->huge++;
		return;
	}
	s->compactions++;
	if (s->kernel_defers) {
		s->kernel_defers--;
		s->failures++;
		if (o->seen == POP_SEEN_UNKNOWN)
			o->seen = POP_SEEN_LITTLE;
		s->now_ns += s->deferred_ns + s->base_ns;
		s->base++;
		return;
	}
	made = s->compactable && random_below(&s->random, 100) >= s->fail_percent;
	if (made) {
		s->compactable--;
		if (s->defer_every && s->compactable % s->defer_every == 0)
			s->kernel_defers = 42;
		o->seen = POP_SEEN_MOVED;
		s->now_ns += s->compact_ns + s->huge_ns;
		o->huge++;
		o->huge_home++;
		return;
	}
	s->failures++;
	s->now_ns += s->fail_ns;
	o->seen = s->moves_in_vain ? POP_SEEN_MOVED : POP_SEEN_FIXED;
	if (s->free_other > s->untakable_other) {
		s->free_other--;
		s->now_ns += s->huge_ns;
		o->huge++;
	} else {
		s->now_ns += s->base_ns;
		s->base++;
	}
}

void sim_run(struct sim *s, struct pop_decide *d, const struct pop_rules *rules, uint64_t blocks)
{
	uint64_t at = 0, unpinned = 0, unpinned_at = 0, freed = 0;

	pop_decide_init(d, rules);
	d->rules.blocks = blocks;
	while (at < blocks) {
		struct pop_view v = {.now_ns = s->now_ns,
				     .left = blocks - at,
				     .free_home = s->free_home,
				     .free_other = s->free_other,
				     .pins = POP_PINS_UNKNOWN};
		struct pop_outcome o = {.pins = POP_PINS_UNKNOWN};
		struct pop_step step;
		uint64_t t = s->now_ns;

		if (s->free_every && at / s->free_every > freed) {
			freed = at / s->free_every;
			v.free_home = ++s->free_home;
		}
		if (s->unpin_at && at >= s->unpin_at && !unpinned) {
			s->compactable = blocks;
			s->kernel_defers = s->defer_after_unpin;
			unpinned = s->chunks + 1;
			unpinned_at = at;
		}
		if (s->pins)
			v.pins = o.pins = unpinned ? 0 : s->pins;
		pop_decide_next(d, &v, &step);
		s->chunks++;
		if (step.act == POP_STOP) {
			s->stopped = true;
			return;
		}
		for (uint64_t i = 0; i < step.blocks; i++) {
			bool ask = !i ? step.ask : step.trial && s->kernel_defers;

			/* Once a chunk; the kernel's pause is never longer than this. */
			while (ask && s->kernel_defers) {
				s->kernel_defers--;
				s->now_ns += s->deferred_ns;
			}
			if (step.act == POP_BASE) {
				s->now_ns += s->base_ns;
				s->base++;
			} else {
				fault_huge(s, step.act == POP_OTHER, &o);
			}
		}
		at += step.blocks;
		s->huge += o.huge;
		s->huge_home += o.huge_home;
		if (o.huge && unpinned && !s->first_huge_after_unpin) {
			s->first_huge_after_unpin = s->chunks - unpinned + 1;
			s->blocks_until_huge = at - unpinned_at;
		}
		o.time_ns = s->now_ns - t;
		if (o.time_ns > s->longest_ns)
			s->longest_ns = o.time_ns;
		if (step.act != POP_BASE && step.blocks > s->largest)
			s->largest = step.blocks;
		o.free_home = s->free_home;
		o.free_other = s->free_other;
		pop_decide_learn(d, &step, &o);
	}
}

uint64_t sim_plain(struct sim s, uint64_t blocks, uint64_t *huge)
{
	struct pop_outcome o = {0};
	uint64_t t = s.now_ns;

	while (blocks--)
		fault_huge(&s, false, &o);
	*huge = o.huge;
	return s.now_ns - t;
}
