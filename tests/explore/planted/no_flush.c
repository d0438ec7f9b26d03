/* SPDX-License-Identifier: MIT */
/*
 * Memory is taken away, and its frame put, without a wait for CPUs that have the translation: one of them
 * writes to a frame that is somebody else's by then.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/space/space.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	fixture_map(AT, 2, RW, SF_MAP_PRIVATE);
	fixture_store(fixture.space, AT, 1);
	return 0;
}

static void count_up(void)
{
	uint64_t expected = 1;

	sf_compare_swap_64(fixture.space, AT, &expected, 2, NULL);
}

/* What MADV_DONTNEED does, but for the gather. */
static void zap(void)
{
	struct table *table = &fixture.space->table;
	struct page *page;
	struct pte_ref ref;
	bool there;

	port_rcu_read_lock();
	there = pte_lock_existing(table, AT, &ref);
	check_that(there);
	page = pfn_to_page(table->frames, pte_pfn(ref.value));
	page_remove_mapping(page);
	pte_set_unlock(&ref, 0);
	port_rcu_read_unlock();
	table_count(table, TABLE_RESIDENT, -1);
	page_put(table->frames, page); /* planted: no flush */
}

static bool holds(struct message *why)
{
	return fixture_good(why);
}

const struct check planted_no_flush_check = {
    .name = "planted-no-flush",
    .summary = "a frame put before translations are flushed; right: own-swap-dontneed",
    .setup = setup,
    .body = {count_up, zap},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "use after free",
    .planted_mark = "planted: no flush",
};
