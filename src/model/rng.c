/* SPDX-License-Identifier: MIT */
/* rng.c - xoshiro256** with splitmix64 seeding (public-domain algorithms by Blackman and Vigna). */
#include "model/rng.h"

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix64(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *r, uint64_t seed, enum rng_stream stream)
{
	/* The name of a stream is its text, not its number: inserting an enum value shifts nobody. */
	static const char *const names[NR_RNG_STREAMS] = {
		[RNG_WORKLOAD] = "workload", [RNG_LAYOUT] = "layout", [RNG_POLICY] = "policy",
		[RNG_BOOT] = "boot",         [RNG_TEST] = "test",
	};
	uint64_t state = seed;

	for (const char *p = names[stream]; *p; p++)
		state = (state ^ (uint8_t)*p) * 0x100000001b3u;
	for (int i = 0; i < 4; i++)
		r->s[i] = splitmix64(&state);
}

uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

uint64_t rng_below(struct rng *r, uint64_t bound)
{
	uint64_t reject = -bound % bound; /* 2^64 mod bound */
	uint64_t x;

	do
		x = rng_next(r);
	while (x < reject);
	return x % bound;
}
