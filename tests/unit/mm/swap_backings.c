/* SPDX-License-Identifier: MIT */
/*
 * Swap over compressed memory, over memory and over a file: every byte comes back; the compressed pool is
 * bounded, gives back what slots leave, and keeps what lz4 cannot make smaller.
 */
#include "tests/unit/mm/swap_fixture.h"

#include <unistd.h>

#include "host/file_backing.h"
#include "host/swap_compressed.h"
#include "mm/swap/swap_memory.h"

#define PAGES 60u

/* Contents by number: zeroes, text, noise, and mixtures. */
static void fill(void *page, uint64_t number)
{
	struct random random;
	unsigned char *byte = page;
	size_t noise = number % 5 * (PORT_PAGE_SIZE / 4);

	random_seed(&random, number);
	for (size_t i = 0; i < PORT_PAGE_SIZE; i++)
		byte[i] = i < noise ? (unsigned char)random_next(&random) : (unsigned char)(number + i / 64);
}

static void add(struct swap_fixture *fixture, struct sf_backing *backing, bool discard)
{
	struct message why = {""};

	if (swap_add_area(fixture->swap, &(struct swap_area_config){.backing = backing, .discard = discard},
			  &why))
		fail_msg("%s", why.text);
}

/* Takes pages out, one by one, until all are or one cannot be. Returns how many are out. */
static unsigned put_out_pages(struct swap_fixture *fixture, struct swap_entry *entry, unsigned pages,
			      uint64_t seed, unsigned run)
{
	unsigned out = 0, at = 0;

	while (at < pages) {
		struct page *page[8];
		struct swap_writer writer;
		unsigned count = 0;

		swap_writer_init(&writer, fixture->swap, run);
		for (; count < run && at + count < pages; count++) {
			page[count] = make_page(fixture, 0);
			fill(page_address(fixture->frames, page[count]), seed + at + count);
			assert_int_equal(swap_add_page(fixture->swap, page[count]), 0);
			entry[at + count] = page_swap_entry(page[count]);
			assert_int_equal(swap_dup(fixture->swap, entry[at + count]), 0);
			assert_int_equal(swap_writer_add(&writer, page[count]), 0);
			page_unlock(page[count]);
		}
		swap_writer_finish(&writer);
		assert_true(writer.error == 0 || writer.error == -ENOSPC);
		for (unsigned i = 0; i < count; i++) {
			page_lock(page[i]);
			if (swap_remove_clean(fixture->swap, page[i])) {
				page_put(fixture->frames, page[i]);
				out++;
			}
			page_unlock(page[i]);
			page_put(fixture->frames, page[i]);
		}
		at += count;
	}
	return out;
}

static void look_and_drop(struct swap_fixture *fixture, const struct swap_entry *entry, unsigned pages,
			  uint64_t seed)
{
	for (unsigned i = 0; i < pages; i++) {
		unsigned char wanted[PORT_PAGE_SIZE];
		struct page *page, *taken;

		fill(wanted, seed + i);
		assert_int_equal(swap_in(fixture->swap, entry[i], NULL, &page), 0);
		assert_memory_equal(page_address(fixture->frames, page), wanted, PORT_PAGE_SIZE);
		page_put(fixture->frames, page);
		assert_true(swap_put(fixture->swap, entry[i]));
		taken = swap_take_cached(fixture->swap, entry[i]);
		assert_ptr_equal(taken, page);
		page_put(fixture->frames, taken);
	}
	assert_swap_good(fixture, NULL, 0, 0);
}

static void run_over(struct sf_backing *backing, bool discard)
{
	struct swap_fixture fixture;
	struct swap_entry entry[PAGES];
	uint64_t seed = test_seed();

	fixture_open(&fixture, 512, 0, 8);
	add(&fixture, backing, discard);
	for (unsigned round = 0; round < 6; round++) {
		assert_int_equal(put_out_pages(&fixture, entry, PAGES, seed + round, 1 + round), PAGES);
		look_and_drop(&fixture, entry, PAGES, seed + round);
	}
	fixture_close(&fixture);
}

static void compressed_memory_gives_back_every_byte(void **state)
{
	struct sf_backing *backing;

	(void)state;
	assert_int_equal(host_swap_compressed_create(128, 1 << 20, &backing), 0);
	run_over(backing, true);
}

static void memory_gives_back_every_byte(void **state)
{
	(void)state;
	run_over(swap_memory_create(128, false), false);
}

static void a_file_gives_back_every_byte(void **state)
{
	FILE *file = tmpfile();
	struct sf_backing *backing;

	(void)state;
	assert_non_null(file);
	assert_int_equal(ftruncate(fileno(file), 128 * PORT_PAGE_SIZE), 0);
	assert_int_equal(host_file_backing_open(fileno(file), &backing), 0);
	run_over(backing, false);
	fclose(file);
}

/* Of more pages than the pool can hold some stay in memory, and nothing is lost; freed slots make room. */
static void the_pool_is_bounded(void **state)
{
	const uint64_t limit = 128 << 10;
	struct host_swap_compressed_statistics statistics;
	struct swap_fixture fixture;
	struct swap_entry entry[PAGES];
	struct sf_backing *backing;
	unsigned out;

	(void)state;
	fixture_open(&fixture, 512, 0, 8);
	assert_int_equal(host_swap_compressed_create(4096, limit, &backing), 0);
	add(&fixture, backing, true);
	for (unsigned round = 0; round < 3; round++) {
		out = put_out_pages(&fixture, entry, PAGES, 7, 8);
		host_swap_compressed_statistics(backing, &statistics);
		assert_in_range(out, 20, PAGES - 1);
		assert_int_equal(statistics.pages, out);
		assert_true(statistics.raw_pages > 0 && statistics.raw_pages < out);
		assert_true(statistics.slab_bytes <= limit && statistics.data_bytes <= statistics.slab_bytes);
		assert_int_equal(statistics_of(&fixture).bad, 0);
		look_and_drop(&fixture, entry, PAGES, 7);
		host_swap_compressed_statistics(backing, &statistics);
		assert_int_equal(statistics.pages + statistics.data_bytes + statistics.slab_bytes, 0);
	}
	fixture_close(&fixture);
}

static void bad_sizes_are_refused(void **state)
{
	struct sf_backing *backing;

	(void)state;
	assert_int_equal(host_swap_compressed_create(0, 16384, &backing), -EINVAL);
	assert_int_equal(host_swap_compressed_create(16, 16383, &backing), -EINVAL);
	assert_int_equal(host_swap_compressed_create(16, (UINT64_C(64) << 30) + 1, &backing), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    swap_test(compressed_memory_gives_back_every_byte),
	    swap_test(memory_gives_back_every_byte),
	    swap_test(a_file_gives_back_every_byte),
	    swap_test(the_pool_is_bounded),
	    swap_test(bad_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
