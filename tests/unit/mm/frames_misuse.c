/* SPDX-License-Identifier: MIT */
/*
 * Wrong uses of frames are broken invariants: the program ends, whatever the frame cache.
 */
#include "tests/unit/mm/frames_fixture.h"

#include <string.h>

#include "port/lifetime.h"
#include "tests/common/death.h"

static enum policy_frame_cache cache;

/* Runs in the child: a machine, frames, and one frame that is in use. */
static struct frames *frames;

static struct page *begin(void)
{
	struct page *page;

	if (host_open(1))
		_exit(1);
	frames = frames_create(&(struct frames_config){.own_frames = 100, .cache = cache});
	page = frames ? frame_alloc(frames) : NULL;
	if (!page)
		_exit(1);
	return page;
}

static void free_twice(void *argument)
{
	struct page *page = begin();

	(void)argument;
	frame_free(frames, page);
	frame_free(frames, page);
}

static void put_too_often(void *argument)
{
	struct page *page = begin();

	(void)argument;
	page_get(page);
	page_put(frames, page);
	page_put(frames, page);
	page_put(frames, page);
}

static void get_from_nobody(void *argument)
{
	struct page *page = begin();

	(void)argument;
	page_put(frames, page);
	page_get(page);
}

static void free_what_is_used(void *argument)
{
	struct page *page = begin();

	(void)argument;
	page_get(page);
	frame_free(frames, page);
}

static void free_what_is_mapped(void *argument)
{
	struct page *page = begin();

	(void)argument;
	page_add_mapping(page);
	page_put(frames, page);
}

static void unmap_too_often(void *argument)
{
	struct page *page = begin();

	(void)argument;
	page_add_mapping(page);
	page_remove_mapping(page);
	page_remove_mapping(page);
}

static void free_the_zero_page(void *argument)
{
	(void)argument;
	begin();
	page_put(frames, zero_page(frames));
}

static void misuse_ends_the_program(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		cache = all_frame_caches[i];
		expect_death(free_twice, NULL, "mm/page/", "broken invariant");
		expect_death(put_too_often, NULL, "mm/page/", "broken invariant");
		expect_death(get_from_nobody, NULL, "mm/page/", "broken invariant");
		expect_death(free_what_is_used, NULL, "mm/page/", "broken invariant");
		expect_death(free_what_is_mapped, NULL, "mm/page/", "broken invariant");
		expect_death(unmap_too_often, NULL, "mm/page/", "broken invariant");
		expect_death(free_the_zero_page, NULL, "mm/page/", "broken invariant");
	}
}

#ifdef SYNC_DEBUG
/* The frame is written after it was given back; who gets it next finds that. */
static void write_after_free(void *argument)
{
	struct page *page = begin();
	char *contents = page_address(frames, page);

	(void)argument;
	frame_free(frames, page);
	/* As a write that no sanitizer sees. */
	port_memory_alive(contents, PORT_PAGE_SIZE);
	contents[1234] = 1;
	while (frame_alloc(frames))
		continue;
}

static void a_write_after_the_end_is_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(all_frame_caches); i++) {
		cache = all_frame_caches[i];
		expect_death(write_after_free, NULL, "mm/page/", "POISON_BYTE");
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(misuse_ends_the_program),
#ifdef SYNC_DEBUG
	    cmocka_unit_test(a_write_after_the_end_is_found),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
