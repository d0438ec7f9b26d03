/* SPDX-License-Identifier: MIT */
/*
 * The design choices of a system, fixed for its life. Each field is one choice of mechanism: a *before*, an
 * *after*, and a default that is the best known. The default is the first of each enumeration, so a policy
 * that is all zeroes is the default one.
 */
#ifndef MM_POLICY_POLICY_H
#define MM_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/message.h"

/* How a fault finds its VMA, and keeps it from going away. */
enum policy_vma_lookup {
	POLICY_VMA_LOOKUP_RCU,        /* walks under RCU and looks again when it installs the PTE (default) */
	POLICY_VMA_LOOKUP_REFCOUNT,   /* walks under RCU, then holds a reference on the VMA */
	POLICY_VMA_LOOKUP_PER_VMA,    /* walks under RCU, then holds the VMA's own lock for reading */
	POLICY_VMA_LOOKUP_RWSEM_SPIN, /* holds the space's semaphore, whose count is under a spinlock */
	POLICY_VMA_LOOKUP_RWSEM_XADD  /* holds the space's semaphore, whose count is one atomic word */
};

/* What protects a last-level page table entry. */
enum policy_page_table_lock {
	POLICY_PAGE_TABLE_LOCK_PTE_BIT, /* a bit of the entry itself (default) */
	POLICY_PAGE_TABLE_LOCK_SPLIT,   /* a spinlock for each last-level table */
	POLICY_PAGE_TABLE_LOCK_MM       /* a spinlock for each space */
};

/* What stands between the CPUs and the frames that are free. */
enum policy_frame_cache {
	POLICY_FRAME_CACHE_MAGAZINE, /* whole magazines move, from shelves that CPUs have of their own
					(default) */
	POLICY_FRAME_CACHE_ZONE      /* per-CPU lists, filled and emptied in batches under one lock a node */
};

/* How a RAM page's memory type is read and set. */
enum policy_memtype {
	POLICY_MEMTYPE_CMPXCHG, /* no lock: both bits change in one compare-and-swap (default) */
	POLICY_MEMTYPE_SPIN,    /* under one global ticket spinlock, memtype_lock */
	POLICY_MEMTYPE_RWLOCK   /* under the same as a reader/writer lock */
};

/* When the page that a fault adds to a shared memory object is allocated and charged. */
enum policy_shmem_alloc {
	POLICY_SHMEM_ALLOC_BEFORE, /* before anything is accounted; if that fails, as `inside` (default) */
	POLICY_SHMEM_ALLOC_INSIDE  /* between two takes of the object's lock: for shmem_account=inode_lock */
};

/* What counts the pages of a shared memory object, and holds them to its limit. */
enum policy_shmem_account {
	POLICY_SHMEM_ACCOUNT_PER_CPU,    /* CPUs reserve of a limit in batches; without one nothing is counted
					    (default) */
	POLICY_SHMEM_ACCOUNT_INODE_LOCK, /* counts under the object's lock, shmem_inode_info.lock */
	POLICY_SHMEM_ACCOUNT_RAMFS /* nothing: the page cache alone, as a ramfs file; no limit is held */
};

/* How the index of an object's pages is changed. Faults look pages up in it without a lock in any case. */
enum policy_page_index {
	POLICY_PAGE_INDEX_LOCKLESS, /* by compare-and-swap of one slot (default) */
	POLICY_PAGE_INDEX_TREE_LOCK /* under one spinlock an object, tree_lock */
};

/* What counts the pages that are charged to a group. */
enum policy_group_counter {
	POLICY_GROUP_COUNTER_PAGE_COUNTER, /* one atomic word at every level of the tree (default) */
	POLICY_GROUP_COUNTER_RES_COUNTER   /* a number under a spinlock at every level */
};

/* Whether a CPU keeps charges that it has made ahead. */
enum policy_charge_stock {
	POLICY_CHARGE_STOCK_DEPOT, /* 16 pages of one group, and 16 a CPU in a depot of its node (default) */
	POLICY_CHARGE_STOCK_32,    /* 32 pages of one group */
	POLICY_CHARGE_STOCK_NONE   /* every page is charged by itself */
};

