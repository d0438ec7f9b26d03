/* SPDX-License-Identifier: MIT */
/*
 * Every check that is not in tests/explore/pair_list.h, by the name of its structure, in parts that are
 * tested apart since each takes its time. tools/check-explored reads both lists.
 */
#ifndef TESTS_EXPLORE_LIST_H
#define TESTS_EXPLORE_LIST_H

/* What has to do with neither of the below. */
#define SYSTEM_CHECKS(X)                 \
	X(counters_check)                \
	X(cow_child_check)               \
	X(cow_fork_check)                \
	X(fault_fork_again_check)        \
	X(fault_fork_check)              \
	X(fault_punch_check)             \
	X(fault_truncate_check)          \
	X(fault_truncate_known_check)    \
	X(fault_unmap_check)             \
	X(fault_unmap_map_check)         \
	X(file_end_check)                \
	X(file_end_read_check)           \
	X(file_late_check)               \
	X(file_late_twice_check)         \
	X(fork_truncate_check)           \
	X(frames_drain_check)            \
	X(frames_drain_nodes_check)      \
	X(frames_fresh_check)            \
	X(frames_fresh_nodes_check)      \
	X(frames_put_check)              \
	X(frames_steal_check)            \
	X(frames_steal_nodes_check)      \
	X(group_charge_charge_check)     \
	X(group_charge_destroy_check)    \
	X(group_charge_drain_check)      \
	X(group_charge_limit_check)      \
	X(group_charge_move_check)       \
	X(group_charge_uncharge_check)   \
	X(group_destroy_both_check)      \
	X(group_drain_destroy_check)     \
	X(group_full_destroy_check)      \
	X(group_life_check)              \
	X(group_move_fork_check)         \
	X(group_move_move_check)         \
	X(group_object_cut_check)        \
	X(group_object_destroy_check)    \
	X(group_object_full_check)       \
	X(group_object_same_check)       \
	X(group_release_fault_check)     \
	X(group_uncharge_destroy_check)  \
	X(group_uncharge_limit_check)    \
	X(index_grow_check)              \
	X(index_prune_check)             \
	X(index_walk_check)              \
	X(limit_other_check)             \
	X(limit_punch_check)             \
	X(limit_same_check)              \
	X(lru_add_del_check)             \
	X(lru_drain_reparent_check)      \
	X(lru_isolate_del_check)         \
	X(lru_isolate_isolate_check)     \
	X(lru_isolate_put_check)         \
	X(lru_isolate_reparent_check)    \
	X(mcs_lock_check)                \
	X(memtype_fork_check)            \
	X(memtype_free_free_check)       \
	X(memtype_free_pin_check)        \
	X(memtype_map_check)             \
	X(memtype_protect_check)         \
	X(memtype_ranges_check)          \
	X(memtype_remap_check)           \
	X(memtype_reserve_free_check)    \
	X(memtype_reserve_pin_check)     \
	X(memtype_reserve_reserve_check) \
	X(memtype_unmap_check)           \
	X(object_reuse_check)            \
	X(prealloc_check)                \
	X(rcu_call_check)                \
	X(rcu_synchronize_check)         \
	X(refcount_check)                \
	X(refcount_not_zero_check)       \
	X(rmap_check)                    \
	X(rwlock_check)                  \
	X(rwlock_trylock_check)          \
	X(rwsem_check)                   \
	X(rwsem_readers_check)           \
	X(rwsem_trylock_check)           \
	X(seqcount_check)                \
	X(shared_end_check)              \
	X(shared_index_check)            \
	X(spinlock_check)                \
	X(tables_free_check)             \
	X(tables_make_check)             \
	X(tlb_cow_check)                 \
	X(tlb_cow_early_check)           \
	X(tlb_create_check)              \
	X(tlb_destroy_check)             \
	X(tlb_dontneed_check)            \
	X(tlb_fork_check)                \
	X(tlb_protect_check)             \
	X(tlb_remap_check)               \
	X(tlb_unmap_check)               \
	X(tlb_zero_check)                \
	X(vma_tree_reader_check)

