/* SPDX-License-Identifier: MIT */
/*
 * An address space: its VMAs, its page table, its limits. The functions here are the system calls on memory,
 * with Linux's semantics; what they must do about faults at work is in mm/space/vma.h and docs/LOCKING.md.
 *
 * Unless said otherwise a function is called with nothing held, outside RCU read sections, and takes the
 * space's lock itself. None is called by a fault, except those marked so.
 */
#ifndef MM_SPACE_SPACE_H
#define MM_SPACE_SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/charge/group.h"
#include "mm/memtype/memtype.h"
#include "mm/object/object.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"
#include "mm/space/vma.h"
#include "mm/space/vma_lookup.h"
#include "mm/space/vma_tree.h"
#include "mm/table/table.h"
#include "sync/lock_nodes.h"
#include "sync/percpu.h"
#include "sync/rwsem.h"

/* One past the last address that a mapping can have: the last page below 2^47 is nobody's, as on x86-64. */
#define SPACE_END ((uintptr_t)0x7ffffffff000)

/* Where placement from the top begins, unless told otherwise; and the lowest address that it gives. */
#define SPACE_MAP_BASE ((uintptr_t)0x7ffff7fff000)
#define SPACE_MAP_MIN  ((uintptr_t)0x10000)

/* vm.max_map_count, and RLIMIT_MEMLOCK in bytes, as Linux sets them. */
#define SPACE_MAP_COUNT_MAX 65530u
#define SPACE_LOCKED_MAX    ((uint64_t)8 << 20)

struct objects;
struct sf_object;
struct sf_system;
struct vma_cache;
struct vma_node_cache;

/* What a space is made of that it shares with the others of its system. Outlives it; read only. */
struct space_parts {
	struct sf_system *system; /* opaque here */
	struct frames *frames;
	struct memtypes *memtypes;
	struct objects *objects;
	const struct policy *policy;
	const struct vma_lookup_ops *lookup; /* what policy->vma_lookup names */
	const struct lock_nodes *lock_nodes;
	struct vma_cache *vma_cache;
	struct vma_node_cache *node_cache;
	uintptr_t map_base; /* placement goes down from here: SPACE_MAP_BASE, or a system's own */
	uintptr_t map_min;  /* the lowest address that a mapping can have: SPACE_MAP_MIN, or a system's own */
};

/* One CPU's counts of one space. Written by that CPU alone, relaxed; read by anyone. */
struct space_cpu {
	CACHE_LINE_ALIGNED _Atomic uint64_t minor_faults;
	_Atomic uint64_t major_faults;
};

struct sf_space {
	/* Read only after space_create(), and read by every fault. */
	CACHE_LINE_ALIGNED struct space_parts parts;
	struct percpu cpu; /* of struct space_cpu */

	/*
	 * Who is charged for what its faults make. Counted in group->spaces. RCU; written with the lock held
	 * for writing: a group that it has left gets no charge any more after a grace period.
	 */
	struct sf_group *_Atomic group;

	/* RCU; written with the lock held for writing. */
	struct vma_tree tree;

	/* What the reverse map knows of it. */
	struct rmap_space rmap;

	/* The page table; which CPUs touched the space and how many pages are resident are kept in it. */
	struct table table;

	/*
	 * For writing by whoever changes the VMAs, from the first look to the last cleared entry; for reading
	 * by what must find them unchanged. Its implementation is the policy's.
	 */
	struct rwsem lock;

	/* All protected by the lock. Pages, and numbers of VMAs. */
	CACHE_LINE_ALIGNED uint64_t total_pages; /* in VMAs */
	uint64_t locked_pages;                   /* in VMAs with VM_LOCKED */
	uint64_t peak_pages;
	_Atomic uint64_t peak_resident; /* at the last look; relaxed */
	uint64_t unlooked_pages;        /* unmapped since then */
	uint64_t map_count;
	uint64_t limit_pages;  /* RLIMIT_AS */
	uint64_t limit_locked; /* RLIMIT_MEMLOCK */
	uint64_t limit_maps;

