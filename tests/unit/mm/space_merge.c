/* SPDX-License-Identifier: MIT */
/*
 * When VMAs split and merge. Each picture is the window after the step above it; "w" marks pages that were
 * written to, which gives their VMA an identity.
 */
#include "tests/unit/mm/space_layout.h"

static void new_memory_joins_its_neighbours(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 2, 2);
	assert_drawn(space, "..AA");
	/* behind, before, in between */
	map_private(space, 4, 2);
	assert_drawn(space, "..AAAA");
	map_private(space, 0, 2);
	assert_drawn(space, "AAAAAA");
	map_private(space, 8, 2);
	assert_drawn(space, "AAAAAA..BB");
	map_private(space, 6, 2);
	assert_drawn(space, "AAAAAAAAAA");
	/* other protection, other flags, other kind */
	assert_int_equal(map_at(space, 10, 2, SF_PROT_READ, SF_MAP_PRIVATE), 0);
	assert_drawn(space, "AAAAAAAAAABB");
	assert_int_equal(map_at(space, 12, 2, READ_WRITE, SF_MAP_PRIVATE | SF_MAP_NORESERVE), 0);
	assert_int_equal(map_at(space, 14, 2, READ_WRITE, SF_MAP_SHARED), 0);
	/* two shared mappings are two objects */
	assert_int_equal(map_at(space, 16, 2, READ_WRITE, SF_MAP_SHARED), 0);
	assert_drawn_good(&ground, "AAAAAAAAAABBCCDDEE");
	ground_close(&ground);
}

static void new_memory_in_the_middle(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	/* The same again, over a part: no seam, and the pages are new. */
	map_private(space, 0, 8);
	for (unsigned page = 0; page < 8; page++)
		write_to(space, page);
	map_private(space, 2, 3);
	assert_drawn(space, "AAAAAAAA");
	for (unsigned page = 0; page < 8; page++)
		assert_int_equal(system_pte(space, AT(page)) != 0, page < 2 || page >= 5);
	assert_system_good(ground.system);
	/* Something else over the ends of two. */
	map_private(space, 10, 4);
	assert_int_equal(map_at(space, 6, 6, SF_PROT_READ, SF_MAP_PRIVATE), 0);
	assert_drawn_good(&ground, "AAAAAABBBBBBCC");
	/* and over all of it. */
	assert_int_equal(map_at(space, 0, 14, SF_PROT_NONE, SF_MAP_SHARED), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAAAAA");
	ground_close(&ground);
}

/*
 * AAAABBBB     B read only
 * w      .     with one identity or none they merge again, with two they do not
 */
static void protections_split_and_merge(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 12);
	assert_int_equal(sf_protect(space, AT(4), 4 * PAGE, SF_PROT_READ), 0);
	assert_drawn(space, "AAAABBBBCCCC");
	assert_int_equal(sf_protect(space, AT(2), 4 * PAGE, SF_PROT_READ), 0);
	assert_drawn(space, "AABBBBBBCCCC");
	assert_int_equal(sf_protect(space, AT(2), 2 * PAGE, READ_WRITE), 0);
	assert_drawn(space, "AAAABBBBCCCC");
	assert_int_equal(sf_protect(space, AT(7), 2 * PAGE, READ_WRITE), 0);
	assert_drawn(space, "AAAABBBCCCCC");
	assert_int_equal(sf_protect(space, AT(4), 3 * PAGE, READ_WRITE), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAAA");

	/* Pieces of one VMA keep its identity. */
	write_to(space, 3);
	assert_int_equal(sf_protect(space, AT(4), 4 * PAGE, SF_PROT_READ), 0);
	write_to(space, 9);
	assert_int_equal(sf_protect(space, AT(4), 4 * PAGE, READ_WRITE), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAAA");
	ground_close(&ground);
}

static void two_identities_do_not_merge(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 4);
	map_private(space, 8, 4);
	write_to(space, 0);
	write_to(space, 8);
	/* What comes between goes to the lower one: both would take it, but not each other. */
	map_private(space, 4, 4);
	assert_drawn_good(&ground, "AAAAAAAABBBB");
	/* One that has none joins the one that has. */
	map_private(space, 12, 4);
	assert_drawn_good(&ground, "AAAAAAAABBBBBBBB");
	ground_close(&ground);
}

/* A first page takes over the identity of the neighbour with which its VMA could merge but for protection. */
static void a_neighbours_identity_is_taken_over(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 8);
	assert_int_equal(sf_protect(space, AT(0), 4 * PAGE, SF_PROT_READ | SF_PROT_WRITE | SF_PROT_EXEC), 0);
	assert_drawn(space, "AAAABBBB");
	write_to(space, 1);
	write_to(space, 6);
	assert_int_equal(sf_protect(space, AT(0), 4 * PAGE, READ_WRITE), 0);
	assert_drawn_good(&ground, "AAAAAAAA");
	/* A read brings the zero page, which is nobody's. */
	map_private(space, 20, 4);
	map_private(space, 28, 4);
	assert_int_equal(touch(space, AT(20), false), 0);
	assert_int_equal(touch(space, AT(28), false), 0);
	map_private(space, 24, 4);
	assert_drawn_good(&ground, "AAAAAAAA............BBBBBBBBBBBB");
	ground_close(&ground);
}

