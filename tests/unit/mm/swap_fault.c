/* SPDX-License-Identifier: MIT */
/*
 * What calls and touches make of memory that is in swap. Drawn above each case: pages of a space, `a` in
 * memory, `s` in swap, `c` in swap and in its cache, `.` empty, `0` the zero page.
 */
#include "softfault.h"
#include "tests/common/memory_backing.h"
#include "tests/common/swap_out.h"
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES 2048u
#define SLOTS  256u
#define PAGES  24u

static struct memory_backing file;

/* Runs body for every combination, with a swap area of SLOTS pages. */
static void for_each_with_swap(void (*body)(struct sf_system *system))
{
	struct policy policy;

	for (unsigned number = 0; fault_policy(number, &policy, false); number++) {
		struct sf_system *system = fault_system(&policy, FRAMES);

		memory_backing_open(&file, SLOTS * PAGE, SLOTS * PAGE);
		assert_int_equal(sf_swap_add(system, &file.backing, 0), 0);
		body(system);
		fault_system_end(system);
		assert_true(file.released);
		memory_backing_close(&file);
	}
}

static uint64_t at(unsigned page)
{
	return BASE + page * PAGE;
}

static struct sf_swap_statistics swapped(struct sf_system *system)
{
	struct sf_swap_statistics statistics;

	sf_swap_statistics(system, &statistics);
	return statistics;
}

static uint64_t space_swapped(struct sf_space *space)
{
	struct sf_space_statistics statistics;

	sf_space_statistics(space, &statistics);
	return statistics.swapped / PAGE;
}

static uint64_t frames_in_use(struct sf_system *system)
{
	struct sf_system_statistics statistics;

	sf_system_statistics(system, &statistics);
	return statistics.anonymous_frames;
}

/* Makes PAGES pages whose first byte is their number and 1. */
static struct sf_space *make_pages(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);

	map_at(space, BASE, PAGES, RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < PAGES; i++)
		put_byte(space, at(i), (unsigned char)(i + 1));
	return space;
}

static void put_out(struct sf_space *space, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		assert_int_equal(swap_out(space, at(i), false), 0);
}

static void assert_pages(struct sf_space *space, unsigned first, unsigned end)
{
	for (unsigned i = first; i < end; i++)
		assert_int_equal(get_byte(space, at(i)), i + 1);
}

/* aaaaaaaa -> ssssssss, a read of one brings its window of 8 */
static void what_is_out_is_read_with_its_neighbours(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);
	unsigned char resident[PAGES];
	struct sf_mapping mapping;

	put_out(space, 0, PAGES);
	assert_int_equal(frames_in_use(system), 0);
	assert_int_equal(space_swapped(space), PAGES);
	assert_int_equal(sf_next_mapping(space, BASE, &mapping), 0);
	assert_int_equal(mapping.swapped, PAGES * PAGE);
	assert_int_equal(mapping.resident, 0);
	assert_int_equal(swapped(system).used, PAGES);
	assert_int_equal(swapped(system).cached, 0);
	assert_good(system);

	assert_int_equal(get_byte(space, at(0)), 1);
	assert_int_equal(swapped(system).read, 1);
	assert_int_equal(swapped(system).reads, 1);
	assert_true(swapped(system).ahead > 0);
	assert_int_equal(swapped(system).cached, 1 + swapped(system).ahead);
	assert_int_equal(sf_mincore(space, BASE, PAGES * PAGE, resident), 0);
	for (unsigned i = 0, count = 0; i <= PAGES; i++)
		if (i == PAGES)
			assert_int_equal(count, swapped(system).cached);
		else
			count += resident[i];
	assert_good(system);
	assert_pages(space, 0, PAGES);
	/* Nobody wrote: each page still has its slot. */
	assert_int_equal(swapped(system).used, PAGES);
	assert_int_equal(swapped(system).cached, PAGES);
	assert_int_equal(space_swapped(space), 0);
	assert_good(system);
	sf_space_destroy(space);
	assert_int_equal(swapped(system).used, 0);
}

