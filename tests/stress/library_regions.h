/* SPDX-License-Identifier: MIT */
/*
 * Regions of memory of which a thread knows every byte, and the calls that make and change them. For programs
 * that use the library through softfault.h alone.
 */
#ifndef TESTS_STRESS_LIBRARY_REGIONS_H
#define TESTS_STRESS_LIBRARY_REGIONS_H

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "softfault.h"

#define REGIONS   5
#define PAGES_MAX 12
#define PAGE      SF_PAGE_SIZE
#define RW        (SF_PROT_READ | SF_PROT_WRITE)

static uint64_t library_seed;

/* Whether the system has too little RAM for what is done with it; and how often it said so. */
static bool library_is_scarce;
static _Atomic uint64_t library_refusals;

static _Noreturn inline void broken(const char *condition, int line)
{
	fprintf(stderr, "%s:%d: seed %llu: %s\n", __FILE__, line, (unsigned long long)library_seed,
		condition);
	abort();
}

/* In any thread: an assertion of cmocka works only in the one that runs the test. */
#define require(condition)                            \
	do {                                          \
		if (!(condition))                     \
			broken(#condition, __LINE__); \
	} while (0)

/* Whether a call failed for want of RAM, where that may be. Then it changed nothing. */
static inline bool ran_out(int error)
{
	if (error != -ENOMEM || !library_is_scarce)
		return false;
	library_refusals++;
	return true;
}

/* A mapping of one thread, in which it may have made holes; what is in those is not its own any more. */
struct region {
	uint64_t start;
	unsigned pages; /* 0: there is none */
	bool shared;
	bool hole[PAGES_MAX];
	int protection[PAGES_MAX];
	unsigned char bytes[PAGES_MAX * SF_PAGE_SIZE];
};

struct worker {
	pthread_t thread;
	struct random random;
	struct sf_space *space;
	struct sf_tlb *tlb;
	struct region region[REGIONS];
};

static inline unsigned below(struct worker *worker, unsigned bound)
{
	return (unsigned)random_below(&worker->random, bound);
}

/* A run of pages without a hole. */
struct part {
	struct region *region;
	unsigned first, count;
};

static inline uint64_t part_start(const struct part *part)
{
	return part->region->start + part->first * PAGE;
}

static inline unsigned char *part_bytes(const struct part *part)
{
	return part->region->bytes + part->first * PAGE;
}

/* Picks one; false when there is nothing at hand. */
static inline bool pick_part(struct worker *worker, struct part *part)
{
	struct region *region = &worker->region[below(worker, REGIONS)];
	unsigned end;

	if (!region->pages)
		return false;
	part->region = region;
	part->first = below(worker, region->pages);
	while (region->hole[part->first])
		part->first = (part->first + 1) % region->pages;
	for (end = part->first; end < region->pages && !region->hole[end]; end++) {
		if (below(worker, 6) == 0 && end > part->first)
			break;
	}
	part->count = end - part->first;
	return true;
}

static inline void map_region(struct worker *worker)
{
	struct region *region = &worker->region[below(worker, REGIONS)];

	if (region->pages)
		return;
	memset(region, 0, sizeof(*region));
	region->pages = 1 + below(worker, PAGES_MAX);
	region->shared = below(worker, 4) == 0;
	for (unsigned i = 0; i < region->pages; i++)
		region->protection[i] = RW;
	require(!sf_map(worker->space, 0, region->pages * PAGE, RW,
			SF_MAP_ANONYMOUS | (region->shared ? SF_MAP_SHARED : SF_MAP_PRIVATE) |
			    (below(worker, 4) ? 0 : SF_MAP_POPULATE),
			&region->start));
}

static inline void unmap_part(struct worker *worker, const struct part *part)
{
	struct region *region = part->region;
	bool empty = true;

	require(!sf_unmap(worker->space, part_start(part), part->count * PAGE));
	for (unsigned i = 0; i < part->count; i++)
		region->hole[part->first + i] = true;
	for (unsigned i = 0; i < region->pages; i++)
		empty &= region->hole[i];
	if (empty)
		region->pages = 0;
}

/* All that is left of it. */
static inline void unmap_region(struct worker *worker, struct region *region)
{
	struct part part = {.region = region};

	while (region->pages) {
		while (region->hole[part.first])
			part.first++;
		for (part.count = 1; part.first + part.count < region->pages; part.count++) {
			if (region->hole[part.first + part.count])
				break;
		}
		unmap_part(worker, &part);
	}
}

static inline void protect_part(struct worker *worker, const struct part *part)
{
	static const int choices[] = {SF_PROT_NONE, SF_PROT_READ, RW, RW};
	int protection = choices[below(worker, 4)];

	require(!sf_protect(worker->space, part_start(part), part->count * PAGE, protection));
	for (unsigned i = 0; i < part->count; i++)
		part->region->protection[part->first + i] = protection;
}

static inline void advise_part(struct worker *worker, const struct part *part)
{
	bool all_writable = true;
	int error;

	for (unsigned i = 0; i < part->count; i++)
		all_writable &= part->region->protection[part->first + i] == RW;
	if (below(worker, 2)) {
		error =
		    sf_advise(worker->space, part_start(part), part->count * PAGE, SF_ADVICE_POPULATE_WRITE);
		/* What it needs and does not have: Linux says -EFAULT for a mapping that may not be written
		 * to. */
		if (!ran_out(error))
			require(all_writable ? !error : error == -EFAULT || error == -EINVAL);
		return;
	}
	require(!sf_advise(worker->space, part_start(part), part->count * PAGE, SF_ADVICE_DONTNEED));
	if (!part->region->shared)
		memset(part_bytes(part), 0, part->count * PAGE);
}

/* Grows or shrinks a private region of one protection, wherever it comes to stand. */
static inline void remap_region(struct worker *worker, struct region *region)
{
	unsigned pages = 1 + below(worker, PAGES_MAX), old = region->pages;
	uint64_t place;
	int error;

	for (unsigned i = 0; i < old; i++) {
		if (region->hole[i] || region->protection[i] != region->protection[0])
			return;
	}
	if (!old || region->shared)
		return;
	error = sf_remap(worker->space, region->start, old * PAGE, pages * PAGE, SF_REMAP_MAYMOVE, 0, &place);
	/* Pages that were split and written to on their own may be VMAs that do not merge again. */
	require(!error || ran_out(error) || (error == -EFAULT && pages > old));
	if (error)
		return;
	region->start = place;
	region->pages = pages;
	for (unsigned i = old; i < pages; i++) {
		region->protection[i] = region->protection[0];
		memset(region->bytes + i * PAGE, 0, PAGE);
		region->hole[i] = false;
	}
}

#endif
