/* SPDX-License-Identifier: MIT */
/*
 * mremap. Each picture is the window after the step above it.
 */
#include "tests/unit/mm/space_layout.h"

#define MOVE (SF_REMAP_MAYMOVE | SF_REMAP_FIXED)
#define KEEP (SF_REMAP_MAYMOVE | SF_REMAP_DONTUNMAP)

static int move(struct sf_space *space, unsigned page, unsigned pages, unsigned new_pages, int flags,
		unsigned to)
{
	uint64_t mapped = 0;
	int error = sf_remap(space, AT(page), pages * PAGE, new_pages * PAGE, flags, AT(to), &mapped);

	if (!error && (flags & SF_REMAP_FIXED))
		assert_int_equal(mapped, AT(to));
	return error;
}

static int resize(struct sf_space *space, unsigned page, unsigned pages, unsigned new_pages, uint64_t *mapped)
{
	return sf_remap(space, AT(page), pages * PAGE, new_pages * PAGE, 0, 0, mapped);
}

static void put_byte(struct sf_space *space, unsigned page, unsigned char byte)
{
	assert_int_equal(sf_write(space, AT(page) + 7, &byte, 1, NULL), 1);
}

static void assert_byte(struct sf_space *space, unsigned page, unsigned char wanted)
{
	unsigned char byte = 0;

	assert_int_equal(sf_read(space, AT(page) + 7, &byte, 1, NULL), 1);
	assert_int_equal(byte, wanted);
}

static void a_mapping_grows_and_shrinks_in_place(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 4);
	put_byte(space, 3, 1);
	assert_int_equal(resize(space, 0, 4, 6, &mapped), 0);
	assert_int_equal(mapped, AT(0));
	assert_drawn(space, "AAAAAA");
	assert_byte(space, 3, 1);
	/* The end of a mapping alone, too; what it meets joins. */
	map_private(space, 8, 4);
	assert_int_equal(resize(space, 5, 1, 3, &mapped), 0);
	assert_drawn(space, "AAAAAAAAAAAA");
	/* From the middle it cannot. */
	assert_int_equal(resize(space, 2, 2, 3, &mapped), -ENOMEM);
	map_private(space, 14, 2);
	assert_int_equal(resize(space, 0, 12, 15, &mapped), -ENOMEM);
	assert_drawn(space, "AAAAAAAAAAAA..BB");
	/* Shrinking takes away what is there, whose mapping it may be. */
	assert_int_equal(resize(space, 10, 5, 1, &mapped), 0);
	assert_drawn(space, "AAAAAAAAAAA....B");
	assert_int_equal(resize(space, 0, 3, 3, &mapped), 0);
	assert_drawn_good(&ground, "AAAAAAAAAAA....B");
	ground_close(&ground);
}

static void pages_move_with_their_mapping(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 8);
	for (unsigned page = 0; page < 8; page += 2)
		put_byte(space, page, (unsigned char)(page + 1));
	/* from the middle to a free place */
	assert_int_equal(move(space, 2, 4, 4, MOVE, 20), 0);
	assert_drawn_good(&ground, "AA....BB............CCCC");
	assert_byte(space, 20, 3);
	assert_byte(space, 21, 0);
	assert_byte(space, 22, 5);
	/* and back: the places fit again */
	assert_int_equal(move(space, 20, 4, 4, MOVE, 2), 0);
	assert_drawn_good(&ground, "AAAAAAAA");
	for (unsigned page = 0; page < 8; page++)
		assert_byte(space, page, page % 2 ? 0 : (unsigned char)(page + 1));
	/* over something else, growing */
	map_private(space, 10, 4);
	write_to(space, 13);
	assert_int_equal(move(space, 0, 2, 3, MOVE, 11), 0);
	assert_drawn_good(&ground, "..AAAAAA..BCCC");
	ground_close(&ground);
}

/* What has no page yet is at home where it goes, and joins what is there. */
static void untouched_memory_merges_where_it_goes(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 4);
	map_private(space, 10, 4);
	assert_int_equal(move(space, 0, 2, 2, MOVE, 14), 0);
	assert_drawn(space, "..AA......BBBBBB");
	/* right behind itself, and right before */
	assert_int_equal(move(space, 10, 2, 2, MOVE, 16), 0);
	assert_drawn(space, "..AA........BBBBBB");
	assert_int_equal(move(space, 16, 2, 2, MOVE, 10), 0);
	assert_drawn(space, "..AA......BBBBBB");
	ground_close(&ground);
}

