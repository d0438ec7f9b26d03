/* SPDX-License-Identifier: MIT */
/*
 * Objects that hold pages: shared memory and files. What both have: a size, the index of their pages, the
 * list of the VMAs that map them; and how a page comes, stays and leaves.
 *
 * A page in the index has one reference of the index's, which is put a grace period after it has left: so in
 * a read section whoever finds a page may take a reference, with no look back. It goes through
 *
 *   in the index, PG_locked   its maker clears or reads it, then looks at the size: if the object
 *                             does not reach so far any more the page goes, and nobody has used it
 *   PG_uptodate               may be mapped, read, written
 *   and PG_locked             somebody is about to take it away
 *   and PG_removed            it may be mapped still, but no more
 *   not in the index          when its users' references are put, its frame is free
 *
 * A page leaves the index only by who has set its PG_locked: the above, its maker that finds the size
 * changed, or reclaim, which takes PG_removed back when the page has to stay (mm/object/evict.h). A file's
 * page that cannot be read stays, neither PG_locked nor PG_uptodate. Whoever finds PG_removed not set and has
 * the page locked may use page->object to the end of the read section that it is in, and page->index while it
 * is locked.
 *
 * In the place of a page that reclaim has taken stands a tag (mm/object/index_entry.h). Of shared memory it
 * names the swap slot, and is changed back to a page by who reads that, with the page locked. The page of a
 * slot with a tag is never in the index, nor is a page of the index in the swap cache but while reclaim has
 * it locked.
 *
 * Whoever takes pages away (resize, punch) holds `lock` for writing, marks them PG_removed and takes tags
 * out, unmaps the range from all spaces, then takes the pages out of the index. A fault that found a page
 * before looks at PG_removed after it has locked the entry: docs/LOCKING.md, "A fault and a truncate".
 * Reclaim does the same to single pages with `lock` held for reading.
 *
 * Exclusion matrix, for one object:
 *
 *                    find  insert  mark..take out  reclaim  resize, punch, write
 *   find              yes    yes        yes          yes         yes
 *   insert            yes    yes        yes          yes      yes: looks at the size again afterwards
 *   mark..take out    yes    yes    no: the lock  no: the lock  no: the lock
 *   reclaim           yes    yes    no: the lock  no: PG_locked no: the lock
 */
#ifndef MM_OBJECT_CACHE_H
#define MM_OBJECT_CACHE_H

#include "base/compiler.h"
#include "mm/charge/charge.h"
#include "mm/memtype/interval.h"
#include "mm/object/object.h"
#include "mm/object/objects.h"
#include "mm/object/page_index.h"
#include "sync/rwsem.h"

struct sf_object {
	struct object object;
	/* Read only after the object is made. */
	CACHE_LINE_ALIGNED struct objects *objects;
	const struct cache_ops *ops;
	bool file; /* its pages are PG_file: struct file_object */
	/*
	 * The size. Written with `lock` held for writing, sequentially consistent; read by every fault, again
	 * after it has put a page into the index and before that becomes PG_uptodate.
	 */
	_Atomic uint64_t bytes;

	/* Lines of its own. */
	struct page_index index;

	/* The VMAs that map it, by the pages [start, end) that each maps: mm/rmap/object_link.h. By
	 * mappings_lock.
	 */
	struct rwsem mappings_lock;
	CACHE_LINE_ALIGNED struct interval_tree mappings;
	uint64_t mapping_count;

	/*
	 * Held for writing by whoever changes the size or takes pages away, and by who writes by offset; for
	 * reading by who writes back, and by reclaim, which only tries.
	 */
	struct rwsem lock;

	/* The system's list, by objects->list_lock; and how many references are handles of programs. */
	struct sf_object *next;
	struct sf_object **link;
	uint64_t number;          /* later objects have higher ones; read only */
	_Atomic uint32_t handles; /* atomic */

	/* Once the last reference is gone: faults that wait for a page still, see mm/object/waiter.h. Atomic.
	 */
	_Atomic uint32_t waiters;
	struct port_rcu_head rcu; /* used once the last reference is gone */
	int64_t retired_bytes;    /* of its pages, from then on */
};

/* What differs between the kinds, beside struct object_ops. */
struct cache_ops {
	/*
	 * Finds the page at `index`, for who reads by offset; a file reads it. Sleeps. Returns 0 with a
	 * reference, or with NULL for zeroes that take no memory; -EFAULT beyond the size; or as
	 * write_page().
	 */
	int (*read_page)(struct sf_object *object, uint64_t index, struct page **page);
	/*
	 * Finds or makes the page at `index`, also beyond the size, for who writes `bytes` of it from `from`
	 * on by offset; a file reads it unless all of it is overwritten. Sleeps; `lock` is held for writing.
	 * Returns 0 with a reference; the page is not PG_uptodate if nobody may see it before it is written:
	 * then the caller has its PG_locked, and ends that with PG_uptodate. Or returns -ENOSPC, -ENOMEM, or
	 * what the backing failed with.
	 */
	int (*write_page)(struct sf_object *object, uint64_t index, size_t from, size_t bytes,
			  struct page **page);
	/* `pages` have left the index. */
	void (*uncount)(struct sf_object *object, uint64_t pages);
	/* Frees the structure itself, whose pages are gone. */
	void (*release)(struct sf_object *object);
	/* The limit in bytes, 0 for none. */
	uint64_t (*limit)(const struct sf_object *object);
	/* Compares what it counts with `pages`, while nothing runs. Returns 0, or -EINVAL with a message. */
	int (*check)(const struct sf_object *object, uint64_t pages, struct message *why);
};

