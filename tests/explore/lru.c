/* SPDX-License-Identifier: MIT */
/*
 * Pages that are isolated from the LRU lists, against who releases them, takes them off for good, or moves
 * the lists: a page is on a list exactly if it should be.
 */
#include "mm/page/lru.h"

#include <errno.h>
#include <string.h>

#include "mm/charge/charge.h"
#include "mm/charge/group_walk.h"
#include "mm/charge/stock.h"
#include "port/rcu.h"
#include "tests/explore/fixture.h"

#define FRAMES 32u
#define PAGES  3u

static struct {
	struct frames *frames;
	struct groups *groups;
	struct sf_group *group; /* NULL when it has been destroyed */
	struct page *page[PAGES];
	bool put, off; /* the first page: its reference was put; it was taken off for good */
} work;

static int setup(struct message *why)
{
	const struct policy policy = fixture_policy();
	const struct frames_config config = {
	    .own_frames = FRAMES, .cache = policy.frame_cache, .lru_add = policy.lru_add};
	struct charge charge;

	memset(&work, 0, sizeof(work));
	work.frames = frames_create(&config);
	work.groups = groups_create(work.frames, &policy);
	if (!work.frames || !work.groups)
		return message_set(why, -ENOMEM, "no memory");
	work.group = group_create(work.groups->root);
	charge = (struct charge){.group = work.group};
	for (unsigned i = 0; i < PAGES; i++) {
		work.page[i] = charged_page_alloc(work.frames, &charge);
		check_that(work.page[i]);
		lru_add(work.frames->lru, work.page[i], LRU_INACTIVE);
	}
	lru_add_drain(work.frames->lru);
	drain_all_stock(work.group);
	return 0;
}

static void teardown(void)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (i || !work.put)
			page_put(work.frames, work.page[i]);
	if (work.group)
		check_that(!group_destroy(work.group));
	port_rcu_barrier();
	port_rcu_barrier();
	check_nothing_left("frames", FRAMES - 1 - frames_free_count(work.frames));
	groups_destroy(work.groups);
	frames_destroy(work.frames);
}

/* Whether the lists hold what they should: all pages but one that is free, or was taken off. */
static bool holds(struct message *why)
{
	uint64_t free = work.put ? 1 : 0;

	if (groups_check(work.groups, why) || frames_check(work.frames, PAGES - free, why))
		return false;
	return true;
}

static void put_back(struct page **pages, unsigned count)
{
	struct lru_run run;

	lru_run_begin(&run, work.frames->lru);
	for (unsigned i = 0; i < count; i++)
		lru_putback(&run, pages[i], i % 2 == 0);
	lru_run_end(&run);
	for (unsigned i = 0; i < count; i++)
		page_put(work.frames, pages[i]);
}

/* As a round of reclaim that takes nothing. */
static void isolate(void)
{
	struct sf_group *root = work.groups->root;
	uint64_t number = GROUP_WALK_START;
	struct sf_group *group;

	while ((group = group_walk_next(root, &number))) {
		for (unsigned place = 0; place < work.frames->lru->places; place++) {
			struct page *pages[PAGES];
			unsigned count = lru_isolate(&group->pages, place, LRU_INACTIVE, pages, PAGES);

			put_back(pages, count);
		}
		group_walk_end(group);
	}
}

static void isolate_one(void)
{
	struct page *page = work.page[0];
	struct lru_run run;
	bool isolated;

	lru_run_begin(&run, work.frames->lru);
	isolated = lru_isolate_page(&run, page);
	lru_run_end(&run);
	if (!isolated)
		return;
	page_get(page);
	put_back(&page, 1);
}

static void release(void)
{
	work.put = true;
	page_put(work.frames, work.page[0]);
}

/* As who takes a page out of its object: the links are used for something else from then on. */
static void take_off(void)
{
	struct page *page = work.page[0];

	lru_del_page(work.frames->lru, page);
	page_clear_flag(page, PG_lru);
	memset(&page->rcu, 0, sizeof(page->rcu));
	work.off = true;
}

static void destroy(void)
{
	check_that(!group_destroy(work.group));
	work.group = NULL;
}

const struct check lru_isolate_put_check = {
    .name = "lru-isolate-put",
    .summary = "a page is isolated and put back while its last reference is put",
    .setup = setup,
    .body = {isolate, release},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check lru_isolate_del_check = {
    .name = "lru-isolate-del",
    .summary = "a page is isolated and put back while it is taken off for good",
    .setup = setup,
    .body = {isolate, take_off},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check lru_isolate_reparent_check = {
    .name = "lru-isolate-reparent",
    .summary = "pages are isolated and put back while their group ends",
    .setup = setup,
    .body = {isolate, destroy},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};

const struct check lru_isolate_isolate_check = {
    .name = "lru-isolate-isolate",
    .summary = "two CPUs isolate the same pages, one of them just one",
    .setup = setup,
    .body = {isolate, isolate_one},
    .holds = holds,
    .teardown = teardown,
    .variants = variants_group,
};
