/* SPDX-License-Identifier: MIT */
/*
 * Every check, by the name of its structure; and every check that is made of two operations on a scene
 * (tests/explore/pair.h), whose name is SCENE-FIRST-SECOND. tools/check-explored reads both.
 */
#ifndef TESTS_EXPLORE_LIST_H
#define TESTS_EXPLORE_LIST_H

#define CHECKS(X)                         \
	X(counters_check)                 \
	X(cow_child_check)                \
	X(cow_fork_check)                 \
	X(fault_fork_again_check)         \
	X(fault_fork_check)               \
	X(fault_unmap_check)              \
	X(fault_unmap_map_check)          \
	X(frames_drain_check)             \
	X(frames_fresh_check)             \
	X(frames_put_check)               \
	X(frames_steal_check)             \
	X(group_charge_charge_check)      \
	X(group_charge_destroy_check)     \
	X(group_charge_drain_check)       \
	X(group_charge_limit_check)       \
	X(group_charge_move_check)        \
	X(group_charge_uncharge_check)    \
	X(group_drain_destroy_check)      \
	X(group_life_check)               \
	X(group_move_fork_check)          \
	X(group_move_move_check)          \
	X(group_object_cut_check)         \
	X(group_object_destroy_check)     \
	X(group_object_full_check)        \
	X(group_object_same_check)        \
	X(group_release_fault_check)      \
	X(group_uncharge_destroy_check)   \
	X(group_uncharge_limit_check)     \
	X(lru_add_del_check)              \
	X(lru_drain_reparent_check)       \
	X(mcs_lock_check)                 \
	X(memtype_fork_check)             \
	X(memtype_free_free_check)        \
	X(memtype_free_pin_check)         \
	X(memtype_map_check)              \
	X(memtype_protect_check)          \
	X(memtype_ranges_check)           \
	X(memtype_remap_check)            \
	X(memtype_reserve_free_check)     \
	X(memtype_reserve_pin_check)      \
	X(memtype_reserve_reserve_check)  \
	X(memtype_unmap_check)            \
	X(rcu_call_check)                 \
	X(rcu_synchronize_check)          \
	X(refcount_check)                 \
	X(refcount_not_zero_check)        \
	X(rwlock_check)                   \
	X(rwlock_trylock_check)           \
	X(rwsem_check)                    \
	X(rwsem_readers_check)            \
	X(rwsem_trylock_check)            \
	X(seqcount_check)                 \
	X(shared_end_check)               \
	X(shared_index_check)             \
	X(spinlock_check)                 \
	X(tables_free_check)              \
	X(tables_make_check)              \
	X(tlb_cow_check)                  \
	X(tlb_cow_early_check)            \
	X(tlb_create_check)               \
	X(tlb_destroy_check)              \
	X(tlb_dontneed_check)             \
	X(tlb_fork_check)                 \
	X(tlb_protect_check)              \
	X(tlb_remap_check)                \
	X(tlb_unmap_check)                \
	X(tlb_zero_check)                 \
	X(vma_tree_reader_check)          \
	X(planted_cow_fork_check)         \
	X(planted_lookup_2009_check)      \
	X(planted_magazine_twice_check)   \
	X(planted_memtype_unlocked_check) \
	X(planted_no_flush_check)         \
	X(planted_no_recheck_check)       \
	X(planted_no_release_check)       \
	X(planted_publish_check)          \
	X(planted_read_outside_check)     \
	X(planted_read_recursion_check)   \
	X(planted_table_freed_check)

