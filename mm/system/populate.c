/* SPDX-License-Identifier: MIT */
/*
 * Faulting ranges in. Each page is a fault of its own, with nothing held from one to the next: the VMAs may
 * change in between.
 */
#include <errno.h>

#include "mm/system/internal.h"
#include "port/page.h"

/* A VMA as it was a moment ago. */
struct glimpse {
	uintptr_t start, end;
	uint32_t flags;
};

/* Finds the first VMA that ends after `address`; returns whether there is one. */
static bool look(struct sf_space *space, uintptr_t address, struct glimpse *glimpse)
{
	const struct vma *vma;

	port_rcu_read_lock();
	vma = vma_tree_next(&space->tree, address);
	if (vma)
		*glimpse = (struct glimpse){vma->start, vma->end, vma->flags};
	port_rcu_read_unlock();
	return vma != NULL;
}

static int fault_in(struct sf_space *space, uintptr_t start, uintptr_t end, enum touch touch)
{
	int error = 0;

	for (; start < end && !error; start += PORT_PAGE_SIZE) {
		struct fault fault;

		error = faultin_page(&fault, space, start, touch);
		system_count_fault(space->parts.system, fault.events);
	}
	return error;
}

int populate(struct sf_space *space, uintptr_t start, uintptr_t end, enum populate_kind kind)
{
	struct glimpse vma;
	int error = 0;

	while (start < end && look(space, start, &vma) && vma.start < end && !error) {
		uintptr_t stop = vma.end < end ? vma.end : end;
		bool skip = (vma.flags & VM_PFN) || (kind == POPULATE_LOCKED && !(vma.flags & VM_LOCKED));

		if (start < vma.start)
			start = vma.start;
		if (!skip)
			error = fault_in(space, start, stop,
					 (vma.flags & (VM_WRITE | VM_SHARED)) == VM_WRITE ? TOUCH_WRITE
											  : TOUCH_READ);
		if (kind != POPULATE_LOCK)
			error = 0;
		start = stop;
	}
	return error;
}

int populate_advised(struct sf_space *space, uintptr_t start, uintptr_t end, bool write)
{
	struct glimpse vma;
	int error = 0;

	while (start < end && !error) {
		uintptr_t stop;

		if (!look(space, start, &vma) || start < vma.start)
			return -ENOMEM;
		if ((vma.flags & VM_PFN) || !(vma.flags & (write ? VM_WRITE : VM_READ)))
			return -EINVAL;
		stop = vma.end < end ? vma.end : end;
		error = fault_in(space, start, stop, write ? TOUCH_WRITE : TOUCH_READ);
		start = stop;
	}
	return error;
}
