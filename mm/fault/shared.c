/* SPDX-License-Identifier: MIT */
/*
 * Memory of an object, which every space that maps it sees change.
 */
#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/object/object.h"
#include "port/panic.h"

static int sigbus(struct fault *fault)
{
	fault->signal = FAULT_SIGBUS;
	fault->code = FAULT_BUS_ADRERR;
	return -EFAULT;
}

/* The object's page becomes the mapping's, with the reference that get_page() took. */
int do_shared_fault(struct fault *fault)
{
	const struct vma *vma = fault->vma;
	struct frames *frames = fault->space->parts.frames;
	uint64_t index = vma->page_offset + ((fault->address - vma->start) >> PORT_PAGE_SHIFT);
	bool writable = (vma->flags & VM_WRITE) != 0;
	struct page *page;
	struct pte_ref ref;
	uint64_t pte;
	int error;

	invariant(vma->flags & VM_SHARED);
	error = vma->object->ops->get_page(vma->object, index, &fault->charge, &page);
	if (error)
		return error == -EFAULT ? sigbus(fault) : error;
	error = fault_lock_pte(fault, &ref);
	if (error) {
		page_put(frames, page);
		return fault_race(error);
	}
	pte = pte_make_page(page_to_pfn(frames, page), writable, fault_executable(fault));
	if (fault->touch != TOUCH_WRITE)
		pte &= ~PTE_DIRTY;
	page_add_mapping(page);
	pte_set_unlock(&ref, pte);
	table_count(&fault->space->table, TABLE_RESIDENT, 1);
	return 0;
}

int do_shared_wp(struct fault *fault)
{
	struct pte_ref ref;
	int error = fault_lock_pte(fault, &ref);

	if (error)
		return fault_race(error);
	pte_set_unlock(&ref, ref.value | PTE_WRITE | PTE_ACCESSED | PTE_DIRTY);
	return 0;
}
