/* SPDX-License-Identifier: MIT */
/*
 * Swap: slots are free once and handed out once, a page is in the cache while anybody may find it, and what
 * was written out comes back, read by one of those who want it.
 */
#include "mm/swap/swap.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "mm/page/page_wait.h"
#include "tests/explore/fixture.h"

#define FRAMES   16u
#define CONTENTS 77u

static struct {
	struct frames *frames;
	struct swap *swap;
	struct file file;
	struct swap_entry entry;    /* of the page that a set-up made */
	unsigned users;             /* that entry's references at the end */
	unsigned given[FILE_PAGES]; /* how often each slot is in use: plain, as one CPU alone may have it */
	bool last[CHECK_CPUS_MAX];  /* whose put left a page that nothing names */
	bool removed;
	_Atomic unsigned readers; /* that are under way */
} work;

static int setup(unsigned slots, unsigned read_ahead_pages, struct message *why)
{
	const struct frames_config config = {.own_frames = FRAMES, .cache = fixture_policy().frame_cache};

	memset(&work, 0, sizeof(work));
	work.frames = frames_create(&config);
	work.swap =
	    swap_create(&(struct swap_config){.frames = work.frames, .read_ahead_pages = read_ahead_pages});
	if (!work.frames || !work.swap)
		return message_set(why, -ENOMEM, "no memory");
	file_open(&work.file, slots);
	return swap_add_area(work.swap, &(struct swap_area_config){.backing = &work.file.backing}, why);
}

static void teardown(void)
{
	for (unsigned i = 0; i < work.users; i++)
		swap_put(work.swap, work.entry);
	swap_destroy(work.swap);
	check_that(atomic_load(&work.file.released) == 1);
	check_nothing_left("frames", FRAMES - 1 - frames_free_count(work.frames));
	frames_destroy(work.frames);
}

/* Whether all slots fit, and so many pages are in the cache. */
static bool swap_is_good(uint64_t cached, struct message *why)
{
	uint64_t found;

	if (swap_check_begin(work.swap))
		return false;
	for (unsigned i = 0; i < work.users; i++)
		swap_check_user(work.swap, work.entry);
	return !swap_check_end(work.swap, &found, why) &&
	       fixture_equal("pages in the cache", found, cached, why) &&
	       !frames_check(work.frames, cached, why);
}

static uint64_t *words(const struct page *page)
{
	return page_address(work.frames, page);
}

/* --- Slots ---------------------------------------------------------------------------------------------- */

/*
 * Each CPU finds a slot, also when the other has taken the whole cluster for itself. With one slot less the
 * other one could use up its own and free them where this one has looked already: mm/swap/area.h.
 */
static int setup_slots(struct message *why)
{
	return setup(3, 1, why);
}

static void use_slot(void)
{
	struct page *page = frame_alloc(work.frames);

	check_that(page && page_try_flag(page, PG_locked));
	for (unsigned i = 0; i < 2; i++) {
		uint64_t slot;

		check_that(!swap_add_page(work.swap, page));
		slot = swap_entry_slot(page_swap_entry(page));
		check_equal(work.given[slot]++, 0);
		work.given[slot]--;
		check_that(swap_take_page(work.swap, page));
		page_put(work.frames, page);
	}
	page_unlock(page);
	page_put(work.frames, page);
}

static bool holds_slots(struct message *why)
{
	struct swap_statistics statistics;

	swap_statistics(work.swap, &statistics);
	return swap_is_good(0, why) && fixture_equal("slots in use", statistics.used, 0, why);
}

const struct check swap_slots_check = {
    .name = "swap-slots",
    .summary = "takes and gives of slots where there are few: CPUs take them from each other",
    .setup = setup_slots,
    .body = {use_slot, use_slot},
    .holds = holds_slots,
    .teardown = teardown,
};

/* --- The cache ------------------------------------------------------------------------------------------ */

