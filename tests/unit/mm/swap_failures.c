/* SPDX-License-Identifier: MIT */
/*
 * Every allocation and every transfer fails once: nothing is lost, nothing leaks, and the next try succeeds.
 */
#include "tests/unit/mm/swap_fixture.h"

#include "host/swap_compressed.h"
#include "mm/swap/swap_memory.h"

#define PAGES 12u

/* Makes all there is. Returns whether it could be made. */
static bool open_all(struct frames *frames)
{
	struct swap *swap = swap_create(&(struct swap_config){.frames = frames, .read_ahead_pages = 4});
	struct sf_backing *memory = swap_memory_create(100, false), *compressed = NULL;
	struct message why = {""};
	uint64_t cached;
	bool good = swap && memory && !host_swap_compressed_create(100, 1 << 20, &compressed);

	if (good && !swap_add_area(swap, &(struct swap_area_config){.backing = memory}, &why))
		memory = NULL;
	if (good &&
	    !swap_add_area(swap, &(struct swap_area_config){.backing = compressed, .discard = true}, &why))
		compressed = NULL;
	good = good && !memory && !compressed && !swap_check_begin(swap);
	if (good)
		assert_int_equal(swap_check_end(swap, &cached, &why), 0);
	if (memory)
		memory->ops->release(memory);
	if (compressed)
		compressed->ops->release(compressed);
	swap_destroy(swap);
	return good;
}

static void each_allocation_fails(void **state)
{
	struct frames *frames;
	size_t before;
	unsigned allocations = 0;

	(void)state;
	frames = open_frames(POLICY_FRAME_CACHE_MAGAZINE, 64);
	before = host_memory_in_use_bytes();
	for (bool good = false; !good; allocations++) {
		host_memory_fail_after(allocations);
		good = open_all(frames);
		host_memory_fail_never();
		assert_int_equal(host_memory_in_use_bytes(), before);
	}
	assert_true(allocations > 10);
	close_frames(frames);
}

/* Puts pages out in neighbouring slots. */
static void put_many_out(struct swap_fixture *fixture, struct swap_entry *entry)
{
	for (unsigned i = 0; i < PAGES; i++) {
		entry[i] = put_out(fixture, 1000 * (i + 1), 1);
		assert_int_equal(swap_entry_slot(entry[i]), i);
	}
}

static void drop_all(struct swap_fixture *fixture, const struct swap_entry *entry)
{
	for (unsigned i = 0; i < PAGES; i++) {
		struct page *page =
		    swap_put(fixture->swap, entry[i]) ? swap_take_cached(fixture->swap, entry[i]) : NULL;

		if (page)
			page_put(fixture->frames, page);
	}
	assert_int_equal(statistics_of(fixture).used, 0);
}

/* Without a frame the page stays out; with one it comes, and its neighbours stay. */
static void no_frame_no_page(void **state)
{
	struct swap_fixture fixture;
	struct swap_entry entry[PAGES];
	struct page *page, *taken[64], *last = NULL;
	unsigned count = 0;

	(void)state;
	fixture_open(&fixture, 40, 64, 16);
	put_many_out(&fixture, entry);
	while ((taken[count] = frame_alloc(fixture.frames)))
		count++;
	assert_int_equal(swap_in(fixture.swap, entry[3], NULL, &page), -ENOMEM);
	assert_swap_good(&fixture, entry, PAGES, 0);
	page_put(fixture.frames, taken[--count]);
	assert_int_equal(swap_in(fixture.swap, entry[3], NULL, &last), 0);
	assert_true(page_is(&fixture, last, 4000));
	assert_swap_good(&fixture, entry, PAGES, 1);
	assert_int_equal(swap_in(fixture.swap, entry[4], NULL, &page), -ENOMEM);
	page_put(fixture.frames, last);
	while (count)
		page_put(fixture.frames, taken[--count]);
	drop_all(&fixture, entry);
	fixture_close(&fixture);
}

