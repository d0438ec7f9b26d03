/* SPDX-License-Identifier: MIT */
#include "tests/unit/mm/fixture.h"

#include <string.h>

#include "mm/page/frames.h"

static struct frames *open_frames(uint64_t own, uint64_t exported, bool structure_only)
{
	struct frames *frames = frames_create(&(struct frames_config){own, exported, structure_only});

	assert_non_null(frames);
	return frames;
}

static void assert_frames_good(struct frames *frames, uint64_t in_use)
{
	struct message why = {""};

	if (frames_check(frames, in_use, &why))
		fail_msg("%s", why.text);
}

/* Every own frame is handed out once, then there are none; all come back. */
static void all_frames_are_handed_out(void **state)
{
	static const uint64_t sizes[] = {1, 2, 15, 16, 17, 1000, 5000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct frames *frames = open_frames(sizes[i], 3, false);
		struct page **page = calloc(sizes[i], sizeof(*page));

		for (int round = 0; round < 3; round++) {
			for (uint64_t n = 0; n < sizes[i]; n++) {
				page[n] = frame_alloc(frames);
				assert_non_null(page[n]);
				assert_true(page_to_pfn(frames, page[n]) < sizes[i]);
			}
			assert_null(frame_alloc(frames));
			assert_frames_good(frames, sizes[i]);
			for (uint64_t n = 0; n < sizes[i]; n++)
				frame_free(frames, page[sizes[i] - 1 - n]);
			assert_frames_good(frames, 0);
		}
		free(page);
		frames_destroy(frames);
	}
}

static void contents_are_the_frames_own(void **state)
{
	struct frames *frames = open_frames(40, 10, false);
	struct page *page[40];

	(void)state;
	for (int i = 0; i < 40; i++) {
		page[i] = frame_alloc(frames);
		memset(page_address(frames, page[i]), i, PAGE);
	}
	for (int i = 0; i < 40; i++) {
		unsigned char *contents = page_address(frames, page[i]);

		assert_int_equal((uintptr_t)contents % PAGE, 0);
		assert_int_equal(contents[0], i);
		assert_int_equal(contents[PAGE - 1], i);
		frame_free(frames, page[i]);
	}
	assert_non_null(page_address(frames, pfn_to_page(frames, 49)));
	frames_destroy(frames);

	frames = open_frames(40, 10, true);
	assert_non_null(page_address(frames, pfn_to_page(frames, 39)));
	assert_null(page_address(frames, pfn_to_page(frames, 40)));
	frames_destroy(frames);
}

/* 1 TiB of RAM costs address space until it is used. */
static void a_terabyte_is_only_reserved(void **state)
{
	struct frames *frames = open_frames(1 << 20, (uint64_t)1 << 28, true);
	struct page *page = frame_alloc(frames);

	(void)state;
	assert_non_null(page);
	assert_frames_good(frames, 1);
	frame_free(frames, page);
	frames_destroy(frames);
}

static void random_traffic_keeps_count(void **state)
{
	struct frames *frames = open_frames(3000, 0, false);
	struct page *held[3000];
	struct random random;
	unsigned count = 0;

	(void)state;
	random_seed(&random, test_seed(5));
	for (int step = 0; step < 60000; step++) {
		/* Long runs one way, so that magazines travel both ways. */
		bool grow = random_below(&random, 100) < (step / 4000 % 2 ? 20u : 80u);

		if (grow) {
			struct page *page = frame_alloc(frames);

			assert_true(page || count == 3000);
			if (page)
				held[count++] = page;
		} else if (count) {
			unsigned which = (unsigned)random_below(&random, count);

			frame_free(frames, held[which]);
			held[which] = held[--count];
		}
		if (step % 500 == 0)
			assert_frames_good(frames, count);
	}
	while (count)
		frame_free(frames, held[--count]);
	assert_frames_good(frames, 0);
	frames_destroy(frames);
}

struct exchange {
	struct frames *frames;
	struct page *page[500];
};

/* CPU 0 allocates, CPU 1 frees: what lands in CPU 1's magazines reaches CPU 0 again through the depot. */
static void take_all(unsigned cpu, void *argument)
{
	struct exchange *exchange = argument;

	if (cpu == 0)
		for (int i = 0; i < 500; i++)
			exchange->page[i] = frame_alloc(exchange->frames);
}

static void give_all(unsigned cpu, void *argument)
{
	struct exchange *exchange = argument;

	if (cpu == 1)
		for (int i = 0; i < 500; i++)
			frame_free(exchange->frames, exchange->page[i]);
}

static void frames_travel_between_cpus(void **state)
{
	/* Room for what two CPUs can hold back. */
	struct exchange exchange = {.frames = open_frames(500 + 4 * 64, 0, false)};

	(void)state;
	for (int round = 0; round < 8; round++) {
		assert_int_equal(host_run(take_all, &exchange), 0);
		for (int i = 0; i < 500; i++)
			assert_non_null(exchange.page[i]);
		assert_frames_good(exchange.frames, 500);
		assert_int_equal(host_run(give_all, &exchange), 0);
		assert_frames_good(exchange.frames, 0);
	}
	frames_destroy(exchange.frames);
}

/* The check itself must be able to fail. */
static void damage_is_found(void **state)
{
	struct frames *frames = open_frames(100, 0, false);
	struct page *page = frame_alloc(frames), *other = frame_alloc(frames);
	struct message why = {""};

	(void)state;
	assert_int_equal(frames_check(frames, 1, &why), -EINVAL);
	frame_free(frames, other);
	assert_frames_good(frames, 1);
	atomic_store(&other->refcount, 1);
	assert_int_equal(frames_check(frames, 1, &why), -EINVAL);
	atomic_store(&other->refcount, 0);
	page_clear_flag(other, PG_free);
	assert_int_equal(frames_check(frames, 1, &why), -EINVAL);
	page_set_flag(other, PG_free);
	assert_frames_good(frames, 1);
	atomic_store(&page->refcount, 0);
	assert_int_equal(frames_check(frames, 1, &why), -EINVAL);
	atomic_store(&page->refcount, 1);
	frame_free(frames, page);
	frames_destroy(frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(all_frames_are_handed_out),   mm_test(contents_are_the_frames_own),
	    mm_test(a_terabyte_is_only_reserved), mm_test(random_traffic_keeps_count),
	    mm_test(frames_travel_between_cpus),  mm_test(damage_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
