/* SPDX-License-Identifier: MIT */
#include "mm/space/vma_link.h"

void vma_link_locked(struct vma *vma, struct sf_space *space, struct sf_object *object)
{
	vma->rmap.start = vma->page_offset;
	vma->rmap.end = vma->page_offset + vma_pages(vma);
	vma->space = space;
	vma->linked = true;
	rmap_add_locked(object, &vma->rmap);
}

void vma_link(struct vma *vma, struct sf_space *space)
{
	struct sf_object *object = object_cached(vma->object);

	if (!object)
		return;
	down_write(&object->mappings_lock);
	vma_link_locked(vma, space, object);
	up_write(&object->mappings_lock);
}

void vma_unlink(struct vma *vma)
{
	if (!vma->linked)
		return;
	rmap_remove(object_cached(vma->object), &vma->rmap);
	vma->linked = false;
}
