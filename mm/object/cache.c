/* SPDX-License-Identifier: MIT */
/*
 * How pages come into an object and leave it.
 */
#include "mm/object/cache.h"

#include "mm/charge/charge.h"
#include "mm/page/page_wait.h"
#include "port/page.h"
#include "sync/rcu.h"

void cache_init(struct sf_object *object, struct objects *objects, uint64_t bytes, bool counted)
{
	refcount_init(&object->object.references, 1);
	object->objects = objects;
	atomic_init(&object->bytes, bytes);
	atomic_init(&object->handles, 0);
	page_index_init(&object->index, objects->index_ops, objects->nodes, counted);
	rwsem_init(&object->mappings_lock, &rwsem_xadd_ops, LOCK_RANK_MAPPINGS, objects->lock_nodes);
	rwsem_init(&object->lock, &rwsem_xadd_ops, LOCK_RANK_OBJECT, objects->lock_nodes);
}

void cache_publish(struct sf_object *object)
{
	struct objects *objects = object->objects;

	spin_lock(&objects->list_lock);
	object->next = objects->list;
	object->link = &objects->list;
	if (object->next)
		object->next->link = &object->next;
	objects->list = object;
	spin_unlock(&objects->list_lock);
}

static void unpublish(struct sf_object *object)
{
	struct objects *objects = object->objects;

	spin_lock(&objects->list_lock);
	*object->link = object->next;
	if (object->next)
		object->next->link = object->link;
	spin_unlock(&objects->list_lock);
}

void cache_prepare_page(struct sf_object *object, struct page *page, uint64_t index)
{
	page->cache.object = object;
	page->cache.index = index;
	atomic_store_explicit(&page->cache.events, 0, memory_order_relaxed);
	atomic_fetch_or_explicit(&page->flags, PG_cached | PG_locked | (object->file ? PG_file : 0),
				 memory_order_relaxed);
	frames_count(object->objects->frames, object->file ? FRAMES_FILE : FRAMES_SHARED, 1);
}

/* For a page that is in no index, and that nobody finds any more. */
static void put_page(struct frames *frames, struct page *page)
{
	uncharge_cache_page(page);
	page_put(frames, page);
}

void cache_free_page(struct sf_object *object, struct page *page)
{
	put_page(object->objects->frames, page);
}

static void put_after_grace_period(struct port_rcu_head *head)
{
	struct page *page = container_of(head, struct page, cache.rcu);
	struct frames *frames = page->cache.frames;

	frames_retired(frames, -(int64_t)PORT_PAGE_SIZE);
	put_page(frames, page);
}

bool cache_remove_page(struct sf_object *object, struct page *page, uint64_t index)
{
	struct frames *frames = object->objects->frames;

	if (!object->index.ops->remove(&object->index, index, page))
		return false;
	page->cache.frames = frames;
	frames_retired(frames, PORT_PAGE_SIZE);
	port_rcu_call(&page->cache.rcu, put_after_grace_period);
	return true;
}

bool cache_finish_page(struct sf_object *object, struct page *page, uint64_t index, bool beyond)
{
	if (beyond || likely(index < cache_pages(object))) {
		/* Release: the contents come before the flag. */
		page_end_flag(page, PG_locked, PG_uptodate);
		return true;
	}
	cache_drop_page(object, page, index);
	return false;
}

void cache_drop_page(struct sf_object *object, struct page *page, uint64_t index)
{
	port_rcu_read_lock();
	if (cache_remove_page(object, page, index))
		object->ops->uncount(object, 1);
	page_unlock(page);
	port_rcu_read_unlock();
}

struct page *cache_find_get(struct sf_object *object, uint64_t index)
{
	struct page *page;

	port_rcu_read_lock();
	page = page_index_find(&object->index, index);
	if (page)
		page_get(page);
	port_rcu_read_unlock();
	return page;
}

