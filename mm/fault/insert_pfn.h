/* SPDX-License-Identifier: MIT */
/*
 * Installing a frame by its number.
 */
#ifndef MM_FAULT_INSERT_PFN_H
#define MM_FAULT_INSERT_PFN_H

#include <stdint.h>

#include "mm/space/vma.h"
#include "mm/table/table.h"

/*
 * Makes the page at `address` of `vma`, which has VM_PFN, map frame `pfn`, with the frame's memory type. The
 * VMA is held and in `table`'s space, and the caller is in an RCU read section. Returns
 *   0        inserted.
 *   -EFAULT  the address lies outside the VMA.
 *   -EINVAL  the address is not that of a page, or the frame is not one of the VMA's object.
 *   -ENOMEM  no frame for a page table, or no room for it in the group; see charged_page_alloc().
 *   -EAGAIN  the VMA has been taken away meanwhile.
 *   -EBUSY   the page maps a frame already.
 * Takes what memtype_lookup() takes, then the entry's lock; not both at once. Part of the fault path.
 */
int insert_pfn(struct vma *vma, struct table *table, uintptr_t address, uint64_t pfn, struct charge *charge);

#endif
