/* SPDX-License-Identifier: MIT */
/*
 * What must hold of one space while nothing runs: its VMAs by themselves, its counters against them, and
 * every page table entry against the VMA that it lies in.
 */
#include <errno.h>
#include <inttypes.h>

#include "mm/object/pfn.h"
#include "mm/object/cache.h"
#include "mm/swap/swap.h"
#include "mm/system/internal.h"
#include "port/rcu.h"

struct space_check {
	struct check *check;
	struct sf_space *space;
};

static int bad_entry(struct check *check, uintptr_t address, uint64_t pte, const char *what)
{
	return message_set(check->why, -EINVAL, "address %#" PRIxPTR ": the entry %#" PRIx64 " %s", address,
			   pte, what);
}

/* An entry of frames by number is what its fault would insert now, but for what the hardware sets. */
static int check_pfn_entry(struct check *check, const struct vma *vma, uintptr_t address, uint64_t pte)
{
	const uint64_t by_hardware = PTE_ACCESSED | PTE_DIRTY;
	const struct pfn_object *object = pfn_object_of(vma->object);
	uint64_t pfn = object->first_pfn + vma->page_offset + ((address - vma->start) >> PORT_PAGE_SHIFT);
	uint64_t wanted = pte_make_pfn(pfn, vma->flags & VM_WRITE,
				       memtype_lookup(object->memtypes, pfn << PORT_PAGE_SHIFT));

	if (pte_pfn(pte) != pfn)
		return bad_entry(check, address, pte, "maps another frame than its VMA says");
	if (vma->flags & VM_EXEC)
		wanted &= ~PTE_NX;
	/* A protection that was taken away and given again comes back by faults. */
	if ((pte ^ wanted) & ~(by_hardware | PTE_WRITE | PTE_PRESENT | PTE_PROTNONE))
		return bad_entry(check, address, pte, "is not what its VMA would insert");
	return 0;
}

static int check_page_entry(struct check *check, const struct vma *vma, uintptr_t address, uint64_t pte)
{
	struct frames *frames = check->system->frames;
	uint64_t pfn = pte_pfn(pte);
	struct page *page = pfn_to_page(frames, pfn);
	const struct sf_object *object = object_cached(vma->object);
	const struct page *cached;

	if (pte & PTE_SPECIAL) {
		if (pfn != ZERO_PFN || vma->object || (pte & PTE_WRITE))
			return bad_entry(check, address, pte, "is special and not a read-only zero page");
		return 0;
	}
	if (pfn == ZERO_PFN || pfn >= frames->own || !page_refcount(page) || page_has_flag(page, PG_table) ||
	    page_has_flag(page, PG_index))
		return bad_entry(check, address, pte, "maps a frame that is not in use as a page");
	check->pages += !check->mapped[pfn];
	check->mapped[pfn]++;
	if (!object || (vma_private(vma) && page_has_flag(page, PG_anonymous))) {
		if (!page_has_flag(page, PG_anonymous) || !atomic_load(&vma->anon))
			return bad_entry(check, address, pte,
					 "maps no anonymous page, or its VMA has no anon");
		if (object && vma_page_index(vma, address) >= cache_pages(object))
			return bad_entry(check, address, pte, "maps a copy of a page that was cut off");
		if (page->index != vma_page_index(vma, address) ||
		    !anon_vma_is_below(vma_anon(vma), atomic_load(&page->anon)))
			return bad_entry(check, address, pte, "maps a page that does not lead here");
		if ((pte & PTE_WRITE) && page_mapcount(page) != 1)
			return bad_entry(check, address, pte, "lets a page be written that others map");
		if ((pte & PTE_WRITE) && page_has_flag(page, PG_swapcache) && !page_has_flag(page, PG_dirty))
			return bad_entry(check, address, pte,
					 "lets a page be written that its slot has, too");
		return 0;
	}
	port_rcu_read_lock();
	cached = page_index_find(&object->index, vma_page_index(vma, address));
	port_rcu_read_unlock();
	if (cached != page)
		return bad_entry(check, address, pte, "maps another page than its object has there");
	if ((pte & PTE_WRITE) && (vma_private(vma) || (object->file && !object->objects->dirty_by_pte &&
						       !page_has_flag(page, PG_dirty))))
		return bad_entry(check, address, pte, "lets a page be written that is private, or clean");
	return 0;
}

/* What was private memory's page, and is out. */
static int check_swap_entry(struct check *check, const struct vma *vma, uintptr_t address, uint64_t pte)
{
	const struct sf_object *object = object_cached(vma->object);

	if (!vma_private(vma) || (vma->flags & VM_PFN) || !atomic_load(&vma->anon))
		return bad_entry(check, address, pte, "names a slot, and its VMA has no anonymous memory");
	if (pte != pte_from_swap(pte_swap_entry(pte)))
		return bad_entry(check, address, pte, "names a slot, and has other bits");
	if (object && vma_page_index(vma, address) >= cache_pages(object))
		return bad_entry(check, address, pte, "names the slot of a copy that was cut off");
	swap_check_user(check->system->swap, pte_swap_entry(pte));
	return 0;
}

