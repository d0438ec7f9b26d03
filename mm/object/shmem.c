/* SPDX-License-Identifier: MIT */
/*
 * What all choices have in common.
 *
 * A new page is put into the index before it is cleared, so that of many CPUs that want it one clears it; the
 * others wait for that, spinning, since a fault of shared memory does not sleep for it.
 */
#include "mm/object/shmem.h"

#include <errno.h>

#include "mm/page/page_wait.h"
#include "port/memory.h"
#include "port/page.h"
#include "port/spin.h"
#include "sync/rcu.h"

static struct shmem *shmem_of_base(struct object *object)
{
	return shmem_of(container_of(object, struct sf_object, object));
}

/* What is to be done about a page that is missing. */
enum missing {
	LEAVE, /* *page becomes NULL */
	MAKE,
	MAKE_BEYOND /* of the size as well: by who holds the object's lock and is about to make it larger */
};

/* Makes the page at `index`, or finds it. */
static int make_page(struct shmem *shmem, uint64_t index, enum missing missing, struct charge *charge,
		     struct page **page)
{
	struct frames *frames = shmem->cache.objects->frames;
	bool fresh = false;
	int error = shmem->cache.objects->shmem_ops->add_page(shmem, index, charge, page, &fresh);

	if (error || !fresh)
		return error;
	port_page_clear(page_address(frames, *page), frames->structure_only);
	return cache_finish_page(&shmem->cache, *page, index, missing == MAKE_BEYOND) ? 0 : -EFAULT;
}

/* As get_page(), but -ENOSPC at the limit. */
static int get(struct shmem *shmem, uint64_t index, enum missing missing, struct charge *charge,
	       struct page **page)
{
	int error;

	if (missing != MAKE_BEYOND && index >= cache_pages(&shmem->cache))
		return -EFAULT;
	error = cache_look(&shmem->cache, index, page);
	if (error == -EINPROGRESS)
		return error;
	if (!*page && missing == LEAVE)
		/* It has been cut off since, or there is none. */
		return index < cache_pages(&shmem->cache) ? 0 : -EFAULT;
	error = *page ? 0 : make_page(shmem, index, missing, charge, page);
	if (error)
		return error;
	if (unlikely(!page_is_uptodate(*page)))
		port_spin_until_u32(&(*page)->flags, PG_locked, 0);
	/* Its maker has taken it out again; or it is being taken away. */
	if (unlikely(!page_is_uptodate(*page) || page_has_flag(*page, PG_removed)))
		return -EINPROGRESS;
	page_get(*page);
	return 0;
}

static int get_page(struct object *object, uint64_t index, struct charge *charge, struct page **page)
{
	int error = get(shmem_of_base(object), index, MAKE, charge, page);

	return error == -ENOSPC ? -EFAULT : error;
}

/* The page is in swap, or is being taken away. */
static int wait_page(struct object *base, uint64_t index, struct charge *charge)
{
	struct sf_object *object = container_of(base, struct sf_object, object);
	struct page *page;
	uintptr_t entry;

	port_rcu_read_lock();
	entry = page_index_load(&object->index, index);
	page = index_entry_page(entry);
	if (page)
		page_get(page);
	port_rcu_read_unlock();
	if (index_entry_is_swap(entry))
		return shmem_swap_in(object, index, entry, charge);
	if (page) {
		if (page_has_flag(page, PG_removed))
			page_wait_flag(page, PG_locked);
		page_put(object->objects->frames, page);
	}
	return 0;
}

/* For the calls by offset. */
static int get_or_wait(struct sf_object *object, uint64_t index, enum missing missing, struct page **page)
{
	struct charge charge = cache_offset_charge(object);
	int error;

	do {
		port_rcu_read_lock();
		error = get(shmem_of(object), index, missing, &charge, page);
		port_rcu_read_unlock();
		if (error != -EINPROGRESS)
			break;
		error = wait_page(&object->object, index, &charge);
	} while (!error);
	if (!error && *page)
		page_mark_accessed(*page);
	return error;
}

/* The lock is held: nothing is taken away but by a fault that came too late and takes its own page out. */
static int write_page(struct sf_object *object, uint64_t index, size_t from, size_t bytes, struct page **page)
{
	(void)from;
	(void)bytes;
	return get_or_wait(object, index, MAKE_BEYOND, page);
}

static int read_page(struct sf_object *object, uint64_t index, struct page **page)
{
	return get_or_wait(object, index, LEAVE, page);
}

static void uncount(struct sf_object *object, uint64_t pages)
{
	object->objects->shmem_ops->uncount(shmem_of(object), pages);
}

static void release(struct sf_object *object)
{
	struct shmem *shmem = shmem_of(object);

	object->objects->shmem_ops->destroy(shmem);
	port_memory_free(shmem, sizeof(*shmem));
}

static uint64_t limit(const struct sf_object *object)
{
	const struct shmem *shmem = container_of(object, const struct shmem, cache);

	return shmem->limit == UINT64_MAX ? 0 : shmem->limit << PORT_PAGE_SHIFT;
}

static int check(const struct sf_object *object, uint64_t pages, struct message *why)
{
	return object->objects->shmem_ops->check(container_of(object, const struct shmem, cache), pages, why);
}

static const struct object_ops shmem_object_ops = {
    .get_page = get_page,
    .wait_page = wait_page,
    .has_page = cache_has_page,
    .destroy = cache_destroy,
};

static const struct cache_ops shmem_cache_ops = {
    .read_page = read_page,
    .write_page = write_page,
    .uncount = uncount,
    .release = release,
    .limit = limit,
    .check = check,
};

int shmem_create(struct objects *objects, uint64_t bytes, uint64_t limit_bytes, struct sf_object **object)
{
	struct shmem *shmem = port_memory_alloc(sizeof(*shmem), PORT_NODE_FIRST_TOUCH, "struct shmem");
	int error;

	if (!shmem)
		return -ENOMEM;
	shmem->cache.object.ops = &shmem_object_ops;
	shmem->cache.ops = &shmem_cache_ops;
	cache_init(&shmem->cache, objects, bytes, objects->shmem_ops->counts_index);
	shmem->limit = limit_bytes ? (limit_bytes - 1) / PORT_PAGE_SIZE + 1 : UINT64_MAX;
	error = objects->shmem_ops->create(shmem);
	if (error) {
		port_memory_free(shmem, sizeof(*shmem));
		return error;
	}
	cache_publish(&shmem->cache);
	*object = &shmem->cache;
	return 0;
}