/* A page that stays clean leaves again unwritten; one that was written to has lost its slot. */
static void a_clean_page_is_written_once(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);

	put_out(space, 0, 2);
	assert_int_equal(swapped(system).written, 2);
	assert_int_equal(get_byte(space, at(0)), 1);
	put_byte(space, at(1), 99);
	assert_int_equal(swapped(system).used, 1);
	put_out(space, 0, 2);
	assert_int_equal(swapped(system).written, 3);
	assert_int_equal(get_byte(space, at(0)), 1);
	assert_int_equal(get_byte(space, at(1)), 99);
	assert_good(system);
	sf_space_destroy(space);
}

/* A write to what was read in first takes the page, not a copy: its slot is of no use any more. */
static void a_write_after_a_read_takes_the_page(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);
	struct sf_system_statistics before, after;

	put_out(space, 0, 1);
	assert_int_equal(get_byte(space, at(0)), 1);
	assert_false(system_pte(space, at(0)) & PTE_WRITE);
	assert_int_equal(swapped(system).used, 1);
	sf_system_statistics(system, &before);
	put_byte(space, at(0), 50);
	sf_system_statistics(system, &after);
	assert_int_equal(after.copies_on_write, before.copies_on_write);
	assert_int_equal(after.reuses, before.reuses + 1);
	assert_int_equal(swapped(system).used, 0);
	assert_good(system);
	sf_space_destroy(space);
}

/* Parent ss, child ss: written once, read once; each writes to a page of its own. */
static void a_fork_shares_slots(struct sf_system *system)
{
	struct sf_space *parent = make_pages(system), *child;

	put_out(parent, 0, PAGES);
	assert_int_equal(sf_space_fork(parent, &child), 0);
	assert_int_equal(swapped(system).used, PAGES);
	assert_int_equal(space_swapped(child), PAGES);
	assert_good(system);
	put_byte(child, at(0), 70);
	/* The parent's entry names the slot still, so the child's page is a copy. */
	assert_int_equal(swapped(system).used, PAGES);
	assert_int_equal(get_byte(parent, at(0)), 1);
	assert_int_equal(get_byte(child, at(0)), 70);
	assert_pages(child, 1, PAGES);
	assert_pages(parent, 1, PAGES);
	assert_int_equal(swapped(system).read + swapped(system).ahead, PAGES);
	assert_good(system);
	/* Mapped by both, in the cache, and named by none: out again, unwritten. */
	for (unsigned i = 1; i < PAGES; i++) {
		assert_int_equal(swap_out(parent, at(i), false), 0);
		assert_int_equal(swap_out(child, at(i), false), 0);
	}
	assert_int_equal(swapped(system).written, PAGES);
	put_byte(parent, at(1), 71);
	sf_space_destroy(parent);
	assert_pages(child, 1, PAGES);
	assert_good(system);
	sf_space_destroy(child);
	assert_int_equal(swapped(system).used, 0);
}

/* A page that two map and that is in the cache is copied by a write; the other keeps it. */
static void a_shared_page_in_the_cache_is_copied(struct sf_system *system)
{
	struct sf_space *parent = make_pages(system), *child;

	put_out(parent, 0, 1);
	assert_int_equal(sf_space_fork(parent, &child), 0);
	assert_pages(parent, 0, 1);
	assert_pages(child, 0, 1);
	put_byte(child, at(0), 80);
	assert_int_equal(get_byte(parent, at(0)), 1);
	put_byte(parent, at(0), 81);
	assert_int_equal(get_byte(child, at(0)), 80);
	assert_int_equal(swapped(system).used, 0);
	assert_good(system);
	sf_space_destroy(parent);
	sf_space_destroy(child);
}