/* Pages that are taken from those who use them, and written. */
#define RECLAIM_CHECKS(X)             \
	X(evict_fault_check)          \
	X(evict_read_check)           \
	X(evict_store_check)          \
	X(evict_truncate_check)       \
	X(evict_truncate_file_check)  \
	X(evict_unmap_check)          \
	X(evict_write_back_check)     \
	X(reclaim_background_check)   \
	X(reclaim_cow_check)          \
	X(reclaim_end_check)          \
	X(reclaim_file_check)         \
	X(reclaim_fork_check)         \
	X(reclaim_full_check)         \
	X(reclaim_full_discard_check) \
	X(reclaim_full_sync_check)    \
	X(reclaim_group_check)        \
	X(reclaim_lazy_check)         \
	X(reclaim_lazy_write_check)   \
	X(reclaim_limit_check)        \
	X(reclaim_lock_check)         \
	X(reclaim_pin_check)          \
	X(reclaim_shared_check)       \
	X(reclaim_twice_check)        \
	X(reclaim_unmap_check)        \
	X(reclaim_write_check)        \
	X(unmap_child_check)          \
	X(unmap_cow_check)            \
	X(unmap_destroy_check)        \
	X(unmap_dontneed_check)       \
	X(unmap_end_check)            \
	X(unmap_fork_check)           \
	X(unmap_lock_check)           \
	X(unmap_move_check)           \
	X(unmap_moved_check)          \
	X(unmap_protect_check)        \
	X(unmap_read_check)           \
	X(unmap_scan_check)           \
	X(unmap_tlb_check)            \
	X(unmap_twice_check)          \
	X(unmap_write_check)          \
	X(unmap_zap_check)            \
	X(write_back_fails_check)     \
	X(write_back_map_check)       \
	X(write_back_redirty_check)   \
	X(write_back_right_check)     \
	X(write_back_told_check)      \
	X(write_back_truncate_check)  \
	X(write_back_two_check)       \
	X(write_back_unmap_check)

/* Pages and slots of swap. */
#define SWAP_CHECKS(X)               \
	X(shared_in_evict_check)     \
	X(shared_in_punch_check)     \
	X(shared_in_truncate_check)  \
	X(shared_in_twice_check)     \
	X(swap_find_remove_check)    \
	X(swap_in_child_check)       \
	X(swap_in_destroy_check)     \
	X(swap_in_dontneed_check)    \
	X(swap_in_fork_check)        \
	X(swap_in_free_check)        \
	X(swap_in_half_check)        \
	X(swap_in_half_write_check)  \
	X(swap_in_lock_check)        \
	X(swap_in_look_check)        \
	X(swap_in_move_check)        \
	X(swap_in_pin_check)         \
	X(swap_in_protect_check)     \
	X(swap_in_read_read_check)   \
	X(swap_in_read_write_check)  \
	X(swap_in_reclaim_check)     \
	X(swap_in_take_both_check)   \
	X(swap_in_take_check)        \
	X(swap_in_take_child_check)  \
	X(swap_in_take_fork_check)   \
	X(swap_in_take_free_check)   \
	X(swap_in_take_unmap_check)  \
	X(swap_in_take_write_check)  \
	X(swap_in_tlb_check)         \
	X(swap_in_twice_check)       \
	X(swap_in_unmap_check)       \
	X(swap_in_write_write_check) \
	X(swap_put_check)            \
	X(swap_slots_check)

/* Code that is wrong. */
#define PLANTED_CHECKS(X)                 \
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

#define CHECKS(X) SYSTEM_CHECKS(X) RECLAIM_CHECKS(X) SWAP_CHECKS(X) PLANTED_CHECKS(X)

#endif