	/* The system's list of spaces that were made on this CPU, by its space_list_lock. */
	unsigned made_on;
	struct sf_space *next_space;
	struct sf_space **link;
};

/*
 * Makes an empty space in a live group. Returns it, or NULL when there is no memory or no frame for it, or no
 * room in the group.
 */
struct sf_space *space_create(const struct space_parts *parts, struct sf_group *group);

/* Unmaps everything and frees the space, which nobody uses any more. */
void space_destroy(struct sf_space *space);

/* Moves the space to another live group; what it has is charged as before. Waits for a grace period. */
void space_set_group(struct sf_space *space, struct sf_group *group);

/* Fork, into the same group. Returns the new space, or NULL with nothing changed (but that pages are write
 * protected). */
struct sf_space *space_fork(struct sf_space *parent);

/*
 * mmap. `flags` are SF_MAP_*. Returns 0 with the place in *mapped, and in *populate whether the caller is to
 * fault the range in; or a negative errno.
 */
int space_map(struct sf_space *space, uintptr_t address, uint64_t length, int protection, int flags,
	      uintptr_t *mapped, bool *populate);

/*
 * The same for an object that holds pages, from its byte `offset` on; `flags` as for sf_map_object(). The
 * caller has a reference on the object.
 */
int space_map_object(struct sf_space *space, uintptr_t address, uint64_t length, int protection, int flags,
		     struct sf_object *object, uint64_t offset, uintptr_t *mapped, bool *populate);

/*
 * Maps [address, address + length) (checked) to what `object` has from index 0 on, or to its part. Returns 0;
 * -EEXIST when something is mapped there; -ENOMEM.
 */
int space_map_pfn(struct sf_space *space, uintptr_t address, uint64_t length, struct object *object,
		  bool writable);

/* munmap. */
int space_unmap(struct sf_space *space, uintptr_t address, uint64_t length);

/* A range that the caller is to fault in after a call that succeeded; empty when start == end. */
struct populate_range {
	uintptr_t start, end;
};

/* Several such ranges, in order; when there are more, the last one takes in what lies between them. */
#define POPULATE_RANGES_MAX 16u
struct populate_list {
	unsigned count;
	struct populate_range range[POPULATE_RANGES_MAX];
};

/* mprotect. What is to be faulted in, also after an error, is locked memory that has become writable. */
int space_protect(struct sf_space *space, uintptr_t address, uint64_t length, int protection,
		  struct populate_list *populate);

/* mremap. */
int space_remap(struct sf_space *space, uintptr_t address, uint64_t old_length, uint64_t new_length,
		int flags, uintptr_t new_address, uintptr_t *mapped, struct populate_range *populate);

/* Checks the range of any madvise. Returns 0 with its end in *end, or -EINVAL. */
int space_advised_range(uintptr_t address, uint64_t length, uintptr_t *end);

/*
 * madvise, but for the POPULATE kinds, which are mm/system/'s. mlock: on success the caller faults the range
 * in. munlock. mincore.
 */
int space_advise(struct sf_space *space, uintptr_t address, uint64_t length, int advice);
int space_lock(struct sf_space *space, uintptr_t address, uint64_t length, struct populate_range *populate);
int space_unlock(struct sf_space *space, uintptr_t address, uint64_t length);
int space_mincore(struct sf_space *space, uintptr_t address, uint64_t length, unsigned char *resident);

/* A VMA as it was a moment ago, with a reference on its object if that holds pages. */
struct vma_view {
	uintptr_t start, end;
	uint32_t flags;
	uint64_t page_offset;
	struct sf_object *object; /* or NULL */
};

/* Looks at the first VMA that ends after `address`; returns whether there is one. The caller puts the object.
 */
bool space_view(struct sf_space *space, uintptr_t address, struct vma_view *view);

/*
 * Gives `vma`, which is private memory and in the tree, its anon if it has none: that of a
 * neighbour with which it could merge, or its own. A page of such memory, other than the zero page, may be
 * installed only then. The space's lock is held for reading or writing. Part of the fault path: takes no
 * memory, cannot fail; sleeps where the VMA is displaced.
 */
void space_anon_prepare(struct sf_space *space, struct vma *vma);

#endif
