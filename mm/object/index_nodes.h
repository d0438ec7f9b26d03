/* SPDX-License-Identifier: MIT */
/*
 * Nodes of page indices. They are made of frames, seven of a frame, since faults need them, and kept in a
 * list for each CPU, which it alone uses. A frame goes back when all of its nodes have.
 *
 * Callers are not interrupted by other callers on their CPU. Part of the fault path, all of it.
 */
#ifndef MM_OBJECT_INDEX_NODES_H
#define MM_OBJECT_INDEX_NODES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "port/rcu.h"

#define INDEX_SHIFT 6
#define INDEX_SLOTS (1u << INDEX_SHIFT)

struct index_nodes;

struct index_node {
	/* Used when the node has left its index, or is free. */
	CACHE_LINE_ALIGNED struct port_rcu_head rcu;
	struct index_nodes *nodes;
	struct index_node *next;
	/* Of the lowest level: a bit for each slot whose page is dirty, or was. Atomic. */
	_Atomic uint64_t dirty;
	/* Nodes, or in a node of the lowest level entries. RCU; see mm/object/page_index.h. */
	CACHE_LINE_ALIGNED _Atomic uintptr_t slot[INDEX_SLOTS];
};

/* Makes a cache of nodes with no node. Returns it, or NULL when there is no memory. Not from the fault path.
 */
struct index_nodes *index_nodes_create(struct frames *frames);

/* Frees it; what is left of frames is given back. NULL is allowed. Not from the fault path. */
void index_nodes_destroy(struct index_nodes *nodes);

/* Returns an empty node, or NULL when there is no frame. */
struct index_node *index_node_get(struct index_nodes *nodes);

/* Makes sure that the calling CPU's next `count` calls of index_node_get() succeed. Returns 0, or -ENOMEM. */
int index_nodes_preload(struct index_nodes *nodes, unsigned count);

/* Takes a node back: at once, when nobody else has ever seen it or can any more; or after a grace period. */
void index_node_put(struct index_nodes *nodes, struct index_node *node);
void index_node_retire(struct index_nodes *nodes, struct index_node *node);

/*
 * Gives the free nodes of all CPUs back to their frames, while nothing runs; then what frames hold of nodes
 * is what indices have.
 */
void index_nodes_drain(struct index_nodes *nodes);

#endif
