/* SPDX-License-Identifier: MIT */
/*
 * The type is looked up before the entry is locked. It cannot change in between: the object's pin stands from
 * before a VMA maps it until the last one is gone and its entries are cleared. An insertion that is slow
 * enough to see the pin go finds the VMA detached.
 */
#include "mm/fault/insert_pfn.h"

#include <errno.h>

#include "mm/fault/internal.h"
#include "mm/object/pfn.h"

int insert_pfn(struct vma *vma, struct table *table, uintptr_t address, uint64_t pfn, struct charge *charge)
{
	const struct pfn_object *object = pfn_object_of(vma->object);
	uint64_t first = object->first_pfn + object->index;
	struct pte_ref ref;
	uint64_t pte;
	int error;

	if (address < vma->start || address >= vma->end)
		return -EFAULT;
	if (address % PORT_PAGE_SIZE || pfn < first || pfn - first >= object->pages)
		return -EINVAL;
	pte = pte_make_pfn(pfn, (vma->flags & VM_WRITE) != 0,
			   memtype_lookup(object->memtypes, pfn << PORT_PAGE_SHIFT));
	if (vma->flags & VM_EXEC)
		pte &= ~PTE_NX;
	error = pte_lock(table, address, charge, &ref);
	if (error)
		return error;
	/* The lock comes before the look: docs/LOCKING.md, "A fault and an unmap". */
	if (!atomic_load_explicit(&vma->detached, memory_order_seq_cst) && !ref.value) {
		pte_set_unlock(&ref, pte);
		return 0;
	}
	error = ref.value ? -EBUSY : -EAGAIN;
	pte_unlock(&ref);
	return error;
}

int do_pfn_fault(struct fault *fault)
{
	struct vma *vma = fault->vma;
	uint64_t index = vma->page_offset + ((fault->address - vma->start) >> PORT_PAGE_SHIFT);

	return fault_race(insert_pfn(vma, &fault->space->table, fault->address,
				     pfn_object_of(vma->object)->first_pfn + index, &fault->charge));
}
