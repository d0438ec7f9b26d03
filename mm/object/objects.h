/* SPDX-License-Identifier: MIT */
/*
 * What the objects of a system share: frames, nodes for their indices, the policy's choices, and a list.
 */
#ifndef MM_OBJECT_OBJECTS_H
#define MM_OBJECT_OBJECTS_H

#include <stdint.h>

#include "base/compiler.h"
#include "mm/page/frames.h"
#include "mm/policy/policy.h"
#include "sync/lock_nodes.h"
#include "sync/spinlock.h"

struct index_nodes;
struct page_index_ops;
struct sf_object;
struct sf_system;
struct shmem_ops;

struct objects {
	/* Read only after objects_create(). */
	struct sf_system *system; /* opaque here */
	struct frames *frames;
	const struct lock_nodes *lock_nodes;
	struct index_nodes *nodes;
	const struct page_index_ops *index_ops; /* policy->page_index */
	const struct shmem_ops *shmem_ops;      /* policy->shmem_alloc and shmem_account */

	CACHE_LINE_ALIGNED struct spinlock list_lock;
	struct sf_object *list; /* all that hold pages, linked by next; by list_lock */
};

/* Makes what a system's objects share. Returns it, or NULL when there is no memory. */
struct objects *objects_create(struct sf_system *system, struct frames *frames, const struct policy *policy,
			       const struct lock_nodes *lock_nodes);

/* Frees it; no object is left, and whoever destroyed one has waited by port_rcu_barrier(). NULL is allowed.
 */
void objects_destroy(struct objects *objects);

#endif