/* A page that is written, in the cache, and named by `users` entries; not locked. */
static int setup_written(unsigned users, struct message *why)
{
	struct swap_writer writer;
	struct page *page;
	int error = setup(2, 2, why);

	if (error)
		return error;
	page = frame_alloc(work.frames);
	check_that(page && page_try_flag(page, PG_locked));
	memset(words(page), 0, PAGE);
	words(page)[0] = CONTENTS;
	check_that(!swap_add_page(work.swap, page));
	work.entry = page_swap_entry(page);
	for (work.users = 0; work.users < users; work.users++)
		check_that(!swap_dup(work.swap, work.entry));
	swap_writer_init(&writer, work.swap, 1);
	check_that(!swap_writer_add(&writer, page) && !swap_writer_finish(&writer));
	page_unlock(page);
	page_put(work.frames, page);
	return 0;
}

/* Takes the page of the entry out of the cache as reclaim does, if nobody else has it. */
static void reclaim(void)
{
	struct page *page = swap_find(work.swap, work.entry);

	if (!page)
		return;
	if (page_try_flag(page, PG_locked)) {
		work.removed = page_has_flag(page, PG_swapcache) && swap_remove_clean(work.swap, page);
		page_unlock(page);
		if (work.removed)
			page_put(work.frames, page);
	}
	page_put(work.frames, page);
}

static void swap_it_in(void)
{
	struct page *page;

	check_that(!swap_in(work.swap, work.entry, NULL, &page));
	check_equal(words(page)[0], CONTENTS);
	page_put(work.frames, page);
}

static int setup_find(struct message *why)
{
	return setup_written(1, why);
}

/* Either it has left and has not come back, or it is there. */
static bool holds_find(struct message *why)
{
	struct swap_statistics statistics;

	swap_statistics(work.swap, &statistics);
	return (work.removed || fixture_equal("pages read", statistics.read, 0, why)) &&
	       swap_is_good(work.removed ? statistics.read : 1, why) &&
	       fixture_equal("slots in use", statistics.used, 1, why);
}

const struct check swap_find_remove_check = {
    .name = "swap-find-remove",
    .summary = "reclaim takes a page out of the swap cache while a fault finds it, or reads it again",
    .setup = setup_find,
    .body = {reclaim, swap_it_in},
    .holds = holds_find,
    .teardown = teardown,
};

/* The last two entries go: whoever is last frees page and slot. */
static int setup_put(struct message *why)
{
	return setup_written(2, why);
}

static void put(unsigned cpu)
{
	struct page *page;

	work.last[cpu] = swap_put(work.swap, work.entry);
	page = work.last[cpu] ? swap_take_cached(work.swap, work.entry) : NULL;
	if (page)
		page_put(work.frames, page);
}

static void put_first(void)
{
	put(0);
}

/* As a fork and the end of the child: another reference in between. */
static void put_second(void)
{
	check_that(!swap_dup(work.swap, work.entry));
	check_that(!swap_put(work.swap, work.entry));
	put(1);
}

static bool holds_put(struct message *why)
{
	work.users = 0;
	return fixture_equal("last puts", (uint64_t)work.last[0] + work.last[1], 1, why) &&
	       swap_is_good(0, why);
}

const struct check swap_put_check = {
    .name = "swap-put",
    .summary = "the last entries that name a slot go, and its page with them",
    .setup = setup_put,
    .body = {put_first, put_second},
    .holds = holds_put,
    .teardown = teardown,
};

/* --- Reads ---------------------------------------------------------------------------------------------- */

static int setup_late(struct message *why)
{
	int error = setup_written(1, why);

	if (error)
		return error;
	reclaim();
	check_that(work.removed);
	work.file.late = true;
	atomic_init(&work.readers, 2);
	return 0;
}

static void read_late(void)
{
	swap_it_in();
	if (atomic_fetch_sub_explicit(&work.readers, 1, memory_order_acq_rel) == 1)
		file_no_more(&work.file);
}

static void complete(void)
{
	file_complete(&work.file);
}

static bool holds_late(struct message *why)
{
	struct swap_statistics statistics;

	swap_statistics(work.swap, &statistics);
	return fixture_equal("pages read", statistics.read, 1, why) && swap_is_good(1, why);
}

const struct check swap_in_twice_check = {
    .name = "swap-in-twice",
    .summary = "two readers of one slot, whose transfer another CPU ends",
    .setup = setup_late,
    .body = {read_late, read_late, complete},
    .holds = holds_late,
    .teardown = teardown,
};
