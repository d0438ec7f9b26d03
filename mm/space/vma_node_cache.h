/* SPDX-License-Identifier: MIT */
/*
 * Free nodes of VMA trees, one list a CPU: a change of a tree needs a few nodes and gives as many back a
 * grace period later, so most changes ask the machine for no memory and find nodes that are still in the
 * cache. One for all spaces of a system; it outlives them.
 *
 * Each CPU works on its own list alone, also from the callbacks of grace periods, so nothing here locks. Not
 * from the fault path.
 */
#ifndef MM_SPACE_VMA_NODE_CACHE_H
#define MM_SPACE_VMA_NODE_CACHE_H

#include <stdint.h>

struct vma_node_cache;

/* Makes one, empty. Returns it, or NULL when there is no memory. */
struct vma_node_cache *vma_node_cache_create(void);

/*
 * Frees it and all its nodes; NULL is allowed. Every tree of it is destroyed, and after the last commit to
 * any of them the caller has waited by port_rcu_barrier().
 */
void vma_node_cache_destroy(struct vma_node_cache *cache);

/*
 * Gives the free nodes of all CPUs back to the machine; no CPU is using the cache. Tests do it so that a
 * change must ask for each node.
 */
void vma_node_cache_drain(struct vma_node_cache *cache);

/* Adds the bytes of nodes that wait for a grace period, and the most that ever did (sync/retired.h). */
void vma_node_cache_retired(const struct vma_node_cache *cache, int64_t *bytes, int64_t *peak);

#endif
