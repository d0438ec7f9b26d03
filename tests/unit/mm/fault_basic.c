/* SPDX-License-Identifier: MIT */
/*
 * What each kind of fault does, alone, with every vma_lookup and page_table_lock.
 */
#include "tests/unit/mm/fault_fixture.h"

#define FRAMES 512u

static struct sf_system_statistics statistics_of(struct sf_system *system)
{
	struct sf_system_statistics statistics;

	sf_system_statistics(system, &statistics);
	return statistics;
}

/* .. A ..   A: what is mapped, for each protection */
static void errors_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);

	assert_fault(space, BASE, SF_READ, SIGSEGV, SEGV_MAPERR);
	assert_fault(space, SF_ADDRESS_END, SF_READ, SIGSEGV, SEGV_MAPERR);
	assert_fault(space, UINT64_MAX, SF_WRITE, SIGSEGV, SEGV_MAPERR);
	map_at(space, BASE, 1, SF_PROT_READ, SF_MAP_PRIVATE);
	assert_touch(space, BASE + 5, SF_READ);
	assert_fault(space, BASE + 7, SF_WRITE, SIGSEGV, SEGV_ACCERR);
	assert_fault(space, BASE + 7, SF_EXECUTE, SIGSEGV, SEGV_ACCERR);
	assert_fault(space, BASE - 1, SF_READ, SIGSEGV, SEGV_MAPERR);
	assert_fault(space, BASE + PAGE, SF_READ, SIGSEGV, SEGV_MAPERR);

	map_at(space, BASE, 1, SF_PROT_NONE, SF_MAP_PRIVATE);
	assert_fault(space, BASE, SF_READ, SIGSEGV, SEGV_ACCERR);
	assert_fault(space, BASE, SF_WRITE, SIGSEGV, SEGV_ACCERR);

	/* On x86 what can be written or executed can be read. */
	map_at(space, BASE, 1, SF_PROT_WRITE, SF_MAP_PRIVATE);
	assert_touch(space, BASE, SF_READ);
	assert_touch(space, BASE, SF_WRITE);
	map_at(space, BASE, 1, SF_PROT_EXEC, SF_MAP_PRIVATE);
	assert_touch(space, BASE, SF_READ);
	assert_touch(space, BASE, SF_EXECUTE);
	assert_fault(space, BASE, SF_WRITE, SIGSEGV, SEGV_ACCERR);
	sf_space_destroy(space);
}

static void errors_are_those_of_linux(void **state)
{
	(void)state;
	for_each_policy(FRAMES, errors_body);
}

