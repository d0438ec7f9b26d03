/* SPDX-License-Identifier: MIT */
/*
 * The reservation of memory types in two passes, as under memtype_lock, without that lock: between the pass
 * that looks and the pass that sets another reservation can take some of the pages.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/memtype/internal.h"
#include "tests/explore/fixture.h"

#define FIRST OWN_FRAMES

static bool reserved[2];

static enum memtype lookup(struct memtypes *memtypes, struct page *page)
{
	(void)memtypes;
	return memtype_of_flags(atomic_load_explicit(&page->flags, memory_order_relaxed));
}

static int reserve_unlocked(struct memtypes *memtypes, uint64_t first, uint64_t end, enum memtype type,
			    enum memtype *in_the_way)
{
	for (uint64_t pfn = first; pfn < end; pfn++) {
		*in_the_way = lookup(memtypes, pfn_to_page(memtypes->frames, pfn));
		if (*in_the_way != MEMTYPE_DEFAULT)
			return -EBUSY;
	}
	for (uint64_t pfn = first; pfn < end; pfn++) {
		_Atomic uint32_t *flags = &pfn_to_page(memtypes->frames, pfn)->flags;

		atomic_fetch_or(flags, memtype_to_flags(type)); /* planted: no lock */
	}
	return 0;
}

static const struct memtype_ram_ops unlocked_ops = {.reserve = reserve_unlocked, .lookup = lookup};

static int setup(struct message *why)
{
	int error = fixture_open(false, why);

	if (!error)
		system_memtypes(fixture.system)->ram_ops = &unlocked_ops;
	return error;
}

static bool reserve(uint64_t first, enum memtype type)
{
	uint64_t start = (FIRST + first) * PAGE;
	enum memtype granted;

	return !memtype_reserve(system_memtypes(fixture.system), start, start + 3 * PAGE, type, &granted);
}

static void reserve_low(void)
{
	reserved[0] = reserve(0, MEMTYPE_WC);
}

static void reserve_high(void)
{
	reserved[1] = reserve(1, MEMTYPE_UC_MINUS);
}

static bool holds(struct message *why)
{
	return fixture_equal("who has a reservation", reserved[0] + reserved[1], 1, why);
}

const struct check planted_memtype_unlocked_check = {
    .name = "planted-memtype-unlocked",
    .summary = "two passes without their lock; right: memtype-reserve-reserve",
    .setup = setup,
    .body = {reserve_low, reserve_high},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "condition",
    .planted_mark = "planted: no lock",
};
