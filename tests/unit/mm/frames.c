/* SPDX-License-Identifier: MIT */
/*
 * Frames handed out and taken back by one CPU or two, with each frame cache; references and mappings; the
 * zero page; the counters; and that the check can fail.
 */
#include "tests/unit/mm/frames_fixture.h"

#include <string.h>

#define CPUS 2

static enum policy_frame_cache cache;

/* Every frame is handed out once, then there are none; all come back. */
static void all_frames_are_handed_out(void **state)
{
	static const uint64_t sizes[] = {0, 1, 2, 15, 16, 17, 1000, 5000};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct frames *frames = open_frames(cache, sizes[i]);
		struct page **page = calloc(sizes[i] + 1, sizeof(struct page *));

		for (int round = 0; round < 3; round++) {
			for (uint64_t n = 0; n < sizes[i]; n++) {
				page[n] = frame_alloc(frames);
				assert_non_null(page[n]);
				assert_in_range(page_to_pfn(frames, page[n]), 1, sizes[i]);
				assert_int_equal(page_refcount(page[n]), 1);
				assert_int_equal(page_mapcount(page[n]), 0);
				assert_int_equal(atomic_load(&page[n]->flags), 0);
			}
			for (int again = 0; again < 2; again++)
				assert_null(frame_alloc(frames));
			assert_frames_good(frames, sizes[i]);
			assert_int_equal(frames_free_count(frames), 0);
			for (uint64_t n = 0; n < sizes[i]; n++)
				frame_free(frames, page[sizes[i] - 1 - n]);
			assert_frames_good(frames, 0);
			assert_int_equal(frames_free_count(frames), sizes[i]);
		}
		free(page);
		close_frames(frames);
	}
}

static void contents_are_the_frames_own(void **state)
{
	struct frames_config config = {.own_frames = 41, .exported_frames = 10, .cache = cache};
	struct frames *frames = frames_create(&config);
	struct page *page[40];

	(void)state;
	assert_non_null(frames);
	for (int i = 0; i < 40; i++) {
		page[i] = frame_alloc(frames);
		memset(page_address(frames, page[i]), i, PORT_PAGE_SIZE);
	}
	for (int i = 0; i < 40; i++) {
		unsigned char *contents = page_address(frames, page[i]);

		assert_int_equal((uintptr_t)contents % PORT_PAGE_SIZE, 0);
		assert_int_equal(contents[0], i);
		assert_int_equal(contents[PORT_PAGE_SIZE - 1], i);
		frame_free(frames, page[i]);
	}
	assert_non_null(page_address(frames, pfn_to_page(frames, 50)));
	close_frames(frames);

	config.structure_only = true;
	frames = frames_create(&config);
	assert_non_null(frames);
	assert_non_null(page_address(frames, pfn_to_page(frames, 40)));
	assert_null(page_address(frames, pfn_to_page(frames, 41)));
	close_frames(frames);
}

/* 1 TiB of RAM costs address space until it is used. */
static void a_terabyte_is_only_reserved(void **state)
{
	struct frames *frames = open_frames(cache, (uint64_t)1 << 28);
	struct page *page = frame_alloc(frames);

	(void)state;
	assert_non_null(page);
	assert_frames_good(frames, 1);
	frame_free(frames, page);
	close_frames(frames);
}

/* One CPU against the plainest list of what it holds. */
static void random_traffic_keeps_count(void **state)
{
	struct frames *frames = open_frames(cache, 3000);
	struct page *held[3000];
	struct random random;
	unsigned count = 0, exhausted = 0;

	(void)state;
	random_seed(&random, test_seed());
	for (int step = 0; step < 60000; step++) {
		/* Long runs one way, so that batches travel both ways. */
		bool grow = random_below(&random, 100) < (step / 4000 % 2 ? 20u : 90u);

		if (grow) {
			struct page *page = frame_alloc(frames);

			assert_int_equal(!page, count == 3000);
			if (page)
				held[count++] = page;
			else
				exhausted++;
		} else if (count) {
			unsigned which = (unsigned)random_below(&random, count);

			frame_free(frames, held[which]);
			held[which] = held[--count];
		}
		if (step % 500 == 0)
			assert_frames_good(frames, count);
		assert_int_equal(frames_free_count(frames), 3000 - count);
	}
	assert_true(exhausted > 0);
	while (count)
		frame_free(frames, held[--count]);
	close_frames(frames);
}

#define EXCHANGED 2000

struct exchange {
	struct frames *frames;
	struct page *page[EXCHANGED];
};