/* The object of a VMA that holds pages, NULL for frames by number and for anonymous memory. */
static inline struct sf_object *object_cached(struct object *object)
{
	return object && object->ops->get_page ? container_of(object, struct sf_object, object) : NULL;
}

/* How many pages the size makes. */
static inline uint64_t cache_pages(const struct sf_object *object)
{
	uint64_t bytes = atomic_load_explicit(&object->bytes, memory_order_seq_cst);

	return (bytes >> PORT_PAGE_SHIFT) + (bytes % PORT_PAGE_SIZE != 0);
}

/*
 * Makes the common part of a new object, with one reference and no page. The kind has set what differs.
 * `counted`: see page_index_init(). Needs no memory.
 */
void cache_init(struct sf_object *object, struct objects *objects, uint64_t bytes, bool counted);

/* Shows the object to the system's list, when nothing can fail any more. */
void cache_publish(struct sf_object *object);

/* struct object_ops: destroy() and has_page() of both kinds. */
void cache_destroy(struct object *object);
bool cache_has_page(struct object *object, uint64_t index);

/*
 * Returns a new page of the object for `index`, PG_locked, charged, which only the caller knows; or NULL as
 * charged_page_alloc(). It can be given back by page_put().
 */
struct page *cache_alloc_page(struct sf_object *object, uint64_t index, struct charge *charge);

/*
 * Puts it into the index and then onto the LRU lists, as one that comes back if the index knows that. Returns
 * 0; -EEXIST with the page that is there in *found; -EINPROGRESS when that is in swap; -ENOMEM.
 */
int cache_add_page(struct sf_object *object, struct page *page, uint64_t index, struct page **found);

/*
 * Looks for the page at `index` before another is made. Returns 0 when there is none, or as cache_add_page().
 * In a read section.
 */
static inline int cache_look(const struct sf_object *object, uint64_t index, struct page **found)
{
	uintptr_t entry = page_index_load(&object->index, index);

	*found = index_entry_page(entry);
	return *found ? -EEXIST : index_entry_is_swap(entry) ? -EINPROGRESS : 0;
}

/* Whom the calls by offset charge: an object is in no group, and who calls need have no space. */
static inline struct charge cache_offset_charge(const struct sf_object *object)
{
	return (struct charge){.group = object->objects->frames->groups->root};
}

/*
 * The end of making a page, which has its contents now: makes it PG_uptodate and unlocks it; unless the
 * object does not reach so far any more (and not `beyond`), then takes it out again and returns false. In the
 * read section of the insertion.
 */
bool cache_finish_page(struct sf_object *object, struct page *page, uint64_t index, bool beyond);

/* Takes a page that the caller has locked and that never was PG_uptodate out of the index, and unlocks it.
 * Its reference is put after a grace period. */
void cache_drop_page(struct sf_object *object, struct page *page, uint64_t index);

/* Returns the page at `index` with a reference, or NULL. Takes a read section of its own. */
struct page *cache_find_get(struct sf_object *object, uint64_t index);

/* The same for the first one in [*index, end), and moves *index up to it. */
struct page *cache_next_get(struct sf_object *object, uint64_t *index, uint64_t end);

/* Locks a page that was found a moment ago. Returns false, with nothing locked, if it has left since. Sleeps.
 */
bool cache_lock_inside(struct sf_object *object, struct page *page, uint64_t index);

/* Pages that have left the index together: they go off the LRU lists, and to RCU, as one. */
struct cache_leaving {
	struct frames *frames;
	unsigned count;
	struct page *page[PAGEVEC_SIZE];
};

/*
 * Changes the entry of a page that the caller has locked to `to`, 0 or a tag, unless the page has left.
 * Returns whether it did: then the index's reference is put a grace period after cache_retire_leaving(),
 * which is called at the latest when the batch is full. In a read section.
 */
bool cache_remove_page(struct sf_object *object, struct page *page, uint64_t index, uintptr_t to,
		       struct cache_leaving *leaving);
void cache_retire_leaving(struct cache_leaving *leaving);

/*
 * Says that a file's page is newer than the backing: PG_dirty, for write-back to find. Of shared memory,
 * which has no backing, nothing. The caller has the lock of an entry that maps the page, or the page locked,
 * or the object's lock, and knows that it is in the index. Sequentially consistent. Part of the fault path.
 */
void object_set_dirty(struct page *page);

/*
 * Take pages away, in three steps, with `lock` held for writing: locks and marks those of [first, end),
 * waiting for who makes, reads or writes them, and takes out those that are in swap; the caller unmaps the
 * range from all spaces; takes the marked ones out of the index and unlocks them. The last one also gives
 * nodes of the index back that lie beyond the size, if the range does.
 */
void cache_mark_range(struct sf_object *object, uint64_t first, uint64_t end);
void cache_take_out_range(struct sf_object *object, uint64_t first, uint64_t end);

#endif
