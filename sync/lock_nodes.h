/* SPDX-License-Identifier: MIT */
/*
 * Where each CPU waits for queued locks: a place of its own for every MCS lock that it holds or waits for,
 * and one for the read-write semaphore that it sleeps on. They are per-CPU data rather than on the stack, so
 * that their cache lines lie in the CPU's own memory node and reports see them.
 *
 * Whoever makes locks that queue opens one set of nodes and hands it to their initialisation.
 */
#ifndef SYNC_LOCK_NODES_H
#define SYNC_LOCK_NODES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/compiler.h"
#include "sync/percpu.h"

/* How many MCS locks of one set a CPU may hold and wait for at once. */
#define MCS_LEVELS 4u

struct mcs_node {
	/* Who comes next: MCS_ID of its node, 0 if nobody yet. Written once by that CPU. */
	CACHE_LINE_ALIGNED _Atomic uint32_t next;
	/* Set to 1 by the holder before. */
	_Atomic uint32_t granted;
};

struct rwsem_waiter {
	/* Set to 1 by who gives the semaphore to the waiter, which sleeps on it. */
	CACHE_LINE_ALIGNED _Atomic uint32_t granted;
	bool writes;               /* what it waits for (by the semaphore's wait_lock) */
	struct rwsem_waiter *next; /* in the semaphore's queue (by its wait_lock) */
};

struct mcs_lock;

/* One CPU's places. */
struct lock_node_set {
	/* The locks whose nodes are in use, by level. Only this CPU looks. */
	CACHE_LINE_ALIGNED const struct mcs_lock *mcs_lock[MCS_LEVELS];
	struct mcs_node mcs[MCS_LEVELS];
	struct rwsem_waiter rwsem;
};

struct lock_nodes {
	struct percpu sets; /* of struct lock_node_set */
};

/* Returns 0, or -ENOMEM. Not from the fault path. */
static inline int lock_nodes_open(struct lock_nodes *nodes)
{
	return percpu_alloc(&nodes->sets, sizeof(struct lock_node_set), "struct lock_node_set");
}

/* Gives the nodes back; no lock that uses them is held or waited for. */
static inline void lock_nodes_close(struct lock_nodes *nodes)
{
	percpu_free(&nodes->sets);
}

#endif
