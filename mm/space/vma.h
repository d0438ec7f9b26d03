/* SPDX-License-Identifier: MIT */
/*
 * A VMA: one range of a space that is mapped in one way.
 *
 * A VMA never changes. Whatever changes a mapping (unmap, protect, split, merge, grow) makes new VMAs, puts
 * them into the tree in one step in place of the old ones, and *detaches* the old: from then on no fault may
 * install anything on their behalf. So a fault that found a VMA without any lock needs to look at one flag,
 * under the lock of the PTE that it is about to install, and starts again when it is set. docs/LOCKING.md has
 * the argument for each choice of `vma_lookup`.
 *
 * The one exception is `anon`, which goes once from NULL to a value, with the space's lock held for reading
 * or writing.
 */
#ifndef MM_SPACE_VMA_H
#define MM_SPACE_VMA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/rmap/anon.h"
#include "mm/rmap/object_link.h"
#include "port/rcu.h"

enum vma_flag {
	VM_READ = 1u << 0, /* the protection, as in the calls */
	VM_WRITE = 1u << 1,
	VM_EXEC = 1u << 2,
	VM_SHARED = 1u << 3, /* writes are seen by every space that maps the object */
	VM_LOCKED = 1u << 4, /* mlock: faulted in at once, never reclaimed */
	VM_NORESERVE = 1u << 5,
	VM_HUGEPAGE = 1u << 6, /* hints, kept since they keep neighbours from merging */
	VM_NOHUGEPAGE = 1u << 7,
	VM_PFN = 1u << 8,    /* frames by number, see mm/object/pfn.h */
	VM_ACCOUNT = 1u << 9 /* private memory that has been writable: nothing is reserved for it here, but
				Linux tells neighbours apart by it */
};
#define VM_PROTECTION (VM_READ | VM_WRITE | VM_EXEC)

struct vma_cache;
struct object; /* mm/object/: what is mapped; NULL: anonymous memory alone. Shared mappings have one, and
		  private ones of an object, whose pages give way to anonymous ones when they are written to
		*/
struct sf_space;

struct vma {
	/* Read only from the moment at which the VMA is in a tree. */
	CACHE_LINE_ALIGNED uintptr_t start; /* whole pages, [start, end) */
	uintptr_t end;        /* declared apart: the alignment would count for each name of a declaration */
	uint32_t flags;       /* enum vma_flag */
	uint64_t page_offset; /* of `start` in the object; for anonymous memory start / 4096 at map time */
	struct object *object;

	/* See above: where the private pages are found, and the identity that decides on merges. */
	struct anon_vma *_Atomic anon;

	/*
	 * Set by vma_lookup's detach(), under the space's lock for writing, and for good (but see its
	 * reattach()); read by faults, sequentially consistent.
	 */
	_Atomic bool detached;

	/* Owned by the VMA: what `anon` becomes when no neighbour's does. NULL for shared ones. */
	struct anon_vma *spare_anon;

	/*
	 * What the chosen vma_lookup keeps, on a line of its own so that the choices that write it do not
	 * disturb those that do not: `refcount` counts faults at work here plus one until it is detached;
	 * `per_vma` counts its readers, with a bit for the writer that waits.
	 */
	CACHE_LINE_ALIGNED _Atomic uint32_t users;
	struct port_rcu_head rcu;
	struct vma *next;        /* of those that one change takes away; of free ones. The writer's alone */
	struct vma_cache *cache; /* that it came from */

	/*
	 * In the reverse map: of the object, if that holds pages; and of the anon, if there is one and the
	 * VMA is displaced. `linked` and `anon_linked` are the writer's alone, or the fault's that sets
	 * `anon`.
	 */
	struct object_link object_link;
	struct anon_link anon_link;
	bool linked, anon_linked;
};

/* Whether writes go to pages of the space's own. */
static inline bool vma_private(const struct vma *vma)
{
	return !(vma->flags & VM_SHARED);
}

/* The page of the object, or of anonymous memory's own numbers, that is mapped at `address`. */
static inline uint64_t vma_page_index(const struct vma *vma, uintptr_t address)
{
	return vma->page_offset + ((address - vma->start) >> 12);
}

static inline uint64_t vma_pages(const struct vma *vma)
{
	return (vma->end - vma->start) >> 12;
}

/* Its anon, or NULL; whoever finds one finds it made. */
static inline struct anon_vma *vma_anon(const struct vma *vma)
{
	return atomic_load_explicit(&vma->anon, memory_order_acquire);
}

/* Whether the private pages' indices are not their addresses: mm/rmap/anon.h. */
static inline bool vma_displaced(const struct vma *vma)
{
	return vma->object || vma->page_offset != vma->start >> 12;
}

#endif
