/* SPDX-License-Identifier: MIT */
/*
 * Random additions, isolations, returns and releases on the LRU lists, against naive lists that are shifted
 * by hand: who is isolated is who has been there longest, and who comes back is the newest.
 */
#include "mm/page/lru.h"
#include "tests/common/charge_ground.h"
#include "tests/unit/mm/fixture.h"

#define FRAMES 400u
#define GROUPS 2u
#define ROUNDS 6000u
#define BATCH  8u

/* A list of one group, the oldest first. */
struct naive {
	struct page *page[FRAMES];
	unsigned count;
};

static struct {
	struct ground ground;
	struct random random;
	struct sf_group *group[GROUPS];
	struct naive list[GROUPS][LRU_LISTS];
	unsigned pages;
	unsigned isolated;
} stage;

static void naive_add(struct naive *list, struct page *page)
{
	list->page[list->count++] = page;
}

static struct page *naive_take(struct naive *list, unsigned at)
{
	struct page *page = list->page[at];

	list->count--;
	memmove(&list->page[at], &list->page[at + 1], (list->count - at) * sizeof(list->page[0]));
	return page;
}

static void naive_move(struct naive *from, struct naive *to, struct page *page)
{
	unsigned at = 0;

	while (from->page[at] != page)
		at++;
	naive_take(from, at);
	naive_add(to, page);
}

static unsigned some(unsigned count)
{
	return (unsigned)random_below(&stage.random, count);
}

static void add(void)
{
	unsigned group = some(GROUPS);
	bool active = some(2), file = some(2);
	struct charge charge = {.group = stage.group[group]};
	struct page *page;

	if (stage.pages == FRAMES / 2)
		return;
	page = charged_page_alloc(stage.ground.frames, &charge);
	assert_non_null(page);
	if (file)
		page_set_flag(page, PG_file);
	lru_add(stage.ground.frames->lru, page, active ? LRU_ACTIVE : LRU_INACTIVE);
	lru_add_drain(stage.ground.frames->lru);
	naive_add(&stage.list[group][(file ? LRU_FILE : 0) + active], page);
	stage.pages++;
}

static void release(void)
{
	struct naive *list = &stage.list[some(GROUPS)][some(LRU_LISTS)];

	if (!list->count)
		return;
	page_put(stage.ground.frames, naive_take(list, some(list->count)));
	stage.pages--;
}

/* One of those that are isolated may be released by its owner meanwhile, or be taken off for good. */
static void isolate(void)
{
	unsigned group = some(GROUPS), max = 1 + some(BATCH), from = some(LRU_LISTS);
	struct naive *list = &stage.list[group][from];
	struct lru *lru = stage.ground.frames->lru;
	struct page *pages[BATCH];
	unsigned wanted = max < list->count ? max : list->count;
	unsigned count = lru_isolate(&stage.group[group]->pages, 0, (enum lru_list)from, pages, max);
	unsigned gone = count && !some(3) ? some(count) : BATCH;
	bool released = some(2);
	struct lru_run run;

	assert_int_equal(count, wanted);
	for (unsigned i = 0; i < count; i++) {
		assert_ptr_equal(pages[i], naive_take(list, 0));
		assert_int_equal(page_refcount(pages[i]), 2);
		assert_int_equal(lru_isolated_from(pages[i]), from);
	}
	if (gone < count && released)
		page_put(stage.ground.frames, pages[gone]);
	else if (gone < count)
		lru_del_page(lru, pages[gone]);
	lru_run_begin(&run, lru);
	for (unsigned i = 0; i < count; i++) {
		bool active = some(2);

		lru_putback(&run, pages[i], active);
		if (i != gone)
			naive_add(&stage.list[group][(from & LRU_FILE) + active], pages[i]);
	}
	lru_run_end(&run);
	if (gone < count && !released) {
		page_clear_flag(pages[gone], PG_lru);
		page_put(stage.ground.frames, pages[gone]);
	}
	for (unsigned i = 0; i < count; i++)
		page_put(stage.ground.frames, pages[i]);
	stage.pages -= gone < count;
	stage.isolated += count;
}

static void isolate_one(void)
{
	struct naive *list = &stage.list[some(GROUPS)][some(LRU_LISTS)];
	struct lru_run run;
	struct page *page;
	enum lru_list to;

	if (!list->count)
		return;
	page = naive_take(list, some(list->count));
	lru_run_begin(&run, stage.ground.frames->lru);
	assert_true(lru_isolate_page(&run, page));
	assert_false(lru_isolate_page(&run, page));
	lru_putback(&run, page, false);
	lru_run_end(&run);
	to = lru_isolated_from(page);
	assert_false(to & LRU_ACTIVE);
	for (unsigned group = 0; group < GROUPS; group++)
		if (page->group == &stage.group[group]->pages)
			naive_add(&stage.list[group][to], page);
}

/* A page of a list of the one kind goes to the other kind's inactive list, of the other it comes back. */
static void change_kind(void)
{
	unsigned group = some(GROUPS), from = some(LRU_LISTS);
	struct naive *list = &stage.list[group][from];
	struct lru *lru = stage.ground.frames->lru;
	struct page *page;
	struct lru_run run;

	if (!list->count)
		return;
	page = list->page[some(list->count)];
	/* What is there already stays where it is. */
	lru_lazy_free(lru, page);
	if (from & LRU_FILE) {
		bool active = some(2);

		lru_run_begin(&run, lru);
		assert_true(lru_isolate_page(&run, page));
		lru_run_end(&run);
		/* It is isolated: it stays so. */
		lru_lazy_free(lru, page);
		lru_run_begin(&run, lru);
		lru_putback_swapped(&run, page, active);
		lru_run_end(&run);
		naive_move(list, &stage.list[group][active], page);
	} else {
		naive_move(list, &stage.list[group][LRU_INACTIVE_FILE], page);
	}
}

static void check(void)
{
	struct lru *lru = stage.ground.frames->lru;

	for (unsigned group = 0; group < GROUPS; group++)
		for (unsigned list = 0; list < LRU_LISTS; list++)
			assert_int_equal(lru_pages(lru, &stage.group[group]->pages, (enum lru_list)list),
					 stage.list[group][list].count);
	assert_ground_good(&stage.ground, stage.pages);
}

static void agrees_with_naive_lists(void **state)
{
	uint64_t seed = test_seed(5);

	(void)state;
	for (unsigned number = 0; number < 8; number++) {
		struct policy policy = charge_policy(number);

		memset(&stage, 0, sizeof(stage));
		random_seed(&stage.random, seed + number);
		ground_open(&stage.ground, &policy, FRAMES + 1);
		stage.group[0] = stage.ground.groups->root;
		stage.group[1] = group_create(stage.group[0]);
		for (unsigned round = 0; round < ROUNDS; round++) {
			unsigned what = some(100);

			if (what < 45)
				add();
			else if (what < 65)
				release();
			else if (what < 88)
				isolate();
			else if (what < 92)
				change_kind();
			else
				isolate_one();
			if (round % 64 == 0)
				check();
		}
		assert_true(stage.isolated > ROUNDS / 4);
		for (unsigned group = 0; group < GROUPS; group++)
			for (unsigned list = 0; list < LRU_LISTS; list++)
				while (stage.list[group][list].count)
					page_put(stage.ground.frames,
						 naive_take(&stage.list[group][list], 0));
		assert_int_equal(group_destroy(stage.group[1]), 0);
		ground_close(&stage.ground);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(agrees_with_naive_lists, machine_open, machine_close),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