/* Memory that was writable stays counted as such once it has a page: Linux tells it from memory that never
 * was. */
static void read_only_memory_of_two_kinds(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	assert_int_equal(map_at(space, 0, 4, SF_PROT_READ, SF_MAP_PRIVATE), 0);
	map_private(space, 4, 4);
	assert_int_equal(sf_protect(space, AT(4), 4 * PAGE, SF_PROT_READ), 0);
	assert_drawn(space, "AAAAAAAA");
	map_private(space, 8, 4);
	write_to(space, 8);
	assert_int_equal(sf_protect(space, AT(8), 4 * PAGE, SF_PROT_READ), 0);
	assert_drawn(space, "AAAAAAAABBBB");
	assert_int_equal(sf_protect(space, AT(0), 12 * PAGE, READ_WRITE), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAAA");
	ground_close(&ground);
}

/* What a forked VMA has is inherited: nothing joins it but its own pieces. */
static void after_a_fork(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space, *child;

	(void)state;
	map_private(space, 0, 4);
	write_to(space, 0);
	map_private(space, 8, 4);
	assert_int_equal(sf_space_fork(space, &child), 0);
	assert_drawn(child, "AAAA....BBBB");
	map_private(child, 4, 4);
	assert_drawn(child, "AAAABBBBBBBB");
	map_private(space, 4, 4);
	assert_drawn(space, "AAAAAAAAAAAA");
	assert_int_equal(sf_protect(child, AT(1), PAGE, SF_PROT_NONE), 0);
	assert_drawn(child, "ABCCDDDDDDDD");
	assert_int_equal(sf_protect(child, AT(1), PAGE, READ_WRITE), 0);
	assert_drawn(child, "AAAABBBBBBBB");
	assert_system_good(ground.system);
	sf_space_destroy(child);
	ground_close(&ground);
}

static void hints_and_locks_keep_apart(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 12);
	assert_int_equal(sf_lock(space, AT(4) + 1, 2 * PAGE), 0);
	assert_drawn(space, "AAAABBBCCCCC");
	assert_int_equal(sf_advise(space, AT(0), 2 * PAGE, SF_ADVICE_NOHUGEPAGE), 0);
	assert_drawn(space, "AABBCCCDDDDD");
	assert_int_equal(sf_advise(space, AT(0), 12 * PAGE, SF_ADVICE_HUGEPAGE), 0);
	assert_drawn(space, "AAAABBBCCCCC");
	assert_int_equal(sf_unlock(space, AT(0), 12 * PAGE), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAAA");
	ground_close(&ground);
}

static void unmapping_cuts(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 12);
	assert_int_equal(map_at(space, 12, 4, READ_WRITE, SF_MAP_SHARED), 0);
	for (unsigned page = 0; page < 16; page++)
		write_to(space, page);
	assert_int_equal(sf_unmap(space, AT(4), 2 * PAGE), 0);
	assert_drawn_good(&ground, "AAAA..BBBBBBCCCC");
	assert_int_equal(sf_unmap(space, AT(8), 6 * PAGE - 1), 0);
	assert_drawn_good(&ground, "AAAA..BB......CC");
	assert_int_equal(sf_unmap(space, AT(0), PAGE), 0);
	assert_int_equal(sf_unmap(space, AT(0), WINDOW_PAGES * PAGE), 0);
	assert_drawn_good(&ground, "");
	assert_int_equal(sf_unmap(space, AT(0), PAGE), 0);
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(new_memory_joins_its_neighbours),
	    mm_test(new_memory_in_the_middle),
	    mm_test(protections_split_and_merge),
	    mm_test(two_identities_do_not_merge),
	    mm_test(a_neighbours_identity_is_taken_over),
	    mm_test(read_only_memory_of_two_kinds),
	    mm_test(after_a_fork),
	    mm_test(hints_and_locks_keep_apart),
	    mm_test(unmapping_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
