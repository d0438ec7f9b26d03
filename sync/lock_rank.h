/* SPDX-License-Identifier: MIT */
/*
 * The order in which locks are taken. Every lock has a rank; a CPU that holds one takes only locks of a
 * higher rank, so no circle of waiting CPUs can close. The list below is that order, outermost first, and the
 * rank's name is the name of the lock's class in every report.
 *
 * docs/LOCKING.md has the same list with what each lock protects; tools/check-lock-ranks holds both equal.
 *
 * With SYNC_DEBUG (`make DEBUG=1`) each take and release is checked. Then these are broken invariants, whose
 * report names the locks: taking a rank that is not above all those held (an attempt by a trylock is exempt:
 * it waits for nobody), releasing what is not held, and waiting asleep while a spinning lock is held or
 * inside an RCU read section. Locks of rank LOCK_RANK_NONE have no place in the order; the rest is checked.
 */
#ifndef SYNC_LOCK_RANK_H
#define SYNC_LOCK_RANK_H

#include <stdint.h>

/* X(identifier, name of the class). A new lock gets its line where it belongs in the order. */
#define LOCK_RANKS(X)                                      \
	X(LOCK_RANK_NONE, "unranked")                      \
	X(LOCK_RANK_TEST_OUTER, "test_outer_lock")         \
	X(LOCK_RANK_OBJECT, "object_lock")                 \
	X(LOCK_RANK_SPACE, "space_lock")                   \
	X(LOCK_RANK_MAPPINGS, "i_mmap_rwsem")              \
	X(LOCK_RANK_ANON, "anon_lock")                     \
	X(LOCK_RANK_SPACE_LIST, "space_list_lock")         \
	X(LOCK_RANK_OBJECT_LIST, "object_list_lock")       \
	X(LOCK_RANK_GROUP_TREE, "group_tree_lock")         \
	X(LOCK_RANK_TLB_LIST, "tlb_list_lock")             \
	X(LOCK_RANK_PAGE_TABLE, "page_table_lock")         \
	X(LOCK_RANK_PTE, "pte_lock")                       \
	X(LOCK_RANK_SHMEM, "shmem_inode_info.lock")        \
	X(LOCK_RANK_SHMEM_LIMIT, "shmem_limit_lock")       \
	X(LOCK_RANK_TREE, "tree_lock")                     \
	X(LOCK_RANK_SWAP_CPU, "swap_cpu_lock")             \
	X(LOCK_RANK_SWAP_SLOT, "swap_slot_lock")           \
	X(LOCK_RANK_MEMTYPE, "memtype_lock")               \
	X(LOCK_RANK_MEMTYPE_TREE, "memtype_tree_lock")     \
	X(LOCK_RANK_LRU, "lru_lock")                       \
	X(LOCK_RANK_CHARGE_DEPOT, "charge_depot_lock")     \
	X(LOCK_RANK_RES_COUNTER, "res_counter_lock")       \
	X(LOCK_RANK_FRAME_SHELF, "frame_shelf_lock")       \
	X(LOCK_RANK_FRAME_DEPOT, "frame_depot_lock")       \
	X(LOCK_RANK_ZONE, "zone_lock")                     \
	X(LOCK_RANK_TEST_INNER, "test_inner_lock")         \
	X(LOCK_RANK_TEST_INNERMOST, "test_innermost_lock") \
	X(LOCK_RANK_RWSEM_WAIT, "rwsem_wait_lock")

enum lock_rank {
#define LOCK_RANK_ENUM(identifier, name) identifier,
	LOCK_RANKS(LOCK_RANK_ENUM)
#undef LOCK_RANK_ENUM
	    LOCK_RANK_COUNT
};

/* The class's name, by rank. */
extern const char *const lock_rank_name[LOCK_RANK_COUNT];

/*
 * The name of the class of a lock whose rank stands at `rank`, for port/trace.h. The look at the rank is no
 * part of the lock: the virtual machine must not count it as an access of the lock's line, and where nobody
 * traces, the call goes away.
 */
__attribute__((noinline, pure, no_instrument_function, no_sanitize("thread"))) const char *
lock_class_name(const uint16_t *rank);

enum lock_kind { LOCK_SPINNING, LOCK_SLEEPING };

/*
 * The checker behind the functions below; tests call it in every build. `lock` is the lock's address; `tried`
 * is nonzero after a trylock that succeeded.
 */
void lock_rank_check_take(const void *lock, uint16_t rank, enum lock_kind kind, int tried);
void lock_rank_check_release(const void *lock, uint16_t rank);
void lock_rank_check_sleep(void);

/* A lock is about to be taken, before any waiting; or has been taken by a trylock. */
static inline void lock_rank_take(const void *lock, uint16_t rank, enum lock_kind kind, int tried)
{
#ifdef SYNC_DEBUG
	lock_rank_check_take(lock, rank, kind, tried);
#else
	(void)lock;
	(void)rank;
	(void)kind;
	(void)tried;
#endif
}

/* A lock is about to be released. */
static inline void lock_rank_release(const void *lock, uint16_t rank)
{
#ifdef SYNC_DEBUG
	lock_rank_check_release(lock, rank);
#else
	(void)lock;
	(void)rank;
#endif
}

/* The caller may fall asleep from here on. */
static inline void lock_rank_may_sleep(void)
{
#ifdef SYNC_DEBUG
	lock_rank_check_sleep();
#endif
}

#endif