/* X(scene, first, second) */
#define PAIRS(X)                      \
	X(fresh, write, write)        \
	X(untouched, write, write)    \
	X(zero, write, write)         \
	X(cow, write, write)          \
	X(shared, write, write)       \
	X(pfn, write, write)          \
	X(untouched, read, write)     \
	X(shared, read, write)        \
	X(pfn, read, write)           \
	X(fresh, write, map)          \
	X(fresh, write, unmap)        \
	X(fresh, write, protect)      \
	X(fresh, write, forbid)       \
	X(fresh, write, move)         \
	X(fresh, write, dontneed)     \
	X(fresh, write, free)         \
	X(fresh, write, fork)         \
	X(fresh, write, lock)         \
	X(untouched, write, map)      \
	X(untouched, write, unmap)    \
	X(untouched, write, protect)  \
	X(untouched, write, forbid)   \
	X(untouched, write, move)     \
	X(untouched, write, dontneed) \
	X(untouched, write, free)     \
	X(untouched, write, fork)     \
	X(untouched, write, lock)     \
	X(zero, write, map)           \
	X(zero, write, unmap)         \
	X(zero, write, protect)       \
	X(zero, write, forbid)        \
	X(zero, write, move)          \
	X(zero, write, dontneed)      \
	X(zero, write, free)          \
	X(zero, write, fork)          \
	X(zero, write, lock)          \
	X(cow, write, map)            \
	X(cow, write, unmap)          \
	X(cow, write, protect)        \
	X(cow, write, forbid)         \
	X(cow, write, move)           \
	X(cow, write, dontneed)       \
	X(cow, write, free)           \
	X(cow, write, fork)           \
	X(cow, write, lock)           \
	X(shared, write, map)         \
	X(shared, write, unmap)       \
	X(shared, write, protect)     \
	X(shared, write, forbid)      \
	X(shared, write, move)        \
	X(shared, write, dontneed)    \
	X(shared, write, free)        \
	X(shared, write, fork)        \
	X(shared, write, lock)        \
	X(pfn, write, map)            \
	X(pfn, write, unmap)          \
	X(pfn, write, protect)        \
	X(pfn, write, forbid)         \
	X(pfn, write, move)           \
	X(pfn, write, dontneed)       \
	X(pfn, write, free)           \
	X(pfn, write, fork)           \
	X(pfn, write, lock)           \
	X(untouched, read, unmap)     \
	X(untouched, read, protect)   \
	X(untouched, read, move)      \
	X(shared, read, unmap)        \
	X(shared, read, protect)      \
	X(shared, read, move)         \
	X(pfn, read, unmap)           \
	X(pfn, read, protect)         \
	X(pfn, read, move)            \
	X(cow, write, destroy)        \
	X(shared, write, destroy)     \
	X(empty, write, map)          \
	X(empty, read, map)           \
	X(own, swap, unmap)           \
	X(own, swap, protect)         \
	X(own, swap, forbid)          \
	X(own, swap, move)            \
	X(own, swap, dontneed)        \
	X(own, swap, free)            \
	X(own, swap, fork)            \
	X(own, swap, map)             \
	X(own, swap, write)           \
	X(own, pin, unmap)            \
	X(own, pin, protect)          \
	X(own, pin, forbid)           \
	X(own, pin, move)             \
	X(own, pin, dontneed)         \
	X(own, pin, free)             \
	X(own, pin, fork)             \
	X(own, pin, map)              \
	X(own, pin, write)            \
	X(cow, swap, swap)            \
	X(cow, pin, write)            \
	X(cow, pin, destroy)          \
	X(untouched, pin, pin)        \
	X(untouched, pin, swap)       \
	X(cow, pin, swap)             \
	X(own, tlb, unmap)            \
	X(cow, tlb, write)            \
	X(own, tlb, fork)             \
	X(own, tlb, tlb)              \
	X(own, tlb, create)           \
	X(own, map, map)              \
	X(own, map, place)            \
	X(own, map, unmap)            \
	X(own, map, protect)          \
	X(own, map, move)             \
	X(own, map, grow)             \
	X(own, map, dontneed)         \
	X(own, map, free)             \
	X(own, map, populate)         \
	X(own, map, lock)             \
	X(own, map, unlock)           \
	X(own, map, limit)            \
	X(own, map, look)             \
	X(own, map, fork)             \
	X(own, place, place)          \
	X(own, place, unmap)          \
	X(own, place, protect)        \
	X(own, place, move)           \
	X(own, place, grow)           \
	X(own, place, dontneed)       \
	X(own, place, free)           \
	X(own, place, populate)       \
	X(own, place, lock)           \
	X(own, place, unlock)         \
	X(own, place, limit)          \
	X(own, place, look)           \
	X(own, place, fork)           \
	X(own, unmap, unmap)          \
	X(own, unmap, protect)        \
	X(own, unmap, move)           \
	X(own, unmap, grow)           \
	X(own, unmap, dontneed)       \
	X(own, unmap, free)           \
	X(own, unmap, populate)       \
	X(own, unmap, lock)           \
	X(own, unmap, unlock)         \
	X(own, unmap, limit)          \
	X(own, unmap, look)           \
	X(own, unmap, fork)           \
	X(own, protect, protect)      \
	X(own, protect, move)         \
	X(own, protect, grow)         \
	X(own, protect, dontneed)     \
	X(own, protect, free)         \
	X(own, protect, populate)     \
	X(own, protect, lock)         \
	X(own, protect, unlock)       \
	X(own, protect, limit)        \
	X(own, protect, look)         \
	X(own, protect, fork)         \
	X(own, move, move)            \
	X(own, move, grow)            \
	X(own, move, dontneed)        \
	X(own, move, free)            \
	X(own, move, populate)        \
	X(own, move, lock)            \
	X(own, move, unlock)          \
	X(own, move, limit)           \
	X(own, move, look)            \
	X(own, move, fork)            \
	X(own, grow, grow)            \
	X(own, grow, dontneed)        \
	X(own, grow, free)            \
	X(own, grow, populate)        \
	X(own, grow, lock)            \
	X(own, grow, unlock)          \
	X(own, grow, limit)           \
	X(own, grow, look)            \
	X(own, grow, fork)            \
	X(own, dontneed, dontneed)    \
	X(own, dontneed, free)        \
	X(own, dontneed, populate)    \
	X(own, dontneed, lock)        \
	X(own, dontneed, unlock)      \
	X(own, dontneed, limit)       \
	X(own, dontneed, look)        \
	X(own, dontneed, fork)        \
	X(own, free, free)            \
	X(own, free, populate)        \
	X(own, free, lock)            \
	X(own, free, unlock)          \
	X(own, free, limit)           \
	X(own, free, look)            \
	X(own, free, fork)            \
	X(own, populate, populate)    \
	X(own, populate, lock)        \
	X(own, populate, unlock)      \
	X(own, populate, limit)       \
	X(own, populate, look)        \
	X(own, populate, fork)        \
	X(own, lock, lock)            \
	X(own, lock, unlock)          \
	X(own, lock, limit)           \
	X(own, lock, look)            \
	X(own, lock, fork)            \
	X(own, unlock, unlock)        \
	X(own, unlock, limit)         \
	X(own, unlock, look)          \
	X(own, unlock, fork)          \
	X(own, limit, limit)          \
	X(own, limit, look)           \
	X(own, limit, fork)           \
	X(own, look, look)            \
	X(own, look, fork)            \
	X(own, fork, fork)            \
	X(cow, unmap, destroy)        \
	X(cow, protect, destroy)      \
	X(cow, move, destroy)         \
	X(cow, dontneed, destroy)     \
	X(cow, free, destroy)         \
	X(cow, populate, destroy)     \
	X(cow, fork, destroy)         \
	X(cow, look, destroy)         \
	X(shared, unmap, destroy)     \
	X(shared, move, destroy)      \
	X(shared, grow, destroy)      \
	X(shared, fork, destroy)      \
	X(cow, create, create)        \
	X(cow, destroy, create)       \
	X(cow, fork, create)          \
	X(cow, look, create)          \
	X(cow, unmap, create)         \
	X(cow, write, create)         \
	X(pfn, unmap, fork)           \
	X(pfn, move, fork)            \
	X(pfn, unmap, unmap)          \
	X(pfn, unmap, look)           \
	X(shared, dontneed, dontneed) \
	X(shared, unmap, look)        \
	X(empty, map, map)            \
	X(fresh, write, populate)     \
	X(fresh, populate, populate)  \
	X(fresh, lock, lock)          \
	X(untouched, write, look)     \
	X(cow, write, look)           \
	X(shared, write, look)        \
	X(pfn, write, look)           \
	X(own, swap, look)            \
	X(own, swap, lock)            \
	X(cow, swap, destroy)         \
	X(own, pin, look)             \
	X(own, pin, lock)             \
	X(own, tlb, map)              \
	X(own, tlb, lock)             \
	X(own, tlb, look)             \
	X(own, tlb, pin)              \
	X(own, tlb, swap)             \
	X(shared, tlb, write)         \
	X(pfn, swap, unmap)           \
	X(shared, swap, unmap)        \
	X(shared, pin, unmap)         \
	X(shared, swap, protect)      \
	X(pfn, write, populate)       \
	X(shared, write, populate)    \
	X(cow, write, populate)       \
	X(untouched, write, populate) \
	X(own, swap, populate)        \
	X(shared, pin, write)         \
	X(cow, tlb, destroy)          \
	X(pfn, pin, write)            \
	X(pfn, tlb, write)

#endif
