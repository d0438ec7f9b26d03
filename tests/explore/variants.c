/* SPDX-License-Identifier: MIT */
#include "tests/explore/fixture.h"

#include <stddef.h>

/* What policy_pairwise() gives; tests/vsmp/explore_checks.c holds both equal. */
const char *const variants_pairwise[] = {
    "vma_lookup=rcu page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=exempt release_batch=gather lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rcu page_table_lock=split frame_cache=zone memtype=spin "
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock group_counter=res_counter "
    "charge_stock=32 root_group=charged release_batch=gather_unchunked lru_add=zone_lock "
    "rmap_lock=wait dirty_tracking=pte dirty_transfer=off",
    "vma_lookup=rcu page_table_lock=mm frame_cache=magazine memtype=rwlock "
    "shmem_alloc=inside shmem_account=inode_lock page_index=lockless group_counter=page_counter "
    "charge_stock=none root_group=charged release_batch=pagevec lru_add=per_cpu "
    "rmap_lock=wait dirty_tracking=fault dirty_transfer=off",
    "vma_lookup=rcu page_table_lock=pte_bit frame_cache=zone memtype=rwlock "
    "shmem_alloc=before shmem_account=ramfs page_index=tree_lock group_counter=res_counter "
    "charge_stock=none root_group=exempt release_batch=pagevec lru_add=zone_lock "
    "rmap_lock=try dirty_tracking=pte dirty_transfer=on",
    "vma_lookup=refcount page_table_lock=pte_bit frame_cache=magazine memtype=spin "
    "shmem_alloc=before shmem_account=inode_lock page_index=lockless group_counter=res_counter "
    "charge_stock=32 root_group=exempt release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=refcount page_table_lock=split frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock group_counter=page_counter "
    "charge_stock=depot root_group=charged release_batch=gather lru_add=zone_lock "
    "rmap_lock=wait dirty_tracking=pte dirty_transfer=on",
    "vma_lookup=refcount page_table_lock=mm frame_cache=zone memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=tree_lock group_counter=res_counter "
    "charge_stock=depot root_group=charged release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=pte dirty_transfer=off",
    "vma_lookup=refcount page_table_lock=split frame_cache=magazine memtype=rwlock "
    "shmem_alloc=before shmem_account=ramfs page_index=lockless group_counter=page_counter "
    "charge_stock=32 root_group=exempt release_batch=gather lru_add=per_cpu "
    "rmap_lock=wait dirty_tracking=fault dirty_transfer=off",
    "vma_lookup=refcount page_table_lock=split frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=none root_group=exempt release_batch=pagevec lru_add=zone_lock "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=per_vma page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=inside shmem_account=inode_lock page_index=lockless group_counter=page_counter "
    "charge_stock=32 root_group=exempt release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=pte dirty_transfer=off",
    "vma_lookup=per_vma page_table_lock=split frame_cache=zone memtype=spin "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=charged release_batch=gather lru_add=zone_lock "
    "rmap_lock=wait dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=per_vma page_table_lock=mm frame_cache=magazine memtype=spin "
    "shmem_alloc=before shmem_account=ramfs page_index=tree_lock group_counter=res_counter "
    "charge_stock=none root_group=exempt release_batch=gather lru_add=zone_lock "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=per_vma page_table_lock=pte_bit frame_cache=magazine memtype=rwlock "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=charged release_batch=pagevec lru_add=per_cpu "
    "rmap_lock=wait dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_spin page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=ramfs page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=charged release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_spin page_table_lock=split frame_cache=zone memtype=spin "
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock group_counter=res_counter "
    "charge_stock=32 root_group=exempt release_batch=pagevec lru_add=zone_lock "
    "rmap_lock=wait dirty_tracking=pte dirty_transfer=off",
    "vma_lookup=rwsem_spin page_table_lock=mm frame_cache=magazine memtype=rwlock "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=32 root_group=exempt release_batch=gather lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_spin page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=none root_group=exempt release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_xadd page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=exempt release_batch=gather lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_xadd page_table_lock=split frame_cache=zone memtype=spin "
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock group_counter=res_counter "
    "charge_stock=32 root_group=charged release_batch=gather_unchunked lru_add=zone_lock "
    "rmap_lock=wait dirty_tracking=pte dirty_transfer=off",
    "vma_lookup=rwsem_xadd page_table_lock=mm frame_cache=magazine memtype=rwlock "
    "shmem_alloc=before shmem_account=ramfs page_index=lockless group_counter=page_counter "
    "charge_stock=none root_group=exempt release_batch=gather_unchunked lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    "vma_lookup=rwsem_xadd page_table_lock=pte_bit frame_cache=magazine memtype=cmpxchg "
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless group_counter=page_counter "
    "charge_stock=depot root_group=exempt release_batch=pagevec lru_add=per_cpu "
    "rmap_lock=try dirty_tracking=fault dirty_transfer=on",
    NULL,
};

const char *const variants_lookup[] = {
    "vma_lookup=rcu",        "vma_lookup=refcount",   "vma_lookup=per_vma",
    "vma_lookup=rwsem_spin", "vma_lookup=rwsem_xadd", NULL,
};

const char *const variants_lock[] = {
    "page_table_lock=pte_bit",
    "page_table_lock=split",
    "page_table_lock=mm",
    NULL,
};

const char *const variants_frame_cache[] = {"frame_cache=magazine", "frame_cache=zone", NULL};

const char *const variants_memtype[] = {"memtype=cmpxchg", "memtype=spin", "memtype=rwlock", NULL};

/* All that differs in making a page of shared memory. */
const char *const variants_object[] = {
    "shmem_alloc=before shmem_account=per_cpu page_index=lockless",
    "shmem_alloc=before shmem_account=per_cpu page_index=tree_lock",
    "shmem_alloc=before shmem_account=inode_lock page_index=lockless",
    "shmem_alloc=before shmem_account=inode_lock page_index=tree_lock",
    "shmem_alloc=inside shmem_account=inode_lock page_index=lockless",
    "shmem_alloc=inside shmem_account=inode_lock page_index=tree_lock",
    "shmem_alloc=before shmem_account=ramfs page_index=lockless",
    "shmem_alloc=before shmem_account=ramfs page_index=tree_lock",
    NULL,
};

const char *const variants_group[] = {
    "group_counter=page_counter charge_stock=depot root_group=exempt release_batch=gather lru_add=per_cpu",
    "group_counter=res_counter charge_stock=32 root_group=charged release_batch=pagevec lru_add=zone_lock",
    "group_counter=page_counter charge_stock=none root_group=charged release_batch=gather_unchunked "
    "lru_add=zone_lock",
    "group_counter=res_counter charge_stock=depot root_group=exempt release_batch=pagevec lru_add=per_cpu",
    "group_counter=page_counter charge_stock=32 root_group=exempt release_batch=gather lru_add=zone_lock",
    "group_counter=res_counter charge_stock=none root_group=charged release_batch=gather lru_add=per_cpu",
    NULL,
};
