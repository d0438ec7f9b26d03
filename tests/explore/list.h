/* SPDX-License-Identifier: MIT */
/* Every check, by the name of its structure; and every check that is made of two operations on a scene
 * (tests/explore/pair.h), whose name is SCENE-FIRST-SECOND. tools/check-explored reads both. */
#ifndef TESTS_EXPLORE_LIST_H
#define TESTS_EXPLORE_LIST_H

#define CHECKS(X)                         \
	X(counters_check)                 \
	X(cow_child_check)                \
	X(cow_fork_check)                 \
	X(fault_fork_again_check)         \
	X(fault_fork_check)               \
	X(fault_punch_check)              \
	X(fault_truncate_check)           \
	X(fault_truncate_known_check)     \
	X(fault_unmap_check)              \
	X(fault_unmap_map_check)          \
	X(file_end_check)                 \
	X(file_end_read_check)            \
	X(file_late_check)                \
	X(file_late_twice_check)          \
	X(fork_truncate_check)            \
	X(frames_drain_check)             \
	X(frames_drain_nodes_check)       \
	X(frames_fresh_check)             \
	X(frames_fresh_nodes_check)       \
	X(frames_put_check)               \
	X(frames_steal_check)             \
	X(frames_steal_nodes_check)       \
	X(index_grow_check)               \
	X(index_prune_check)              \
	X(index_walk_check)               \
	X(limit_other_check)              \
	X(limit_punch_check)              \
	X(limit_same_check)               \
	X(group_charge_charge_check)      \
	X(group_charge_destroy_check)     \
	X(group_charge_drain_check)       \
	X(group_charge_limit_check)       \
	X(group_charge_move_check)        \
	X(group_charge_uncharge_check)    \
	X(group_destroy_both_check)       \
	X(group_drain_destroy_check)      \
	X(group_full_destroy_check)       \
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
	X(object_reuse_check)             \
	X(prealloc_check)                 \
	X(rcu_call_check)                 \
	X(rcu_synchronize_check)          \
	X(refcount_check)                 \
	X(refcount_not_zero_check)        \
	X(rmap_check)                     \
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
	X(write_back_fails_check)         \
	X(write_back_map_check)           \
	X(write_back_right_check)         \
	X(write_back_unmap_check)         \
	X(planted_cow_fork_check)         \
	X(planted_frame_forgotten_check)  \
	X(planted_lookup_2009_check)      \
	X(planted_magazine_twice_check)   \
	X(planted_memtype_unlocked_check) \
	X(planted_no_flush_check)         \
	X(planted_no_recheck_check)       \
	X(planted_no_release_check)       \
	X(planted_prealloc_check)         \
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