static void zero_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	struct sf_system_statistics before, after;
	unsigned char bytes[PAGE], zeroes[PAGE] = {0};

	map_at(space, BASE, 4, RW, SF_MAP_PRIVATE);
	before = statistics_of(system);
	assert_touch(space, BASE, SF_READ);
	assert_touch(space, BASE + PAGE, SF_READ);
	after = statistics_of(system);
	assert_int_equal(after.zero_page_maps, before.zero_page_maps + 2);
	assert_int_equal(after.anonymous_frames, 0);
	assert_int_equal(pte_pfn(system_pte(space, BASE)), ZERO_PFN);
	assert_true(system_pte(space, BASE) & PTE_SPECIAL);
	assert_good(system);

	/* The zero page gives way to a page of zeroes. */
	put_byte(space, BASE + 9, 7);
	assert_int_equal(get_byte(space, BASE + 9), 7);
	assert_int_equal(get_byte(space, BASE + 8), 0);
	assert_int_equal(get_byte(space, BASE + PAGE + 9), 0);
	after = statistics_of(system);
	assert_int_equal(after.copies_on_write, before.copies_on_write + 1);
	assert_int_equal(after.anonymous_frames, 1);

	/* A first write needs no copy. */
	put_byte(space, BASE + 2 * PAGE, 8);
	after = statistics_of(system);
	assert_int_equal(after.copies_on_write, before.copies_on_write + 1);
	assert_int_equal(after.anonymous_frames, 2);
	assert_int_equal(sf_read(space, BASE + 2 * PAGE + 1, bytes, PAGE - 1, NULL), PAGE - 1);
	assert_memory_equal(bytes, zeroes, PAGE - 1);
	assert_good(system);

	/* Given back, it is zeroes again. */
	assert_int_equal(sf_advise(space, BASE, 4 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(statistics_of(system).anonymous_frames, 0);
	assert_int_equal(get_byte(space, BASE + 9), 0);
	assert_int_equal(get_byte(space, BASE + 2 * PAGE), 0);
	sf_space_destroy(space);
}

static void reads_get_the_zero_page(void **state)
{
	(void)state;
	for_each_policy(FRAMES, zero_body);
}

static void cow_body(struct sf_system *system)
{
	struct sf_space *parent = fault_space(system), *child = NULL, *other = NULL;
	struct sf_system_statistics before, after;

	map_at(parent, BASE, 3, RW, SF_MAP_PRIVATE);
	put_byte(parent, BASE, 1);
	put_byte(parent, BASE + PAGE, 2);
	assert_touch(parent, BASE + 2 * PAGE, SF_READ);
	assert_int_equal(sf_space_fork(parent, &child), 0);
	assert_good(system);
	assert_int_equal(statistics_of(system).anonymous_frames, 2);
	assert_int_equal(get_byte(child, BASE), 1);
	assert_int_equal(get_byte(child, BASE + PAGE), 2);
	assert_int_equal(get_byte(child, BASE + 2 * PAGE), 0);
	assert_false(system_pte(parent, BASE) & PTE_WRITE);

	/* One side copies, the other is then alone and reuses. */
	before = statistics_of(system);
	put_byte(child, BASE, 10);
	assert_int_equal(get_byte(parent, BASE), 1);
	after = statistics_of(system);
	assert_int_equal(after.copies_on_write, before.copies_on_write + 1);
	assert_int_equal(after.reuses, before.reuses);
	put_byte(parent, BASE, 11);
	after = statistics_of(system);
	assert_int_equal(after.copies_on_write, before.copies_on_write + 1);
	assert_int_equal(after.reuses, before.reuses + 1);
	assert_int_equal(get_byte(child, BASE), 10);
	assert_int_equal(get_byte(parent, BASE), 11);
	assert_good(system);

	/* A third one; then the page goes with its last mapping. */
	assert_int_equal(sf_space_fork(child, &other), 0);
	put_byte(parent, BASE + PAGE, 20);
	put_byte(child, BASE + PAGE, 21);
	assert_int_equal(get_byte(other, BASE + PAGE), 2);
	put_byte(other, BASE + PAGE, 22);
	assert_int_equal(get_byte(parent, BASE + PAGE), 20);
	assert_int_equal(get_byte(child, BASE + PAGE), 21);
	assert_int_equal(get_byte(other, BASE + PAGE), 22);
	put_byte(other, BASE + 2 * PAGE, 23);
	assert_int_equal(get_byte(child, BASE + 2 * PAGE), 0);
	assert_good(system);
	sf_space_destroy(child);
	assert_good(system);
	assert_int_equal(get_byte(other, BASE), 10);
	sf_space_destroy(parent);
	sf_space_destroy(other);
}

static void copies_are_made_on_write_alone(void **state)
{
	(void)state;
	for_each_policy(FRAMES, cow_body);
}

static void shared_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system), *child = NULL;
	uint64_t mapped;

	map_at(space, BASE, 3, RW, SF_MAP_SHARED);
	put_byte(space, BASE, 1);
	assert_touch(space, BASE + PAGE, SF_READ);
	assert_true(system_pte(space, BASE + PAGE) & PTE_WRITE);
	assert_false(system_pte(space, BASE + PAGE) & PTE_DIRTY);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_good(system);
	assert_int_equal(get_byte(child, BASE), 1);
	put_byte(child, BASE, 2);
	put_byte(child, BASE + 2 * PAGE, 3);
	assert_int_equal(get_byte(space, BASE), 2);
	assert_int_equal(get_byte(space, BASE + 2 * PAGE), 3);
	assert_int_equal(sf_protect(space, BASE, PAGE, SF_PROT_READ), 0);
	assert_fault(space, BASE, SF_WRITE, SIGSEGV, SEGV_ACCERR);
	assert_int_equal(sf_protect(space, BASE, PAGE, RW), 0);
	put_byte(space, BASE, 4);
	assert_int_equal(get_byte(child, BASE), 4);

	/* Given back by one, it is still in the object. */
	assert_int_equal(sf_advise(space, BASE, 3 * PAGE, SF_ADVICE_DONTNEED), 0);
	assert_int_equal(get_byte(space, BASE), 4);

	/* Grown beyond the object's end. */
	assert_int_equal(sf_remap(child, BASE, 3 * PAGE, 5 * PAGE, SF_REMAP_MAYMOVE, 0, &mapped), 0);
	assert_int_equal(get_byte(child, mapped + 2 * PAGE), 3);
	assert_fault(child, mapped + 3 * PAGE, SF_READ, SIGBUS, BUS_ADRERR);
	assert_fault(child, mapped + 4 * PAGE + 8, SF_WRITE, SIGBUS, BUS_ADRERR);
	assert_good(system);
	sf_space_destroy(space);
	assert_int_equal(get_byte(child, mapped), 4);
	sf_space_destroy(child);
}

