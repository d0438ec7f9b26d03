/* SPDX-License-Identifier: MIT */
/*
 * The buddy allocator against a naive set of frames, in zones that start and end anywhere.
 */
#include "tests/unit/mm/frames_fixture.h"

#include <string.h>

#include "mm/page/buddy.h"

#define FRAMES 5000u

struct zone_case {
	uint64_t first, end;
};

static const struct zone_case zones[] = {{1, 2},       {1, 3},       {7, 8},      {1, FRAMES},
					 {1024, 4096}, {1000, 3333}, {2047, 2049}};

static void assert_buddy_good(struct frames *frames, const struct buddy *buddy, uint64_t free)
{
	uint64_t found = 0, returned = 0;
	struct message why = {""};

	if (buddy_check(frames, buddy, &found, &returned, &why))
		fail_msg("%s", why.text);
	assert_int_equal(found, free);
}

/* How many blocks of each order there are when all frames of [first, end) are free: the fewest possible. */
static void count_blocks(struct zone_case zone, uint64_t *blocks)
{
	memset(blocks, 0, BUDDY_ORDERS * sizeof(*blocks));
	while (zone.first < zone.end) {
		unsigned order = 0;

		while (order + 1 < BUDDY_ORDERS && zone.first % (2ull << order) == 0 &&
		       zone.first + (2ull << order) <= zone.end)
			order++;
		blocks[order]++;
		zone.first += 1ull << order;
	}
}

static void random_frames_join_again(void **state)
{
	struct frames *frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, FRAMES);
	static struct page *held[FRAMES];
	static bool taken[FRAMES];
	struct random random;

	(void)state;
	random_seed(&random, test_seed());
	for (size_t i = 0; i < ARRAY_SIZE(zones); i++) {
		uint64_t all = zones[i].end - zones[i].first, blocks[BUDDY_ORDERS], count = 0;
		struct buddy buddy;

		buddy_init(&buddy, zones[i].first, zones[i].end);
		assert_buddy_good(frames, &buddy, all);
		for (unsigned step = 0; step < 8 * all + 100; step++) {
			if (random_below(&random, 100) < (step / all % 2 ? 20u : 90u)) {
				struct page *page = buddy_take(frames, &buddy);
				uint64_t pfn = page ? page_to_pfn(frames, page) : 0;

				assert_int_equal(!page, count == all);
				if (!page)
					continue;
				assert_in_range(pfn, zones[i].first, zones[i].end - 1);
				assert_false(taken[pfn]);
				taken[pfn] = true;
				held[count++] = page;
			} else if (count) {
				uint64_t which = random_below(&random, count);

				taken[page_to_pfn(frames, held[which])] = false;
				buddy_give(frames, &buddy, held[which]);
				held[which] = held[--count];
			}
			if (step % 97 == 0)
				assert_buddy_good(frames, &buddy, all - count);
		}
		while ((held[count] = buddy_take(frames, &buddy)))
			count++;
		assert_int_equal(count, all);
		while (count) {
			count--;
			taken[page_to_pfn(frames, held[count])] = false;
			buddy_give(frames, &buddy, held[count]);
		}
		assert_buddy_good(frames, &buddy, all);
		count_blocks(zones[i], blocks);
		for (unsigned order = 0; order < BUDDY_ORDERS; order++)
			assert_int_equal(buddy.area[order].count, blocks[order]);
		memset(frames->pages, 0, (FRAMES + 1) * sizeof(struct page));
	}
	frames_destroy(frames);
}

/*
 *   frame   8 9 10 11 12 13 14 15
 *           T T T  T  .  .  .  .     taken, the rest is a block of order 2
 *           . T T  T                 8 alone
 *           . . T  T                 8 and 9 are one block of order 1
 *           . . T  .                 11 waits for 10
 *           . . .  .  .  .  .  .     and all is one block of order 3
 */
static void buddies_join_step_by_step(void **state)
{
	struct frames *frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, 31);
	struct buddy buddy;
	struct page *page[4];

	(void)state;
	buddy_init(&buddy, 8, 16);
	for (int i = 0; i < 4; i++) {
		page[i] = buddy_take(frames, &buddy);
		assert_int_equal(page_to_pfn(frames, page[i]), 8 + i);
	}
	assert_int_equal(buddy.area[2].count, 1);
	buddy_give(frames, &buddy, page[0]);
	assert_int_equal(buddy.area[0].count, 1);
	buddy_give(frames, &buddy, page[1]);
	assert_int_equal(buddy.area[0].count, 0);
	assert_int_equal(buddy.area[1].count, 1);
	buddy_give(frames, &buddy, page[3]);
	assert_int_equal(buddy.area[0].count, 1);
	assert_int_equal(buddy.area[1].count, 1);
	buddy_give(frames, &buddy, page[2]);
	for (unsigned order = 0; order < BUDDY_ORDERS; order++)
		assert_int_equal(buddy.area[order].count, order == 3);
	assert_buddy_good(frames, &buddy, 8);
	frames_destroy(frames);
}

/* The check must be able to fail. */
static void damage_is_found(void **state)
{
	struct frames *frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, 31);
	uint64_t free = 0, returned = 0;
	struct buddy buddy;
	struct page *page;
	struct message why = {""};

	(void)state;
	buddy_init(&buddy, 8, 16);
	page = buddy_take(frames, &buddy);
	assert_buddy_good(frames, &buddy, 7);

	buddy.area[1].count++;
	assert_int_equal(buddy_check(frames, &buddy, &free, &returned, &why), -EINVAL);
	buddy.area[1].count--;
	atomic_store(&(page + 2)->mapcount, PAGE_BUDDY + 2);
	assert_int_equal(buddy_check(frames, &buddy, &free, &returned, &why), -EINVAL);
	atomic_store(&(page + 2)->mapcount, PAGE_BUDDY + 1);
	atomic_store(&(page + 3)->refcount, 1);
	assert_int_equal(buddy_check(frames, &buddy, &free, &returned, &why), -EINVAL);
	atomic_store(&(page + 3)->refcount, 0);
	/* A free buddy beside a free buddy. */
	atomic_store(&page->mapcount, PAGE_BUDDY);
	assert_int_equal(buddy_check(frames, &buddy, &free, &returned, &why), -EINVAL);
	atomic_store(&page->mapcount, 0);
	buddy_give(frames, &buddy, page);
	assert_buddy_good(frames, &buddy, 8);
	frames_destroy(frames);
}

static int machine_open(void **state)
{
	(void)state;
	return host_open(1);
}

static int machine_close(void **state)
{
	(void)state;
	host_close();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(random_frames_join_again),
	    cmocka_unit_test(buddies_join_step_by_step),
	    cmocka_unit_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, machine_open, machine_close);
}