static void the_source_can_stay(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 4);
	put_byte(space, 1, 9);
	assert_int_equal(move(space, 0, 4, 4, KEEP | SF_REMAP_FIXED, 10), 0);
	assert_drawn_good(&ground, "AAAA......BBBB");
	assert_byte(space, 11, 9);
	assert_byte(space, 1, 0);
	/* The source has lost its identity and gets a new one. */
	put_byte(space, 0, 1);
	map_private(space, 4, 6);
	assert_drawn_good(&ground, "AAAAAAAAAABBBB");
	assert_int_equal(move(space, 0, 2, 4, KEEP, 0), -EINVAL);
	assert_int_equal(sf_remap(space, AT(0), PAGE, PAGE, KEEP, 0, &mapped), 0);
	assert_true(mapped >= AT(WINDOW_PAGES));
	assert_drawn_good(&ground, "AAAAAAAAAABBBB");
	ground_close(&ground);
}

static void shared_memory_is_mapped_twice(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	struct sf_signal signal;
	uint64_t mapped;

	(void)state;
	assert_int_equal(map_at(space, 0, 4, READ_WRITE, SF_MAP_SHARED), 0);
	assert_int_equal(move(space, 1, 0, 2, MOVE, 10), 0);
	assert_drawn(space, "AAAA......BB");
	put_byte(space, 2, 5);
	assert_byte(space, 11, 5);
	put_byte(space, 10, 6);
	assert_byte(space, 1, 6);
	/* Beyond the object's end there is nothing. */
	assert_int_equal(resize(space, 0, 4, 6, &mapped), 0);
	assert_int_equal(sf_touch(space, AT(5), SF_READ, &signal), -EFAULT);
	assert_int_equal(signal.signal, SIGBUS);
	assert_int_equal(signal.code, BUS_ADRERR);
	/* Private memory cannot be had twice. */
	map_private(space, 20, 2);
	assert_int_equal(move(space, 20, 0, 2, MOVE, 30), -EINVAL);
	assert_drawn_good(&ground, "AAAAAA....BB........CC");
	ground_close(&ground);
}

/*
 * AABB..CCC      A plain move takes all of them, and their gaps.
 */
static void several_mappings_move_at_once(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;

	(void)state;
	map_private(space, 0, 2);
	assert_int_equal(map_at(space, 2, 2, SF_PROT_READ, SF_MAP_PRIVATE), 0);
	assert_int_equal(map_at(space, 6, 3, READ_WRITE, SF_MAP_SHARED), 0);
	put_byte(space, 1, 1);
	put_byte(space, 7, 2);
	assert_int_equal(move(space, 1, 7, 7, MOVE, 21), 0);
	assert_drawn_good(&ground, "A.......B............CDD..EE");
	assert_byte(space, 21, 1);
	assert_byte(space, 27, 2);
	/* With another length only one can move. */
	assert_int_equal(move(space, 21, 3, 4, MOVE, 30), -EFAULT);
	assert_int_equal(move(space, 24, 4, 4, MOVE, 30), -EFAULT);
	assert_drawn_good(&ground, "A.......B............CDD..EE");
	ground_close(&ground);
}

static void bad_calls_are_refused(void **state)
{
	struct ground ground = ground_open();
	struct sf_space *space = ground.space;
	uint64_t mapped;

	(void)state;
	map_private(space, 0, 4);
	assert_int_equal(move(space, 0, 2, 2, SF_REMAP_FIXED, 10), -EINVAL);
	assert_int_equal(move(space, 0, 2, 2, SF_REMAP_DONTUNMAP, 10), -EINVAL);
	assert_int_equal(move(space, 0, 2, 2, 8, 10), -EINVAL);
	assert_int_equal(move(space, 0, 2, 2, MOVE, 1), -EINVAL);
	assert_int_equal(move(space, 0, 2, 0, MOVE, 10), -EINVAL);
	assert_int_equal(move(space, 6, 2, 2, MOVE, 10), -EFAULT);
	assert_int_equal(sf_remap(space, AT(0) + 1, PAGE, PAGE, 0, 0, &mapped), -EINVAL);
	assert_int_equal(sf_remap(space, AT(0), PAGE, PAGE, MOVE, AT(8) + 1, &mapped), -EINVAL);
	assert_int_equal(sf_remap(space, AT(0), PAGE, PAGE, MOVE, SPACE_END, &mapped), -EINVAL);
	assert_int_equal(sf_remap(space, AT(0), PAGE, SPACE_END + PAGE, SF_REMAP_MAYMOVE, 0, &mapped),
			 -EINVAL);
	assert_int_equal(sf_remap(space, AT(0), 5 * PAGE, 6 * PAGE, SF_REMAP_MAYMOVE, 0, &mapped), -EFAULT);
	assert_drawn_good(&ground, "AAAA");
	ground_close(&ground);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    mm_test(a_mapping_grows_and_shrinks_in_place),
	    mm_test(pages_move_with_their_mapping),
	    mm_test(untouched_memory_merges_where_it_goes),
	    mm_test(the_source_can_stay),
	    mm_test(shared_memory_is_mapped_twice),
	    mm_test(several_mappings_move_at_once),
	    mm_test(bad_calls_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