/* CPU 0 takes, CPU 1 gives back: what lands with CPU 1 reaches CPU 0 again. */
static void take_all(unsigned cpu, void *argument)
{
	struct exchange *exchange = argument;

	for (int i = 0; cpu == 0 && i < EXCHANGED; i++)
		exchange->page[i] = frame_alloc(exchange->frames);
}

static void give_all(unsigned cpu, void *argument)
{
	struct exchange *exchange = argument;

	for (int i = 0; cpu == 1 && i < EXCHANGED; i++)
		frame_free(exchange->frames, exchange->page[i]);
}

static void frames_travel_between_cpus(void **state)
{
	/* Room for what CPU 1 can hold back. */
	struct exchange exchange = {.frames = open_frames(cache, EXCHANGED + 4 * 64)};

	(void)state;
	for (int round = 0; round < 8; round++) {
		run_cpus(take_all, &exchange);
		for (int i = 0; i < EXCHANGED; i++)
			assert_non_null(exchange.page[i]);
		assert_frames_good(exchange.frames, EXCHANGED);
		run_cpus(give_all, &exchange);
		assert_frames_good(exchange.frames, 0);
	}
	close_frames(exchange.frames);
}

/* In a zone of 512 MiB, where a batch is 31 frames; a magazine has its own size. */
static void a_list_holds_as_many_batches_as_asked(void **state)
{
	static const unsigned asked[] = {0, 1, 3, 6}, batches[] = {6, 1, 3, 6};
	uint64_t held_back = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		struct frames_config config = {
		    .own_frames = 1 << 17, .cache = cache, .pcp_batches = asked[i]};
		struct frames *frames = frames_create(&config);

		assert_non_null(frames);
		if (cache == POLICY_FRAME_CACHE_ZONE)
			assert_int_equal(frames_held_back(frames), CPUS * batches[i] * 31);
		else if (i)
			assert_int_equal(frames_held_back(frames), held_back);
		held_back = frames_held_back(frames);
		close_frames(frames);
	}
}

static void the_last_reference_gives_the_frame_back(void **state)
{
	struct frames *frames = open_frames(cache, 10);
	struct page *page = frame_alloc(frames);

	(void)state;
	page_set_anonymous(frames, page, NULL, 0);
	page_set_flag(page, PG_lazy_free);
	page_set_flag(page, PG_memtype_wc);
	assert_int_equal(frames_counted(frames, FRAMES_ANONYMOUS), 1);
	page_add_mapping(page);
	assert_true(page_is_exclusive(page));

	/* A second mapping, and a user for a while. */
	page_get(page);
	page_add_mapping(page);
	assert_false(page_is_exclusive(page));
	page_get(page);
	assert_int_equal(page_refcount(page), 3);
	assert_int_equal(page_mapcount(page), 2);
	assert_false(page_remove_mapping(page));
	page_put(frames, page);
	assert_int_equal(page_mapcount(page), 1);
	assert_false(page_is_exclusive(page));
	page_put(frames, page);
	assert_true(page_is_exclusive(page));
	assert_true(page_remove_mapping(page));
	assert_false(page_is_exclusive(page));
	assert_frames_good(frames, 1);
	assert_int_equal(frames_counted(frames, FRAMES_ANONYMOUS), 1);
	page_put(frames, page);

	/* What belonged to that life is gone, the memory type is not. */
	assert_int_equal(frames_counted(frames, FRAMES_ANONYMOUS), 0);
	assert_frames_good(frames, 0);
	assert_false(page_has_flag(page, PG_anonymous) || page_has_flag(page, PG_lazy_free));
	assert_true(page_has_flag(page, PG_memtype_wc));
	page_clear_flag(page, PG_memtype_wc);
	close_frames(frames);
}

static void the_zero_page_is_nobodys(void **state)
{
	struct frames *frames = open_frames(cache, 3);
	char *contents = page_address(frames, zero_page(frames));
	struct page *page[3];
	struct message why = {""};

	(void)state;
	assert_int_equal(page_to_pfn(frames, zero_page(frames)), ZERO_PFN);
	assert_true(page_has_flag(zero_page(frames), PG_zero));
	for (size_t i = 0; i < PORT_PAGE_SIZE; i++)
		assert_int_equal(contents[i], 0);
	for (int i = 0; i < 3; i++) {
		page[i] = frame_alloc(frames);
		assert_ptr_not_equal(page[i], zero_page(frames));
	}
	for (int i = 0; i < 3; i++)
		frame_free(frames, page[i]);

	contents[77] = 1;
	assert_int_equal(frames_check(frames, 0, &why), -EINVAL);
	assert_non_null(strstr(why.text, "byte 77"));
	contents[77] = 0;
	page_get(zero_page(frames));
	assert_int_equal(frames_check(frames, 0, &why), -EINVAL);
	atomic_store(&zero_page(frames)->refcount, 1);
	close_frames(frames);
}