/* ssssss cccccc: unmapping, MADV_DONTNEED and MADV_FREE leave nothing behind. */
static void what_is_taken_away_frees_its_slots(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);

	put_out(space, 0, PAGES - 8);
	for (unsigned i = PAGES - 8; i < PAGES; i++)
		assert_int_equal(swap_out(space, at(i), true), 0);
	assert_int_equal(swapped(system).used, PAGES);
	assert_int_equal(swapped(system).cached, 8);
	assert_good(system);
	assert_int_equal(sf_advise(space, at(0), 2 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(sf_advise(space, at(2), 2 * PAGE, SF_ADVICE_FREE), 0);
	assert_int_equal(sf_unmap(space, at(4), 2 * PAGE), 0);
	assert_int_equal(swapped(system).used, PAGES - 6);
	assert_int_equal(sf_advise(space, at(PAGES - 2), 2 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(sf_advise(space, at(PAGES - 4), 2 * PAGE, SF_ADVICE_FREE), 0);
	assert_int_equal(sf_unmap(space, at(PAGES - 6), 2 * PAGE), 0);
	assert_int_equal(swapped(system).used, PAGES - 12);
	assert_int_equal(swapped(system).cached, 2);
	assert_int_equal(get_byte(space, at(0)), 0);
	assert_int_equal(get_byte(space, at(PAGES - 3)), 0);
	assert_pages(space, 6, PAGES - 6);
	assert_good(system);
	/* Read in and in the cache: the last mapping takes the slot with it. */
	assert_int_equal(sf_advise(space, at(6), 4 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(swapped(system).used, PAGES - 16);
	sf_space_destroy(space);
	assert_int_equal(swapped(system).used, 0);
	assert_int_equal(swapped(system).cached, 0);
}

/* A read page's entry is clean. MADV_FREE marks it when nobody else has it, and it has left its slot then. */
static void what_was_out_is_lazily_free_alone(struct sf_system *system)
{
	struct sf_space *space = make_pages(system), *child;
	struct sf_mapping mapping;

	put_out(space, 0, 4);
	assert_pages(space, 0, 4);
	assert_int_equal(sf_advise(space, at(0), 2 * PAGE, SF_ADVICE_FREE), 0);
	assert_int_equal(swapped(system).used, 2);
	assert_int_equal(sf_next_mapping(space, BASE, &mapping), 0);
	assert_int_equal(mapping.lazy_free, 2 * PAGE);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_int_equal(sf_advise(child, at(2), 2 * PAGE, SF_ADVICE_FREE), 0);
	assert_int_equal(sf_next_mapping(child, BASE, &mapping), 0);
	assert_int_equal(mapping.lazy_free, 2 * PAGE);
	assert_pages(space, 2, PAGES);
	assert_good(system);
	sf_space_destroy(child);
	sf_space_destroy(space);
}

/* Rights that change while a page is out are those of its next entry. */
static void rights_change_meanwhile(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);

	put_out(space, 0, 6);
	assert_int_equal(sf_protect(space, at(0), 2 * PAGE, SF_PROT_NONE), 0);
	assert_int_equal(sf_protect(space, at(2), 2 * PAGE, SF_PROT_READ), 0);
	assert_int_equal(sf_protect(space, at(4), 2 * PAGE, SF_PROT_READ | SF_PROT_EXEC), 0);
	assert_good(system);
	assert_fault(space, at(0), SF_READ, 11, 2);
	assert_fault(space, at(2), SF_WRITE, 11, 2);
	assert_fault(space, at(2), SF_EXECUTE, 11, 2);
	assert_pages(space, 2, 6);
	assert_touch(space, at(4), SF_EXECUTE);
	assert_good(system);
	assert_int_equal(sf_protect(space, at(0), 6 * PAGE, RW), 0);
	assert_pages(space, 0, 6);
	for (unsigned i = 0; i < 6; i++)
		put_byte(space, at(i), 90);
	assert_good(system);
	sf_space_destroy(space);
}

/* ssaass|  -> moved as they are */
static void slots_move(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);
	uint64_t target = BASE + 0x40000000, mapped;

	put_out(space, 0, 2);
	put_out(space, 4, 6);
	assert_int_equal(
	    sf_remap(space, BASE, 6 * PAGE, 6 * PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, target, &mapped), 0);
	assert_int_equal(space_swapped(space), 4);
	assert_good(system);
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(get_byte(space, target + i * PAGE), i + 1);
	put_byte(space, target, 60);
	assert_good(system);
	sf_space_destroy(space);
}

/* Private copies of an object's pages: a hole leaves them, a cut takes them. */
static void copies_of_an_object_are_cut(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	struct sf_object *object;
	uint64_t mapped;

	assert_int_equal(sf_object_create(system, 8 * PAGE, 0, &object), 0);
	assert_int_equal(
	    sf_map_object(space, BASE, 8 * PAGE, RW, SF_MAP_PRIVATE | SF_MAP_FIXED, object, 0, &mapped), 0);
	for (unsigned i = 0; i < 8; i++)
		put_byte(space, at(i), (unsigned char)(i + 1));
	put_out(space, 0, 8);
	assert_int_equal(swapped(system).used, 8);
	assert_int_equal(sf_object_punch(object, 0, 4 * PAGE), 0);
	assert_int_equal(swapped(system).used, 8);
	assert_int_equal(sf_object_resize(object, 6 * PAGE), 0);
	assert_int_equal(swapped(system).used, 6);
	assert_good(system);
	assert_pages(space, 0, 6);
	assert_fault(space, at(6), SF_READ, 7, 2);
	assert_int_equal(sf_advise(space, at(0), PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(get_byte(space, at(0)), 0);
	assert_good(system);
	sf_space_destroy(space);
	sf_object_close(object);
	assert_int_equal(swapped(system).used, 0);
}

/* A pin is a reference on the page that stays, whatever its slot does. */
static void a_pinned_page_is_read_and_kept(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);
	struct sf_pin pin;
	unsigned char *byte;

	put_out(space, 0, 1);
	byte = sf_pin(space, at(0), SF_READ, &pin, NULL);
	assert_non_null(byte);
	assert_int_equal(*byte, 1);
	assert_int_equal(sf_unmap(space, BASE, PAGES * PAGE), 0);
	assert_int_equal(swapped(system).used, 0);
	assert_int_equal(*byte, 1);
	assert_good(system);
	sf_unpin(system, &pin);
	sf_space_destroy(space);
}

/* With more than half of swap in use, what is read in gives its slot up at once. */
static void scarce_slots_are_given_up(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	const unsigned pages = SLOTS / 2 + 72;

	map_at(space, BASE, pages, RW, SF_MAP_PRIVATE);
	for (unsigned i = 0; i < pages; i++)
		put_byte(space, at(i), (unsigned char)(i + 1));
	put_out(space, 0, pages);
	assert_int_equal(swapped(system).used, pages);
	assert_int_equal(get_byte(space, at(3)), 4);
	assert_int_equal(swapped(system).used, pages - 1);
	assert_good(system);
	for (unsigned i = 0; i < pages; i++)
		assert_int_equal(get_byte(space, at(i)), (unsigned char)(i + 1));
	/* The clusters that are empty again are many before the end. */
	assert_in_range(swapped(system).used, 1, SLOTS / 2);
	assert_good(system);
	sf_space_destroy(space);
}

/* What cannot be read is told, and is read by the next touch that can. */
static void a_page_that_cannot_be_read_is_kept(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);

	put_out(space, 0, PAGES);
	/* One of each window. */
	for (unsigned i = 0; i < PAGES; i += 8) {
		file.late = i == 8;
		atomic_store(&file.good, 0);
		assert_fault(space, at(i), i ? SF_WRITE : SF_READ, 7, 2);
		assert_good(system);
		atomic_store(&file.good, MEMORY_BACKING_NEVER);
		put_byte(space, at(i) + 1, 9);
		assert_int_equal(get_byte(space, at(i)), i + 1);
	}
	assert_good(system);
	sf_space_destroy(space);
}

/* What cannot be written stays; its slot is not used again. */
static void a_page_that_cannot_be_written_stays(struct sf_system *system)
{
	struct sf_space *space = make_pages(system);

	atomic_store(&file.good, 0);
	assert_int_equal(sf_advise(space, BASE, PAGES * PAGE, SF_ADVICE_PAGEOUT), 0);
	assert_int_equal(swapped(system).written, 0);
	assert_int_equal(swapped(system).used, PAGES);
	assert_pages(space, 0, PAGES);
	atomic_store(&file.good, MEMORY_BACKING_NEVER);
	assert_good(system);
	assert_pages(space, 0, PAGES);
	for (unsigned i = 0; i < PAGES; i++)
		put_byte(space, at(i), (unsigned char)(i + 1));
	assert_int_equal(swapped(system).used, 0);
	assert_int_equal(swapped(system).bad, PAGES);
	assert_int_equal(sf_advise(space, BASE, PAGES * PAGE, SF_ADVICE_PAGEOUT), 0);
	assert_int_equal(swapped(system).written, PAGES);
	assert_pages(space, 0, PAGES);
	assert_good(system);
	sf_space_destroy(space);
}

/* A slot counts only so many entries: then a fork fails, and takes back what it has done. */
static void a_slot_with_too_many_entries_fails_a_fork(void **state)
{
	struct swap_entry entry;
	struct sf_system *system;
	struct sf_space *space, *child;
	struct policy policy;
	struct swap *swap;
	unsigned more = 0;

	(void)state;
	assert_true(fault_policy(0, &policy, false));
	system = fault_system(&policy, FRAMES);
	assert_int_equal(sf_swap_add_memory(system, SLOTS * PAGE, 0), 0);
	space = make_pages(system);
	put_out(space, 0, PAGES);
	entry = pte_swap_entry(system_pte(space, at(PAGES - 1)));
	swap = space->parts.frames->swap;
	while (!swap_dup(swap, entry))
		more++;
	assert_int_equal(more, 4194302);
	assert_int_equal(sf_space_fork(space, &child), -ENOMEM);
	while (more--)
		assert_false(swap_put(swap, entry));
	assert_good(system);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_pages(child, 0, PAGES);
	assert_pages(space, 0, PAGES);
	assert_good(system);
	sf_space_destroy(child);
	sf_space_destroy(space);
	fault_system_end(system);
}

static void swap_has_rules(void **state)
{
	struct policy policy;
	struct sf_system *system;

	(void)state;
	assert_true(fault_policy(0, &policy, false));
	system = fault_system(&policy, FRAMES);
	assert_int_equal(sf_swap_add_memory(system, PAGE - 1, 0), -EINVAL);
	assert_int_equal(sf_swap_add_memory(system, ((uint64_t)2 << 40) + PAGE, 0), -EINVAL);
	for (unsigned i = 0; i < 8; i++)
		assert_int_equal(sf_swap_add_memory(system, 4 * PAGE, (int)i), 0);
	assert_int_equal(sf_swap_add_memory(system, 4 * PAGE, 0), -ENOSPC);
	assert_int_equal(swapped(system).slots, 32);
	fault_system_end(system);
}

#define EACH(body)                            \
	static void each_##body(void **state) \
	{                                     \
		(void)state;                  \
		for_each_with_swap(body);     \
	}

EACH(what_is_out_is_read_with_its_neighbours)
EACH(a_clean_page_is_written_once)
EACH(a_write_after_a_read_takes_the_page)
EACH(a_fork_shares_slots)
EACH(a_shared_page_in_the_cache_is_copied)
EACH(what_is_taken_away_frees_its_slots)
EACH(what_was_out_is_lazily_free_alone)
EACH(rights_change_meanwhile)
EACH(slots_move)
EACH(copies_of_an_object_are_cut)
EACH(a_pinned_page_is_read_and_kept)
EACH(scarce_slots_are_given_up)
EACH(a_page_that_cannot_be_read_is_kept)
EACH(a_page_that_cannot_be_written_stays)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(each_what_is_out_is_read_with_its_neighbours),
	    fault_test(each_a_clean_page_is_written_once),
	    fault_test(each_a_write_after_a_read_takes_the_page),
	    fault_test(each_a_fork_shares_slots),
	    fault_test(each_a_shared_page_in_the_cache_is_copied),
	    fault_test(each_what_is_taken_away_frees_its_slots),
	    fault_test(each_what_was_out_is_lazily_free_alone),
	    fault_test(each_rights_change_meanwhile),
	    fault_test(each_slots_move),
	    fault_test(each_copies_of_an_object_are_cut),
	    fault_test(each_a_pinned_page_is_read_and_kept),
	    fault_test(each_scarce_slots_are_given_up),
	    fault_test(each_a_page_that_cannot_be_read_is_kept),
	    fault_test(each_a_page_that_cannot_be_written_stays),
	    fault_test(a_slot_with_too_many_entries_fails_a_fork),
	    fault_test(swap_has_rules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
