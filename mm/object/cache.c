/* SPDX-License-Identifier: MIT */
/*
 * How pages come into an object and leave it.
 */
#include "mm/object/cache.h"

#include <errno.h>

#include "mm/charge/release.h"
#include "mm/charge/workingset.h"
#include "mm/object/waiter.h"
#include "mm/page/page_wait.h"
#include "mm/swap/swap.h"
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
	object->number = ++objects->created;
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

struct page *cache_alloc_page(struct sf_object *object, uint64_t index, struct charge *charge)
{
	struct frames *frames = object->objects->frames;
	struct page *page = charged_page_alloc(frames, charge);

	if (!page)
		return NULL;
	page->object = object;
	page->index = index;
	atomic_fetch_or_explicit(&page->flags, PG_cached | PG_locked | (object->file ? PG_file : 0),
				 memory_order_relaxed);
	frames_count(frames, object->file ? FRAMES_FILE : FRAMES_SHARED, 1);
	return page;
}

/* It is locked, so nobody takes it away before it is on a list. */
int cache_add_page(struct sf_object *object, struct page *page, uint64_t index, struct page **found)
{
	uintptr_t entry;
	int error = object->index.ops->insert(&object->index, index, page, &entry);

	if (!error)
		lru_add(object->objects->frames->lru, page,
			index_entry_is_shadow(entry) ? workingset_refault(page, index_entry_shadow(entry))
						     : LRU_INACTIVE);
	if (error != -EEXIST)
		return error;
	*found = index_entry_page(entry);
	return *found ? -EEXIST : -EINPROGRESS;
}

static void release_after_grace_period(struct port_rcu_head *head)
{
	struct page *page = container_of(head, struct page, rcu);
	struct cache_leaving leaving = {.frames = page->frames};

	for (; page; page = page->next)
		leaving.page[leaving.count++] = page;
	frames_retired(leaving.frames, -(int64_t)(leaving.count * PORT_PAGE_SIZE));
	release_pages(leaving.frames, leaving.page, leaving.count);
}

void cache_retire_leaving(struct cache_leaving *leaving)
{
	struct page *next = NULL;
	struct lru_run run;

	if (!leaving->count)
		return;
	lru_run_begin(&run, leaving->frames->lru);
	for (unsigned i = 0; i < leaving->count; i++)
		if (page_has_flag(leaving->page[i], PG_lru)) {
			lru_del(&run, leaving->page[i]);
			page_clear_flag(leaving->page[i], PG_lru);
		}
	lru_run_end(&run);
	for (unsigned i = leaving->count; i-- > 0;) {
		leaving->page[i]->next = next;
		next = leaving->page[i];
	}
	next->frames = leaving->frames;
	frames_retired(leaving->frames, (int64_t)(leaving->count * PORT_PAGE_SIZE));
	port_rcu_call(&next->rcu, release_after_grace_period);
	leaving->count = 0;
}

bool cache_remove_page(struct sf_object *object, struct page *page, uint64_t index, uintptr_t to,
		       struct cache_leaving *leaving)
{
	if (!object->index.ops->replace(&object->index, index, index_entry_of_page(page), to))
		return false;
	leaving->page[leaving->count++] = page;
	if (leaving->count == PAGEVEC_SIZE)
		cache_retire_leaving(leaving);
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
	struct cache_leaving leaving = {.frames = object->objects->frames};

	/* For reclaim, which may have it isolated. */
	page_set_flag(page, PG_removed);
	port_rcu_read_lock();
	if (cache_remove_page(object, page, index, 0, &leaving))
		object->ops->uncount(object, 1);
	cache_retire_leaving(&leaving);
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
	uintptr_t entry = page_index_load(&object->index, index);

