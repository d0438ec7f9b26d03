/* SPDX-License-Identifier: MIT */
/*
 * The memory types of RAM: no page gets two types, nobody sees a type that is taken back, and while a page is
 * pinned its type stays.
 *
 *   frames   0 1 2 3        ranges overlap: [0, 3) and [1, 4)
 */
#include "mm/memtype/memtype.h"

#include <errno.h>
#include <stddef.h>

#include "tests/explore/fixture.h"

#define FIRST OWN_FRAMES /* exported frames */

static struct memtypes *memtypes;
static bool reserved[2];

static uint64_t physical(uint64_t frame)
{
	return (FIRST + frame) * PAGE;
}

static enum memtype type_of(uint64_t frame)
{
	return memtype_lookup(memtypes, physical(frame));
}

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	memtypes = error ? NULL : system_memtypes(fixture.system);
	reserved[0] = reserved[1] = false;
	return error;
}

/* Reserves three frames from `first` on as `type`; all of them, or none, have it then. */
static bool reserve(uint64_t first, enum memtype type)
{
	enum memtype granted;
	int error = memtype_reserve(memtypes, physical(first), physical(first + 3), type, &granted);

	check_that(!error || error == -EBUSY);
	for (uint64_t frame = first; !error && frame < first + 3; frame++)
		check_equal(type_of(frame), type);
	return !error;
}

static void reserve_low(void)
{
	reserved[0] = reserve(0, MEMTYPE_WC);
}

static void reserve_high(void)
{
	reserved[1] = reserve(1, MEMTYPE_UC_MINUS);
}

static bool holds_one(struct message *why)
{
	return fixture_equal("who has a reservation", reserved[0] + reserved[1], 1, why) &&
	       fixture_equal("frame 0's type", type_of(0), reserved[0] ? MEMTYPE_WC : MEMTYPE_WB, why) &&
	       fixture_equal("frame 2's type", type_of(2), reserved[0] ? MEMTYPE_WC : MEMTYPE_UC_MINUS,
			     why) &&
	       fixture_equal("frame 3's type", type_of(3), reserved[0] ? MEMTYPE_WB : MEMTYPE_UC_MINUS,
			     why) &&
	       fixture_good(why);
}

const struct check memtype_reserve_reserve_check = {
    .name = "memtype-reserve-reserve",
    .summary = "two reservations of ranges that overlap",
    .setup = setup,
    .body = {reserve_low, reserve_high},
    .holds = holds_one,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

/* One has frames 0 to 2 and frees them; the other wants 1 to 3 and gets them after that, or not at all. */
static int setup_reserved(struct message *why)
{
	enum memtype granted;
	int error = setup(why);

	if (!error)
		check_that(!memtype_reserve(memtypes, physical(0), physical(3), MEMTYPE_WC, &granted));
	return error;
}

static void free_low(void)
{
	check_that(!memtype_free(memtypes, physical(0), physical(3)));
}

static bool holds_freed(struct message *why)
{
	return fixture_equal("frame 0's type", type_of(0), MEMTYPE_WB, why) &&
	       fixture_equal("frame 1's type", type_of(1), reserved[1] ? MEMTYPE_UC_MINUS : MEMTYPE_WB,
			     why) &&
	       fixture_good(why);
}

const struct check memtype_reserve_free_check = {
    .name = "memtype-reserve-free",
    .summary = "a reservation against the free of what it overlaps",
    .setup = setup_reserved,
    .body = {free_low, reserve_high},
    .holds = holds_freed,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

static void free_overlapping(unsigned cpu, uint64_t first)
{
	int error = memtype_free(memtypes, physical(first), physical(first + 2));

	check_that(!error || error == -EINVAL);
	reserved[cpu] = !error;
}

static void free_first(void)
{
	free_overlapping(0, 0);
}

static void free_second(void)
{
	free_overlapping(1, 1);
}

static bool holds_freed_once(struct message *why)
{
	return fixture_equal("who freed", reserved[0] + reserved[1], 1, why) &&
	       fixture_equal("frame 0's type", type_of(0), reserved[0] ? MEMTYPE_WB : MEMTYPE_WC, why) &&
	       fixture_equal("frame 1's type", type_of(1), MEMTYPE_WB, why) && fixture_good(why);
}

const struct check memtype_free_free_check = {
    .name = "memtype-free-free",
    .summary = "two frees of ranges that overlap",
    .setup = setup_reserved,
    .body = {free_first, free_second},
    .holds = holds_freed_once,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

static void pin_and_look(void)
{
	struct interval pin = {.start = physical(1), .end = physical(3)};
	enum memtype seen;

	memtype_pin(memtypes, &pin);
	seen = type_of(2);
	for (unsigned i = 0; i < 2; i++) {
		check_equal(type_of(2), seen);
		check_equal(type_of(1), seen);
	}
	memtype_unpin(memtypes, &pin);
}

static bool holds_type(struct message *why)
{
	enum memtype wanted = reserved[0] ? MEMTYPE_WC : MEMTYPE_WB;

	return fixture_equal("frame 0's type", type_of(0), wanted, why) &&
	       fixture_equal("frame 2's type", type_of(2), wanted, why) && fixture_good(why);
}

const struct check memtype_reserve_pin_check = {
    .name = "memtype-reserve-pin",
    .summary = "a reservation against a pin and its look-ups",
    .setup = setup,
    .body = {reserve_low, pin_and_look},
    .holds = holds_type,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

static void try_free_low(void)
{
	int error = memtype_free(memtypes, physical(0), physical(3));

	check_that(!error || error == -EBUSY);
	reserved[0] = error != 0;
}

const struct check memtype_free_pin_check = {
    .name = "memtype-free-pin",
    .summary = "a free against a pin and its look-ups",
    .setup = setup_reserved,
    .body = {try_free_low, pin_and_look},
    .holds = holds_type,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

/* What is not RAM, in the tree: two reservations of one type, one of which goes again, and a look-up. */
#define BEYOND ((OWN_FRAMES + EXPORTED_FRAMES + 16) * PAGE)

static int setup_beyond(struct message *why)
{
	enum memtype granted;
	int error = setup(why);

	if (!error)
		check_that(!memtype_reserve(memtypes, BEYOND, BEYOND + 2 * PAGE, MEMTYPE_WC, &granted));
	return error;
}

static void reserve_beyond(void)
{
	enum memtype granted;

	check_that(!memtype_reserve(memtypes, BEYOND + PAGE, BEYOND + 3 * PAGE, MEMTYPE_DEFAULT, &granted));
	reserved[0] = granted == MEMTYPE_WC;
}

static void free_beyond(void)
{
	enum memtype type;

	check_that(!memtype_free(memtypes, BEYOND, BEYOND + 2 * PAGE));
	type = memtype_lookup(memtypes, BEYOND + PAGE);
	check_that(type == MEMTYPE_WC || type == MEMTYPE_UC_MINUS);
}

static bool holds_beyond(struct message *why)
{
	return fixture_equal("the first page's type", memtype_lookup(memtypes, BEYOND), MEMTYPE_UC_MINUS,
			     why) &&
	       fixture_equal("the last page's type", memtype_lookup(memtypes, BEYOND + 2 * PAGE),
			     reserved[0] ? MEMTYPE_WC : MEMTYPE_UC_MINUS, why) &&
	       fixture_good(why);
}

const struct check memtype_ranges_check = {
    .name = "memtype-ranges",
    .summary = "a reservation of what is not RAM against a free and a look-up",
    .setup = setup_beyond,
    .body = {reserve_beyond, free_beyond},
    .holds = holds_beyond,
    .teardown = fixture_close,
};
