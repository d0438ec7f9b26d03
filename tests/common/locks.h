/* SPDX-License-Identifier: MIT */
/*
 * Every lock of sync/ behind one table, so that a test is written once for all of them. Runs in both homes.
 */
#ifndef TESTS_COMMON_LOCKS_H
#define TESTS_COMMON_LOCKS_H

#include "sync/lock_nodes.h"
#include "sync/mcs_lock.h"
#include "sync/rwlock.h"
#include "sync/rwsem.h"
#include "sync/spinlock.h"

union any_lock {
	struct spinlock spinlock;
	struct mcs_lock mcs;
	struct rwlock rwlock;
	struct rwsem rwsem;
};

struct lock_type {
	const char *name;
	void (*init)(union any_lock *lock, const struct lock_nodes *nodes);
	void (*lock)(union any_lock *lock);
	bool (*trylock)(union any_lock *lock);
	void (*unlock)(union any_lock *lock);
	/* The readers' side; NULL for a lock that has none. */
	void (*lock_shared)(union any_lock *lock);
	bool (*trylock_shared)(union any_lock *lock);
	void (*unlock_shared)(union any_lock *lock);
};

/* Defines the functions of one side of a lock that is the union's member `member`. */
#define LOCK_TYPE_SIDE(type, side, member, take, try_take, release)   \
	static inline void type##_##side##_take(union any_lock *lock) \
	{                                                             \
		take(&lock->member);                                  \
	}                                                             \
	static inline bool type##_##side##_try(union any_lock *lock)  \
	{                                                             \
		return try_take(&lock->member);                       \
	}                                                             \
	static inline void type##_##side##_give(union any_lock *lock) \
	{                                                             \
		release(&lock->member);                               \
	}

LOCK_TYPE_SIDE(spin, alone, spinlock, spin_lock, spin_trylock, spin_unlock)
LOCK_TYPE_SIDE(mcs, alone, mcs, mcs_lock, mcs_trylock, mcs_unlock)
LOCK_TYPE_SIDE(rwlock, alone, rwlock, write_lock, write_trylock, write_unlock)
LOCK_TYPE_SIDE(rwlock, shared, rwlock, read_lock, read_trylock, read_unlock)
LOCK_TYPE_SIDE(rwsem, alone, rwsem, down_write, down_write_trylock, up_write)
LOCK_TYPE_SIDE(rwsem, shared, rwsem, down_read, down_read_trylock, up_read)

static inline void spin_type_init(union any_lock *lock, const struct lock_nodes *nodes)
{
	(void)nodes;
	spin_lock_init(&lock->spinlock, LOCK_RANK_TEST_OUTER);
}

static inline void mcs_type_init(union any_lock *lock, const struct lock_nodes *nodes)
{
	mcs_lock_init(&lock->mcs, LOCK_RANK_TEST_OUTER, nodes);
}

static inline void rwlock_type_init(union any_lock *lock, const struct lock_nodes *nodes)
{
	(void)nodes;
	rwlock_init(&lock->rwlock, LOCK_RANK_TEST_OUTER);
}

static inline void rwsem_spin_type_init(union any_lock *lock, const struct lock_nodes *nodes)
{
	rwsem_init(&lock->rwsem, &rwsem_spin_ops, LOCK_RANK_TEST_OUTER, nodes);
}

static inline void rwsem_xadd_type_init(union any_lock *lock, const struct lock_nodes *nodes)
{
	rwsem_init(&lock->rwsem, &rwsem_xadd_ops, LOCK_RANK_TEST_OUTER, nodes);
}

#define LOCK_TYPE_ALONE(type) \
	.lock = type##_alone_take, .trylock = type##_alone_try, .unlock = type##_alone_give
#define LOCK_TYPE_SHARED(type)                                                  \
	.lock_shared = type##_shared_take, .trylock_shared = type##_shared_try, \
	.unlock_shared = type##_shared_give

static const struct lock_type lock_types[] = {
    {.name = "spinlock", .init = spin_type_init, LOCK_TYPE_ALONE(spin)},
    {.name = "mcs_lock", .init = mcs_type_init, LOCK_TYPE_ALONE(mcs)},
    {.name = "rwlock", .init = rwlock_type_init, LOCK_TYPE_ALONE(rwlock), LOCK_TYPE_SHARED(rwlock)},
    {.name = "rwsem_spin", .init = rwsem_spin_type_init, LOCK_TYPE_ALONE(rwsem), LOCK_TYPE_SHARED(rwsem)},
    {.name = "rwsem_xadd", .init = rwsem_xadd_type_init, LOCK_TYPE_ALONE(rwsem), LOCK_TYPE_SHARED(rwsem)},
};

#endif