	if (index_entry_is_swap(entry))
		return swap_is_cached(object->objects->frames->swap, index_entry_swap(entry));
	return index_entry_page(entry) && page_has_flag(index_entry_page(entry), PG_uptodate);
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

/* What is in place of a page goes. Returns false when it has changed meanwhile: somebody has swapped it in.
 */
static bool drop_tag(struct sf_object *object, uint64_t index, uintptr_t tag)
{
	struct frames *frames = object->objects->frames;
	struct page *page;

	if (!object->index.ops->replace(&object->index, index, tag, 0))
		return false;
	if (!index_entry_is_swap(tag))
		return true;
	page = swap_put_and_take(frames->swap, index_entry_swap(tag));
	if (page)
		page_put(frames, page);
	return true;
}

/* Takes tags of [*index, end) out, up to the first page. Returns that with a reference, or NULL. */
static struct page *next_behind_tags(struct sf_object *object, uint64_t *index, uint64_t end,
				     uint64_t *dropped)
{
	struct page *page;
	uintptr_t entry;

	port_rcu_read_lock();
	while ((entry = page_index_next_entry(&object->index, index, end)) & INDEX_TAG)
		if (drop_tag(object, *index, entry)) {
			*dropped += index_entry_counts(entry);
			(*index)++;
		}
	page = index_entry_page(entry);
	if (page)
		page_get(page);
	port_rcu_read_unlock();
	return page;
}

/*
 * Who makes a page or reads it has it locked until it is there, or gone again. A tag goes at once: nobody can
 * map what it stands for without changing it to a page, and none comes while the lock is held.
 */
void cache_mark_range(struct sf_object *object, uint64_t first, uint64_t end)
{
	struct frames *frames = object->objects->frames;
	uint64_t dropped = 0;
	struct page *page;

	while ((page = next_behind_tags(object, &first, end, &dropped))) {
		if (cache_lock_inside(object, page, first)) {
			page_wait_flag(page, PG_writeback);
			/* Before the caller looks at entries: docs/LOCKING.md, "A fault and a truncate". */
			atomic_fetch_or_explicit(&page->flags, PG_removed, memory_order_seq_cst);
		}
		page_put(frames, page);
		first++;
	}
	if (dropped)
		object->ops->uncount(object, dropped);
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
	struct cache_leaving leaving = {.frames = frames};
	uint64_t from = first, pages = 0;
	struct page *page;

	for (; (page = cache_next_get(object, &first, end)); first++) {
		/* The marking has locked it. Those that have come since stay, or their makers take them out.
		 */
		if (page_has_flag(page, PG_removed)) {
			port_rcu_read_lock();
			pages += cache_remove_page(object, page, first, 0, &leaving);
			port_rcu_read_unlock();
			/* Whoever waited finds the index without it. */
			page_unlock(page);
		}
		page_put(frames, page);
	}
	cache_retire_leaving(&leaving);
	if (pages)
		object->ops->uncount(object, pages);
	if (from >= cache_pages(object))
		prune(object, from);
}

static void release_after_another(struct port_rcu_head *head)
{
	struct sf_object *object = container_of(head, struct sf_object, rcu);

	object->ops->release(object);
}

/*
 * All that faults may still have found goes after a grace period. Reclaim can have found a page that came
 * after cache_destroy() had marked all others, and look at its object: that one stays for another grace
 * period.
 */
static void free_after_grace_period(struct port_rcu_head *head)
{
	struct sf_object *object = container_of(head, struct sf_object, rcu);
	struct frames *frames = object->objects->frames;
	struct page *pages[PAGEVEC_SIZE];
	uint64_t index = 0;
	unsigned count = 0;
	uintptr_t entry;
	bool late = false;

	frames_retired(frames, -object->retired_bytes);
	port_rcu_read_lock();
	for (; (entry = page_index_next_entry(&object->index, &index, PAGE_INDEX_END)); index++) {
		struct page *page = index_entry_page(entry);

		if (!page) {
			drop_tag(object, index, entry);
			continue;
		}
		late |=
		    !(atomic_fetch_or_explicit(&page->flags, PG_removed, memory_order_acq_rel) & PG_removed);
		object->index.ops->replace(&object->index, index, entry, 0);
		pages[count++] = page;
		if (count == PAGEVEC_SIZE) {
			release_pages(frames, pages, count);
			count = 0;
		}
	}
	release_pages(frames, pages, count);
	port_rcu_read_unlock();
	page_index_destroy(&object->index);
	if (late)
		port_rcu_call(&object->rcu, release_after_another);
	else
		object->ops->release(object);
}

void cache_destroy(struct object *base)
{
	struct sf_object *object = container_of(base, struct sf_object, object);
	uint64_t index = 0, pages = 0;
	struct page *page;

	if (object_wait_hand_over(object))
		return;
	unpublish(object);
	port_rcu_read_lock();
	for (; (page = page_index_next(&object->index, &index, PAGE_INDEX_END)); index++) {
		page_set_flag(page, PG_removed);
		pages++;
	}
	port_rcu_read_unlock();
	object->retired_bytes = (int64_t)(pages << PORT_PAGE_SHIFT);
	frames_retired(object->objects->frames, object->retired_bytes);
	port_rcu_call(&object->rcu, free_after_grace_period);
}
