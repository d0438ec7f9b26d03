/* SPDX-License-Identifier: MIT */
/*
 * Inside of mm/space/: one change of a space's VMAs. It is described, prepared, and then carried out by steps
 * that cannot fail, in the order that the change needs:
 *
 *   edit_commit()  the tree has the new VMAs in place of the old
 *   edit_detach()  no fault works on behalf of an old VMA any more without seeing that
 *   edit_finish()  the old VMAs are let go, also by the objects
 *
 * An object must know of every entry that it may have to find, so a VMA is linked before it has one, and as
 * long: edit_commit() links what is not linked yet. What moves entries holds the object's mappings_lock and
 * links there.
 *
 * What changes page table entries comes after the detaching. A change that takes memory away commits first,
 * so that what stays mapped can be found all the time. One that puts something else in its place detaches
 * first and commits last: faults that find the old VMA in between wait for the space's lock, and nothing that
 * a fault of the new VMA installed can be cleared by mistake.
 *
 * The space's lock is held for writing from the description to the finish.
 */
#ifndef MM_SPACE_EDIT_H
#define MM_SPACE_EDIT_H

#include "mm/space/space.h"
#include "mm/space/vma_cache.h"

/* A move makes the most: two pieces around what leaves and three around where it goes. */
#define EDIT_VMAS_MAX 8

/* A range whose VMAs are to be replaced, and the shapes of the VMAs that replace them, in order. */
struct edit_range {
	uintptr_t start, end;
	unsigned first, count; /* of edit->shape */
};

struct space_edit {
	struct sf_space *space;
	struct vma_change change;
	struct edit_range range[2];
	unsigned ranges;
	struct vma_shape shape[EDIT_VMAS_MAX];
	struct vma *vma[EDIT_VMAS_MAX]; /* made by edit_prepare() */
	unsigned count;
	struct vma *old; /* linked by next */
	bool detached;
};

void edit_begin(struct space_edit *edit, struct sf_space *space);

/*
 * Says that the VMAs of [start, end), none of which crosses start or end, are replaced by the shapes that are
 * added from now on. At most two ranges, which do not overlap.
 */
void edit_replace(struct space_edit *edit, uintptr_t start, uintptr_t end);

/* Adds a VMA of that shape; or one like the part [start, end) of it, unless that is empty. */
void edit_add(struct space_edit *edit, const struct vma_shape *shape);
void edit_add_part(struct space_edit *edit, const struct vma_shape *shape, uintptr_t start, uintptr_t end);

/* Makes everything that the change needs. Returns 0, or -ENOMEM with nothing changed and the edit gone. */
int edit_prepare(struct space_edit *edit);

/* The steps above; edit_detach() may come before or after edit_commit(). */
void edit_link_locked(struct space_edit *edit, struct sf_object *object);
void edit_commit(struct space_edit *edit);
void edit_detach(struct space_edit *edit);
void edit_finish(struct space_edit *edit);

/* Instead of edit_link_locked() and edit_commit(): everything is as before, also after edit_detach(). */
void edit_cancel(struct space_edit *edit);

/* Prepare, commit, detach, finish: for changes that need nothing of the page table. */
int edit_apply(struct space_edit *edit);

/* The part [start, end) of `shape`. */
struct vma_shape vma_shape_part(const struct vma_shape *shape, uintptr_t start, uintptr_t end);

#endif