static int check_entry(void *argument, uintptr_t address, uint64_t pte, struct message *why)
{
	const struct space_check *space_check = argument;
	struct check *check = space_check->check;
	const struct vma *vma = vma_tree_find(&space_check->space->tree, address);

	(void)why;
	if (!vma)
		return bad_entry(check, address, pte, "lies in no VMA");
	if (pte_is_swap(pte))
		return check_swap_entry(check, vma, address, pte);
	if (!pte_maps(pte) || (pte & PTE_LOCKED))
		return bad_entry(check, address, pte, "maps nothing, or is locked");
	if ((pte & PTE_WRITE) && !(vma->flags & VM_WRITE))
		return bad_entry(check, address, pte, "can be written, and its VMA cannot");
	if (!(pte & PTE_NX) != !!(vma->flags & VM_EXEC))
		return bad_entry(check, address, pte, "can be executed and its VMA cannot, or the reverse");
	if (!(pte & PTE_PRESENT) != !(vma->flags & VM_PROTECTION))
		return bad_entry(check, address, pte, "can be touched and its VMA cannot, or the reverse");
	return vma->flags & VM_PFN ? check_pfn_entry(check, vma, address, pte)
				   : check_page_entry(check, vma, address, pte);
}

static int check_vma(struct check *check, const struct sf_space *space, const struct vma *vma)
{
	bool shared = vma->flags & VM_SHARED, anon = atomic_load(&vma->anon) != NULL;

	if (vma->start >= vma->end || (vma->start | vma->end) % PORT_PAGE_SIZE || vma->end > SPACE_END)
		return message_set(check->why, -EINVAL, "VMA [%#" PRIxPTR ", %#" PRIxPTR "): is no range",
				   vma->start, vma->end);
	if (atomic_load(&vma->detached) || atomic_load(&vma->users) != space->parts.lookup->users_idle)
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR
				   "): is in the tree and detached, or has users",
				   vma->start, vma->end);
	if ((shared && (!vma->object || anon)) || (!shared && !anon && !vma->spare_anon))
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR
				   "): is shared with no object, or has no anon_vma to come",
				   vma->start, vma->end);
	if (vma->linked != (object_cached(vma->object) != NULL) ||
	    (vma->linked && vma->object_link.space != &space->rmap))
		return message_set(check->why, -EINVAL,
				   "VMA [%#" PRIxPTR ", %#" PRIxPTR
				   "): its object does not know of it, or it has none that should",
				   vma->start, vma->end);
	check->pfn_vmas += (vma->flags & VM_PFN) != 0;
	return 0;
}

static int check_vmas(struct check *check, const struct sf_space *space)
{
	uint64_t count = 0, pages = 0, locked = 0;
	int error = vma_tree_check(&space->tree, check->why);

	for (struct vma *vma = vma_tree_next(&space->tree, 0); vma && !error;
	     vma = vma_tree_next(&space->tree, vma->end)) {
		count++;
		pages += vma_pages(vma);
		if (vma->flags & VM_LOCKED)
			locked += vma_pages(vma);
		error = check_vma(check, space, vma);
	}
	if (error)
		return error;
	if (count != space->map_count || pages != space->total_pages || locked != space->locked_pages)
		return message_set(check->why, -EINVAL,
				   "a space counts %" PRIu64 " VMAs, %" PRIu64 " pages, %" PRIu64
				   " locked, and has %" PRIu64 ", %" PRIu64 ", %" PRIu64,
				   space->map_count, space->total_pages, space->locked_pages, count, pages,
				   locked);
	return 0;
}

/* Who changes entries has said that it is over. */
static int check_translations(struct check *check, const struct translations *translations)
{
	uint32_t changers = atomic_load(&translations->changers);

	if (changers)
		return message_set(check->why, -EINVAL,
				   "a space counts %" PRIu32 " changers of translations, and none is there",
				   changers);
	if (atomic_load(&translations->write_protecting) % 2)
		return message_set(check->why, -EINVAL, "a space waits for a fork that is over to flush");
	return 0;
}

int check_space(struct check *check, struct sf_space *space)
{
	struct space_check argument = {.check = check, .space = space};
	int error = check_vmas(check, space);

	if (!error)
		error = check_translations(check, &space->table.translations);
	if (!error)
		error = table_check(&space->table, check_entry, &argument, &check->tables, check->why);
	return error;
}
