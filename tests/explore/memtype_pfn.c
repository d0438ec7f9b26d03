/* SPDX-License-Identifier: MIT */
/*
 * A mapping of frames by number, whose faults look the frames' types up, against those who would change them:
 * every entry of a frame that is mapped has the type that the frame has.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/memtype/memtype.h"
#include "mm/table/pte.h"
#include "tests/explore/fixture.h"

static uint64_t entry[2];

static int setup(struct message *why)
{
	entry[0] = entry[1] = 0;
	return fixture_open(false, why);
}

static void map_and_touch(void)
{
	check_that(!system_map_pfn(fixture.space, AT, 2 * PAGE, OWN_FRAMES, true));
	for (unsigned page = 0; page < 2; page++) {
		check_that(!sf_touch(fixture.space, AT + page * PAGE, SF_WRITE, NULL));
		entry[page] = system_pte(fixture.space, AT + page * PAGE);
	}
}

static void map_touch_and_unmap(void)
{
	map_and_touch();
	check_equal(pte_memtype(entry[0]), pte_memtype(entry[1]));
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
}

static void reserve(void)
{
	enum memtype granted;
	int error = memtype_reserve(system_memtypes(fixture.system), OWN_FRAMES * PAGE,
				    (OWN_FRAMES + 2) * PAGE, MEMTYPE_WC, &granted);

	check_that(!error || error == -EBUSY);
	fixture.result[1] = error;
}

static bool holds(struct message *why)
{
	uint64_t wanted = fixture.result[1] ? MEMTYPE_WB : MEMTYPE_WC;

	for (unsigned page = 0; page < 2; page++)
		if (!fixture_equal("the entry's type", pte_memtype(entry[page]), wanted, why))
			return false;
	return fixture_good(why);
}

const struct check memtype_map_check = {
    .name = "memtype-map",
    .summary = "a reservation against a mapping of its frames and the faults on it",
    .setup = setup,
    .body = {map_and_touch, reserve},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

/* The mapping goes again: then the reservation may come at last. */
static bool holds_unmapped(struct message *why)
{
	enum memtype type = memtype_lookup(system_memtypes(fixture.system), OWN_FRAMES * PAGE);

	return fixture_equal("the frame's type", type, fixture.result[1] ? MEMTYPE_WB : MEMTYPE_WC, why) &&
	       fixture_equal("the entry", system_pte(fixture.space, AT), 0, why) && fixture_good(why);
}

const struct check memtype_unmap_check = {
    .name = "memtype-unmap",
    .summary = "a reservation against a mapping of its frames that comes and goes",
    .setup = setup,
    .body = {map_touch_and_unmap, reserve},
    .holds = holds_unmapped,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

/* Frames that are mapped all the time, by one VMA or another: a reservation must never come between. */
static int setup_mapped(struct message *why)
{
	int error = setup(why);

	if (!error)
		map_and_touch();
	return error;
}

static bool holds_refused(struct message *why)
{
	return fixture_equal("what the reservation returned", (uint64_t)(int64_t)fixture.result[1],
			     (uint64_t)-EBUSY, why) &&
	       fixture_good(why);
}

static void move(void)
{
	uint64_t mapped;

	check_that(!sf_remap(fixture.space, AT, 2 * PAGE, 2 * PAGE, SF_REMAP_MAYMOVE | SF_REMAP_FIXED, AWAY,
			     &mapped));
}

const struct check memtype_remap_check = {
    .name = "memtype-remap",
    .summary = "a reservation against a move of a mapping of its frames",
    .setup = setup_mapped,
    .body = {move, reserve},
    .holds = holds_refused,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

static void split(void)
{
	check_that(!sf_protect(fixture.space, AT, PAGE, SF_PROT_READ));
	check_that(!sf_protect(fixture.space, AT, PAGE, RW));
}

const struct check memtype_protect_check = {
    .name = "memtype-protect",
    .summary = "a reservation against a split and a merge of a mapping of its frames",
    .setup = setup_mapped,
    .body = {split, reserve},
    .holds = holds_refused,
    .teardown = fixture_close,
    .variants = variants_memtype,
};

static void hand_over(void)
{
	fixture_fork();
	check_that(!sf_unmap(fixture.space, AT, 2 * PAGE));
}

const struct check memtype_fork_check = {
    .name = "memtype-fork",
    .summary = "a reservation against a mapping of its frames that goes on in a child",
    .setup = setup_mapped,
    .body = {hand_over, reserve},
    .holds = holds_refused,
    .teardown = fixture_close,
    .variants = variants_memtype,
};
