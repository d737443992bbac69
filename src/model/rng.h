/* SPDX-License-Identifier: MIT */
/*
 * rng.h - named random streams, one a purpose.
 *
 * Every stream is seeded from (machine seed, stream name) alone, so a policy that draws more never shifts
 * what the workload draws, and adding a stream shifts no other. Integer arithmetic only; the generator is
 * splitmix64-seeded xoshiro256**, written out here so that no libc decides a result. Mainline kernel code
 * draws nothing: a run without RNG_POLICY and RNG_WORKLOAD users is a function of its inputs.
 */
#ifndef COMPACTLAB_MODEL_RNG_H
#define COMPACTLAB_MODEL_RNG_H

#include <stdint.h>

enum rng_stream {
	RNG_WORKLOAD, /* the scenario's own choices: random punches, file sizes */
	RNG_LAYOUT,   /* what a snapshot cannot show and the loader has to guess */
	RNG_POLICY,   /* draws of policies (resampling offset) */
	RNG_BOOT,     /* scattered boot allocations, if the configuration asks for them */
	RNG_TEST,     /* random operation sequences in tests */
	NR_RNG_STREAMS
};

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *r, uint64_t seed, enum rng_stream stream);
uint64_t rng_next(struct rng *r);
/* Uniform in [0, bound), without modulo bias; bound > 0. */
uint64_t rng_below(struct rng *r, uint64_t bound);

#endif
