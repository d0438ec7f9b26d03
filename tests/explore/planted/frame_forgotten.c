/* SPDX-License-Identifier: MIT */
/*
 * Two CPUs each take a frame for one place, as two faults on one page do; who finds the place taken forgets
 * to give the frame back. Nothing that maps or counts pages knows of it.
 */
#include <errno.h>
#include <stddef.h>

#include "mm/page/frames.h"
#include "mm/space/space.h"
#include "tests/explore/fixture.h"

static struct page *_Atomic place;

static int setup(struct message *why)
{
	atomic_init(&place, NULL);
	return fixture_open(false, why);
}

static void fill(void)
{
	struct page *none = NULL, *page;

	if (atomic_load(&place))
		return;
	page = frame_alloc(fixture.space->parts.frames);
	check_that(page);
	atomic_compare_exchange_strong(&place, &none, page); /* planted: forgotten */
}

static bool holds(struct message *why)
{
	return fixture_equal("references of the page", page_refcount(atomic_load(&place)), 1, why);
}

static void teardown(void)
{
	page_put(fixture.space->parts.frames, atomic_load(&place));
	fixture_close();
}

const struct check planted_frame_forgotten_check = {
    .name = "planted-frame-forgotten",
    .summary = "a frame that who comes second forgets; right: untouched-write-write",
    .setup = setup,
    .body = {fill, fill},
    .holds = holds,
    .teardown = teardown,
    .planted_kind = "leak",
    .planted_mark = "planted: forgotten",
};
