/* SPDX-License-Identifier: MIT */
/*
 * Shared memory: what memfd_create(2) and MAP_SHARED | MAP_ANONYMOUS make. A page that is missing is made of
 * zeroes by the first touch. How that is ordered and counted is the policy's (`shmem_alloc`,
 * `shmem_account`):
 *
 *   before, per_cpu     mm/object/shmem_per_cpu.c
 *   before, inode_lock  mm/object/shmem_lock.c
 *   inside, inode_lock  mm/object/shmem_lock.c
 *   before, ramfs       mm/object/shmem_ramfs.c
 */
#ifndef MM_OBJECT_SHMEM_H
#define MM_OBJECT_SHMEM_H

#include "mm/object/cache.h"
#include "sync/percpu.h"
#include "sync/spinlock.h"

/* What a CPU has reserved of the limit and not used yet, in pages. Atomic: others take it when all is
 * reserved.
 */
struct shmem_stock {
	CACHE_LINE_ALIGNED _Atomic uint64_t pages;
	_Atomic uint64_t adding; /* 1 while the CPU may have reserved a page that the index has not got yet */
};

struct shmem {
	struct sf_object cache;
	/* Read only: in pages, UINT64_MAX for none. */
	CACHE_LINE_ALIGNED uint64_t limit;
	struct percpu stock; /* of struct shmem_stock; `per_cpu` with a limit */

	/* `inode_lock`: what the lock protects stands on its line. `per_cpu` with a limit: the refills of
	 * stocks.
	 */
	CACHE_LINE_ALIGNED struct spinlock lock;
	uint64_t alloced; /* pages that are counted; pages that have left the index are found missing later */
	uint64_t blocks;  /* taken of the limit if there is one: alloced, and what is about to be */

	/* `per_cpu` with a limit: pages that no CPU has reserved. Atomic. */
	CACHE_LINE_ALIGNED _Atomic uint64_t unreserved;
};

/* The choices of shmem_alloc and shmem_account, together. */
struct shmem_ops {
	bool counts_index; /* needs index.count */

	/* Makes the part of a new object. Returns 0; -EINVAL for a limit where none is held; -ENOMEM. */
	int (*create)(struct shmem *shmem);
	void (*destroy)(struct shmem *shmem);

	/*
	 * Adds a page at `index`, which was missing a moment ago, or finds the one that has come since.
	 * Returns 0 with it in *page and *fresh set if it is new, and to be cleared and made PG_uptodate by
	 * the caller; -EINPROGRESS when it has come since and is in swap by now; -ENOSPC at the limit;
	 * -ENOMEM as get_page(). In a read section, part of the fault path.
	 */
	int (*add_page)(struct shmem *shmem, uint64_t index, struct charge *charge, struct page **page,
			bool *fresh);

	/* See struct cache_ops. */
	void (*uncount)(struct shmem *shmem, uint64_t pages);
	int (*check)(const struct shmem *shmem, uint64_t pages, struct message *why);
};

extern const struct shmem_ops shmem_per_cpu_ops;
extern const struct shmem_ops shmem_lock_before_ops;
extern const struct shmem_ops shmem_lock_inside_ops;
extern const struct shmem_ops shmem_ramfs_ops;

/*
 * Makes an object of `bytes` and at most `limit_bytes` of pages, 0 for no limit. Returns 0 with it and one
 * reference; -EINVAL; -ENOMEM. Not from the fault path.
 */
int shmem_create(struct objects *objects, uint64_t bytes, uint64_t limit_bytes, struct sf_object **object);

/*
 * Brings the page at `index`, which is in the slot that `tag` names, back: reads it, charged to `charge`, and
 * changes the tag to it. Returns 0 when it is there or the tag has changed since; -ENOMEM as get_page(), or
 * what the read failed with, and nothing has changed. Sleeps; no spinning lock is held, not in a read
 * section. Part of the fault path.
 */
int shmem_swap_in(struct sf_object *object, uint64_t index, uintptr_t tag, struct charge *charge);

static inline struct shmem *shmem_of(struct sf_object *object)
{
	return container_of(object, struct shmem, cache);
}

#endif
