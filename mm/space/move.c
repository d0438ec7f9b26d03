/* SPDX-License-Identifier: MIT */
/*
 * mremap's move of a part of one VMA.
 *
 * As in Linux the new mapping is made first, when it may merge with the very VMA that it is made from, if
 * that has no page yet; then the source is cut out, and what remains on both sides keeps the identity that it
 * got.
 *
 * The old VMAs are detached before the entries move, so that no fault puts a page where one is about to
 * arrive or where one has just left; the tree changes last.
 */
#include <errno.h>

#include "mm/object/cache.h"
#include "mm/space/remap.h"
#include "mm/table/range.h"
#include "sync/rcu.h"

/* The number of VMAs that a move may need for a moment must be left: all may be split in three. */
#define MOVE_VMAS 3u

/* What a VMA is no longer whose pages have moved away while it stays mapped. */
#define KEPT_FLAGS_LOST ((uint32_t)VM_LOCKED)

struct move {
	struct remap *remap;
	struct vma_shape source; /* the whole VMA */
	uintptr_t start, end;    /* what moves */
	bool keep;               /* it stays mapped, empty */
	struct vma_shape shape;  /* where it goes, before it merges */
	struct vma_shape whole;  /* after */
};

/* What stays of the source at its place. */
static void add_rest(struct space_edit *edit, const struct move *move)
{
	struct vma_shape rest = move->source;

	if (!move->keep) {
		edit_add_part(edit, &rest, rest.start, move->start);
		edit_add_part(edit, &rest, move->end, rest.end);
		return;
	}
	rest.flags &= ~KEPT_FLAGS_LOST;
	/* All of its pages have left. */
	if (move->start == rest.start && move->end == rest.end)
		rest.anon = NULL;
	edit_add(edit, &rest);
}

/* The new mapping has merged with the VMA that it is made from: what leaves is cut out of the whole. */
static void describe_joined(struct space_edit *edit, const struct move *move)
{
	struct vma_shape whole = move->whole;

	edit_replace(edit, whole.start, whole.end);
	if (move->keep) {
		whole.flags &= ~KEPT_FLAGS_LOST;
		edit_add(edit, &whole);
	} else {
		edit_add_part(edit, &whole, whole.start, move->start);
		edit_add_part(edit, &whole, move->end, whole.end);
	}
}

static void describe(struct space_edit *edit, const struct move *move)
{
	const struct vma_shape *source = &move->source;

	edit_begin(edit, move->remap->space);
	if (move->whole.start <= source->start && source->end <= move->whole.end) {
		describe_joined(edit, move);
		return;
	}
	edit_replace(edit, move->whole.start, move->whole.end);
	edit_add(edit, &move->whole);
	if (move->start < move->end) {
		edit_replace(edit, source->start, source->end);
		add_rest(edit, move);
	}
}

/* Moves the entries, with the VMAs detached. */
static int move_entries(struct move *move)
{
	struct sf_space *space = move->remap->space;
	struct table *table = &space->table;
	struct charge charge = {.group = rcu_dereference_locked(&space->group)};
	struct gather gather;
	int error;

	if (move->start == move->end)
		return 0;
	tlb_gather_mmu(&gather, table);
	error = table_move(table, move->start, move->end, move->shape.start, &charge, &gather);
	if (!error && !move->keep)
		table_zap(table, move->start, move->end, &gather);
	tlb_finish_mmu(&gather);
	return error;
}

/* Who walks the object's mappings meets each entry at one place or the other. */
static int move_linked(struct move *move, struct space_edit *edit)
{
	struct sf_object *object = object_cached(move->shape.object);
	int error;

	if (!object)
		return move_entries(move);
	down_write(&object->mappings_lock);
	error = move_entries(move);
	if (!error)
		edit_link_locked(edit, object);
	up_write(&object->mappings_lock);
	return error;
}

int remap_move_vma(struct remap *remap, struct vma *vma)
{
	struct sf_space *space = remap->space;
	struct move move = {
	    .remap = remap,
	    .source = vma_shape(vma),
	    .start = remap->address,
	    .end = remap->address + remap->old_length,
	    .keep = remap->flags & SF_REMAP_DONTUNMAP,
	};
	struct space_around around;
	bool with_previous, with_next;
	struct space_edit edit;
	int error;

	if (space->map_count + MOVE_VMAS >= space->limit_maps)
		return -ENOMEM;
	move.shape = vma_shape_part(&move.source, move.start, move.source.end);
	move.shape.start = remap->new_address;
	move.shape.end = remap->new_address + remap->new_length;
	/* Private memory that has no page yet is at home wherever it goes. */
	if (!move.shape.object && !move.shape.anon)
		move.shape.page_offset = move.shape.start >> PORT_PAGE_SHIFT;
	space_look_around(space, move.shape.start, move.shape.end, &around);
	move.whole = vma_merge(&move.shape, around.has_previous ? &around.previous : NULL,
			       around.has_next ? &around.next : NULL, &with_previous, &with_next);
	describe(&edit, &move);
	error = edit_prepare(&edit);
	if (error)
		return error;
	edit_detach(&edit);
	error = move_linked(&move, &edit);
	if (error) {
		edit_cancel(&edit);
		return error;
	}
	edit_commit(&edit);
	edit_finish(&edit);
	return 0;
}