static void count_on_every_cpu(unsigned cpu, void *argument)
{
	struct frames *frames = argument;

	frames_count(frames, FRAMES_TABLE, 10 + cpu);
	if (cpu == 1)
		frames_count(frames, FRAMES_TABLE, -20);
}

static void counters_are_summed(void **state)
{
	struct frames *frames = open_frames(cache, 3);
	struct page *page = frame_alloc(frames);

	(void)state;
	run_cpus(count_on_every_cpu, frames);
	assert_int_equal(frames_counted(frames, FRAMES_TABLE), 1);
	assert_int_equal(frames_counted(frames, FRAMES_ALLOCATED), 1);
	assert_int_equal(frames_counted(frames, FRAMES_FREED), 0);
	frame_free(frames, page);
	assert_int_equal(frames_counted(frames, FRAMES_FREED), 1);
	close_frames(frames);
}

static void making_frames_can_fail(void **state)
{
	struct frames_config config = {.own_frames = 100, .cache = cache};
	struct frames *frames = NULL;
	unsigned failures;

	(void)state;
	for (failures = 0; !frames; failures++) {
		host_memory_fail_after(failures);
		frames = frames_create(&config);
		host_memory_fail_never();
		if (!frames)
			assert_int_equal(host_memory_in_use_bytes(), 0);
	}
	assert_true(failures >= 10);
	close_frames(frames);
}

/* Runs the check on frames that are damaged; they are whole again when it returns. */
static void assert_found(struct frames *frames, uint64_t in_use)
{
	struct message why = {""};

	assert_int_equal(frames_check(frames, in_use, &why), -EINVAL);
	assert_true(why.text[0]);
}

/* The check itself must be able to fail. */
static void damage_is_found(void **state)
{
	struct frames *frames = open_frames(cache, 100);
	struct page *page = frame_alloc(frames), *other = frame_alloc(frames);

	(void)state;
	assert_found(frames, 1);
	frame_free(frames, other);
	assert_frames_good(frames, 1);
	atomic_store(&other->refcount, 1);
	assert_found(frames, 1);
	assert_found(frames, 2);
	atomic_store(&other->refcount, 0);
	/* A zone's lists also hold frames that were never in use. */
	if (cache == POLICY_FRAME_CACHE_MAGAZINE) {
		page_clear_flag(other, PG_free);
		assert_found(frames, 1);
		page_set_flag(other, PG_free);
	}
	page_set_flag(page, PG_free);
	assert_found(frames, 1);
	page_clear_flag(page, PG_free);
	assert_frames_good(frames, 1);
	atomic_store(&page->refcount, 0);
	assert_found(frames, 1);
	assert_found(frames, 0);
	atomic_store(&page->refcount, 1);
	atomic_store(&page->mapcount, 2);
	assert_found(frames, 1);
	atomic_store(&page->mapcount, 0);
	frames_count(frames, FRAMES_FREED, 1);
	assert_found(frames, 1);
	frames_count(frames, FRAMES_FREED, -1);
	frame_free(frames, page);
	close_frames(frames);
}

static int machine_open(void **state)
{
	(void)state;
	return host_open(CPUS);
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
	    cmocka_unit_test(all_frames_are_handed_out),
	    cmocka_unit_test(contents_are_the_frames_own),
	    cmocka_unit_test(a_terabyte_is_only_reserved),
	    cmocka_unit_test(random_traffic_keeps_count),
	    cmocka_unit_test(frames_travel_between_cpus),
	    cmocka_unit_test(a_list_holds_as_many_batches_as_asked),
	    cmocka_unit_test(the_last_reference_gives_the_frame_back),
	    cmocka_unit_test(the_zero_page_is_nobodys),
	    cmocka_unit_test(counters_are_summed),
	    cmocka_unit_test(making_frames_can_fail),
	    cmocka_unit_test(damage_is_found),
	};
	int failed = 0;

	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		cache = all_frame_caches[i];
		failed +=
		    cmocka_run_group_tests_name(i ? "zone" : "magazine", tests, machine_open, machine_close);
	}
	return failed;
}
