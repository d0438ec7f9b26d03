/* SPDX-License-Identifier: MIT */
/*
 * A small seeded generator: the same seed gives the same numbers on every machine.
 * The step is splitmix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
 */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

struct random {
	uint64_t state;
};

/* Starts `random` from `seed`; every seed is a good one. */
static inline void random_seed(struct random *random, uint64_t seed)
{
	random->state = seed;
}

/* Returns the next 64 random bits. */
static inline uint64_t random_next(struct random *random)
{
	uint64_t z = (random->state += 0x9e3779b97f4a7c15ull);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

/* Returns a number from 0 to `bound` - 1; `bound` is 1 to 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t bound)
{
	return ((random_next(random) >> 32) * bound) >> 32;
}

#endif
