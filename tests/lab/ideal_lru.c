/* SPDX-License-Identifier: MIT */
/*
 * Exact LRU against an oracle that looks at when each page was touched last.
 */
#include "tests/lab/fixture.h"

#include "base/random.h"
#include "lab/ideal_lru.h"

#define PAGES_MAX 24u
#define TOUCHES   2000u
#define RUNS      200u

struct oracle {
	uint32_t pages, room;
	uint64_t last[PAGES_MAX]; /* 0: not there */
	bool dirty[PAGES_MAX];
};

static uint32_t present(const struct oracle *oracle)
{
	uint32_t count = 0;

	for (uint32_t page = 0; page < oracle->pages; page++)
		count += oracle->last[page] != 0;
	return count;
}

/* Returns whether the page that goes has to be written. */
static bool evict(struct oracle *oracle)
{
	uint32_t oldest = oracle->pages;
	bool dirty;

	for (uint32_t page = 0; page < oracle->pages; page++)
		if (oracle->last[page] &&
		    (oldest == oracle->pages || oracle->last[page] < oracle->last[oldest]))
			oldest = page;
	dirty = oracle->dirty[oldest];
	oracle->last[oldest] = 0;
	oracle->dirty[oldest] = false;
	return dirty;
}

static void is_exact(void **state)
{
	struct random random;

	(void)state;
	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct oracle oracle = {0};
		struct ideal_lru *lru;

		random_seed(&random, seed);
		oracle.pages = 1 + (uint32_t)random_below(&random, PAGES_MAX);
		oracle.room = 1 + (uint32_t)random_below(&random, oracle.pages);
		lru = ideal_lru_create(oracle.pages, oracle.room);
		assert_non_null(lru);
		for (uint64_t now = 1; now <= TOUCHES; now++) {
			uint32_t page = (uint32_t)random_below(&random, oracle.pages);
			bool write = random_below(&random, 2), hit = oracle.last[page] != 0;
			bool expected = !hit && present(&oracle) == oracle.room && evict(&oracle);
			bool written;

			oracle.last[page] = now;
			oracle.dirty[page] = oracle.dirty[page] || write;
			if (ideal_lru_touch(lru, page, write, &written) != hit || written != expected)
				fail_msg("seed %llu, touch %llu of page %u", (unsigned long long)seed,
					 (unsigned long long)now, page);
		}
		ideal_lru_destroy(lru);
	}
}

/* Round and round through one page more than there is room for: LRU never hits. */
static void never_hits_in_a_loop_that_is_too_long(void **state)
{
	struct ideal_lru *lru = ideal_lru_create(5, 4);
	bool written;

	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		assert_false(ideal_lru_touch(lru, i % 5, false, &written));
		assert_false(written);
	}
	ideal_lru_destroy(lru);
	ideal_lru_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(is_exact),
	    cmocka_unit_test(never_hits_in_a_loop_that_is_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
