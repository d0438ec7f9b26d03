/* SPDX-License-Identifier: MIT */
/*
 * What the tests of mm/swap/ share: frames, swap over a file in memory whose transfers can be made to fail,
 * and pages whose contents say whose they are.
 */
#ifndef TESTS_UNIT_MM_SWAP_FIXTURE_H
#define TESTS_UNIT_MM_SWAP_FIXTURE_H

#include <string.h>

#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
#include "port/rcu.h"
#include "tests/common/memory_backing.h"
#include "tests/unit/mm/frames_fixture.h"

#define SWAP_CPUS 4u

static inline int swap_machine_open(void **state)
{
	(void)state;
	return host_open(SWAP_CPUS);
}

static inline int swap_machine_close(void **state)
{
	(void)state;
	host_memory_fail_never();
	host_close();
	return host_memory_in_use_bytes() ? -1 : 0;
}

#define swap_test(function) cmocka_unit_test_setup_teardown(function, swap_machine_open, swap_machine_close)

struct swap_fixture {
	struct frames *frames;
	struct swap *swap;
	struct memory_backing file[2];
	unsigned files;
};

static inline void fixture_add(struct swap_fixture *fixture, uint64_t slots, int priority)
{
	struct memory_backing *file = &fixture->file[fixture->files++];
	struct message why = {""};

	memory_backing_open(file, slots * PORT_PAGE_SIZE, slots * PORT_PAGE_SIZE);
	if (swap_add_area(fixture->swap,
			  &(struct swap_area_config){.backing = &file->backing, .priority = priority}, &why))
		fail_msg("%s", why.text);
}

static inline void fixture_open(struct swap_fixture *fixture, uint64_t frames, uint64_t slots,
				unsigned read_ahead_pages)
{
	memset(fixture, 0, sizeof(*fixture));
	fixture->frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, frames);
	fixture->swap = swap_create(
	    &(struct swap_config){.frames = fixture->frames, .read_ahead_pages = read_ahead_pages});
	assert_non_null(fixture->swap);
	if (slots)
		fixture_add(fixture, slots, 0);
}

static inline void fixture_close(struct swap_fixture *fixture)
{
	swap_destroy(fixture->swap);
	for (unsigned i = 0; i < fixture->files; i++) {
		assert_true(fixture->file[i].released);
		memory_backing_close(&fixture->file[i]);
	}
	close_frames(fixture->frames);
}

/* Makes a page with contents, locked. */
static inline struct page *make_page(const struct swap_fixture *fixture, uint64_t contents)
{
	struct page *page = frame_alloc(fixture->frames);
	uint64_t *word;

	assert_non_null(page);
	word = page_address(fixture->frames, page);
	for (size_t i = 0; i < PORT_PAGE_SIZE / sizeof(*word); i++)
		word[i] = contents + i;
	assert_true(page_try_flag(page, PG_locked));
	return page;
}

static inline bool page_is(const struct swap_fixture *fixture, const struct page *page, uint64_t contents)
{
	const uint64_t *word = page_address(fixture->frames, page);

	for (size_t i = 0; i < PORT_PAGE_SIZE / sizeof(*word); i++)
		if (word[i] != contents + i)
			return false;
	return true;
}

/* Makes a page of its own for `contents`, writes it out, and leaves `users` references on its slot. */
static inline struct swap_entry put_out(const struct swap_fixture *fixture, uint64_t contents, unsigned users)
{
	struct page *page = make_page(fixture, contents);
	struct swap_writer writer;
	struct swap_entry entry;

	assert_int_equal(swap_add_page(fixture->swap, page), 0);
	entry = page_swap_entry(page);
	for (unsigned i = 0; i < users; i++)
		assert_int_equal(swap_dup(fixture->swap, entry), 0);
	swap_writer_init(&writer, fixture->swap, 8);
	assert_int_equal(swap_writer_add(&writer, page), 0);
	assert_int_equal(swap_writer_finish(&writer), 0);
	assert_true(swap_remove_clean(fixture->swap, page));
	page_unlock(page);
	page_put(fixture->frames, page);
	page_put(fixture->frames, page);
	return entry;
}

/* Checks with `count` users, and that `cached` pages are in the cache. */
static inline void assert_swap_good(const struct swap_fixture *fixture, const struct swap_entry *user,
				    size_t count, uint64_t cached)
{
	struct message why = {""};
	uint64_t found;

	assert_int_equal(swap_check_begin(fixture->swap), 0);
	for (size_t i = 0; i < count; i++)
		swap_check_user(fixture->swap, user[i]);
	if (swap_check_end(fixture->swap, &found, &why))
		fail_msg("%s", why.text);
	assert_int_equal(found, cached);
}

static inline struct swap_statistics statistics_of(const struct swap_fixture *fixture)
{
	struct swap_statistics statistics;

	swap_statistics(fixture->swap, &statistics);
	return statistics;
}

#endif