static void shared_memory_is_seen_by_all(void **state)
{
	(void)state;
	for_each_policy(FRAMES, shared_body);
}

static void protect_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	uint64_t mapped;

	map_at(space, BASE, 4, RW, SF_MAP_PRIVATE);
	put_byte(space, BASE, 1);
	put_byte(space, BASE + PAGE, 2);
	assert_int_equal(sf_protect(space, BASE, 2 * PAGE, SF_PROT_NONE), 0);
	assert_fault(space, BASE, SF_READ, SIGSEGV, SEGV_ACCERR);
	assert_good(system);
	assert_int_equal(sf_protect(space, BASE, 2 * PAGE, SF_PROT_READ | SF_PROT_EXEC), 0);
	assert_int_equal(get_byte(space, BASE), 1);
	assert_touch(space, BASE, SF_EXECUTE);
	assert_fault(space, BASE, SF_WRITE, SIGSEGV, SEGV_ACCERR);
	assert_int_equal(sf_protect(space, BASE, 2 * PAGE, RW), 0);
	assert_fault(space, BASE, SF_EXECUTE, SIGSEGV, SEGV_ACCERR);
	put_byte(space, BASE, 3);
	assert_int_equal(get_byte(space, BASE + PAGE), 2);

	/* Moved across a border of last-level tables. */
	assert_int_equal(sf_remap(space, BASE, 4 * PAGE, 4 * PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED,
				  2 * BASE - 2 * PAGE, &mapped),
			 0);
	assert_fault(space, BASE, SF_READ, SIGSEGV, SEGV_MAPERR);
	assert_int_equal(get_byte(space, 2 * BASE - 2 * PAGE), 3);
	assert_int_equal(get_byte(space, 2 * BASE - PAGE), 2);
	put_byte(space, 2 * BASE, 4);
	assert_good(system);
	sf_space_destroy(space);
}

static void protections_and_moves_keep_the_contents(void **state)
{
	(void)state;
	for_each_policy(FRAMES, protect_body);
}