/* The same of an object behind the mapping. */
#define OBJECT_PAIRS(X)               \
	X(memfd, write, write)        \
	X(memfd, read, write)         \
	X(memfd, write, truncate)     \
	X(memfd, write, extend)       \
	X(memfd, write, punch)        \
	X(memfd, write, remove)       \
	X(memfd, write, fetch)        \
	X(memfd, write, store)        \
	X(memfd, write, attach)       \
	X(memfd, write, inspect)      \
	X(memfd, write, make)         \
	X(memfd, write, sync)         \
	X(memfd, read, truncate)      \
	X(memfd, read, punch)         \
	X(memfd, populate, truncate)  \
	X(memfd, lock, truncate)      \
	X(memfd, tlb, truncate)       \
	X(memfd, swap, unmap)         \
	X(memfd, store, truncate)     \
	X(memfd, store, extend)       \
	X(memfd, store, fetch)        \
	X(memfd, store, store)        \
	X(memfd, store, punch)        \
	X(memfd, fork, truncate)      \
	X(memfd, close, unmap)        \
	X(filled, swap, truncate)     \
	X(filled, swap, punch)        \
	X(filled, pin, truncate)      \
	X(filled, pin, punch)         \
	X(filled, tlb, truncate)      \
	X(filled, map, truncate)      \
	X(filled, map, attach)        \
	X(filled, unmap, truncate)    \
	X(filled, unmap, punch)       \
	X(filled, protect, truncate)  \
	X(filled, protect, punch)     \
	X(filled, move, truncate)     \
	X(filled, move, punch)        \
	X(filled, grow, truncate)     \
	X(filled, dontneed, truncate) \
	X(filled, dontneed, punch)    \
	X(filled, free, truncate)     \
	X(filled, fork, truncate)     \
	X(filled, fork, punch)        \
	X(filled, destroy, truncate)  \
	X(filled, destroy, punch)     \
	X(filled, create, truncate)   \
	X(filled, look, truncate)     \
	X(filled, inspect, truncate)  \
	X(filled, attach, truncate)   \
	X(filled, attach, punch)      \
	X(filled, attach, unmap)      \
	X(filled, attach, fork)       \
	X(filled, make, truncate)     \
	X(filled, unlock, truncate)   \
	X(filled, limit, truncate)    \
	X(filled, truncate, truncate) \
	X(filled, truncate, extend)   \
	X(filled, truncate, punch)    \
	X(filled, punch, punch)       \
	X(filled, remove, punch)      \
	X(filled, remove, unmap)      \
	X(filled, extend, extend)     \
	X(filled, fetch, truncate)    \
	X(filled, fetch, punch)       \
	X(filled, fetch, extend)      \
	X(filled, fetch, fetch)       \
	X(filled, fetch, inspect)     \
	X(filled, store, truncate)    \
	X(filled, store, fetch)       \
	X(filled, store, unmap)       \
	X(filled, store, inspect)     \
	X(filled, swap, store)        \
	X(filled, pin, store)         \
	X(filled, close, fork)        \
	X(filled, close, destroy)     \
	X(filled, make, make)         \
	X(image, write, truncate)     \
	X(image, write, punch)        \
	X(image, read, truncate)      \
	X(image, swap, swap)          \
	X(image, unmap, truncate)     \
	X(image, move, truncate)      \
	X(image, protect, truncate)   \
	X(image, fork, truncate)      \
	X(image, fork, punch)         \
	X(image, write, fork)         \
	X(image, write, extend)       \
	X(image, write, inspect)      \
	X(image, write, close)        \
	X(image, pin, truncate)       \
	X(copied, swap, truncate)     \
	X(copied, fork, truncate)     \
	X(copied, fork, punch)        \
	X(copied, unmap, truncate)    \
	X(copied, move, truncate)     \
	X(copied, protect, truncate)  \
	X(copied, dontneed, truncate) \
	X(copied, free, truncate)     \
	X(copied, swap, punch)        \
	X(copied, pin, truncate)      \
	X(file, read, read)           \
	X(file, read, write)          \
	X(file, write, write)         \
	X(file, swap, truncate)       \
	X(file, read, truncate)       \
	X(file, read, punch)          \
	X(file, write, extend)        \
	X(file, swap, sync)           \
	X(file, read, sync)           \
	X(file, read, unmap)          \
	X(file, write, map)           \
	X(file, write, unmap)         \
	X(file, write, protect)       \
	X(file, write, forbid)        \
	X(file, write, move)          \
	X(file, write, dontneed)      \
	X(file, write, free)          \
	X(file, write, populate)      \
	X(file, write, lock)          \
	X(file, write, fork)          \
	X(file, write, look)          \
	X(file, write, inspect)       \
	X(file, write, attach)        \
	X(file, write, make)          \
	X(file, pin, write)           \
	X(file, tlb, write)           \
	X(file, read, fetch)          \
	X(file, write, store)         \
	X(file, fetch, fetch)         \
	X(file, fetch, truncate)      \
	X(file, fetch, punch)         \
	X(file, store, truncate)      \
	X(file, store, sync)          \
	X(file, store, fetch)         \
	X(file, unmap, close)         \
	X(clean, swap, sync)          \
	X(clean, swap, swap)          \
	X(clean, swap, truncate)      \
	X(clean, swap, punch)         \
	X(clean, write, unmap)        \
	X(clean, write, protect)      \
	X(clean, write, move)         \
	X(clean, write, fork)         \
	X(clean, write, dontneed)     \
	X(clean, write, destroy)      \
	X(clean, store, sync)         \
	X(clean, store, truncate)     \
	X(clean, fork, sync)          \
	X(clean, swap, store)         \
	X(dirty, swap, sync)          \
	X(dirty, sync, sync)          \
	X(dirty, sync, truncate)      \
	X(dirty, sync, extend)        \
	X(dirty, sync, punch)         \
	X(dirty, sync, unmap)         \
	X(dirty, sync, map)           \
	X(dirty, sync, protect)       \
	X(dirty, sync, move)          \
	X(dirty, sync, dontneed)      \
	X(dirty, sync, free)          \
	X(dirty, sync, populate)      \
	X(dirty, sync, lock)          \
	X(dirty, sync, fork)          \
	X(dirty, sync, destroy)       \
	X(dirty, sync, look)          \
	X(dirty, sync, inspect)       \
	X(dirty, sync, attach)        \
	X(dirty, sync, fetch)         \
	X(dirty, sync, pin)           \
	X(dirty, sync, tlb)           \
	X(dirty, sync, make)          \
	X(dirty, unmap, truncate)     \
	X(dirty, fork, truncate)      \
	X(dirty, move, truncate)      \
	X(dirty, swap, truncate)      \
	X(dirty, swap, punch)         \
	X(dirty, truncate, truncate)  \
	X(dirty, fetch, truncate)     \
	X(dirty, unmap, close)        \
	X(filled, tlb, punch)         \
	X(filled, tlb, store)         \
	X(filled, map, store)         \
	X(filled, protect, fetch)     \
	X(filled, move, store)        \
	X(filled, dontneed, store)    \
	X(filled, fork, store)        \
	X(filled, destroy, store)     \
	X(filled, look, punch)        \
	X(memfd, lock, store)         \
	X(memfd, lock, punch)         \
	X(filled, swap, close)        \
	X(filled, pin, close)         \
	X(filled, tlb, close)         \
	X(filled, map, close)         \
	X(filled, protect, close)     \
	X(filled, move, close)        \
	X(filled, dontneed, close)    \
	X(filled, lock, close)        \
	X(filled, look, close)        \
	X(filled, remove, close)      \
	X(filled, store, make)        \
	X(image, write, fetch)        \
	X(image, write, sync)         \
	X(library, read, truncate)    \
	X(library, swap, truncate)    \
	X(library, write, punch)      \
	X(library, write, sync)       \
	X(library, write, fetch)      \
	X(library, write, write)      \
	X(library, fork, truncate)    \
	X(library, unmap, close)

#endif
