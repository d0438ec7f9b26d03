/* SPDX-License-Identifier: MIT */
/*
 * MADV_FREE under pressure: what becomes of pages that need not be kept.
 */
#include "mm/charge/group.h"
#include "mm/page/frames.h"
#include "mm/page/lru.h"
#include "mm/system/internal.h"
#include "tests/unit/mm/reclaim_fixture.h"

static void frees_lazily(struct stage *stage, uint64_t page, uint64_t pages)
{
	assert_int_equal(sf_advise(stage->space, stage->at + page * PAGE, pages * PAGE, SF_ADVICE_FREE), 0);
}

/* Until nothing more can be reclaimed. Returns how many pages that were. */
static uint64_t reclaims_all(const struct stage *stage)
{
	uint64_t pages = 0, more;

	while ((more = sf_group_reclaim(stage->group, 2000 * PAGE)))
		pages += more / PAGE;
	return pages;
}

static uint64_t listed(const struct stage *stage, enum lru_list inactive)
{
	const struct lru *lru = stage->system->frames->lru;

	return lru_pages(lru, &stage->group->pages, inactive) +
	       lru_pages(lru, &stage->group->pages, inactive | LRU_ACTIVE);
}

/*
 * MADV_FREE: what was not written to since goes without a slot and without a write; what was goes to swap,
 * and what is pinned stays.
 */
static void what_is_free_to_go_needs_no_slot(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct sf_swap_statistics swap;
		struct sf_pin read_pin, write_pin;
		const uint64_t *seen;
		uint64_t *word;
		struct stage stage;

		open_stage(&stage, reclaim_policies[i], 4000, 1000, 500);
		fills(&stage, 500);
		word = sf_pin(stage.space, stage.at + 2 * PAGE, SF_WRITE, &write_pin, NULL);
		frees_lazily(&stage, 0, 400);
		seen = sf_pin(stage.space, stage.at + 1 * PAGE, SF_READ, &read_pin, NULL);
		assert_true(word && seen);
		for (uint64_t page = 3; page < 400; page += 4)
			write_page(&stage, page, page * 7 + 1);
		/* By who maps it, whatever the pin sees. */
		assert_true(reclaims_all(&stage) >= 498);
		assert_good(&stage);
		sf_swap_statistics(stage.system, &swap);
		assert_int_equal(swap.written, 100 + 100);
		assert_int_equal(swap.used, 100 + 100);
		assert_int_equal(resident(&stage), 2);
		assert_int_equal(seen[1], 1 * 7 + 1);
		assert_int_equal(read_page(&stage, 1), 1 * 7 + 1);
		word[2] = 1234;
		sf_unpin(stage.system, &read_pin);
		sf_unpin(stage.system, &write_pin);
		/* The one page is clean; the other was written to through the pin. */
		assert_int_equal(sf_group_reclaim(stage.group, 2000 * PAGE), 2 * PAGE);
		sf_swap_statistics(stage.system, &swap);
		assert_int_equal(swap.written, 100 + 100 + 1);
		for (uint64_t page = 0; page < 500; page++)
			assert_int_equal(read_page(&stage, page), page == 2 ? 1234
								  : page < 400 && page % 4 != 3
								      ? 0
								      : page * 7 + 1);
		assert_good(&stage);
		close_stage(&stage);
	}
}

/*
 * Without swap it is all that anonymous memory can give, so it is looked at with the files' pages. What was
 * written to since is with the rest again, once reclaim has seen that.
 */