static void free_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	struct sf_mapping mapping;

	map_at(space, BASE, 2, RW, SF_MAP_PRIVATE);
	put_byte(space, BASE, 1);
	put_byte(space, BASE + PAGE, 1);
	assert_int_equal(sf_advise(space, BASE, 2 * PAGE, SF_ADVICE_FREE), 0);
	assert_false(system_pte(space, BASE) & (PTE_DIRTY | PTE_ACCESSED));
	assert_int_equal(sf_next_mapping(space, BASE, &mapping), 0);
	assert_int_equal(mapping.lazy_free, 2 * PAGE);
	put_byte(space, BASE, 2);
	assert_true(system_pte(space, BASE) & PTE_DIRTY);
	assert_int_equal(sf_next_mapping(space, BASE, &mapping), 0);
	assert_int_equal(mapping.lazy_free, PAGE);
	assert_int_equal(get_byte(space, BASE), 2);
	sf_space_destroy(space);
}

static void a_write_ends_lazy_freeing(void **state)
{
	(void)state;
	for_each_policy(FRAMES, free_body);
}

/* AB   in one last-level table, which goes with the last of them */
static void tables_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);
	uint64_t tables;

	map_at(space, BASE, 1, RW, SF_MAP_PRIVATE);
	map_at(space, BASE + PAGE, 1, SF_PROT_READ, SF_MAP_PRIVATE);
	assert_touch(space, BASE, SF_READ);
	assert_touch(space, BASE + PAGE, SF_READ);
	assert_good(system);
	tables = statistics_of(system).table_frames;
	assert_int_equal(sf_unmap(space, BASE, PAGE), 0);
	assert_good(system);
	assert_int_equal(statistics_of(system).table_frames, tables);
	assert_int_equal(sf_unmap(space, BASE + PAGE, PAGE), 0);
	assert_good(system);
	assert_int_equal(statistics_of(system).table_frames, tables - 1);
	sf_space_destroy(space);
}

static void tables_go_with_their_last_mapping(void **state)
{
	(void)state;
	for_each_policy(FRAMES, tables_body);
}

#define PFNS 8u

static void pfn_body(struct sf_system *system)
{
	struct sf_space *space = fault_space(system);

	assert_int_equal(system_map_pfn(space, BASE, PFNS * PAGE, FRAMES, true), 0);
	assert_int_equal(system_map_pfn(space, BASE + PFNS * PAGE, PAGE, FRAMES, false), 0);
	put_byte(space, BASE, 5);
	assert_int_equal(get_byte(space, BASE + PFNS * PAGE), 5);
	assert_int_equal(pte_pfn(system_pte(space, BASE)), FRAMES);
	assert_fault(space, BASE + PFNS * PAGE, SF_WRITE, SIGSEGV, SEGV_ACCERR);
	assert_good(system);
	assert_int_equal(sf_unmap(space, BASE + PAGE, PAGE), 0);
	assert_touch(space, BASE + 2 * PAGE, SF_WRITE);
	assert_int_equal(pte_pfn(system_pte(space, BASE + 2 * PAGE)), FRAMES + 2);
	assert_good(system);
	/* Frames that are no RAM have no struct page, also when a right that was taken away comes back. */
	assert_int_equal(system_map_pfn(space, BASE + 32 * PAGE, PAGE, FRAMES_MAX - 1, true), 0);
	assert_touch(space, BASE + 32 * PAGE, SF_WRITE);
	assert_int_equal(sf_protect(space, BASE + 32 * PAGE, PAGE, SF_PROT_READ), 0);
	assert_int_equal(sf_protect(space, BASE + 32 * PAGE, PAGE, SF_PROT_READ | SF_PROT_WRITE), 0);
	assert_touch(space, BASE + 32 * PAGE, SF_WRITE);
	assert_good(system);
	sf_space_destroy(space);
}

static void frames_by_number(void **state)
{
	(void)state;
	for_each_policy(FRAMES, pfn_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    fault_test(errors_are_those_of_linux),
	    fault_test(reads_get_the_zero_page),
	    fault_test(copies_are_made_on_write_alone),
	    fault_test(shared_memory_is_seen_by_all),
	    fault_test(protections_and_moves_keep_the_contents),
	    fault_test(a_write_ends_lazy_freeing),
	    fault_test(tables_go_with_their_last_mapping),
	    fault_test(frames_by_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