/* Whether the root of the tree of groups counts. */
enum policy_root_group {
	POLICY_ROOT_GROUP_EXEMPT, /* what is in no other group is not counted (default) */
	POLICY_ROOT_GROUP_CHARGED /* as any other, and above all others */
};

/* How the pages that a gather has collected are released. */
enum policy_release_batch {
	POLICY_RELEASE_BATCH_GATHER, /* taken off the LRU in runs of 14, then freed and uncharged once for
					each batch of the gather (default) */
	POLICY_RELEASE_BATCH_GATHER_UNCHUNKED, /* a whole batch taken off the LRU in one run, too */
	POLICY_RELEASE_BATCH_PAGEVEC           /* taken off the LRU, freed and uncharged in batches of 14 */
};

/* How a new page comes to the LRU lists, and what protects these. */
enum policy_lru_add {
	POLICY_LRU_ADD_PER_CPU,  /* lists of each CPU, with a lock of its own (default) */
	POLICY_LRU_ADD_ZONE_LOCK /* a node's lists, under one lock, which is taken for 14 pages at a time */
};

/* What the reverse map does when another CPU has the entry that it wants locked. */
enum policy_rmap_lock {
	POLICY_RMAP_LOCK_TRY, /* passes the mapping over: not referenced, and still mapped (default) */
	POLICY_RMAP_LOCK_WAIT /* waits for the lock */
};

/* How it is known that a file's page was written to through a shared mapping. */
enum policy_dirty_tracking {
	POLICY_DIRTY_TRACKING_FAULT, /* the first write faults, and makes the page dirty (default) */
	POLICY_DIRTY_TRACKING_PTE    /* by the entry's dirty bit, which is looked at later */
};

/* Whether the scan for references brings the entries' dirty bits to the page. */
enum policy_dirty_transfer {
	POLICY_DIRTY_TRANSFER_ON, /* (default) */
	POLICY_DIRTY_TRANSFER_OFF /* they stay until the page is unmapped or synced */
};

struct policy {
	enum policy_vma_lookup vma_lookup;
	enum policy_page_table_lock page_table_lock;
	enum policy_frame_cache frame_cache;
	enum policy_memtype memtype;
	enum policy_shmem_alloc shmem_alloc;
	enum policy_shmem_account shmem_account;
	enum policy_page_index page_index;
	enum policy_group_counter group_counter;
	enum policy_charge_stock charge_stock;
	enum policy_root_group root_group;
	enum policy_release_batch release_batch;
	enum policy_lru_add lru_add;
	enum policy_rmap_lock rmap_lock;
	enum policy_dirty_tracking dirty_tracking;
	enum policy_dirty_transfer dirty_transfer;
};

/* What a policy's text needs at most, with its NUL. */
#define POLICY_TEXT_BYTES 640

/*
 * Sets `policy` to the base called `name`: "default", or the kernel of an era, "base_2004" to "base_2014".
 * Returns 0, or -ENOENT with a message that lists the names that would be right.
 */
int policy_base(struct policy *policy, const char *name, struct message *why);

/*
 * Sets one field by name ("memtype", "spin"). Returns 0, or -ENOENT with a message that lists the names that
 * would be right.
 */
int policy_set(struct policy *policy, const char *field, const char *choice, struct message *why);

/*
 * Sets `policy` from a text: the name of a base, then any number of FIELD=CHOICE, all separated by blanks
 * ("base_2009 vma_lookup=refcount"). Without a base the text changes the default. Returns 0; -EINVAL with a
 * message for what is no such text; -ENOENT as above. `policy` is changed only on success.
 */
int policy_parse(struct policy *policy, const char *text, struct message *why);

/* Writes the text of `policy`, all its fields by name, to `text` of `bytes`; a longer one is cut. */
void policy_text(const struct policy *policy, char *text, size_t bytes);

/*
 * Returns 0, or -EINVAL with a message when a value is none of its field's, or the combination means nothing:
 * shmem_alloc=inside with a shmem_account that has no lock to be inside of.
 */
int policy_check(const struct policy *policy, struct message *why);

/*
 * The policies of a covering set: each choice of each field stands with each choice of each other field that
 * policy_check() lets it stand with in at least one of them. Sets `policy` to the one number `index`, counted
 * from 0; the first is the default. Returns false when there is none of that number.
 */
bool policy_pairwise(unsigned index, struct policy *policy);

#endif