struct page *cache_next_get(struct sf_object *object, uint64_t *index, uint64_t end)
{
	struct page *page;

	port_rcu_read_lock();
	page = page_index_next(&object->index, index, end);
	if (page)
		page_get(page);
	port_rcu_read_unlock();
	return page;
}

bool cache_has_page(struct object *base, uint64_t index)
{
	struct sf_object *object = container_of(base, struct sf_object, object);
	struct page *page = page_index_find(&object->index, index);

	return page && page_has_flag(page, PG_uptodate);
}

bool cache_lock_inside(struct sf_object *object, struct page *page, uint64_t index)
{
	bool inside;

	page_lock(page);
	port_rcu_read_lock();
	inside = page_index_find(&object->index, index) == page;
	port_rcu_read_unlock();
	if (!inside)
		page_unlock(page);
	return inside;
}

/* Who makes a page or reads it has it locked until it is there, or gone again. */
void cache_mark_range(struct sf_object *object, uint64_t first, uint64_t end)
{
	struct frames *frames = object->objects->frames;
	struct page *page;

	for (; (page = cache_next_get(object, &first, end)); first++) {
		if (cache_lock_inside(object, page, first)) {
			page_wait_flag(page, PG_writeback);
			/* Before the caller looks at entries: docs/LOCKING.md, "A fault and a truncate". */
			atomic_fetch_or_explicit(&page->flags, PG_removed, memory_order_seq_cst);
		}
		page_put(frames, page);
	}
	atomic_thread_fence(memory_order_seq_cst);
}

/* Gives nodes beyond the size back, once nobody inserts there who has not seen it. */
static void prune(struct sf_object *object, uint64_t from)
{
	bool prunable;

	port_rcu_read_lock();
	prunable = page_index_prunable(&object->index, from);
	port_rcu_read_unlock();
	if (!prunable)
		return;
	lock_rank_may_sleep();
	port_rcu_synchronize();
	page_index_prune(&object->index, from);
}

void cache_take_out_range(struct sf_object *object, uint64_t first, uint64_t end)
{
	struct frames *frames = object->objects->frames;
	uint64_t from = first, pages = 0;
	struct page *page;

	for (; (page = cache_next_get(object, &first, end)); first++) {
		/* The marking has locked it. Those that have come since stay, or their makers take them out.
		 */
		if (page_has_flag(page, PG_removed)) {
			port_rcu_read_lock();
			pages += cache_remove_page(object, page, first);
			port_rcu_read_unlock();
			/* Whoever waited finds the index without it. */
			page_unlock(page);
		}
		page_put(frames, page);
	}
	if (pages)
		object->ops->uncount(object, pages);
	if (from >= cache_pages(object))
		prune(object, from);
}

/* All that faults may still have found goes after a grace period. */
static void free_after_grace_period(struct port_rcu_head *head)
{
	struct sf_object *object = container_of(head, struct sf_object, rcu);
	struct frames *frames = object->objects->frames;
	uint64_t index = 0;
	struct page *page;

	frames_retired(frames, -object->retired_bytes);
	port_rcu_read_lock();
	for (; (page = page_index_next(&object->index, &index, PAGE_INDEX_END)); index++) {
		object->index.ops->remove(&object->index, index, page);
		put_page(frames, page);
	}
	port_rcu_read_unlock();
	page_index_destroy(&object->index);
	object->ops->release(object);
}

void cache_destroy(struct object *base)
{
	struct sf_object *object = container_of(base, struct sf_object, object);
	uint64_t index = 0, pages = 0;

	unpublish(object);
	port_rcu_read_lock();
	while (page_index_next(&object->index, &index, PAGE_INDEX_END)) {
		pages++;
		index++;
	}
	port_rcu_read_unlock();
	object->retired_bytes = (int64_t)(pages << PORT_PAGE_SHIFT);
	frames_retired(object->objects->frames, object->retired_bytes);
	port_rcu_call(&object->rcu, free_after_grace_period);
}