/* The nth transfer fails, and all after it or none; told by the call or later. */
static void each_read_fails(void **state)
{
	(void)state;
	for (unsigned variant = 0; variant < 4; variant++)
		for (uint64_t good = 0; good < 3; good++) {
			struct swap_fixture fixture;
			struct swap_entry entry[PAGES];
			struct page *page = NULL;
			int error;

			fixture_open(&fixture, 256, 64, 16);
			put_many_out(&fixture, entry);
			fixture.file[0].late = variant & 1;
			fixture.file[0].fails_once = variant & 2;
			atomic_store(&fixture.file[0].good, good);
			error = swap_in(fixture.swap, entry[5], NULL, &page);
			/* A run that fails once is read again for the one that is wanted. */
			assert_int_equal(error, good == 0 && !(variant & 2) ? -EIO : 0);
			if (!error) {
				assert_true(page_is(&fixture, page, 6000));
				page_put(fixture.frames, page);
			}
			assert_swap_good(&fixture, entry, PAGES, error ? 0 : good ? PAGES : 1);
			atomic_store(&fixture.file[0].good, MEMORY_BACKING_NEVER);
			for (unsigned i = 0; i < PAGES; i++) {
				assert_int_equal(swap_in(fixture.swap, entry[i], NULL, &page), 0);
				assert_true(page_is(&fixture, page, 1000 * (i + 1)));
				page_put(fixture.frames, page);
			}
			drop_all(&fixture, entry);
			fixture_close(&fixture);
		}
}

/*
 * Of pages that are written in runs of four, some fail. Those stay, dirty, and are found; after -EIO their
 * slots are not used again, after another error they are written the next time.
 */
static void write_with_failures(uint64_t good, bool late, bool once, int error)
{
	struct swap_fixture fixture;
	struct swap_entry entry[PAGES];
	struct page *page[PAGES], *found;
	struct swap_writer writer;
	unsigned dirty = 0;

	fixture_open(&fixture, 256, 64, 1);
	swap_writer_init(&writer, fixture.swap, 4);
	fixture.file[0].late = late;
	fixture.file[0].fails_once = once;
	fixture.file[0].error = error;
	atomic_store(&fixture.file[0].good, good);
	for (unsigned i = 0; i < PAGES; i++) {
		page[i] = make_page(&fixture, 1000 * (i + 1));
		assert_int_equal(swap_add_page(fixture.swap, page[i]), 0);
		entry[i] = page_swap_entry(page[i]);
		assert_int_equal(swap_dup(fixture.swap, entry[i]), 0);
		assert_int_equal(swap_writer_add(&writer, page[i]), 0);
		page_unlock(page[i]);
	}
	swap_writer_finish(&writer);
	for (unsigned i = 0; i < PAGES; i++) {
		assert_false(page_has_flag(page[i], PG_writeback));
		dirty += page_has_flag(page[i], PG_dirty) != 0;
	}
	assert_int_equal(writer.failed, dirty);
	assert_int_equal(writer.written, PAGES - dirty);
	assert_int_equal(writer.error, dirty ? error : 0);
	/* Three runs: what is good succeeds, then each page alone fails, or none as only one transfer did. */
	assert_int_equal(dirty, once ? 0 : good >= 3 ? 0 : PAGES - 4 * good);
	atomic_store(&fixture.file[0].good, MEMORY_BACKING_NEVER);

	swap_writer_init(&writer, fixture.swap, 4);
	for (unsigned i = 0; i < PAGES; i++) {
		bool is_dirty = page_has_flag(page[i], PG_dirty);

		page_lock(page[i]);
		if (is_dirty)
			assert_int_equal(swap_writer_add(&writer, page[i]), error == -EIO ? -EIO : 0);
		page_unlock(page[i]);
	}
	assert_int_equal(swap_writer_finish(&writer), 0);
	for (unsigned i = 0; i < PAGES; i++) {
		page_lock(page[i]);
		if (swap_remove_clean(fixture.swap, page[i]))
			page_put(fixture.frames, page[i]);
		else
			assert_true(error == -EIO && page_has_flag(page[i], PG_dirty));
		page_unlock(page[i]);
		page_put(fixture.frames, page[i]);
	}
	for (unsigned i = 0; i < PAGES; i++) {
		assert_int_equal(swap_in(fixture.swap, entry[i], NULL, &found), 0);
		assert_true(page_is(&fixture, found, 1000 * (i + 1)));
		page_put(fixture.frames, found);
	}
	assert_swap_good(&fixture, entry, PAGES, PAGES);
	drop_all(&fixture, entry);
	assert_int_equal(statistics_of(&fixture).bad, error == -EIO ? dirty : 0);
	assert_swap_good(&fixture, NULL, 0, 0);
	fixture_close(&fixture);
}

static void each_write_fails(void **state)
{
	(void)state;
	for (unsigned variant = 0; variant < 8; variant++)
		for (uint64_t good = 0; good < 4; good++)
			write_with_failures(good, variant & 1, variant & 2, variant & 4 ? -EIO : -ENOSPC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    swap_test(each_allocation_fails),
	    swap_test(no_frame_no_page),
	    swap_test(each_read_fails),
	    swap_test(each_write_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
