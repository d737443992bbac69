/* SPDX-License-Identifier: MIT */
#include "util/util.h"

/* splitmix64, after Steele, Lea and Flood (2014): one addition and a mixer with full period. */
uint64_t random_next(uint64_t *s)
{
	uint64_t z = *s += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Multiply-shift; the bias for n far below 2^64 is too small to be seen. */
uint64_t random_below(uint64_t *s, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)random_next(s) * n) >> 64);
}