static void it_goes_without_swap(void **state)
{
	(void)state;
	for (unsigned i = 0; i < ARRAY_SIZE(reclaim_policies); i++) {
		struct stage stage;

		open_without_swap(&stage, reclaim_policies[i], 4000, 600, 1000);
		fills(&stage, 500);
		assert_int_equal(reclaims_all(&stage), 0);
		assert_int_equal(listed(&stage, LRU_INACTIVE), 500);
		frees_lazily(&stage, 0, 400);
		assert_int_equal(listed(&stage, LRU_INACTIVE), 100);
		assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 400);
		for (uint64_t page = 3; page < 400; page += 4)
			write_page(&stage, page, page * 7 + 1);
		assert_int_equal(reclaims_all(&stage), 300);
		assert_int_equal(listed(&stage, LRU_INACTIVE), 200);
		assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 0);
		for (uint64_t page = 0; page < 500; page++)
			assert_int_equal(read_page(&stage, page),
					 page < 400 && page % 4 != 3 ? 0 : page * 7 + 1);
		assert_good(&stage);

		/* A fault that meets the limit finds it, too. */
		frees_lazily(&stage, 0, 500);
		for (uint64_t page = 500; page < 990; page++)
			write_page(&stage, page, page);
		assert_good(&stage);
		close_stage(&stage);
	}
}

/* A page that was isolated, or in another CPU's pagevec, is moved when it is said of it again. */
static void what_was_not_to_be_had_is_moved_the_next_time(void **state)
{
	struct page *pages[20];
	struct stage stage;
	struct lru_run run;
	struct lru *lru;
	unsigned count;

	(void)state;
	open_without_swap(&stage, "default", 4000, 600, 100);
	lru = stage.system->frames->lru;
	fills(&stage, 20);
	count = lru_isolate(&stage.group->pages, 0, LRU_ACTIVE, pages, 20);
	assert_int_equal(count, 20);
	frees_lazily(&stage, 0, 20);
	assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 0);
	lru_run_begin(&run, lru);
	for (unsigned i = 0; i < count; i++)
		lru_putback(&run, pages[i], true);
	lru_run_end(&run);
	for (unsigned i = 0; i < count; i++)
		page_put(stage.system->frames, pages[i]);
	assert_int_equal(reclaims_all(&stage), 0);
	frees_lazily(&stage, 0, 20);
	assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 20);
	assert_int_equal(reclaims_all(&stage), 20);
	close_stage(&stage);
}

static void fills_ten(unsigned cpu, void *stage)
{
	if (cpu == 1)
		fills(stage, 10);
}

static void drains(unsigned cpu, void *stage)
{
	if (cpu == 1)
		lru_add_drain(((struct stage *)stage)->system->frames->lru);
}

static void so_is_what_waited(void **state)
{
	struct stage stage;

	(void)state;
	open_without_swap(&stage, "default lru_add=zone_lock", 4000, 600, 100);
	assert_int_equal(host_run(fills_ten, &stage), 0);
	frees_lazily(&stage, 0, 10);
	assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 0);
	assert_int_equal(host_run(drains, &stage), 0);
	frees_lazily(&stage, 0, 10);
	assert_int_equal(listed(&stage, LRU_INACTIVE_FILE), 10);
	assert_int_equal(reclaims_all(&stage), 10);
	close_stage(&stage);
}

/* After a fork each space says for itself what it does not need any more. */
static void what_a_child_frees_stays_the_parents(void **state)
{
	struct sf_swap_statistics swap;
	struct stage stage, child;

	(void)state;
	open_stage(&stage, "default", 4000, 1000, 100);
	fills(&stage, 100);
	child = stage;
	assert_int_equal(sf_space_fork(stage.space, &child.space), 0);
	frees_lazily(&child, 0, 100);
	assert_true(sf_group_reclaim(stage.group, 2000 * PAGE) >= 100 * PAGE);
	sf_swap_statistics(stage.system, &swap);
	assert_int_equal(swap.written, 100);
	for (uint64_t page = 0; page < 100; page++) {
		uint64_t value = read_page(&child, page);

		assert_true(value == 0 || value == page * 7 + 1);
	}
	holds(&stage, 100);
	assert_good(&stage);
	sf_space_destroy(child.space);
	close_stage(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(what_is_free_to_go_needs_no_slot, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(it_goes_without_swap, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(what_was_not_to_be_had_is_moved_the_next_time, machine_open,
					    machine_close),
	    cmocka_unit_test_setup_teardown(so_is_what_waited, machine_open, machine_close),
	    cmocka_unit_test_setup_teardown(what_a_child_frees_stays_the_parents, machine_open,
					    machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
