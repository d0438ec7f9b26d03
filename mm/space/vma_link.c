/* SPDX-License-Identifier: MIT */
#include "mm/space/vma_link.h"

void vma_link_object_locked(struct vma *vma, struct sf_space *space, struct sf_object *object)
{
	vma->object_link = (struct object_link){
	    .pages = {.start = vma->page_offset, .end = vma->page_offset + vma_pages(vma)},
	    .space = &space->rmap,
	    .start = vma->start,
	    .shared = !vma_private(vma),
	};
	vma->linked = true;
	object_link_add_locked(object, &vma->object_link);
}

void vma_link_anon(struct vma *vma, struct anon_vma *anon)
{
	if (!vma_displaced(vma))
		return;
	vma->anon_link = (struct anon_link){
	    .pages = {.start = vma->page_offset, .end = vma->page_offset + vma_pages(vma)},
	    .start = vma->start,
	};
	vma->anon_linked = true;
	anon_link_add(anon, &vma->anon_link);
}

void vma_link(struct vma *vma, struct sf_space *space)
{
	struct sf_object *object = object_cached(vma->object);
	struct anon_vma *anon = vma_anon(vma);

	if (object && !vma->linked) {
		down_write(&object->mappings_lock);
		vma_link_object_locked(vma, space, object);
		up_write(&object->mappings_lock);
	}
	if (anon && !vma->anon_linked)
		vma_link_anon(vma, anon);
}

void vma_unlink(struct vma *vma)
{
	if (vma->linked)
		object_link_remove(object_cached(vma->object), &vma->object_link);
	if (vma->anon_linked)
		anon_link_remove(vma_anon(vma), &vma->anon_link);
	vma->linked = vma->anon_linked = false;
}
