/* SPDX-License-Identifier: MIT */
/*
 * The fault of shared memory with the page allocated before the lock is taken, as first posted in 2010: when
 * it has to start over, it allocates another one, and forgets the one that it has if the page is missing
 * again. Here it starts over when the page has come meanwhile and is locked by who takes it away again.
 *
 *   CPU 0   touches a page that is missing
 *   CPU 1   touches it too, and punches it out
 */
#include <errno.h>
#include <stddef.h>

#include "mm/object/shmem.h"
#include "mm/space/space.h"
#include "port/rcu.h"
#include "port/spin.h"
#include "tests/explore/fixture.h"

/* Under the lock: uses *prealloc up, or finds who has come before. */
static int insert_locked(struct shmem *shmem, uint64_t index, struct page **prealloc, struct page **page)
{
	int error;

	*page = page_index_find(&shmem->cache.index, index);
	if (*page)
		return -EEXIST;
	error = cache_add_page(&shmem->cache, *prealloc, index, page);
	if (error)
		return error;
	*page = *prealloc;
	*prealloc = NULL;
	shmem->alloced++;
	return 0;
}

static int add_page(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
		    bool *fresh)
{
	struct page *prealloc = NULL;
	int error;

	do {
		*page = page_index_find(&shmem->cache.index, index);
		if (*page) {
			error = 0;
			break;
		}
		prealloc = cache_alloc_page(&shmem->cache, index, charge); /* planted: forgotten */
		check_that(prealloc);
		spin_lock(&shmem->lock);
		error = insert_locked(shmem, index, &prealloc, page);
		spin_unlock(&shmem->lock);
		*fresh = !error;
		if (error == -EEXIST)
			port_spin_until_u32(&(*page)->flags, PG_locked, 0);
	} while (error == -EEXIST);
	if (prealloc)
		page_put(shmem->cache.objects->frames, prealloc);
	return error;
}

static struct shmem_ops prealloc_ops;

static void make(void)
{
	fixture_shmem(2, 0);
	fixture_map_object(AT, 2, RW, SF_MAP_SHARED);
	fixture_store(fixture.space, AT, 1);
	fixture_fork();
	check_that(!sf_touch(fixture.child, AT, SF_READ, NULL));
}

static int setup(struct message *why)
{
	int error = fixture_open(true, why);

	if (!error)
		make();
	return error;
}

/* Objects that are made from now on are filled so. */
static void plug_in(void)
{
	fixture_shmem(1, 0);
	prealloc_ops = shmem_lock_before_ops;
	prealloc_ops.add_page = add_page;
	fixture.object->objects->shmem_ops = &prealloc_ops;
	sf_object_close(fixture.object);
	port_rcu_barrier();
}

static int setup_planted(struct message *why)
{
	int error = fixture_open(true, why);

	if (error)
		return error;
	plug_in();
	make();
	return 0;
}

static void touch(void)
{
	check_that(!sf_touch(fixture.space, AT + PAGE, SF_WRITE, NULL));
}

static void touch_and_punch(void)
{
	check_that(!sf_touch(fixture.child, AT + PAGE, SF_WRITE, NULL));
	check_that(!sf_object_punch(fixture.object, PAGE, PAGE));
}

/* The object's pages are in its index: who prepared another one has forgotten it. */
static bool no_page_is_lost(struct message *why)
{
	const struct frames *frames = fixture.space->parts.frames;
	bool good = true;

	port_rcu_barrier();
	port_rcu_read_lock();
	for (uint64_t pfn = 1; good && pfn < OWN_FRAMES; pfn++) {
		const struct page *page = pfn_to_page(frames, pfn);

		if (page_refcount(page) && page_has_flag(page, PG_cached) &&
		    page_index_find(&fixture.object->index, page->index) != page)
			good = fixture_equal("pages that the object has not, in their flags",
					     page_has_flag(page, PG_cached), 0, why);
	}
	port_rcu_read_unlock();
	return good;
}

static bool holds(struct message *why)
{
	return no_page_is_lost(why) && fixture_good(why);
}

const struct check planted_prealloc_check = {
    .name = "planted-prealloc",
    .summary = "a page allocated early and forgotten when the fault starts over; right: prealloc",
    .setup = setup_planted,
    .body = {touch, touch_and_punch},
    .holds = holds,
    .teardown = fixture_close,
    .planted_kind = "condition",
    .planted_mark = "planted: forgotten",
};

/* The same with the fault as it is. */
const struct check prealloc_check = {
    .name = "prealloc",
    .summary = "a fault that allocates its page early against another fault and a hole",
    .setup = setup,
    .body = {touch, touch_and_punch},
    .holds = holds,
    .teardown = fixture_close,
    .variants = variants_object,
};
