/* SPDX-License-Identifier: MIT */
/*
 * How pages come into an object and leave it.
 */
#include "mm/object/cache.h"

#include "mm/charge/release.h"
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
	int error = object->index.ops->insert(&object->index, index, page, found);

	if (!error)
		lru_add(object->objects->frames->lru, page, LRU_INACTIVE);
	return error;
}

/* Pages that have left the index together: they go off the LRU, and to RCU, as one. */
struct leaving {
	struct frames *frames;
	unsigned count;
	struct page *page[PAGEVEC_SIZE];
};

static void release_after_grace_period(struct port_rcu_head *head)
{
	struct page *page = container_of(head, struct page, rcu);
	struct leaving leaving = {.frames = page->frames};

	for (; page; page = page->next)
		leaving.page[leaving.count++] = page;
	frames_retired(leaving.frames, -(int64_t)(leaving.count * PORT_PAGE_SIZE));
	release_pages(leaving.frames, leaving.page, leaving.count);
}

static void retire_leaving(struct leaving *leaving)
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

/*
 * Takes a page that the caller has locked out of the index, unless it has left. Its reference is put a grace
 * period after retire_leaving(). In a read section.
 */
static bool remove_page(struct sf_object *object, struct page *page, uint64_t index, struct leaving *leaving)
{
	if (!object->index.ops->remove(&object->index, index, page))
		return false;
	leaving->page[leaving->count++] = page;
	if (leaving->count == PAGEVEC_SIZE)
		retire_leaving(leaving);
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
	struct leaving leaving = {.frames = object->objects->frames};

	port_rcu_read_lock();
	if (remove_page(object, page, index, &leaving))
		object->ops->uncount(object, 1);
	retire_leaving(&leaving);
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
	struct leaving leaving = {.frames = frames};
	uint64_t from = first, pages = 0;
	struct page *page;

	for (; (page = cache_next_get(object, &first, end)); first++) {
		/* The marking has locked it. Those that have come since stay, or their makers take them out.
		 */
		if (page_has_flag(page, PG_removed)) {
			port_rcu_read_lock();
			pages += remove_page(object, page, first, &leaving);
			port_rcu_read_unlock();
			/* Whoever waited finds the index without it. */
			page_unlock(page);
		}
		page_put(frames, page);
	}
	retire_leaving(&leaving);
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
	struct page *pages[PAGEVEC_SIZE], *page;
	uint64_t index = 0;
	unsigned count = 0;

	frames_retired(frames, -object->retired_bytes);
	port_rcu_read_lock();
	for (; (page = page_index_next(&object->index, &index, PAGE_INDEX_END)); index++) {
		object->index.ops->remove(&object->index, index, page);
		pages[count++] = page;
		if (count == PAGEVEC_SIZE) {
			release_pages(frames, pages, count);
			count = 0;
		}
	}
	release_pages(frames, pages, count);
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
