/* SPDX-License-Identifier: MIT */
/*
 * Making and freeing VMAs. Free ones wait in a list for each CPU, with the spare identity that every new VMA
 * of private memory needs, so that a change of a space's mappings seldom asks the machine for memory. One
 * cache for all spaces of a system.
 *
 * Each CPU works on its own list alone, also from the callbacks of grace periods, so nothing here locks. Not
 * from the fault path.
 */
#ifndef MM_SPACE_VMA_CACHE_H
#define MM_SPACE_VMA_CACHE_H

#include "mm/space/vma.h"

struct vma_cache;

/* How a VMA is to be: the fields of struct vma by the same names. */
struct vma_shape {
	uintptr_t start, end;
	uint32_t flags;
	uint64_t page_offset;
	struct object *object;
	struct anon_vma *anon;
};

/* Makes a cache, empty; who sleeps on an anon's lock waits in `lock_nodes`. Returns it, or NULL when there is
 * no memory. */
struct vma_cache *vma_cache_create(const struct lock_nodes *lock_nodes);

/* Frees it with all that it holds; NULL is allowed. Every VMA of it was freed before, and whoever retired one
 * has waited by port_rcu_barrier() since. */
void vma_cache_destroy(struct vma_cache *cache);

/* Gives the free VMAs of all CPUs back to the machine; no CPU is using the cache. For tests. */
void vma_cache_drain(struct vma_cache *cache);

/* Adds the bytes of VMAs that wait for a grace period, and the most that ever did (sync/retired.h). */
void vma_cache_retired(const struct vma_cache *cache, int64_t *bytes, int64_t *peak);

/*
 * Makes a VMA like `shape`, with references of its own on what it names: on its anon, and on its object or
 * that object's part. `users_idle` is the policy's. Returns it, or NULL when there is no memory.
 */
struct vma *vma_create(struct vma_cache *cache, const struct vma_shape *shape, uint32_t users_idle);

/* Frees a VMA, with its references: at once, if no fault can know it. */
void vma_free(struct vma *vma);

/* Puts the references of a VMA that is in no tree any more, and frees it after a grace period. */
void vma_retire(struct vma *vma);

/*
 * Gives a new VMA of private memory, which nobody else knows and whose shape has no anon, its own. It is yet
 * to inherit.
 */
void vma_take_spare_anon(struct vma *vma);

/* The shape of a VMA in the tree. The space's lock is held for writing: its anon stays. */
struct vma_shape vma_shape(const struct vma *vma);

#endif
