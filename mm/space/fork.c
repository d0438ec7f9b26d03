/* SPDX-License-Identifier: MIT */
/*
 * Fork: a second space with the same mappings. Private pages stay where they are and are write protected in
 * both; what is shared is found by the child's faults in its object.
 */
#include <errno.h>

#include "mm/object/cache.h"
#include "mm/space/internal.h"
#include "mm/space/vma_link.h"
#include "mm/table/range.h"
#include "port/memory.h"
#include "sync/rcu.h"

/* Makes the child's VMAs, in order. Returns how many were made: all, or fewer without memory. */
static uint64_t make_vmas(const struct sf_space *parent, struct vma **made)
{
	uint64_t count = 0;

	for (struct vma *vma = vma_tree_next(&parent->tree, 0); vma;
	     vma = vma_tree_next(&parent->tree, vma->end)) {
		struct vma_shape shape = vma_shape(vma);
		bool inherits = shape.anon != NULL;

		/* Locks are not inherited. */
		shape.flags &= ~(uint32_t)VM_LOCKED;
		shape.anon = NULL;
		made[count] = vma_create(parent->parts.vma_cache, &shape, parent->parts.lookup->users_idle);
		if (!made[count])
			break;
		if (inherits)
			vma_take_spare_anon(made[count]);
		count++;
	}
	return count;
}

/*
 * Maps the pages of one VMA of private memory in the child too, and shows the child's VMA to the object: who
 * walks the mappings meets the entries of both, or of the parent's alone before they are copied. Memory that
 * never had a page has at most zero pages. Who looks for an anonymous page meets the child's entries once all
 * are there.
 */
static int copy_vma_pages(struct sf_space *child, struct sf_space *parent, struct vma *vma,
			  struct charge *charge, struct gather *gather)
{
	struct sf_object *object = object_cached(vma->object);
	struct vma *copy = vma_tree_find(&child->tree, vma->start);
	struct anon_vma *anon = vma_anon(vma);
	int error = 0;

	if (object)
		down_write(&object->mappings_lock);
	if (anon)
		error = table_copy(&child->table, &parent->table, vma->start, vma->end, true, charge, gather);
	if (object) {
		vma_link_object_locked(copy, child, object);
		up_write(&object->mappings_lock);
	}
	if (anon && !error) {
		anon_vma_inherit(vma_anon(copy), anon, &child->rmap);
		vma_link_anon(copy, vma_anon(copy));
	}
	return error;
}

static int copy_pages(struct sf_space *child, struct sf_space *parent)
{
	struct charge charge = {.group = rcu_dereference_locked(&child->group)};
	struct gather gather;
	int error = 0;

	tlb_gather_mmu(&gather, &parent->table);
	for (struct vma *vma = vma_tree_next(&parent->tree, 0); vma && !error;
	     vma = vma_tree_next(&parent->tree, vma->end))
		error = copy_vma_pages(child, parent, vma, &charge, &gather);
	tlb_finish_mmu(&gather);
	return error;
}

static int copy_vmas(struct sf_space *child, const struct sf_space *parent)
{
	size_t bytes = parent->map_count * sizeof(struct vma *);
	uint64_t count;
	struct vma_change change;
	struct vma **made;
	int error = -ENOMEM;

	if (!bytes)
		return 0;
	made = port_memory_alloc(bytes, PORT_NODE_FIRST_TOUCH, "struct vma *");
	if (!made)
		return error;
	count = make_vmas(parent, made);
	if (count == parent->map_count)
		error = vma_tree_prepare(&child->tree, &change, 0, SPACE_END, made, count);
	if (error) {
		while (count)
			vma_free(made[--count]);
	} else {
		vma_tree_commit(&change);
		child->map_count = parent->map_count;
		child->total_pages = child->peak_pages = parent->total_pages;
	}
	port_memory_free(made, bytes);
	return error;
}

struct sf_space *space_fork(struct sf_space *parent)
{
	struct sf_space *child;
	int error;

	/* The lock keeps the parent in its group. */
	down_write(&parent->lock);
	child = space_create(&parent->parts, rcu_dereference_locked(&parent->group));
	if (!child) {
		up_write(&parent->lock);
		return NULL;
	}
	child->limit_pages = parent->limit_pages;
	child->limit_locked = parent->limit_locked;
	child->limit_maps = parent->limit_maps;
	error = copy_vmas(child, parent);
	if (!error)
		error = copy_pages(child, parent);
	up_write(&parent->lock);
	if (error) {
		space_destroy(child);
		child = NULL;
	}
	return child;
}
