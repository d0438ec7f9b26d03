/* SPDX-License-Identifier: MIT */
/*
 * What must hold of the objects that hold pages while nothing runs: the index against the pages, counts
 * against the index, the reverse map against the VMAs, nodes against their frames.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/cache.h"
#include "mm/swap/swap.h"
#include "mm/system/internal.h"
#include "port/rcu.h"

static int bad_page(struct check *check, const struct page *page, const char *what)
{
	return message_set(check->why, -EINVAL, "frame %" PRIu64 ": is an object's page %" PRIu64 ", and %s",
			   page_to_pfn(check->system->frames, page), page->index, what);
}

/* At rest a page is there, with its contents unless a file could not be read, and nobody is at work on it. */
static int check_cache_page(struct check *check, const struct sf_object *object, const struct page *page,
			    uint64_t index)
{
	const uint32_t at_work = PG_locked | PG_removed | PG_writeback;
	uint32_t flags = atomic_load(&page->flags);

	if (page->object != object || page->index != index)
		return bad_page(check, page, "says that it is another's");
	if (!page_refcount(page) || !(flags & PG_cached) || (flags & at_work) ||
	    (!(flags & PG_uptodate) && (!object->file || page_mapcount(page) || (flags & PG_dirty))))
		return bad_page(check, page, "is not there, or somebody is at work on it");
	if (!(flags & PG_file) != !object->file || (!object->file && (flags & PG_dirty)))
		return bad_page(check, page, "is of another kind, or dirty");
	if (!(flags & PG_lru))
		return bad_page(check, page, "is on no LRU list");
	if (index >= cache_pages(object))
		return bad_page(check, page, "lies beyond the size");
	return 0;
}

/* The index, and what the object counts: pages that are in swap are pages. */
static int check_index(struct check *check, const struct sf_object *object)
{
	uint64_t index = 0, pages = 0;
	uintptr_t entry;
	int error = 0;

	for (; !error && (entry = page_index_next_entry(&object->index, &index, PAGE_INDEX_END)); index++) {
		struct page *page = index_entry_page(entry);

		pages += index_entry_counts(entry);
		if (page) {
			uint64_t pfn = page_to_pfn(check->system->frames, page);

			check->pages += !check->mapped[pfn];
			check->mapped[pfn] |= CHECK_HELD;
			error = check_cache_page(check, object, page, index);
		} else if (index >= cache_pages(object) || index_entry_is_swap(entry) == object->file) {
			error = message_set(check->why, -EINVAL,
					    "an object's page %" PRIu64
					    " is out, and lies beyond the size or is of the other kind",
					    index);
		} else if (index_entry_is_swap(entry)) {
			swap_check_user(check->system->swap, index_entry_swap(entry));
		}
	}
	if (!error)
		error = page_index_check(&object->index, pages, check->why);
	return error ? error : object->ops->check(object, pages, check->why);
}

/* Each VMA of the tree says that it is linked; so there must be as many, and none of another shape. */
static int check_mappings(struct check *check, const struct sf_object *object)
{
	const struct interval_tree *tree = &object->mappings;
	uint64_t count = 0;

	for (const struct interval *interval = interval_first(tree, 0, UINT64_MAX); interval;
	     interval = interval_next(tree, interval, 0, UINT64_MAX)) {
		const struct vma *vma = container_of(interval, const struct vma, object_link.pages);

		count++;
		if (!vma->linked || object_cached(vma->object) != object ||
		    interval->start != vma->page_offset ||
		    interval->end != vma->page_offset + vma_pages(vma) || atomic_load(&vma->detached))
			return message_set(check->why, -EINVAL,
					   "an object's mapping of pages [%" PRIu64 ", %" PRIu64
					   ") is not what its VMA says",
					   interval->start, interval->end);
	}
	if (!interval_tree_valid(tree) || count != object->mapping_count ||
	    count + atomic_load(&object->handles) != object->object.checked)
		return message_set(check->why, -EINVAL,
				   "an object knows %" PRIu64 " mappings, counts %" PRIu64 ", and %" PRIu64
				   " VMAs and handles have it",
				   count, object->mapping_count, object->object.checked);
	if (object->object.checked != refcount_read(&object->object.references))
		return message_set(check->why, -EINVAL,
				   "an object counts %" PRIu32 " references and has %" PRIu64,
				   refcount_read(&object->object.references), object->object.checked);
	return 0;
}

/* What the frames of nodes say of themselves. */
struct node_frames {
	uint64_t count, nodes_out;
};

static int count_nodes(void *argument, struct page *page)
{
	struct node_frames *seen = argument;

	if (page_refcount(page) && page_has_flag(page, PG_index)) {
		seen->count++;
		seen->nodes_out += atomic_load(&page->nodes.out);
	}
	return 0;
}

/* Frames hold nodes that indices have, and those that were given back and wait for the others. */
static int check_nodes(struct check *check, uint64_t nodes)
{
	struct frames *frames = check->system->frames;
	struct node_frames seen = {0};

	frames_for_each(frames, count_nodes, &seen);
	check->index_frames = seen.count;
	if (check->index_frames != frames_counted(frames, FRAMES_INDEX) || seen.nodes_out != nodes)
		return message_set(check->why, -EINVAL,
				   "%" PRIu64 " frames of %" PRIu64 " index nodes are counted, %" PRIu64
				   " of %" PRIu64 " are there",
				   frames_counted(frames, FRAMES_INDEX), seen.nodes_out, check->index_frames,
				   nodes);
	return 0;
}

int check_objects(struct check *check)
{
	struct objects *objects = check->system->parts.objects;
	uint64_t nodes = 0;
	int error = 0;

	port_rcu_read_lock();
	for (const struct sf_object *object = objects->list; object && !error; object = object->next) {
		error = check_index(check, object);
		if (!error)
			error = check_mappings(check, object);
		nodes += page_index_nodes(&object->index);
	}
	port_rcu_read_unlock();
	if (error)
		return error;
	index_nodes_drain(objects->nodes);
	return check_nodes(check, nodes);
}
