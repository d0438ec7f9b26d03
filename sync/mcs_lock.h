/* SPDX-License-Identifier: MIT */
/*
 * The queued spinning lock of Mellor-Crummey and Scott ("Algorithms for scalable synchronization on
 * shared-memory multiprocessors", 1991): each waiter spins on a cache line of its own, so a hand-over costs
 * one transfer however many wait. First come, first served. The holder may not sleep.
 */
#ifndef SYNC_MCS_LOCK_H
#define SYNC_MCS_LOCK_H

#include "port/panic.h"
#include "port/spin.h"
#include "port/trace.h"
#include "sync/lock_nodes.h"
#include "sync/lock_rank.h"

/*
 * `tail` names the last node of the queue, 0 if the lock is free; the first node is the holder's. It has a
 * line of its own: what lock and unlock only read does not move with it.
 *
 * Order: taking swaps `tail` with acquire and release order, acquire to come after the holder that left it 0,
 * release so that the node is empty before a successor writes `next` in it. `next` is stored with release and
 * waited for with acquire order only to find the successor; the holder's work is handed over by the release
 * store of `granted`, which the successor's spin acquires, or by the release that leaves `tail` 0.
 */
struct mcs_lock {
	CACHE_LINE_ALIGNED _Atomic uint32_t tail;
	CACHE_LINE_ALIGNED const struct lock_nodes *nodes; /* set by mcs_lock_init() */
	uint16_t rank;                                     /* enum lock_rank; set by mcs_lock_init() */
};

/* A node's name: which CPU's, which level, and a bit that no name is without. */
#define MCS_ID_VALID (UINT32_C(1) << 31)

static inline uint32_t mcs_id(unsigned cpu, unsigned level)
{
	return MCS_ID_VALID | (cpu * MCS_LEVELS + level);
}

static inline struct mcs_node *mcs_node(const struct mcs_lock *lock, uint32_t id)
{
	uint32_t index = id & ~MCS_ID_VALID;
	struct lock_node_set *set = percpu_of(&lock->nodes->sets, index / MCS_LEVELS);

	return &set->mcs[index % MCS_LEVELS];
}

/* The level of the calling CPU's node for `lock`; for NULL, of one that is free. */
static inline unsigned mcs_level(const struct lock_node_set *set, const struct mcs_lock *lock)
{
	unsigned level = 0;

	while (level < MCS_LEVELS && set->mcs_lock[level] != lock)
		level++;
	/* Fewer than MCS_LEVELS were held, or: the lock is held. */
	invariant(level < MCS_LEVELS);
	return level;
}

/* Makes a free lock of the class `rank` whose takers queue in `nodes`. No CPU may use it yet. */
static inline void mcs_lock_init(struct mcs_lock *lock, enum lock_rank rank, const struct lock_nodes *nodes)
{
	atomic_init(&lock->tail, 0);
	lock->nodes = nodes;
	lock->rank = (uint16_t)rank;
}

/*
 * Takes the lock, waiting for those that came before. Locks of lower ranks may be held, at most
 * MCS_LEVELS - 1 of them of this kind.
 */
static inline void mcs_lock(struct mcs_lock *lock)
{
	struct lock_node_set *set = percpu_this(&lock->nodes->sets);
	unsigned level = mcs_level(set, NULL);
	struct mcs_node *node = &set->mcs[level];
	uint32_t id = mcs_id(port_cpu(), level);
	uint32_t before;

	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 0);
	set->mcs_lock[level] = lock;
	atomic_store_explicit(&node->next, 0, memory_order_relaxed);
	atomic_store_explicit(&node->granted, 0, memory_order_relaxed);
	before = atomic_exchange_explicit(&lock->tail, id, memory_order_acq_rel);
	if (before) {
		port_lock_contended(lock, lock_class_name(&lock->rank), 0);
		atomic_store_explicit(&mcs_node(lock, before)->next, id, memory_order_release);
		port_spin_until_u32(&node->granted, UINT32_MAX, 1);
	}
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
}

/* Takes the lock if it is free, and returns whether it did. Locks of any rank may be held. */
static inline bool mcs_trylock(struct mcs_lock *lock)
{
	struct lock_node_set *set = percpu_this(&lock->nodes->sets);
	unsigned level = mcs_level(set, NULL);
	struct mcs_node *node = &set->mcs[level];
	uint32_t expected = 0;

	atomic_store_explicit(&node->next, 0, memory_order_relaxed);
	if (!atomic_compare_exchange_strong_explicit(&lock->tail, &expected, mcs_id(port_cpu(), level),
						     memory_order_acq_rel, memory_order_relaxed))
		return false;
	set->mcs_lock[level] = lock;
	lock_rank_take(lock, lock->rank, LOCK_SPINNING, 1);
	port_lock_acquired(lock, lock_class_name(&lock->rank), 0);
	return true;
}

/* Releases the lock, which the caller's CPU holds. Locks may be released in any order. */
static inline void mcs_unlock(struct mcs_lock *lock)
{
	struct lock_node_set *set = percpu_this(&lock->nodes->sets);
	unsigned level = mcs_level(set, lock);
	struct mcs_node *node = &set->mcs[level];
	uint32_t next = atomic_load_explicit(&node->next, memory_order_acquire);
	uint32_t id = mcs_id(port_cpu(), level);

	lock_rank_release(lock, lock->rank);
	port_lock_released(lock, lock_class_name(&lock->rank), 0);
	if (!next) {
		if (atomic_compare_exchange_strong_explicit(&lock->tail, &id, 0, memory_order_release,
							    memory_order_relaxed)) {
			set->mcs_lock[level] = NULL;
			return;
		}
		/* Somebody has swapped himself into `tail` and is about to write `next`. */
		next = port_spin_until_u32(&node->next, MCS_ID_VALID, MCS_ID_VALID);
	}
	atomic_store_explicit(&mcs_node(lock, next)->granted, 1, memory_order_release);
	/* Nobody but the successor knew the node, and he has written to it for the last time. */
	set->mcs_lock[level] = NULL;
}

#endif
