/* SPDX-License-Identifier: MIT */
/*
 * Memory of an object. Shared mappings map the object's page itself, which every space that maps it sees
 * change. Private ones map it for reading; a write gets a copy, which is anonymous memory from then on.
 *
 * The page may leave its object at any time. Whoever takes it away marks it, then empties the entries; the
 * fault locks the entry, then looks at the mark: docs/LOCKING.md, "A fault and a truncate".
 */
#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/object/waiter.h"
#include "port/page.h"

int fault_sigbus(struct fault *fault)
{
	fault->signal = FAULT_SIGBUS;
	fault->code = FAULT_BUS_ADRERR;
	return -EFAULT;
}

/* Locks the entry for a page of the object, which must not be on its way out. As fault_lock_pte(). */
static int lock_pte_for(struct fault *fault, const struct page *page, struct pte_ref *ref)
{
	int error = fault_lock_pte(fault, ref);

	if (error || !(atomic_load_explicit(&page->flags, memory_order_seq_cst) & PG_removed))
		return error;
	pte_unlock(ref);
	return -EBUSY;
}

/* With dirty_tracking=pte the entry says what is dirty. */
static bool tells_dirty(const struct fault *fault, const struct page *page)
{
	return page_has_flag(page, PG_file) &&
	       fault->space->parts.policy->dirty_tracking == POLICY_DIRTY_TRACKING_FAULT;
}

/*
 * Maps the page, whose reference is the mapping's then. A file's page is writable only while it is dirty, by
 * the policy `dirty_tracking`; a private mapping's never is.
 */
static int map_page(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	bool write = fault->touch == TOUCH_WRITE, shared = !vma_private(fault->vma);
	bool writable = shared && (fault->vma->flags & VM_WRITE) && (write || !tells_dirty(fault, page));
	struct pte_ref ref;
	uint64_t pte;
	int error = lock_pte_for(fault, page, &ref);

	if (error) {
		page_put(frames, page);
		return fault_race(error);
	}
	pte = pte_make_page(page_to_pfn(frames, page), writable, fault_executable(fault));
	if (!write)
		pte &= ~PTE_DIRTY;
	else if (tells_dirty(fault, page))
		/* Gives the right and says so in one step as the lock's holders see it: a write-back sees
		 * both. */
		object_set_dirty(page);
	page_add_mapping(page);
	pte_set_unlock(&ref, pte);
	table_count(&fault->space->table, TABLE_RESIDENT, 1);
	return 0;
}

/* Maps a copy of the page, whose reference is the caller's and is put here. */
static int map_copy(struct fault *fault, struct page *page)
{
	struct frames *frames = fault->space->parts.frames;
	struct page *copy = alloc_anonymous_page(fault);
	struct pte_ref ref;
	int error = -ENOMEM;

	if (copy) {
		port_page_copy(page_address(frames, copy), page_address(frames, page),
			       frames->structure_only);
		error = lock_pte_for(fault, page, &ref);
		if (error)
			free_new_page(fault, copy);
	}
	if (!error) {
		install_anonymous_page(fault, &ref, copy);
		table_count(&fault->space->table, TABLE_RESIDENT, 1);
		fault->events |= FAULT_COPY;
	}
	page_put(frames, page);
	return fault_race(error);
}

/*
 * The object can be gone with the VMA, which then is found no more: mm/object/waiter.h. The announcement ends
 * in either case with nothing held.
 */
static int wait_later(struct fault *fault, uint64_t index)
{
	const struct vma *vma = fault->vma;

	object_wait_begin(fault->space->parts.objects, container_of(vma->object, struct sf_object, object));
	fault->waits = true;
	if (!atomic_load_explicit(&vma->detached, memory_order_seq_cst))
		fault->waiting = vma->object;
	fault->waiting_index = index;
	return -EINPROGRESS;
}

int do_object_fault(struct fault *fault)
{
	const struct vma *vma = fault->vma;
	uint64_t index = vma_page_index(vma, fault->address);
	struct page *page;
	int error = vma->object->ops->get_page(vma->object, index, &fault->charge, &page);

	if (error == -EINPROGRESS)
		return wait_later(fault, index);
	if (error)
		return error == -EFAULT ? fault_sigbus(fault) : error;
	return fault->touch == TOUCH_WRITE && vma_private(vma) ? map_copy(fault, page)
							       : map_page(fault, page);
}

int do_shared_wp(struct fault *fault)
{
	struct pte_ref ref;
	int error = fault_lock_pte(fault, &ref);

	if (error)
		return fault_race(error);
	/* A frame by number can be one that has no struct page. */
	if (!(ref.value & PTE_SPECIAL)) {
		struct page *page = pfn_to_page(fault->space->parts.frames, pte_pfn(ref.value));

		if (tells_dirty(fault, page))
			object_set_dirty(page);
	}
	pte_set_unlock(&ref, ref.value | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY);
	return 0;
}
