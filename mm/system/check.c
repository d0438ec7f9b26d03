/* SPDX-License-Identifier: MIT */
/*
 * What must hold of a whole system while no entry point runs. Each space counts what it maps; then the counts
 * must be those that the pages, objects and identities have themselves.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/cache.h"
#include "mm/swap/swap.h"
#include "mm/system/internal.h"
#include "port/memory.h"

/* Calls `visit` for every VMA of every space. */
static int for_each_vma(struct check *check, int (*visit)(struct check *, struct vma *))
{
	int error = 0;

	for (struct sf_space *space = system_next_space(check->system, NULL); space;
	     space = system_next_space(check->system, space))
		for (struct vma *vma = vma_tree_next(&space->tree, 0); vma && !error;
		     vma = vma_tree_next(&space->tree, vma->end))
			error = visit(check, vma);
	return error;
}

static int forget(struct check *check, struct vma *vma)
{
	struct anon_vma *anon = atomic_load(&vma->anon);

	(void)check;
	if (vma->object)
		vma->object->checked = 0;
	if (anon)
		anon->checked = 0;
	return 0;
}

static int count_references(struct check *check, struct vma *vma)
{
	struct anon_vma *anon = atomic_load(&vma->anon);

	(void)check;
	if (anon)
		anon->checked++;
	if (vma->object)
		vma->object->checked++;
	return 0;
}

static int compare_references(struct check *check, struct vma *vma)
{
	struct anon_vma *anon = atomic_load(&vma->anon);

	if (anon && anon->checked != atomic_load(&anon->vmas))
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR "): its anon_vma counts %" PRIu32
				   " VMAs and has %" PRIu32,
				   vma->start, vma->end, atomic_load(&anon->vmas), anon->checked);
	if (vma->anon_linked != (anon && vma_displaced(vma)))
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR
				   "): its anon_vma does not know of it, or need not",
				   vma->start, vma->end);
	if (anon && anon_vma_check(anon, check->why))
		return -EINVAL;
	if (vma->object && !object_cached(vma->object) &&
	    vma->object->checked != refcount_read(&vma->object->references))
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR "): its object counts %" PRIu32
				   " references and has %" PRIu64,
				   vma->start, vma->end, refcount_read(&vma->object->references),
				   vma->object->checked);
	return 0;
}

int check_references(struct check *check)
{
	int error;

	for_each_vma(check, forget);
	for (struct sf_object *object = check->system->parts.objects->list; object; object = object->next)
		object->object.checked = atomic_load(&object->handles);
	for_each_vma(check, count_references);
	error = for_each_vma(check, compare_references);
	return error ? error : check_objects(check);
}

/* Checks a frame that was handed out once, if it is a page now: mapped, held by an object, in the swap cache,
 * or kept by nothing but a pin. */
static int check_page(void *argument, struct page *page)
{
	struct check *check = argument;
	uint64_t pfn = page_to_pfn(check->system->frames, page);
	uint32_t mapped = check->mapped[pfn] & ~CHECK_HELD, held = check->mapped[pfn] & CHECK_HELD ? 1 : 0;
	bool anonymous = page_has_flag(page, PG_anonymous), cached = page_has_flag(page, PG_swapcache);

	if (!check->mapped[pfn]) {
		if (!page_refcount(page) || page_has_flag(page, PG_table) || page_has_flag(page, PG_index))
			return 0;
		check->pages++;
	}
	if (page_mapcount(page) != mapped)
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": counts %" PRIu32 " mappings and has %" PRIu32, pfn,
				   page_mapcount(page), mapped);
	if (page_refcount(page) < mapped + held + cached)
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": counts %" PRIu32 " references, fewer than %" PRIu32
				   " mappings, %" PRIu32 " objects and %d swap slots",
				   pfn, page_refcount(page), mapped, held, cached);
	if (page_has_flag(page, PG_locked) || page_has_flag(page, PG_writeback))
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": is locked or being written, and nobody is at work",
				   pfn);
	if (!page->group)
		return message_set(check->why, -EINVAL, "frame %" PRIu64 ": is in use, and charged to nobody",
				   pfn);
	if (anonymous && page_has_flag(page, PG_cached))
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": is anonymous memory, and an object's", pfn);
	/* How many are on the lists, groups_check() compares; objects' pages, check_objects(). */
	if (anonymous && !page_has_flag(page, PG_lru))
		return message_set(check->why, -EINVAL,
				   "frame %" PRIu64 ": is anonymous memory, and on no LRU list", pfn);
	check->pinned += page_refcount(page) - mapped - held - cached;
	check->cached += cached;
	check->anonymous += anonymous;
	if (page_has_flag(page, PG_cached))
		*(page_has_flag(page, PG_file) ? &check->file : &check->shared) += 1;
	return 0;
}

/* Where a page is mapped that was never handed out, frames_check() finds fewer frames in use than there are
 * pages here. */
int check_pages(struct check *check)
{
	struct frames *frames = check->system->frames;
	int error = frames_for_each(frames, check_page, check);

	if (error)
		return error;
	if (check->pinned != frames_counted(frames, FRAMES_PINNED))
		return message_set(check->why, -EINVAL, "%" PRIu64 " pins are counted and %" PRIu64 " there",
				   frames_counted(frames, FRAMES_PINNED), check->pinned);
	if (check->cached != check->slots_cached)
		return message_set(check->why, -EINVAL,
				   "%" PRIu64 " pages are in the swap cache, which has %" PRIu64,
				   check->cached, check->slots_cached);
	if (check->anonymous != frames_counted(frames, FRAMES_ANONYMOUS))
		return message_set(check->why, -EINVAL,
				   "%" PRIu64 " frames of anonymous memory are counted and %" PRIu64 " there",
				   frames_counted(frames, FRAMES_ANONYMOUS), check->anonymous);
	if (check->shared != frames_counted(frames, FRAMES_SHARED) ||
	    check->file != frames_counted(frames, FRAMES_FILE))
		return message_set(check->why, -EINVAL,
				   "%" PRIu64 " and %" PRIu64
				   " frames of shared memory and of files are counted, and %" PRIu64
				   " and %" PRIu64 " there",
				   frames_counted(frames, FRAMES_SHARED), frames_counted(frames, FRAMES_FILE),
				   check->shared, check->file);
	if (check->tables != frames_counted(frames, FRAMES_TABLE))
		return message_set(check->why, -EINVAL,
				   "%" PRIu64 " frames of page tables are counted and %" PRIu64 " there",
				   frames_counted(frames, FRAMES_TABLE), check->tables);
	return 0;
}

/* Who has pages and slots; and the slots. */
static int check_users(struct check *check)
{
	struct swap *swap = check->system->swap;
	struct message why;
	int error = swap_check_begin(swap), end;

	if (error)
		return message_set(check->why, error, "no memory for a check of swap");
	for (struct sf_space *space = system_next_space(check->system, NULL); space && !error;
	     space = system_next_space(check->system, space))
		error = check_space(check, space);
	if (!error)
		error = check_references(check);
	/* Must be called; what it says counts only if all users are known. */
	end = swap_check_end(swap, &check->slots_cached, error ? &why : check->why);
	return error ? error : end;
}

int system_check(struct sf_system *system, struct message *why)
{
	struct check check = {.system = system, .why = why};
	size_t bytes = system->frames->own * sizeof(*check.mapped);
	int error = 0;

	/* What waits for a grace period would be neither free nor used. */
	system_barrier();
	check.mapped = port_memory_alloc(bytes, PORT_NODE_FIRST_TOUCH, "uint32_t");
	if (!check.mapped)
		return message_set(why, -ENOMEM, "no memory for a check of %" PRIu64 " frames",
				   system->frames->own);
	error = check_users(&check);
	if (!error)
		error = check_pages(&check);
	if (!error)
		error = frames_check(system->frames, check.tables + check.pages + check.index_frames, why);
	if (!error)
		error = groups_check(system->groups, why);
	if (!error)
		error = memtypes_check(system->memtypes, check.pfn_vmas, why);
	port_memory_free(check.mapped, bytes);
	return error;
}
